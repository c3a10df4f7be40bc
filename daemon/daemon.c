/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Two lists: what is set up, in order, and daemon_done(), which takes it down
 * in the reverse order.  A stop, however it comes, ends all sessions first and
 * leaves the loop when the last is sealed, so that nobody's data is cut off.
 */

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/api/api.h"
#include "daemon/daemon.h"
#include "daemon/process/background.h"
#include "daemon/process/fdstore.h"
#include "daemon/process/sandbox.h"
#include "daemon/server/server.h"
#include "daemon/tracer/controller.h"
#include "daemon/upkeep/upkeep.h"
#include "daemon/watch/watch.h"

#define LEARNING_USEC (5 * USEC_PER_SEC) /* a client waits longer: cli/contact/client.c */
#define UNDO_AGAIN_USEC (5 * USEC_PER_SEC)
#define IDLE_ACCURACY_USEC 100000
#define PREPARE_USEC USEC_PER_SEC /* whoever began it to start a session waits for that alone */

/* Something has been so for a while: a timer that runs while it is so, and begins anew after every break. */
typedef struct Idle {
        uint64_t usec;
        bool (*ask)(
                void *userdata); /* whether it is so now: after every event, so it must be cheap */
        void (*reached)(void *userdata); /* it has been for so long, and again after as long */
        void *userdata;
        sd_event_source *post, *timer;
        bool is_idle;
} Idle;

typedef struct Daemon {
        DaemonConfig config;
        sd_event *event;
        Store *store;
        LedgerDir ledger; /* of the store */
        FdStore *fdstore;
        Background *background;
        Background *sweeper; /* of what is removed, which no start waits for */
        Controller *controller;
        Sessions sessions;
        Janitor janitor; /* which removes nothing by itself from a store that was named for one recording */
        Sealer *sealer; /* NULL in a private daemon, which leaves when its client does */
        Methods methods;
        Server *server;
        Settings settings;
        Idle undoer; /* tries again to put back what could not be, every few seconds */
        Idle idle;   /* not begun: it does not leave by itself */
        sd_event_source *learning_pass_end; /* of a private one that learns */
        bool is_stopping, has_run, is_hung, has_systemd_socket;
        size_t n_left; /* sessions that another daemon goes on with */
} Daemon;

/* --- waiting for leisure ----------------------------------------------------------------------- */

static int idle_on_post(sd_event_source *source, void *userdata) {
        Idle *i = userdata;
        bool is_idle = i->ask(i->userdata);

        if (is_idle == i->is_idle)
                return 0;
        i->is_idle = is_idle;
        if (is_idle)
                (void) sd_event_source_set_time_relative(i->timer, i->usec);
        return sd_event_source_set_enabled(i->timer, is_idle ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int idle_on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        Idle *i = userdata;

        i->is_idle = false; /* idle_on_post() looks whether it still is */
        if (i->ask(i->userdata))
                i->reached(i->userdata);
        return 0;
}

static int idle_init(Idle *i, sd_event *event) {
        int r = sd_event_add_time_relative(event, &i->timer, CLOCK_MONOTONIC, i->usec,
                                           MIN(i->usec / 10 + 1, (uint64_t) IDLE_ACCURACY_USEC),
                                           idle_on_time, i);

        i->is_idle = i->ask(i->userdata);
        if (r >= 0 && !i->is_idle)
                r = sd_event_source_set_enabled(i->timer, SD_EVENT_OFF);
        return r < 0 ? r : sd_event_add_post(event, &i->post, idle_on_post, i);
}

static void idle_done(Idle *i) {
        i->post = sd_event_source_disable_unref(i->post);
        i->timer = sd_event_source_disable_unref(i->timer);
}

/* --- what happens meanwhile ------------------------------------------------------------------- */

static void daemon_notify_status(Daemon *d) {
        const Session *degraded = NULL;
        uint64_t n_lost = 0;
        size_t n_live = 0;

        for (size_t i = 0; i < d->sessions.n_awake; i++) {
                Session *s = d->sessions.awake[i];

                if (!session_is_live(s))
                        continue;
                session_refresh(s);
                n_lost += session_meta_events_lost(session_meta(s));
                if (!degraded && session_meta(s)->degraded.n > 0)
                        degraded = s;
                n_live++;
        }
        (void) sd_notifyf(0, "STATUS=%zu recording, %llu lost%s%s%s%s", n_live,
                          (unsigned long long) n_lost, degraded ? "; \"" : "",
                          degraded ? session_name(degraded) : "",
                          degraded ? "\" is degraded: " : "",
                          degraded ? session_meta(degraded)->degraded.items[0].reason : "");
}

static void daemon_on_session(Session *s, void *userdata) {
        Daemon *d = userdata;

        methods_session_changed(&d->methods, s);
        janitor_look(&d->janitor);
        if (d->sealer && session_meta_is_known(session_meta(s)))
                (void) sealer_add_session(d->sealer, session_name(s));
        daemon_notify_status(d);
}

static int daemon_on_learning_pass_end(sd_event_source *source, uint64_t usec, void *userdata) {
        Daemon *d = userdata;

        log_warning("Learning for --lean took too long and was aborted.");
        d->is_stopping = true;
        return 0;
}

/* A private one leaves when its client has, but nobody else learns of what that recorded. */
static bool daemon_is_learning(Daemon *d) {
        return controller_is_learning(d->controller) &&
               (d->learning_pass_end ||
                sd_event_add_time_relative(d->event, &d->learning_pass_end, CLOCK_MONOTONIC,
                                           LEARNING_USEC, 0, daemon_on_learning_pass_end, d) >= 0);
}

/*
 * The loop feeds systemd's watchdog.  A reader that does not move, and waits for the store's disk
 * (daemon/watch/watch.h says so), is not to be killed for that, which would help nobody.  If it waits for
 * nothing at all, only another process can go on: then systemd is told nothing any more.
 */
static void daemon_look_for_hung(Daemon *d) {
        const Session *hung = NULL;

        for (size_t i = 0; i < d->sessions.n_awake; i++)
                if (session_is_live(d->sessions.awake[i]) && session_is_hung(d->sessions.awake[i]))
                        hung = d->sessions.awake[i];
        if ((hung != NULL) == d->is_hung)
                return;
        d->is_hung = hung;
        (void) sd_event_set_watchdog(d->event, !hung);
        if (hung)
                journal_tell(&(JournalEntry){ JOURNAL_HUNG, .meta = session_meta(hung) },
                             "A reader of session \"%s\" is stuck: ending, so that another daemon "
                             "takes over.",
                             session_name(hung));
}

/* After every event: leaves the loop if there is a reason to and nothing left to do. */
static int daemon_on_post(sd_event_source *source, void *userdata) {
        Daemon *d = userdata;
        bool is_abandoned = d->config.private_fd >= 0 && server_n_connections(d->server) == 0;

        if ((d->is_stopping || (is_abandoned && !daemon_is_learning(d))) &&
            !background_is_busy(d->background) && sessions_have_ended(&d->sessions))
                return sd_event_exit(d->event, 0);
        if (!background_is_busy(d->background))
                sessions_tidy(&d->sessions);
        daemon_look_for_hung(d);
        return 0;
}

/* Leaves what is recorded to the next daemon. */
static void daemon_leave(Daemon *d) {
        d->n_left = sessions_leave_all(&d->sessions);
        if (d->n_left > 0)
                controller_leave(d->controller);
}

static bool daemon_is_followed(uint32_t signal) {
        int r = signal == SIGUSR1 ? 1 : signal == SIGTERM ? manager_is_restarting() : 0;

        if (r < 0)
                log_warning_errno(
                        r, "Cannot ask systemd whether this is a restart: %m; recordings end.");
        return r > 0;
}

/* SIGUSR2 is a trigger. */
static int daemon_on_trigger(sd_event_source *source, const struct signalfd_siginfo *si,
                             void *userdata) {
        Daemon *d = userdata;

        if (!d->is_stopping && sessions_signal(&d->sessions) == 0)
                log_notice("SIGUSR2 of pid %u: no session waits for a signal.", si->ssi_pid);
        return 0;
}

static int daemon_on_signal(sd_event_source *source, const struct signalfd_siginfo *si,
                            void *userdata) {
        Daemon *d = userdata;

        if (d->is_stopping)
                return 0;
        d->is_stopping = true;
        (void) sd_notify(0, "STOPPING=1");
        background_settle(d->background);
        methods_drop_errands(&d->methods, true);
        if (daemon_is_followed(si->ssi_signo))
                daemon_leave(d);
        else
                sessions_stop_all(&d->sessions, "the daemon was stopped");
        return 0;
}

/* What does not look at the settings itself. */
static void daemon_apply_settings(Daemon *d) {
        const MemberLimits *m = &d->settings.limits.member;

        controller_set_memory_limit(d->controller, d->settings.limits.max_buffer_memory);
        server_set_quota(d->server, (size_t) m->max_connections, (size_t) m->max_calls);
        janitor_look(&d->janitor);
}

static void daemon_reload(Daemon *d) {
        _cleanup_strv_ Strv problems = {};
        int r = settings_load(&d->settings, d->config.config_root, d->config.config_file,
                              store_fd(d->store), true, &problems);

        if (r == 0) {
                daemon_apply_settings(d);
                journal_tell(&(JournalEntry){ JOURNAL_RELOADED },
                             "The configuration was read again.");
                return;
        }
        for (size_t i = 0; i < problems.n; i++)
                log_warning("%s.", problems.items[i]);
        journal_tell(&(JournalEntry){ JOURNAL_RELOAD_REFUSED, .number = r < 0 ? -r : 0,
                                      .reason = r < 0 ? origin_text(r) : problems.items[0] },
                     "The configuration was not reloaded, the old one stays: %s.",
                     r < 0 ? origin_text(r) : problems.items[0]);
}

/* systemctl reload */
static int daemon_on_reload(sd_event_source *source, const struct signalfd_siginfo *si,
                            void *userdata) {
        Daemon *d = userdata;

        if (d->is_stopping)
                return 0;
        (void) sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
                          (unsigned long long) (now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC));
        daemon_reload(d);
        (void) sd_notify(0, "READY=1");
        return 0;
}

static void daemon_prepare(void *userdata) {
        Daemon *d = userdata;

        (void) controller_load_functions(d->controller);
        sessions_store_symbols(&d->sessions);
}

/* What the first start would have to read, half a second of it, is there before. */
static int daemon_on_preparation(sd_event_source *source, uint64_t usec, void *userdata) {
        Daemon *d = userdata;

        if (!d->is_stopping)
                background_run(d->background, daemon_prepare, d);
        return 0;
}

static bool daemon_has_nothing_to_do(void *userdata) {
        Daemon *d = userdata;

        return server_n_connections(d->server) == 0 && sessions_n_live(&d->sessions) == 0 &&
               !controller_is_learning(d->controller) && !background_is_busy(d->background) &&
               !background_is_busy(d->sweeper) && !d->janitor.is_to_look &&
               !(d->sealer && sealer_is_busy(d->sealer)) && !controller_owes(d->controller);
}

static void daemon_on_idle(void *userdata) {
        Daemon *d = userdata;

        log_info("Nothing to do: exiting until a client connects.");
        d->is_stopping = true;
        (void) sd_notify(0, "STOPPING=1");
}

/* --- setting up ------------------------------------------------------------------------------- */

/* Some of the configuration is a share of the store's disk. */
static int daemon_open_store(Daemon *d) {
        _cleanup_strv_ Strv problems = {};
        int r = own_store_open(&d->store, &d->ledger, d->config.store);

        if (r < 0)
                return r;
        r = settings_load(&d->settings, d->config.config_root, d->config.config_file,
                          store_fd(d->store), false, &problems);
        if (r < 0)
                return log_error_errno(r, "Cannot read the configuration %s: %m",
                                       d->config.config_file ?: "ftraced.conf");
        for (size_t i = 0; i < problems.n; i++)
                log_warning("%s.", problems.items[i]);
        return 0;
}

static int daemon_make_controller(Daemon *d) {
        int r = fdstore_new(&d->fdstore, d->config.private_fd < 0);

        if (r < 0)
                return log_error_errno(r, "Cannot take over systemd's descriptors: %m");
        r = controller_new(&d->controller, d->config.tracefs, store_fd(d->store), d->ledger.fd,
                           true, -EBADF);
        return r < 0 ? log_error_errno(r, "Cannot set up the control of tracefs: %m") : 0;
}

static int daemon_make_sessions(Daemon *d) {
        int r = background_new(&d->background, d->event);
        size_t n_restored;

        if (r >= 0)
                r = background_new(&d->sweeper, d->event);
        if (r < 0)
                return log_error_errno(r, "Cannot make room for tasks: %m");
        controller_set_aside(d->controller, d->background);
        controller_set_memory_limit(d->controller, d->settings.limits.max_buffer_memory);
        r = sessions_init(&d->sessions, d->event, d->background, d->sweeper, d->controller,
                          d->store, d->fdstore, &d->settings.limits);
        if (r < 0)
                return log_error_errno(r, "Cannot make room for sessions: %m");
        r = sessions_load(&d->sessions);
        if (r < 0)
                return log_error_errno(r, "Cannot list the sessions in %s: %m", d->config.store);
        controller_settle(d->controller); /* what no session was found for that goes on */
        n_restored = controller_n_restored(d->controller);
        if (n_restored > 0)
                journal_tell(&(JournalEntry){ JOURNAL_RESTORED },
                             "A daemon before this one left %zu changes in the kernel: undone.",
                             n_restored);
        return 0;
}

static int daemon_make_methods(Daemon *d) {
        bool is_asked_only = d->config.private_fd >= 0 && !streq(d->config.store, DAEMON_STORE);
        int r = janitor_init(&d->janitor, &d->sessions, d->sweeper, is_asked_only);

        d->methods = (Methods){
                .event = d->event,
                .background = d->background,
                .controller = d->controller,
                .store = d->store,
                .sessions = &d->sessions,
                .janitor = &d->janitor,
                .limits = &d->settings.limits,
                .config_root = d->config.config_root,
        };
        if (r >= 0)
                r = methods_init(&d->methods);
        d->sessions.changed = daemon_on_session;
        d->sessions.userdata = d;
        return r < 0 ? log_error_errno(r, "Cannot set up the methods: %m") : 0;
}

static int daemon_make_sealer(Daemon *d) {
        int r;

        if (d->config.private_fd >= 0)
                return 0;
        r = sealer_new(&d->sealer, &(SealerConfig){
                                           .event = d->event,
                                           .store = d->store,
                                           .done = sessions_segment_sealed,
                                           .is_held = sessions_is_held,
                                           .userdata = &d->sessions,
                                   });
        for (size_t i = 0; r >= 0 && i < d->sessions.n_entries; i++) {
                const Brief *b = &session_entry_look(d->sessions.entries[i])->brief;

                if (b->newer_version == 0 && !b->unreadable)
                        r = sealer_add_session(d->sealer, d->sessions.entries[i]->name);
        }
        if (r < 0)
                return log_error_errno(r, "Cannot set up the sealing of segments: %m");
        return 0;
}

/* Those that systemd handed over; how many. */
static int daemon_add_sockets(Daemon *d) {
        int n_sockets = 0, fd;

        while ((fd = fdstore_take_other(d->fdstore)) >= 0) {
                int r;

                if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
                        log_warning("systemd passed a descriptor that is not a listening socket: "
                                    "closed.");
                        safe_close(fd);
                        continue;
                }
                r = server_add_listener(d->server, fd);
                if (r < 0) {
                        safe_close(fd);
                        return log_error_errno(r, "Cannot serve systemd's socket %i: %m",
                                               n_sockets);
                }
                n_sockets++;
        }
        return n_sockets;
}

static int daemon_listen(Daemon *d) {
        _cleanup_close_ int fd = -EBADF;
        int n, r;

        if (d->config.private_fd >= 0) {
                r = server_add_connection(d->server, d->config.private_fd);
                return r < 0 ? log_error_errno(r, "Cannot serve descriptor %i: %m",
                                               d->config.private_fd)
                             : 0;
        }

        n = daemon_add_sockets(d);
        if (n != 0) { /* asked first: qemu 7.2 can lose a flag in "setg (memory); je" */
                d->has_systemd_socket = n > 0;
                return MIN(n, 0);
        }

        fd = address_bind(d->config.socket);
        if (fd == -EADDRINUSE) {
                log_error(
                        "Another daemon listens on %s; talk to that one, or give this one another "
                        "with --socket.",
                        d->config.socket);
                return fd;
        }
        if (fd < 0)
                return log_error_errno(fd, "Cannot listen on %s: %m; give another with --socket.",
                                       d->config.socket);
        r = server_add_listener(d->server, fd);
        if (r < 0)
                return log_error_errno(r, "Cannot serve %s: %m", d->config.socket);
        TAKE_FD(fd);
        return 0;
}

static int daemon_make_server(Daemon *d) {
        size_t n;
        int r;
        const ServerMethod *table = methods_table(&n);

        r = server_new(&d->server, d->event, table, n, methods_on_gone, &d->methods);
        if (r < 0)
                return log_error_errno(r, "Cannot set up the server: %m");
        server_set_log(d->server, methods_on_refused, methods_on_closed);
        daemon_apply_settings(d);
        r = sd_event_add_post(d->event, NULL, daemon_on_post, d);
        if (r >= 0)
                r = sd_event_set_watchdog(d->event, true);
        if (r < 0)
                return log_error_errno(r, "Cannot set up the shutdown: %m");
        return daemon_listen(d);
}

static int daemon_add_signals(Daemon *d) {
        static const struct {
                int number;
                sd_event_signal_handler_t handler;
        } signals[] = {
                { SIGTERM, daemon_on_signal }, { SIGINT, daemon_on_signal },
                { SIGUSR1, daemon_on_signal }, { SIGUSR2, daemon_on_trigger },
                { SIGHUP, daemon_on_reload },
        };
        sigset_t mask;
        int r;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGCHLD); /* workers */
        for (size_t i = 0; i < ELEMENTSOF(signals); i++)
                (void) sigaddset(&mask, signals[i].number);
        (void) signal(SIGPIPE, SIG_IGN);
        if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
                return log_error_errno(errno, "Cannot block signals: %m");
        for (size_t i = 0; i < ELEMENTSOF(signals); i++) {
                r = sd_event_add_signal(d->event, NULL, signals[i].number, signals[i].handler, d);
                if (r < 0)
                        return log_error_errno(r, "Cannot handle signals: %m");
        }
        return 0;
}

/* Nobody tells when another's tracer is in the way no more. */
static bool daemon_owes(void *userdata) {
        const Daemon *d = userdata;

        return !background_is_busy(d->background) && controller_owes(d->controller);
}

/* A task. */
static void daemon_put_back(void *userdata) {
        Daemon *d = userdata;

        if (controller_owes(d->controller)) /* still */
                controller_retry(d->controller);
}

static void daemon_try_again(void *userdata) {
        background_run(((Daemon *) userdata)->background, daemon_put_back, userdata);
}

static int daemon_add_idle(Daemon *d) {
        int r;

        d->undoer = (Idle){ UNDO_AGAIN_USEC, daemon_owes, daemon_try_again, d };
        r = idle_init(&d->undoer, d->event);
        if (r < 0)
                return log_error_errno(r, "Cannot set up what puts the kernel back: %m");
        /* Where nobody would start it again when somebody connects it stays. */
        if (d->config.idle_us == 0 || !d->has_systemd_socket)
                return 0;
        d->idle = (Idle){ d->config.idle_us, daemon_has_nothing_to_do, daemon_on_idle, d };
        r = idle_init(&d->idle, d->event);
        return r < 0 ? log_error_errno(r, "Cannot set up the idle timeout: %m") : 0;
}

/* Only for the real thing: a fake tracefs belongs to whoever tests. */
static bool has_privileges(const Daemon *d) {
        return geteuid() == 0 && controller_is_real(d->controller);
}

static int daemon_start_children(Daemon *d) {
        int r;

        if (!has_privileges(d))
                return 0;
        r = maps_reader_start();
        if (r < 0)
                log_warning_errno(r, "Nobody will look at what programs have mapped: %m");
        r = stacks_opener_start();
        if (r < 0)
                log_warning_errno(r, "Nobody will copy the stacks of programs: %m");
        return 0;
}

static int daemon_drop_privileges(Daemon *d) {
        int r;

        (void) privilege_raise_descriptors();
        r = has_privileges(d) ? privilege_drop(PRIVILEGE_SYSLOG) : 0;
        return r < 0 ? log_error_errno(r, "Cannot give up privileges: %m") : 0;
}

static int daemon_open_aside(Daemon *d) {
        background_open(d->background);
        background_open(d->sweeper);
        if (d->config.private_fd >= 0) /* which is begun for a session */
                return 0;
        return sd_event_add_time_relative(d->event, NULL, CLOCK_MONOTONIC, PREPARE_USEC, 0,
                                          daemon_on_preparation, d);
}

static int daemon_make_loop(Daemon *d) {
        int r;

        (void) umask(0027);
        r = sd_event_new(&d->event);
        return r < 0 ? log_error_errno(r, "Cannot set up the event loop: %m") : 0;
}

static void daemon_log_start(Daemon *d) {
        const char *tracefs = controller_tracefs(d->controller);
        struct utsname u = {};

        (void) uname(&u);
        log_info("ftraced %s on Linux %s: store %s with %zu sessions, tracefs %s, %s.",
                 PACKAGE_VERSION, u.release, d->config.store, d->sessions.n_entries,
                 tracefs ?: "nowhere (nothing can be recorded)",
                 controller_has_instances(d->controller)
                         ? "an instance for each session"
                         : "one session at a time in the top-level buffer");
}

static int (*const set_up[])(Daemon *d) = {
        daemon_make_loop,       /* first of all, for everybody needs it */
        daemon_add_signals,     /* before threads, which inherit the mask */
        daemon_open_store,      /* locks: from here on we are the only one */
        daemon_make_controller, /* keeps what a dead daemon left */
        daemon_start_children,  /* whom sessions ask that are taken up */
        daemon_make_sessions,   /* goes on with what can be, undoes the rest */
        daemon_make_methods,    /* the janitor looks at the store when the loop runs */
        daemon_make_sealer,     /* whose segments it finishes */
        daemon_make_server,     /* who connects is answered when the loop runs */
        daemon_add_idle,        daemon_drop_privileges, /* all is open */
        daemon_open_aside,                              /* whose thread has what is left of them */
};

/* What is left is looked for, not believed.  @r: whether that could be done. */
static void daemon_log_end(const Daemon *d, int r, const Strv *left) {
        if (d->n_left > 0) {
                log_notice("Recording goes on in the kernel (sessions: %zu); the next daemon takes "
                           "over.",
                           d->n_left);
                return;
        }
        if (r == -ENOENT)
                log_info("Nothing was changed in the kernel: there was no tracefs.");
        else if (r < 0)
                log_error_errno(r, "Cannot look whether the kernel is as it was: %m");
        else if (left->n == 0)
                log_info("The kernel is as it was.");
        for (size_t i = 0; i < left->n; i++)
                log_error("Left in the kernel: %s.", left->items[i]);
}

static void daemon_done(Daemon *d) {
        bool had_controller = d->controller;
        _cleanup_strv_ Strv left = {};
        int r = 0;

        background_settle(d->background);
        if (!d->has_run) /* what it took up is not to end for a start that fails */
                daemon_leave(d);
        (void) server_free(d->server);
        idle_done(&d->idle);
        idle_done(&d->undoer);
        (void) sd_event_source_disable_unref(d->learning_pass_end);
        janitor_done(&d->janitor);
        d->sealer = sealer_free(d->sealer);
        sessions_done(&d->sessions); /* ends what still records */
        methods_done(&d->methods);
        if (had_controller) {
                controller_end(d->controller); /* puts the kernel back */
                r = controller_find_left(d->controller, &left);
        }
        (void) controller_free(d->controller);
        (void) background_free(d->background);
        (void) background_free(d->sweeper);
        if (had_controller)
                daemon_log_end(d, r, &left);
        (void) fdstore_free(d->fdstore);
        ledger_dir_done(&d->ledger);
        (void) store_free(d->store);
        (void) sd_event_unref(d->event);
        config_done(&d->settings.config);
}

int daemon_run(const DaemonConfig *config) {
        _cleanup_(daemon_done) Daemon d = { .config = *config, .ledger = LEDGER_DIR_INIT };
        int r = 0, status = 0;

        for (size_t i = 0; i < ELEMENTSOF(set_up); i++) {
                r = set_up[i](&d);
                if (r < 0)
                        return r;
        }
        daemon_log_start(&d);
        (void) sd_notify(0, "READY=1\nSTATUS=0 recording, 0 lost");
        d.has_run = true;
        while (r >= 0 && sd_event_get_state(d.event) != SD_EVENT_FINISHED) {
                origin_forget();
                r = sd_event_run(d.event, UINT64_MAX);
        }
        if (r >= 0)
                r = sd_event_get_exit_code(d.event, &status);
        if (r < 0)
                log_error_errno(r, "The event loop failed: %m");
        return r;
}

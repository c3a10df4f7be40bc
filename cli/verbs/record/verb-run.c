/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Order is all: the command is forked before anything is connected, so that it inherits nothing of ours; it
 * begins when the kernel records; the recording ends when it does, and the kernel is as it was before the first
 * line is drawn. */

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/files/files.h"
#include "cli/record/record.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

typedef struct Run {
        const Options *o;
        Client *client;
        pid_t pid;      /* of the command; 0: none, or it has been waited for */
        int command_fd; /* a byte releases it, the end makes it leave; -EBADF: it has been released */
        int signal_fd;
        SessionMeta *meta;
        int wait_status; /* of the command, as waitpid() gives it */
        bool left;       /* the command goes on without us */
} Run;

/* --- the command ------------------------------------------------------------------------------
 *
 * It is forked at once and waits until it is released, so that neither fork() nor anything of ours is between the
 * recording's begin and the program's.  On a socket it waits for a byte; its end closes when execvp() succeeds, and
 * else brings errno.
 */

_noreturn_ static void child(char *const *argv, int fd) {
        char go;
        int error;

        if (read_up_to(fd, &go, 1) != 1)
                _exit(0);
        (void) signal(SIGPIPE, SIG_DFL);
        (void) signal(SIGXFSZ, SIG_DFL);
        (void) execvp(argv[0], argv);
        error = errno;
        (void) write_full(fd, &error, sizeof(error));
        _exit(127);
}

/* While signals are as the program shall have them. */
static int hold(Run *r) {
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return ORIGIN(-errno);
        r->command_fd = fds[0];
        r->pid = fork();
        if (r->pid == 0) {
                safe_close(fds[0]); /* or it would never see the end of our side */
                child(r->o->command, fds[1]);
        }
        safe_close(fds[1]);
        return r->pid < 0 ? ORIGIN(-errno) : 0;
}

/* Whether it has ended and is waited for. */
static bool reap(Run *r, bool wait) {
        pid_t pid;

        do
                pid = waitpid(r->pid, &r->wait_status, wait ? 0 : WNOHANG);
        while (pid < 0 && errno == EINTR);
        if (pid == r->pid)
                r->pid = 0;
        return r->pid == 0;
}

/* Lets it go.  0; -errno of execvp(), after which it is gone. */
static int release(Run *r) {
        int error = 0, e = write_full(r->command_fd, "g", 1);
        ssize_t n = e < 0 ? 0 : read_up_to(r->command_fd, &error, sizeof(error));

        r->command_fd = safe_close(r->command_fd);
        if (n != sizeof(error))
                return e;
        (void) reap(r, true);
        return -error;
}

/* --- while it runs ---------------------------------------------------------------------------- */

/* Whether to go on waiting for the command. */
static bool take_signals(Run *r, unsigned *n_asked) {
        struct signalfd_siginfo s;

        while (signals_next(r->signal_fd, &s)) {
                if (s.ssi_signo == SIGCHLD)
                        continue;
                if (++*n_asked > 1) {
                        r->left = true;
                        return false;
                }
                /* The terminal has told the command already. */
                if (s.ssi_code != SI_KERNEL)
                        (void) kill(r->pid, (int) s.ssi_signo);
                talk(r->o, "Waiting for %s to end; once more ends the recording at once.",
                     r->o->command[0]);
        }
        return true;
}

static void wait_for_command(Run *r) {
        struct pollfd p = { .fd = r->signal_fd, .events = POLLIN };
        unsigned n_asked = 0;

        do
                (void) poll(&p, 1, -1);
        while (!reap(r, false) && take_signals(r, &n_asked));
}

/* --- what is said about it -------------------------------------------------------------------- */

/* The command's end as an exit status, and a word about it if it is not 0. */
static int command_status(const Run *r) {
        const char *name = r->o->command[0];
        int s = r->wait_status;

        if (r->left) {
                talk(r->o, "%s (pid %i) goes on without being recorded.", name, (int) r->pid);
                return 128 + SIGINT;
        }
        if (WIFSIGNALED(s)) {
                talk(r->o, "%s was ended by signal %i (%s).", name, WTERMSIG(s),
                     strsignal(WTERMSIG(s)));
                return 128 + WTERMSIG(s);
        }
        if (WEXITSTATUS(s) != 0)
                talk(r->o, "%s ended with status %i.", name, WEXITSTATUS(s));
        return WEXITSTATUS(s);
}

/* --- the order -------------------------------------------------------------------------------- */

/* As execvp() looks for it: 0, or the -errno that it would fail with, as far as one can tell. */
static int find_command(const char *name) {
        const char *path = getenv("PATH") ?: "/bin:/usr/bin", *end;
        int r = -ENOENT;

        if (strchr(name, '/'))
                return access(name, X_OK) < 0 ? -errno : 0;
        do {
                _cleanup_free_ char *file = NULL;

                end = strchrnul(path, ':');
                if (asprintf(&file, "%.*s%s%s", (int) (end - path), path, end > path ? "/" : "",
                             name) < 0)
                        return -ENOMEM;
                if (access(file, X_OK) >= 0)
                        return 0;
                r = errno == EACCES ? -EACCES : r;
                path = end + 1;
        } while (*end);
        return r;
}

static int cannot_run(const Run *r, int error) {
        log_error_errno(error, "cannot run \"%s\": %m", r->o->command[0]);
        return error == -ENOENT ? STATUS_NO_COMMAND : STATUS_NO_EXEC;
}

/* Arms, then lets the command go; an exit status. */
static int begin(Run *r) {
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
        int status = recording_start(&r->meta, r->o, r->client, &r->o->words, true, r->signal_fd),
            error;

        if (status != STATUS_OK)
                return status;
        talk(r->o, "Armed %s on %li CPU%s in %s.", SUMMARY_ROOTS(r->meta, 80), n_cpus,
             n_cpus == 1 ? "" : "s", FORMAT_DURATION(r->meta->arm_ns));
        if (signals_want_end(r->signal_fd))
                return failed(128 + SIGINT, "interrupted before %s began.", r->o->command[0]);
        error = release(r);
        return error == 0 ? STATUS_OK : cannot_run(r, error);
}

/* Ends the recording; the daemon is not needed once it is opened.  An exit status. */
static int end(Run *r) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;

        return recording_stop(&m, r->o, r->client, r->meta->name);
}

static int count(Census *ret, const Source *s) {
        _cleanup_(playback_freep) Playback *p = NULL;
        _cleanup_free_ char *problem = NULL;
        _cleanup_census_ Census census = { .only_exits = s->meta->spec.slower_ns > 0 };
        Step step;
        int r = playback_open(&p, s->dir, s->meta, &problem);

        if (r > 0)
                return failed(STATUS_FAILED, "session \"%s\" cannot be read: %s.", s->meta->name,
                              problem ?: "it is damaged");
        while (r == 0) {
                r = steps_next(&p->steps, UINT64_MAX, &step);
                if (r <= 0)
                        break;
                r = census_step(&census, &step);
        }
        if (r < 0)
                return failed_errno(r, "Failed to count the calls of session \"%s\": %m",
                                    s->meta->name);
        *ret = census;
        census = (Census){};
        return STATUS_OK;
}

/* Says and draws what there is; an exit status. */
static int tell(Run *r, const Source *s, const DrawingOptions *d) {
        _cleanup_census_ Census census = {};
        char *loss = SUMMARY_LOSS(s->meta);
        int status = count(&census, s), what_went_wrong = STATUS_OK, ended;

        loss[0] = loss[0] == 'n' ? 'N' : loss[0]; /* "Nothing lost" */
        if (status == STATUS_OK && census.n_trees == 0)
                talk(r->o, "Recorded no calls: %s. %s.", SUMMARY_SILENCE(s->meta), loss);
        else if (status == STATUS_OK)
                talk(r->o, "Recorded %s call%s of %s, %s call%s below %s, on %zu CPU%s in %s. %s.",
                     FORMAT_COUNT(census.n_trees), census.n_trees == 1 ? "" : "s",
                     SUMMARY_ROOTS(s->meta, 80), FORMAT_COUNT(census.n_below),
                     census.n_below == 1 ? "" : "s", census.n_trees == 1 ? "it" : "them",
                     census.n_cpus, census.n_cpus == 1 ? "" : "s",
                     FORMAT_DURATION(session_meta_length_ns(s->meta)), loss);
        if (status == STATUS_OK && census.n_trees > 0 && !streq_ptr(r->o->format, "none"))
                status = display_report(s, r->o, d);
        display_lacks(r->o, s->meta);
        if (s->meta->state == SESSION_FAILED)
                what_went_wrong = failed(STATUS_FAILED, "the recording failed: %s",
                                         s->meta->reason ?: "no reason is known");
        else if (s->meta->limit != SESSION_LIMIT_NONE)
                what_went_wrong = failed(STATUS_REFUSED, "the recording was ended by a limit: %s",
                                         s->meta->reason ?: "");
        recording_talk_kept(r->o, s->meta);
        ended = command_status(r);
        status = what_went_wrong ?: ended ?: status;
        return status == STATUS_OK && !summary_is_complete(s->meta) ? STATUS_INCOMPLETE : status;
}

static int run(Run *r, const DrawingOptions *d) {
        _cleanup_(source_freep) Source *s = NULL;
        int error = find_command(r->o->command[0]), status;

        if (error < 0) /* the kernel is not touched for it */
                return cannot_run(r, error);
        error = hold(r);
        if (error >= 0)
                error = r->signal_fd = signals_open();
        if (error < 0)
                return failed_errno(error, "Failed to prepare %s: %m", r->o->command[0]);
        status = contact_recorder(&r->client, r->o,
                                  "No daemon is running: recording with a private one for this "
                                  "command.");
        if (status != STATUS_OK)
                return status;
        status = begin(r);
        if (status != STATUS_OK) {
                if (r->meta && end(r) == STATUS_OK) /* nothing worth keeping */
                        (void) contact_call_session(r->client, "Remove", r->meta->name, NULL);
                return status;
        }
        wait_for_command(r);
        status = end(r) ?: source_open_client(&s, r->o, r->client, r->meta->name);
        r->client = client_free(r->client);
        signals_close(&r->signal_fd);
        return status == STATUS_OK ? tell(r, s, d) : status;
}

int verb_run(const Options *o) {
        Run r = { .o = o, .command_fd = -EBADF, .signal_fd = -EBADF };
        DrawingOptions d;
        Options shown = *o; /* borrowed */
        int status;

        if (o->n_command == 0)
                return failed(
                        STATUS_USAGE,
                        "\"run\" needs a command after \"--\"; see \"ftracectl run --help\".");
        if (streq_ptr(o->format, "none"))
                shown.format = NULL;
        status = display_options(&d, &shown) ?: recording_check(o, &o->words);
        if (status == STATUS_OK && o->dry_run)
                status = contact_recorder(&r.client, o, NULL)
                                 ?: recording_dry_run(o, r.client, &o->words);
        else if (status == STATUS_OK)
                status = run(&r, &d);
        client_free(r.client);
        if (r.command_fd >= 0) { /* unreleased, it leaves; else it goes on */
                safe_close(r.command_fd);
                (void) reap(&r, true);
        }
        signals_close(&r.signal_fd);
        session_meta_free(r.meta);
        return status;
}

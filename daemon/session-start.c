/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Starting is one list of steps.  What they did is undone by session_undo() if one of them fails,
 * and by session_finish() at the end.
 */

#include <fcntl.h>
#include <sys/utsname.h>
#include <systemd/sd-id128.h>

#include "base/io.h"
#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/kernel-types.h"
#include "daemon/reader.h"
#include "daemon/session-private.h"
#include "daemon/stock.h"
#include "daemon/tracing-copy.h"

static int refuse_errno(Refusal *refusal, int error, const char *what, const char *object) {
        error = error < 0 ? -error : error;
        return refusal_set(refusal, REFUSAL_SYSTEM_ERROR, json_pack("{s:i}", "errno", error),
                           "cannot record: %s %s failed: %s; nothing was left changed", what,
                           object, strerror(error));
}

/* Recordings travel; a machine-id(5) should not, so this is one of ours that is made of it. */
static int meta_add_machine_id(SessionMeta *m) {
        static const sd_id128_t ours =
                SD_ID128_MAKE(41, c8, 0e, 2b, 5d, 0f, 4a, 6e, 9a, 3f, 7d, 1c, 52, b6, e0, 93);
        char text[SD_ID128_STRING_MAX];
        sd_id128_t id;

        if (sd_id128_get_machine_app_specific(ours, &id) < 0)
                return 0;
        m->machine_id = strdup(sd_id128_to_string(id, text));
        return m->machine_id ? 0 : -ENOMEM;
}

static int meta_add_host(SessionMeta *m) {
        _cleanup_free_ char *boot_id = NULL;
        struct utsname u;
        int r;

        if (uname(&u) < 0)
                return -errno;
        r = session_meta_renew_id(m);
        if (r < 0)
                return r;
        if (file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &boot_id, NULL, 128) >= 0)
                boot_id[strcspn(boot_id, "\n")] = 0;
        m->kernel = strdup(u.release);
        m->machine = strdup(u.machine);
        m->host = strdup(u.nodename);
        m->boot_id = strdup(boot_id ?: "");
        m->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        if (!m->kernel || !m->machine || !m->host || !m->boot_id)
                return -ENOMEM;
        return meta_add_machine_id(m);
}

/* Before arming, which slows the kernel down; and again after it, when it costs nothing unless
 * modules came meanwhile. */
static int session_store_symbols(Session *s, Refusal *refusal) {
        bool is_again = s->meta->state != SESSION_NEW;
        int r;

        if (is_again && !s->meta->symbols)
                return 0;
        r = symbol_watch_begin(s->context->symbols, store_symbols_fd(s->context->store), s->meta);
        if (r == KERNEL_SYMBOLS_E_HIDDEN) {
                if (!is_again)
                        session_warn(s, "the kernel hides its symbols' addresses (sysctl "
                                        "kernel.kptr_restrict, or no CAP_SYSLOG): functions have "
                                        "no names");
                return 0;
        }
        return r < 0 ? refuse_errno(refusal, r, "storing", "/proc/kallsyms") : 0;
}

/* What the arguments are called; without it they are recorded, and drawn as "()". */
static int session_store_types(Session *s, Refusal *refusal) {
        _cleanup_close_ int root_fd = -EBADF;
        char hash[SYMBOL_HASH_CHARS + 1];
        int r;

        if (!s->meta->spec.args)
                return 0;
        root_fd = dir_open(AT_FDCWD, "/");
        r = root_fd < 0 ? root_fd
                        : kernel_types_store(root_fd, store_symbols_fd(s->context->store), hash);
        if (r == KERNEL_TYPES_E_NONE) {
                session_warn(s, "the kernel does not say what its functions' arguments are "
                                "(/sys/kernel/btf/vmlinux is missing): they are recorded, but "
                                "cannot be drawn");
                return 0;
        }
        if (r < 0)
                return refuse_errno(refusal, r, "storing", "/sys/kernel/btf");
        s->meta->types = strdup(hash);
        return s->meta->types ? 0 : -ENOMEM;
}

static int session_arm(Session *s, Refusal *refusal) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        int r;

        r = controller_arm(s->context->controller, &s->tracer, s->meta, s->force, refusal);
        if (r < 0)
                return refuse_errno(refusal, r, "programming", "function_graph");
        if (r > 0)
                return r;
        s->meta->arm_ns = now_ns(CLOCK_MONOTONIC) - since_ns;
        tracer_on_hushed(s->tracer, session_on_hushed, s);
        session_enter(s, SESSION_EVENT_ARM, NULL);
        return 0;
}

static int session_make_dir(Session *s, Refusal *refusal) {
        int r;

        r = store_make_session(s->context->store, s->meta->name, &s->dir);
        if (r == -EEXIST)
                return refusal_set(refusal, REFUSAL_SESSION_EXISTS,
                                   json_pack("{s:s}", "session", s->meta->name),
                                   "there is a directory of the name '%s' in %s/sessions already; "
                                   "choose another name or remove it",
                                   s->meta->name, store_path(s->context->store));
        if (r < 0)
                return refuse_errno(refusal, r, "making the session's directory in",
                                    store_path(s->context->store));
        r = stock_reserve(s->dir);
        if (r < 0)
                return refuse_errno(refusal, r, "reserving room in", store_path(s->context->store));
        return 0;
}

static int session_copy_tracing(Session *s, Refusal *refusal) {
        const char *path;
        int r;

        r = tracing_copy_begin(s->dir, s->tracer, &s->meta->spec.events, &path);
        return r < 0 ? refuse_errno(refusal, r, "copying tracing file", path) : 0;
}

/* One that is in the kernel alone has on disk what a snapshot is about to take. */
static uint64_t session_ring_bytes(const Session *s) {
        return s->meta->spec.ring && !s->meta->spec.in_kernel ? s->meta->spec.max_bytes : 0;
}

int session_make_recorder(Session *s) {
        const SessionMeta *m = s->meta;

        return recorder_new(&s->recorder,
                            &(RecorderConfig){
                                    .event = s->context->event,
                                    .dir = s->dir,
                                    .session_id = m->id,
                                    .page_bytes = m->page_bytes,
                                    .max_bytes = m->spec.ring ? 0 : m->spec.max_bytes,
                                    .segment_bytes = m->spec.segment_bytes ?: READER_SEGMENT_BYTES,
                                    .period_bytes = session_ring_bytes(s) / ROTATION_RING_PARTS,
                                    .first_sequence = m->first_sequence,
                                    .is_overwritten = m->spec.in_kernel,
                                    .buffer_bytes = m->spec.buffer_bytes,
                                    .changed = session_on_recorder,
                                    .userdata = s,
                            });
}

static int session_open_cpu(Session *s, uint32_t cpu) {
        _cleanup_close_ int fd = tracer_open_raw(s->tracer, cpu);
        int raw_fd = fd, r;

        if (fd == -ENOENT) /* possible CPUs may have gaps */
                return 0;
        r = fd < 0 ? fd : recorder_add(s->recorder, cpu, fd);
        if (r < 0)
                return r;
        TAKE_FD(fd);
        session_hold_cpu(s, cpu, raw_fd);
        return 0;
}

int session_make_health(Session *s) {
        return health_new(&s->health, &(HealthConfig){
                                              .event = s->context->event,
                                              .meta = s->meta,
                                              .recorder = s->recorder,
                                              .tracer = s->tracer,
                                              .store = store_path(s->context->store),
                                              .changed = session_on_health,
                                              .looked = session_on_look,
                                              .userdata = s,
                                      });
}

static int session_open_cpus(Session *s, Refusal *refusal) {
        SessionMeta *m = s->meta;
        int r;

        r = session_make_recorder(s);
        if (r < 0)
                return refuse_errno(refusal, r, "making", "the readers");

        for (uint32_t cpu = 0; cpu < m->n_possible_cpus; cpu++) {
                r = session_open_cpu(s, cpu);
                if (r < 0)
                        return refuse_errno(refusal, r, "opening", "a CPU's trace_pipe_raw");
        }

        m->n_cpus = recorder_n_cpus(s->recorder);
        if (m->n_cpus == 0)
                return refuse_errno(refusal, ENODEV, "opening", "any CPU's trace_pipe_raw");
        m->cpus = calloc(m->n_cpus, sizeof(*m->cpus));
        if (!m->cpus) {
                m->n_cpus = 0;
                return -ENOMEM;
        }
        return session_make_health(s);
}

int session_begin_rotation(Session *s, const ClockTuple *now) {
        return rotation_new(&s->rotation,
                            &(RotationConfig){
                                    .event = s->context->event,
                                    .dir = s->dir,
                                    .meta = s->meta,
                                    .recorder = s->recorder,
                                    .segment_ns = s->meta->spec.segment_ns,
                                    .ring_bytes = session_ring_bytes(s),
                                    .cut = session_on_cut,
                                    .userdata = s,
                            },
                            now);
}

int session_set_deadline(Session *s) {
        const SessionMeta *m = s->meta;
        uint64_t start_us = m->start.boottime_ns / NSEC_PER_USEC,
                 duration_us = m->spec.duration_ns / NSEC_PER_USEC;

        if (duration_us == 0 || s->deadline)
                return 0;
        return sd_event_add_time(s->context->event, &s->deadline, CLOCK_BOOTTIME,
                                 start_us + MIN(duration_us, UINT64_MAX / 4), 1000,
                                 session_on_deadline, s);
}

/* The kernel may have switched it on already, a moment ago. */
static int go_record(Session *s) {
        int r = tracer_set_recording(s->tracer, true);

        if (r >= 0 && s->meta->start.realtime_ns == 0)
                r = tracer_read_clocks(s->tracer, &s->meta->start);
        if (r >= 0 && !s->meta->spec.in_kernel)
                recorder_set_held(s->recorder, false);
        return r;
}

/* Once all is hooked, if it is not. */
static int go_watch(Session *s) {
        return session_hooks_are_due(s) ? 0 : health_watch(s->health);
}

static int go_learn(Session *s) {
        return session_hooks_are_due(s) ? 0 : session_lean_begin(s);
}

static const struct {
        int (*step)(Session *s);
        const char *what, *object;
} go_steps[] = {
        { go_record, "writing", "tracing_on" },
        { go_watch, "watching", "the control files of tracefs" },
        { session_set_deadline, "setting", "the timer of its duration" },
        { go_learn, "setting", "the timer of learning" },
};

int session_go(Session *s, const char **ret_what, const char **ret_object) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);

        for (size_t i = 0; i < ELEMENTSOF(go_steps); i++) {
                int r = go_steps[i].step(s);

                if (r < 0) {
                        *ret_what = go_steps[i].what;
                        *ret_object = go_steps[i].object;
                        return r;
                }
        }
        session_enter(s, SESSION_EVENT_START, NULL);
        if (!s->clock_watch)
                session_watch_clocks(s);
        session_guard_begin(s);
        session_hook(s, since_ns); /* what the roots call is recorded only from then on */
        return 0;
}

static int session_begin(Session *s, Refusal *refusal) {
        bool waits = session_waits_for_start(s);
        const char *what, *object;
        ClockTuple now;
        int r;

        r = session_dir_write_meta(s->dir, s->meta);
        if (r < 0)
                return refuse_errno(refusal, r, "writing session.json in",
                                    store_path(s->context->store));
        r = store_settle_session(s->context->store, s->meta->name);
        if (r < 0)
                return refuse_errno(refusal, r, "naming the session's directory in",
                                    store_path(s->context->store));
        s->is_saved = true;
        r = session_hold(s);
        if (r < 0)
                return refuse_errno(refusal, r, "writing live.json in",
                                    store_path(s->context->store));

        recorder_set_held(s->recorder, waits || s->meta->spec.in_kernel);
        r = recorder_start(s->recorder);
        if (r < 0)
                return refuse_errno(refusal, r, "starting", "a reader's thread");
        r = tracer_read_clocks(s->tracer, &now);
        if (r < 0)
                return refuse_errno(refusal, r, "reading", "the trace clock");
        s->symbol_watch.seen_ns = now.trace_ns;
        if (s->triggers)
                s->meta->armed = now;
        if (!waits)
                s->meta->start = now;
        r = session_begin_rotation(s, &now);
        if (r < 0)
                return refuse_errno(refusal, r, "preparing the rotation of segments in",
                                    store_path(s->context->store));
        r = session_follow(s);
        if (r < 0)
                return refuse_errno(refusal, r, "following", "tasks by name or control group");
        r = waits ? 0 : session_go(s, &what, &object);
        if (r < 0)
                return refuse_errno(refusal, r, what, object);
        r = session_triggers_begin(s, false);
        return r < 0 ? refuse_errno(refusal, r, "listening to", "its triggers") : 0;
}

/* A start that failed: the reverse of what was done, as far as it was done. */
static void session_undo(Session *s) {
        int r;

        s->is_finishing = true; /* whatever its readers say */
        session_triggers_end(s);
        session_triggers_free(s);
        s->clock_watch = clock_watch_free(s->clock_watch);
        s->deadline = sd_event_source_disable_unref(s->deadline);
        s->health = health_free(s->health);
        if (s->tracer)
                (void) tracer_set_recording(s->tracer, false);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        session_let_go(s);
        s->following = following_free(s->following);
        if (s->tracer) {
                r = tracer_disarm(TAKE_PTR(s->tracer));
                if (r < 0)
                        log_error_errno(r,
                                        "Could not put the kernel back after the failed start of "
                                        "'%s': %m; it is tried again, or try `ftraced --restore`.",
                                        s->meta->name);
        }
        if (s->dir) {
                s->dir = session_dir_free(s->dir);
                r = store_discard_session(s->context->store, s->meta->name);
                if (r < 0)
                        log_error_errno(r,
                                        "Could not remove session '%s', which failed to start: %m",
                                        s->meta->name);
        }
}

static int (*const start_steps[])(Session *s, Refusal *refusal) = {
        session_triggers_new, session_store_types,   session_store_symbols,
        session_arm,          session_make_dir,      session_copy_tracing,
        session_open_cpus,    session_store_symbols, session_begin,
};

int session_start(Session **ret, const SessionContext *context, SessionMeta *m, uint64_t peer,
                  bool force, Refusal *refusal) {
        Session *s;
        int r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        *s = (Session){ .context = context, .meta = m, .peer = peer, .force = force };

        r = meta_add_host(m);
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(start_steps); i++)
                r = start_steps[i](s, refusal);
        if (r != 0) {
                session_undo(s);
                session_lean_done(s);
                free(s);
                return r;
        }

        session_save(s);
        *ret = s;
        return 0;
}

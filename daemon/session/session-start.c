/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How a session begins anew: one list of steps.  What they did is undone by session_take_down() if one of them
 * fails, and by session_finish() at the end.
 */

#include <fcntl.h>
#include <sys/utsname.h>
#include <systemd/sd-id128.h>

#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "daemon/session/session-private.h"
#include "daemon/upkeep/upkeep.h"
#include "retention/boot-clock.h"

/* --- refusals ---------------------------------------------------------------------------------- */

static int refuse_errno(Refusal *refusal, int error, const char *what) {
        return refusal_set_errno(refusal, error,
                                 "cannot record: %s failed: %s; nothing was left changed", what,
                                 origin_text(error));
}

/* @what: "making a directory in", or "copying events/header_page to", which may fail at its other end. */
static int refuse_store(const Session *s, Refusal *refusal, int error, const char *what) {
        bool is_copy = startswith(what, "copying");

        return refusal_set_errno(
                refusal, error,
                "cannot record: %s the store %s failed: %s%s. Nothing was left changed", what,
                store_path(s->context->store), origin_text(error),
                is_copy && (abs(error) == ENOENT || abs(error) == EIO) ? "" : store_way_out(error));
}

/* Whatever changes the kernel writes the ledger first. */
static int refuse_kernel(const Session *s, Refusal *refusal, int error, const char *what) {
        return controller_refuse_ledger(s->context->controller, error, refusal)
                       ?: refuse_errno(refusal, error, what);
}

/* --- where it was made -------------------------------------------------------------------------- */

static int add_host(SessionMeta *m) {
        /* Recordings travel; a machine-id(5) should not, so theirs is one of ours that is made of it. */
        char boot_id[BOOT_ID_CHARS + 1], text[SD_ID128_STRING_MAX];
        struct utsname u;
        sd_id128_t ours, id;
        int r;

        if (uname(&u) < 0)
                return ORIGIN(-errno);
        r = session_meta_renew_id(m);
        if (r < 0)
                return r;
        boot_id_read(boot_id);
        m->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        r = text_replace(&m->kernel, u.release) ?: text_replace(&m->machine, u.machine)
                    ?: text_replace(&m->host, u.nodename) ?: text_replace(&m->boot_id, boot_id);
        if (r == 0 && sd_id128_from_string(META_MACHINE_ID_OF, &ours) >= 0 &&
            sd_id128_get_machine_app_specific(ours, &id) >= 0)
                r = text_replace(&m->machine_id, sd_id128_to_string(id, text));
        return r;
}

/* --- the steps ---------------------------------------------------------------------------------- */

/* Before arming, which slows the kernel down; and again after it, when it costs nothing unless
 * modules came meanwhile. */
static int session_store_symbols(Session *s, Refusal *refusal) {
        bool is_again = s->meta->state != SESSION_NEW;
        int r;

        if (is_again && !s->meta->symbols)
                return 0;
        r = symbol_watch_begin(s->context->symbols, store_symbols_fd(s->context->store), s->meta);
        if (r < 0)
                return refuse_store(s, refusal, r, "copying /proc/kallsyms to");
        if (r == KERNEL_SYMBOLS_E_HIDDEN && !is_again)
                session_warn(s, "the kernel hides its symbols' addresses (sysctl "
                                "kernel.kptr_restrict, or no CAP_SYSLOG): functions have "
                                "no names");
        return 0;
}

/* Arguments have their names from them, and are drawn as "()" without.  What a kretprobe sees is as wide as a register;
 * fprobes know types themselves (daemon/instances/instance.h). */
static int session_store_types(Session *s, Refusal *refusal) {
        const Spec *spec = &s->meta->spec;
        bool has_args = spec_asks_for_args(spec),
             has_returns = (spec->retval || spec->retval_functions.n > 0) &&
                           release_compare(s->meta->kernel, 6, 5) == RELEASE_BEFORE;
        _cleanup_close_ int root_fd = -EBADF;
        char hash[SYMBOL_HASH_CHARS + 1];
        int r;

        if (!has_args && !has_returns)
                return 0;
        root_fd = dir_open(AT_FDCWD, "/");
        r = root_fd < 0 ? root_fd
                        : kernel_types_store(root_fd, store_symbols_fd(s->context->store), hash);
        if (r == KERNEL_TYPES_E_NONE && has_args)
                session_warn(s, "the kernel does not say what its functions' arguments are "
                                "(/sys/kernel/btf/vmlinux is missing): they are recorded, but "
                                "cannot be drawn");
        if (r == KERNEL_TYPES_E_NONE)
                return 0;
        s->meta->types = r < 0 ? NULL : strdup(hash);
        r = r < 0 ? r : s->meta->types ? 0 : -ENOMEM;
        return r < 0 ? refuse_store(s, refusal, r, "copying /sys/kernel/btf to") : 0;
}

static int session_arm(Session *s, Refusal *refusal) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        int r = controller_arm(s->context->controller, &s->tracer, s->meta, s->admission, refusal);

        if (r < 0)
                return refuse_kernel(s, refusal, r, "programming function_graph");
        if (r > 0)
                return r;
        s->meta->arm_ns = now_ns(CLOCK_MONOTONIC) - since_ns;
        tracer_set_handler(s->tracer, session_on_quiesced, s);
        session_enter(s, SESSION_ARMED, NULL);
        return 0;
}

static int session_make_dir(Session *s, Refusal *refusal) {
        int r = store_make_session(s->context->store, s->meta->name, &s->dir);

        if (r == -EEXIST)
                return refusal_set_of(refusal, REFUSAL_SESSION_EXISTS, "session", s->meta->name,
                                      "there is already a directory \"%s\" in %s/sessions; choose "
                                      "another name or remove it",
                                      s->meta->name, store_path(s->context->store));
        if (r < 0)
                return refuse_store(s, refusal, r, "making the session's directory in");
        r = disk_usage_reserve(s->dir);
        if (r < 0)
                return refuse_store(s, refusal, r, "reserving room in");
        return 0;
}

static int session_copy_tracing(Session *s, Refusal *refusal) {
        char what[PATH_MAX];
        const char *path;
        int r = tracing_copy_begin(s->dir, s->tracer, s->meta, &path);

        if (r >= 0)
                return 0;
        (void) snprintf(what, sizeof(what), "copying %s of tracefs to", path);
        return refuse_store(s, refusal, r, what);
}

static int session_open_cpus(Session *s, Refusal *refusal) {
        SessionMeta *m = s->meta;
        int r = session_make_recorder(s);

        if (r < 0)
                return refuse_errno(refusal, r, "making the readers");

        for (uint32_t cpu = 0; cpu < m->n_possible_cpus; cpu++) {
                _cleanup_close_ int fd = instance_open_raw(tracer_instance(s->tracer), cpu);
                Reader *reader;

                if (fd == -ENOENT) /* possible CPUs may have gaps */
                        continue;
                if (fd < 0)
                        return refuse_errno(refusal, fd, "opening a CPU's trace_pipe_raw");
                r = recorder_add(s->recorder, &reader, cpu, fd, -EBADF);
                if (r < 0)
                        return refuse_store(s, refusal, r, "making a CPU's directory in");
                TAKE_FD(fd);
                session_hold_cpu(s, reader);
        }

        m->n_cpus = recorder_n_cpus(s->recorder);
        if (m->n_cpus == 0)
                return refuse_errno(refusal, ENODEV, "opening any CPU's trace_pipe_raw");
        m->cpus = calloc(m->n_cpus, sizeof(*m->cpus));
        if (!m->cpus) {
                m->n_cpus = 0;
                return -ENOMEM;
        }
        return session_make_health(s);
}

static int session_begin(Session *s, Refusal *refusal) {
        bool waits = s->triggers.start_queue;
        const char *what;
        ClockTuple now;
        int r = session_dir_write_meta(s->dir, s->meta, false);

        if (r < 0)
                return refuse_store(s, refusal, r, "writing session.json in");
        r = store_settle_session(s->context->store, s->meta->name);
        if (r < 0)
                return refuse_store(s, refusal, r, "naming the session's directory in");
        s->is_saved = true;
        r = session_hold_all(s);
        if (r < 0)
                return refuse_store(s, refusal, r, "writing live.json in");

        recorder_set_held(s->recorder, waits || s->meta->spec.in_kernel);
        r = recorder_start(s->recorder);
        if (r < 0)
                return refuse_errno(refusal, r, "starting a reader's thread");
        r = tracer_read_clocks(s->tracer, &now);
        if (r < 0)
                return refuse_errno(refusal, r, "reading the trace clock");
        if (s->triggers.n > 0)
                s->meta->armed = now;
        if (!waits)
                s->meta->start = now;
        r = session_make_rotation(s, &now, now.trace_ns);
        if (r < 0)
                return refuse_store(s, refusal, r, "preparing the rotation of segments in");
        r = session_follow_tasks(s);
        if (r < 0)
                return refuse_kernel(s, refusal, r, "following tasks by name or control group");
        r = waits ? 0 : session_go(s, &what);
        if (r < 0)
                return refuse_kernel(s, refusal, r, what);
        r = session_begin_triggers(s, false);
        if (r < 0)
                return refuse_kernel(s, refusal, r, "listening to its triggers");
        /* Arming may have taken longer than there was time: better none than one that is late. */
        return session_admit_triggers(&s->meta->spec, true, refusal);
}

static int (*const start_steps[])(Session *s, Refusal *refusal) = {
        session_make_triggers, session_store_types,  session_store_symbols, session_arm,
        session_make_dir,      session_copy_tracing, session_open_cpus,     session_open_stacks,
        session_store_symbols, session_begin,
};

static void undo(Session *s) {
        int r = session_take_down(s, TAKE_DOWN_UNDONE);

        if (r < 0)
                log_error_errno(r,
                                "Could not put the kernel back after the failed start of "
                                "\"%s\": %m; it is tried again, or try \"ftraced --restore\".",
                                s->meta->name);
        if (!s->dir)
                return;
        s->dir = session_dir_free(s->dir);
        r = store_discard_session(s->context->store, s->meta->name);
        if (r < 0)
                log_error_errno(r, "Could not remove session \"%s\", which failed to start: %m",
                                s->meta->name);
}

int session_start(Session **ret, const SessionContext *context, SessionMeta *m, Admission *a,
                  uint64_t peer, Refusal *refusal) {
        Session *s;
        int r = session_new(&s, context);

        if (r < 0)
                return r;
        s->meta = m;
        s->peer = peer;
        s->admission = a;

        r = add_host(m);
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(start_steps); i++)
                r = start_steps[i](s, refusal);
        if (r != 0) {
                undo(s);
                TAKE_PTR(s->meta);
                (void) session_free(s);
                return r;
        }

        s->admission = NULL;
        session_save(s);
        if (m->spec.black_box) { /* a crash loses what is not on the disk, and this is to be there after it */
                session_save_tasks(s);
                (void) BACKGROUND_CALL(syncfs(session_dir_fd(s->dir)));
        }
        *ret = s;
        return 0;
}

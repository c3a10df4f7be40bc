/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session's buffer is programmed twice: for a moment to record what the daemon's own thread does in
 * one small system call, to time that (daemon/gauge.h), and then for the session.  The functions
 * hooked are three, the tracer was nop before and is nop afterwards, and every file is in the ledger as
 * the session's, so there is nothing to put back in between.  Setting a tracer empties the buffer
 * (linux 6.1 kernel/trace/trace.c, tracer_init()), so nothing of it is in the recording.
 */

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/text.h"
#include "daemon/controller-private.h"
#include "daemon/gauge.h"
#include "daemon/knob.h"
#include "daemon/pace.h"

#define EVENTS_PER_CALL 2 /* it began, it ended */

/* What is measured with. */
typedef struct Setup {
        Strv roots;
        Hooks hooks;
        uint64_t buffer_bytes; /* as it is */
} Setup;

static void setup_done(Setup *s) {
        strv_done(&s->roots);
        hooks_done(&s->hooks);
}

static int read_buffer_bytes(const Tracer *t, uint64_t *ret) {
        _cleanup_free_ char *path = NULL, *text = NULL;
        int r;

        if (asprintf(&path, "%sbuffer_size_kb", instance_dir(t->instance)) < 0)
                return -ENOMEM;
        r = knob_read(t->c->fs.fd, path, &text);
        if (r < 0)
                return r;
        *ret = strtoull(text, NULL, 10) * 1024;
        return 0;
}

/* 0, GAUGE_E_NONE, -errno. */
static int setup_init(Setup *s, const Tracer *t) {
        const Functions *f = &t->c->functions;
        int r = gauge_functions(f, &s->roots, &s->hooks.names);

        if (r == 0)
                r = functions_find_lines(f, &s->hooks.names, &s->hooks.lines);
        return r == 0 ? read_buffer_bytes(t, &s->buffer_bytes) : r;
}

/* This one alone: what it forks is nobody's business. */
static int plan_thread(Tracer *t, Plan *p) {
        _cleanup_free_ char *path = NULL;
        Controller *c = t->c;
        char text[16];

        (void) snprintf(text, sizeof(text), "%i", (int) gettid());
        if (asprintf(&path, "%sset_ftrace_pid", instance_dir(t->instance)) < 0)
                return -ENOMEM;
        return plan_add(p, &c->fs, c->ledger, instance_name(t->instance) ? NULL : t->claim->session,
                        path, text);
}

static int program(Tracer *t, const SessionMeta *m, const Setup *s, Plan *p) {
        const char *session = t->claim->session, *file;
        Controller *c = t->c;
        Strv none = {};
        int r;

        r = instance_plan(t->instance, p, c->ledger, session,
                          &(InstanceSettings){ .buffer_bytes = s->buffer_bytes,
                                               .percent = pace_percent(s->buffer_bytes, 0),
                                               .clock = t->clock,
                                               .cpus = &none,
                                               .threads = &none,
                                               .not_hooked = &none,
                                               .hooks = &s->hooks,
                                               .args = m->spec.args });
        if (r >= 0)
                r = plan_thread(t, p);
        if (r >= 0)
                r = controller_plan_shared(
                        c, p, &(SharedSettings){ .roots = &s->roots, .notrace = &none });
        if (r >= 0)
                r = ledger_commit(c->ledger, c->fs.path);
        if (r >= 0)
                r = plan_apply(p, &c->fs, &file);
        return r < 0 ? r : instance_start(t->instance, p, &file);
}

/* Whether what was timed was recorded. */
static int check_recorded(Tracer *t) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n;
        int r = tracefs_get_cpus(&t->c->fs, &cpus, &n);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++)
                (void) instance_read_account(t->instance, &(CpuAccount){ .cpu = cpus[i] });
        return instance_n_waiting(t->instance) < GAUGE_RECORDED * EVENTS_PER_CALL ? -ENODATA : 0;
}

static int measure(Tracer *t, const SessionMeta *m, const Setup *s, Calibration *ret) {
        _cleanup_plan_ Plan p = {};
        GaugeTimes quiet, recorded;
        int r, k;

        gauge_time(&quiet);
        r = program(t, m, s, &p);
        if (r < 0)
                return r;
        r = instance_set_recording(t->instance, true);
        if (r < 0)
                return r;
        gauge_time(&recorded);
        k = instance_set_recording(t->instance, false);
        r = check_recorded(t);
        if (r >= 0)
                r = k;
        if (r < 0)
                return r;
        return gauge_compare(ret, &quiet, &recorded) ? 0 : -ENODATA;
}

static bool is_known(const Controller *c, const char *clock, const SessionMeta *m) {
        return calibration_is_set(&c->calibration) && streq(c->calibration_clock, clock) &&
               c->calibration_args == m->spec.args;
}

Calibration controller_calibration(const Controller *c, const SessionMeta *m) {
        return is_known(c, m->clock, m) ? c->calibration : (Calibration){};
}

static int keep(Controller *c, const Tracer *t, const SessionMeta *m, Calibration *calibration) {
        int r = text_replace(&c->calibration_clock, t->clock);

        if (r < 0)
                return r;
        calibration->realtime_ns = now_ns(CLOCK_REALTIME);
        c->calibration_args = m->spec.args;
        c->calibration = *calibration;
        return 0;
}

/* The session's roots may be written again only while no tracer is on. */
static int switch_off(Tracer *t, const char **ret_file) {
        _cleanup_plan_ Plan p = {};
        _cleanup_free_ char *path = NULL;
        int r;

        *ret_file = "current_tracer";
        if (asprintf(&path, "%scurrent_tracer", instance_dir(t->instance)) < 0)
                return -ENOMEM;
        r = plan_step(&p, PLAN_SET, path, "function_graph", "nop", NULL);
        return r < 0 ? r : plan_apply(&p, &t->c->fs, ret_file);
}

int tracer_calibrate(Tracer *t, const SessionMeta *m, const char **ret_file) {
        _cleanup_(setup_done) Setup setup = {};
        Controller *c = t->c;
        Calibration calibration = {};
        int r, k;

        if (c->arbiter.n > 1 || is_known(c, t->clock, m))
                return 0;
        r = setup_init(&setup, t);
        if (r != 0)
                return r == GAUGE_E_NONE ? 0 : r;
        r = measure(t, m, &setup, &calibration);
        k = switch_off(t, ret_file);
        if (r >= 0 && k >= 0)
                r = keep(c, t, m, &calibration);
        if (r < 0)
                log_debug("knob", "what recording a call costs was not measured: %s", strerror(-r));
        return k;
}

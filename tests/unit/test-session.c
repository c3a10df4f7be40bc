/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A session's parts on a fake tracefs: its states, what is hooked, and where readers go on that another daemon began. */

#include "daemon/session/session-private.h"
#include "fake-kernel.h"

#define PAGE 4096U
#define N_CPUS 2
#define START_NS 1000

typedef struct Fixture {
        FakeKernel *kernel;
        Controller *controller;
        SessionContext context; /* without tasks: all is done at once */
        Session *session;
        SessionMeta *meta;
        unsigned n_hooked, n_failed, n_settled, n_changed;
        int error; /* of watching what is hooked */
        /* of what is taken up */
        Scratch scratch;
        Live live;
} Fixture;

static void on_changed(Session *s, void *userdata) {
        Fixture *f = userdata;

        f->n_changed++;
}

/* As session-live.c does, in short. */
static void on_settled(Session *s, bool is_task, int error) {
        Fixture *f = s->context->userdata;

        ck_assert(is_task);
        ck_assert(!session_hooks_are_changing(s));
        ck_assert_uint_eq(f->n_settled, f->n_changed);
        f->n_settled++;
        if (error >= 0 && s->meta->state == SESSION_RECORDING) {
                ck_assert(!tracer_waits(s->tracer));
                f->n_hooked++;
                error = f->error;
        }
        if (error < 0 && s->meta->state == SESSION_RECORDING) {
                f->n_failed++;
                s->meta->state = SESSION_DRAINING;
        }
}

/* One that waits for a command to record, with everything hooked then, if it @waits. */
static void fixture_init(Fixture *f, bool waits) {
        _cleanup_refusal_ Refusal refusal = {};
        SessionMeta *m;

        *f = (Fixture){ .kernel = fake_kernel_new(true), .scratch = SCRATCH };
        f->controller = fake_controller(f->kernel);
        f->context = (SessionContext){ .controller = f->controller,
                                       .changed = on_changed,
                                       .userdata = f };
        ck_assert_int_eq(session_new(&f->session, &f->context), 0);
        ck_assert_int_eq(session_meta_new(&m), 0);
        f->meta = f->session->meta = m;
        m->name = strdup("x");
        ck_assert_int_eq(session_meta_renew_id(m), 0);
        ck_assert_int_eq(strv_add(&m->spec.functions, "udp_sendmsg"), 0);
        if (waits)
                ck_assert_int_eq(strv_add(&m->spec.triggers, "start command"), 0);
        ck_assert_int_eq(fake_admit_and_arm(f->controller, &f->session->tracer, m, false, &refusal),
                         0);
        m->state = SESSION_ARMED;
        f->session->hooks.settled = on_settled;
}

static void fixture_done(Fixture *f) {
        Session *s = f->session;

        s->recorder = recorder_free(s->recorder);
        session_sync_done(s);
        ck_assert_int_eq(tracer_disarm(TAKE_PTR(s->tracer)), 0);
        live_done(&f->live);
        (void) session_free(s);
        f->context.fdstore = fdstore_free(f->context.fdstore);
        f->context.event = sd_event_unref(f->context.event);
        f->controller = controller_free(f->controller);
        fake_kernel_free(f->kernel);
        scratch_done(&f->scratch);
}
#define _cleanup_fixture_ _cleanup_(fixture_done)

/* --- states ------------------------------------------------------------------------------------ */

TEST(no_state_follows_but_what_the_picture_in_the_header_has) {
        static const char *const picture[_SESSION_STATE_N] = {
                [SESSION_NEW] = "armed failed ",
                [SESSION_ARMED] = "recording draining failed ",
                [SESSION_RECORDING] = "armed draining failed ",
                [SESSION_DRAINING] = "sealed failed ",
        };

        for (SessionState from = 0; from < _SESSION_STATE_N; from++) {
                char text[128] = "";

                for (SessionState to = 0; to < _SESSION_STATE_N; to++)
                        if (session_state_may_become(from, to))
                                (void) snprintf(text + strlen(text), sizeof(text) - strlen(text),
                                                "%s ", session_state_name(to));
                ck_assert_str_eq(text, picture[from] ?: "");
        }
}

#define CASE(f)                                                                                    \
        _cleanup_fixture_ Fixture f;                                                               \
        fixture_init(&f, true)
#define CASE_TEST(name) TEST_WITH(name, (Fixture * f), CASE(f), &f)

/* --- what is hooked ----------------------------------------------------------------------------- */

static void enter(Fixture *f, SessionState state, uint64_t since_ns) {
        f->meta->state = state;
        session_hooks_follow(f->session, since_ns);
}

CASE_TEST(everything_is_hooked_while_it_records_and_its_roots_while_it_waits) {
        ck_assert(session_hooks_are_due(f->session));
        ck_assert(!f->session->hooks.was_hooked);
        for (unsigned i = 1; i <= 2; i++) {
                enter(f, SESSION_RECORDING, 1);
                ck_assert(!tracer_waits(f->session->tracer));
                ck_assert(!session_hooks_are_due(f->session));
                ck_assert_uint_eq(f->n_hooked, i);
                enter(f, SESSION_ARMED, 0);
                ck_assert(tracer_waits(f->session->tracer));
                ck_assert_uint_eq(f->n_hooked, i);
                ck_assert_uint_eq(f->n_settled, 2 * i);
                ck_assert_uint_eq(f->n_changed, 2 * i);
        }
        ck_assert(f->session->hooks.was_hooked); /* once is enough to learn from */
        ck_assert_uint_eq(f->n_failed, 0);
}

CASE_TEST(what_is_hooked_already_is_no_work) {
        enter(f, SESSION_ARMED, 0);
        ck_assert_uint_eq(f->n_settled, 0);
        enter(f, SESSION_RECORDING, 1);
        ck_assert_uint_eq(f->n_settled, 1);
        session_hooks_follow(f->session, 1);
        ck_assert_uint_eq(f->n_settled, 1);
        enter(f, SESSION_DRAINING, 0); /* disarming puts it back */
        ck_assert_uint_eq(f->n_settled, 1);
}

CASE_TEST(a_session_that_records_is_told_what_it_lacks) {
        enter(f, SESSION_RECORDING, 1);
        ck_assert_uint_eq(f->meta->warnings.n, 1);
        ck_assert_ptr_nonnull(strstr(f->meta->warnings.items[0], "after the trigger on"));
        enter(f, SESSION_ARMED, 0);
        enter(f, SESSION_RECORDING, 0); /* it fired before this daemon */
        ck_assert_uint_eq(f->meta->warnings.n, 2);
        ck_assert_ptr_nonnull(strstr(f->meta->warnings.items[1], "when the daemon ended"));
}

TEST(one_that_cannot_be_hooked_or_watched_ends) {
        for (int at_the_end = 0; at_the_end < 2; at_the_end++) {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f, true);
                if (at_the_end)
                        f.error = -EIO;
                else {
                        f.kernel->fault = FAKE_FAIL;
                        f.kernel->fault_at = f.kernel->n_steps + 1;
                }
                enter(&f, SESSION_RECORDING, 1);
                ck_assert_uint_eq(f.n_hooked, (unsigned) at_the_end);
                ck_assert_uint_eq(f.n_failed, 1);
                ck_assert_uint_eq(f.n_settled, 1);
                ck_assert_uint_eq(f.n_changed, 1);
                ck_assert(!session_hooks_are_changing(f.session));
        }
}

static void count_done(Session *s, int error, void *userdata) {
        ++*(unsigned *) userdata;
}

CASE_TEST(nobody_waits_for_what_is_done) {
        unsigned n_done = 0;

        session_when_hooked(f->session, count_done, &n_done);
        ck_assert_uint_eq(n_done, 1);
        session_hooks_interrupt(f->session);
        ck_assert_uint_eq(f->meta->warnings.n, 0);
}

/* --- what an earlier daemon began --------------------------------------------------------------- */

/* With two CPUs, and the tracer taken up already. */
static void adopt_init(Fixture *f) {
        const char *why;
        Session *s;
        SessionMeta *m;

        fixture_init(f, false);
        s = f->session;
        m = f->meta;
        ck_assert_int_eq(fdstore_new(&f->context.fdstore, false), 0);
        ck_assert_int_eq(sd_event_new(&f->context.event), 0);
        ck_assert_int_eq(session_dir_take_fds(&s->dir, dup(f->scratch.fd), -EBADF), 0);
        m->page_bytes = PAGE;
        m->state = SESSION_RECORDING;
        m->start = (ClockTuple){ .trace_ns = START_NS, .realtime_ns = START_NS };
        m->n_cpus = N_CPUS;
        m->cpus = calloc(N_CPUS, sizeof(*m->cpus));
        m->cpus[1].cpu = 1;
        tracer_free(TAKE_PTR(s->tracer));
        ck_assert_int_eq(controller_adopt(f->controller, &s->tracer, m, &why), 0);
}

#define ADOPT_CASE(f)                                                                              \
        _cleanup_fixture_ Fixture f;                                                               \
        adopt_init(&f)
#define ADOPT_TEST(name) TEST_WITH(name, (Fixture * f), ADOPT_CASE(f), &f)

static void take_up(Fixture *f) {
        ck_assert_int_eq(session_take_cpus(f->session, &f->live), 0);
        ck_assert_uint_eq(recorder_n_cpus(f->session->recorder), N_CPUS);
}

/* A segment whose one page begins at @time_ns, and its writer died. */
static void leave_segment(const Fixture *f, uint32_t cpu, uint64_t time_ns) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        _cleanup_close_ int cpu_fd = session_dir_make_cpu(f->session->dir, cpu);
        uint64_t page[PAGE / sizeof(uint64_t)] = { time_ns, 8 };

        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, cpu, PAGE, f->meta->id), 0);
        ck_assert_int_eq(write_full(w->fd, page, sizeof(page)), 0);
        segment_publish(w, sizeof(page));
}

ADOPT_TEST(what_a_killed_daemon_may_have_had_in_its_pipes_is_a_gap_of_each_cpu) {
        const Gap *g;

        take_up(f);
        ck_assert_uint_eq(f->meta->gaps.n, N_CPUS);
        g = &f->meta->gaps.items[1];
        ck_assert_uint_eq(g->cpu, 1);
        ck_assert_int_eq(g->cause, GAP_DAEMON_GONE);
        ck_assert_uint_eq(g->from_ns, START_NS);
        ck_assert_uint_gt(g->to_ns, START_NS);
        ck_assert_uint_eq(g->n_pages, 0);
        ck_assert_uint_eq(f->meta->warnings.n, 1);
        ck_assert_ptr_nonnull(strstr(f->meta->warnings.items[0], "2M"));
}

TEST(a_session_that_waits_for_its_first_capture_has_nothing_in_its_pipes) {
        for (int in_kernel = 0; in_kernel < 2; in_kernel++) {
                ADOPT_CASE(f);

                f.meta->state = SESSION_ARMED;
                f.meta->start = (ClockTuple){};
                f.meta->spec.in_kernel = in_kernel;
                take_up(&f);
                ck_assert_uint_eq(f.meta->gaps.n, 0);
        }
}

ADOPT_TEST(one_that_waits_again_may_have_had_some_of_the_last_capture) {
        f->meta->state = SESSION_ARMED;
        take_up(f);
        ck_assert_uint_eq(f->meta->gaps.n, N_CPUS);
}

ADOPT_TEST(a_gap_begins_at_the_last_page_that_is_stored) {
        leave_segment(f, 1, 5 * START_NS);
        take_up(f);
        ck_assert_uint_eq(f->meta->gaps.n, N_CPUS);
        ck_assert_uint_eq(f->meta->gaps.items[1].from_ns, 5 * START_NS);
        ck_assert_uint_eq(f->meta->cpus[0].n_pages, 0);
        ck_assert_uint_eq(f->meta->cpus[1].n_pages, 1);
}

ADOPT_TEST(the_kernels_counters_go_on_where_live_json_says) {
        InstanceCounters now;
        LiveCpu cpu = { .cpu = 0, .counters = { .last = { 4 }, .sum = { 10 } } };
        CpuAccount account = { .cpu = 0 };

        f->live.left = true;
        f->live.cpus = calloc(1, sizeof(cpu));
        f->live.cpus[f->live.n_cpus++] = cpu;
        take_up(f);
        now = *instance_counters(tracer_instance(f->session->tracer), 0);
        ck_assert_mem_eq(&now, &cpu.counters, sizeof(now));
        /* The fake kernel says "overrun: 7": 3 more than when it was looked at last. */
        ck_assert_int_eq(instance_read_account(tracer_instance(f->session->tracer), &account), 0);
        ck_assert_uint_eq(account.overrun, 13);
}

ADOPT_TEST(without_live_json_the_accounts_go_on_where_session_json_says) {
        CpuAccount account = { .cpu = 0 };

        f->live.left = true;
        f->meta->cpus[0].overrun = 100;
        f->meta->cpus[0].read_events = 5;
        take_up(f);
        ck_assert_int_eq(instance_read_account(tracer_instance(f->session->tracer), &account), 0);
        ck_assert_uint_eq(account.overrun, 100); /* what came meanwhile nobody knows */
        ck_assert_uint_eq(account.read_events, 5);
}

CASE_TEST(one_that_waits_goes_on_if_its_calls_stay_hooked) {
        enter(f, SESSION_RECORDING, 1);
        f->kernel->fault = FAKE_FAIL;
        f->kernel->fault_at = f->kernel->n_steps + 1;
        enter(f, SESSION_ARMED, 0);
        ck_assert_uint_eq(f->n_failed, 0);
        ck_assert_int_eq(f->meta->state, SESSION_ARMED);
        ck_assert_uint_eq(f->meta->warnings.n, 2);
        ck_assert_ptr_nonnull(strstr(f->meta->warnings.items[1], "stays hooked"));
}

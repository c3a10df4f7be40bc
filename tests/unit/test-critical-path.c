/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Streams by hand, and those of a simulator, which knows the paths. */

#include "causes/critical-path.h"
#include "fed.h"
#include "task-simulator.h"

static const Function recv = { .label = "udp_recvmsg" SLACK, .n_label = 11, .n_name = 11 };
static const Function schedule = { .label = "schedule" SLACK, .n_label = 8, .n_name = 8 };
static const Function ready = { .label = "sock_def_readable" SLACK, .n_label = 17, .n_name = 17 };
static const Function unlock = { .label = "mutex_unlock" SLACK, .n_label = 12, .n_name = 12 };
static const Function wake_up = { .label = "try_to_wake_up" SLACK, .n_label = 14, .n_name = 14 };

/* --- which calls ------------------------------------------------------------------------------ */

static SlowestCalls slowest_of(Pairing *p, const RootCalls *c) {
        SlowestCalls s;

        ck_assert_int_eq(pairing_finish(p), 0);
        ck_assert_int_eq(root_calls_choose(c, &s), 0);
        return s;
}

TEST(the_slowest_calls_are_those_of_the_root_with_most_time) {
        _cleanup_(pairing_freep) Pairing *p = fed_pairing();
        _cleanup_(root_calls_done) RootCalls calls;
        SlowestCalls s;

        root_calls_init(&calls, p, 1);
        for (int32_t pid = 1; pid <= 3; pid++) {
                Step step = pid == 2 ? step_leaf(&step_child, 0, 700)
                                     : step_leaf(&step_root, 0, 300 + 100 * (uint64_t) pid);

                step.pid = pid;
                feed_at(p, step, 900 + 100 * (uint64_t) pid);
        }
        s = slowest_of(p, &calls);
        ck_assert_ptr_eq(s.root, &step_root);
        ck_assert_uint_eq(s.n_all, 2);
        ck_assert_uint_eq(s.n, 1);
        ck_assert_int_eq(s.windows[0].task, 3);
        ck_assert_uint_eq(s.windows[0].begin_ns, 1200);
        ck_assert_uint_eq(s.windows[0].end_ns, 1800);
        ck_assert_uint_eq(s.number, 3);
        free(s.windows);
}

TEST(the_slowest_hundredth_is_one_at_least_and_whole) {
        for (uint64_t n = 0; n <= 450; n += 450) {
                _cleanup_(pairing_freep) Pairing *p = fed_pairing();
                _cleanup_(root_calls_done) RootCalls calls;
                SlowestCalls s;

                root_calls_init(&calls, p, 1000);
                for (uint64_t i = 1; i <= n; i++)
                        feed_at(p, step_leaf(&step_root, 0, i * 17 % 451), i * 1000);
                if (n > 0) {
                        Step open = step_enter(&step_root, 0); /* which has no end */

                        open.pid = 2;
                        feed_at(p, open, 1000);
                }
                s = slowest_of(p, &calls);
                ck_assert_uint_eq(s.n_all, n > 0 ? n + 1 : 0);
                ck_assert_uint_eq(s.n, n > 0 ? 5 : 0);
                ck_assert_int_eq(s.root != NULL, n > 0);
                for (size_t i = 0; i < s.n; i++)
                        ck_assert_uint_ge(s.windows[i].end_ns - s.windows[i].begin_ns, 446);
                free(s.windows);
        }
}

TEST(of_many_calls_the_slowest_that_are_wanted_are_kept) {
        _cleanup_(pairing_freep) Pairing *p = fed_pairing();
        _cleanup_(root_calls_done) RootCalls calls;
        SlowestCalls s;

        root_calls_init(&calls, p, 3);
        for (uint64_t i = 1; i <= 450; i++)
                feed_at(p, step_leaf(&step_root, 0, i * 17 % 451), i * 1000);
        s = slowest_of(p, &calls);
        ck_assert_uint_eq(s.n_all, 450);
        ck_assert_uint_eq(s.n, 3);
        for (size_t i = 0; i < s.n; i++)
                ck_assert_uint_ge(s.windows[i].end_ns - s.windows[i].begin_ns, 448);
        ck_assert_uint_eq(s.number * 17 % 451, 450);
        free(s.windows);
}

TEST(idle_calls_are_chosen_only_where_each_root_has_some) {
        for (int is_alone = 0; is_alone < 2; is_alone++) {
                _cleanup_(pairing_freep) Pairing *p = fed_pairing();
                _cleanup_(root_calls_done) RootCalls calls;
                SlowestCalls s;

                root_calls_init(&calls, p, 1000);
                calls.idle.is_wanted = true;
                FEED(p, step_enter(&recv, 0), step_leaf(&schedule, 1, 700),
                     step_leave(&recv, 0, 900));
                FEED(p, step_leaf(&recv, 0, 80));
                if (!is_alone)
                        FEED(p, step_leaf(&step_root, 0, 70));
                s = slowest_of(p, &calls);
                ck_assert_ptr_eq(s.root, &recv);
                ck_assert_uint_eq(s.n_all, is_alone ? 2 : 1);
                ck_assert_uint_eq(s.windows[0].end_ns - s.windows[0].begin_ns, is_alone ? 900 : 80);
                free(s.windows);
        }
}

/* --- paths ------------------------------------------------------------------------------------ */

typedef struct Fed {
        Window window;
        Pairing *pairing;
        Timelines *timelines;
} Fed;

static void begin(Fed *f, Window window) {
        f->window = window;
        ck_assert_int_eq(pairing_new(&f->pairing), 0);
        ck_assert_int_eq(timelines_new(&f->timelines, f->pairing, &f->window, 1), 0);
}

static void fed_done(Fed *f) {
        timelines_free(f->timelines);
        pairing_free(f->pairing);
}
#define PATH_TEST(name)                                                                            \
        TEST_WITH(name, (Fed * f, CriticalPath * p), _cleanup_path_ CriticalPath p = {};           \
                  _cleanup_fed_ Fed f = {}, &f, &p)

static void feed(Fed *f, Step s, int32_t pid, const char *comm, uint32_t cpu, uint64_t at_ns) {
        s.pid = pid;
        s.comm = comm;
        s.cpu = cpu;
        s.timestamp_ns = at_ns;
        if (s.kind == STEP_LEAVE || s.kind == STEP_LEAF) {
                uint64_t duration_ns = s.rettime - s.calltime;

                s.calltime = s.kind == STEP_LEAF ? at_ns : at_ns - duration_ns;
                s.rettime = s.calltime + duration_ns;
        }
        ck_assert_int_eq(timelines_step(f->timelines, &s), 0);
        ck_assert_int_eq(pairing_step(f->pairing, &s), 0);
}

static void switch_to(Fed *f, uint32_t cpu, int32_t from, char state, int32_t to, uint64_t at_ns) {
        char text[160], comm[16];

        (void) snprintf(comm, sizeof(comm), "t%d", from);
        (void) snprintf(text, sizeof(text),
                        "sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=%c ==> "
                        "next_comm=t%d next_pid=%d next_prio=120",
                        from, from, state, to, to);
        feed(f, (Step){ .kind = STEP_OTHER, .text = text }, from, comm, cpu, at_ns);
}

static void wake(Fed *f, uint32_t cpu, int32_t by, uint8_t flags, int32_t pid, uint64_t at_ns) {
        char text[80], comm[16];

        (void) snprintf(comm, sizeof(comm), "t%d", by);
        (void) snprintf(text, sizeof(text), "sched_waking: comm=t%d pid=%d prio=120 target_cpu=000",
                        pid, pid);
        feed(f, (Step){ .kind = STEP_OTHER, .text = text, .flags = flags }, by, comm, cpu, at_ns);
}

static uint64_t total_ns_of(const CriticalPath *p) {
        uint64_t total_ns = 0;

        for (size_t i = 0; i < p->n; i++)
                total_ns += p->segments[i].duration_ns;
        return total_ns;
}

static void finish(Fed *f, CriticalPath *ret) {
        uint64_t at_ns = f->window.begin_ns;

        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_int_eq(timelines_finish(f->timelines), 0);
        ck_assert_int_eq(critical_path_find(ret, f->timelines, &f->window), 0);
        for (size_t i = 0; i < ret->n; i++) {
                ck_assert_uint_eq(ret->segments[i].begin_ns, at_ns);
                ck_assert_uint_gt(ret->segments[i].duration_ns, 0);
                at_ns += ret->segments[i].duration_ns;
        }
        ck_assert_uint_eq(at_ns, f->window.end_ns);
        ck_assert_uint_eq(total_ns_of(ret), f->window.end_ns - f->window.begin_ns);
}

/* "100 ran t17 udp_recvmsg, 300 queued 1 t18 -": how long, what, how deep if not 0, who, in which function. */
static const char *text_of(const CriticalPath *p) {
        static const char *const kinds[] = { "ran", "queued", "interrupt", "softirq", "unknown" };
        static char text[1024];
        size_t n = 0;

        text[0] = 0;
        for (size_t i = 0; i < p->n; i++) {
                const PathSegment *s = &p->segments[i];
                char depth[16] = "";

                if (s->depth > 0)
                        (void) snprintf(depth, sizeof(depth), "%u ", s->depth);
                n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%llu %s %st%d %s",
                                       i > 0 ? ", " : "", (unsigned long long) s->duration_ns,
                                       kinds[s->kind], depth, s->pid,
                                       s->function ? s->function->label : "-");
        }
        return text;
}

/* udp_recvmsg() of task 17 from 1000 to 2100, which waits from 1200 on. */
static void receive(Fed *f, char state) {
        begin(f, (Window){ .task = 17, .begin_ns = 1000, .end_ns = 2100, .label = "udp_recvmsg" });
        feed(f, step_enter(&recv, 0), 17, "t17", 0, 1000);
        feed(f, step_enter(&schedule, 1), 17, "t17", 0, 1100);
        switch_to(f, 0, 17, state, 0, 1200);
}

static void received(Fed *f, CriticalPath *ret) {
        feed(f, step_leave(&schedule, 1, 900), 17, "t17", 0, 2000);
        feed(f, step_leave(&recv, 0, 1100), 17, "t17", 0, 2100);
        finish(f, ret);
}

static void ends(Fed *f, CriticalPath *p, const char *path) {
        received(f, p);
        ck_assert_str_eq(text_of(p), path);
}

#define BEFORE "100 ran t17 udp_recvmsg, 100 ran t17 schedule, "
#define AFTER ", 100 ran t17 schedule, 100 ran t17 udp_recvmsg"

PATH_TEST(what_the_waker_ran_is_what_was_waited_for) {
        receive(f, 'S');
        feed(f, step_enter(&ready, 0), 18, "t18", 1, 1400);
        wake(f, 1, 18, 0, 17, 1500);
        feed(f, step_leave(&ready, 0, 200), 18, "t18", 1, 1600);
        switch_to(f, 0, 0, 'R', 17, 1900);
        ends(f, p,
             BEFORE "200 ran 1 t18 -, 100 ran 1 t18 sock_def_readable, "
                    "400 queued t17 udp_recvmsg" AFTER);
        ck_assert_ptr_eq(p->segments[2].awaited, &recv);
        ck_assert_ptr_null(p->segments[2].released);
        ck_assert_uint_eq(p->segments[2].cpu, 1);
        ck_assert_str_eq(p->segments[2].comm, "t18");
}

PATH_TEST(an_interrupt_ends_the_chain) {
        receive(f, 'S');
        wake(f, 1, 18, 0x08, 17, 1500);
        switch_to(f, 0, 0, 'R', 17, 1900);
        ends(f, p,
             BEFORE "300 interrupt t17 udp_recvmsg, "
                    "400 queued t17 udp_recvmsg" AFTER);
}

/* It may be one that the end of an interrupt began, in the middle of the call: it is its own below what enters softirqs,
 * or if preemption is off once more than in the call. */
TEST(a_softirq_may_be_a_tasks_own) {
        static const Function enable = { .label = "__local_bh_enable_ip" SLACK,
                                         .n_label = 20,
                                         .n_name = 20 };
        static const struct {
                const Function *outer, *inner; /* inner: NULL: there is none */
                uint8_t preempt_depth;
                bool in_softirq;
                const char *text;
        } cases[] = {
                { &ready, NULL, 0, false, "300 softirq t17 udp_recvmsg" },
                { &ready, &enable, 0, false, "200 ran 1 t18 __local_bh_enable_ip" },
                { &unlock, &ready, 1, true, "300 softirq t17 udp_recvmsg" },
                { &unlock, &ready, 2, true, "200 ran 1 t18 sock_def_readable" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_path_ CriticalPath p = {};
                Step outer = step_enter(cases[i].outer, 0), inner = step_enter(cases[i].inner, 1);
                _cleanup_fed_ Fed f = {};

                receive(&f, 'S');
                outer.preempt_count = cases[i].in_softirq;
                inner.preempt_count = cases[i].preempt_depth;
                inner.flags = cases[i].in_softirq ? 0x10 : 0;
                feed(&f, outer, 18, "t18", 1, 1250);
                if (cases[i].inner)
                        feed(&f, inner, 18, "t18", 1, 1300);
                wake(&f, 1, 18, 0x10, 17, 1500);
                if (cases[i].inner)
                        feed(&f, step_leave(cases[i].inner, 1, 250), 18, "t18", 1, 1550);
                feed(&f, step_leave(cases[i].outer, 0, 350), 18, "t18", 1, 1600);
                switch_to(&f, 0, 0, 'R', 17, 1900);
                received(&f, &p);
                ck_assert_msg(strstr(text_of(&p), cases[i].text), "%zu: %s", i, text_of(&p));
        }
}

PATH_TEST(who_is_preempted_waits_for_a_cpu_that_another_one_has) {
        receive(f, 'R');
        switch_to(f, 0, 0, 'R', 18, 1300);
        switch_to(f, 0, 18, 'S', 17, 1900);
        ends(f, p, BEFORE "700 queued t17 udp_recvmsg" AFTER);
        ck_assert_int_eq(p->segments[2].had, 18);
        ck_assert_str_eq(p->segments[2].had_comm, "t18");
}

PATH_TEST(who_is_woken_by_nobody_waits_for_what_is_not_known) {
        receive(f, 'D');
        switch_to(f, 0, 0, 'R', 17, 1900);
        ends(f, p, BEFORE "700 unknown t17 udp_recvmsg" AFTER);
}

/* The waker of the wake-up that ended the wait counts; 19 woke 18 before, and is another level. */
PATH_TEST(the_holder_is_who_released_the_lock) {
        receive(f, 'D');
        feed(f, step_enter(&ready, 0), 18, "t18", 1, 1250);
        switch_to(f, 1, 18, 'S', 19, 1300);
        wake(f, 1, 19, 0, 18, 1350);
        switch_to(f, 1, 19, 'S', 18, 1400);
        feed(f, step_enter(&unlock, 1), 18, "t18", 1, 1450);
        feed(f, step_enter(&wake_up, 2), 18, "t18", 1, 1460);
        wake(f, 1, 18, 0, 17, 1500);
        wake(f, 2, 20, 0, 17, 1550); /* who comes late woke nobody */
        feed(f, step_leave(&wake_up, 2, 100), 18, "t18", 1, 1560);
        feed(f, step_leave(&unlock, 1, 120), 18, "t18", 1, 1570);
        feed(f, step_leave(&ready, 0, 330), 18, "t18", 1, 1580);
        switch_to(f, 0, 0, 'R', 17, 1900);
        received(f, p);
        ck_assert_str_eq(text_of(p),
                         BEFORE "50 ran 1 t18 -, 50 ran 1 t18 sock_def_readable, 50 ran 2 t19 -, "
                                "50 queued 1 t18 sock_def_readable, "
                                "50 ran 1 t18 sock_def_readable, 10 ran 1 t18 mutex_unlock, "
                                "40 ran 1 t18 try_to_wake_up, 400 queued t17 udp_recvmsg" AFTER);
        ck_assert_ptr_eq(p->segments[2].released, &unlock);
        ck_assert_ptr_null(p->segments[4].released);
        ck_assert_int_eq(p->segments[5].had, 19);
}

PATH_TEST(who_is_woken_while_leaving_did_not_wait) {
        begin(f, (Window){ .task = 17, .begin_ns = 1000, .end_ns = 2100, .label = "udp_recvmsg" });
        feed(f, step_enter(&recv, 0), 17, "t17", 0, 1000);
        switch_to(f, 0, 17, 'R', 0, 1020);
        switch_to(f, 0, 0, 'R', 17, 1030);
        wake(f, 1, 18, 0, 17, 1190);
        switch_to(f, 0, 17, 'S', 0, 1200);
        switch_to(f, 0, 0, 'R', 17, 1900);
        feed(f, step_leave(&recv, 0, 1100), 17, "t17", 0, 2100);
        finish(f, p);
        ck_assert_str_eq(text_of(p), "20 ran t17 udp_recvmsg, 10 queued t17 udp_recvmsg, "
                                     "170 ran t17 udp_recvmsg, 700 queued t17 udp_recvmsg, "
                                     "200 ran t17 udp_recvmsg");
}

/* Task 18 wakes 17, but left before and was not seen to come back. */
PATH_TEST(contradictions_are_not_known_and_end) {
        receive(f, 'S');
        switch_to(f, 1, 18, 'S', 0, 1300);
        wake(f, 1, 17, 0, 18, 1350); /* who sleeps himself */
        wake(f, 1, 18, 0, 17, 1500);
        wake(f, 1, 17, 0, 17, 1550);
        switch_to(f, 0, 0, 'R', 17, 1900);
        ends(f, p,
             BEFORE "100 ran 1 t18 -, 200 unknown 1 t18 -, "
                    "400 queued t17 udp_recvmsg" AFTER);
}

PATH_TEST(after_a_loss_who_calls_runs) {
        receive(f, 'S');
        feed(f, (Step){ .kind = STEP_LOST }, 0, NULL, 0, 1500);
        feed(f, step_leaf(&ready, 1, 100), 17, "t17", 0, 1800);
        feed(f, step_leave(&recv, 0, 1100), 17, "t17", 0, 2100);
        finish(f, p);
        ck_assert_ptr_nonnull(strstr(text_of(p), BEFORE "600 unknown t17 udp_recvmsg, "));
        for (size_t i = 3; i < p->n; i++)
                ck_assert_int_eq(p->segments[i].kind, PATH_RAN);
}

PATH_TEST(the_callers_of_a_call_are_not_in_its_path) {
        static const Function caller = { .label = "ksys_read" SLACK, .n_label = 9, .n_name = 9 };

        /* Its window is moved by what comes between a reading and its record. */
        begin(f, (Window){ .task = 17, .begin_ns = 1010, .end_ns = 1160, .label = "udp_recvmsg" });
        feed(f, step_enter(&caller, 0), 17, "t17", 0, 1000);
        feed(f, step_enter(&recv, 1), 17, "t17", 0, 1010);
        feed(f, step_leave(&recv, 1, 150), 17, "t17", 0, 1150);
        feed(f, step_leaf(&ready, 1, 20), 17, "t17", 0, 1152);
        feed(f, step_leave(&caller, 0, 200), 17, "t17", 0, 1200);
        switch_to(f, 0, 17, 'S', 0, 1300);
        finish(f, p);
        ck_assert_str_eq(text_of(p), "150 ran t17 udp_recvmsg");
}

TEST(sums_are_of_names_and_exact) {
        _cleanup_path_sum_ PathSum sum = {};
        PathSegment a[] = {
                { .duration_ns = 5, .n = 1, .pid = 1, .comm = "x", .function = &recv },
                { .duration_ns = 7, .n = 1, .pid = 2, .comm = "x", .function = &recv },
                { .duration_ns = 9, .n = 2, .pid = 2, .comm = "y", .function = &recv },
                { .duration_ns = 1, .n = 1, .pid = 2, .comm = "x", .kind = PATH_QUEUED },
        };
        CriticalPath path = { a, ELEMENTSOF(a) };

        ck_assert_int_eq(path_sum_add(&sum, &path), 0);
        ck_assert_int_eq(path_sum_add(&sum, &path), 0);
        path_sum_sort(&sum);
        ck_assert_uint_eq(sum.path.n, 3);
        ck_assert_uint_eq(sum.path.segments[0].duration_ns, 24);
        ck_assert_int_eq(sum.path.segments[0].pid, -1);
        ck_assert_uint_eq(sum.path.segments[0].n, 4);
        ck_assert_int_eq(sum.path.segments[1].pid, 2);
        ck_assert_uint_eq(total_ns_of(&sum.path), 2 * total_ns_of(&path));
}

/* --- random tasks ----------------------------------------------------------------------------- */

static Function functions[SIM_FUNCTIONS];
static char labels[SIM_FUNCTIONS][64];

static void play(Fed *f, const Sim *s) {
        for (size_t i = 0; i < s->n_events; i++) {
                const SimEvent *e = &s->events[i];
                uint32_t cpu = (uint32_t) e->cpu;
                char comm[16];
                Step step;

                (void) snprintf(comm, sizeof(comm), "t%d", e->task + 100);
                switch (e->kind) {
                case SIM_ENTER:
                        step = step_enter(e->function, e->depth);
                        feed(f, step, e->task + 100, comm, cpu, e->at_ns);
                        break;
                case SIM_LEAVE:
                        step = step_leave(e->function, e->depth, e->at_ns - e->since_ns);
                        feed(f, step, e->task + 100, comm, cpu, e->at_ns);
                        break;
                case SIM_SWITCH:
                        switch_to(f, cpu, e->task < 0 ? 0 : e->task + 100, e->state,
                                  e->other < 0 ? 0 : e->other + 100, e->at_ns);
                        break;
                case SIM_WAKE: {
                        int by = e->task >= 0           ? e->task
                                 : s->running[cpu] >= 0 ? s->running[cpu]
                                                        : -100;

                        wake(f, cpu, by + 100, e->task < 0 ? 0x08 : 0, e->other + 100, e->at_ns);
                }
                }
        }
}

static void check_call(const Sim *s, const SimEvent *end, uint32_t *ret_depth) {
        static SimTruth truth[SIM_NS];
        _cleanup_path_ CriticalPath p = {};
        _cleanup_fed_ Fed f = {};

        begin(&f, (Window){ .task = end->task + 100,
                            .begin_ns = end->since_ns,
                            .end_ns = end->at_ns,
                            .cpu = (uint32_t) end->cpu,
                            .label = end->function->label });
        play(&f, s);
        finish(&f, &p);
        sim_truth(s, truth, end->task, end->at_ns - SIM_FIRST_NS, end->since_ns - SIM_FIRST_NS, 0);
        for (size_t i = 0; i < p.n; i++) {
                const PathSegment *g = &p.segments[i];

                *ret_depth = MAX(*ret_depth, g->depth);
                for (uint64_t ns = 0; ns < g->duration_ns; ns++) {
                        const SimTruth *t = &truth[g->begin_ns - SIM_FIRST_NS + ns];

                        ck_assert_int_eq(g->kind, t->kind);
                        ck_assert_int_eq(g->pid, t->task + 100);
                        ck_assert_uint_eq(g->depth, t->depth);
                        ck_assert_ptr_eq(g->function, t->function);
                }
        }
}

TEST(paths_of_random_tasks_are_the_true_ones) {
        _cleanup_free_ Sim *s = calloc(1, sizeof(*s));
        unsigned seed = unit_seed(), n_checked = 0, n_deep = 0;

        ck_assert_ptr_nonnull(s);
        for (int i = 0; i < SIM_FUNCTIONS; i++) {
                int n = snprintf(labels[i], sizeof(labels[i]), "function_%d", i);

                functions[i] = (Function){ .label = labels[i],
                                           .n_label = (uint32_t) n,
                                           .n_name = (uint32_t) n };
        }
        for (unsigned k = 0; k < 800 / UNIT_EVERY; k++) {
                unsigned n_calls = 0;

                sim_run(s, seed + k, functions);
                /* Of the last ones some, as those are long. */
                for (size_t i = s->n_seen; i > 0 && n_calls < 8; i--) {
                        const SimEvent *e = &s->events[i - 1];
                        uint32_t depth = 0;

                        if (e->kind != SIM_LEAVE || sim_draw(s, 4) != 0 ||
                            (e->at_ns - e->since_ns < SIM_NS / 20 && sim_draw(s, 8) != 0))
                                continue;
                        check_call(s, e, &depth);
                        n_calls++;
                        n_checked++;
                        n_deep += depth >= 2;
                }
        }
        ck_assert_uint_gt(n_checked, 500 / UNIT_EVERY);
        ck_assert_uint_gt(n_deep, 50 / UNIT_EVERY);
}

/* Whatever is missing or stands in another order: times add up, finish() sees to it. */
TEST(paths_of_damaged_streams_tile_their_calls) {
        _cleanup_free_ Sim *s = calloc(1, sizeof(*s));
        unsigned seed = unit_seed();

        ck_assert_ptr_nonnull(s);
        for (int i = 0; i < SIM_FUNCTIONS; i++)
                functions[i] = (Function){ .label = recv.label, .n_label = 11, .n_name = 11 };
        for (unsigned k = 0; k < 300; k++) {
                _cleanup_path_ CriticalPath p = {};
                _cleanup_fed_ Fed f = {};
                size_t n = 0;
                uint64_t from, to;

                sim_run(s, seed + k, functions);
                for (size_t i = 0; i < s->n_events; i++)
                        if (sim_draw(s, 10) != 0)
                                s->events[n++] = s->events[i];
                s->n_events = n;
                for (size_t i = 0; i < n / 10; i++) {
                        SimEvent *a = &s->events[sim_draw(s, (int) n)];

                        a->task = sim_draw(s, 2) ? sim_draw(s, s->n_tasks) : a->task;
                        a->other = sim_draw(s, 2) ? sim_draw(s, s->n_tasks) : a->other;
                }
                from = SIM_FIRST_NS + (uint64_t) sim_draw(s, SIM_NS / 2);
                to = from + 1 + (uint64_t) sim_draw(s, SIM_NS / 2);
                begin(&f, (Window){ .task = 100 + sim_draw(s, s->n_tasks),
                                    .begin_ns = from,
                                    .end_ns = to,
                                    .label = "udp_recvmsg" });
                play(&f, s);
                finish(&f, &p);
        }
}

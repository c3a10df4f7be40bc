/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/breakdown.h"
#include "causes/waits.h"
#include "fed.h"

typedef struct Fed {
        Pairing *pairing;
        Waits *waits;
        Breakdown *breakdown;
} Fed;

static const Function schedule = { .label = "schedule" SLACK, .n_label = 8, .n_name = 8 };
static const Function recv = { .label = "udp_recvmsg" SLACK, .n_label = 11, .n_name = 11 };
static const Function ready = { .label = "sock_def_readable" SLACK, .n_label = 17, .n_name = 17 };
static const Function enter = { .label = "do_softirq" SLACK, .n_label = 10, .n_name = 10 };
static const Function wake = { .label = "try_to_wake_up" SLACK, .n_label = 14, .n_name = 14 };

static Fed fed(void) {
        Fed f = { .pairing = fed_pairing() };

        ck_assert_int_eq(waits_new(&f.waits, f.pairing, false), 0);
        ck_assert_int_eq(breakdown_new(&f.breakdown, BREAKDOWN_BY_FUNCTION, f.pairing), 0);
        return f;
}

static void fed_done(Fed *f) {
        breakdown_free(f->breakdown);
        waits_free(f->waits);
        pairing_free(f->pairing);
}

static void feed(Fed *f, Step s, int32_t pid, const char *comm, uint64_t at_ns) {
        s.pid = pid;
        s.comm = comm;
        s.timestamp_ns = at_ns;
        ck_assert_int_eq(pairing_step(f->pairing, &s), 0);
}

static void event(Fed *f, const char *text, int32_t pid, const char *comm, uint64_t at_ns) {
        feed(f, (Step){ .kind = STEP_OTHER, .text = text }, pid, comm, at_ns);
}

static void receive(Fed *f, char state) {
        char text[160];

        feed(f, step_enter(&recv, 0), 17, "server", 1000);
        feed(f, step_enter(&schedule, 1), 17, "server", 1100);
        (void) snprintf(
                text, sizeof(text),
                "sched_switch: prev_comm=server prev_pid=17 prev_prio=120 prev_state=%c ==> "
                "next_comm=client next_pid=18 next_prio=120",
                state);
        event(f, text, 17, "server", 1200);
}

static void come_back(Fed *f, int32_t pid, const char *comm, uint64_t at_ns) {
        event(f,
              "sched_switch: prev_comm=x prev_pid=1 prev_prio=120 prev_state=R ==> "
              "next_comm=server next_pid=17 next_prio=120",
              pid, comm, at_ns);
}

/* There was one wait. */
static const WaitsRow *only_wait(Fed *f) {
        const WaitsRow *const *rows;
        size_t n;

        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        rows = waits_rows(f->waits, &n);
        ck_assert_uint_eq(n, 1);
        return rows[0];
}

static const WaitsRow *finish(Fed *f) {
        feed(f, step_leave(&schedule, 1, 900), 17, "server", 2000);
        feed(f, step_leave(&recv, 0, 1100), 17, "server", 2100);
        return only_wait(f);
}

static const BreakdownRow *row_of(Fed *f, const Function *function) {
        const BreakdownRow *const *rows;
        size_t n;

        rows = breakdown_rows(f->breakdown, &n);
        for (size_t i = 0; i < n; i++)
                if (rows[i]->function == function)
                        return rows[i];
        ck_abort_msg("no row of %s", function->label);
}

FED_TEST(a_wait_names_who_woke_it_from_where_and_how_long_that_took) {
        const WaitsRow *row;

        receive(f, 'S');
        feed(f, step_enter(&ready, 0), 18, "client", 1400);
        feed(f, step_enter(&wake, 1), 18, "client", 1450);
        event(f, "sched_waking: comm=server pid=17 prio=120 target_cpu=001", 18, "client", 1500);
        event(f, "sched_wakeup: comm=server pid=17 prio=120 target_cpu=001", 0, "<idle>", 1600);
        come_back(f, 0, "<idle>", 1900);
        row = finish(f);
        ck_assert(f->pairing->has_sched);
        ck_assert_ptr_eq(row->function, &recv);
        ck_assert_str_eq(row->waker.comm, "client");
        ck_assert_int_eq(row->waker.pid, 18);
        ck_assert_ptr_eq(row->waker.function, &ready);
        ck_assert_uint_eq(row->away.sum, 700);
        ck_assert_uint_eq(row->latency.sum, 400);
        ck_assert(!row->is_forced);
        ck_assert_uint_eq(row_of(f, &recv)->blocked_ns, 700);
        ck_assert_uint_eq(row_of(f, &schedule)->self_blocked_ns, 700);
        ck_assert_uint_eq(row_of(f, &recv)->self_blocked_ns, 0);
}

static int note_idle(void *userdata, const Call *call) {
        *(bool *) userdata = call->is_idle;
        return 0;
}

/* Of 1100 ns from 1200 on, in udp_recvmsg(). */
TEST(a_call_is_idle_that_waited_for_input_most_of_its_time_until_it_was_woken) {
        static const struct {
                char state;
                uint64_t woken_ns, back_ns; /* woken_ns 0: nobody was seen to */
                bool is_idle;
        } all[] = { { 'S', 0, 1760, true },     { 'S', 0, 1750, false },
                    { 'S', 1760, 1900, true },  { 'S', 1750, 1900, false },
                    { 'D', 1760, 1900, false }, { 'R', 0, 1900, false } };

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                _cleanup_fed_ Fed f = fed();
                bool is_idle = !all[i].is_idle;

                pairing_add_sink(f.pairing, NULL, note_idle, &is_idle);
                receive(&f, all[i].state);
                if (all[i].woken_ns > 0)
                        event(&f, "sched_waking: comm=server pid=17 prio=120 target_cpu=001", 18,
                              "client", all[i].woken_ns);
                come_back(&f, 0, "<idle>", all[i].back_ns);
                finish(&f);
                ck_assert_msg(is_idle == all[i].is_idle, "%zu", i);
        }
}

/* A filter that leaves the client out, and passes events on only when it has seen all. */
FED_TEST(who_wakes_is_known_by_calls_that_are_left_out) {
        _cleanup_(pairing_freep) Pairing *whole = MADE(Pairing, pairing_new);
        const WaitsRow *row;
        Step wakings[3];

        whole->is_whole = true;
        for (unsigned i = 0; i < ELEMENTSOF(wakings); i++) {
                Step calls[] = { step_enter(&enter, 0), step_enter(&ready, 1),
                                 step_leave(&ready, 1, 20), step_leave(&enter, 0, 20) };

                wakings[i] = (Step){
                        .kind = STEP_OTHER,
                        .text = "sched_waking: comm=server pid=17 prio=120 target_cpu=001",
                        .pid = 18,
                        .comm = "client",
                        .flags = 0x10, /* in a softirq */
                        .timestamp_ns = 1300 + i * 100,
                };
                for (size_t k = 0; k < ELEMENTSOF(calls); k++) {
                        calls[k].pid = i == 1 ? 18 : 19;
                        calls[k].timestamp_ns = wakings[i].timestamp_ns + (k < 2 ? -10 : 10);
                        ck_assert_int_eq(pairing_see(whole, &calls[k]), 0);
                        if (k == 1)
                                ck_assert_int_eq(pairing_see(whole, &wakings[i]), 0);
                }
        }
        f->pairing->all = whole;
        receive(f, 'S');
        ck_assert(pairing_waker(f->pairing, &wakings[0]).in_softirq);
        ck_assert_int_eq(pairing_step(f->pairing, &wakings[1]), 0);
        come_back(f, 0, "<idle>", 1900);
        row = finish(f);
        ck_assert_str_eq(row->waker.comm, "client");
        ck_assert_ptr_eq(row->waker.function, &ready);
        ck_assert(!row->waker.is_irq && !row->waker.in_softirq);
        ck_assert(pairing_waker(f->pairing, &wakings[2]).in_softirq);
}

FED_TEST(who_is_preempted_is_not_woken) {
        const WaitsRow *row;

        receive(f, 'R');
        come_back(f, 18, "client", 1300);
        row = finish(f);
        ck_assert(row->is_forced && !row->is_woken);
        ck_assert_uint_eq(row->away.sum, 100);
}

FED_TEST(an_interrupt_wakes_in_nobodys_name) {
        const WaitsRow *row;
        Step s = { .kind = STEP_OTHER,
                   .text = "sched_waking: comm=server pid=17 prio=120 target_cpu=001",
                   .flags = 0x08 };

        receive(f, 'S');
        feed(f, s, 99, "bystander", 1500);
        come_back(f, 18, "client", 1600);
        row = finish(f);
        ck_assert(row->is_woken && row->waker.is_irq);
}

static void described(const Waker *w, const char *text) {
        _cleanup_buf_ Buf out = BUF_INIT;

        waker_describe(&out, w);
        ck_assert_msg(out.n_data == strlen(text) && memcmp(out.data, text, out.n_data) == 0, "%.*s",
                      (int) out.n_data, out.data);
}

/* On lo it is the sender's own; a packet that comes meanwhile for another task looks the same. */
FED_TEST(a_softirq_wakes_while_a_task_ran_whose_it_may_be) {
        const WaitsRow *row;
        Step s = { .kind = STEP_OTHER,
                   .text = "sched_waking: comm=server pid=17 prio=120 target_cpu=001",
                   .flags = 0x10 };

        receive(f, 'S');
        feed(f, s, 346, "frontend", 1500);
        come_back(f, 18, "client", 1600);
        row = finish(f);
        ck_assert(!row->waker.is_irq && row->waker.in_softirq);
        ck_assert_ptr_eq(row->waker.receiver, &recv);
        ck_assert_ptr_null(row->waker.what);
        described(&row->waker, "in a softirq while frontend-346 ran");
}

/* What the waiting function tells is of what no task did; what the waker's tell comes before that. */
TEST(it_is_said_what_an_interrupt_was_about_if_a_function_tells) {
        static const struct {
                const char *waits, *wakes;
                uint8_t flags;
                const char *text;
        } cases[] = {
                { "do_nanosleep", NULL, 0x08, "by an interrupt (timer)" },
                { "futex_wait_queue", NULL, 0x08, "by an interrupt" },
                { "io_schedule", NULL, 0x10, "in a softirq while other-9 ran (disk I/O)" },
                { "__skb_wait_for_more_packets", NULL, 0x10,
                  "in a softirq while other-9 ran (packet or timeout)" },
                { "__skb_wait_for_more_packets", "net_rx_action", 0x10,
                  "in a softirq while other-9 ran, in net_rx_action (packet)" },
                { "__skb_wait_for_more_packets", "call_timer_fn", 0x10,
                  "in a softirq while other-9 ran, in call_timer_fn (timer)" },
                { "do_nanosleep", NULL, 0, "by other-9" },
                { "io_schedule", "bio_endio", 0, "by other-9 in bio_endio" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char waits[64] = "", wakes[64] = "";
                Function waiting = { .label = waits }, waking = { .label = wakes };
                _cleanup_fed_ Fed f = fed();

                waiting.n_label = waiting.n_name = strlen(strcpy(waits, cases[i].waits));
                waking.n_label = waking.n_name = strlen(strcpy(wakes, cases[i].wakes ?: ""));
                feed(&f, step_enter(&waiting, 0), 17, "server", 1000);
                event(&f,
                      "sched_switch: prev_comm=server prev_pid=17 prev_prio=120 prev_state=D ==> "
                      "next_comm=swapper/1 next_pid=0 next_prio=120",
                      17, "server", 1200);
                if (cases[i].wakes)
                        feed(&f, step_enter(&waking, 0), 9, "other", 1300);
                feed(&f,
                     (Step){ .kind = STEP_OTHER,
                             .text = "sched_waking: comm=server pid=17 prio=120 target_cpu=001",
                             .flags = cases[i].flags },
                     9, "other", 1500);
                come_back(&f, 0, "<idle>", 1900);
                described(&only_wait(&f)->waker, cases[i].text);
        }
}

/* --- between calls ---------------------------------------------------------------------------- */

static void switch_to(Fed *f, int32_t from, char state, int32_t to, uint64_t at_ns) {
        char text[160];

        (void) snprintf(text, sizeof(text),
                        "sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=%c ==> "
                        "next_comm=t%d next_pid=%d next_prio=120",
                        from, from, state, to, to);
        event(f, text, from, "t", at_ns);
}

/* A call of task 17, which is then off the CPU 3 times for others, @idle of 1000 ns while nobody ran. */
static const WaitsRow *between(Fed *f, char state, uint64_t idle, bool is_lost, size_t *ret_n) {
        feed(f, step_leaf(&recv, 0, 10), 17, "t17", 500);
        for (uint64_t at_ns = 1000; at_ns < 4000; at_ns += 1000) {
                switch_to(f, 17, state, 18, at_ns);
                if (is_lost)
                        feed(f, (Step){ .kind = STEP_LOST }, 0, "", at_ns + 10);
                switch_to(f, 18, 'S', 0, at_ns + 900 - idle);
                switch_to(f, 0, 'R', 17, at_ns + 900);
        }
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        waits_rows(f->waits, ret_n);
        return waits_between(f->waits, 17, "udp_recvmsg");
}

static void says(const WaitsRow *row, const char *text) {
        _cleanup_buf_ Buf out = BUF_INIT;

        waits_describe(&out, row);
        ck_assert_msg(out.n_data == strlen(text) && memcmp(out.data, text, out.n_data) == 0, "%.*s",
                      (int) out.n_data, out.data);
}

FED_TEST(who_is_off_the_cpu_between_calls_is_told_for_whom) {
        size_t n;
        const WaitsRow *row = between(f, 'R', 100, false, &n);

        ck_assert_uint_eq(n, 1);
        ck_assert(row && row->is_between && row->is_forced);
        ck_assert_int_eq(row->waker.pid, 18);
        ck_assert_uint_eq(row->idle_ns, 300);
        says(row,
             "t17-17 was off the CPU 3 times between its calls, behind udp_recvmsg, 2.70 us in all "
             "and 0.900 us at most: t18-18 had the CPU longest");
        ck_assert_ptr_null(waits_between(f->waits, 18, NULL));
        ck_assert_ptr_null(waits_between(f->waits, -1, "schedule"));
}

FED_TEST(perhaps_it_was_throttled_if_nobody_else_ran) {
        size_t n;
        const WaitsRow *row = between(f, 'R', 890, false, &n);

        ck_assert_uint_eq(n, 1);
        ck_assert(row && row->waker.pid == 0);
        says(row,
             "t17-17 was off the CPU 3 times between its calls, behind udp_recvmsg, 2.70 us in all "
             "and 0.900 us at most: nothing else ran for 2.67 us: perhaps throttled (cpu.max)");
}

TEST(who_waits_between_calls_or_where_events_were_lost_is_not_told_of) {
        for (int lost = 0; lost < 2; lost++) {
                _cleanup_fed_ Fed f = fed();
                size_t n;

                ck_assert_ptr_null(between(&f, lost ? 'R' : 'S', 100, lost, &n));
                ck_assert_uint_eq(n, 0);
        }
}

/* Each of as long as the one before: none follows that is longer. */
TEST(of_too_many_stretches_of_a_cpu_the_older_ones_are_not_known) {
        _cleanup_(sched_cpus_done) SchedCpus cpus = {};
        const uint64_t last_ns = 1000 * 4 * SCHED_STRETCHES_MAX;

        for (uint64_t ns = 1000; ns <= last_ns; ns += 1000) {
                SchedEvent e = { .kind = SCHED_SWITCH, .pid = (int32_t) (ns / 1000) };

                ck_assert_int_eq(sched_cpus_switch(&cpus, &e, 0, ns), 0);
                ck_assert_uint_le(cpus.items[0].n, SCHED_STRETCHES_MAX);
        }
        ck_assert_int_eq(sched_cpus_longest(&cpus, 0, 1000, last_ns).pid, -1);
        ck_assert_int_eq(sched_cpus_longest(&cpus, 0, last_ns - 5000, last_ns).pid,
                         4 * SCHED_STRETCHES_MAX - 5);
}

/* The longest of 200 stretches of a CPU from any moment on, one by one. */
TEST(who_had_a_cpu_longest_is_found_from_any_moment_on) {
        _cleanup_(sched_cpus_done) SchedCpus cpus = {};
        uint64_t begins[201];
        unsigned seed = unit_seed();

        begins[0] = 1000;
        for (int32_t i = 0; i < 200; i++) {
                SchedEvent e = { .kind = SCHED_SWITCH, .pid = i + 1 };

                ck_assert_int_eq(sched_cpus_switch(&cpus, &e, 3, begins[i]), 0);
                begins[i + 1] = begins[i] + 1 + (uint64_t) rand_r(&seed) % 1000;
        }
        for (uint64_t from_ns = 1000; from_ns < begins[200]; from_ns += 7) {
                uint64_t longest_ns = 0;
                int32_t who = -1;

                for (int32_t i = 0; i < 200; i++) {
                        uint64_t begin_ns = MAX(begins[i], from_ns);

                        if (begins[i + 1] > begin_ns && begins[i + 1] - begin_ns > longest_ns) {
                                longest_ns = begins[i + 1] - begin_ns;
                                who = i + 1;
                        }
                }
                ck_assert_int_eq(sched_cpus_longest(&cpus, 3, from_ns, begins[200]).pid, who);
        }
        ck_assert_int_eq(sched_cpus_longest(&cpus, 2, 1000, 2000).pid, -1);
        ck_assert_int_eq(sched_cpus_longest(&cpus, 9, 1000, 2000).pid, -1);
        sched_cpus_lose(&cpus, begins[200]);
        ck_assert_int_eq(sched_cpus_longest(&cpus, 3, 1000, begins[200]).pid, -1);
}

TEST(events_name_who_is_woken_and_who_runs) {
        static const struct {
                const char *text;
                SchedEvent e;
        } cases[] = {
                { "sched_wakeup: comm=server pid=17 prio=120 target_cpu=001",
                  { SCHED_WAKING, 17, "server", 0, 0 } },
                { "sched_wakeup_new: comm=child pid=19 prio=120 target_cpu=001",
                  { SCHED_WAKING_NEW, 19, "child", 0, 0 } },
                { "sched_switch: prev_comm=a prev_pid=16 prev_prio=120 prev_state=S ==> "
                  "next_comm=b next_pid=18 next_prio=120",
                  { SCHED_SWITCH, 18, "b", 16, 'S' } },
                /* Whoever names himself so is nobody else. */
                { "sched_switch: prev_comm=cat prev_pid=412 prev_prio=120 prev_state=D ==> "
                  "next_comm=x prev_pid=7 next_pid=9 next_prio=120",
                  { SCHED_SWITCH, 9, "x prev_pid=7", 412, 'D' } },
                { "sched_switch: prev_comm=a ==> b prev_pid=5 prev_prio=120 prev_state=S "
                  "==> next_comm=c next_pid=6 next_prio=120",
                  { SCHED_SWITCH, 6, "c", 5, 'S' } },
                { "sched_switch: prev_comm= prev_state=R prev_pid=5 prev_prio=120 prev_state=S ==> "
                  "next_comm= ==> next_comm= next_pid=6 next_prio=120",
                  { SCHED_SWITCH, 6, " ==> next_comm=", 5, 'S' } },
                { "sched_waking: comm=x pid=1 pid=17 prio=120",
                  { SCHED_WAKING, 17, "x pid=1", 0, 0 } },
                /* As trace-cmd prints them with libtraceevent's plugin. */
                { "sched_waking: x pid=5:9 [120] CPU:001", { SCHED_WAKING, 9, "x pid=5", 0, 0 } },
                { "sched_switch: a:[1] b:18 [120] D ==> kworker/0:1:17 [98]",
                  { SCHED_SWITCH, 17, "kworker/0:1", 18, 'D' } },
                { "sched_wakeup: rcu_preempt:18 [120] CPU:000",
                  { SCHED_WAKING, 18, "rcu_preempt", 0, 0 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                SchedEvent e = sched_parse(&(Step){ .kind = STEP_OTHER, .text = cases[i].text });

                ck_assert_int_eq(e.kind, cases[i].e.kind);
                ck_assert_int_eq(e.pid, cases[i].e.pid);
                ck_assert_str_eq(e.comm, cases[i].e.comm);
                ck_assert_int_eq(e.left_pid, cases[i].e.left_pid);
                ck_assert_int_eq(e.left_state, cases[i].e.left_state);
        }
}

TEST(damaged_events_are_left_out) {
        static const char *const texts[] = {
                "sched_switch: ",
                "sched_switch: prev_comm=a prev_pid=17",
                "sched_switch: prev_comm=a prev_pid=17 prev_state=S ==> next_comm=b",
                "sched_switch: prev_comm=a prev_pid=-7 prev_state=S ==> next_pid=1",
                "sched_switch: prev_pid=99999999999 prev_state=S ==> b next_pid=1",
                "sched_switch: a:18 [120] D ==>",
                "sched_switch:  ==> b:18 [120]",
                "sched_switch: a [120] D ==> b:18 [120]",
                "sched_wakeup: a [120]",
                "sched_waking: comm=server",
                "sched_waking: pid=",
                "sched_stat_runtime: comm=a pid=17 runtime=1 [ns]",
                "sched_migrate_task: comm=a pid=1",
                "sched_wakeup: comm=a pid=x",
                "sched_wakeup: comm=a pid=99999999999999999999",
        };
        Step s = { .kind = STEP_OTHER };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                s.text = texts[i];
                ck_assert_int_eq(sched_parse(&s).kind, SCHED_NONE);
        }
        s.text = NULL;
        ck_assert_int_eq(sched_parse(&s).kind, SCHED_NONE);
        ck_assert_int_eq(sched_parse(&(Step){ .kind = STEP_LOST }).kind, SCHED_NONE);
}

TEST(of_many_idle_roots_some_are_named) {
        _cleanup_buf_ Buf text = BUF_INIT;
        _cleanup_(idle_done) Idle idle = { .is_wanted = true };
        Function functions[8];

        for (size_t i = 0; i < ELEMENTSOF(functions); i++) {
                functions[i] = i < 7 ? recv : ready;
                ck_assert_int_eq(
                        idle_note(
                                &idle, &functions[i],
                                &(Call){ .is_idle = i < 7, .has_end = true, .duration_ns = 1000 }),
                        i < 7);
        }
        idle_describe(&text, &idle);
        EXPECT_TEXT(text, "1 call of udp_recvmsg (up to 1.00 us), 1 of udp_recvmsg (up to 1.00 "
                          "us), 1 of udp_recvmsg (up to 1.00 us), "
                          "1 of udp_recvmsg (up to 1.00 us), 3 of 3 others waited for input most of "
                          "their time and are left out: "
                          "--root=NAME shows them.");
}

TEST(a_thousand_tasks_are_told_apart) {
        _cleanup_(sched_done) Sched s = {};
        SchedWait wait;

        for (int32_t pid = 1; pid <= 1000; pid++) {
                SchedEvent e = { .kind = SCHED_SWITCH, .left_pid = pid, .left_state = 'S' };

                ck_assert_int_eq(sched_leave(&s, &e, 0, (uint64_t) pid), 0);
        }
        for (int32_t pid = 1; pid <= 1000; pid++) {
                ck_assert(sched_come_back(&s, pid, 5000, &wait));
                ck_assert_uint_eq(wait.left_ns, (uint64_t) pid);
                ck_assert(!sched_come_back(&s, pid, 5000, &wait));
        }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a spec says of whose, where and which calls are recorded, and what that makes of tracefs. */

#include "fake-kernel.h"

#define CASE(k, c, instances)                                                                      \
        FAKE_CASE(k, c, instances);                                                                \
        next("x")

static SessionMeta *m; /* of the case, the next to be armed */

static void next(const char *name) {
        m = fake_session(name, "udp_sendmsg");
}

#define CASE_TEST(name) TEST_WITH(name, (FakeKernel * k, Controller * c), CASE(k, c, true), k, c)
#define CASE_TESTS(name)                                                                           \
        static void name##_case(FakeKernel *k, Controller *c, bool instances);                     \
        FAKE_TESTS(name) {                                                                         \
                next("x");                                                                         \
                name##_case(k, c, instances);                                                      \
        }                                                                                          \
        static void name##_case(FakeKernel *k, Controller *c, bool instances)

/* A control file of the buffer of session "x". */
static void expect_file(FakeKernel *k, const char *file, const char *text) {
        char path[256];

        (void) snprintf(path, sizeof(path), "%s%s", k->has_instances ? "instances/ftraced-x/" : "",
                        file);
        fake_expect(k, path, text);
}

CASE_TESTS(flat_hooks_the_functions_alone) {
        Tracer *tracer;

        m->spec.flat = true;
        m->spec.lean = LEAN_AUTO;
        ck_assert_int_eq(strv_add(&m->spec.functions, "nf_conntrack_in"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "set_ftrace_filter", "nf_conntrack_in\nudp_sendmsg\n");
        fake_expect(k, "set_graph_function", "nf_conntrack_in\nudp_sendmsg\n");
        ck_assert_uint_eq(m->n_hooked, 2);
        ck_assert(!m->learns);
        fake_end(tracer);
}

CASE_TEST(what_is_left_out_is_hooked_with_what_is_recorded_alone) {
        Tracer *tracer;

        ck_assert_int_eq(strv_add(&m->spec.hooked, "vfs_*"), 0);
        ck_assert_int_eq(strv_add(&m->spec.notrace, "kfree_skb"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "set_ftrace_filter", "kfree_skb\nudp_sendmsg\nvfs_read\nvfs_write\n");
        fake_expect(k, "set_graph_notrace", "kfree_skb\n");
        fake_end(tracer);
}

CASE_TEST(what_waits_for_a_trigger_hooks_what_it_will_record) {
        Tracer *tracer;

        ck_assert_int_eq(strv_add(&m->spec.hooked, "vfs_*"), 0);
        ck_assert_int_eq(strv_add(&m->spec.triggers, "start command"), 0);
        tracer = fake_start(c, m, false);
        ck_assert(!tracer_waits(tracer));
        expect_file(k, "set_ftrace_filter", "udp_sendmsg\nvfs_read\nvfs_write\n");
        ck_assert_int_eq(tracer_hook_all(tracer), 0);
        expect_file(k, "set_ftrace_filter", "udp_sendmsg\nvfs_read\nvfs_write\n");
        fake_end(tracer);
}

CASE_TESTS(only_these_cpus_are_in_the_mask) {
        Tracer *tracer;

        ck_assert_int_eq(strv_add(&m->spec.cpus, "1"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "tracing_cpumask", "2\n");
        fake_end(tracer);
}

CASE_TEST(a_cpu_that_is_not_there_is_refused) {
        ck_assert_int_eq(strv_add(&m->spec.cpus, "0-2"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "no CPU 2 here: they are 0 to 1");
        fake_put_root(k, "sys/devices/system/cpu/online", "0\n");
        next("x");
        ck_assert_int_eq(strv_add(&m->spec.cpus, "1"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "CPU 1 is offline");
        fake_put_root(k, "sys/devices/system/cpu/online", "0-1\n");
        ck_assert_int_eq(tracer_disarm(fake_start(c, m, false)), 0);
}

CASE_TESTS(a_clock_of_this_kernel_is_taken_and_others_are_not) {
        ClockTuple now;
        Tracer *tracer;

        fake_put(k, "trace_clock", "global [mono]\n");
        m->spec.clock = strdup("global");
        fake_refuse(c, m, false, REFUSAL_SYSTEM_ERROR, "trace_clock"); /* the fake has none */
        free(m->spec.clock);
        m->spec.clock = strdup("sundial");
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC,
                    "no trace clock \"sundial\"; it has global, mono.");

        fake_put(k, "trace_clock", "uptime [local]\n");
        next("x");
        m->spec.clock = strdup("local");
        tracer = fake_start(c, m, false);
        ck_assert_str_eq(m->clock, "local");
        expect_file(k, "trace_clock", "uptime [local]\n");
        /* Only the kernel can read it. */
        ck_assert_int_lt(tracer_read_clocks(tracer, &now), 0);
        fake_put(k, instances ? "instances/ftraced-x/per_cpu/cpu0/stats" : "per_cpu/cpu0/stats",
                 "overrun: 7\nread events: 3\nnow ts:    12.000345\n");
        ck_assert_int_eq(tracer_read_clocks(tracer, &now), 0);
        ck_assert_uint_le(now.trace_ns, UINT64_C(12000345000));
        ck_assert_uint_gt(now.trace_ns, UINT64_C(11000345000)); /* taken back */
        ck_assert_uint_gt(now.monotonic_ns, 0);
        fake_end(tracer);
}

TEST(clocks_are_known_by_what_they_count) {
        ClockTuple start = { .trace_ns = 1000, .monotonic_ns = 1 };
        uint64_t ns;
        clockid_t id;

        ck_assert_int_eq(trace_clock_id("boot", &id), 0);
        ck_assert_int_eq((int) id, CLOCK_BOOTTIME);
        ck_assert_int_eq(trace_clock_id("local", &id), -ENOENT);
        ck_assert(trace_clock_is_ns("local"));
        ck_assert(!trace_clock_is_ns("x86-tsc"));
        ck_assert(!trace_clock_is_ns("sundial"));
        ck_assert_int_eq(trace_clock_estimate("counter", &start, &ns), -ENOENT);
        ck_assert_int_eq(trace_clock_estimate("tai", &start, &ns), 0);
        ck_assert_uint_gt(ns, UINT64_C(1600000000) * 1000000000);
        ck_assert_int_eq(trace_clock_estimate("perf", &start, &ns), 0);
        ck_assert_uint_gt(ns, 1000);
}

CASE_TEST(a_threshold_is_in_whole_microseconds_and_one_for_all) {
        Tracer *first, *second;

        m->spec.slower_ns = 4999001;
        m->spec.flat = true;
        first = fake_start(c, m, false);
        fake_expect(k, "tracing_thresh", "5000\n");

        next("y");
        fake_refuse(c, m, false, REFUSAL_BUSY, "tracing_thresh");
        fake_refuse(c, m, false, REFUSAL_BUSY, "session x");
        m->spec.slower_ns = 5000000;
        strv_done(&m->spec.functions);
        m->spec.functions = (Strv){};
        ck_assert_int_eq(strv_add(&m->spec.functions, "tcp_sendmsg"), 0);
        fake_refuse(c, m, false, REFUSAL_BUSY, "without --flat");
        m->spec.flat = true;
        second = fake_start(c, m, false);
        ck_assert_int_eq(tracer_disarm(first), 0);
        fake_expect(k, "tracing_thresh", "5000\n");
        fake_end(second);
}

CASE_TEST(options_that_exist_once_must_be_the_same) {
        Tracer *first, *second;

        fake_put_root(k, "proc/sys/kernel/osrelease", "6.12.117-x\n");
        m->spec.no_irqs = true;
        m->spec.no_sleep_time = true;
        first = fake_start(c, m, false);
        expect_file(k, "options/funcgraph-irqs", "0\n");
        expect_file(k, "options/sleep-time", "0\n");
        next("y");
        m->spec.no_sleep_time = true;
        fake_refuse(c, m, false, REFUSAL_BUSY, "options/funcgraph-irqs exists once per kernel");
        m->spec.no_irqs = true;
        second = fake_start(c, m, false);
        ck_assert_int_eq(tracer_disarm(first), 0);
        fake_end(second);

        fake_put_root(k, "proc/sys/kernel/osrelease", "7.2.13\n");
        next("x");
        m->spec.no_irqs = true;
        first = fake_start(c, m, false);
        next("y");
        second = fake_start(c, m, false);
        ck_assert_int_eq(tracer_disarm(second), 0);
        fake_end(first);
}

CASE_TEST(what_contradicts_itself_is_refused) {
        Spec *s = &m->spec;

        s->flat = true;
        ck_assert_int_eq(strv_add(&s->hooked, "vfs_read"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "--flat");
        next("x");
        s = &m->spec;
        ck_assert_int_eq(strv_add(&s->pids, "1"), 0);
        ck_assert_int_eq(strv_add(&s->comms, "a"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "--pid, --comm and --cgroup");
        next("x");
        s = &m->spec;
        ck_assert_int_eq(strv_add(&s->notrace, "udp_*"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "leaves out every function");
        next("x");
        s = &m->spec;
        ck_assert_int_eq(strv_add(&s->hooked, "sundial"), 0);
        fake_refuse(c, m, false, REFUSAL_FUNCTION_NOT_FOUND, "no function \"sundial\"");
}

CASE_TESTS(before_5_16_nobody_is_the_highest_number_that_is_free) {
        Tracer *tracer;

        fake_put_root(k, "proc/sys/kernel/osrelease", "5.15.0-1-amd64\n");
        fake_put_root(k, "proc/sys/kernel/pid_max", "32768\n");
        fake_put_root(k, "proc/32767/comm", "last\n");
        fake_put_root(k, "proc/700/comm", "web\n");
        fake_put_root(k, "proc/700/task/700/comm", "web\n");
        ck_assert_int_eq(strv_add(&m->spec.comms, "web"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "set_ftrace_pid", "32766\n700\n");
        fake_end(tracer);
}

CASE_TESTS(a_name_is_its_processes_with_all_threads_and_others_threads) {
        Tracer *tracer;

        fake_put_root(k, "proc/700/comm", "web\n");
        fake_put_root(k, "proc/700/task/700/comm", "web\n");
        fake_put_root(k, "proc/700/task/701/comm", "worker\n");
        fake_put_root(k, "proc/800/comm", "webby\n");
        fake_put_root(k, "proc/800/task/800/comm", "webby\n");
        fake_put_root(k, "proc/800/task/801/comm", "web\n");
        ck_assert_int_eq(strv_add(&m->spec.comms, "web"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "set_ftrace_pid", TASK_NOBODY "\n700\n701\n801\n");
        ck_assert_uint_eq(m->warnings.n, 0);
        fake_end(tracer);

        next("x");
        ck_assert_int_eq(strv_add(&m->spec.comms, "nobody"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "set_ftrace_pid", TASK_NOBODY "\n");
        ck_assert_uint_eq(m->warnings.n, 1);
        ck_assert_ptr_nonnull(strstr(m->warnings.items[0], "called nobody yet"));
        fake_end(tracer);
}

CASE_TEST(a_group_is_its_processes_and_those_below_it) {
        Tracer *tracer;

        fake_put_root(k, "sys/fs/cgroup/cgroup.procs", "1\n");
        fake_put_root(k, "sys/fs/cgroup/a/cgroup.procs", "0\n700\n");
        fake_put_root(k, "sys/fs/cgroup/a/b/cgroup.procs", "800\n900\n");
        fake_put_root(k, "etc/cgroup.procs", "5\n");
        fake_put_root(k, "proc/1/task/1/comm", "init\n");
        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        fake_put_root(k, "proc/700/task/702/comm", "x\n");
        fake_put_root(k, "proc/800/task/800/comm", "x\n");
        ck_assert_int_eq(strv_add(&m->spec.cgroups, "/sys/fs/cgroup/a"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "set_ftrace_pid", TASK_NOBODY "\n700\n702\n800\n");
        fake_end(tracer);

        next("x");
        ck_assert_int_eq(strv_add(&m->spec.cgroups, "a/c"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "no control group \"a/c\"");
        ck_assert_int_eq(symlinkat("../../../etc", k->root_fd, "sys/fs/cgroup/out"), 0);
        next("x");
        ck_assert_int_eq(strv_add(&m->spec.cgroups, "/out"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "no control group \"/out\"");
}

CASE_TESTS(who_joins_is_recorded_and_who_leaves_is_not) {
        Tracer *tracer;
        int fd;

        fake_put_root(k, "proc/700/comm", "web\n");
        fake_put_root(k, "proc/700/task/700/comm", "web\n");
        ck_assert_int_eq(strv_add(&m->spec.comms, "web"), 0);
        ck_assert_int_eq(strv_add(&m->spec.comms, "(a b)"), 0);
        ck_assert_int_eq(strv_add(&m->spec.events, "sched:sched_switch"), 0);
        tracer = fake_start(c, m, false);
        expect_file(k, "set_event_pid", TASK_NOBODY "\n700\n");
        expect_file(k, "options/event-fork", "1\n");
        fake_expect(k, "instances/ftraced.tasks-x/events/task/task_rename/filter",
                    "oldcomm==\"web\"||newcomm==\"web\"||oldcomm==\"(a b)\"||"
                    "newcomm==\"(a b)\"\n");
        fake_expect(k, "instances/ftraced.tasks-x/events/task/task_rename/enable", "1\n");
        fd = task_filter_open(tracer_instance(tracer)->fs, m->name);
        ck_assert_int_ge(fd, 0);
        safe_close(fd);
        ck_assert_int_eq(tracer_follow(tracer, &m->spec), 0);

        fake_put_root(k, "proc/700/comm", "db\n");
        fake_put_root(k, "proc/700/task/700/comm", "db\n");
        fake_put_root(k, "proc/800/comm", "(a b)\n");
        fake_put_root(k, "proc/800/task/800/comm", "(a b)\n");
        ck_assert_int_eq(tracer_follow(tracer, &m->spec), 1);
        expect_file(k, "set_ftrace_pid", TASK_NOBODY "\n700\n800\n");
        expect_file(k, "set_ftrace_notrace_pid", "700\n");
        expect_file(k, "set_event_pid", TASK_NOBODY "\n700\n800\n");
        expect_file(k, "set_event_notrace_pid", "700\n");
        ck_assert_int_eq(tracer_follow(tracer, &m->spec), 0);

        fake_put_root(k, "proc/700/comm", "web\n");
        ck_assert_int_eq(tracer_follow(tracer, &m->spec), 0);
        expect_file(k, "set_ftrace_notrace_pid", "no pid\n");
        expect_file(k, "set_event_notrace_pid", "");
        fake_end(tracer);
}

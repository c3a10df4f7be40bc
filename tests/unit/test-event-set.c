/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Events and arguments, programmed by the controller on a tracefs that behaves. */

#include "fake-kernel.h"

/* Session "x", of udp_sendmsg and one event, and of process @pid if it is not NULL. */
static SessionMeta *with_event(const char *event, const char *pid) {
        SessionMeta *m = fake_session("x", "udp_sendmsg");

        ck_assert_int_eq(strv_add(&m->spec.events, event), 0);
        ck_assert_int_eq(pid ? strv_add(&m->spec.pids, pid) : 0, 0);
        return m;
}

/* A control file of its buffer. */
static void expect_file(FakeKernel *k, const char *file, const char *text) {
        fake_expect(k, TRACEFS_PATH("%s%s", k->has_instances ? "instances/ftraced-x/" : "", file),
                    text);
}

FAKE_TESTS(an_event_is_on_with_its_filter_and_off_again) {
        Tracer *t;

        fake_put_root(k, "proc/812/task/812/comm", "x\n");
        fake_put(k, "events/sched/sched_switch/filter", "next_pid == 7\n");
        t = fake_start(c, with_event("sched:sched_switch:prev_pid > 0", "812"), false);
        expect_file(k, "events/sched/sched_switch/filter", "prev_pid > 0\n");
        expect_file(k, "events/sched/sched_switch/enable", "1\n");
        expect_file(k, "set_event_pid", "812\n");
        expect_file(k, "options/event-fork", "1\n");
        fake_end(t);

        t = fake_start(c, with_event("sched:sched_switch", NULL), false);
        expect_file(k, "events/sched/sched_switch/filter", "none\n");
        fake_end(t);
}

FAKE_TEST(a_list_of_processes_that_have_all_ended_is_put_back_although_it_looks_like_none, false) {
        Tracer *t;

        fake_put_root(k, "proc/812/task/812/comm", "x\n");
        t = fake_start(c, with_event("sched:sched_switch", "812"), false);
        fake_put(k, "set_event_pid", "");
        strv_done(&k->log);
        ck_assert_int_eq(tracer_disarm(t), 0);
        ck_assert(strv_contains(&k->log, "truncate set_event_pid"));
}

TEST(what_cannot_be_recorded_beside_calls_is_refused_with_the_reason) {
        static const struct {
                const char *event, *reason;
                RefusalKind kind;
        } cases[] = {
                { "sched:sched_swich", "Did you mean sched:sched_switch", REFUSAL_EVENT_NOT_FOUND },
                { "x:y", "available_events", REFUSAL_EVENT_NOT_FOUND },
                { "sched:sched_switch:no_field == 3", "Field not found", REFUSAL_INVALID_SPEC },
        };

        for (size_t i = 0; i < 2 * ELEMENTSOF(cases); i++) {
                FAKE_CASE(k, c, i % 2);

                fake_refuse(c, with_event(cases[i / 2].event, NULL), false, cases[i / 2].kind,
                            cases[i / 2].reason);
        }
}

FAKE_SESSION_TEST(arguments_are_recorded_where_the_kernel_can, false, "x") {
        Tracer *t;

        m->spec.args = true;

        fake_refuse(c, m, false, REFUSAL_NOT_SUPPORTED, "6.15");
        fake_put(k, "options/funcgraph-args", "0\n");
        t = fake_start(c, m, false);
        fake_expect(k, "options/funcgraph-args", "1\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "options/funcgraph-args", "0\n");
}

#define VALUES "ftraced_af63f54c86021707_f0" /* of session "x" */

FAKE_TEST(a_module_without_types_is_named_if_arguments_are_recorded, false) {
        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        fake_put(k, "events/ftraced/ftraced_af63f54c86021707_e0/enable", "0\n");
        fake_put_root(k, "sys/kernel/btf/vmlinux", "");
        for (int has_types = 0; has_types < 2; has_types++) {
                SessionMeta *m = fake_session("x", "nf_conntrack_in");
                Tracer *t;

                if (has_types)
                        fake_put_root(k, "sys/kernel/btf/nf_conntrack", "");
                m->spec.args = true;
                t = fake_start(c, m, false);
                ck_assert_uint_eq(m->probe_events.n, 1);
                ck_assert_uint_eq(m->warnings.n, has_types ? 0 : 1);
                if (!has_types)
                        ck_assert_ptr_nonnull(
                                strstr(m->warnings.items[0], "/sys/kernel/btf/nf_conntrack"));
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
}

FAKE_SESSION_TEST(what_a_root_returns_is_told_by_a_probe_that_goes_with_the_session, false, "x") {
        size_t off = 0, out = 0;
        Tracer *t;

        m->spec.retval = true;
        fake_refuse(c, m, false, REFUSAL_NOT_SUPPORTED, "CONFIG_KPROBE_EVENTS");

        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        fake_put(k, "events/ftraced/" VALUES "/enable", "0\n");
        t = fake_start(c, m, false);
        fake_expect(k, "dynamic_events",
                    "f1024:ftraced/" VALUES " udp_sendmsg%return ret=$retval\n");
        fake_expect(k, "events/ftraced/" VALUES "/enable", "1\n");
        ck_assert_uint_eq(m->probe_events.n, 1);
        ck_assert_str_eq(m->probe_events.items[0], "ftraced:" VALUES ":udp_sendmsg");
        strv_done(&k->log);
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "events/ftraced/" VALUES "/enable", "0\n");
        for (size_t i = 0; i < k->log.n; i++) {
                if (startswith(k->log.items[i], "write events/ftraced/" VALUES "/enable 0"))
                        off = i + 1;
                if (startswith(k->log.items[i], "write dynamic_events -:ftraced/" VALUES))
                        out = i + 1;
        }
        ck_assert_uint_gt(off, 0);
        ck_assert_uint_gt(out, off); /* an event that is on cannot go */
}

#define STACK "ftraced_af63f54c86021707_c0"

FAKE_SESSION_TEST(a_roots_stack_is_recorded_by_a_trigger_of_its_probe, false, "x") {
        size_t off = 0, out = 0;
        Tracer *t;

        m->spec.kernel_stack = true;
        fake_refuse(c, m, false, REFUSAL_NOT_SUPPORTED, "--kernel-stack (who calls the roots)");

        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        fake_put(k, "events/ftrace/kernel_stack/format", "");
        fake_put(k, "options/funcgraph-args", "0\n"); /* knows arguments, and no callers */
        fake_put(k, "events/ftraced/" STACK "/enable", "0\n");
        fake_put(k, "events/ftraced/" STACK "/trigger", "");
        t = fake_start(c, m, false);
        fake_expect(k, "dynamic_events", "f:ftraced/" STACK " udp_sendmsg\n");
        fake_expect(k, "events/ftraced/" STACK "/enable", "1\n");
        fake_expect(k, "events/ftraced/" STACK "/trigger", "stacktrace\n");
        ck_assert_str_eq(m->probe_events.items[0], "ftraced:" STACK ":udp_sendmsg");
        strv_done(&k->log);
        ck_assert_int_eq(tracer_disarm(t), 0);
        for (size_t i = 0; i < k->log.n; i++) {
                if (strstr(k->log.items[i], STACK "/trigger !stacktrace"))
                        off = i + 1;
                if (startswith(k->log.items[i], "write dynamic_events -:ftraced/" STACK))
                        out = i + 1;
        }
        ck_assert_uint_gt(off, 0);
        ck_assert_uint_gt(out, off);
}

FAKE_SESSION_TEST(whose_tasks_are_is_told_by_forks_and_moves_of_a_kernel_without_types, false,
                  "x") {
        static const char *const events[] = { "events/cgroup/cgroup_attach_task/enable",
                                              "events/cgroup/cgroup_mkdir/enable",
                                              "events/sched/sched_process_fork/enable" };
        Tracer *t;

        m->spec.whose = true;
        for (size_t i = 0; i < ELEMENTSOF(events); i++)
                fake_put(k, events[i], "0\n");
        t = fake_start(c, m, false);
        ck_assert_uint_eq(m->warnings.n, 1);
        ck_assert_ptr_nonnull(strstr(m->warnings.items[0], "/sys/kernel/btf/vmlinux is missing"));
        ck_assert_uint_eq(m->probe_events.n, ELEMENTSOF(events));
        ck_assert_str_eq(m->probe_events.items[2], "sched:sched_process_fork");
        for (size_t i = 0; i < ELEMENTSOF(events); i++)
                fake_expect(k, events[i], "1\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
        for (size_t i = 0; i < ELEMENTSOF(events); i++)
                fake_expect(k, events[i], "0\n");
}

FAKE_SESSION_TEST(a_kernel_that_records_what_calls_return_gets_no_probes, false, "x") {
        Tracer *t;

        m->spec.retval = true;
        ck_assert_int_eq(strv_add(&m->spec.retval_functions, "kfree"), 0);
        fake_put(k, "dynamic_events", "");
        fake_put(k, "options/funcgraph-retval", "0\n");
        t = fake_start(c, m, false);
        fake_expect(k, "dynamic_events", "");
        ck_assert_uint_eq(m->probe_events.n, 0);
        ck_assert_int_eq(tracer_disarm(t), 0);
}

FAKE_SESSION_TEST(functions_whose_values_are_asked_for_exist_and_are_few, false, "x") {
        _cleanup_buf_ Buf names = BUF_INIT;
        _cleanup_free_ char *text = NULL;

        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        for (int i = 0; i < 65; i++)
                buf_printf(&names, "f_%d\n", i);
        buf_adds(&names, "udp_sendmsg\n");
        ck_assert_int_eq(buf_take_string(&names, &text), 0);
        fake_put(k, "available_filter_functions", text);
        ck_assert_int_eq(strv_add(&m->spec.retval_functions, "udp_sendmsgg"), 0);
        fake_refuse(c, m, false, REFUSAL_FUNCTION_NOT_FOUND, "Did you mean udp_sendmsg");
        strv_done(&m->spec.retval_functions);
        ck_assert_int_eq(strv_add(&m->spec.retval_functions, "f_*"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "at most 64, and these are 65");
        fake_expect(k, "dynamic_events", "");
}

FAKE_TESTS(markers_are_copied_into_an_instance_where_the_kernel_can_and_else_refused) {
        Tracer *t;

        fake_refuse(c, with_event("ftrace:print:ip > 0", NULL), false, REFUSAL_INVALID_SPEC,
                    "takes no filter");
        if (instances) {
                fake_refuse(c, with_event("ftrace:print", NULL), false, REFUSAL_NOT_SUPPORTED,
                            "instances/ftraced-x/trace_marker");
                fake_put(k, "options/copy_trace_marker", "0\n");
        }
        fake_put(k, "options/markers", "0\n");
        t = fake_start(c, with_event("ftrace:print", NULL), false);
        if (instances) {
                fake_expect(k, "instances/ftraced-x/options/copy_trace_marker", "1\n");
                fake_expect(k, "instances/ftraced-x/options/markers", "1\n");
                fake_expect(k, "options/copy_trace_marker", "0\n");
        } else
                fake_expect(k, "options/markers", "1\n");
        fake_end(t);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The controller on a tracefs that fails, comes short, or ends the process at every step. */

#include "daemon/tracer/controller.h"
#include "fake-kernel.h"

/* Everything that a session overrides, with another value in it. */
static void leave_over(FakeKernel *k) {
        k->shares_options = true;
        fake_put(k, "tracing_thresh", "100\n");
        fake_put(k, "max_graph_depth", "3\n");
        fake_put(k, "set_graph_function", "tcp_sendmsg\ntcp_recvmsg\n");
        fake_put(k, "set_graph_notrace", "vfs_write\n");
        fake_put(k, "set_ftrace_filter", "vfs_read\n");
        fake_put(k, "set_ftrace_notrace", "vfs_write\n");
        fake_put(k, "set_ftrace_pid", "812\n");
        fake_put(k, "trace_clock", "uptime [boot]\n");
        fake_put(k, "tracing_on", "0\n");
        fake_put(k, "tracing_cpumask", "1\n");
        fake_put(k, "options/overwrite", "0\n");
        fake_put(k, "options/sleep-time", "0\n");
        fake_put(k, "options/funcgraph-irqs", "0\n");
}

FAKE_TESTS(a_list_is_hooked_by_its_lines_and_taken_back) {
        SessionMeta *m = fake_session("x", "udp_sendmsg");
        Tracer *t;

        fake_put(k, "set_ftrace_filter", "vfs_read\n");

        ck_assert_int_eq(strv_split(&m->spec.hooked, "kfree_* nf_conntrack_in", " "), 0);
        t = fake_start(c, m, false);
        fake_expect(k, instances ? "instances/ftraced-x/set_ftrace_filter" : "set_ftrace_filter",
                    "kfree_skb\nnf_conntrack_in\nudp_sendmsg\n");
        ck_assert_uint_eq(m->n_hooked, 3);
        fake_end(t);
}

FAKE_TESTS(a_session_leaves_leftovers_as_it_found_them) {
        SessionMeta *m = fake_session("x", "udp_*");
        Tracer *t;

        leave_over(k);
        m->spec.depth = 5;
        t = fake_start(c, m, false);
        ck_assert_uint_eq(m->roots.n, 2);
        ck_assert_uint_eq(m->page_bytes, 4096);
        ck_assert_uint_eq(m->n_possible_cpus, 2);
        ck_assert_str_eq(m->clock, "mono");
        ck_assert_int_eq(!!m->instance, instances);
        fake_expect(k, "set_graph_function", "udp_recvmsg\nudp_sendmsg\n");
        fake_expect(k, "max_graph_depth", "5\n");
        fake_expect(k, "tracing_thresh", "0\n");
        fake_expect(k, "options/sleep-time", "1\n");
        fake_expect(k, "set_ftrace_pid", instances ? "812\n" : "no pid\n");
        ck_assert_int_eq(tracer_set_recording(t, true), 0);
        ck_assert_int_eq(tracer_set_recording(t, false), 0);
        fake_end(t);
        ck_assert_int_ne(faccessat(k->ledger_fd, "ledger", F_OK, 0), 0);
}

FAKE_TEST(the_function_that_reads_the_trace_clock_is_not_hooked, false) {
        SessionMeta *m = fake_session("x", "udp_*");
        Tracer *t;

        fake_put_root(k, "sys/devices/system/clocksource/clocksource0/current_clocksource",
                      "hpet\n");
        leave_over(k);
        t = fake_start(c, m, false);
        fake_expect(k, "set_ftrace_notrace", "read_hpet\n");
        ck_assert_uint_eq(m->warnings.n, 1);
        ck_assert_ptr_nonnull(strstr(m->warnings.items[0], "read_hpet"));
        fake_end(t);
}

FAKE_SESSION_TEST(a_process_is_all_its_threads_and_none_is_left_behind, false, "x") {
        Tracer *t;

        ck_assert_int_eq(strv_add(&m->spec.pids, "700"), 0);
        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, "no process 700");
        ck_assert_uint_eq(k->n_steps, 0);

        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        fake_put_root(k, "proc/700/task/701/comm", "x\n");
        t = fake_start(c, m, false);
        fake_expect(k, "set_ftrace_pid", "700\n701\n");
        /* They end, and with function-fork leave the list. */
        fake_put(k, "set_ftrace_pid", "");
        fake_end(t);
}

FAKE_TEST(names_are_refused_before_anything_is_written, true) {
        fake_refuse(c, fake_session("x", "udp_sendmesg"), false, REFUSAL_FUNCTION_NOT_FOUND,
                    "no function \"udp_sendmesg\" can be traced here. Did you mean "
                    "udp_sendmsg?");
        fake_refuse(c, fake_session("x", "udp_sendmsg tcp_nothing*"), false,
                    REFUSAL_NO_FUNCTION_MATCHES, "tcp_nothing*");
        fake_refuse(c, fake_session("x", "vfs_read:traceoff"), false, REFUSAL_INVALID_NAME,
                    ":traceoff");
        fake_refuse(c, fake_session("x", "__ftrace_invalid_address___42"), false,
                    REFUSAL_FUNCTION_NOT_FOUND, "can be traced");
        ck_assert_uint_eq(k->n_steps, 0);
}

FAKE_TEST(names_of_system_calls_lead_to_their_functions, true) {
        fake_put(k, "available_filter_functions",
                 "__se_sys_write\n__x64_sys_write\nvfs_write\nwrite_cache\n");
        fake_refuse(c, fake_session("x", "sys_write"), false, REFUSAL_FUNCTION_NOT_FOUND,
                    "no function \"sys_write\" can be traced here. Did you mean the system call, "
                    "__x64_sys_write (\"syscall:write\")?");
        fake_refuse(c, fake_session("x", "write"), false, REFUSAL_FUNCTION_NOT_FOUND,
                    "the system call, __x64_sys_write");
}

FAKE_TEST(more_roots_than_allowed_are_refused_with_their_number, true) {
        SessionMeta *m = fake_session("x", "*sendmsg");
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        m->spec.max_functions = 3;

        ck_assert_int_eq(strv_add(&m->spec.functions, "udp_*"), 0);
        ck_assert_int_eq(fake_admit_and_arm(c, &t, m, false, &refusal), REFUSED);
        ck_assert_int_eq((int) refusal.kind, REFUSAL_TOO_MANY_FUNCTIONS);
        ck_assert_int_eq(json_integer_value(json_object_get(refusal.parameters, "count")), 4);
        ck_assert_uint_eq(k->n_steps, 0);
}

FAKE_TEST(roots_that_take_many_words_are_refused_and_nothing_is_written, true) {
        SessionMeta *m = fake_session("x", "a_name_*[0-9]");
        _cleanup_strv_ Strv names = {};
        _cleanup_free_ char *text = NULL;

        m->spec.max_functions = 1000;
        for (int i = 0; i < 300; i++) {
                ck_assert_int_eq(strv_addf(&names, "a_name_of_many_characters_and_number_%03d", i),
                                 0);
                ck_assert_int_eq(strv_addf(&names, "a_name_of_many_characters_and_number_%03dx", i),
                                 0);
        }
        ck_assert_int_eq(strv_add(&names, ""), 0);
        text = strv_join(&names, "\n");
        fake_put(k, "available_filter_functions", text);

        fake_refuse(c, m, false, REFUSAL_TOO_MANY_FUNCTIONS, "takes 300 words");
        ck_assert_uint_eq(k->n_steps, 0);

        /* More than the kernel prints, and one word. */
        ck_assert_int_eq(strv_replace(&m->spec.functions, 0, "a_name_*"), 0);
        (void) fake_start(c, m, false);
}

FAKE_TEST(without_instances_the_second_session_is_refused_and_the_first_named, false) {
        Tracer *t = fake_start(c, fake_session("slow-dns", "udp_sendmsg"), false);

        fake_refuse(c, fake_session("x", "tcp_sendmsg"), false, REFUSAL_BUSY,
                    "session slow-dns (of ");
        fake_refuse(c, fake_session("x", "tcp_sendmsg"), false, REFUSAL_BUSY,
                    "Stop it first: ftracectl stop slow-dns; or --wait.");
        ck_assert_int_eq(tracer_disarm(t), 0);
}

FAKE_TEST(sessions_in_instances_share_roots_and_take_only_their_own_away, true) {
        SessionMeta *m = fake_session("a", "udp_sendmsg udp_recvmsg"),
                    *n = fake_session("b", "udp_recvmsg tcp_sendmsg");
        Tracer *t = fake_start(c, m, false), *u = fake_start(c, n, false);

        ck_assert_uint_eq(m->neighbours.n, 0);
        ck_assert_uint_eq(n->neighbours.n, 1);
        ck_assert_str_eq(n->neighbours.items[0], "a");
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "set_graph_function", "udp_recvmsg\ntcp_sendmsg\n");
        fake_end(u);
}

FAKE_TEST(a_root_that_went_with_its_module_is_not_in_the_way_of_the_next_session, true) {
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        Tracer *t, *u;

        t = fake_start(c, fake_session("a", "kfree udp_sendmsg"), false);
        fake_put(k, "set_graph_function", "udp_sendmsg\n0xffffffffc05970a0\n");
        u = fake_start(c, n, false);
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "set_graph_function", "tcp_sendmsg\n0xffffffffc05970a0\n");
        ck_assert_int_eq(tracer_disarm(u), 0);
        fake_expect(k, "set_graph_function", "#### all functions enabled ####\n");
}

FAKE_TEST(a_root_whose_module_comes_back_is_a_root_again, true) {
        SessionMeta *m = fake_session("a", "kfree udp_sendmsg");
        _cleanup_strv_ Strv gone = {}, back = {}, away = {}, none = {};
        Tracer *t = fake_start(c, m, false);

        ck_assert_int_eq(tracer_renew_roots(t, m, &none, &none), 0);
        ck_assert_uint_eq(none.n, 0);
        fake_put(k, "set_graph_function", "udp_sendmsg\n0xffffffffc05970a0\n");
        ck_assert_int_eq(tracer_renew_roots(t, m, &gone, &back), 0);
        ck_assert_uint_eq(gone.n, 0);
        ck_assert_uint_eq(back.n, 1);
        ck_assert_str_eq(back.items[0], "kfree");
        fake_expect(k, "set_graph_function", "udp_sendmsg\n0xffffffffc05970a0\nkfree\n");

        /* Another module's function is where the one that went was. */
        fake_put(k, "set_graph_function", "udp_sendmsg\nkfree\ntcp_sendmsg\n");
        ck_assert_int_eq(tracer_renew_roots(t, m, &none, &none), 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\nkfree\n");
        /* None went before: then it is somebody else's doing, and theirs. */
        fake_put(k, "set_graph_function", "udp_sendmsg\nkfree\ntcp_sendmsg\n");
        ck_assert_int_eq(tracer_renew_roots(t, m, &none, &none), 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\nkfree\ntcp_sendmsg\n");

        fake_put(k, "available_filter_functions", "udp_sendmsg\n");
        fake_put(k, "set_graph_function", "udp_sendmsg\n0xffffffffc05970a0\n");
        strv_done(&back);
        ck_assert_int_eq(tracer_renew_roots(t, m, &away, &back), 0);
        ck_assert_uint_eq(back.n, 0);
        ck_assert_uint_eq(away.n, 1);
        ck_assert_str_eq(away.items[0], "kfree");
        fake_expect(k, "set_graph_function", "udp_sendmsg\n0xffffffffc05970a0\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
}

FAKE_TEST(what_is_shown_for_an_address_and_cannot_be_taken_out_goes_in_the_end, true) {
        SessionMeta *m = fake_session("a", "kfree udp_sendmsg");
        _cleanup_strv_ Strv gone = {}, back = {}, roots = {}, away = {};
        Tracer *t = fake_start(c, m, false), *u;

        fake_put(k, "set_graph_function", "udp_sendmsg\n0xffffffffc05970a0\n");
        ck_assert_int_eq(tracer_renew_roots(t, m, &gone, &back), 0);
        /* In the middle of a function: no write of its name finds it. */
        strv_done(&gone);
        strv_done(&back);
        fake_put(k, "set_graph_function", "udp_sendmsg\nkfree\nmod_middle\n");
        ck_assert_int_eq(tracer_renew_roots(t, m, &gone, &back), 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\nkfree\nmod_middle\n");
        ck_assert_int_eq(tracer_get_roots(t, &roots, &away), 0);
        ck_assert(strv_contains(&roots, "mod_middle") && strv_contains(&away, "mod_middle"));
        u = fake_start(c, fake_session("b", "tcp_sendmsg"), false);
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_put(k, "available_filter_functions", "tcp_sendmsg\nmod_middle\n");
        ck_assert_int_eq(tracer_disarm(u), 0);
        fake_expect(k, "set_graph_function", "#### all functions enabled ####\n");
        /* And is of nobody's session by then. */
        (void) fake_start(c, fake_session("c", "tcp_sendmsg"), false);
        fake_put(k, "set_graph_function", "tcp_sendmsg\nmod_middle\n");
        fake_refuse(c, fake_session("d", "tcp_sendmsg"), false, REFUSAL_BUSY,
                    "somebody else has written mod_middle");
}

FAKE_SESSION_TEST(a_depth_that_differs_from_a_live_session_is_refused, true, "a") {
        m->spec.depth = 4;
        (void) fake_start(c, m, false);
        fake_refuse(c, fake_session("x", "tcp_sendmsg"), false, REFUSAL_BUSY, "max_graph_depth");
}

FAKE_TEST(a_tracer_of_somebody_else_is_left_alone, false) {
        fake_put(k, "set_graph_function", "kfree\n");
        fake_put(k, "current_tracer", "function_graph\n");
        fake_refuse(c, fake_session("x", "udp_sendmsg"), false, REFUSAL_BUSY,
                    "is function_graph, set by somebody else");
        fake_put(k, "current_tracer", "function\n");
        fake_refuse(c, fake_session("x", "udp_sendmsg"), false, REFUSAL_BUSY,
                    "is function, set by");
}

FAKE_TEST(function_graph_in_a_foreign_instance_is_in_the_way_and_function_is_not, true) {
        fake_put(k, "set_graph_function", "kfree\n");
        fake_put(k, "instances/foo/available_tracers", "function_graph nop\n");
        fake_put(k, "instances/foo/current_tracer", "function_graph\n");
        fake_refuse(c, fake_session("x", "udp_sendmsg"), false, REFUSAL_BUSY, "instances/foo is");
        fake_put(k, "instances/foo/current_tracer", "nop\n");
        fake_put(k, "current_tracer", "function\n");
        (void) fake_start(c, fake_session("x", "udp_sendmsg"), false);
}

TEST(what_this_host_cannot_do_is_refused_with_the_way_out) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
        _cleanup_(controller_freep) Controller *c = fake_controller(k), *none = NULL;

        fake_put_root(k, "proc/sys/kernel/ftrace_enabled", "0\n");
        fake_refuse(c, fake_session("x", "udp_sendmsg"), false, REFUSAL_NOT_SUPPORTED,
                    "sysctl kernel.ftrace_enabled=1");
        fake_put_root(k, "proc/sys/kernel/ftrace_enabled", "1\n");
        fake_put(k, "available_tracers", "function nop\n");
        fake_refuse(c, fake_session("x", "udp_sendmsg"), false, REFUSAL_NOT_SUPPORTED,
                    "no function_graph tracer");
        fake_put(k, "available_tracers", "function_graph nop\n");
        fake_put_root(k, "proc/meminfo", "MemAvailable: 10240 kB\n");
        fake_refuse(c, fake_session("x", "udp_sendmsg"), false, REFUSAL_NO_MEMORY,
                    "--buffer-size=");
        ck_assert_int_eq(controller_new(&none, "/nonexistent", k->ledger_fd, k->ledger_fd, false,
                                        k->root_fd),
                         0);
        ck_assert_ptr_null(controller_tracefs(none));
        fake_refuse(none, fake_session("x", "udp_sendmsg"), false, REFUSAL_NOT_SUPPORTED,
                    "mount -t tracefs tracefs /nonexistent");
}

/* What the steps are counted over: two sessions come and go, or one where only one can be. */
static void story(FakeKernel *k) {
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        SessionMeta *m = fake_session("a", "udp_sendmsg udp_recvmsg"),
                    *n = fake_session("b", "tcp_sendmsg udp_recvmsg");
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t, *u;

        if (fake_admit_and_arm(c, &t, m, false, &refusal) == 0) {
                (void) tracer_set_recording(t, true);
                if (fake_admit_and_arm(c, &u, n, false, &refusal) == 0)
                        (void) tracer_disarm(u);
                (void) tracer_set_recording(t, false);
                (void) tracer_disarm(t);
        }
}

/* One that records a process alone, and one that comes and goes beside it. */
static void filtered_story(FakeKernel *k) {
        SessionMeta *m = fake_session("a", "udp_sendmsg"), *n = fake_session("b", "tcp_sendmsg");
        _cleanup_(controller_freep) Controller *c = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t, *u;

        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        fake_put_root(k, "proc/700/task/701/comm", "x\n");
        c = fake_controller(k);
        ck_assert_int_eq(strv_add(&m->spec.pids, "700"), 0);
        if (fake_admit_and_arm(c, &t, m, false, &refusal) == 0) {
                if (fake_admit_and_arm(c, &u, n, false, &refusal) == 0)
                        (void) tracer_disarm(u);
                (void) tracer_disarm(t);
        }
}

/* The story with the fault at every step in turn. */
static void survive(FakeFault fault, bool instances, void (*tell)(FakeKernel *k)) {
        bool goes_on = true;
        unsigned at = 0;

        while (goes_on) {
                _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(instances);

                leave_over(k);
                fake_put(k, "tracing_on", "1\n");
                at += UNIT_EVERY;
                goes_on = fake_survive(k, fault, at, tell);
        }
        ck_assert_uint_gt(at, 51);
}

#define SURVIVES(name, fault, instances, story)                                                    \
        TEST(name) {                                                                               \
                survive((fault), (instances), (story));                                            \
        }

SURVIVES(death_at_any_step_is_undone_by_the_next_controller, FAKE_DIE, false, story)
SURVIVES(the_same_with_instances, FAKE_DIE, true, story)
SURVIVES(the_same_beside_a_filtered_session, FAKE_DIE, true, filtered_story)
SURVIVES(failure_at_any_step_leaves_nothing_behind, FAKE_FAIL, false, story)
SURVIVES(failure_with_instances_leaves_nothing_behind, FAKE_FAIL, true, story)
SURVIVES(failure_beside_a_filtered_session_leaves_nothing_behind, FAKE_FAIL, true, filtered_story)
SURVIVES(a_short_write_at_any_step_leaves_nothing_behind, FAKE_SHORT, false, story)
SURVIVES(a_short_write_with_instances_leaves_nothing_behind, FAKE_SHORT, true, story)

TEST(a_tracer_held_open_keeps_its_records_until_it_is_free) {
        for (int instances = 0; instances < 2; instances++) {
                FAKE_CASE(k, c, instances);
                _cleanup_free_ char *before = fake_dump(k);
                Tracer *t = fake_start(c, fake_session("a", "udp_sendmsg"), false);

                k->is_busy = true;
                ck_assert_int_eq(tracer_disarm(t), -EBUSY);
                fake_expect(k, "set_graph_function", "udp_sendmsg\n");
                c = controller_free(c);
                fake_expect(k, "set_graph_function", "udp_sendmsg\n");
                c = fake_controller(k);
                ck_assert_uint_eq(controller_n_restored(c), 0);
                fake_refuse(c, fake_session("x", "tcp_sendmsg"), false, REFUSAL_BUSY,
                            "left on by an earlier ftraced");
                k->is_busy = false;
                c = controller_free(c);
                fake_expect_all(k, before);
        }
}

TEST(the_account_counts_from_arming_and_survives_a_cleared_buffer) {
        static const struct {
                uint32_t cpu;
                const char *stats;
                int r;
                uint64_t overrun;
        } turns[] = {
                { 0, "overrun: 9\ncommit overrun: 1\nread events: 3\n", 0, 2 },
                { 0, "overrun: 4\ncommit overrun: 0\nread events: 3\n", INSTANCE_E_EMPTIED, 6 },
                { 0, "overrun: 4\ncommit overrun: 0\nread events: 3\n", 0, 6 },
                { 0, "", 0, 6 }, /* a line that is missing is no news */
                /* What is in it may be read meanwhile, but not become less by itself. */
                { 1, "entries: 10\noverrun: 0\ncommit overrun: 0\nread events: 6\n", 0, 0 },
                { 1, "entries: 4\noverrun: 0\ncommit overrun: 0\nread events: 6\n", 0, 0 },
                { 1, "entries: 3\noverrun: 0\ncommit overrun: 0\nread events: 6\n",
                  INSTANCE_E_EMPTIED, 0 },
        };
        FAKE_CASE(k, c, false);
        CpuAccount accounts[] = { { .cpu = 0, .n_pages = 5 }, { .cpu = 1 }, { .cpu = 9 } };
        Tracer *t = fake_start(c, fake_session("a", "udp_sendmsg"), false);
        ClockTuple clocks;

        for (size_t i = 0; i < ELEMENTSOF(turns); i++) {
                CpuAccount *a = &accounts[turns[i].cpu];

                fake_put(k, TRACEFS_PATH("per_cpu/cpu%u/stats", turns[i].cpu), turns[i].stats);
                ck_assert_int_eq(instance_read_account(tracer_instance(t), a), turns[i].r);
                ck_assert_uint_eq(a->overrun, turns[i].overrun);
                if (i > 0)
                        continue;
                ck_assert_uint_eq(a->commit_overrun, 1);
                ck_assert_uint_eq(a->read_events, 0);
                ck_assert_uint_eq(a->n_pages, 5);
        }
        ck_assert_int_eq(instance_read_account(tracer_instance(t), &accounts[2]), -ENOENT);
        ck_assert_int_eq(tracer_read_clocks(t, &clocks), 0);
        ck_assert_uint_eq(clocks.trace_ns, clocks.monotonic_ns);
}

static const char *state_of(const json_t *checks, const char *name) {
        json_t *check;
        size_t i;

        json_array_foreach (checks, i, check) {
                if (streq(json_string_value(json_object_get(check, "name")), name))
                        return json_string_value(json_object_get(check, "state"));
        }
        return "none";
}

/* "NAME=STATE NAME=STATE ..." are among what is found. */
static void expect_states(Controller *c, const char *states) {
        _cleanup_strv_ Strv wanted = {};
        json_auto_t *checks = controller_check(c);

        ck_assert_int_eq(strv_split(&wanted, states, " "), 0);
        for (size_t i = 0; i < wanted.n; i++) {
                char *state = strchr(wanted.items[i], '=');

                *state++ = 0;
                ck_assert_str_eq(state_of(checks, wanted.items[i]), state);
        }
}

FAKE_TEST(checks_tell_good_from_leftover_from_bad, true) {
        expect_states(c, "tracefs=good function_graph=good symbols=good leftovers=good "
                         "sessions=good comm=good retval=absent clock-tai=absent");
        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        expect_states(c, "retval=good"); /* by probes */
        fake_put(k, "options/funcgraph-retval", "0\n");
        fake_put(k, "trace_clock", "[local] tai\n");
        expect_states(c, "retval=good clock-tai=good");
        leave_over(k);
        fake_put_root(k, "proc/sys/kernel/ftrace_enabled", "0\n");
        fake_put_root(k, "proc/kallsyms", "0000000000000000 T _text\n");
        fake_put(k, "current_tracer", "function_graph\n");
        expect_states(c, "symbols=warning leftovers=warning ftrace_enabled=bad tracer=bad");
}

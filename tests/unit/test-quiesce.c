/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sessions beside which set_graph_function changes, on the kernel that does not wait (fake-kernel.h),
 * which ends the test if they are not quiesced. */

#include "fake-kernel.h"

#define A "instances/ftraced-a/"

typedef struct Told {
        unsigned n;
        uint64_t from_ns, to_ns;
} Told;

static void on_quiesced(uint64_t from_ns, uint64_t to_ns, void *userdata) {
        Told *told = userdata;

        told->n++;
        told->from_ns = from_ns;
        told->to_ns = to_ns;
}

/* Where @line is in what was written, from @from on; it must be there. */
static size_t find_line(const FakeKernel *k, size_t from, const char *line) {
        for (size_t i = from; i < k->log.n; i++)
                if (streq(k->log.items[i], line))
                        return i;
        ck_abort_msg("\"%s\" was not written", line);
}

FAKE_SESSION_TEST(a_neighbour_is_quiesced_for_the_change_alone_and_told, true, "a") {
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        char self[128];
        Tracer *t, *u;
        Told told = {};
        size_t i;

        t = fake_start(c, m, false);
        ck_assert_uint_eq(m->warnings.n, 0);
        tracer_set_handler(t, on_quiesced, &told);
        u = fake_start(c, n, false);
        ck_assert_uint_eq(told.n, 1);
        ck_assert_uint_lt(told.from_ns, told.to_ns);
        ck_assert_uint_eq(n->warnings.n, 0);
        fake_expect(k, A "set_ftrace_pid", "no pid\n");

        (void) snprintf(self, sizeof(self), "write " A "set_ftrace_pid %d", (int) gettid());
        i = find_line(k, 0, "write set_graph_function tcp_sendmsg");
        i = find_line(k, i, self);     /* who is quiesced waits for nobody's comparing */
        i = find_line(k, i + 1, self); /* and is waited for */
        (void) find_line(k, i, "truncate " A "set_ftrace_pid");

        ck_assert_int_eq(tracer_disarm(u), 0);
        ck_assert_uint_eq(told.n, 2);
        fake_expect(k, "set_graph_function", "udp_sendmsg\n");
        fake_expect(k, A "set_ftrace_pid", "no pid\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
}

FAKE_TEST(sessions_of_the_same_functions_do_not_disturb_one_another, true) {
        SessionMeta *n = fake_session("b", "udp_sendmsg");
        Told told = {};
        Tracer *t, *u;

        t = fake_start(c, fake_session("a", "udp_sendmsg"), false);
        tracer_set_handler(t, on_quiesced, &told);
        u = fake_start(c, n, false);
        ck_assert_int_eq(tracer_disarm(u), 0);
        ck_assert_uint_eq(told.n, 0);
        ck_assert_uint_eq(n->warnings.n, 0);
}

FAKE_SESSION_TEST(who_records_some_processes_keeps_their_list, true, "a") {
        size_t i;

        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        fake_put_root(k, "proc/700/task/701/comm", "x\n");
        ck_assert_int_eq(strv_add(&m->spec.pids, "700"), 0);
        (void) fake_start(c, m, false);
        fake_put(k, A "set_ftrace_notrace_pid", "99\n"); /* one who left */
        (void) fake_start(c, fake_session("b", "tcp_sendmsg"), false);
        fake_expect(k, A "set_ftrace_pid", "700\n701\n");
        fake_expect(k, A "set_ftrace_notrace_pid", "99\n");
        i = find_line(k, 0, "write set_graph_function tcp_sendmsg");
        i = find_line(k, i, "write " A "set_ftrace_notrace_pid 700");
        i = find_line(k, i, "write " A "set_ftrace_notrace_pid 701");
        (void) find_line(k, i, "truncate " A "set_ftrace_notrace_pid");
}

FAKE_TEST(a_kernel_that_waits_is_not_quiesced, true) {
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        Told told = {};
        Tracer *t, *u;

        fake_put_root(k, "proc/sys/kernel/osrelease", "6.12.117+deb12-amd64\n");
        t = fake_start(c, fake_session("a", "udp_sendmsg"), false);
        tracer_set_handler(t, on_quiesced, &told);
        k->waits_for_cpus = true;
        u = fake_start(c, n, false);
        ck_assert_int_eq(tracer_disarm(u), 0);
        ck_assert_uint_eq(told.n, 0);
        for (size_t i = 0; i < k->log.n; i++)
                ck_assert_ptr_null(strstr(k->log.items[i], A "set_ftrace_pid"));
}

FAKE_TEST(beside_the_tracer_of_somebody_else_roots_stay_until_it_is_gone, true) {
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        _cleanup_strv_ Strv roots = {}, gone = {};
        Tracer *t, *u, *v;

        t = fake_start(c, fake_session("a", "udp_sendmsg"), false);
        u = fake_start(c, n, false);
        fake_put(k, "instances/foo/current_tracer", "function_graph\n");
        fake_put(k, "instances/foo/set_ftrace_pid", "no pid\n");
        ck_assert_int_eq(tracer_disarm(u), 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\ntcp_sendmsg\n");
        /* Whoever watches is told that this is all right. */
        ck_assert_int_eq(tracer_get_roots(t, &roots, &gone), 0);
        ck_assert(strv_contains(&roots, "tcp_sendmsg"));
        ck_assert(strv_contains(&gone, "tcp_sendmsg"));

        fake_put(k, "instances/foo/current_tracer", "nop\n");
        v = fake_start(c, fake_session("c", "udp_recvmsg"), false);
        fake_expect(k, "set_graph_function", "udp_sendmsg\nudp_recvmsg\n");
        ck_assert_int_eq(tracer_disarm(v), 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\n");
}

TEST(what_a_daemon_that_died_had_quiesced_is_put_back_and_known) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
        static const char ledger[] =
                "{ \"version\": 1, \"boot_id\": \"this-boot\", \"tracefs\": \"\", "
                "\"records\": [ { \"session\": \"(hush)\", \"kind\": \"file\", \"file\": "
                "\"instances/ftraced-a/set_ftrace_pid\", \"old\": \"\" }, "
                "{ \"session\": \"(hush)\", \"kind\": \"file\", \"file\": "
                "\"instances/ftraced-gone/set_ftrace_pid\", \"old\": \"\" } ] }";
        _cleanup_(controller_freep) Controller *c = NULL;

        Tracer *t;

        fake_put(k, A "set_ftrace_pid", "812\n");
        ck_assert_int_eq(file_replace(k->ledger_fd, "ledger", ledger, strlen(ledger), 0600), 0);
        c = fake_controller(k);
        fake_expect(k, A "set_ftrace_pid", "no pid\n");
        ck_assert_int_ne(faccessat(k->ledger_fd, "ledger", F_OK, 0), 0);
        ck_assert_int_eq(tree_remove(k->tracefs_fd, "instances/ftraced-a"), 0);
        t = fake_start(c, fake_session("a", "udp_sendmsg"), false);
        ck_assert(tracer_was_quiesced(t));
}

FAKE_TEST(a_start_that_fails_before_its_functions_came_disturbs_nobody, true) {
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        _cleanup_refusal_ Refusal refusal = {};
        Told told = {};
        Tracer *t, *u;

        t = fake_start(c, fake_session("a", "udp_sendmsg"), false);
        tracer_set_handler(t, on_quiesced, &told);

        ck_assert_int_eq(strv_add(&n->spec.events, "sched:sched_switch:no_such==1"), 0);
        ck_assert_int_eq(fake_admit_and_arm(c, &u, n, false, &refusal), REFUSED);
        ck_assert_uint_eq(told.n, 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\n");
}

TEST(a_session_that_is_taken_up_is_not_disturbed) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
        _cleanup_(controller_freep) Controller *c = NULL, *next = NULL;
        SessionMeta *m = fake_session("a", "udp_sendmsg");
        const char *why;
        Told told = {};
        Tracer *t;

        c = fake_controller(k);
        t = fake_start(c, m, false);
        controller_leave(c);
        c = controller_free(c);
        ck_assert_int_eq(
                controller_new(&next, k->tracefs, k->ledger_fd, k->ledger_fd, true, k->root_fd), 0);
        ck_assert_int_eq(controller_adopt(next, &t, m, &why), 0);
        tracer_set_handler(t, on_quiesced, &told);
        controller_settle(next);
        ck_assert_uint_eq(told.n, 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\n");
}

TEST(roots_that_a_daemon_which_died_had_added_are_taken_out) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
        _cleanup_(controller_freep) Controller *c = fake_controller(k), *next = NULL;
        SessionMeta *m = fake_session("a", "udp_sendmsg");
        const char *why;
        Told told = {};
        Tracer *t = fake_start(c, m, false);

        (void) fake_start(c, fake_session("b", "tcp_sendmsg"), false);
        controller_leave(c); /* it dies; b was never written down */
        c = controller_free(c);
        fake_expect(k, "set_graph_function", "udp_sendmsg\ntcp_sendmsg\n");

        ck_assert_int_eq(
                controller_new(&next, k->tracefs, k->ledger_fd, k->ledger_fd, true, k->root_fd), 0);
        ck_assert_int_eq(controller_adopt(next, &t, m, &why), 0);
        ck_assert(!tracer_was_quiesced(t));
        tracer_set_handler(t, on_quiesced, &told);
        controller_settle(next);
        fake_expect(k, "set_graph_function", "udp_sendmsg\n");
        ck_assert_uint_eq(told.n, 1);
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "set_graph_function", "#### all functions enabled ####\n");
        ck_assert_int_ne(faccessat(k->ledger_fd, "ledger", F_OK, 0), 0);
}

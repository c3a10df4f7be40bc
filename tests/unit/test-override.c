/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A tracer of somebody else's that is switched off by force, and set again whatever happens. */

#include <stdio.h>
#include <sys/wait.h>

#include "daemon/controller.h"
#include "fake-kernel.h"

static SessionMeta *meta(const char *name, const char *functions, uint64_t depth) {
        SessionMeta *m = NULL;

        ck_assert_int_eq(session_meta_new(&m), 0);
        m->name = strdup(name);
        m->spec.depth = depth;
        ck_assert_int_eq(strv_split(&m->spec.functions, functions, " "), 0);
        return m;
}

static const char *const files[] = { "current_tracer", "instances/foo/current_tracer" };

/* Somebody else traces: in the only buffer, or in an instance. */
static FakeKernel *kernel_in_use(bool instances) {
        FakeKernel *k = fake_kernel_new(instances);

        fake_put(k, "set_graph_function", "kfree\n");
        fake_put(k, "tracing_thresh", "100\n");
        fake_put(k, "tracing_on", "1\n");
        if (instances)
                fake_put(k, "instances/foo/available_tracers", "function_graph nop\n");
        fake_put(k, files[instances], "function_graph\n");
        return k;
}

static void expect_file(FakeKernel *k, const char *path, const char *text) {
        _cleanup_free_ char *now = fake_get(k, path);

        ck_assert_str_eq(now, text);
}

START_TEST(force_switches_the_tracer_off_and_sets_it_again)
        {
                for (int instances = 0; instances < 2; instances++) {
                        _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(instances);
                        _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", 0);
                        _cleanup_free_ char *before = fake_dump(k), *after = NULL;
                        _cleanup_(controller_freep) Controller *c = fake_controller(k);
                        _cleanup_refusal_ Refusal refusal = {};
                        Tracer *t;

                        ck_assert_int_eq(controller_look(c, NULL, m, false, &refusal), REFUSED);
                        ck_assert_int_eq(controller_arm(c, &t, m, false, &refusal), REFUSED);
                        ck_assert_int_eq(controller_look(c, NULL, m, true, &refusal), 0);
                        ck_assert_int_eq(controller_arm(c, &t, m, true, &refusal), 0);
                        expect_file(k, files[instances], instances ? "nop\n" : "function_graph\n");
                        expect_file(k, "set_graph_function", "udp_sendmsg\n");
                        ck_assert_uint_eq(m->warnings.n, 1);
                        ck_assert_ptr_nonnull(strstr(m->warnings.items[0], "function_graph of "));
                        ck_assert_int_eq(tracer_disarm(t), 0);
                        after = fake_dump(k);
                        ck_assert_str_eq(before, after);
                        ck_assert_int_ne(faccessat(k->ledger_fd, "ledger", F_OK, 0), 0);
                }
        }
END_TEST

START_TEST(it_is_set_again_when_the_last_session_ends)
        {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(true);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", 0);
                _cleanup_(session_meta_freep) SessionMeta *n = meta("b", "tcp_sendmsg", 0);
                _cleanup_free_ char *before = fake_dump(k), *after = NULL;
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_refusal_ Refusal refusal = {};
                Tracer *t, *u;

                ck_assert_int_eq(controller_arm(c, &t, m, true, &refusal), 0);
                ck_assert_int_eq(controller_arm(c, &u, n, false, &refusal), 0);
                ck_assert_int_eq(tracer_disarm(t), 0);
                expect_file(k, "instances/foo/current_tracer", "nop\n");
                ck_assert_int_eq(tracer_disarm(u), 0);
                after = fake_dump(k);
                ck_assert_str_eq(before, after);
        }
END_TEST

START_TEST(what_its_owner_has_set_meanwhile_is_left_alone)
        {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(true);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", 0);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_refusal_ Refusal refusal = {};
                Tracer *t;

                ck_assert_int_eq(controller_arm(c, &t, m, true, &refusal), 0);
                fake_put(k, "instances/foo/current_tracer", "function\n");
                ck_assert_int_eq(tracer_disarm(t), 0);
                expect_file(k, "instances/foo/current_tracer", "function\n");
                expect_file(k, "set_graph_function", "kfree\n");
        }
END_TEST

START_TEST(an_open_pipe_is_not_overridden)
        {
                for (int instances = 0; instances < 2; instances++) {
                        _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(instances);
                        _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", 0);
                        _cleanup_free_ char *before = fake_dump(k), *after = NULL;
                        _cleanup_(controller_freep) Controller *c = fake_controller(k);
                        _cleanup_refusal_ Refusal refusal = {};
                        Tracer *t;

                        k->is_busy = true;
                        ck_assert_int_eq(controller_arm(c, &t, m, true, &refusal), REFUSED);
                        ck_assert_int_eq((int) refusal.kind, REFUSAL_BUSY);
                        ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "held open by"));
                        k->is_busy = false;
                        c = controller_free(c);
                        after = fake_dump(k);
                        ck_assert_str_eq(before, after);
                }
        }
END_TEST

/* The fault at every step in turn; the next controller must find or make all as it was. */
static void survive(FakeFault fault, bool instances) {
        unsigned n_steps = UINT_MAX, at;

        for (at = 1; at < n_steps; at++) {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(instances);
                _cleanup_free_ char *before = fake_dump(k), *after = NULL;
                int status;
                pid_t pid = fork();

                ck_assert_int_ge(pid, 0);
                if (pid == 0) {
                        _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", 0);
                        _cleanup_(controller_freep) Controller *c = NULL;
                        _cleanup_refusal_ Refusal refusal = {};
                        Tracer *t;

                        k->fault = fault;
                        k->fault_at = at;
                        c = fake_controller(k);
                        if (controller_arm(c, &t, m, true, &refusal) == 0)
                                (void) tracer_disarm(t);
                        c = controller_free(c);
                        fake_put_root(k, "done", k->n_steps < at ? "all\n" : "some\n");
                        _exit(0);
                }
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert_msg(WIFEXITED(status), "step %u: died of a signal", at);
                ck_assert_msg(WEXITSTATUS(status) != FAKE_BROKEN, "step %u broke the rule", at);
                if (WEXITSTATUS(status) == 0) {
                        _cleanup_free_ char *done = NULL;

                        ck_assert_int_eq(file_read(k->root_fd, "done", &done, NULL, 10), 0);
                        if (streq(done, "all\n"))
                                n_steps = at;
                }
                controller_free(fake_controller(k));
                after = fake_dump(k);
                ck_assert_msg(streq(before, after), "step %u: before\n%s\nafter\n%s", at, before,
                              after);
        }
        ck_assert_uint_gt(at, 30);
}

START_TEST(death_at_any_step_is_undone_by_the_next_controller)
        {
                survive(FAKE_DIE, false);
                survive(FAKE_DIE, true);
        }
END_TEST

START_TEST(failure_at_any_step_leaves_nothing_behind)
        {
                survive(FAKE_FAIL, false);
                survive(FAKE_FAIL, true);
        }
END_TEST

START_TEST(a_depth_is_shared_by_sessions_with_the_same_functions_only)
        {
                _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", 3);
                _cleanup_(session_meta_freep) SessionMeta *n = meta("b", "tcp_sendmsg", 3);
                _cleanup_(session_meta_freep) SessionMeta *o = meta("c", "udp_sendmsg", 3);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_refusal_ Refusal refusal = {};
                Tracer *t, *u;

                ck_assert_int_eq(controller_arm(c, &t, m, false, &refusal), 0);
                ck_assert_int_eq(controller_arm(c, &u, n, false, &refusal), REFUSED);
                ck_assert_int_eq((int) refusal.kind, REFUSAL_BUSY);
                ck_assert_ptr_nonnull(strstr(refusal_message(&refusal),
                                             "max_graph_depth counts from the outermost function"));
                ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "session a "));
                ck_assert_int_eq(controller_arm(c, &u, o, false, &refusal), 0);
                ck_assert_int_eq(tracer_disarm(u), 0);
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
END_TEST

UNIT_MAIN("override", force_switches_the_tracer_off_and_sets_it_again,
          it_is_set_again_when_the_last_session_ends,
          what_its_owner_has_set_meanwhile_is_left_alone, an_open_pipe_is_not_overridden,
          death_at_any_step_is_undone_by_the_next_controller,
          failure_at_any_step_leaves_nothing_behind,
          a_depth_is_shared_by_sessions_with_the_same_functions_only)

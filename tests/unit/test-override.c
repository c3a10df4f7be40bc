/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A tracer of somebody else's that is switched off by force, and set again whatever happens. */

#include "fake-kernel.h"

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

static int look(Controller *c, const SessionMeta *m, bool force, Refusal *refusal) {
        _cleanup_(admission_freep) Admission *a = NULL;

        return controller_admit(c, &a, m, force, false, refusal);
}

TEST(force_switches_the_tracer_off_and_sets_it_again) {
        for (int instances = 0; instances < 2; instances++) {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(instances);
                SessionMeta *m = fake_session("a", "udp_sendmsg");
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_refusal_ Refusal refusal = {};
                Tracer *t;

                ck_assert_int_eq(look(c, m, false, &refusal), REFUSED);
                ck_assert_int_eq(fake_admit_and_arm(c, &t, m, false, &refusal), REFUSED);
                ck_assert_int_eq(look(c, m, true, &refusal), 0);
                t = fake_start(c, m, true);
                fake_expect(k, files[instances], instances ? "nop\n" : "function_graph\n");
                fake_expect(k, "set_graph_function", "udp_sendmsg\n");
                ck_assert_uint_eq(m->warnings.n, 1);
                ck_assert_ptr_nonnull(strstr(m->warnings.items[0], "function_graph of "));
                fake_end(t);
                ck_assert_int_ne(faccessat(k->ledger_fd, "ledger", F_OK, 0), 0);
        }
}

TEST(it_is_set_again_when_the_last_session_ends) {
        _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(true);
        SessionMeta *m = fake_session("a", "udp_sendmsg");
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        Tracer *t = fake_start(c, m, true), *u = fake_start(c, n, false);

        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "instances/foo/current_tracer", "nop\n");
        fake_end(u);
}

TEST(what_its_owner_has_set_meanwhile_is_left_alone) {
        _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(true);
        SessionMeta *m = fake_session("a", "udp_sendmsg");
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        Tracer *t = fake_start(c, m, true);

        fake_put(k, "instances/foo/current_tracer", "function\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "instances/foo/current_tracer", "function\n");
        fake_expect(k, "set_graph_function", "kfree\n");
}

FAKE_SESSION_TEST(a_session_that_ended_badly_changes_nothing_of_a_later_owner, true, "a") {
        SessionMeta *n = fake_session("b", "udp_sendmsg");
        Tracer *t;

        fake_put(k, "tracing_thresh", "100\n");
        t = fake_start(c, m, false);
        fake_put(k, "set_graph_function", "vfs_write\n");
        fake_put(k, "current_tracer", "function_graph\n");
        ck_assert_int_eq(tracer_disarm(t), -EBUSY); /* of tracing_thresh */
        fake_expect(k, "set_graph_function", "vfs_write\n");
        fake_put(k, "current_tracer", "nop\n");
        fake_put(k, "set_graph_function", "kfree\n");
        fake_put(k, "current_tracer", "function_graph\n");
        t = fake_start(c, n, true);
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "set_graph_function", "kfree\n");
        fake_expect(k, "current_tracer", "function_graph\n");
        fake_expect(k, "tracing_thresh", "100\n");
}

FAKE_SESSION_TEST(beside_sessions_nobody_is_overridden_whose_functions_are_in_the_list, true, "a") {
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        Tracer *t = fake_start(c, m, false);

        fake_put(k, "set_graph_function", "kfree\n");
        fake_put(k, "current_tracer", "function_graph\n");
        fake_refuse(c, n, true, REFUSAL_BUSY, "somebody else has written kfree into");
        fake_expect(k, "current_tracer", "function_graph\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect(k, "set_graph_function", "kfree\n");
}

TEST(an_open_pipe_is_not_overridden) {
        for (int instances = 0; instances < 2; instances++) {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(instances);
                SessionMeta *m = fake_session("a", "udp_sendmsg");
                _cleanup_free_ char *before = fake_dump(k);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);

                k->is_busy = true;
                fake_refuse(c, m, true, REFUSAL_BUSY, "held open by");
                k->is_busy = false;
                c = controller_free(c);
                fake_expect_all(k, before);
        }
}

static void story(FakeKernel *k) {
        _cleanup_(session_meta_freep) SessionMeta *m = fake_meta("a", "udp_sendmsg");
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        if (fake_admit_and_arm(c, &t, m, true, &refusal) == 0)
                (void) tracer_disarm(t);
}

/* The story with the fault at every step in turn. */
static void survive(FakeFault fault, bool instances) {
        bool goes_on = true;
        unsigned at = 1;

        for (; goes_on; at += UNIT_EVERY) {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_in_use(instances);

                goes_on = fake_survive(k, fault, at, story);
        }
        ck_assert_uint_gt(at, 30);
}

TEST(death_at_any_step_is_undone_by_the_next_controller) {
        survive(FAKE_DIE, false);
        survive(FAKE_DIE, true);
}

TEST(failure_at_any_step_leaves_nothing_behind) {
        survive(FAKE_FAIL, false);
        survive(FAKE_FAIL, true);
}

FAKE_SESSION_TEST(a_depth_is_shared_by_sessions_with_the_same_functions_only, true, "a") {
        SessionMeta *n = fake_session("b", "tcp_sendmsg");
        SessionMeta *o = fake_session("c", "udp_sendmsg");
        Tracer *t, *u;

        m->spec.depth = n->spec.depth = o->spec.depth = 3;
        t = fake_start(c, m, false);
        fake_refuse(c, n, false, REFUSAL_BUSY,
                    "max_graph_depth counts from the outermost function");
        fake_refuse(c, n, false, REFUSAL_BUSY, "session a ");
        u = fake_start(c, o, false);
        ck_assert_int_eq(tracer_disarm(u), 0);
        ck_assert_int_eq(tracer_disarm(t), 0);
}

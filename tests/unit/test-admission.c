/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How long what was admitted goes for arming: a process that has ended since is not missed, unless it is asked again. */

#include "fake-kernel.h"

#define BELIEVED_NS (NSEC_PER_SEC / 5) /* controller-admit.c */

/* One with process 700 and one whose modules are known. */
static FakeKernel *kernel_new(bool instances) {
        FakeKernel *k = fake_kernel_new(instances);

        fake_put_root(k, "proc/modules", "");
        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        return k;
}

static SessionMeta *of_process(const char *name, const char *function) {
        SessionMeta *m = fake_session(name, function);

        ck_assert_int_eq(strv_add(&m->spec.pids, "700"), 0);
        return m;
}

#define CASE(k, c, instances)                                                                      \
        _cleanup_fake_kernel_ FakeKernel *k = kernel_new(instances);                               \
        _cleanup_(controller_freep) Controller *c = fake_controller(k)
#define CASE_TEST(name) TEST_WITH(name, (FakeKernel * k, Controller * c), CASE(k, c, true), k, c)

static void end_process(FakeKernel *k) {
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700/task/700/comm", 0), 0);
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700/task/700", AT_REMOVEDIR), 0);
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700/task", AT_REMOVEDIR), 0);
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700", AT_REMOVEDIR), 0);
}

static Admission *admit(Controller *c, const SessionMeta *m) {
        _cleanup_refusal_ Refusal refusal = {};
        Admission *a = NULL;

        ck_assert_int_eq(controller_admit(c, &a, m, false, false, &refusal), 0);
        return a;
}

static void expect_refusal(FakeKernel *k, Controller *c, SessionMeta *m, Admission *a,
                           RefusalKind kind, const char *part) {
        _cleanup_free_ char *before = fake_dump(k);
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        ck_assert_int_eq(controller_arm(c, &t, m, a, &refusal), REFUSED);
        ck_assert_int_eq((int) refusal.kind, (int) kind);
        ck_assert_msg(strstr(refusal_message(&refusal), part), "%s", refusal_message(&refusal));
        fake_expect_all(k, before);
}

TEST(what_was_admitted_is_armed_without_being_asked_again) {
        bool was_quick = false;

        for (unsigned i = 0; i < 100 && !was_quick; i++) {
                CASE(k, c, true);
                SessionMeta *m = of_process("a", "udp_*msg");
                _cleanup_(admission_freep) Admission *a = NULL;
                uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
                _cleanup_refusal_ Refusal refusal = {};
                Tracer *t;
                int r;

                a = admit(c, m);
                end_process(k);
                r = controller_arm(c, &t, m, a, &refusal);
                was_quick = now_ns(CLOCK_MONOTONIC) < since_ns + BELIEVED_NS;
                if (!was_quick)
                        continue;
                ck_assert_int_eq(r, 0);
                ck_assert_uint_eq(m->roots.n, 2);
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
        ck_assert(was_quick);
}

CASE_TEST(an_answer_that_is_old_is_asked_for_again) {
        SessionMeta *m = of_process("a", "udp_sendmsg");
        _cleanup_(admission_freep) Admission *a = admit(c, m);

        end_process(k);
        (void) usleep(BELIEVED_NS / NSEC_PER_USEC);
        expect_refusal(k, c, m, a, REFUSAL_INVALID_SPEC, "no process 700");
}

TEST(who_armed_meanwhile_is_in_the_way) {
        CASE(k, c, false);
        SessionMeta *m = fake_session("a", "udp_sendmsg"), *n = fake_session("b", "tcp_sendmsg");
        _cleanup_(admission_freep) Admission *a = admit(c, m);
        Tracer *t;

        t = fake_start(c, n, false);
        expect_refusal(k, c, m, a, REFUSAL_BUSY, "session b");
        ck_assert_int_eq(tracer_disarm(t), 0);
}

CASE_TEST(what_is_given_back_meanwhile_may_be_had) {
        SessionMeta *m = fake_session("a", "udp_sendmsg"), *n = fake_session("b", "tcp_sendmsg");
        _cleanup_(admission_freep) Admission *a = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        t = fake_start(c, n, false);
        a = admit(c, m);
        ck_assert_int_eq(tracer_disarm(t), 0);
        ck_assert_int_eq(controller_arm(c, &t, m, a, &refusal), 0);
        fake_expect(k, "set_graph_function", "udp_sendmsg\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
}

CASE_TEST(modules_that_came_or_went_are_looked_at_again) {
        SessionMeta *m = fake_session("a", "udp_*msg"), *n = fake_session("b", "udp_sendmsg");
        _cleanup_(admission_freep) Admission *a = admit(c, m), *b = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        fake_put(k, "available_filter_functions",
                 "udp_sendmsg\nudp_recvmsg\nudp_new_msg [new]\nkfree\n");
        fake_put_root(k, "proc/modules", "new 16384 0 - Live 0x0000000000000000\n");
        ck_assert_int_eq(controller_arm(c, &t, m, a, &refusal), 0);
        ck_assert_uint_eq(m->roots.n, 3);
        ck_assert_int_eq(tracer_disarm(t), 0);

        b = admit(c, n);
        fake_put(k, "available_filter_functions", "udp_recvmsg\nkfree\n");
        fake_put_root(k, "proc/modules", "");
        expect_refusal(k, c, n, b, REFUSAL_FUNCTION_NOT_FOUND, "udp_sendmsg");
}

CASE_TEST(less_memory_than_was_allowed_is_no_longer_enough) {
        SessionMeta *m = fake_session("a", "udp_sendmsg");
        _cleanup_(admission_freep) Admission *a = NULL;

        fake_put_root(k, "proc/meminfo", "MemAvailable: 8000000 kB\n");
        a = admit(c, m);
        controller_set_memory_limit(c, (ConfigShare){ .bytes = 4096 });
        expect_refusal(k, c, m, a, REFUSAL_NO_MEMORY, "buffers");
}

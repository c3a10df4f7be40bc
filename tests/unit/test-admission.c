/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How long what was admitted goes for arming: a process that has ended since is not missed, unless it is asked again. */

#include "fake-kernel.h"
#include "base/io.h"
#include "daemon/tracer/controller.h"

#define BELIEVED_NS (NSEC_PER_SEC / 5) /* controller-admit.c */

/* One with process 700 and one whose modules are known. */
static FakeKernel *kernel_new(bool instances) {
        FakeKernel *k = fake_kernel_new(instances);

        fake_put_root(k, "proc/modules", "");
        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        return k;
}

static void end_process(FakeKernel *k) {
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700/task/700/comm", 0), 0);
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700/task/700", AT_REMOVEDIR), 0);
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700/task", AT_REMOVEDIR), 0);
        ck_assert_int_eq(unlinkat(k->root_fd, "proc/700", AT_REMOVEDIR), 0);
}

static SessionMeta *meta(const char *name, const char *function, bool of_process) {
        SessionMeta *m = NULL;

        ck_assert_int_eq(session_meta_new(&m), 0);
        free(m->name);
        m->name = strdup(name);
        ck_assert_int_eq(strv_add(&m->spec.functions, function), 0);
        if (of_process)
                ck_assert_int_eq(strv_add(&m->spec.pids, "700"), 0);
        return m;
}

static Admission *admit(Controller *c, const SessionMeta *m) {
        _cleanup_refusal_ Refusal refusal = {};
        Admission *a = NULL;

        ck_assert_int_eq(controller_admit(c, &a, m, false, &refusal), 0);
        return a;
}

static void expect_refusal(FakeKernel *k, Controller *c, SessionMeta *m, Admission *a,
                           RefusalKind kind, const char *part) {
        _cleanup_free_ char *before = fake_dump(k), *after = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        ck_assert_int_eq(controller_arm(c, &t, m, a, &refusal), REFUSED);
        ck_assert_int_eq((int) refusal.kind, (int) kind);
        ck_assert_msg(strstr(refusal_message(&refusal), part), "%s", refusal_message(&refusal));
        after = fake_dump(k);
        ck_assert_str_eq(before, after);
}

START_TEST(what_was_admitted_is_armed_without_being_asked_again)
        {
                bool was_quick = false;

                for (unsigned i = 0; i < 100 && !was_quick; i++) {
                        _cleanup_fake_kernel_ FakeKernel *k = kernel_new(true);
                        _cleanup_(controller_freep) Controller *c = fake_controller(k);
                        _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_*msg", true);
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
END_TEST

START_TEST(an_answer_that_is_old_is_asked_for_again)
        {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_new(true);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", true);
                _cleanup_(admission_freep) Admission *a = admit(c, m);

                end_process(k);
                (void) usleep(BELIEVED_NS / NSEC_PER_USEC);
                expect_refusal(k, c, m, a, REFUSAL_INVALID_SPEC, "no process 700");
        }
END_TEST

START_TEST(who_armed_meanwhile_is_in_the_way)
        {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_new(false);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", false),
                                                          *n = meta("b", "tcp_sendmsg", false);
                _cleanup_(admission_freep) Admission *a = admit(c, m);
                _cleanup_refusal_ Refusal refusal = {};
                Tracer *t;

                ck_assert_int_eq(fake_admit_and_arm(c, &t, n, false, &refusal), 0);
                expect_refusal(k, c, m, a, REFUSAL_BUSY, "session b");
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
END_TEST

START_TEST(what_is_given_back_meanwhile_may_be_had)
        {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_new(true);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", false),
                                                          *n = meta("b", "tcp_sendmsg", false);
                _cleanup_(admission_freep) Admission *a = NULL;
                _cleanup_refusal_ Refusal refusal = {};
                _cleanup_free_ char *roots = NULL;
                Tracer *t;

                ck_assert_int_eq(fake_admit_and_arm(c, &t, n, false, &refusal), 0);
                a = admit(c, m);
                ck_assert_int_eq(tracer_disarm(t), 0);
                ck_assert_int_eq(controller_arm(c, &t, m, a, &refusal), 0);
                roots = fake_get(k, "set_graph_function");
                ck_assert_str_eq(roots, "udp_sendmsg\n");
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
END_TEST

START_TEST(modules_that_came_or_went_are_looked_at_again)
        {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_new(true);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_*msg", false),
                                                          *n = meta("b", "udp_sendmsg", false);
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
END_TEST

START_TEST(less_memory_than_was_allowed_is_no_longer_enough)
        {
                _cleanup_fake_kernel_ FakeKernel *k = kernel_new(true);
                _cleanup_(controller_freep) Controller *c = fake_controller(k);
                _cleanup_(session_meta_freep) SessionMeta *m = meta("a", "udp_sendmsg", false);
                _cleanup_(admission_freep) Admission *a = NULL;

                fake_put_root(k, "proc/meminfo", "MemAvailable: 8000000 kB\n");
                a = admit(c, m);
                controller_set_memory_limit(c, (ConfigShare){ .bytes = 4096 });
                expect_refusal(k, c, m, a, REFUSAL_NO_MEMORY, "buffers");
        }
END_TEST

UNIT_SUITE("admission", what_was_admitted_is_armed_without_being_asked_again,
           an_answer_that_is_old_is_asked_for_again, who_armed_meanwhile_is_in_the_way,
           what_is_given_back_meanwhile_may_be_had, modules_that_came_or_went_are_looked_at_again,
           less_memory_than_was_allowed_is_no_longer_enough)

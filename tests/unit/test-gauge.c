/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What times of system calls say of what recording them costs, and when they are taken. */

#include "base/io.h"
#include "daemon/controller.h"
#include "daemon/gauge.h"
#include "fake-kernel.h"

/* Calls of getppid(2) take @outer_ns, and of getuid(2) @both_ns; each round a nanosecond more. */
static GaugeTimes times(uint64_t outer_ns, uint64_t both_ns) {
        GaugeTimes t;

        for (uint64_t i = 0; i < GAUGE_ROUNDS; i++) {
                t.outer[i] = (outer_ns + i) * 1000;
                t.both[i] = (both_ns + i) * 1000;
        }
        return t;
}

START_TEST(the_call_below_costs_what_is_left_of_two)
        {
                GaugeTimes quiet = times(100, 130), recorded = times(400, 680);
                Calibration c;

                ck_assert(gauge_compare(&c, &quiet, &recorded));
                ck_assert_uint_eq(c.outer_ns, 300);
                ck_assert_uint_eq(c.inner_low_ns, 250);
                ck_assert_uint_eq(c.inner_ns, 250);
                ck_assert_uint_eq(c.inner_high_ns, 250);
                ck_assert_uint_eq(c.n, 1000);
                for (size_t i = GAUGE_ROUNDS * 3 / 4; i < GAUGE_ROUNDS; i++)
                        recorded.both[i] += 40000; /* something came by */
                ck_assert(gauge_compare(&c, &quiet, &recorded));
                ck_assert_uint_eq(c.inner_ns, 250);
                ck_assert_uint_eq(c.inner_high_ns, 290);
        }
END_TEST

START_TEST(a_tracer_that_made_no_difference_was_not_measured)
        {
                const GaugeTimes quiet = times(100, 130), faster = times(90, 120),
                                 outer_alone = times(400, 430), absurd = times(400, 40000000);
                Calibration c = { .n = 7 };

                ck_assert(!gauge_compare(&c, &quiet, &quiet));
                ck_assert(!gauge_compare(&c, &quiet, &faster));
                ck_assert(!gauge_compare(&c, &quiet, &outer_alone));
                ck_assert(!gauge_compare(&c, &quiet, &absurd));
                ck_assert_uint_eq(c.n, 7);
        }
END_TEST

START_TEST(rounds_are_in_order)
        {
                GaugeTimes t;

                gauge_time(&t);
                ck_assert_uint_gt(t.outer[0], 0);
                for (size_t i = 1; i < GAUGE_ROUNDS; i++) {
                        ck_assert_uint_ge(t.outer[i], t.outer[i - 1]);
                        ck_assert_uint_ge(t.both[i], t.both[i - 1]);
                }
        }
END_TEST

/* Functions of a kernel that has @list. */
static int find(const char *list, Strv *roots, Strv *names) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        Functions f = {};
        Tracefs fs;
        int r;

        ck_assert_int_eq(dir_make(s.fd, "proc", 0700), 0);
        ck_assert_int_eq(file_replace(s.fd, "proc/modules", "", 0, 0600), 0);
        ck_assert_int_eq(file_replace(s.fd, "available_filter_functions", list, strlen(list), 0600),
                         0);
        fs = (Tracefs){ .fd = s.fd, .root_fd = s.fd };
        ck_assert_int_eq(functions_load(&f, &fs), 0);
        r = gauge_functions(&f, roots, names);
        functions_done(&f);
        return r;
}

START_TEST(system_calls_are_found_by_any_name_or_not_at_all)
        {
                static const char *const lists[] = {
                        "from_kuid_munged\n__x64_sys_getuid\n__x64_sys_getppid\nkfree\n",
                        "sys_getuid\nsys_getppid\nfrom_kuid_munged\n",
                };
                static const char *const incomplete[] = {
                        "__x64_sys_getuid\n__x64_sys_getppid\n",
                        "from_kuid_munged\n__x64_sys_getuid\n",
                        "kfree\n",
                };

                for (size_t i = 0; i < ELEMENTSOF(lists); i++) {
                        _cleanup_strv_ Strv roots = {}, names = {};

                        ck_assert_int_eq(find(lists[i], &roots, &names), 0);
                        ck_assert_uint_eq(roots.n, 2);
                        ck_assert_uint_eq(names.n, 3);
                        ck_assert(strv_contains(&names, "from_kuid_munged"));
                }
                for (size_t i = 0; i < ELEMENTSOF(incomplete); i++) {
                        _cleanup_strv_ Strv roots = {}, names = {};

                        ck_assert_int_eq(find(incomplete[i], &roots, &names), GAUGE_E_NONE);
                        ck_assert_uint_eq(names.n, 0);
                }
        }
END_TEST

/* Arms a session, ends it, and counts how often its tracer was switched on. */
static unsigned n_switched_on(FakeKernel *k, Controller *c, const char *name) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_free_ char *roots = NULL;
        unsigned n = 0;
        Tracer *t;

        strv_done(&k->log);
        ck_assert_int_eq(session_meta_new(&m), 0);
        m->name = strdup(name);
        ck_assert_int_eq(strv_add(&m->spec.functions, "udp_sendmsg"), 0);
        ck_assert_int_eq(controller_arm(c, &t, m, false, &refusal), 0);
        ck_assert(!calibration_is_set(&m->calibration)); /* nothing is ever recorded here */
        for (size_t i = 0; i < k->log.n; i++)
                n += strstr(k->log.items[i], "current_tracer function_graph") != NULL;
        roots = fake_get(k, "set_graph_function");
        ck_assert_str_eq(roots, "udp_sendmsg\n");
        ck_assert_int_eq(tracer_disarm(t), 0);
        return n;
}

START_TEST(the_cost_of_a_call_is_measured_before_the_roots_are_put_in)
        {
                for (int instances = 0; instances < 2; instances++) {
                        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(instances);
                        _cleanup_(controller_freep) Controller *c = NULL;
                        _cleanup_free_ char *before = NULL, *after = NULL;

                        fake_put(k, "set_graph_function", "tcp_sendmsg\n");
                        fake_put(k, "max_graph_depth", "3\n");
                        fake_put(k, "set_ftrace_pid", "812\n");
                        fake_put(k, "set_ftrace_filter", "vfs_read\n");
                        ck_assert_int_eq(
                                controller_new_at(&c, k->tracefs, k->ledger_fd, false, k->root_fd),
                                0);
                        ck_assert_uint_eq(n_switched_on(k, c, "without"), 1);
                        fake_put_gauge(k);
                        fake_put_root(k, "proc/modules", "");
                        before = fake_dump(k);
                        ck_assert_uint_eq(n_switched_on(k, c, "with"), 2);
                        after = fake_dump(k);
                        ck_assert_str_eq(before, after);
                }
        }
END_TEST

UNIT_MAIN("gauge", the_cost_of_a_call_is_measured_before_the_roots_are_put_in,
          the_call_below_costs_what_is_left_of_two,
          a_tracer_that_made_no_difference_was_not_measured, rounds_are_in_order,
          system_calls_are_found_by_any_name_or_not_at_all)

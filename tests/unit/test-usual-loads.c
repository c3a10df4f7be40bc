/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is left out because work that may come calls it: by the list that is shipped. */

#include "daemon/lean/lean.h"
#include "unit.h"

static char *left_out(const char *root, uint64_t budget_ppm) {
        static const char *const names[] = { "pipe_read", "read_zero", "schedule", "udp_sendmsg",
                                             "write_null" };
        _cleanup_lean_tree_ LeanTree tree = {};
        _cleanup_strv_ Strv hooked = {}, roots = {}, out = {};
        _cleanup_(ranks_done) Ranks ranks = {};

        ck_assert_int_ge(strv_add(&roots, root), 0);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                ck_assert_int_eq(lean_tree_add(&tree, names[i], true, 1000), 0);
                ck_assert_int_ge(strv_add(&hooked, names[i]), 0);
        }
        ck_assert_int_eq(thinning_rank(&ranks, &tree, &hooked, &roots), 0);
        ck_assert_int_eq(usual_loads_thin(&ranks, &roots, budget_ppm, &out), 0);
        return strv_join(&out, " ");
}

START_TEST(what_usual_work_calls_often_goes_first)
        {
                static const struct {
                        const char *root;
                        uint64_t budget_ppm;
                        const char *left_out;
                } cases[] = {
                        { "udp_sendmsg", UINT64_MAX, "" },
                        { "udp_sendmsg", 1000, "pipe_read read_zero schedule write_null" },
                        /* dd goes its way, pipes do not */
                        { "write_null", 1000, "pipe_read schedule" },
                        /* and others find nothing of it */
                        { "pipe_read", 1000, "read_zero schedule write_null" },
                };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_free_ char *text = left_out(cases[i].root, cases[i].budget_ppm);

                        ck_assert_msg(streq(text, cases[i].left_out), "%zu: %s", i, text);
                }
        }
END_TEST

UNIT_SUITE("usual-loads", what_usual_work_calls_often_goes_first)

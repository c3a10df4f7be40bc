/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "meta/gap.h"
#include "unit.h"

#define OVERRUN(c, from, to, n)                                                                    \
        (&(Gap){ .cpu = (c),                                                                       \
                 .cause = GAP_OVERRUN,                                                             \
                 .from_ns = (from),                                                                \
                 .to_ns = (to),                                                                    \
                 .n_events = (n) })

static int parse(Gaps *ret, const char *text) {
        json_auto_t *list = json_loads(text, JSON_DECODE_ANY, NULL);

        ck_assert_msg(list, "%s", text);
        return json_list_read(ret, &gap_table, list);
}

static void gaps_done(Gaps *g) {
        json_list_done(&gap_table, g);
}

TEST(causes_have_names_both_ways) {
        for (GapCause c = 0; c < _GAP_CAUSE_N; c++) {
                char text[128];
                Gaps g = {};

                (void) snprintf(text, sizeof(text), "[{\"cause\": \"%s\", \"from_ns\": 1}]",
                                gap_causes[c][0]);
                ck_assert_int_eq(parse(&g, text), 0);
                ck_assert_int_eq(g.items[0].cause, c);
                ck_assert_uint_gt(strlen(gap_cause_sentence(c)), 10);
                json_list_done(&gap_table, &g);
        }
        ck_assert_str_eq(gap_cause_sentence(_GAP_CAUSE_N), "unknown");
}

TEST(what_goes_on_is_one_gap) {
        _cleanup_(gaps_done) Gaps g = {};

        ck_assert_int_eq(gaps_add(&g, OVERRUN(0, 10, 20, 5)), 0);
        ck_assert_int_eq(gaps_add(&g, OVERRUN(1, 10, 20, 1)), 0);
        ck_assert_int_eq(gaps_add(&g, OVERRUN(0, 20, 30, 7)), 0);
        ck_assert_int_eq(gaps_add(&g, OVERRUN(0, 40, 50, 1)), 0);
        ck_assert_uint_eq(g.n, 3);
        ck_assert_uint_eq(g.items[0].from_ns, 10);
        ck_assert_uint_eq(g.items[0].to_ns, 30);
        ck_assert_uint_eq(g.items[0].n_events, 12);
        ck_assert_uint_eq(g.items[0].n_merged, 0);
}

TEST(what_was_counted_stays_counted_beside_what_was_not) {
        Gap pages = { .cause = GAP_DISK_FAILED,
                      .from_ns = 15,
                      .to_ns = 20,
                      .n_events = GAP_UNKNOWN,
                      .n_pages = 42 };
        Gap events = { .cause = GAP_DISK_FAILED, .from_ns = 10, .to_ns = 20, .n_events = 5472 };
        _cleanup_(gaps_done) Gaps g = {};

        ck_assert_int_eq(gaps_add(&g, &events), 0);
        ck_assert_int_eq(gaps_add(&g, &pages), 0);
        ck_assert_int_eq(gaps_add(&g, &pages), 0);
        ck_assert_uint_eq(g.n, 1);
        ck_assert_uint_eq(g.items[0].n_events, 5472);
        ck_assert_uint_eq(g.items[0].n_pages, 84);
        ck_assert_int_eq(gaps_add(&g, OVERRUN(1, 10, 20, GAP_UNKNOWN)), 0);
        ck_assert_int_eq(gaps_add(&g, OVERRUN(1, 10, 20, 5)), 0);
        ck_assert_int_eq(gaps_add(&g, OVERRUN(1, 15, 25, GAP_UNKNOWN)), 0);
        ck_assert_int_eq(gaps_add(&g, OVERRUN(1, 15, 25, 6)), 0);
        ck_assert_uint_eq(g.n, 3);
        ck_assert_uint_eq(g.items[1].n_events, GAP_UNKNOWN);
        ck_assert_uint_eq(g.items[2].n_events, 11);
}

TEST(beyond_the_bound_places_become_coarser_and_sums_stay_right) {
        _cleanup_(gaps_done) Gaps g = {};
        uint64_t n_events = 0, n_gaps = 0;

        for (uint64_t i = 0; i < 5 * GAPS_MAX; i++)
                ck_assert_int_eq(gaps_add(&g, OVERRUN(i % 3, 10 * i, 10 * i + 1, i)), 0);
        ck_assert_int_eq(gaps_add(&g, &(Gap){ .cpu = 7, .cause = GAP_CLEARED }), 0);
        ck_assert_int_eq(gaps_add(&g, &(Gap){ .cpu = 8, .cause = GAP_CLEARED }), 0);
        ck_assert_uint_eq(g.n, GAPS_MAX + 1);
        for (size_t i = 0; i < GAPS_MAX; i++) {
                n_events += g.items[i].n_events;
                n_gaps += g.items[i].n_merged ?: 1;
        }
        ck_assert_uint_eq(n_events, 5 * GAPS_MAX * (5 * GAPS_MAX - UINT64_C(1)) / 2);
        ck_assert_uint_eq(n_gaps, 5 * GAPS_MAX);
        ck_assert_uint_eq(g.items[GAPS_MAX - 1].to_ns, 10 * (5 * GAPS_MAX - 2) + 1);
        ck_assert_uint_eq(g.items[GAPS_MAX].cpu, GAP_ALL_CPUS);
}

TEST(an_open_gap_is_closed_by_its_cause_or_with_all) {
        _cleanup_(gaps_done) Gaps g = {};

        ck_assert_int_eq(gaps_add(&g, &(Gap){ .cpu = GAP_ALL_CPUS,
                                              .cause = GAP_TRACING_OFF,
                                              .from_ns = 50,
                                              .to_ns = GAP_OPEN }),
                         0);
        gaps_close(&g, GAP_TRACER_OFF, 60);
        ck_assert_uint_eq(g.items[0].to_ns, GAP_OPEN);
        gaps_close(&g, _GAP_CAUSE_N, 40); /* never ends before it began */
        ck_assert_uint_eq(g.items[0].to_ns, 50);
}

TEST(json_says_what_is_known_and_leaves_out_the_rest) {
        json_auto_t *list = NULL;
        _cleanup_free_ char *text = NULL;
        Gaps g = {}, again = {};

        ck_assert_int_eq(gaps_add(&g, OVERRUN(3, 10, 20, 5)), 0);
        ck_assert_int_eq(gaps_add(&g, &(Gap){ .cpu = GAP_ALL_CPUS,
                                              .cause = GAP_NO_SPACE,
                                              .from_ns = 50,
                                              .to_ns = GAP_OPEN,
                                              .n_events = GAP_UNKNOWN,
                                              .n_pages = 2 }),
                         0);
        list = json_list_new(&gap_table, &g);
        text = json_dumps(list, JSON_COMPACT);
        ck_assert_str_eq(text, "[{\"cause\":\"overrun\",\"cpu\":3,\"from_ns\":10,"
                               "\"to_ns\":20,\"events\":5},"
                               "{\"cause\":\"no_space\",\"from_ns\":50,\"pages\":2}]");
        ck_assert_int_eq(json_list_read(&again, &gap_table, list), 0);
        ck_assert_uint_eq(again.n, 2);
        ck_assert_mem_eq(&again.items[0], &g.items[0], sizeof(Gap));
        ck_assert_uint_eq(again.items[1].n_events, GAP_UNKNOWN);
        ck_assert_uint_eq(again.items[1].to_ns, GAP_OPEN);
        json_list_done(&gap_table, &g);
        json_list_done(&gap_table, &again);
}

TEST(a_strange_list_is_refused) {
        static const struct {
                const JsonTable *table;
                const char *text;
        } cases[] = {
                { &gap_table, "{}" },
                { &gap_table, "[1]" },
                { &gap_table, "[{}]" },
                { &gap_table, "[{\"cause\":\"hunger\",\"from_ns\":1}]" },
                { &gap_table, "[{\"cause\":\"overrun\"}]" },
                { &gap_table, "[{\"cause\":\"overrun\",\"from_ns\":-1}]" },
                { &gap_table, "[{\"cause\":\"overrun\",\"from_ns\":2,\"to_ns\":1}]" },
                { &gap_table, "[{\"cause\":\"overrun\",\"from_ns\":2,\"cpu\":8192}]" },
                { &condition_table, "{}" },
                { &condition_table, "[1]" },
                { &condition_table, "[{}]" },
                { &condition_table, "[{\"cause\":\"nobody\",\"reason\":\"a\"}]" },
                { &condition_table, "[{\"cause\":\"no_space\",\"since_ns\":-1}]" },
                { &condition_table, "[{\"cause\":\"no_space\",\"reason\":2}]" },
                { &condition_table, "[{\"cause\":\"no_space\"},{\"cause\":\"no_space\"}]" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                json_auto_t *list = json_loads(cases[i].text, 0, NULL);
                JsonList l = {};

                ck_assert_ptr_nonnull(list);
                ck_assert_msg(json_list_read(&l, cases[i].table, list) == JSON_FIELD_E_INVALID,
                              "%s", cases[i].text);
                json_list_done(cases[i].table, &l);
        }
}

TEST(what_lasts_keeps_its_beginning_and_takes_the_newest_reason) {
        _cleanup_(conditions_done) Conditions c = {};

        ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 100, "full"), 1);
        ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 200, "full"), 0);
        ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 300, "over quota"), 1);
        ck_assert_uint_eq(c.n, 1);
        ck_assert_uint_eq(conditions_find(&c, GAP_NO_SPACE)->since_ns, 100);
        ck_assert_str_eq(conditions_find(&c, GAP_NO_SPACE)->reason, "over quota");
}

TEST(what_is_over_is_gone_and_the_others_stay) {
        _cleanup_(conditions_done) Conditions c = {};

        ck_assert(!conditions_clear(&c, GAP_NO_SPACE));
        ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 1, "a"), 1);
        ck_assert_int_eq(conditions_set(&c, GAP_TRACING_OFF, 2, "b"), 1);
        ck_assert_int_eq(conditions_set(&c, GAP_DISK_FAILED, 3, "c"), 1);
        ck_assert(conditions_clear(&c, GAP_TRACING_OFF));
        ck_assert(!conditions_clear(&c, GAP_TRACING_OFF));
        ck_assert_ptr_null(conditions_find(&c, GAP_TRACING_OFF));
        ck_assert_str_eq(conditions_find(&c, GAP_NO_SPACE)->reason, "a");
        ck_assert_str_eq(conditions_find(&c, GAP_DISK_FAILED)->reason, "c");
}

TEST(what_is_written_is_what_is_read) {
        Conditions c = {}, again = {};
        json_t *list;

        ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 7, "a \"word\""), 1);
        ck_assert_int_eq(conditions_set(&c, GAP_DISK_FAILED, 8, "b"), 1);
        list = json_list_new(&condition_table, &c);
        ck_assert_int_eq(json_list_read(&again, &condition_table, list), 0);
        ck_assert_uint_eq(again.n, 2);
        ck_assert_uint_eq(conditions_find(&again, GAP_NO_SPACE)->since_ns, 7);
        ck_assert_str_eq(conditions_find(&again, GAP_NO_SPACE)->reason, "a \"word\"");
        ck_assert_str_eq(conditions_find(&again, GAP_DISK_FAILED)->reason, "b");
        json_decref(list);
        conditions_done(&c);
        conditions_done(&again);
}

TEST(of_too_many_the_oldest_go) {
        HookChanges h = {};

        for (uint64_t i = 0; i < HOOK_CHANGES_MAX + 3; i++)
                ck_assert_int_eq(
                        hook_changes_add(&h, &(HookChange){ .trace_ns = i, .reason = HOOK_SPARED }),
                        0);
        ck_assert_uint_eq(h.n, HOOK_CHANGES_MAX);
        ck_assert_uint_eq(h.items[0].trace_ns, 3);
        ck_assert_uint_eq(h.items[h.n - 1].trace_ns, HOOK_CHANGES_MAX + 2);
        free(h.items);
}

TEST(windows_of_our_own_work_that_touch_are_one) {
        OwnWorks w = {};

        ck_assert_int_eq(own_works_add(&w, 10, 20), 0);
        ck_assert_int_eq(own_works_add(&w, 15, 30), 0);
        ck_assert_int_eq(own_works_add(&w, 30, 31), 0);
        ck_assert_int_eq(own_works_add(&w, 40, 35), 0); /* the clock was set back */
        ck_assert_uint_eq(w.n, 2);
        ck_assert_uint_eq(w.items[0].to_ns, 31);
        ck_assert_uint_eq(w.items[1].from_ns, 40);
        ck_assert_uint_eq(w.items[1].to_ns, 40);
        free(w.items);
}

TEST(too_many_windows_of_our_own_work_still_hold_every_moment) {
        OwnWorks w = {};

        for (uint64_t i = 0; i <= OWN_WORKS_MAX; i++)
                ck_assert_int_eq(own_works_add(&w, i * 100, i * 100 + (i == 7 ? 99 : 10)), 0);
        ck_assert_uint_eq(w.n, OWN_WORKS_MAX);
        ck_assert_uint_eq(w.items[7].from_ns, 700);
        ck_assert_uint_eq(w.items[7].to_ns, 810);
        ck_assert_uint_eq(w.items[OWN_WORKS_MAX - 1].from_ns, OWN_WORKS_MAX * 100);
        free(w.items);
}

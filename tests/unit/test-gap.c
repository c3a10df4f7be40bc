/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "base/strv.h"
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

START_TEST(causes_have_names_both_ways)
        {
                for (GapCause c = 0; c < _GAP_CAUSE_N; c++) {
                        char text[128];
                        Gaps g = {};

                        (void) snprintf(text, sizeof(text), "[{\"cause\": \"%s\", \"from_ns\": 1}]",
                                        gap_cause_names[c]);
                        ck_assert_int_eq(parse(&g, text), 0);
                        ck_assert_int_eq(g.items[0].cause, c);
                        ck_assert_uint_gt(strlen(gap_cause_sentence(c)), 10);
                        json_list_done(&gap_table, &g);
                }
                ck_assert_str_eq(gap_cause_sentence(_GAP_CAUSE_N), "unknown");
        }
END_TEST

START_TEST(what_goes_on_is_one_gap)
        {
                Gaps g = {};

                ck_assert_int_eq(gaps_add(&g, OVERRUN(0, 10, 20, 5)), 0);
                ck_assert_int_eq(gaps_add(&g, OVERRUN(1, 10, 20, 1)), 0);
                ck_assert_int_eq(gaps_add(&g, OVERRUN(0, 20, 30, 7)), 0);
                ck_assert_int_eq(gaps_add(&g, OVERRUN(0, 40, 50, 1)), 0);
                ck_assert_uint_eq(g.n, 3);
                ck_assert_uint_eq(g.items[0].from_ns, 10);
                ck_assert_uint_eq(g.items[0].to_ns, 30);
                ck_assert_uint_eq(g.items[0].n_events, 12);
                ck_assert_uint_eq(g.items[0].n_merged, 0);
                json_list_done(&gap_table, &g);
        }
END_TEST

START_TEST(what_was_counted_stays_counted_beside_what_was_not)
        {
                Gap pages = { .cause = GAP_DISK_FAILED,
                              .from_ns = 15,
                              .to_ns = 20,
                              .n_events = GAP_UNKNOWN,
                              .n_pages = 42 };
                Gap events = {
                        .cause = GAP_DISK_FAILED, .from_ns = 10, .to_ns = 20, .n_events = 5472
                };
                Gaps g = {};

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
                json_list_done(&gap_table, &g);
        }
END_TEST

START_TEST(beyond_the_bound_places_become_coarser_and_sums_stay_right)
        {
                Gaps g = {};
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
                json_list_done(&gap_table, &g);
        }
END_TEST

START_TEST(an_open_gap_is_closed_by_its_cause_or_with_all)
        {
                Gaps g = {};

                ck_assert_int_eq(gaps_add(&g, &(Gap){ .cpu = GAP_ALL_CPUS,
                                                      .cause = GAP_TRACING_OFF,
                                                      .from_ns = 50,
                                                      .to_ns = GAP_OPEN }),
                                 0);
                gaps_close(&g, GAP_TRACER_OFF, 60);
                ck_assert_uint_eq(g.items[0].to_ns, GAP_OPEN);
                gaps_close(&g, _GAP_CAUSE_N, 40); /* never ends before it began */
                ck_assert_uint_eq(g.items[0].to_ns, 50);
                json_list_done(&gap_table, &g);
        }
END_TEST

START_TEST(json_says_what_is_known_and_leaves_out_the_rest)
        {
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
END_TEST

START_TEST(a_strange_list_is_refused)
        {
                static const char *const texts[] = {
                        "{}",
                        "[1]",
                        "[{}]",
                        "[{\"cause\":\"hunger\",\"from_ns\":1}]",
                        "[{\"cause\":\"overrun\"}]",
                        "[{\"cause\":\"overrun\",\"from_ns\":-1}]",
                        "[{\"cause\":\"overrun\",\"from_ns\":2,\"to_ns\":1}]",
                        "[{\"cause\":\"overrun\",\"from_ns\":2,\"cpu\":8192}]",
                };

                for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                        Gaps g = {};

                        ck_assert_msg(parse(&g, texts[i]) == JSON_FIELD_E_INVALID, "%s", texts[i]);
                        json_list_done(&gap_table, &g);
                }
        }
END_TEST

START_TEST(a_condition_keeps_its_beginning)
        {
                Conditions c = {};

                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 5, "full"), 1);
                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 6, "full"), 0);
                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 7, "over quota"), 1);
                ck_assert_int_eq(conditions_set(&c, GAP_TRACING_OFF, 8, "off"), 1);
                ck_assert_uint_eq(conditions_find(&c, GAP_NO_SPACE)->since_ns, 5);
                ck_assert_str_eq(conditions_find(&c, GAP_NO_SPACE)->reason, "over quota");
                ck_assert(conditions_clear(&c, GAP_NO_SPACE));
                ck_assert(!conditions_clear(&c, GAP_NO_SPACE));
                ck_assert_uint_eq(c.n, 1);
                ck_assert_uint_eq(c.items[0].since_ns, 8);
                conditions_done(&c);
        }
END_TEST

START_TEST(conditions_survive_json_and_strange_ones_are_refused)
        {
                static const char *const texts[] = {
                        "{}",
                        "[{}]",
                        "[{\"cause\":\"overrun\",\"reason\":1}]",
                        "[{\"cause\":\"overrun\"},{\"cause\":\"overrun\"}]",
                };
                json_auto_t *list = NULL;
                Conditions c = {}, again = {};

                ck_assert_int_eq(conditions_set(&c, GAP_DISK_FAILED, 5, "it failed"), 1);
                list = json_list_new(&condition_table, &c);
                ck_assert_int_eq(json_list_read(&again, &condition_table, list), 0);
                ck_assert_uint_eq(again.n, 1);
                ck_assert_str_eq(again.items[0].reason, "it failed");
                ck_assert_uint_eq(again.items[0].since_ns, 5);
                ck_assert_int_eq(again.items[0].cause, GAP_DISK_FAILED);
                conditions_done(&c);
                conditions_done(&again);

                for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                        json_auto_t *bad = json_loads(texts[i], 0, NULL);
                        Conditions d = {};

                        ck_assert_msg(json_list_read(&d, &condition_table, bad) ==
                                              JSON_FIELD_E_INVALID,
                                      "%s", texts[i]);
                        conditions_done(&d);
                }
        }
END_TEST

UNIT_SUITE("gap", causes_have_names_both_ways, what_goes_on_is_one_gap,
           what_was_counted_stays_counted_beside_what_was_not,
           beyond_the_bound_places_become_coarser_and_sums_stay_right,
           an_open_gap_is_closed_by_its_cause_or_with_all,
           json_says_what_is_known_and_leaves_out_the_rest, a_strange_list_is_refused,
           a_condition_keeps_its_beginning, conditions_survive_json_and_strange_ones_are_refused)

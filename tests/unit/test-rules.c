/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "cli/options/rules.h"
#include "cli/options/status.h"
#include "tests/unit/unit.h"

#define _cleanup_rules_ _cleanup_(rules_done)

static void on(Rules *r, const char *trigger) {
        ck_assert_int_eq(rules_add_on(r, trigger), 0);
}

static void act(Rules *r, const char *action) {
        ck_assert_int_eq(rules_add_do(r, action), 0);
}

START_TEST(a_trigger_starts_unless_said)
        {
                _cleanup_rules_ Rules r = {};

                on(&r, "signal");
                ck_assert_int_eq(rules_finish(&r, false), 0);
                ck_assert_uint_eq(r.items.n, 1);
                ck_assert_str_eq(r.items.items[0], "start signal");
                ck_assert_int_eq(rules_check(&r.items), STATUS_OK);
        }
END_TEST

START_TEST(of_a_ring_it_makes_a_snapshot)
        {
                _cleanup_rules_ Rules r = {};

                on(&r, "function:x");
                ck_assert_int_eq(rules_finish(&r, true), 0);
                ck_assert_str_eq(r.items.items[0], "snapshot function:x");
        }
END_TEST

START_TEST(several_actions_are_one_rule)
        {
                _cleanup_rules_ Rules r = {};

                on(&r, "event:a:b:x == 1");
                act(&r, "start");
                act(&r, "stop:10s");
                ck_assert_int_eq(rules_finish(&r, false), 0);
                ck_assert_str_eq(r.items.items[0], "start,stop:10s event:a:b:x == 1");
                ck_assert_int_eq(rules_check(&r.items), STATUS_OK);
        }
END_TEST

START_TEST(an_action_is_for_the_triggers_since_the_last_one)
        {
                _cleanup_rules_ Rules r = {};

                on(&r, "signal");
                on(&r, "command");
                act(&r, "start");
                on(&r, "in:1min");
                act(&r, "stop");
                on(&r, "at:02:00");
                ck_assert_int_eq(rules_finish(&r, false), 0);
                ck_assert_uint_eq(r.items.n, 4);
                ck_assert_str_eq(r.items.items[0], "start signal");
                ck_assert_str_eq(r.items.items[1], "start command");
                ck_assert_str_eq(r.items.items[2], "stop in:1min");
                ck_assert_str_eq(r.items.items[3], "start at:02:00");
        }
END_TEST

START_TEST(an_action_alone_waits_for_a_command)
        {
                _cleanup_rules_ Rules r = {};

                act(&r, "start");
                act(&r, "stop:1s");
                ck_assert_str_eq(r.items.items[0], "start,stop:1s command");
        }
END_TEST

START_TEST(what_makes_no_sense_is_a_wrong_usage)
        {
                _cleanup_rules_ Rules r = {}, many = {};

                on(&r, "sunrise");
                ck_assert_int_eq(rules_finish(&r, false), 0);
                ck_assert_int_eq(rules_check(&r.items), STATUS_USAGE);
                for (int i = 0; i < 9; i++)
                        on(&many, "signal");
                ck_assert_int_eq(rules_finish(&many, false), 0);
                ck_assert_int_eq(rules_check(&many.items), STATUS_USAGE);
        }
END_TEST

UNIT_SUITE("rules", a_trigger_starts_unless_said, of_a_ring_it_makes_a_snapshot,
           several_actions_are_one_rule, an_action_is_for_the_triggers_since_the_last_one,
           an_action_alone_waits_for_a_command, what_makes_no_sense_is_a_wrong_usage)

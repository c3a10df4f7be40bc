/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/unit.h"
#include "meta/spec.h"
#include "meta/trigger.h"
#include "tests/unit/unit.h"

static void parses(Trigger *ret, const char *rule) {
        char why[TRIGGER_WHY_MAX] = "";

        ck_assert_msg(trigger_parse(ret, rule, why) == 0, "%s: %s", rule, why);
}

TEST(every_kind_of_trigger_is_read) {
        static const struct {
                const char *rule;
                TriggerKind kind;
                uint64_t value;
        } cases[] = {
                { "start command", TRIGGER_COMMAND, 0 },
                { "start signal", TRIGGER_SIGNAL, 0 },
                { "start function:udp_sendmsg", TRIGGER_FUNCTION, 0 },
                { "start event:sched:sched_switch", TRIGGER_EVENT, 0 },
                { "start return:udp_sendmsg", TRIGGER_RETURN, 0 },
                { "stop return:udp_sendmsg:ret<0", TRIGGER_RETURN, 0 },
                { "snapshot slower:5ms", TRIGGER_SLOWER, 5 * NSEC_PER_MSEC },
                { "start count:100", TRIGGER_COUNT, 100 },
                { "start at:02:30", TRIGGER_AT, 9000 },
                { "start at:23:59:59", TRIGGER_AT, 86399 },
                { "start at:@1767225600.5", TRIGGER_AT, UINT64_C(1767225600500000000) },
                { "start at:@0", TRIGGER_AT, 0 },
                { "start in:10min", TRIGGER_IN, 600 * NSEC_PER_SEC },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_trigger_ Trigger t = {};

                parses(&t, cases[i].rule);
                ck_assert_int_eq(t.kind, cases[i].kind);
                ck_assert_uint_eq(t.value, cases[i].value);
        }
}

TEST(an_event_keeps_the_colons_and_spaces_of_its_filter) {
        _cleanup_trigger_ Trigger t = {};

        parses(&t, "start event:sched:sched_switch:prev_comm == \"a:b, c\"");
        ck_assert_str_eq(t.system, "sched");
        ck_assert_str_eq(t.name, "sched_switch");
        ck_assert_str_eq(t.filter, "prev_comm == \"a:b, c\"");
}

TEST(actions_have_their_own_delays) {
        _cleanup_trigger_ Trigger t = {};

        parses(&t, "start,stop:10s,snapshot:50ms function:x");
        ck_assert(t.does[TRIGGER_START] && t.does[TRIGGER_STOP] && t.does[TRIGGER_SNAPSHOT]);
        ck_assert_uint_eq(t.delay_ns[TRIGGER_START], 0);
        ck_assert_uint_eq(t.delay_ns[TRIGGER_STOP], 10 * NSEC_PER_SEC);
        ck_assert_uint_eq(t.delay_ns[TRIGGER_SNAPSHOT], 50 * NSEC_PER_MSEC);
        ck_assert(trigger_is_capture(&t));
}

TEST(a_stop_alone_is_no_capture) {
        _cleanup_trigger_ Trigger t = {};

        parses(&t, "stop function:x");
        ck_assert(!trigger_is_capture(&t));
}

TEST(what_is_wrong_is_quoted) {
        static const char *const cases[][2] = {
                { "start", "a rule says" },
                { "begin command", "\"begin\"" },
                { "start:1s command", "\"start\" takes no time" },
                { "stop:soon command", "\"soon\" is not a time" },
                { "start,start command", "twice" },
                { "start, command", "\"\" is not one of" },
                { "start sunrise", "\"sunrise\" is not a trigger" },
                { "start command:now", "\":now\"" },
                { "start function:", "\"\" is not the name" },
                { "start function:udp_*", "\"udp_*\" is not the name of one function" },
                { "start function:a b", "\"a b\"" },
                { "start event:sched", "\"sched\" is not SYSTEM:NAME" },
                { "start event:..:enable", "is not SYSTEM:NAME" },
                { "start event:a/b:c", "is not SYSTEM:NAME" },
                { "start event:a:b:", "is not SYSTEM:NAME" },
                { "start return:a:", "\"\" is empty" },
                { "start event:a:b:x==1\ny", "is not SYSTEM:NAME" },
                { "start return:a:ret==1\ny", "not one line" },
                { "start slower:0", "\"0\" is not a time" },
                { "start count:-1", "\"-1\" is not a number" },
                { "start at:24:00", "\"24:00\" is not a time of the day" },
                { "start at:2:30", "\"2:30\"" },
                { "start at:02:30:60", "\"02:30:60\"" },
                { "start at:@", "\"@\" is not a moment" },
                { "start at:@1.", "\"@1.\" is not a moment" },
                { "start at:@-1", "is not a moment" },
                { "start at:@1x", "is not a moment" },
                { "start at:@99999999999", "is not a moment" },
                { "start in:", "\"\" is not a time" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_trigger_ Trigger t = {};
                char why[TRIGGER_WHY_MAX] = "";

                ck_assert_int_eq(trigger_parse(&t, cases[i][0], why), TRIGGER_E_INVALID);
                ck_assert_msg(strstr(why, cases[i][1]), "%s: %s", cases[i][0], why);
                ck_assert(!trigger_rule_is_valid(cases[i][0]));
        }
}

TEST(a_moment_is_read_as_it_was_written) {
        static const uint64_t moments[] = { 0, 1, 999999999, UINT64_C(1767225600000000001) };
        char text[TRIGGER_MOMENT_MAX];
        uint64_t read;

        for (size_t i = 0; i < ELEMENTSOF(moments); i++) {
                ck_assert_int_eq(trigger_read_moment(trigger_write_moment(text, moments[i]), &read),
                                 0);
                ck_assert_uint_eq(read, moments[i]);
        }
        ck_assert_int_eq(trigger_read_moment("@1.0000000019", &read), 0);
        ck_assert_uint_eq(read, NSEC_PER_SEC + 1);
}

TEST(a_rule_shows_its_two_sides) {
        ck_assert_str_eq(trigger_rule_on("start,stop event:a:b:x == 1"), "event:a:b:x == 1");
        ck_assert_int_eq(trigger_rule_n_do("start,stop event:a:b"), 10);
}

#define S NSEC_PER_SEC
#define NOW (1000000 * S)

static uint64_t wait_of(const Captures *c, const Spec *caps, uint64_t now_ns) {
        return captures_wait(c, caps->max_captures, caps->max_captures_a_day, caps->min_gap_ns,
                             now_ns);
}

TEST(without_caps_there_is_no_wait) {
        Captures c = {};

        for (uint64_t i = 0; i < 2 * CAPTURES_MAX_A_DAY; i++)
                ck_assert_int_eq(captures_note(&c, NOW + i), 0);
        ck_assert_uint_eq(wait_of(&c, &(Spec){}, NOW + 3000), 0);
        ck_assert_uint_eq(c.n, 2 * CAPTURES_MAX_A_DAY);
        ck_assert_uint_eq(c.n_times, CAPTURES_MAX_A_DAY);
        json_fields_done(&captures_table, &c);
}

TEST(after_the_last_there_is_none) {
        Spec caps = { .max_captures = 2 };
        Captures c = {};

        ck_assert_int_eq(captures_note(&c, NOW), 0);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW), 0);
        ck_assert_int_eq(captures_note(&c, NOW), 0);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW + 2 * CAPTURES_DAY_NS), UINT64_MAX);
        json_fields_done(&captures_table, &c);
}

TEST(the_gap_is_from_the_last_one) {
        Spec caps = { .min_gap_ns = 10 * S };
        Captures c = {};

        ck_assert_uint_eq(wait_of(&c, &caps, NOW), 0);
        ck_assert_int_eq(captures_note(&c, NOW - 60 * S), 0);
        ck_assert_int_eq(captures_note(&c, NOW), 0);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW + 4 * S), 6 * S);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW + 10 * S), 0);
        json_fields_done(&captures_table, &c);
}

TEST(a_day_is_any_24_hours) {
        Spec caps = { .max_captures_a_day = 2 };
        Captures c = {};

        ck_assert_int_eq(captures_note(&c, NOW), 0);
        ck_assert_int_eq(captures_note(&c, NOW + 3600 * S), 0);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW + 7200 * S), CAPTURES_DAY_NS - 7200 * S);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW + CAPTURES_DAY_NS), 0);
        ck_assert_int_eq(captures_note(&c, NOW + CAPTURES_DAY_NS), 0);
        ck_assert_uint_eq(c.n_times, 2);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW + CAPTURES_DAY_NS), 3600 * S);
        json_fields_done(&captures_table, &c);
}

TEST(a_clock_that_is_set_back_does_not_shut_it_for_longer) {
        Spec caps = { .min_gap_ns = 10 * S };
        Captures c = {};

        ck_assert_int_eq(captures_note(&c, NOW), 0);
        ck_assert_uint_eq(wait_of(&c, &caps, NOW - 5000 * S), 10 * S);
        json_fields_done(&captures_table, &c);
}

TEST(what_is_written_is_read) {
        Captures c = {}, back = {};
        json_t *o;

        for (unsigned i = 0; i < 2; i++)
                ck_assert(ARRAY_ADD(c.triggers, c.n_triggers, (TriggerCount){ 3 * i, 40 * i, i * NOW }));
        ck_assert_int_eq(captures_note(&c, NOW), 0);
        ck_assert_int_eq(captures_note(&c, NOW + 1), 0);
        o = json_struct_new(&captures_table, &c);
        ck_assert_int_eq(json_struct_read(&back, &captures_table, o), 0);
        ck_assert_uint_eq(back.n, 2);
        ck_assert_uint_eq(back.n_times, 2);
        ck_assert_mem_eq(c.times_ns, back.times_ns, 2 * sizeof(*c.times_ns));
        ck_assert_uint_eq(back.n_triggers, 2);
        ck_assert_mem_eq(c.triggers, back.triggers, 2 * sizeof(*c.triggers));
        json_fields_done(&captures_table, &c);
        json_fields_done(&captures_table, &back);
        json_decref(o);
}

TEST(what_is_no_captures_is_refused) {
        static const char *const bad[] = {
                "[]",
                "{\"n\": -1, \"times_ns\": [], \"triggers\": []}",
                "{\"n\": 1, \"times_ns\": [\"x\"], \"triggers\": []}",
                "{\"n\": 1, \"times_ns\": [], \"triggers\": [1]}",
                "{\"n\": 1, \"times_ns\": [], \"triggers\": [{},{},{},{},{},{},{},{},{}]}",
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                json_t *o = json_loads(bad[i], 0, NULL);
                Captures c = {};

                ck_assert_int_eq(json_struct_read(&c, &captures_table, o), JSON_FIELD_E_INVALID);
                json_fields_done(&captures_table, &c);
                json_decref(o);
        }
}

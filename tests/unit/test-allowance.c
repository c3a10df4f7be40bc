/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/allowance.h"
#include "tests/unit/unit.h"

static Strv words(const char *text) {
        Strv v = {};

        ck_assert_int_ge(strv_split(&v, text, " "), 0);
        return v;
}

START_TEST(a_pattern_is_covered_only_if_all_it_can_stand_for_is)
        {
                static const struct {
                        const char *allowed, *pattern;
                        bool covered;
                } cases[] = {
                        { "udp_*", "udp_sendmsg", true },
                        { "udp_*", "udp_s*", true },
                        { "udp_*", "udp_*", true },
                        { "udp_*", "ud*", false },
                        { "udp_*", "*", false },
                        { "*", "*", true },
                        { "*", "*lock*", true },
                        { "udp_?endmsg", "udp_sendmsg", true },
                        { "udp_?endmsg", "udp_*endmsg", false },
                        { "udp_?endmsg", "udp_[!s]endmsg", false },
                        { "udp_?endmsg", "udp_?endmsg", true },
                        { "*_sendmsg", "udp_sendmsg", true },
                        { "*_sendmsg", "u*_sendmsg", false },
                        { "vfs_read", "vfs_reads", false },
                        { "vfs_read", "vfs_rea?", false },
                        { "tcp_* vfs_read", "vfs_read", true },
                        { "vfs_*_x*", "vfs_a*", false },
                        { "", "vfs_read", false },
                };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_strv_ Strv allowed = words(cases[i].allowed);

                        ck_assert_msg(allowance_covers(&allowed, cases[i].pattern) ==
                                              cases[i].covered,
                                      "\"%s\" allows \"%s\": %i", cases[i].allowed,
                                      cases[i].pattern, !cases[i].covered);
                }
        }
END_TEST

START_TEST(what_a_profile_says_is_not_asked_for)
        {
                json_t *given = json_pack("{s:[s], s:i}", "functions", "vfs_read", "depth", 3);

                ck_assert_uint_eq(allowance_asked(given, false), ALLOWANCE_ALL);
                ck_assert_uint_eq(allowance_asked(given, true),
                                  ALLOWANCE_FUNCTIONS | ALLOWANCE_DEPTH);
                ck_assert_uint_eq(allowance_asked(NULL, true), 0);
                json_decref(given);
        }
END_TEST

START_TEST(functions_and_events_that_are_not_allowed_are_refused_by_name)
        {
                _cleanup_strv_ Strv functions = words("udp_*"), events = words("sched:*");
                _cleanup_refusal_ Refusal refusal = {};
                _cleanup_spec_ Spec spec = SPEC_INIT;
                Limits l = { .member_functions = &functions, .member_events = &events };

                spec.functions = words("udp_sendmsg vfs_read");
                spec.events = words("sched:sched_switch:prev_pid==1 irq:irq_handler_entry");
                ck_assert_int_eq(allowance_check(&l, &spec, 0, &refusal), 0);
                ck_assert_int_eq(allowance_check(&l, &spec, ALLOWANCE_FUNCTIONS, &refusal),
                                 REFUSED);
                ck_assert_int_eq(refusal.kind, REFUSAL_PERMISSION_DENIED);
                ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "vfs_read"));
                ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "udp_*"));
                ck_assert_int_eq(allowance_check(&l, &spec, ALLOWANCE_EVENTS, &refusal), REFUSED);
                ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "irq:irq_handler_entry"));
                l.member_functions = NULL;
                ck_assert_int_eq(allowance_check(&l, &spec, ALLOWANCE_FUNCTIONS, &refusal), 0);
        }
END_TEST

START_TEST(too_much_becomes_as_much_as_is_allowed)
        {
                _cleanup_strv_ Strv warnings = {};
                _cleanup_spec_ Spec spec = SPEC_INIT;
                AllowanceUse use = { .stored_bytes = 700 };
                Limits l = { .member = { .max_depth = 5,
                                         .max_duration_ns = 100,
                                         .max_bytes = 400,
                                         .max_stored_bytes = 1000 } };

                spec.depth = 3;
                spec.duration_ns = 0;
                spec.max_bytes = 5000;
                ck_assert_int_eq(allowance_narrow(&l, &use, ALLOWANCE_ALL, &spec, &warnings), 0);
                ck_assert_uint_eq(spec.depth, 3);
                ck_assert_uint_eq(spec.duration_ns, 100);
                ck_assert_uint_eq(spec.max_bytes, 300); /* what is left of his share */
                ck_assert_uint_eq(warnings.n, 3);

                /* A profile's own limits stand, but the share of the disk is one for all. */
                spec.depth = 9;
                spec.duration_ns = 0;
                spec.max_bytes = 0;
                ck_assert_int_eq(allowance_narrow(&l, &use, 0, &spec, &warnings), 0);
                ck_assert_uint_eq(spec.depth, 9);
                ck_assert_uint_eq(spec.duration_ns, 0);
                ck_assert_uint_eq(spec.max_bytes, 300);
        }
END_TEST

START_TEST(who_has_enough_gets_no_more)
        {
                _cleanup_refusal_ Refusal refusal = {};
                Limits l = { .member = { .max_sessions = 2, .max_stored_bytes = 1000 } };

                ck_assert_int_eq(allowance_admit(&l, &(AllowanceUse){ 1, 999 }, &refusal), 0);
                ck_assert_int_eq(allowance_admit(&l, &(AllowanceUse){ 2, 0 }, &refusal), REFUSED);
                ck_assert_int_eq(refusal.kind, REFUSAL_QUOTA_EXCEEDED);
                ck_assert_str_eq(json_string_value(json_object_get(refusal.parameters, "quota")),
                                 "MaxSessions");
                ck_assert_int_eq(allowance_admit(&l, &(AllowanceUse){ 0, 1000 }, &refusal),
                                 REFUSED);
                ck_assert_str_eq(json_string_value(json_object_get(refusal.parameters, "quota")),
                                 "MaxStored");
                l.member = (MemberLimits){};
                ck_assert_int_eq(allowance_admit(&l, &(AllowanceUse){ 99, 99999 }, &refusal), 0);
        }
END_TEST

UNIT_MAIN("allowance", a_pattern_is_covered_only_if_all_it_can_stand_for_is,
          what_a_profile_says_is_not_asked_for,
          functions_and_events_that_are_not_allowed_are_refused_by_name,
          too_much_becomes_as_much_as_is_allowed, who_has_enough_gets_no_more)

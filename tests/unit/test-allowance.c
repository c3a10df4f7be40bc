/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stddef.h>

#include "daemon/api/allowance.h"
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

static unsigned ask(const char *given, bool has_profile) {
        _cleanup_refusal_ Refusal refusal = {};
        json_t *o = json_loads(given, 0, NULL);
        unsigned asked = 0;

        ck_assert_ptr_nonnull(o);
        ck_assert_int_eq(allowance_ask(&asked, o, has_profile, &refusal), 0);
        json_decref(o);
        return asked;
}

START_TEST(what_a_profile_says_is_not_asked_for)
        {
                _cleanup_refusal_ Refusal refusal = {};
                unsigned asked = 1;

                ck_assert_uint_eq(ask("{\"functions\": [\"vfs_read\"], \"depth\": 3}", false),
                                  ALLOWANCE_ALL);
                ck_assert_uint_eq(ask("{\"functions\": [\"vfs_read\"], \"max_bytes\": 3}", true),
                                  ALLOWANCE_FUNCTIONS | ALLOWANCE_SIZE);
                ck_assert_uint_eq(ask("{\"lean\": \"auto\"}", true), 0);
                ck_assert_int_eq(allowance_ask(&asked, NULL, true, &refusal), 0);
                ck_assert_uint_eq(asked, 0);
        }
END_TEST

START_TEST(who_changes_what_is_seen_of_a_profile_is_asked_for_all_of_it)
        {
                const unsigned names = ALLOWANCE_FUNCTIONS | ALLOWANCE_EVENTS | ALLOWANCE_TRIGGERS;

                ck_assert_uint_eq(ask("{\"comms\": []}", true), names);
                ck_assert_uint_eq(ask("{\"triggers\": []}", true), names);
                ck_assert_uint_eq(ask("{\"args\": true}", true), names);
                ck_assert_uint_eq(ask("{\"notrace\": []}", true), names | ALLOWANCE_NOTRACE);
                ck_assert_uint_eq(ask("{\"hooked\": []}", true), names | ALLOWANCE_HOOKED);
                ck_assert_uint_eq(ask("{\"depth\": 0}", true), names | ALLOWANCE_DEPTH);
        }
END_TEST

START_TEST(every_member_of_a_spec_has_an_answer)
        {
                for (size_t i = 0; spec_member(i); i++) {
                        _cleanup_refusal_ Refusal refusal = {};
                        json_t *o = json_pack("{s:n}", spec_member(i));
                        unsigned asked;

                        ck_assert_msg(allowance_ask(&asked, o, true, &refusal) == 0,
                                      "nobody has decided what a member may say of '%s': "
                                      "daemon/api/allowance.c has a table",
                                      spec_member(i));
                        json_decref(o);
                }
        }
END_TEST

START_TEST(a_member_of_a_spec_without_an_answer_is_refused_by_name)
        {
                for (int has_profile = 0; has_profile < 2; has_profile++) {
                        _cleanup_refusal_ Refusal refusal = {};
                        json_t *o = json_pack("{s:[s], s:b}", "functions", "vfs_read",
                                              "reads_minds", 1);
                        unsigned asked;

                        ck_assert_int_eq(allowance_ask(&asked, o, has_profile, &refusal), REFUSED);
                        ck_assert_int_eq(refusal.kind, REFUSAL_PERMISSION_DENIED);
                        ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "reads_minds"));
                        json_decref(o);
                }
        }
END_TEST

/* One list of a spec has @word in it. */
static int check_one(size_t offset, const char *word, char **ret_message) {
        _cleanup_strv_ Strv functions = words("udp_*"),
                            events = words("sched:* syscalls:sys_enter_openat");
        Limits l = { .member_functions = &functions, .member_events = &events };
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_spec_ Spec spec = SPEC_INIT;
        Strv *list = (void *) ((char *) &spec + offset);
        int r;

        spec.functions = words("udp_sendmsg");
        ck_assert_int_ge(strv_add(list, word), 0);
        r = allowance_check(&l, &spec, ALLOWANCE_ALL, &refusal);
        *ret_message = strdup(r == REFUSED ? refusal_message(&refusal) : "");
        ck_assert(r == 0 || refusal.kind == REFUSAL_PERMISSION_DENIED);
        return r;
}

START_TEST(a_name_is_looked_at_wherever_it_stands)
        {
                static const struct {
                        size_t offset;
                        const char *good, *bad;
                        const char *named; /* in the refusal */
                } cases[] = {
                        { offsetof(Spec, functions), "udp_rcv", "do_unlinkat",
                          "record the function 'do_" },
                        { offsetof(Spec, notrace), "udp_rcv", "ip_*",
                          "leave out the function 'ip_*'" },
                        { offsetof(Spec, hooked), "udp_r*", "*", "choose the function '*'" },
                        { offsetof(Spec, events), "sched:sched_switch:prev_pid==1",
                          "irq:irq_handler_entry", "record the event 'irq:irq_handler_entry'" },
                        { offsetof(Spec, events), "sched:x:a==1", "sched:x:a.ustring ~ \"p*\"",
                          "'sched:x' by what is in memory" },
                        { offsetof(Spec, events), "syscalls:sys_enter_openat:flags==1",
                          "syscalls:sys_enter_openat:filename ~ \"root:*\"",
                          "'syscalls:sys_enter_openat' by what is in memory" },
                        { offsetof(Spec, triggers), "start event:syscalls:sys_enter_openat:flags>1",
                          "start event:syscalls:sys_enter_openat:filename=='root:'",
                          "'syscalls:sys_enter_openat' by what is in memory" },
                        { offsetof(Spec, triggers), "start function:udp_rcv",
                          "start function:do_unlinkat", "wait for the function 'do_unlinkat'" },
                        { offsetof(Spec, triggers), "stop:1s function:udp_rcv",
                          "stop:1s function:do_unlinkat", "wait for the function 'do_unlinkat'" },
                        { offsetof(Spec, triggers), "snapshot event:sched:sched_process_exec:pid>1",
                          "snapshot event:syscalls:sys_enter_open:flags==1",
                          "wait for the event 'syscalls:sys_enter_open'" },
                        { offsetof(Spec, triggers), "start event:sched:x",
                          "start event:sched:x:filename.ustring~\"*passwd*\"",
                          "'sched:x' by what is in memory" },
                        { offsetof(Spec, triggers), "start,stop:1s slower:5ms", "start nonsense",
                          "wait for 'nonsense'" },
                        { offsetof(Spec, triggers), "start count:10", "start function:udp_*",
                          "wait for 'function:udp_*'" },
                        { offsetof(Spec, pids), "1", NULL, NULL },
                        { offsetof(Spec, comms), "passwd", NULL, NULL },
                        { offsetof(Spec, cgroups), "/", NULL, NULL },
                };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_free_ char *good = NULL, *bad = NULL;

                        ck_assert_msg(check_one(cases[i].offset, cases[i].good, &good) == 0,
                                      "%s: %s", cases[i].good, good);
                        if (!cases[i].bad)
                                continue;
                        ck_assert_msg(check_one(cases[i].offset, cases[i].bad, &bad) == REFUSED,
                                      "%s is allowed", cases[i].bad);
                        ck_assert_msg(strstr(bad, cases[i].named), "%s: %s", cases[i].bad, bad);
                }
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

START_TEST(what_is_new_counts_before_it_is_there)
        {
                static const struct {
                        uint64_t stored, new;
                        bool fits;
                } cases[] = {
                        { 0, 1000, true },   { 0, 1001, false },         { 900, 100, true },
                        { 900, 101, false }, { 999, UINT64_MAX, false }, { 1001, 0, false },
                };
                Limits l = { .member = { .max_stored_bytes = 1000 } };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_refusal_ Refusal refusal = {};
                        AllowanceUse use = { .stored_bytes = cases[i].stored,
                                             .new_bytes = cases[i].new };

                        ck_assert_msg(allowance_admit(&l, &use, &refusal) ==
                                              (cases[i].fits ? 0 : REFUSED),
                                      "%zu", i);
                }
        }
END_TEST

START_TEST(who_has_no_room_left_is_never_given_all)
        {
                static const uint64_t stored[] = { 0, 999, 1000, 5000 };
                Limits l = { .member = { .max_stored_bytes = 1000 } };

                for (size_t i = 0; i < ELEMENTSOF(stored); i++) {
                        _cleanup_strv_ Strv warnings = {};
                        _cleanup_spec_ Spec spec = SPEC_INIT;
                        AllowanceUse use = { .stored_bytes = stored[i], .new_bytes = 500 };

                        ck_assert_int_eq(allowance_narrow(&l, &use, 0, &spec, &warnings), 0);
                        ck_assert_uint_eq(spec.max_bytes, i == 0 ? 500 : 1);
                }
        }
END_TEST

START_TEST(what_the_buffers_hold_is_part_of_what_is_left)
        {
                _cleanup_strv_ Strv warnings = {};
                _cleanup_spec_ Spec spec = SPEC_INIT;
                AllowanceUse use = { .n_cpus = 4 };
                Limits l = { .member = { .max_stored_bytes = 8 << 20 } };

                ck_assert_int_eq(allowance_narrow(&l, &use, 0, &spec, &warnings), 0);
                ck_assert_uint_eq(spec.buffer_bytes, 1 << 20);
                ck_assert_uint_eq(spec.max_bytes, 4 << 20);
                ck_assert_uint_eq(warnings.n, 2);
        }
END_TEST

START_TEST(members_pin_half_of_the_store_at_most)
        {
                _cleanup_refusal_ Refusal refusal = {};
                Limits l = { .max_use_bytes = 1000 };

                ck_assert_int_eq(allowance_admit_pin(&l, 500, &refusal), 0);
                ck_assert_int_eq(allowance_admit_pin(&l, 501, &refusal), REFUSED);
                l.max_use_bytes = 0;
                ck_assert_int_eq(allowance_admit_pin(&l, UINT64_MAX, &refusal), 0);
        }
END_TEST

UNIT_SUITE("allowance", what_is_new_counts_before_it_is_there,
           who_has_no_room_left_is_never_given_all, what_the_buffers_hold_is_part_of_what_is_left,
           members_pin_half_of_the_store_at_most,
           a_pattern_is_covered_only_if_all_it_can_stand_for_is,
           what_a_profile_says_is_not_asked_for,
           who_changes_what_is_seen_of_a_profile_is_asked_for_all_of_it,
           every_member_of_a_spec_has_an_answer,
           a_member_of_a_spec_without_an_answer_is_refused_by_name,
           a_name_is_looked_at_wherever_it_stands,
           functions_and_events_that_are_not_allowed_are_refused_by_name,
           too_much_becomes_as_much_as_is_allowed, who_has_enough_gets_no_more)

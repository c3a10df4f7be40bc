/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/api/api.h"
#include "tests/unit/unit.h"

static Strv words(const char *text) {
        Strv v = {};

        ck_assert_int_ge(strv_split(&v, text, " "), 0);
        return v;
}

TEST(a_pattern_is_covered_only_if_all_it_can_stand_for_is) {
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

                ck_assert_msg(allowance_covers(&allowed, cases[i].pattern) == cases[i].covered,
                              "\"%s\" allows \"%s\": %i", cases[i].allowed, cases[i].pattern,
                              !cases[i].covered);
        }
}

static unsigned ask(const char *given, bool has_profile) {
        _cleanup_refusal_ Refusal refusal = {};
        json_t *o = json_loads(given, 0, NULL);
        unsigned asked = 0;

        ck_assert_ptr_nonnull(o);
        ck_assert_int_eq(allowance_ask(&asked, o, has_profile, &refusal), 0);
        json_decref(o);
        return asked;
}

TEST(what_a_profile_says_is_asked_for_if_a_call_changes_what_is_seen_of_it) {
        const unsigned names = SPEC_ASKS_FUNCTIONS | SPEC_ASKS_EVENTS | SPEC_ASKS_TRIGGERS;
        const struct {
                const char *given;
                bool has_profile;
                unsigned asked;
        } cases[] = {
                { "{\"functions\": [\"vfs_read\"], \"depth\": 3}", false, SPEC_ASKS_ALL },
                { "{\"functions\": [\"vfs_read\"], \"max_bytes\": 3}", true, SPEC_ASKS_FUNCTIONS },
                { "{\"lean\": \"auto\"}", true, 0 },
                { "{}", true, 0 },
                { "{\"comms\": []}", true, names },
                { "{\"triggers\": []}", true, names },
                { "{\"args\": true}", true, names },
                { "{\"notrace\": []}", true, names | SPEC_ASKS_NOTRACE },
                { "{\"hooked\": []}", true, names | SPEC_ASKS_HOOKED },
                { "{\"depth\": 0}", true, names },
                { "{\"black_box\": true}", true, names },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_msg(ask(cases[i].given, cases[i].has_profile) == cases[i].asked, "%s",
                              cases[i].given);
}

TEST(what_no_spec_has_is_refused_by_name) {
        for (int has_profile = 0; has_profile < 2; has_profile++) {
                _cleanup_refusal_ Refusal refusal = {};
                json_t *o = json_pack("{s:[s], s:b}", "functions", "vfs_read", "reads_minds", 1);
                unsigned asked;

                ck_assert_int_eq(allowance_ask(&asked, o, has_profile, &refusal), REFUSED);
                ck_assert_int_eq(refusal.kind, REFUSAL_PERMISSION_DENIED);
                ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "reads_minds"));
                json_decref(o);
        }
}

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
        r = allowance_check(&l, &spec, SPEC_ASKS_ALL, &refusal);
        *ret_message = strdup(r == REFUSED ? refusal_message(&refusal) : "");
        ck_assert(r == 0 || refusal.kind == REFUSAL_PERMISSION_DENIED);
        return r;
}

TEST(a_name_is_looked_at_wherever_it_stands) {
        static const struct {
                size_t offset;
                const char *good, *bad;
                const char *named; /* in the refusal */
        } cases[] = {
                { offsetof(Spec, functions), "udp_rcv", "do_unlinkat",
                  "record the function \"do_" },
                { offsetof(Spec, notrace), "udp_rcv", "ip_*", "leave out the function \"ip_*\"" },
                { offsetof(Spec, hooked), "udp_r*", "*", "choose the function \"*\"" },
                { offsetof(Spec, events), "sched:sched_switch:prev_pid==1", "irq:irq_handler_entry",
                  "record the event \"irq:irq_handler_entry\"" },
                { offsetof(Spec, events), "sched:x:a==1", "sched:x:a.ustring ~ \"p*\"",
                  "\"sched:x\" by what is in memory" },
                { offsetof(Spec, events), "syscalls:sys_enter_openat:flags==1",
                  "syscalls:sys_enter_openat:filename ~ \"root:*\"",
                  "\"syscalls:sys_enter_openat\" by what is in memory" },
                { offsetof(Spec, triggers), "start event:syscalls:sys_enter_openat:flags>1",
                  "start event:syscalls:sys_enter_openat:filename=='root:'",
                  "\"syscalls:sys_enter_openat\" by what is in memory" },
                { offsetof(Spec, triggers), "start function:udp_rcv", "start function:do_unlinkat",
                  "wait for the function \"do_unlinkat\"" },
                { offsetof(Spec, triggers), "stop:1s function:udp_rcv",
                  "stop:1s function:do_unlinkat", "wait for the function \"do_unlinkat\"" },
                { offsetof(Spec, triggers), "snapshot event:sched:sched_process_exec:pid>1",
                  "snapshot event:syscalls:sys_enter_open:flags==1",
                  "wait for the event \"syscalls:sys_enter_open\"" },
                { offsetof(Spec, triggers), "start event:sched:x",
                  "start event:sched:x:filename.ustring~\"*passwd*\"",
                  "\"sched:x\" by what is in memory" },
                { offsetof(Spec, triggers), "start,stop:1s slower:5ms", "start nonsense",
                  "wait for \"nonsense\"" },
                { offsetof(Spec, triggers), "start count:10", "start function:udp_*",
                  "wait for \"function:udp_*\"" },
                { offsetof(Spec, pids), "1", NULL, NULL },
                { offsetof(Spec, comms), "passwd", NULL, NULL },
                { offsetof(Spec, cgroups), "/", NULL, NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *good = NULL, *bad = NULL;

                ck_assert_msg(check_one(cases[i].offset, cases[i].good, &good) == 0, "%s: %s",
                              cases[i].good, good);
                if (!cases[i].bad)
                        continue;
                ck_assert_msg(check_one(cases[i].offset, cases[i].bad, &bad) == REFUSED,
                              "%s is allowed", cases[i].bad);
                ck_assert_msg(strstr(bad, cases[i].named), "%s: %s", cases[i].bad, bad);
        }
}

TEST(what_a_black_box_brings_along_is_looked_at) {
        json_auto_t *o = json_pack("{s:[s], s:b}", "functions", "udp_sendmsg", "black_box", 1);
        _cleanup_strv_ Strv functions = words("udp_*"), events = words("sched:* printk:console");
        Limits l = { .member_functions = &functions };
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_spec_ Spec spec = {};
        const char *field;

        ck_assert_int_eq(spec_from_json(&spec, o, &field), 0);
        ck_assert_int_eq(allowance_check(&l, &spec, SPEC_ASKS_ALL, &refusal), REFUSED);
        ck_assert_ptr_nonnull(strstr(refusal_message(&refusal),
                                     "a black box record the event \"printk:console\""));
        l.member_events = &events;
        ck_assert_int_eq(allowance_check(&l, &spec, SPEC_ASKS_ALL, &refusal), 0);
}

TEST(what_is_not_asked_for_is_not_looked_at) {
        _cleanup_strv_ Strv functions = words("udp_*");
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_spec_ Spec spec = SPEC_INIT;
        Limits l = { .member_functions = &functions };

        spec.functions = words("udp_sendmsg vfs_read");
        spec.events = words("irq:irq_handler_entry");
        ck_assert_int_eq(allowance_check(&l, &spec, 0, &refusal), 0);
        ck_assert_int_eq(allowance_check(&l, &spec, SPEC_ASKS_FUNCTIONS, &refusal), REFUSED);
        l.member_functions = NULL;
        ck_assert_int_eq(allowance_check(&l, &spec, SPEC_ASKS_FUNCTIONS, &refusal), 0);
}

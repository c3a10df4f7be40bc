/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "base/unit.h"
#include "cli/files/files.h"
#include "unit.h"

static void say_at(LastWords *w, uint64_t seconds, const char *text) {
        last_words_step(w, &(Step){ .kind = STEP_OTHER,
                                    .text = text,
                                    .timestamp_ns = seconds * NSEC_PER_SEC });
}

static void say(LastWords *w, const char *text) {
        say_at(w, 100, text);
}

static void expect(const LastWords *w, const char *part) {
        _cleanup_strv_ Strv notes = {};

        ck_assert_int_eq(last_words_note(w, &notes), 0);
        ck_assert_uint_eq(notes.n, 1);
        ck_assert_msg(strstr(notes.items[0], part), "%s", notes.items[0]);
}

START_TEST(a_panic_is_told_whatever_is_said_around_it)
        {
                LastWords w = {};

                say(&w, "console: BUG: kernel NULL pointer dereference, address: 0000000000000000");
                say(&w, "console: Oops: 0002 [#1] PREEMPT SMP NOPTI");
                say(&w, "console: Kernel panic - not syncing: Fatal exception in interrupt");
                say(&w, "console: watchdog: BUG: soft lockup - CPU#1 stuck for 26s!");
                say(&w, "console:  </TASK>");
                expect(&w, "by a panic: \"Kernel panic - not syncing: Fatal exception in "
                           "interrupt\", after \"BUG: "
                           "kernel NULL pointer dereference, address: 0000000000000000\"");
        }
END_TEST

START_TEST(the_last_of_several_ends_counts)
        {
                LastWords w = {};

                say(&w, "console: BUG: unable to handle page fault for address: ffff888000000000");
                say(&w, "console: reboot: Restarting system");
                expect(&w, "by a reboot");
        }
END_TEST

START_TEST(a_fault_that_was_survived_is_no_end)
        {
                LastWords w = {};

                say_at(&w, 100, "console: Oops: invalid opcode: 0000 [#1] PREEMPT SMP NOPTI");
                say_at(&w, 400, "console: usb 1-1: new device");
                expect(&w, "the kernel said nothing of it");
                expect(&w, "5min before, it said \"Oops: invalid opcode");
                say_at(&w, 401, "console: Kernel panic - not syncing: sysrq triggered crash");
                expect(&w, "by a panic: \"Kernel panic - not syncing: sysrq triggered crash\"");
                ck_assert_ptr_null(strstr(w.text, "Oops"));
        }
END_TEST

START_TEST(a_lockup_is_told_as_one)
        {
                LastWords w = {};

                say(&w, "console: watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [insmod:9]");
                expect(&w, "by a lockup");
        }
END_TEST

START_TEST(what_others_say_is_no_end)
        {
                LastWords w = {};

                say(&w, "Kernel panic - not syncing: written to trace_marker");
                say(&w, NULL);
                last_words_step(
                        &w, &(Step){ .kind = STEP_ENTER, .text = "console: reboot: Power down" });
                expect(&w, "the kernel said nothing of it");
        }
END_TEST

START_TEST(a_long_message_is_cut)
        {
                char text[2000];
                LastWords w = {};

                memset(text, 'x', sizeof(text));
                text[sizeof(text) - 1] = 0;
                memcpy(text, "console: Oops: ", 15);
                say(&w, text);
                ck_assert_uint_lt(strlen(w.text), LAST_WORDS_MAX);
        }
END_TEST

START_TEST(only_what_was_rescued_has_any)
        {
                char name[] = "blackbox-28e1c1f0-11f4-4a2b-9d1c-9f0b54b4c6d1", origin[] = "box";
                SessionMeta m = { .name = name,
                                  .origin = origin,
                                  .boot_id = name + strlen("blackbox-") };

                ck_assert(!last_words_are_due(&m));
                m.spec.black_box = true;
                ck_assert(last_words_are_due(&m));
                m.boot_id = origin;
                ck_assert(!last_words_are_due(&m));
                m.boot_id = name + strlen("blackbox-");
                m.origin = NULL;
                ck_assert(!last_words_are_due(&m));
        }
END_TEST

UNIT_SUITE("last-words", a_panic_is_told_whatever_is_said_around_it,
           the_last_of_several_ends_counts, a_fault_that_was_survived_is_no_end,
           a_lockup_is_told_as_one, what_others_say_is_no_end, a_long_message_is_cut,
           only_what_was_rescued_has_any)

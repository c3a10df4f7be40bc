/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "base/unit.h"
#include "cli/files/files.h"
#include "unit.h"

static void say(LastWords *w, uint64_t seconds, const char *text) {
        last_words_step(w, &(Step){ .kind = STEP_OTHER,
                                    .text = text,
                                    .timestamp_ns = seconds * NSEC_PER_SEC });
}

static void expect(const LastWords *w, const char *part) {
        _cleanup_strv_ Strv notes = {};

        ck_assert_int_eq(last_words_note(w, &notes), 0);
        ck_assert_uint_eq(notes.n, 1);
        ck_assert_msg(strstr(notes.items[0], part), "%s", notes.items[0]);
}

TEST(the_last_message_that_tells_of_an_end_tells_of_it) {
        static const struct {
                const char *said[5], *part;
        } cases[] = {
                { { "BUG: kernel NULL pointer dereference, address: 0000000000000000",
                    "Oops: 0002 [#1] PREEMPT SMP NOPTI",
                    "Kernel panic - not syncing: Fatal exception in interrupt",
                    "watchdog: BUG: soft lockup - CPU#1 stuck for 26s!", " </TASK>" },
                  "by a panic: \"Kernel panic - not syncing: Fatal exception in "
                  "interrupt\", after \"BUG: "
                  "kernel NULL pointer dereference, address: 0000000000000000\"" },
                { { "BUG: unable to handle page fault for address: ffff888000000000",
                    "reboot: Restarting system" },
                  "by a reboot" },
                { { "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [insmod:9]" },
                  "by a lockup" },
                { {}, "without a message of the kernel" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                LastWords w = {};

                for (size_t k = 0; k < 5 && cases[i].said[k]; k++) {
                        char text[200];

                        (void) snprintf(text, sizeof(text), "console: %s", cases[i].said[k]);
                        say(&w, 100, text);
                }
                expect(&w, cases[i].part);
        }
}

TEST(a_fault_that_was_survived_is_no_end) {
        LastWords w = {};

        say(&w, 100, "console: Oops: invalid opcode: 0000 [#1] PREEMPT SMP NOPTI");
        say(&w, 400, "console: usb 1-1: new device");
        expect(&w, "without a message of the kernel");
        expect(&w, "5min before, it said \"Oops: invalid opcode");
        say(&w, 401, "console: Kernel panic - not syncing: sysrq triggered crash");
        expect(&w, "by a panic: \"Kernel panic - not syncing: sysrq triggered crash\"");
        ck_assert_ptr_null(strstr(w.text, "Oops"));
}

TEST(what_others_say_is_no_end_and_what_is_long_is_cut) {
        char text[2000];
        LastWords w = {};

        say(&w, 100, "Kernel panic - not syncing: written to trace_marker");
        say(&w, 100, NULL);
        last_words_step(&w, &(Step){ .kind = STEP_ENTER, .text = "console: reboot: Power down" });
        expect(&w, "without a message of the kernel");
        memset(text, 'x', sizeof(text));
        text[sizeof(text) - 1] = 0;
        memcpy(text, "console: Oops: ", 15);
        say(&w, 100, text);
        ck_assert_uint_lt(strlen(w.text), LAST_WORDS_MAX);
}

TEST(only_what_was_rescued_has_any) {
        char name[] = "blackbox-28e1c1f0-11f4-4a2b-9d1c-9f0b54b4c6d1", origin[] = "box";
        SessionMeta m = { .name = name, .origin = origin, .boot_id = name + strlen("blackbox-") };

        ck_assert(!last_words_are_due(&m));
        m.spec.black_box = true;
        ck_assert(last_words_are_due(&m));
        m.boot_id = origin;
        ck_assert(!last_words_are_due(&m));
        m.boot_id = name + strlen("blackbox-");
        m.origin = NULL;
        ck_assert(!last_words_are_due(&m));
}

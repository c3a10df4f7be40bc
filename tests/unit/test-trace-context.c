/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/stacks.h"
#include "step-builder.h"
#include "unit.h"

#define TRACE_A "0af7651916cd43dd8448eb211c80319c"
#define TRACE_B "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "b7ad6b7169203331"
#define PARENT_A "traceparent=00-" TRACE_A "-" SPAN "-01"
#define PARENT_B "traceparent=00-" TRACE_B "-" SPAN "-00"

#define HIGH_A UINT64_C(0x0af7651916cd43dd)
#define LOW_A UINT64_C(0x8448eb211c80319c)

typedef enum Result { BEGINS, ENDS, SILENT } Result;

/* What begins is @high of. */
static void expect_text(const char *text, Result wanted, uint64_t high) {
        Step s = step_of(STEP_OTHER, NULL, 0);
        TraceContext c = {};

        s.text = text;
        ck_assert_msg(trace_context_is_said(&s) == (wanted != SILENT), "\"%s\"", text);
        if (wanted == SILENT)
                return;
        c = trace_context_of(&s);
        ck_assert_msg(trace_context_is_set(&c) == (wanted == BEGINS), "\"%s\"", text);
        ck_assert_uint_eq(c.high, high);
}

TEST(a_traceparent_is_read_wherever_it_stands) {
        expect_text(PARENT_A, BEGINS, HIGH_A);
        expect_text("GET /x " PARENT_A " begins", BEGINS, HIGH_A);
        expect_text("GET /x;" PARENT_A ";", BEGINS, HIGH_A);
        expect_text("request: (0x401136) traceparent=\"00-" TRACE_A "-" SPAN "-01\"", BEGINS,
                    HIGH_A);
        expect_text(PARENT_A " " PARENT_B, BEGINS, HIGH_A);
        expect_text("X-" PARENT_B " " PARENT_A, BEGINS, HIGH_A);
        expect_text("traceparent=01-" TRACE_A "-" SPAN "-01-more", BEGINS, HIGH_A);
}

TEST(an_empty_one_ends_the_context) {
        expect_text("traceparent=", ENDS, 0);
        expect_text("traceparent=-", ENDS, 0);
        expect_text("done traceparent=- x", ENDS, 0);
        expect_text("request: traceparent=\"\"", ENDS, 0);
}

TEST(what_is_not_by_the_letter_is_no_context) {
        static const char *const wrong[] = {
                ("00-" TRACE_A "-" SPAN),
                ("00-" TRACE_A "-" SPAN "-"),
                ("00-" TRACE_A "-" SPAN "-0"),
                ("00-" TRACE_A "-" SPAN "-011"),
                ("00-" TRACE_A "-" SPAN "-01-more"),
                ("ff-" TRACE_A "-" SPAN "-01"),
                ("0-" TRACE_A "-" SPAN "-01"),
                ("00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01"),
                ("00-00000000000000000000000000000000-" SPAN "-01"),
                ("00-" TRACE_A "-0000000000000000-01"),
                ("00_" TRACE_A "-" SPAN "-01"),
                (" 00-" TRACE_A "-" SPAN "-01"),
                ("00-" TRACE_A),
                "0",
        };

        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                char text[128];

                (void) snprintf(text, sizeof(text), "traceparent=%s", wrong[i]);
                expect_text(text, ENDS, 0);
        }
}

TEST(other_words_and_names_of_tasks_say_nothing) {
        expect_text("", SILENT, 0);
        expect_text("traceparent", SILENT, 0);
        expect_text("x_" PARENT_A, SILENT, 0);
        expect_text("sched_switch: prev_comm=traceparent=- prev_pid=7", SILENT, 0);
        expect_text("sched_switch: prev_comm=x prev_pid=7 ==> next_comm=a traceparent= next",
                    SILENT, 0);
}

TEST(all_digits_of_an_id_count) {
        Step s = step_of(STEP_OTHER, NULL, 0);
        TraceContext c;

        s.text = PARENT_A;
        c = trace_context_of(&s);
        ck_assert_uint_eq(c.high, HIGH_A);
        ck_assert_uint_eq(c.low, LOW_A);
        s.text = "traceparent=00-0000000000000000000000000000000a-" SPAN "-01";
        c = trace_context_of(&s);
        ck_assert_uint_eq(c.high, 0);
        ck_assert_uint_eq(c.low, 10);
}

static bool is_said(const char *text, uint8_t flags, uint8_t preempt_count) {
        Step s = step_of(STEP_OTHER, NULL, 0);

        s.text = text;
        s.flags = flags;
        s.preempt_count = preempt_count;
        return trace_context_is_said(&s);
}

TEST(an_exit_ends_it_and_an_interrupt_says_nothing) {
        expect_text("sched_process_exit: comm=client pid=7 prio=120", ENDS, 0);
        ck_assert(!is_said("traceparent=-", 0x08, 0));
        ck_assert(!is_said(PARENT_B, 0x10, 0));
}

TEST(a_uprobe_counts_although_its_flags_look_like_an_interrupts) {
        ck_assert(is_said("request: (5555555556d0) traceparent=\"00-" TRACE_A "-" SPAN "-01\"",
                          0xff, 0xff));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/trace-context.h"
#include "step-builder.h"
#include "unit.h"

#define TRACE_A "0af7651916cd43dd8448eb211c80319c"
#define TRACE_B "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "b7ad6b7169203331"
#define PARENT_A "traceparent=00-" TRACE_A "-" SPAN "-01"
#define PARENT_B "traceparent=00-" TRACE_B "-" SPAN "-00"

static void expect_text(const char *text, int result, const char *trace_id) {
        TraceContext c = { .trace_id = "untouched" };

        ck_assert_msg(trace_context_parse(&c, text) == result, "\"%s\"", text);
        if (result != 0) {
                ck_assert_str_eq(c.trace_id, "untouched");
                return;
        }
        ck_assert_str_eq(c.trace_id, trace_id);
}

TEST(a_traceparent_is_read_wherever_it_stands) {
        expect_text(PARENT_A, 0, TRACE_A);
        expect_text("GET /x " PARENT_A " begins", 0, TRACE_A);
        expect_text("GET /x;" PARENT_A ";", 0, TRACE_A);
        expect_text("request: (0x401136) traceparent=\"00-" TRACE_A "-" SPAN "-01\"", 0, TRACE_A);
        expect_text(PARENT_A " " PARENT_B, 0, TRACE_A);
        expect_text("X-" PARENT_B " " PARENT_A, 0, TRACE_A);
        expect_text("traceparent=01-" TRACE_A "-" SPAN "-01-more", 0, TRACE_A);
}

TEST(an_empty_one_ends_the_context) {
        expect_text("traceparent=", TRACE_CONTEXT_E_ENDS, NULL);
        expect_text("traceparent=-", TRACE_CONTEXT_E_ENDS, NULL);
        expect_text("done traceparent=- x", TRACE_CONTEXT_E_ENDS, NULL);
        expect_text("request: traceparent=\"\"", TRACE_CONTEXT_E_ENDS, NULL);
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
                expect_text(text, TRACE_CONTEXT_E_ENDS, NULL);
        }
}

TEST(other_words_and_names_of_tasks_say_nothing) {
        expect_text("", TRACE_CONTEXT_E_SILENT, NULL);
        expect_text("traceparent", TRACE_CONTEXT_E_SILENT, NULL);
        expect_text("x_" PARENT_A, TRACE_CONTEXT_E_SILENT, NULL);
        expect_text("sched_switch: prev_comm=traceparent=- prev_pid=7", TRACE_CONTEXT_E_SILENT,
                    NULL);
        expect_text("sched_switch: prev_comm=x prev_pid=7 ==> next_comm=a traceparent= next",
                    TRACE_CONTEXT_E_SILENT, NULL);
}

static TraceContexts *contexts;

static void say_as(int32_t pid, uint64_t at_ns, const char *text, uint8_t flags) {
        Step s = step_of(STEP_OTHER, NULL, 0);

        s.pid = pid;
        s.timestamp_ns = at_ns;
        s.text = text;
        s.flags = flags;
        ck_assert_int_eq(trace_contexts_step(contexts, &s), 0);
}

static void say(int32_t pid, uint64_t at_ns, const char *text) {
        say_as(pid, at_ns, text, 0);
}

/* @trace_id: NULL: none. */
static void expect(int64_t key, uint64_t at_ns, const char *trace_id) {
        const TraceContext *c = trace_contexts_find(contexts, key, at_ns);

        ck_assert_str_eq(c ? c->trace_id : "none", trace_id ?: "none");
}

static void setup(void) {
        ck_assert_int_eq(trace_contexts_new(&contexts), 0);
}

static void teardown(void) {
        contexts = trace_contexts_free(contexts);
}

TEST(a_context_holds_for_its_task_until_another_one_or_an_end) {
        setup();
        say(7, 100, PARENT_A);
        say(8, 150, PARENT_B);
        say(7, 200, PARENT_B);
        say(7, 300, "traceparent=-");
        say(7, 400, "a marker of something else");
        expect(7, 99, NULL);
        expect(7, 100, TRACE_A);
        expect(7, 199, TRACE_A);
        expect(8, 400, TRACE_B);
        expect(9, 400, NULL);
        expect(7, 250, TRACE_B);
        expect(7, 300, NULL);
        expect(7, 500, NULL);
        teardown();
}

static void lose(uint32_t cpu, uint64_t at_ns) {
        Step s = step_of(STEP_LOST, NULL, 0);

        s.cpu = cpu;
        s.timestamp_ns = at_ns;
        ck_assert_int_eq(trace_contexts_step(contexts, &s), 0);
}

TEST(a_context_does_not_outlive_a_loss_in_which_it_may_have_ended) {
        setup();
        lose(0, 50);
        say(7, 100, PARENT_A);
        say(8, 100, PARENT_B);
        lose(1, 200);
        lose(0, 200);
        say(7, 300, PARENT_B);
        lose(0, 400);
        expect(7, 199, TRACE_A);
        expect(7, 200, NULL);
        expect(8, 199, TRACE_B);
        expect(8, 250, NULL);
        expect(7, 300, TRACE_B);
        expect(7, 399, TRACE_B);
        expect(7, 401, NULL);
        expect(8, 500, NULL);
        say(8, 600, PARENT_A);
        expect(8, 700, TRACE_A);
        teardown();
}

TEST(a_broken_one_and_an_exit_end_it_and_an_interrupt_does_not) {
        setup();
        say(7, 100, PARENT_A);
        say_as(7, 110, "traceparent=-", 0x08);
        say_as(7, 120, PARENT_B, 0x10);
        expect(7, 130, TRACE_A);
        say(7, 140, "traceparent=00-x");
        expect(7, 150, NULL);
        say(7, 160, PARENT_A);
        expect(7, 170, TRACE_A);
        say(7, 180, "sched_process_exit: comm=client pid=7 prio=120");
        expect(7, 190, NULL);
        teardown();
}

TEST(a_uprobe_counts_although_its_flags_look_like_an_interrupts) {
        Step s = step_of(STEP_OTHER, NULL, 0);

        setup();
        s.pid = 7;
        s.timestamp_ns = 100;
        s.text = "request: (5555555556d0) traceparent=\"00-" TRACE_A "-" SPAN "-01\"";
        s.flags = s.preempt_count = 0xff;
        ck_assert_int_eq(trace_contexts_step(contexts, &s), 0);
        expect(7, 100, TRACE_A);
        teardown();
}

TEST(an_idle_task_is_another_one_on_each_cpu_and_a_task_may_get_its_name_later) {
        Step named = step_of(STEP_TASK, NULL, 0);

        setup();
        named.cpu = 3;
        named.pid = 42;
        say(STEP_PID_UNKNOWN(3), 100, PARENT_A);
        ck_assert_int_eq(trace_contexts_step(contexts, &named), 0);
        expect(42, 110, TRACE_A);
        expect(STEP_PID_UNKNOWN(3), 110, NULL);
        teardown();
}

TEST(memory_is_bounded_and_what_was_forgotten_is_none) {
        setup();
        say(8, 1, PARENT_B);
        for (uint64_t i = 1; i <= 4 * TRACE_CONTEXTS_MAX; i++)
                say(7, i, PARENT_A);
        expect(7, 1, NULL);
        expect(7, 4 * TRACE_CONTEXTS_MAX, TRACE_A);
        expect(8, 4 * TRACE_CONTEXTS_MAX, TRACE_B);
        teardown();
}

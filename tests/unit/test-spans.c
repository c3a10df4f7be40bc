/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "export/spans.h"
#include "step-builder.h"
#include "unit.h"

typedef struct Seen {
        Spans *spans;
        Pairing *pairing;
        char text[512]; /* "+root 100", "-root 200" ... */
        size_t n_tasks;
} Seen;

static int note(void *userdata, const Span *span, bool begins) {
        Seen *seen = userdata;
        size_t n = strlen(seen->text);

        (void) snprintf(seen->text + n, sizeof(seen->text) - n, "%s%c%.*s %llu", n > 0 ? ", " : "",
                        begins ? '+' : '-', (int) span->function->n_name, span->function->label,
                        (unsigned long long) (begins ? span->start_ns : span->end_ns));
        return 0;
}

static int note_spans(void *userdata, const SpansTask *task, Span *spans, size_t n) {
        Seen *seen = userdata;

        seen->n_tasks = MAX(seen->n_tasks, task->index + 1);
        return spans_walk(spans, n, note, seen);
}

static int pass_call(void *userdata, const Call *call) {
        return spans_call(((Seen *) userdata)->spans, call);
}

static void seen_init(Seen *seen) {
        *seen = (Seen){};
        ck_assert_int_eq(pairing_new(&seen->pairing), 0);
        ck_assert_int_eq(spans_new(&seen->spans, note_spans, seen), 0);
        pairing_add_sink(seen->pairing, NULL, pass_call, seen);
}

static void seen_done(Seen *seen) {
        spans_free(seen->spans);
        pairing_free(seen->pairing);
}

/* The local clock is 1000 ns behind the trace clock, and an entry's record is made a little later
 * than its clock reading. */
static void call(Seen *seen, StepKind kind, const Function *f, int32_t depth, uint64_t timestamp_ns,
                 uint64_t calltime, uint64_t rettime) {
        Step s = step_of(kind, f, depth);

        s.timestamp_ns = timestamp_ns;
        s.calltime = calltime;
        s.rettime = rettime;
        ck_assert_int_eq(pairing_step(seen->pairing, &s), 0);
}

START_TEST(spans_have_exactly_the_durations_of_calls)
        {
                _cleanup_(seen_done) Seen seen;

                seen_init(&seen);
                call(&seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
                call(&seen, STEP_LEAF, &step_child, 1, 2017, 1010, 1040);
                call(&seen, STEP_LEAF, &step_module, 1, 2055, 1045, 1099);
                ck_assert_str_eq(seen.text, "");
                call(&seen, STEP_LEAVE, &step_root, 0, 2109, 1000, 1100);
                ck_assert_str_eq(seen.text, "+root 2000, +child 2010, -child 2040, +leaf 2045, "
                                            "-leaf 2099, -root 2100");
        }
END_TEST

START_TEST(an_interrupt_before_a_late_return_follows_the_call)
        {
                _cleanup_(seen_done) Seen seen;

                seen_init(&seen);
                call(&seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
                call(&seen, STEP_ENTER, &step_child, 1, 2010, 1010, 0);
                call(&seen, STEP_ENTER, &step_irq, 1, 2050, 1050, 0);
                call(&seen, STEP_LEAF, &step_module, 2, 2055, 1055, 1060);
                call(&seen, STEP_LEAVE, &step_irq, 1, 2070, 1050, 1070);
                call(&seen, STEP_LEAVE, &step_child, 1, 2080, 1010, 1040);
                call(&seen, STEP_LEAVE, &step_root, 0, 2100, 1000, 1100);
                ck_assert_str_eq(seen.text, "+root 2000, +child 2010, -child 2040, +tick 2050, "
                                            "+leaf 2055, -leaf 2060, -tick 2070, -root 2100");
        }
END_TEST

START_TEST(what_began_after_its_caller_had_ended_is_not_in_it)
        {
                _cleanup_(seen_done) Seen seen;

                seen_init(&seen);
                call(&seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
                call(&seen, STEP_ENTER, &step_child, 1, 2010, 1010, 0);
                call(&seen, STEP_LEAF, &step_irq, 2, 2050, 1050, 1095);
                call(&seen, STEP_LEAVE, &step_child, 1, 2097, 1010, 1040);
                call(&seen, STEP_LEAVE, &step_root, 0, 2100, 1000, 1100);
                ck_assert_str_eq(seen.text, "+root 2000, +child 2010, -child 2040, +tick 2050, "
                                            "-tick 2095, -root 2100");
        }
END_TEST

START_TEST(a_caller_whose_reading_was_moved_by_sleep_contains_its_calls)
        {
                _cleanup_(seen_done) Seen seen;

                seen_init(&seen);
                call(&seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
                call(&seen, STEP_ENTER, &step_child, 1, 2005, 1005, 0);
                call(&seen, STEP_LEAF, &step_module, 2, 2010, 1010, 1020);
                call(&seen, STEP_LEAVE, &step_child, 1, 2090, 1060, 1090);
                call(&seen, STEP_LEAVE, &step_root, 0, 2100, 1000, 1100);
                ck_assert_str_eq(seen.text, "+root 2000, +child 2010, +leaf 2010, -leaf 2020, "
                                            "-child 2090, -root 2100");
        }
END_TEST

START_TEST(what_is_cut_off_ends_with_the_recording)
        {
                _cleanup_(seen_done) Seen seen;

                seen_init(&seen);
                call(&seen, STEP_ENTER, &step_root, 0, 2000, 0, 0);
                call(&seen, STEP_LEAF, &step_child, 1, 2010, 1010, 1040);
                ck_assert_int_eq(pairing_finish(seen.pairing), 0);
                ck_assert_str_eq(seen.text, "+root 2000, +child 2010, -child 2040, -root 2040");
        }
END_TEST

START_TEST(tasks_are_told_apart_by_the_hundred)
        {
                _cleanup_(seen_done) Seen seen;

                seen_init(&seen);
                for (int32_t pid = 1; pid <= 300; pid++) {
                        Step s = step_enter(&step_root, 0);

                        s.pid = pid;
                        ck_assert_int_eq(pairing_step(seen.pairing, &s), 0);
                }
                ck_assert_int_eq(pairing_finish(seen.pairing), 0);
                ck_assert_uint_eq(seen.n_tasks, 300);
        }
END_TEST

UNIT_MAIN("spans", spans_have_exactly_the_durations_of_calls,
          an_interrupt_before_a_late_return_follows_the_call,
          what_began_after_its_caller_had_ended_is_not_in_it,
          a_caller_whose_reading_was_moved_by_sleep_contains_its_calls,
          what_is_cut_off_ends_with_the_recording, tasks_are_told_apart_by_the_hundred)

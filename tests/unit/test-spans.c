/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/pairing.h"
#include "step-builder.h"
#include "unit.h"

typedef struct Seen {
        Pairing *pairing;
        char text[512]; /* "+root 100", "-root 200" ... */
} Seen;

static int note(Seen *seen, char sign, const Frame *span, uint64_t at_ns) {
        size_t n = strlen(seen->text);

        (void) snprintf(seen->text + n, sizeof(seen->text) - n, "%s%c%.*s %llu", n > 0 ? ", " : "",
                        sign, (int) span->function->n_name, span->function->label,
                        (unsigned long long) at_ns);
        return 0;
}

static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        (void) stack;
        (void) caller;
        return note(userdata, '+', frame, frame->begin_ns);
}

static int end(void *userdata, const Call *call) {
        return note(userdata, '-', call->frame, call->frame->end_ns);
}

static void seen_init(Seen *seen) {
        *seen = (Seen){};
        ck_assert_int_eq(pairing_new(&seen->pairing), 0);
        pairing_add_sink(seen->pairing, begin, end, seen);
        seen->pairing->places = true;
}

static void seen_done(Seen *seen) {
        pairing_free(seen->pairing);
}

#define SEEN_TEST(name)                                                                            \
        TEST_WITH(name, (Seen * seen), _cleanup_(seen_done) Seen seen; seen_init(&seen), &seen)

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

SEEN_TEST(spans_have_exactly_the_durations_of_calls) {
        call(seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
        call(seen, STEP_LEAF, &step_child, 1, 2017, 1010, 1040);
        call(seen, STEP_LEAF, &step_module, 1, 2055, 1045, 1099);
        ck_assert_str_eq(seen->text, "");
        call(seen, STEP_LEAVE, &step_root, 0, 2109, 1000, 1100);
        ck_assert_str_eq(seen->text, "+root 2000, +child 2010, -child 2040, +leaf 2045, "
                                     "-leaf 2099, -root 2100");
}

SEEN_TEST(an_interrupt_before_a_late_return_follows_the_call) {
        call(seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
        call(seen, STEP_ENTER, &step_child, 1, 2010, 1010, 0);
        call(seen, STEP_ENTER, &step_irq, 1, 2050, 1050, 0);
        call(seen, STEP_LEAF, &step_module, 2, 2055, 1055, 1060);
        call(seen, STEP_LEAVE, &step_irq, 1, 2070, 1050, 1070);
        call(seen, STEP_LEAVE, &step_child, 1, 2080, 1010, 1040);
        call(seen, STEP_LEAVE, &step_root, 0, 2100, 1000, 1100);
        ck_assert_str_eq(seen->text, "+root 2000, +child 2010, -child 2040, +tick 2050, "
                                     "+leaf 2055, -leaf 2060, -tick 2070, -root 2100");
}

SEEN_TEST(what_began_after_its_caller_had_ended_is_not_in_it) {
        call(seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
        call(seen, STEP_ENTER, &step_child, 1, 2010, 1010, 0);
        call(seen, STEP_LEAF, &step_irq, 2, 2050, 1050, 1095);
        call(seen, STEP_LEAVE, &step_child, 1, 2097, 1010, 1040);
        call(seen, STEP_LEAVE, &step_root, 0, 2100, 1000, 1100);
        ck_assert_str_eq(seen->text, "+root 2000, +child 2010, -child 2040, +tick 2050, "
                                     "-tick 2095, -root 2100");
}

SEEN_TEST(a_caller_whose_reading_was_moved_by_sleep_took_what_it_says) {
        call(seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
        call(seen, STEP_ENTER, &step_child, 1, 2005, 1005, 0);
        call(seen, STEP_LEAF, &step_module, 2, 2010, 1010, 1020);
        call(seen, STEP_LEAVE, &step_child, 1, 2090, 1060, 1090);
        call(seen, STEP_LEAVE, &step_root, 0, 2100, 1000, 1100);
        ck_assert_str_eq(seen->text, "+root 2000, +child 2060, +leaf 2060, -leaf 2070, "
                                     "-child 2090, -root 2100");
}

SEEN_TEST(what_is_cut_off_ends_with_the_recording) {
        call(seen, STEP_ENTER, &step_root, 0, 2000, 0, 0);
        call(seen, STEP_LEAF, &step_child, 1, 2010, 1010, 1040);
        ck_assert_int_eq(pairing_finish(seen->pairing), 0);
        ck_assert_str_eq(seen->text, "+root 2000, +child 2010, -child 2040, -root 2040");
}

/* Two calls of depth 0, and what the later of them calls.  Of the first one's time nothing was seen. */
SEEN_TEST(what_follows_a_call_whose_end_is_lost_is_not_in_it) {
        call(seen, STEP_ENTER, &step_root, 0, 2000, 0, 0);
        call(seen, STEP_LEAF, &step_child, 0, 2100, 1100, 1200);
        call(seen, STEP_LEAF, &step_module, 1, 2300, 1300, 1400);
        ck_assert_int_eq(pairing_finish(seen->pairing), 0);
        ck_assert_str_eq(seen->text, "+root 2000, -root 2000, +child 2100, -child 2200, "
                                     "+leaf 2300, -leaf 2400");
}

SEEN_TEST(an_end_of_another_call_does_not_move_what_follows) {
        call(seen, STEP_ENTER, &step_root, 0, 2000, 1000, 0);
        call(seen, STEP_LEAF, &step_child, 0, 2100, 1100, 1200);
        call(seen, STEP_LEAVE, &step_root, 0, 5002000, 5000900, 5001000);
        call(seen, STEP_LEAF, &step_child, 0, 6000000, 5999000, 5999100);
        ck_assert_str_eq(seen->text, "+root 2000, -root 2100, +child 2100, -child 2200, "
                                     "+child 6000000, -child 6000100");
}

SEEN_TEST(an_end_without_a_beginning_began_as_long_before_as_it_took) {
        call(seen, STEP_LEAF, &step_child, 1, 2100, 1100, 1200);
        call(seen, STEP_LEAVE, &step_root, 0, 2300, 0, 1300);
        ck_assert_str_eq(seen->text, "+root 1000, +child 2100, -child 2200, -root 2300");
}

SEEN_TEST(a_task_that_gets_its_name_takes_its_open_calls_along) {
        Step name = step_of(STEP_TASK, NULL, 0), s = step_enter(&step_root, 0);

        ck_assert_int_eq(pairing_step(seen->pairing, &s), 0);
        s = step_leaf(&step_child, 1, 5);
        ck_assert_int_eq(pairing_step(seen->pairing, &s), 0);
        s = step_enter(&step_irq, 0);
        s.pid = STEP_PID_UNKNOWN(0);
        ck_assert_int_eq(pairing_step(seen->pairing, &s), 0);
        s = step_leaf(&step_module, 1, 7);
        s.pid = STEP_PID_UNKNOWN(0);
        ck_assert_int_eq(pairing_step(seen->pairing, &s), 0);
        ck_assert_int_eq(pairing_step(seen->pairing, &name), 0);
        ck_assert_int_eq(pairing_finish(seen->pairing), 0);
        ck_assert_ptr_nonnull(strstr(seen->text, "+root"));
        ck_assert_ptr_nonnull(strstr(seen->text, "+child"));
        ck_assert_ptr_nonnull(strstr(seen->text, "+tick"));
        ck_assert_ptr_nonnull(strstr(seen->text, "+leaf"));
}

SEEN_TEST(times_end_where_numbers_do) {
        call(seen, STEP_LEAF, &step_child, 0, UINT64_MAX - 10, 0, INT64_MAX);
        call(seen, STEP_LEAF, &step_module, 0, 1000, 0, INT64_MAX);
        ck_assert_str_eq(seen->text, "+child 9223372036854775807, -child 9223372036854775807, "
                                     "+leaf 9223372036854775807, -leaf 9223372036854775807");
}

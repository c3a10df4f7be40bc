/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/pairing.h"
#include "step-builder.h"
#include "unit.h"

static const Function step_other = {
        .address = 5, .label = "other" SLACK, .n_label = 5, .n_name = 5, .root = -1
};

/* What a sink was told, in the order of ends. */
typedef struct Told {
        Pairing *pairing;
        struct {
                const Function *function, *caller;
                uint64_t number, parent, duration_ns, self_ns, begin_ns, end_ns;
                bool is_cut;
        } calls[16];
        size_t n, n_begun;
} Told;

static int note_begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Told *told = userdata;

        ck_assert_ptr_nonnull(frame->function);
        ck_assert(!caller || (caller >= stack->frames && caller < stack->frames + stack->n));
        told->n_begun++;
        return 0;
}

static int note_end(void *userdata, const Call *call) {
        Told *told = userdata;

        ck_assert_uint_lt(told->n, ELEMENTSOF(told->calls));
        told->calls[told->n].function = call->frame->function;
        told->calls[told->n].caller = call->caller ? call->caller->function : NULL;
        told->calls[told->n].number = call->frame->number;
        told->calls[told->n].parent = call->frame->parent;
        told->calls[told->n].duration_ns = call->duration_ns;
        told->calls[told->n].self_ns = call->self_ns;
        told->calls[told->n].begin_ns = call->frame->begin_ns;
        told->calls[told->n].end_ns = call->frame->end_ns;
        told->calls[told->n++].is_cut = call->is_cut;
        return 0;
}

static void told_init(Told *told) {
        *told = (Told){};
        ck_assert_int_eq(pairing_new(&told->pairing), 0);
        pairing_add_sink(told->pairing, note_begin, note_end, told);
        told->pairing->places = true;
}

static void told_done(Told *told) {
        pairing_free(told->pairing);
}
#define _cleanup_told_ _cleanup_(told_done)

static void feed(Told *told, Step s) {
        ck_assert_int_eq(pairing_step(told->pairing, &s), 0);
}

/* What the self times of all add up to. */
static uint64_t sum_of_selfs(const Told *told) {
        uint64_t sum_ns = 0;

        for (size_t i = 0; i < told->n; i++)
                sum_ns += told->calls[i].self_ns;
        return sum_ns;
}

START_TEST(calls_are_numbered_as_they_begin_and_name_their_caller)
        {
                static const uint64_t wanted[][2] = { { 2, 1 }, { 4, 3 }, { 3, 1 }, { 1, 0 } };
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, step_enter(&step_root, 0));
                feed(&told, step_enter(&step_child, 1));
                feed(&told, step_enter(&step_irq, 1));
                feed(&told, step_leaf(&step_module, 2, 5));
                feed(&told, step_leave(&step_irq, 1, 465));
                feed(&told, step_leave(&step_child, 1, 35));
                feed(&told, step_leave(&step_root, 0, 1000));
                ck_assert_uint_eq(told.n, ELEMENTSOF(wanted));
                ck_assert_uint_eq(told.n_begun, ELEMENTSOF(wanted));
                for (size_t i = 0; i < told.n; i++) {
                        ck_assert_uint_eq(told.calls[i].number, wanted[i][0]);
                        ck_assert_uint_eq(told.calls[i].parent, wanted[i][1]);
                }
                ck_assert_uint_eq(sum_of_selfs(&told), 1000);
        }
END_TEST

/* The one of @function; there is no other. */
static size_t told_of(const Told *told, const Function *function) {
        size_t i = 0;

        while (i < told->n && told->calls[i].function != function)
                i++;
        ck_assert_uint_lt(i, told->n);
        return i;
}

static void check_call(const Told *told, const Function *function, const Function *caller,
                       uint64_t duration_ns, uint64_t self_ns) {
        size_t i = told_of(told, function);

        ck_assert_ptr_eq(told->calls[i].caller, caller);
        ck_assert_uint_eq(told->calls[i].duration_ns, duration_ns);
        ck_assert_uint_eq(told->calls[i].self_ns, self_ns);
        ck_assert(!told->calls[i].is_cut);
}

/* As a text has it: without clock readings. */
static Step texted(Step s) {
        static const StepText said = {};

        s.said = &said;
        return s;
}

START_TEST(an_end_without_beginning_took_what_it_says)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, step_leaf(&step_module, 5, 20));
                feed(&told, step_leave(&step_child, 4, 50));
                feed(&told, step_leaf(&step_other, 4, 10));
                feed(&told, step_leave(&step_root, 3, 100));
                ck_assert_uint_eq(told.n, 0); /* for who calls root may end */
                ck_assert_int_eq(pairing_finish(told.pairing), 0);
                check_call(&told, &step_module, &step_child, 20, 20);
                check_call(&told, &step_child, &step_root, 50, 30);
                check_call(&told, &step_other, &step_root, 10, 10);
                check_call(&told, &step_root, NULL, 100, 40);
                ck_assert_uint_eq(told.pairing->total_ns, 100);
                ck_assert_uint_eq(sum_of_selfs(&told), 100);
        }
END_TEST

START_TEST(a_hole_below_a_caller_is_counted_once)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, step_enter(&step_root, 0));
                feed(&told, step_leaf(&step_module, 4, 20)); /* who called it was lost */
                feed(&told, step_leave(&step_child, 3, 50));
                feed(&told, step_leave(&step_root, 0, 100));
                check_call(&told, &step_child, &step_root, 50, 30);
                check_call(&told, &step_root, NULL, 100, 50);
                ck_assert_uint_eq(sum_of_selfs(&told), 100);
        }
END_TEST

START_TEST(a_later_call_has_no_part_in_an_earlier_hole)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, step_leaf(&step_module, 5, 20));
                feed(&told, step_leaf(&step_other, 2, 7)); /* so all at 3 and 4 have ended */
                feed(&told, step_leave(&step_child, 4, 50));
                ck_assert_int_eq(pairing_finish(told.pairing), 0);
                check_call(&told, &step_child, NULL, 50, 50);
                ck_assert_uint_eq(sum_of_selfs(&told), told.pairing->total_ns);
        }
END_TEST

START_TEST(an_interrupt_in_an_entry_hook_is_in_the_call_that_has_its_time)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, texted(step_enter(&step_root, 0)));
                feed(&told, texted(step_leaf(&step_irq, 2, 3523)));
                feed(&told, texted(step_enter(&step_child, 1)));
                feed(&told, texted(step_leaf(&step_module, 2, 500)));
                feed(&told, texted(step_leave(&step_child, 1, 9000)));
                feed(&told, texted(step_leave(&step_root, 0, 10000)));
                check_call(&told, &step_irq, &step_child, 3523, 3523);
                check_call(&told, &step_child, &step_root, 9000, 4977);
                check_call(&told, &step_root, NULL, 10000, 1000);
        }
END_TEST

static Step at(Step s, uint64_t timestamp_ns, uint64_t calltime, uint64_t rettime) {
        s.timestamp_ns = timestamp_ns;
        s.calltime = calltime;
        s.rettime = rettime;
        return s;
}

START_TEST(an_interrupt_before_the_clock_was_read_is_the_callers)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, at(step_enter(&step_root, 0), 2000, 0, 0));
                feed(&told, at(step_leaf(&step_irq, 2, 0), 2010, 1010, 1050));
                feed(&told, at(step_enter(&step_child, 1), 2060, 0, 0));
                feed(&told, at(step_leaf(&step_module, 2, 0), 2070, 1070, 1080));
                feed(&told, at(step_leave(&step_child, 1, 0), 2090, 1055, 1085));
                feed(&told, at(step_leave(&step_root, 0, 0), 2100, 1000, 1100));
                check_call(&told, &step_irq, &step_root, 40, 40);
                check_call(&told, &step_child, &step_root, 30, 20);
                check_call(&told, &step_root, NULL, 100, 30);
        }
END_TEST

START_TEST(an_interrupt_after_the_clock_was_read_again_is_the_callers)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, at(step_enter(&step_root, 0), 2000, 0, 0));
                feed(&told, at(step_enter(&step_child, 1), 2010, 0, 0));
                feed(&told, at(step_leaf(&step_module, 2, 0), 2020, 1020, 1030));
                feed(&told, at(step_leaf(&step_irq, 2, 0), 2050, 1050, 1090));
                feed(&told, at(step_leave(&step_child, 1, 0), 2095, 1010, 1040));
                feed(&told, at(step_leave(&step_root, 0, 0), 2100, 1000, 1100));
                check_call(&told, &step_irq, &step_root, 40, 40);
                check_call(&told, &step_child, &step_root, 30, 20);
                check_call(&told, &step_root, NULL, 100, 30);
        }
END_TEST

START_TEST(an_interrupt_that_an_outermost_call_has_no_time_for_is_another_one)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, texted(step_enter(&step_root, 0)));
                feed(&told, texted(step_leaf(&step_module, 1, 500)));
                feed(&told, texted(step_leaf(&step_irq, 1, 3000)));
                feed(&told, texted(step_leave(&step_root, 0, 2000)));
                check_call(&told, &step_irq, NULL, 3000, 3000);
                check_call(&told, &step_root, NULL, 2000, 1500);
        }
END_TEST

START_TEST(calls_of_rounded_durations_share_what_their_caller_took)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, texted(step_enter(&step_root, 0)));
                feed(&told, texted(step_leaf(&step_module, 1, 12345670)));
                feed(&told, texted(step_leaf(&step_irq, 1, 9)));
                feed(&told, texted(step_leave(&step_root, 0, 12345670)));
                check_call(&told, &step_module, &step_root, 12345670, 12345670);
                check_call(&told, &step_irq, &step_root, 9, 0);
                check_call(&told, &step_root, NULL, 12345670, 0);
        }
END_TEST

START_TEST(what_is_cut_takes_no_more_than_its_caller_has)
        {
                _cleanup_told_ Told told;
                Step lost = step_of(STEP_LOST, NULL, 0);
                size_t i;

                told_init(&told);
                feed(&told, at(step_enter(&step_root, 0), 2000, 0, 0));
                feed(&told, at(step_enter(&step_child, 1), 2010, 0, 0));
                feed(&told, lost);
                feed(&told, at(step_leaf(&step_module, 2, 0), 2095, 1095, 1097));
                feed(&told, at(step_leave(&step_root, 0, 0), 2400, 1000, 1080));
                i = told_of(&told, &step_child);
                ck_assert_uint_eq(told.calls[i].duration_ns, 80);
                ck_assert(told.calls[i].is_cut);
                check_call(&told, &step_module, &step_child, 2, 2);
                check_call(&told, &step_root, NULL, 80, 0);
                ck_assert_uint_eq(sum_of_selfs(&told), 80);
        }
END_TEST

START_TEST(after_a_loss_an_end_may_be_of_another_call)
        {
                _cleanup_told_ Told told;
                Step lost = step_of(STEP_LOST, NULL, 0);

                told_init(&told);
                feed(&told, at(step_enter(&step_root, 0), 2000, 0, 0));
                feed(&told, at(step_leaf(&step_module, 1, 0), 2100, 1100, 1900));
                feed(&told, lost);
                feed(&told, at(step_leaf(&step_irq, 1, 0), 9002100, 9001100, 9001150));
                feed(&told, at(step_leave(&step_root, 0, 0), 9002200, 9001000, 9001200));
                ck_assert_uint_eq(told.n, 4);
                check_call(&told, &step_irq, &step_root, 50, 50);
                ck_assert_uint_eq(told.calls[3].duration_ns, 200);
                ck_assert_uint_eq(told.calls[3].self_ns, 150);
                ck_assert(!told.calls[3].is_cut && told.calls[1].is_cut);
                ck_assert_uint_eq(sum_of_selfs(&told), told.pairing->total_ns);
        }
END_TEST

START_TEST(after_a_loss_an_end_of_a_later_call_is_not_that_of_the_first)
        {
                _cleanup_told_ Told told;
                Step lost = step_of(STEP_LOST, NULL, 0);

                told_init(&told);
                feed(&told, at(step_leaf(&step_other, 0, 0), 1500, 500, 510));
                feed(&told, at(step_enter(&step_root, 0), 2000, 0, 0));
                feed(&told, at(step_enter(&step_child, 1), 2010, 0, 0));
                feed(&told, lost);
                feed(&told, at(step_leave(&step_child, 1, 0), 9002150, 9001050, 9001150));
                feed(&told, at(step_leave(&step_root, 0, 0), 9002200, 9001000, 9001200));
                ck_assert_uint_eq(told.n, 5);
                ck_assert(told.calls[1].is_cut && told.calls[2].is_cut);
                check_call(&told, &step_other, NULL, 10, 10);
                ck_assert_ptr_eq(told.calls[3].function, &step_child);
                ck_assert_uint_eq(told.calls[3].duration_ns, 100);
                ck_assert_uint_eq(told.calls[3].parent, told.calls[4].number);
                ck_assert_uint_eq(told.calls[4].duration_ns, 200);
                ck_assert_uint_eq(told.calls[4].self_ns, 100);
        }
END_TEST

/* With nosleep-time a return says that its call began when it had slept. */
START_TEST(after_a_loss_an_end_of_a_call_that_slept_is_its_own)
        {
                _cleanup_told_ Told told;
                Step lost = step_of(STEP_LOST, NULL, 0);

                told_init(&told);
                feed(&told, at(step_leaf(&step_other, 0, 0), 1500, 500, 510));
                feed(&told, at(step_enter(&step_root, 0), 2000, 0, 0));
                feed(&told, at(step_leave(&step_root, 0, 0), 9002200, 9001000, 9001200));
                feed(&told, at(step_enter(&step_root, 0), 9003000, 0, 0));
                feed(&told, lost);
                feed(&told, at(step_leave(&step_root, 0, 0), 19002200, 19001000, 19001200));
                ck_assert_uint_eq(told.n, 3);
                for (size_t i = 0; i < told.n; i++)
                        ck_assert(!told.calls[i].is_cut);
        }
END_TEST

START_TEST(spans_lie_within_their_callers_and_take_what_calls_took)
        {
                _cleanup_told_ Told told;
                size_t i, k;

                told_init(&told);
                feed(&told, at(step_enter(&step_root, 0), 2000, 0, 0));
                feed(&told, at(step_leaf(&step_child, 1, 0), 2017, 1010, 1040));
                feed(&told, at(step_leaf(&step_module, 1, 0), 2055, 1035, 1099));
                feed(&told, at(step_leave(&step_root, 0, 0), 2109, 1000, 1100));
                i = told_of(&told, &step_child);
                k = told_of(&told, &step_module);
                ck_assert_uint_eq(told.calls[i].begin_ns, 2006); /* to leave room for the next */
                ck_assert_uint_eq(told.calls[i].end_ns, 2036);
                ck_assert_uint_eq(told.calls[k].begin_ns, 2036);
                ck_assert_uint_eq(told.calls[k].end_ns, 2100);
        }
END_TEST

START_TEST(a_tree_that_is_very_large_is_told_in_parts)
        {
                _cleanup_(pairing_freep) Pairing *p = NULL;
                uint64_t n_before;
                Step s;

                ck_assert_int_eq(pairing_new(&p), 0);
                s = step_enter(&step_root, 0);
                ck_assert_int_eq(pairing_step(p, &s), 0);
                s = step_leaf(&step_child, 1, 10);
                for (int i = 0; i < 200000; i++)
                        ck_assert_int_eq(pairing_step(p, &s), 0);
                n_before = p->n_calls;
                ck_assert_uint_gt(n_before, 100000);
                s = step_leave(&step_root, 0, 3000000);
                ck_assert_int_eq(pairing_step(p, &s), 0);
                ck_assert_uint_eq(p->n_calls, 200001);
                ck_assert_uint_eq(p->total_ns, 3000000);
        }
END_TEST

UNIT_SUITE("pairing", calls_are_numbered_as_they_begin_and_name_their_caller,
           an_end_without_beginning_took_what_it_says, a_hole_below_a_caller_is_counted_once,
           a_later_call_has_no_part_in_an_earlier_hole,
           an_interrupt_in_an_entry_hook_is_in_the_call_that_has_its_time,
           an_interrupt_before_the_clock_was_read_is_the_callers,
           an_interrupt_after_the_clock_was_read_again_is_the_callers,
           an_interrupt_that_an_outermost_call_has_no_time_for_is_another_one,
           calls_of_rounded_durations_share_what_their_caller_took,
           what_is_cut_takes_no_more_than_its_caller_has,
           after_a_loss_an_end_may_be_of_another_call,
           after_a_loss_an_end_of_a_later_call_is_not_that_of_the_first,
           after_a_loss_an_end_of_a_call_that_slept_is_its_own,
           spans_lie_within_their_callers_and_take_what_calls_took,
           a_tree_that_is_very_large_is_told_in_parts)

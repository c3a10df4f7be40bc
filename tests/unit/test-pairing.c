/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/pairing.h"
#include "step-builder.h"
#include "unit.h"

/* What a sink was told, in the order of ends. */
typedef struct Told {
        Pairing *pairing;
        struct {
                uint64_t number, parent, duration_ns, self_ns, span_ns;
                bool is_cut;
        } calls[8];
        size_t n, n_begun;
} Told;

static int note_begin(void *userdata, const Stack *stack, const Frame *caller, Frame *frame,
                      const Step *step) {
        Told *told = userdata;

        ck_assert_ptr_eq(step->function, frame->function);
        ck_assert(!caller || (caller >= stack->frames && caller < stack->frames + stack->n));
        told->n_begun++;
        return 0;
}

static int note_end(void *userdata, const Call *call) {
        Told *told = userdata;

        ck_assert_uint_lt(told->n, ELEMENTSOF(told->calls));
        told->calls[told->n].number = call->frame->number;
        told->calls[told->n].parent = call->frame->parent;
        told->calls[told->n].duration_ns = call->duration_ns;
        told->calls[told->n].self_ns = call->self_ns;
        told->calls[told->n].span_ns = call->span_ns;
        told->calls[told->n++].is_cut = call->is_cut;
        return 0;
}

static void told_init(Told *told) {
        *told = (Told){};
        ck_assert_int_eq(pairing_new(&told->pairing), 0);
        pairing_add_sink(told->pairing, note_begin, note_end, told);
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
                static const uint64_t wanted[][2] = { { 4, 3 }, { 3, 1 }, { 2, 1 }, { 1, 0 } };
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

START_TEST(an_end_without_beginning_keeps_what_was_not_counted)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, step_leaf(&step_module, 5, 20));
                feed(&told, step_leave(&step_child, 4, 50));
                feed(&told, step_leaf(&step_module, 4, 10));
                feed(&told, step_leave(&step_root, 3, 100));
                ck_assert_uint_eq(told.calls[1].span_ns, 50);
                ck_assert_uint_eq(told.calls[1].duration_ns, 30);
                ck_assert_uint_eq(told.calls[3].span_ns, 100);
                ck_assert_uint_eq(told.calls[3].duration_ns, 40);
                ck_assert(told.calls[3].is_cut && !told.calls[2].is_cut);
                ck_assert_uint_eq(pairing_total_ns(told.pairing), 100);
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
                ck_assert_uint_eq(told.calls[1].duration_ns, 30);
                ck_assert_uint_eq(told.calls[2].self_ns, 50);
                ck_assert_uint_eq(sum_of_selfs(&told), 100);
        }
END_TEST

START_TEST(a_later_call_has_no_part_in_an_earlier_hole)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                feed(&told, step_leaf(&step_module, 5, 20));
                feed(&told, step_leaf(&step_module, 2, 7)); /* so all at 3 and 4 have ended */
                feed(&told, step_leave(&step_child, 4, 50));
                ck_assert_uint_eq(told.calls[2].duration_ns, 50);
                ck_assert_uint_eq(sum_of_selfs(&told), pairing_total_ns(told.pairing));
        }
END_TEST

START_TEST(ends_alone_are_whole_calls)
        {
                _cleanup_told_ Told told;

                told_init(&told);
                pairing_set_only_ends(told.pairing);
                feed(&told, step_leave(&step_module, 2, 20));
                feed(&told, step_leave(&step_child, 1, 50));
                feed(&told, step_leave(&step_root, 0, 100));
                ck_assert_uint_eq(told.calls[2].duration_ns, 100);
                ck_assert_uint_eq(told.calls[2].self_ns, 50);
                ck_assert(!told.calls[2].is_cut);
                ck_assert_uint_eq(pairing_total_ns(told.pairing), 100);
                ck_assert_uint_eq(sum_of_selfs(&told), 100);
        }
END_TEST

UNIT_MAIN("pairing", calls_are_numbered_as_they_begin_and_name_their_caller,
          an_end_without_beginning_keeps_what_was_not_counted,
          a_hole_below_a_caller_is_counted_once, a_later_call_has_no_part_in_an_earlier_hole,
          ends_alone_are_whole_calls)

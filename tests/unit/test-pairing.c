/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fed.h"

static const Function step_other = {
        .address = 5, .label = "other" SLACK, .n_label = 5, .n_name = 5, .root = -1
};

/* What a sink was told, in the order of ends: "child<root 50/30", which of the 50 ns has 30 of its own; "~50-90/30": it
 * was cut and took 50 to 90, "~50-": or longer. */
typedef struct Told {
        Pairing *pairing;
        char text[512];
        size_t n, n_text, n_begun;
        uint64_t self_ns;
        struct {
                uint64_t number, parent, begin_ns, end_ns;
        } calls[16];
} Told;

static int note_begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Told *told = userdata;

        ck_assert_ptr_nonnull(frame->function);
        ck_assert(!caller || (caller >= stack->frames && caller < stack->frames + stack->n));
        told->n_begun++;
        return 0;
}

static int note_end(void *userdata, const Call *call) {
        const Function *f = call->frame->function,
                       *by = call->caller ? call->caller->function : NULL;
        Told *told = userdata;
        char most[24] = "-";

        ck_assert_uint_lt(told->n, ELEMENTSOF(told->calls));
        told->calls[told->n].number = call->frame->number;
        told->calls[told->n].parent = call->frame->parent;
        told->calls[told->n].begin_ns = call->frame->begin_ns;
        told->calls[told->n].end_ns = call->frame->end_ns;
        told->self_ns += call->self_ns;
        if (!call->is_cut)
                ck_assert_uint_eq(call->most_ns, call->duration_ns);
        else if (call->most_ns != UINT64_MAX)
                (void) snprintf(most, sizeof(most), "-%llu", (unsigned long long) call->most_ns);
        told->n_text += (size_t) snprintf(
                told->text + told->n_text, sizeof(told->text) - told->n_text,
                "%s%.*s%s%.*s %s%llu%s/%llu", told->n++ > 0 ? ", " : "", (int) f->n_name, f->label,
                by ? "<" : "", by ? (int) by->n_name : 0, by ? by->label : "",
                call->is_cut ? "~" : "", (unsigned long long) call->duration_ns,
                call->is_cut ? most : "", (unsigned long long) call->self_ns);
        return 0;
}

static void told_init(Told *told) {
        *told = (Told){ .pairing = fed_pairing() };
        pairing_add_sink(told->pairing, note_begin, note_end, told);
        told->pairing->places = true;
}

static void told_done(Told *told) {
        pairing_free(told->pairing);
}
#define TOLD(told)                                                                                 \
        _cleanup_(told_done) Told told;                                                            \
        told_init(&told)
#define TOLD_TEST(name) TEST_WITH(name, (Told * told), TOLD(told), &told)

/* What is told of @steps when all are there; self times add up. */
#define EXPECT(wanted, ...)                                                                        \
        expect((wanted), (const Step[]){ __VA_ARGS__ },                                            \
               sizeof((const Step[]){ __VA_ARGS__ }) / sizeof(Step))
static void expect(const char *wanted, const Step *steps, size_t n) {
        TOLD(told);

        feed_all(told.pairing, steps, n);
        ck_assert_int_eq(pairing_finish(told.pairing), 0);
        ck_assert_str_eq(told.text, wanted);
        ck_assert_uint_eq(told.self_ns, told.pairing->total_ns);
}

/* As a text has it: without clock readings. */
static Step texted(Step s) {
        static const StepText said = {};

        s.said = &said;
        return s;
}

static Step at(Step s, uint64_t timestamp_ns, uint64_t calltime, uint64_t rettime) {
        s.timestamp_ns = timestamp_ns;
        s.calltime = calltime;
        s.rettime = rettime;
        return s;
}

static Step enter_at(const Function *f, int32_t depth, uint64_t timestamp_ns) {
        return at(step_enter(f, depth), timestamp_ns, 0, 0);
}

TOLD_TEST(calls_are_numbered_as_they_begin_and_name_their_caller) {
        static const uint64_t wanted[][2] = { { 2, 1 }, { 4, 3 }, { 3, 1 }, { 1, 0 } };

        FEED(told->pairing, step_enter(&step_root, 0), step_enter(&step_child, 1),
             step_enter(&step_irq, 1), step_leaf(&step_module, 2, 5), step_leave(&step_irq, 1, 465),
             step_leave(&step_child, 1, 35), step_leave(&step_root, 0, 1000));
        ck_assert_uint_eq(told->n, ELEMENTSOF(wanted));
        ck_assert_uint_eq(told->n_begun, ELEMENTSOF(wanted));
        for (size_t i = 0; i < told->n; i++) {
                ck_assert_uint_eq(told->calls[i].number, wanted[i][0]);
                ck_assert_uint_eq(told->calls[i].parent, wanted[i][1]);
        }
        ck_assert_uint_eq(told->self_ns, 1000);
}

TOLD_TEST(an_end_without_beginning_took_what_it_says) {
        FEED(told->pairing, step_leaf(&step_module, 5, 20), step_leave(&step_child, 4, 50),
             step_leaf(&step_other, 4, 10), step_leave(&step_root, 3, 100));
        ck_assert_uint_eq(told->n, 0); /* for who calls root may end */
        ck_assert_int_eq(pairing_finish(told->pairing), 0);
        ck_assert_str_eq(told->text, "leaf<child 20/20, child<root 50/30, other<root 10/10, "
                                     "root 100/40");
        ck_assert_uint_eq(told->pairing->total_ns, 100);
        /* Who called the leaf was lost. */
        EXPECT("leaf<child 20/20, child<root 50/30, root 100/50", step_enter(&step_root, 0),
               step_leaf(&step_module, 4, 20), step_leave(&step_child, 3, 50),
               step_leave(&step_root, 0, 100));
        /* At "other" all at 3 and 4 have ended. */
        EXPECT("leaf<other 20/7, other 7/0, child 50/50", step_leaf(&step_module, 5, 20),
               step_leaf(&step_other, 2, 7), step_leave(&step_child, 4, 50));
}

TEST(an_interrupt_is_of_the_call_that_has_its_time) {
        /* in an entry hook */
        EXPECT("tick<child 3523/3523, leaf<child 500/500, child<root 9000/4977, root 10000/1000",
               texted(step_enter(&step_root, 0)), texted(step_leaf(&step_irq, 2, 3523)),
               texted(step_enter(&step_child, 1)), texted(step_leaf(&step_module, 2, 500)),
               texted(step_leave(&step_child, 1, 9000)), texted(step_leave(&step_root, 0, 10000)));
        /* before the clock was read */
        EXPECT("tick<root 40/40, leaf<child 10/10, child<root 30/20, root 100/30",
               enter_at(&step_root, 0, 2000), at(step_leaf(&step_irq, 2, 0), 2010, 1010, 1050),
               enter_at(&step_child, 1, 2060), at(step_leaf(&step_module, 2, 0), 2070, 1070, 1080),
               at(step_leave(&step_child, 1, 0), 2090, 1055, 1085),
               at(step_leave(&step_root, 0, 0), 2100, 1000, 1100));
        /* after the clock was read again */
        EXPECT("leaf<child 10/10, child<root 30/20, tick<root 40/40, root 100/30",
               enter_at(&step_root, 0, 2000), enter_at(&step_child, 1, 2010),
               at(step_leaf(&step_module, 2, 0), 2020, 1020, 1030),
               at(step_leaf(&step_irq, 2, 0), 2050, 1050, 1090),
               at(step_leave(&step_child, 1, 0), 2095, 1010, 1040),
               at(step_leave(&step_root, 0, 0), 2100, 1000, 1100));
        /* one that an outermost call has no time for */
        EXPECT("leaf<root 500/500, root 2000/1500, tick 3000/3000",
               texted(step_enter(&step_root, 0)), texted(step_leaf(&step_module, 1, 500)),
               texted(step_leaf(&step_irq, 1, 3000)), texted(step_leave(&step_root, 0, 2000)));
}

TEST(calls_below_take_no_more_than_their_caller_has) {
        /* rounded durations */
        EXPECT("leaf<root 12345670/12345670, tick<root 9/0, root 12345670/0",
               texted(step_enter(&step_root, 0)), texted(step_leaf(&step_module, 1, 12345670)),
               texted(step_leaf(&step_irq, 1, 9)), texted(step_leave(&step_root, 0, 12345670)));
        /* what is cut */
        EXPECT("leaf<child 2/2, child<root ~80-390/78, root 80/0", enter_at(&step_root, 0, 2000),
               enter_at(&step_child, 1, 2010), at(step_leaf(&step_module, 2, 0), 2095, 1075, 1077),
               at(step_leave(&step_root, 0, 0), 2400, 1000, 1080));
        /* what came after their end */
        EXPECT("child<root ~0-390/0, root 80/80, leaf 2/2", enter_at(&step_root, 0, 2000),
               enter_at(&step_child, 1, 2010), step_of(STEP_LOST, NULL, 0),
               at(step_leaf(&step_module, 2, 0), 2095, 1095, 1097),
               at(step_leave(&step_root, 0, 0), 2400, 1000, 1080));
}

TEST(what_was_cut_has_a_bound_on_either_side) {
        static const StepText timed = { .has_time = true };
        Step begin = enter_at(&step_root, 0, 41000000000),
             leaf = at(step_leaf(&step_child, 1, 0), 41000010000, 41000010000, 41000011000),
             again = enter_at(&step_root, 0, 41010000000),
             late = at(step_leaf(&step_child, 1, 0), 41010010000, 41010010000, 41010011000),
             end = at(step_leave(&step_root, 0, 0), 41010100000, 41010000000, 41010100000),
             lost = step_of(STEP_LOST, NULL, 0);

        begin.said = leaf.said = again.said = late.said = end.said = &timed;
        EXPECT("child<root 1000/1000, root ~11000-10000000/10000, child<root 1000/1000, root "
               "100000/99000",
               begin, leaf, lost, again, late, end);
        /* A return that does not fit is of another call. */
        EXPECT("child<root 1000/1000, root ~11000-10000000/10000, child<root 1000/1000, root "
               "100000/99000",
               begin, leaf, lost, late, end);
        /* One that does is its own, and what is between them, too. */
        EXPECT("child<root 1000/1000, child<root 1000/1000, root 10100000/10098000", begin, leaf,
               lost, late, at(end, 41010100000, 41000000000, 41010100000));
        /* It was seen until then; the call behind the loss may be of another one. */
        EXPECT("child<root 1000/1000, root ~11000-/10000, child 1000/1000", begin, leaf, lost,
               late);
        EXPECT("child<root 1000/1000, root ~11000-/10000", begin, leaf);
        /* A text without times does not tell how much later something was. */
        begin.said = leaf.said = again.said = late.said = end.said = &(StepText){};
        EXPECT("child<root 1000/1000, root ~11000-/10000, child<root 1000/1000, root 100000/99000",
               begin, leaf, lost, again, late, end);
        /* But how long the call took that it was below. */
        begin = texted(step_enter(&step_child, 1));
        leaf = texted(step_leaf(&step_module, 2, 1000));
        end = texted(step_leave(&step_root, 0, 20000));
        EXPECT("leaf<child 1000/1000, child<root ~1000-20000/0, root 20000/19000",
               texted(step_enter(&step_root, 0)), begin, leaf, end);
        EXPECT("leaf<child 1000/1000, child<root ~1000-20000/0, leaf<root 1000/1000, root "
               "20000/18000",
               texted(step_enter(&step_root, 0)), begin, leaf,
               texted(step_leaf(&step_module, 1, 1000)), end);
        end.said = &(StepText){ .untimed = true };
        EXPECT("leaf<child 1000/1000, child<root ~1000-/0, root 20000/19000",
               texted(step_enter(&step_root, 0)), begin, leaf, end);
}

TEST(what_was_open_around_a_loss_was_open_meanwhile) {
        EXPECT("child<root 90/90, root ~120-900/30, other 10/10", enter_at(&step_root, 0, 2000),
               enter_at(&step_child, 1, 2010), step_of(STEP_LOST, NULL, 0),
               at(step_leave(&step_child, 1, 0), 2120, 1010, 1100), step_of(STEP_LOST, NULL, 0),
               at(step_leaf(&step_other, 0, 0), 2900, 1900, 1910));
        /* Who called what began behind a loss is not known, and so its end does not tell. */
        EXPECT("root ~0-900/0, child 90/90, other 10/10", enter_at(&step_root, 0, 2000),
               step_of(STEP_LOST, NULL, 0), enter_at(&step_child, 1, 2010),
               step_of(STEP_LOST, NULL, 0), at(step_leave(&step_child, 1, 0), 2120, 1010, 1100),
               at(step_leaf(&step_other, 0, 0), 2900, 1900, 1910));
}

TEST(after_a_loss_an_end_may_be_of_another_call) {
        EXPECT("leaf<root 800/800, root ~900-9000000/100, tick<root 50/50, root 200/150",
               enter_at(&step_root, 0, 2000), at(step_leaf(&step_module, 1, 0), 2100, 1100, 1900),
               step_of(STEP_LOST, NULL, 0),
               at(step_leaf(&step_irq, 1, 0), 9002100, 9001100, 9001150),
               at(step_leave(&step_root, 0, 0), 9002200, 9001000, 9001200));
        EXPECT("other 10/10, child<root ~0-9000040/0, root ~10-9000000/10, child<root 100/100, "
               "root "
               "200/100",
               at(step_leaf(&step_other, 0, 0), 1500, 500, 510), enter_at(&step_root, 0, 2000),
               enter_at(&step_child, 1, 2010), step_of(STEP_LOST, NULL, 0),
               at(step_leave(&step_child, 1, 0), 9002150, 9001050, 9001150),
               at(step_leave(&step_root, 0, 0), 9002200, 9001000, 9001200));
        /* With nosleep-time a return says that its call began when it had slept. */
        EXPECT("other 10/10, root 200/200, root 200/200",
               at(step_leaf(&step_other, 0, 0), 1500, 500, 510), enter_at(&step_root, 0, 2000),
               at(step_leave(&step_root, 0, 0), 9002200, 9001000, 9001200),
               enter_at(&step_root, 0, 9003000), step_of(STEP_LOST, NULL, 0),
               at(step_leave(&step_root, 0, 0), 19002200, 19001000, 19001200));
}

TOLD_TEST(spans_lie_within_their_callers_and_take_what_calls_took) {
        FEED(told->pairing, enter_at(&step_root, 0, 2000),
             at(step_leaf(&step_child, 1, 0), 2017, 1010, 1040),
             at(step_leaf(&step_module, 1, 0), 2055, 1035, 1099),
             at(step_leave(&step_root, 0, 0), 2109, 1000, 1100));
        ck_assert_uint_eq(told->calls[0].begin_ns, 2006); /* to leave room for the next */
        ck_assert_uint_eq(told->calls[0].end_ns, 2036);
        ck_assert_uint_eq(told->calls[1].begin_ns, 2036);
        ck_assert_uint_eq(told->calls[1].end_ns, 2100);
}

TEST(a_tree_that_is_very_large_is_told_in_parts) {
        _cleanup_(pairing_freep) Pairing *p = fed_pairing();

        FEED(p, step_enter(&step_root, 0));
        for (int i = 0; i < 200000; i++)
                FEED(p, step_leaf(&step_child, 1, 10));
        ck_assert_uint_gt(p->n_calls, 100000);
        FEED(p, step_leave(&step_root, 0, 3000000));
        ck_assert_uint_eq(p->n_calls, 200001);
        ck_assert_uint_eq(p->total_ns, 3000000);
}

static int add_blocked(void *userdata, const Call *call) {
        *(uint64_t *) userdata += call->blocked_ns;
        return 0;
}

TEST(a_tree_that_is_told_in_parts_keeps_what_it_waited_for) {
        _cleanup_(pairing_freep) Pairing *p = fed_pairing();
        Step leaves = step_of(STEP_OTHER, NULL, 0), back = leaves;
        uint64_t blocked_ns = 0;

        leaves.text = "sched_switch: prev_comm=client prev_pid=17 prev_prio=120 prev_state=S ==> "
                      "next_comm=swapper/0 next_pid=0 next_prio=120";
        back.text = "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> "
                    "next_comm=client next_pid=17 next_prio=120";
        pairing_add_sink(p, NULL, add_blocked, &blocked_ns);
        FEED(p, step_enter(&step_root, 0));
        feed_at(p, leaves, 1000000100);
        feed_at(p, back, 1000000600);
        for (int i = 0; i < 100000; i++)
                FEED(p, step_leaf(&step_child, 1, 10));
        FEED(p, step_leave(&step_root, 0, 3000000));
        ck_assert_uint_eq(blocked_ns, 500);
}

TEST(an_end_that_was_lost_keeps_nothing_that_comes_behind_it) {
        const Step many[][3] = {
                { step_enter(&step_root, 0), step_leaf(&step_child, 1, 10),
                  step_leave(&step_root, 0, 30) },
                { step_leaf(&step_root, 0, 10), step_leaf(&step_child, 0, 10),
                  step_leaf(&step_irq, 0, 10) },
                { step_leave(&step_other, 0, 10), step_leave(&step_child, 0, 10),
                  step_leave(&step_irq, 0, 10) },
                { step_leaf(&step_child, 1, 10), step_leave(&step_irq, 1, 20),
                  step_leaf(&step_module, 3, 10) },
        };

        for (size_t i = 0; i < ELEMENTSOF(many); i++) {
                _cleanup_(pairing_freep) Pairing *p = fed_pairing();
                uint64_t n_most = 0;

                FEED(p, step_enter(&step_root, 0), step_enter(&step_root, 0),
                     step_enter(&step_child, 1));
                for (int k = 0; k < 100000; k++) {
                        feed_all(p, many[i], ELEMENTSOF(many[i]));
                        n_most = MAX(n_most, p->n_held);
                }
                ck_assert_uint_lt(n_most, i < 3 ? 100 : 70000);
                ck_assert_int_eq(pairing_finish(p), 0);
                ck_assert_uint_ge(p->n_calls, 200000);
        }
}

TEST(an_end_that_interrupts_overtook_is_its_calls_own) {
        EXPECT("root 100/100, tick 1/1, tick 2/2, tick 3/3, tick 4/4, tick 5/5, tick 6/6, tick "
               "7/7, "
               "tick 8/8, tick 9/9",
               step_enter(&step_root, 0), step_leaf(&step_irq, 0, 1), step_leaf(&step_irq, 0, 2),
               step_leaf(&step_irq, 0, 3), step_leaf(&step_irq, 0, 4), step_leaf(&step_irq, 0, 5),
               step_leaf(&step_irq, 0, 6), step_leaf(&step_irq, 0, 7), step_leaf(&step_irq, 0, 8),
               step_leaf(&step_irq, 0, 9), step_leave(&step_root, 0, 100));
        /* It calls nothing any more. */
        EXPECT("child<root 30/30, other<root 10/10, leaf<root 10/10, root 90/40",
               step_enter(&step_root, 0), step_enter(&step_child, 1),
               step_leave(&step_other, 1, 10), step_leaf(&step_module, 2, 10),
               step_leave(&step_child, 1, 30), step_leave(&step_root, 0, 90));
}

/* --- contexts --------------------------------------------------------------------------------- */

#define PARENT "traceparent=00-0000000000000000000000000000000"
#define BEHIND "-b7ad6b7169203331-01"

/* "a", "a", "-": the last digit of each outermost call's context; "-": it has none. */
static int note_context(void *userdata, const Call *call) {
        char *text = userdata;

        if (call->is_root && trace_context_is_set(&call->context))
                (void) sprintf(text + strlen(text), "%llx", (unsigned long long) call->context.low);
        else if (call->is_root)
                (void) strcat(text, "-");
        return 0;
}

static Step says(const char *text, uint64_t at_ns) {
        Step s = step_of(STEP_OTHER, NULL, 0);

        s.text = text;
        s.timestamp_ns = at_ns;
        return s;
}

#define EXPECT_CONTEXTS(wanted, ...)                                                               \
        do {                                                                                       \
                _cleanup_(pairing_freep) Pairing *p = fed_pairing();                               \
                char _text[64] = "";                                                               \
                p->keeps_contexts = true;                                                          \
                pairing_add_sink(p, NULL, note_context, _text);                                    \
                FEED(p, __VA_ARGS__);                                                              \
                ck_assert_int_eq(pairing_finish(p), 0);                                            \
                ck_assert_str_eq(_text, wanted);                                                   \
        } while (0)

TEST(a_tree_has_the_context_that_its_task_had_when_it_began) {
        Step others = step_leaf(&step_child, 0, 10);

        others.pid = 18;
        EXPECT_CONTEXTS("-a-ab-", step_leaf(&step_root, 0, 10), says(PARENT "a" BEHIND, 100),
                        step_leaf(&step_root, 0, 10), others, step_enter(&step_root, 0),
                        says(PARENT "b" BEHIND, 200), step_leaf(&step_child, 1, 10),
                        step_leave(&step_root, 0, 100), step_leaf(&step_root, 0, 10),
                        says("traceparent=-", 300), step_leaf(&step_root, 0, 10));
}

TEST(a_context_does_not_outlive_a_loss_in_which_it_may_have_ended) {
        EXPECT_CONTEXTS("a-b", says(PARENT "a" BEHIND, 100), step_leaf(&step_root, 0, 10),
                        step_of(STEP_LOST, NULL, 0), step_leaf(&step_root, 0, 10),
                        says(PARENT "b" BEHIND, 100), step_leaf(&step_root, 0, 10));
}

TEST(an_end_alone_has_no_context_that_was_said_after_its_beginning) {
        EXPECT_CONTEXTS("a-", says(PARENT "a" BEHIND, 1000000000 - 100),
                        step_leave(&step_root, 0, 50), step_leave(&step_root, 0, 500));
}

TEST(a_task_that_gets_its_name_takes_its_context_along) {
        Step marker = says(PARENT "a" BEHIND, 100), name = step_of(STEP_TASK, NULL, 0);

        marker.pid = STEP_PID_UNKNOWN(0);
        EXPECT_CONTEXTS("a", marker, name, step_leaf(&step_root, 0, 10));
}

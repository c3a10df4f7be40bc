/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a line tells of a call becomes a step: the depth says what it is below and
 * what has ended unseen, and a return is its call's, found by depth and, if it has
 * one, name.
 *
 * Times: of the day, if the line has one.  Else each line comes as closely behind
 * the ones before it as durations allow; lines of all tasks are in the order in
 * which they were printed.
 */

#include "import/text-trace-private.h"

int32_t text_depth_of_braces(const Stack *stack, bool is_close) {
        int32_t open = stack->n > 0 ? stack->frames[stack->n - 1].depth : -1;

        if (!is_close)
                return MIN(open + 1, STEP_DEPTH_MAX);
        if (open >= 0)
                return open;
        return stack->floor > 0 && stack->floor != INT32_MAX ? stack->floor - 1 : 0;
}

int text_make_way(TextTrace *t, Stack *stack, const Line *line, const Step *step) {
        const Function *function = step->function;
        Frame frame;
        int r = 0;

        while (r >= 0 && stack_pop_before_call(stack, step->depth, &frame))
                r = text_note_frame(t, &frame);
        if (r < 0 || stack->n == 0) {
                t->count.n_roots += stack->n == 0;
                return r;
        }
        frame = stack->frames[stack->n - 1];
        if (frame.depth == step->depth)
                return text_note(t, TEXT_SIBLING, line->number, function->label, function->n_label);
        return frame.depth < step->depth - 1 ? text_note(t, TEXT_LEVEL_MISSING, line->number,
                                                         function->label, function->n_label)
                                             : 0;
}

/*
 * Whether a line so much later than all others does not belong to the calls that are open
 *
 * What a tracer prints as a whole, with a heading, may lack the end of a call: one CPU's buffer keeps
 * for days what another one's has overwritten.  Events are not inside of what they are drawn below.
 */
static bool has_leapt(const TextTrace *t, const Step *step) {
        const Stack *stack = stacks_find(t->stacks, step);
        uint64_t duration_ns = step_duration_ns(step);

        if (!stack || stack->n == 0 || step->kind == STEP_OTHER ||
            (!t->layout.columns.cpu && step->pid <= 0))
                return false;
        if (!t->after_talk && (t->layout.has_header || t->count.n_losses > 0))
                return false;
        if (step->kind != STEP_LEAVE)
                return t->after_talk || step->depth <= stack->frames[stack->n - 1].depth;
        for (uint32_t i = stack->n; duration_ns > 0 && i > 0; i--) {
                const Frame *frame = &stack->frames[i - 1];

                if (frame->depth <= step->depth)
                        return frame->depth == step->depth &&
                               step->timestamp_ns - frame->start_ns > duration_ns + TEXT_LEAP_NS;
        }
        return false;
}

bool text_was_ended(const TextTrace *t) {
        return t->after_command;
}

bool text_begins_another(TextTrace *t, const Step *step, uint64_t disorder_ns) {
        uint64_t now_ns = step->timestamp_ns, last_ns = 0;

        if (t->after_command || !t->has_layout || !t->layout.has_times)
                return t->after_command;
        if (now_ns >= t->latest_ns)
                return t->latest_ns > 0 && now_ns - t->latest_ns > TEXT_LEAP_NS &&
                       has_leapt(t, step);
        if (t->layout.columns.cpu && step->cpu < t->n_cpus)
                last_ns = t->cpus[step->cpu].last_ns;
        return t->after_talk
                       ? now_ns < last_ns || now_ns + MIN(disorder_ns, TEXT_BACK_NS) < t->latest_ns
                       : now_ns + TEXT_BACK_NS < last_ns || now_ns + disorder_ns < t->latest_ns;
}

void text_note_time(TextTrace *t, uint64_t timestamp_ns) {
        t->latest_ns = MAX(t->latest_ns, timestamp_ns);
}

static void count_call(TextTrace *t, Stack *stack, const Step *step) {
        stack->floor = MIN(stack->floor, step->depth);
        t->count.max_depth = MAX(t->count.max_depth, step->depth);
}

static void add_below(Stack *stack, const Step *step) {
        Frame *caller = stack_caller(stack, step->depth);

        if (caller)
                caller->below_ns += step_duration_ns(step);
}

static int enter(TextTrace *t, const Line *line, Stack *stack, uint64_t duration_ns, Step *ret) {
        int r = text_make_way(t, stack, line, ret);

        count_call(t, stack, ret);
        if (r < 0)
                return r;
        if (!t->layout.has_times)
                ret->timestamp_ns = MAX(stack->last_ns, t->now_ns);
        stack->last_ns = t->now_ns = ret->timestamp_ns;
        if (ret->kind == STEP_ENTER) {
                t->count.n_open++;
                r = text_push(stack, ret, line->number);
                return r < 0 ? r : 1;
        }
        t->count.n_leaf++;
        if (duration_ns == TEXT_UNTIMED) {
                t->said.untimed = true;
                duration_ns = 0;
        }
        ret->calltime = ret->timestamp_ns;
        ret->rettime = ret->calltime + duration_ns;
        stack->last_ns = ret->rettime;
        add_below(stack, ret);
        return 1;
}

/* What the times tell of a duration that the line does not. */
static uint64_t guess(TextTrace *t, const Frame *frame, const Step *step) {
        t->said.untimed = true;
        if (!t->layout.has_times || !frame)
                return 0;
        return step->timestamp_ns - MIN(frame->start_ns, step->timestamp_ns);
}

int text_end_call(TextTrace *t, Stack *stack, Step *step, Frame *ret) {
        Frame *frame;
        int r = 0;

        while (r >= 0 && stack_pop_deeper(stack, step->depth, ret))
                r = text_note_frame(t, ret);
        if (r < 0)
                return r;
        frame = stack_find(stack, step->depth, step->function);
        if (!frame) {
                step->function = step->function ?: labels_unknown(t->labels);
                return 0;
        }
        *ret = *frame;
        stack_remove(stack, frame);
        step->function = ret->function;
        return 1;
}

static int leave(TextTrace *t, const Line *line, Stack *stack, uint64_t duration_ns, Step *ret) {
        Frame ended, *frame;
        int r;

        t->count.n_close++;
        r = text_end_call(t, stack, ret, &ended);
        if (r < 0)
                return r;
        frame = r > 0 ? &ended : NULL;
        if (duration_ns == TEXT_UNTIMED)
                duration_ns = guess(t, frame, ret);
        if (!t->layout.has_times) {
                uint64_t begin_ns = frame ? frame->start_ns : 0;

                ret->timestamp_ns = MAX(stack->last_ns, t->now_ns);
                ret->timestamp_ns = MAX(ret->timestamp_ns, begin_ns + duration_ns);
        }
        ret->calltime = frame && !t->layout.has_times
                                ? frame->start_ns
                                : ret->timestamp_ns - MIN(duration_ns, ret->timestamp_ns);
        ret->rettime = ret->calltime + duration_ns;
        stack->last_ns = t->now_ns = ret->timestamp_ns;
        add_below(stack, ret);
        r = text_note_return(t, stack, frame, ret, line->number);
        stack->floor = MIN(stack->floor, ret->depth);
        return r < 0 ? r : 1;
}

int text_call(TextTrace *t, const Line *line, const char *label, size_t n_label,
              uint64_t duration_ns, Step *ret) {
        Stack *stack;

        if (label) {
                ret->function = labels_get(t->labels, label, n_label, n_label);
                if (!ret->function)
                        return labels_n(t->labels) < LABELS_MAX
                                       ? -ENOMEM
                                       : text_damaged(t, line,
                                                      "more functions than any kernel has");
        }
        if (duration_ns > (uint64_t) INT64_MAX && duration_ns != TEXT_UNTIMED)
                return text_damaged(t, line, "its duration is longer than any");
        stack = stacks_get(t->stacks, ret);
        if (!stack)
                return -ENOMEM;
        return ret->kind == STEP_LEAVE ? leave(t, line, stack, duration_ns, ret)
                                       : enter(t, line, stack, duration_ns, ret);
}

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

#include "base/array.h"
#include "base/buf.h"
#include "import/text-private.h"

#define TEXT_BACK_NS UINT64_C(1000000)     /* a clock that goes back so far is another one's */
#define TEXT_APART_NS UINT64_C(1000000000) /* clocks of two CPUs that are so far apart, too */
#define TEXT_LEAP_NS UINT64_C(60000000000) /* and one that goes on so far, inside a call */

/* --- labels ----------------------------------------------------------------------------------- */

static const char unknown[2 + FUNCTION_SLACK] = "?";

const Function labels_unknown = {
        .label = unknown, .n_label = 1, .n_name = 1, .root = -1, .n_unhooked = UNHOOKED_UNTOLD
};

static Function *function_new(const char *label, size_t n_label, size_t n_name, uint64_t number) {
        Function *f = malloc(sizeof(*f) + n_label + 1 + FUNCTION_SLACK);
        char *copy;

        if (!f)
                return NULL;
        copy = (char *) (f + 1);
        memcpy(copy, label, n_label);
        memset(copy + n_label, 0, 1 + FUNCTION_SLACK);
        *f = (Function){
                .address = number,
                .label = copy,
                .n_label = (uint32_t) n_label,
                .n_name = (uint32_t) n_name,
                .root = -1,
                .n_unhooked = UNHOOKED_UNTOLD,
        };
        return f;
}

/* A name that is no plain text is known by what it is shown as. */
static _cold_ const Function *get_plain(Labels *l, const char *label, size_t n_label,
                                        size_t n_name) {
        _cleanup_buf_ Buf plain = BUF_INIT;
        size_t n_plain_name;

        buf_add_plain(&plain, label, n_name, PLAIN_WORD);
        n_plain_name = plain.n_data;
        buf_add_plain(&plain, label + n_name, n_label - n_name, PLAIN_WORD);
        return plain.error < 0 ? NULL : labels_get(l, plain.data, plain.n_data, n_plain_name);
}

const Function *labels_get(Labels *l, const char *label, size_t n_label, size_t n_name) {
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, label, n_label);
        const HashSlot *slot;
        Function *f;

        hash_each (slot, &l->functions, key) {
                f = (void *) (uintptr_t) slot->value;
                if (f->n_label == n_label && memcmp(f->label, label, n_label) == 0)
                        return f;
        }
        if (_unlikely_(plain_length(label, n_label, PLAIN_WORD) < n_label))
                return get_plain(l, label, n_label, n_name);
        if (l->functions.n == LABELS_MAX)
                return NULL;
        f = function_new(label, n_label, n_name, l->functions.n + 1);
        if (f && hash_add_ptr(&l->functions, key, f) < 0) {
                free(f);
                return NULL;
        }
        return f;
}

void labels_done(Labels *l) {
        for (size_t i = 0; i < l->functions.n_slots; i++)
                free((void *) (uintptr_t) l->functions.slots[i].value);
        hash_done(&l->functions);
}

/* --- remarks ---------------------------------------------------------------------------------- */

const char *text_remark_name(TextRemark remark) {
        static const char *const names[TEXT_N_REMARKS] = {
                [TEXT_NOT_TRACE] = "not of a trace",
                [TEXT_DAMAGED] = "damaged",
                [TEXT_SIBLING] = "call before a late return",
                [TEXT_RETURN_CUT] = "return of a call before the beginning",
                [TEXT_RETURN_UNMATCHED] = "return without its call",
                [TEXT_CALL_UNMATCHED] = "call without its return",
                [TEXT_LEVEL_MISSING] = "level missing above a call",
                [TEXT_TASK_MISSED] = "change from a task that did not run",
                [TEXT_TIME_IMPOSSIBLE] = "shorter than what it called",
                [TEXT_COLUMNS_CHANGED] = "other columns than before",
                [TEXT_LOSS] = "loss",
                [TEXT_GAP] = "behind a gap",
                [TEXT_ANOTHER] = "another trace",
        };

        return names[remark];
}

int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text) {
        TextNote note = { .remark = remark, .line = line };

        if (t->is_trial && remark == TEXT_NOT_TRACE)
                return TEXT_TRY;
        t->after_gap |= remark == TEXT_NOT_TRACE && (n_text > 0 || t->is_dense);
        if (!text_is_wanted(t) && remark != TEXT_ANOTHER)
                return 0;
        t->count.n_remarks[remark]++;
        if (t->n_noted[remark] == TEXT_NOTES_MAX)
                return 0;
        memcpy(note.text, text, MIN(n_text, sizeof(note.text) - 1));
        if (!ARRAY_ADD(t->notes, t->n_notes, note))
                return -ENOMEM;
        t->n_noted[remark]++;
        return 0;
}

void text_cut_open(TextTrace *t) {
        for (size_t i = 0; i < t->stacks.n; i++)
                for (uint32_t k = 0; k < t->stacks.items[i].n; k++) {
                        const Frame *frame = &t->stacks.items[i].frames[k];

                        if (frame->user)
                                (void) text_note_frame(t, frame);
                        else
                                t->count.n_cut_calls++;
                }
}

const StepText text_gap = { .text = "[...]", .n_text = 5 }, text_joint = {};

int text_go_on(TextTrace *t, const Line *line) {
        bool is_gap = TAKE(t->after_gap, false) && t->n_last_line > 0;

        t->is_dense |= t->n_last_line > 0 && line->number == t->n_last_line + 1;
        t->n_last_line = line->number;
        if (!is_gap)
                return 0;
        text_cut_open(t);
        stacks_done(&t->stacks);
        t->cut = &text_gap;
        return text_note(t, TEXT_GAP, line->number, line->text, line->n_text);
}

int text_damaged(TextTrace *t, const Line *line, const char *problem) {
        int r;

        if (t->is_trial)
                return TEXT_TRY;
        if (line->is_last)
                problem = "the text ends in the middle of it";
        r = text_note(t, TEXT_DAMAGED, line->number, problem, strlen(problem));
        return r < 0 ? r : t->stops_at_damage && text_is_wanted(t) ? TEXT_TRACE_E_DAMAGED : 0;
}

int text_lost(TextTrace *t, const Line *line, uint32_t cpu, uint64_t timestamp_ns, uint64_t n,
              Step *ret) {
        t->count.n_losses++;
        t->count.n_lost += n;
        *ret = (Step){ .kind = STEP_LOST, .cpu = cpu, .timestamp_ns = timestamp_ns, .n_lost = n };
        return text_note(t, TEXT_LOSS, line->number, line->text, line->n_text) < 0 ? -ENOMEM : 1;
}

int text_note_frame(TextTrace *t, const Frame *frame) {
        return text_note(t, TEXT_CALL_UNMATCHED, frame->n_line, frame->function->label,
                         frame->function->n_label);
}

int text_note_return(TextTrace *t, const Stack *stack, const Frame *frame, const Step *step,
                     uint64_t line) {
        TextRemark remark = step->depth < stack->floor ? TEXT_RETURN_CUT : TEXT_RETURN_UNMATCHED;

        if (frame) {
                uint64_t duration_ns = step_duration_ns(step);

                if (step->said->untimed || frame->below_ns <= duration_ns)
                        return 0;
                remark = TEXT_TIME_IMPOSSIBLE;
                line = frame->n_line;
        }
        return text_note(t, remark, line, step->function->label, step->function->n_label);
}

/* --- steps ------------------------------------------------------------------------------------ */

static const StepKind step_kinds[] = {
        [LINE_EVENT] = STEP_OTHER,
        [LINE_OPEN] = STEP_ENTER,
        [LINE_LEAF] = STEP_LEAF,
        [LINE_CLOSE] = STEP_LEAVE,
};

/* Where blanks are lost, calls nest as their braces do. */
static int32_t depth_of_braces(const Stack *stack, bool is_close) {
        int32_t open = stack->n > 0 ? stack->frames[stack->n - 1].depth : -1;

        if (!is_close)
                return MIN(open + 1, STEP_DEPTH_MAX);
        if (open >= 0)
                return open;
        return stack->floor > 0 && stack->floor != INT32_MAX ? stack->floor - 1 : 0;
}

/* What ends unseen before a call at the step's depth, and what is odd about that depth. */
static int make_way(TextTrace *t, Stack *stack, const Line *line, const Step *step) {
        const Function *function = step->function;
        const Frame *frame;
        int r = 0;

        while (r >= 0 && (frame = stack_pop_before_call(stack, step->depth)))
                r = text_note_frame(t, frame);
        if (r < 0 || stack->n == 0) {
                t->count.n_roots += stack->n == 0;
                return r;
        }
        frame = &stack->frames[stack->n - 1];
        if (frame->depth == step->depth) {
                for (uint32_t i = stack->n; i > 0 && stack->frames[i - 1].depth == step->depth; i--)
                        stack->frames[i - 1].user = true; /* its return is late, or missing */
                return text_note(t, TEXT_SIBLING, line->number, function->label, function->n_label);
        }
        return frame->depth < step->depth - 1 ? text_note(t, TEXT_LEVEL_MISSING, line->number,
                                                          function->label, function->n_label)
                                              : 0;
}

/*
 * True if a line so much later than all others does not belong to the calls that are open
 *
 * What a tracer prints as a whole, with a heading, may lack the end of a call: one CPU's buffer keeps
 * for days what another one's has overwritten.  Events are not inside of what they are drawn below.
 */
static bool has_leapt(const TextTrace *t, const Step *step) {
        const Stack *stack = stacks_find(&t->stacks, step);
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

/* Of leaves the end does not matter. */
bool text_begins_another(const TextTrace *t, const TextLine *l, uint32_t cpu, int32_t pid) {
        const Step step = { .kind = step_kinds[l->kind],
                            .cpu = cpu,
                            .pid = pid,
                            .depth = l->depth,
                            .timestamp_ns = l->timestamp_ns,
                            .rettime = l->has_duration ? l->duration_ns : 0 };
        uint64_t now_ns = l->timestamp_ns, last_ns = 0;
        uint64_t disorder_ns = t->layout.kind == TEXT_GRAPH ? TEXT_APART_NS : TEXT_BACK_NS;

        if (t->after_command || !t->has_layout || !t->layout.has_times || !l->has_time)
                return t->after_command;
        if (now_ns >= t->latest_ns)
                return t->latest_ns > 0 && now_ns - t->latest_ns > TEXT_LEAP_NS &&
                       has_leapt(t, &step);
        if (t->layout.columns.cpu && cpu < t->n_cpus)
                last_ns = t->cpus[cpu].last_ns;
        return t->after_talk
                       ? now_ns < last_ns || now_ns + TEXT_BACK_NS < t->latest_ns
                       : now_ns + TEXT_BACK_NS < last_ns || now_ns + disorder_ns < t->latest_ns;
}

/* --- calls ------------------------------------------------------------------------------------- */

/* A kernel that has stamped a return before its call prints such a duration. */
#define IS_NONSENSE(ns) ((ns) > (uint64_t) INT64_MAX)

int text_no_function(TextTrace *t, const Line *line) {
        return t->labels.functions.n < LABELS_MAX
                       ? -ENOMEM
                       : text_damaged(t, line, "more functions than any kernel has");
}

static void add_below(Stack *stack, const Step *step) {
        Frame *caller = stack_caller(stack, step->depth);

        if (caller)
                caller->below_ns += step_duration_ns(step);
}

static int enter(TextTrace *t, const Line *line, const TextLine *l, TextCpu *cpu, Stack *stack,
                 Step *ret) {
        int r = make_way(t, stack, line, ret);
        Frame *frame;

        stack->floor = MIN(stack->floor, ret->depth);
        t->count.max_depth = MAX(t->count.max_depth, ret->depth);
        if (r < 0)
                return r;
        if (cpu)
                t->said.irq_begin = TAKE(t->irq_begin, false);
        else
                t->now_ns = MAX(t->now_ns, ret->timestamp_ns);
        if (ret->kind == STEP_ENTER) {
                t->count.n_open++;
                frame = stack_push(stack, ret->function, ret->depth);
                if (!frame)
                        return -ENOMEM;
                frame->start_ns = ret->timestamp_ns;
                frame->n_line = line->number;
                return 1;
        }
        t->count.n_leaf++;
        t->said.untimed |= !l->has_duration;
        ret->calltime = ret->timestamp_ns;
        ret->rettime = ret->calltime + l->duration_ns;
        if (IS_NONSENSE(l->duration_ns))
                return 1;
        if (cpu)
                cpu->clock_ns = text_time(cpu->clock_ns + l->duration_ns);
        add_below(stack, ret);
        return 1;
}

/* Takes off @stack the call that @step, a return, ends, and what has lost its return below it; @step
 * gets its function.  1: @ret is that call; 0: it is missing; -errno. */
static int end_call(TextTrace *t, Stack *stack, Step *step, Frame *ret) {
        Frame *frame;
        int r = 0;

        while (r >= 0 && (frame = stack_pop_deeper(stack, step->depth)))
                r = text_note_frame(t, frame);
        if (r < 0)
                return r;
        frame = stack_find(stack, step->depth, step->function);
        if (!frame) {
                step->function = step->function ?: &labels_unknown;
                return 0;
        }
        *ret = *frame;
        stack_remove(stack, frame);
        step->function = ret->function;
        return 1;
}

/* Where the line does not tell it, times do. */
static uint64_t duration_of(TextTrace *t, const TextLine *l, bool has_times, const Frame *frame) {
        if (l->has_duration)
                return l->duration_ns;
        t->said.untimed = true;
        return has_times && frame ? l->timestamp_ns - MIN(frame->start_ns, l->timestamp_ns) : 0;
}

static int leave(TextTrace *t, const Line *line, const TextLine *l, TextCpu *cpu, Stack *stack,
                 Step *ret) {
        bool has_times = t->said.has_time, is_nonsense;
        Frame ended, *frame;
        uint64_t duration_ns, begin_ns;
        int r;

        t->count.n_close++;
        r = end_call(t, stack, ret, &ended);
        if (r < 0)
                return r;
        frame = r > 0 ? &ended : NULL;
        duration_ns = duration_of(t, l, has_times, frame);
        is_nonsense = cpu && IS_NONSENSE(duration_ns);
        begin_ns = frame ? frame->start_ns : 0;
        if (!has_times && !is_nonsense)
                ret->timestamp_ns = MAX(ret->timestamp_ns, text_time(begin_ns + duration_ns));
        ret->calltime = frame && !has_times
                                ? begin_ns
                                : ret->timestamp_ns - MIN(duration_ns, ret->timestamp_ns);
        ret->rettime = ret->calltime + duration_ns;
        if (!cpu)
                t->now_ns = MAX(t->now_ns, ret->timestamp_ns);
        else if (!has_times)
                cpu->clock_ns = ret->timestamp_ns;
        if (!is_nonsense)
                add_below(stack, ret);
        r = text_note_return(t, stack, frame, ret, line->number);
        stack->floor = MIN(stack->floor, ret->depth);
        return r < 0 ? r : 1;
}

static void take_from_line(const TextLine *l, Step *ret) {
        ret->kind = step_kinds[l->kind];
        ret->depth = l->depth;
        ret->has_retval = l->has_retval;
        ret->retval = l->retval;
        ret->flags = l->flags;
        ret->preempt_count = l->preempt_depth;
}

/* True if a return's comment names nothing that is open, but may be somebody's. */
static bool is_remark(const TextTrace *t, const TextLine *l, const Stack *stack) {
        bool is_open = false;

        if (l->kind != LINE_CLOSE || !(l->is_remark || t->has_remarks))
                return false;
        for (uint32_t i = stack->n; i > 0; i--) {
                const Frame *f = &stack->frames[i - 1];

                is_open |= f->depth == l->depth;
                if (f->depth == l->depth && f->function->n_label == l->n_label &&
                    memcmp(f->function->label, l->label, l->n_label) == 0)
                        return false;
        }
        return is_open;
}

int text_call(TextTrace *t, const Line *line, const TextLine *l, TextCpu *cpu, Step *ret) {
        Stack *stack;

        take_from_line(l, ret);
        t->said.has_time = !cpu || l->has_time;
        stack = stacks_get(&t->stacks, ret);
        if (!stack)
                return -ENOMEM;
        t->has_remarks |= l->is_remark && l->kind != LINE_CLOSE;
        if (l->label && !ret->function && !is_remark(t, l, stack)) {
                ret->function = text_function(t, l);
                if (!ret->function)
                        return text_no_function(t, line);
        }
        if (!cpu && IS_NONSENSE(l->duration_ns))
                return text_damaged(t, line, "its duration is longer than any");
        if (l->is_depth_untold)
                ret->depth = depth_of_braces(stack, l->kind == LINE_CLOSE);
        return ret->kind == STEP_LEAVE ? leave(t, line, l, cpu, stack, ret)
                                       : enter(t, line, l, cpu, stack, ret);
}

int text_event(TextTrace *t, const TextLine *l, size_t n, Step *ret) {
        take_from_line(l, ret);
        t->event[n] = 0;
        ret->text = t->event;
        t->count.n_comments++;
        if (t->layout.kind != TEXT_GRAPH)
                t->now_ns = MAX(t->now_ns, ret->timestamp_ns);
        return 1;
}

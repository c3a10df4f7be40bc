/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One event makes one step, but for two things: an event before which others
 * were lost makes a LOST first and is kept for the next call, and an entry takes
 * its exit along if that is the next event of its CPU.  Task names are looked up
 * when a CPU changes its task.
 */

#include "base/array.h"
#include "calls/census.h"
#include "calls/steps.h"

/* NULL without memory. */
static inline const CpuTask *task_of(Steps *s, const Event *e) {
        CpuTask *c;

        if (!ARRAY_REACH(s->cpus, s->n_cpus, e->cpu))
                return NULL;
        c = &s->cpus[e->cpu];
        if (!c->known || c->pid != e->pid) {
                *c = (CpuTask){ true, e->pid, tasks_comm(s->tasks, e->pid), NULL };
                if (s->owners)
                        c->owner = owners_of(s->owners, e->pid, e->timestamp_ns);
                c->known = c->owner || !s->owners;
        }
        return c->known ? c : NULL;
}

/* 1: @e tells of owners or of what is mapped, and is no step; 0; -ENOMEM. */
static _cold_ int note_others(Steps *s, const Event *e) {
        int told = s->spaces ? spaces_note(s->spaces, e) : 0, owner = 0;

        if (told >= 0 && s->owners && e->kind == EVENT_OTHER)
                owner = owners_note(s->owners, e);
        for (size_t i = 0; owner > 0 && i < s->n_cpus; i++)
                s->cpus[i].known = false;
        if (told >= 0 && owner != 0 && owner != OWNERS_ASKED)
                return owner;
        return told == SPACES_ASKED ? 0 : told;
}

/*
 * The copy that was taken with the user_stack @e: before whatever is behind that on its CPU, but for the kernel_stack, which is
 * held, and what the kernel calls to take either, which is no step.  1, 0, -errno.
 */
static int find_copy(Steps *s, const Event *e, StackCopy *ret) {
        uint64_t from_ns = e->timestamp_ns, addresses[CALLERS_MAX];
        const Event *next = stream_peek_same_cpu(s->stream);
        uint32_t cpu = e->cpu;
        int32_t pid = e->pid, tgid;
        int r = 0;

        for (; next && next->pid == pid && !next->missed; next = stream_peek_same_cpu(s->stream)) {
                const Function *f = NULL;
                int n = 0;

                if (next->kind == EVENT_ENTRY || next->kind == EVENT_EXIT) {
                        f = functions_get(s->functions, next->func, next->timestamp_ns);
                        r = f ? values_hide(s->values, next, f) : -ENOMEM;
                        if (r == 0)
                                break;
                } else {
                        n = foreign_stack(s->foreign, next, addresses, CALLERS_MAX, &tgid);
                        if (n < 0 || tgid != 0 || s->has_held)
                                break;
                        s->held = *next;
                        s->has_held = true;
                        from_ns = next->timestamp_ns;
                        r = values_take_stack(s->values, next, addresses, (size_t) n,
                                              &s->held_callers);
                }
                if (r >= 0)
                        r = stream_drop_same_cpu(s->stream);
                if (r < 0)
                        return r;
        }
        if (!s->copies || (next && next->missed))
                return 0;
        return stack_copies_find(s->copies, cpu, pid, from_ns,
                                 next ? next->timestamp_ns : UINT64_MAX, ret);
}

/* 1: it is a program's stack, and no step unless *@ret is there; 0; -ENOMEM. */
static int take_stack(Steps *s, const Event *e, const Callers **ret) {
        const Function *root = values_take_root(s->values, e);
        uint64_t addresses[CALLERS_MAX], timestamp_ns = e->timestamp_ns;
        StackCopy copy;
        int32_t tgid;
        int n = foreign_stack(s->foreign, e, addresses, CALLERS_MAX, &tgid), r, k = 0;

        if (n < 0)
                return 0;
        if (tgid == 0)
                return values_take_stack(s->values, e, addresses, (size_t) n, ret);
        if (!s->stacks)
                return 0;
        r = spaces_note_thread(s->spaces, e->pid, tgid, timestamp_ns);
        if (r >= 0 && root && s->are_copied)
                r = k = find_copy(s, e, &copy);
        if (r >= 0 && root)
                r = program_stacks_get(s->stacks, tgid, root, timestamp_ns, addresses, (size_t) n,
                                       k > 0 ? &copy : NULL, ret);
        return r < 0 ? r : 1;
}

static int make_other(Steps *s, const Event *e, const Callers *callers, Step *ret) {
        const CpuTask *task = task_of(s, e);
        bool is_late;

        if (!task)
                return -ENOMEM;
        s->late = (StepLate){ .foreign = s->foreign, .event = e };
        if (s->foreign && !callers)
                s->late.sched = foreign_sched(s->foreign, e);
        is_late = s->late.sched.kind != SCHED_NONE;
        *ret = (Step){
                .kind = STEP_OTHER,
                .cpu = e->cpu,
                .pid = e->pid,
                .comm = task->comm,
                .owner = task->owner,
                .timestamp_ns = e->timestamp_ns,
                .flags = e->flags,
                .preempt_count = e->preempt_count,
                .event_id = e->id,
                .text = callers                  ? callers->text
                        : s->foreign && !is_late ? foreign_print(s->foreign, e)
                                                 : NULL,
                .late = is_late ? &s->late : NULL,
                .callers = callers,
        };
        return 0;
}

/* An event of another kind, of which the stream may have lost the place meanwhile. */
static int fill_other(Steps *s, const Event *e, Step *ret) {
        const Callers *callers = NULL;
        Event copy = *e;
        int r = s->values && s->foreign ? take_stack(s, e, &callers) : 0;

        if (r < 0 || (r > 0 && !callers))
                return r;
        return make_other(s, callers ? &copy : e, callers, ret);
}

/* The kernel's stack behind a program's.  As fill_step(). */
static _cold_ int fill_held(Steps *s, Step *ret) {
        s->has_held = false;
        return s->held_callers ? make_other(s, &s->held, s->held_callers, ret) : 1;
}

/* Members that this kind of step does not have are left as they are: most steps are made here. */
static _always_inline_ void fill_call(Step *ret, StepKind kind, const Event *e, const CpuTask *task,
                                      const Function *f) {
        _Static_assert(offsetof(Step, event_id) == offsetof(Event, id) &&
                               offsetof(Step, depth) == offsetof(Event, depth),
                       "a Step begins as an Event");
        memcpy(ret, e, offsetof(Event, depth) + sizeof(e->depth));
        ret->kind = kind;
        ret->function = f;
        ret->comm = task->comm;
        ret->owner = task->owner;
        ret->n_args = 0;
        ret->way = NULL;
        ret->object = NULL;
        ret->text = NULL;
        ret->said = NULL;
        ret->n_left_out = 0;
}

static _always_inline_ void fill_return(const Steps *s, Step *step, const Event *exit) {
        step->calltime = exit->calltime;
        step->rettime = exit->rettime;
        step->overrun = exit->overrun;
        step->has_retval = s->has_retval;
        if (_unlikely_(s->has_retval))
                step->retval = exit->retval;
}

/* True if @next, directly behind the entry @e on its CPU, is its exit. */
static inline bool is_exit_of(const Event *next, const Event *e) {
        return next->kind == EVENT_EXIT && !next->missed && next->pid == e->pid &&
               next->func == e->func;
}

static inline int fill_value(Steps *s, Step *step, const Event *exit) {
        return _unlikely_(s->values != NULL) && !s->has_retval ? values_leave(s->values, exit, step)
                                                               : 0;
}

/*
 * The next event of the CPU, behind those that tell values, which are taken out.  Behind them
 * neither the entry nor its arguments are there any more: @e and @step get copies.
 */
static _cold_ int take_values(Steps *s, Event *e, Step *step, const Event **ret) {
        const Event *next = stream_peek_same_cpu(s->stream);
        int r;

        if (step->n_args > 0) {
                memcpy(s->args, step->args, step->n_args * sizeof(*s->args));
                step->args = s->args;
        }
        r = values_enter(s->values, e, step);
        while (r >= 0 && next && next->pid == e->pid && !next->missed &&
               values_knows(s->values, next)) {
                r = values_note(s->values, next, step);
                if (r >= 0)
                        r = stream_drop_same_cpu(s->stream);
                next = stream_peek_same_cpu(s->stream);
        }
        *ret = next;
        return MIN(r, 0);
}

/* 1: it is none; 0; -ENOMEM. */
static int fill_step(Steps *s, const Event *e, Step *ret) {
        const CpuTask *task;
        const Function *f;
        const Event *next;
        Event copy;
        int r;

        if (_unlikely_(e->kind != EVENT_ENTRY && e->kind != EVENT_EXIT))
                return fill_other(s, e, ret);
        task = task_of(s, e);
        f = functions_get(s->functions, e->func, e->timestamp_ns);
        if (!task || !f)
                return -ENOMEM;
        fill_call(ret, e->kind == EVENT_ENTRY ? STEP_ENTER : STEP_LEAVE, e, task, f);
        r = _unlikely_(s->values != NULL) ? values_hide(s->values, e, f) : 0;
        if (_unlikely_(r != 0))
                return r;
        if (e->kind != EVENT_ENTRY) {
                fill_return(s, ret, e);
                return fill_value(s, ret, e);
        }
        if (_unlikely_(e->payload)) {
                ret->args = e->payload;
                ret->n_args = e->n_args;
        }
        if (_unlikely_(s->values != NULL)) {
                copy = *e;
                e = &copy;
                r = take_values(s, &copy, ret, &next);
                if (r < 0)
                        return r;
        } else
                next = stream_peek_same_cpu(s->stream);
        if (!next || !is_exit_of(next, e))
                return 0;
        ret->kind = STEP_LEAF;
        fill_return(s, ret, next);
        r = fill_value(s, ret, next);
        return r < 0 ? r : stream_drop_same_cpu(s->stream);
}

/* 1: the step is one of ours, 0: it is not; -ENOMEM. */
static int belongs(Steps *s, const Step *step) {
        Stack *stack;
        Place place;
        int r;

        if (step->kind == STEP_OTHER)
                return step->text || step->late; /* asked for by this session alone */
        if (s->keep == STEPS_OF_ROOTS)
                return step->function->root >= 0;
        stack = trees_get(&s->trees, step);
        if (!stack)
                return -ENOMEM;
        place = task_tree_place(stack, step);
        if (place == PLACE_OUTSIDE)
                return 0;
        r = task_tree_is_stray(stack, step, place, s->n_lost);
        return r < 0 ? r : !r;
}

/* As steps_next(), of what does not wait for its value. */
static inline int next_step(Steps *s, uint64_t until_ns, Step *ret) {
        for (;;) {
                const Event *event;
                int r;

                if (_unlikely_(s->has_held)) {
                        r = fill_held(s, ret);
                        if (r <= 0)
                                return r < 0 ? r : 1;
                }
                if (_unlikely_(s->kept))
                        event = TAKE_PTR(s->kept);
                else {
                        r = stream_next(s->stream, until_ns, &event);
                        if (r <= 0)
                                return r;
                        if (_unlikely_(event->missed)) {
                                s->kept = event;
                                s->n_lost++;
                                if (s->values)
                                        values_forget(s->values);
                                if (s->owners)
                                        owners_set_partial(s->owners);
                                if (s->spaces)
                                        spaces_lose(s->spaces, event->timestamp_ns);
                                *ret = (Step){
                                        .kind = STEP_LOST,
                                        .cpu = event->cpu,
                                        .timestamp_ns = event->timestamp_ns,
                                        .n_lost = event->n_missed,
                                };
                                return 1;
                        }
                }
                if (_unlikely_(s->values != NULL) && values_knows(s->values, event)) {
                        r = values_note(s->values, event, NULL);
                        if (r < 0)
                                return r;
                        continue;
                }
                r = _unlikely_(s->owners != NULL || s->spaces != NULL) ? note_others(s, event) : 0;
                if (r == 0)
                        r = fill_step(s, event, ret);
                if (r < 0)
                        return r;
                if (_unlikely_(r > 0))
                        continue;
                if (s->keep == STEPS_ALL && !s->watches_trees)
                        return 1;
                r = belongs(s, ret);
                if (r < 0)
                        return r;
                if (r > 0 || s->keep == STEPS_ALL)
                        return 1;
        }
}

/* What has waited goes first; what may have to wait is copied. */
static _cold_ int next_joined(Steps *s, uint64_t until_ns, Step *ret) {
        for (;;) {
                Step step = {};
                int r;

                if (values_pop(s->values, ret))
                        return 1;
                r = next_step(s, until_ns, &step);
                if (r < 0)
                        return r;
                if (r == 0) {
                        values_forget(s->values);
                        return values_pop(s->values, ret);
                }
                r = values_push(s->values, &step);
                if (r > 0)
                        *ret = step;
                if (r != 0)
                        return r;
        }
}

static _noinline_ int next_any(Steps *s, uint64_t until_ns, Step *ret) {
        int r = s->values ? next_joined(s, until_ns, ret) : next_step(s, until_ns, ret);

        s->is_usual =
                !s->values && !s->spaces && s->keep == STEPS_ALL && !s->watches_trees && !s->kept;
        return r;
}

/* Most are made here, without a call: those of usual events, of a function and a task that are known. */
int steps_next(Steps *s, uint64_t until_ns, Step *ret) {
        const Event *e = stream_peek_usual(s->stream, until_ns);
        const Function *f;
        const CpuTask *task;

        if (_unlikely_(!s->is_usual || !e || e->missed || e->cpu >= s->n_cpus))
                return next_any(s, until_ns, ret);
        task = &s->cpus[e->cpu];
        f = functions_find(s->functions, e->func, e->timestamp_ns);
        if (_unlikely_(!f || !task->known || task->pid != e->pid))
                return next_any(s, until_ns, ret);
        if (e->kind == EVENT_EXIT) {
                fill_call(ret, STEP_LEAVE, e, task, f);
                fill_return(s, ret, e);
        } else if (is_exit_of(e + 1, e)) {
                fill_call(ret, STEP_LEAF, e, task, f);
                fill_return(s, ret, e + 1);
                stream_skip_usual(s->stream, 1);
        } else
                fill_call(ret, STEP_ENTER, e, task, f);
        stream_skip_usual(s->stream, 1);
        return 1;
}

void steps_set_keep(Steps *s, StepsKeep keep) {
        s->is_usual = false;
        s->keep = keep == STEPS_IN_TREES && !s->watches_trees ? STEPS_ALL : keep;
}

void steps_done(Steps *s) {
        stacks_done(&s->trees);
        free(s->cpus);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Steps move frames on and off the stacks of their tasks; when a frame comes off, its figures go up
 * to its caller's frame, and the sinks are told.  A call whose caller was not seen is noted at its
 * stack as an orphan, in case the caller's end is: then it is known what the two share.
 */

#include <assert.h>

#include "analyze/pairing.h"

typedef struct Sink {
        PairingBegin begin;
        PairingEnd end;
        void *userdata;
} Sink;

typedef struct Known {
        const Function *function; /* NULL: free */
        Role role;
} Known;

struct Pairing {
        Sink sinks[PAIRING_SINKS_MAX];
        size_t n_sinks;
        Stacks *stacks;
        Known *known; /* by function; a power of two of them */
        size_t n_known, n_known_room;
        uint64_t total_ns, self_ns, away_ns, n_begun, n_calls, n_cut;
        bool only_ends, has_sched;
        Sched *sched;
        PairingWait wait;
        void *wait_userdata;
};

/* --- what is known of a function -------------------------------------------------------------- */

static Known *known_slot(Known *known, size_t n, const Function *function) {
        uint64_t x = ((uintptr_t) function >> 4) * UINT64_C(0x9e3779b97f4a7c15);
        size_t i = (size_t) (x ^ x >> 32) & (n - 1);

        while (known[i].function && known[i].function != function)
                i = (i + 1) & (n - 1);
        return &known[i];
}

/* ROLE_*, or -ENOMEM. */
static int role_known(Pairing *p, const Function *function) {
        Known *k = p->n_known_room ? known_slot(p->known, p->n_known_room, function) : NULL;

        if (k && k->function)
                return (int) k->role;
        if (p->n_known >= p->n_known_room / 2) {
                size_t n = p->n_known_room ? p->n_known_room * 2 : 1024;
                Known *bigger = calloc(n, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                for (size_t i = 0; i < p->n_known_room; i++)
                        if (p->known[i].function)
                                *known_slot(bigger, n, p->known[i].function) = p->known[i];
                free(p->known);
                p->known = bigger;
                p->n_known_room = n;
                k = known_slot(p->known, n, function);
        }
        *k = (Known){ .function = function, .role = role_of(function) };
        p->n_known++;
        return (int) k->role;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Two calls of one depth follow each other: the first, whose end is late or lost, calls nothing
 * any more. */
static Frame *caller_at(Stack *stack, int32_t depth) {
        for (uint32_t i = stack->n; i > 0; i--)
                if (stack->frames[i - 1].depth < depth && !stack->frames[i - 1].is_over)
                        return &stack->frames[i - 1];
        return NULL;
}

/* Fills what a call inherits, and tells of it. */
static int begin_call(Pairing *p, Stack *stack, const Step *step, Frame *frame) {
        const Frame *caller = caller_at(stack, frame->depth);
        int r = role_known(p, frame->function);

        if (r < 0)
                return r;
        frame->role = (uint8_t) r;
        frame->n_line = step->said ? step->said->line : 0;
        if (step->said && step->said->irq_begin)
                frame->role = ROLE_IRQ;
        frame->is_root = !caller;
        frame->number = ++p->n_begun;
        frame->parent = caller ? caller->number : 0;
        frame->root = caller ? caller->root : frame->function;
        frame->in_irq = frame->role == ROLE_IRQ || (caller && caller->in_irq);
        r = 0;
        for (size_t i = 0; i < p->n_sinks && r >= 0; i++)
                if (p->sinks[i].begin)
                        r = p->sinks[i].begin(p->sinks[i].userdata, stack, caller, frame, step);
        return r;
}

/* Sets what of @call's time is its own. */
static void set_self(Pairing *p, Call *call) {
        uint64_t below_ns = call->frame->below_ns + call->adopted_ns, excess_ns;

        /* Of what is below it some must be another call's, which was lost. */
        if (_unlikely_(call->duration_ns < below_ns)) {
                call->duration_ns = below_ns;
                call->is_cut = true;
        }
        call->self_ns = call->duration_ns - below_ns;
        if (_unlikely_(call->self_ns > PAIRING_NS_MAX - p->self_ns)) {
                excess_ns = call->self_ns - (PAIRING_NS_MAX - p->self_ns);
                call->self_ns -= excess_ns;
                call->duration_ns -= excess_ns;
                call->span_ns -= MIN(call->span_ns, excess_ns);
                call->is_cut = true;
        }
        p->self_ns += call->self_ns;
}

/* @call->frame has come off @call->stack, or was never on it. */
static int end_call(Pairing *p, Call *call) {
        const Frame *frame = call->frame;
        Frame *caller = caller_at(call->stack, frame->depth);
        int r = 0;

        set_self(p, call);
        call->caller = caller;
        call->irq_ns = frame->role == ROLE_IRQ ? call->duration_ns : frame->irq_ns;
        call->softirq_ns = frame->role == ROLE_SOFTIRQ ? call->duration_ns : frame->softirq_ns;
        call->wake_ns = frame->role == ROLE_WAKE ? call->duration_ns : frame->wake_ns;
        call->aside_ns = frame->role >= ROLE_IRQ ? call->duration_ns : frame->aside_ns;
        call->is_root = frame->is_root;
        if (p->has_sched)
                call->blocked_ns = frame->away_ns;
        else if (frame->role == ROLE_WAIT && !frame->has_waited)
                call->blocked_ns = call->self_ns;
        p->n_calls++;
        p->n_cut += call->is_cut;
        if (frame->is_root)
                p->total_ns += call->duration_ns - call->adopted_ns;
        for (size_t i = 0; i < p->n_sinks && r >= 0; i++)
                r = p->sinks[i].end(p->sinks[i].userdata, call);
        if (r < 0)
                return r;
        if (caller) {
                caller->below_ns += call->duration_ns;
                caller->blocked_ns += frame->blocked_ns + call->blocked_ns;
                caller->irq_ns += call->irq_ns;
                caller->softirq_ns += call->softirq_ns;
                caller->wake_ns += call->wake_ns;
                caller->aside_ns += call->aside_ns;
                caller->n_below += frame->n_below + 1;
                caller->n_children++;
                caller->has_waited |= frame->has_waited || frame->role == ROLE_WAIT;
                if (_likely_(caller->depth == frame->depth - 1))
                        return 0;
        }
        return stack_orphan(call->stack, frame->depth, call->span_ns);
}

/* What has ended unseen took until its task's last step, and no less than what it called. */
static int end_unseen(Pairing *p, Stack *stack, const Frame *frame, const Step *step) {
        uint64_t until_ns = stack->last_ns - MIN(stack->last_ns, frame->start_ns);
        Call call = {
                .frame = frame,
                .stack = stack,
                .step = step,
                .duration_ns = MAX(until_ns, frame->below_ns),
                .is_cut = true,
        };

        call.span_ns = call.duration_ns;
        return end_call(p, &call);
}

/* A kernel that has stamped a return before its call says more than any call can take. */
static uint64_t duration_of(const Step *step) {
        uint64_t duration_ns = step_duration_ns(step);

        return duration_ns > INT64_MAX ? 0 : duration_ns;
}

static int end_seen(Pairing *p, Stack *stack, const Frame *frame, const Step *step) {
        uint64_t duration_ns = duration_of(step);
        Call call = {
                .frame = frame,
                .stack = stack,
                .step = step,
                .has_end = true,
                .duration_ns = duration_ns,
                .span_ns = duration_ns,
        };

        return end_call(p, &call);
}

static int pair_call(Pairing *p, Stack *stack, const Step *step) {
        Frame frame, *pushed;
        int r = 0;

        while (r >= 0 && stack_pop_before_call(stack, step->depth, &frame))
                r = end_unseen(p, stack, &frame, step);
        if (r < 0)
                return r;
        (void) stack_adopt(stack, step->depth);
        stack->has_called = true;
        for (uint32_t i = stack->n; i > 0 && stack->frames[i - 1].depth == step->depth; i--)
                stack->frames[i - 1].is_over = true;
        frame = (Frame){ .function = step->function,
                         .depth = step->depth,
                         .start_ns = step->timestamp_ns };
        r = begin_call(p, stack, step, &frame);
        if (r < 0)
                return r;
        if (step->kind == STEP_LEAF)
                return end_seen(p, stack, &frame, step);
        pushed = stack_push(stack, step->function, step->depth);
        if (!pushed)
                return -ENOMEM;
        *pushed = frame;
        return 0;
}

/* An end whose beginning was not seen. */
static int pair_late(Pairing *p, Stack *stack, const Step *step) {
        Frame frame = { .function = step->function, .depth = step->depth };
        uint64_t adopted_ns = stack_adopt(stack, step->depth);
        Call call = {
                .frame = &frame, .stack = stack, .step = step, .has_end = true, .is_late = true
        };
        int r;

        call.span_ns = call.duration_ns = duration_of(step);
        adopted_ns = MIN(adopted_ns, call.span_ns);
        frame.start_ns = step->timestamp_ns - MIN(step->timestamp_ns, call.span_ns);
        call.is_cut = !p->only_ends;
        call.is_adopter = !stack->has_called;
        if (call.is_adopter)
                call.adopted_ns = adopted_ns;
        else
                call.duration_ns -= adopted_ns;
        r = begin_call(p, stack, step, &frame);
        return r < 0 ? r : end_call(p, &call);
}

static int pair_return(Pairing *p, Stack *stack, const Step *step) {
        Frame frame, *found;
        int r = 0;

        while (r >= 0 && stack_pop_deeper(stack, step->depth, &frame))
                r = end_unseen(p, stack, &frame, step);
        if (r < 0)
                return r;
        found = stack_find(stack, step->depth, step->function);
        if (!found)
                return pair_late(p, stack, step);
        (void) stack_adopt(stack, step->depth);
        frame = *found;
        stack_remove(stack, found);
        return end_seen(p, stack, &frame, step);
}

/* --- tasks that leave the CPU ----------------------------------------------------------------- */

/* linux 6.12 include/linux/trace_events.h: TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

/* What only passes a wake-up on. */
static bool is_plumbing(const Function *f) {
        static const char *const names[] = { "try_to_wake_up",
                                             "ttwu_",
                                             "default_wake_function",
                                             "autoremove_wake_function",
                                             "woken_wake_function",
                                             "receiver_wake_function",
                                             "__wake_up",
                                             "wake_up_",
                                             "__wake_q",
                                             "pollwake",
                                             "select_task_rq" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (startswith(f->label, names[i]))
                        return true;
        return false;
}

static Waker waker_of(Pairing *p, const Step *step) {
        const Stack *stack = stacks_find(p->stacks, step);
        Waker w = { .pid = step->pid };
        uint32_t n = stack ? stack->n : 0;

        /* A softirq below a call of the task's own, as where it sends to itself, is the task's. */
        w.is_irq = (step->flags & (n > 0 ? FLAG_HARDIRQ : FLAG_HARDIRQ | FLAG_SOFTIRQ)) != 0;

        if (step->comm)
                memcpy(w.comm, step->comm, strnlen(step->comm, sizeof(w.comm) - 1));
        if (n == 0)
                return w;
        w.is_irq |= stack->frames[n - 1].in_irq;
        while (n > 1 && is_plumbing(stack->frames[n - 1].function))
                n--;
        w.function = stack->frames[n - 1].function;
        return w;
}

static int come_back(Pairing *p, const SchedEvent *e, const Step *step) {
        const Step task = { .pid = e->pid, .cpu = step->cpu };
        uint64_t since_ns, away_ns;
        SchedWait wait;
        Frame *frame;
        Stack *stack;

        if (!sched_come_back(p->sched, e->pid, step->timestamp_ns, &wait))
                return 0;
        stack = stacks_find(p->stacks, &task);
        if (!stack || stack->n == 0)
                return 0;
        frame = &stack->frames[stack->n - 1];
        since_ns = MAX(wait.left_ns, frame->start_ns);
        away_ns = wait.back_ns - MIN(wait.back_ns, since_ns);
        away_ns = MIN(away_ns, PAIRING_NS_MAX - p->away_ns);
        p->away_ns += away_ns;
        frame->away_ns += away_ns;
        stack->last_ns = MAX(stack->last_ns, step->timestamp_ns);
        if (!p->wait)
                return 0;
        return p->wait(p->wait_userdata, &(CallWait){ &wait, stack, frame, step->cpu });
}

static int note_sched(Pairing *p, const Step *step) {
        SchedEvent e = sched_parse(step);
        int r;

        if (e.kind == SCHED_WAKING) {
                Waker waker = waker_of(p, step);

                sched_wake(p->sched, &e, step->timestamp_ns, &waker);
        } else if (e.kind == SCHED_SWITCH) {
                p->has_sched = true;
                r = sched_leave(p->sched, &e, step->timestamp_ns);
                return r < 0 ? r : come_back(p, &e, step);
        }
        return 0;
}

int pairing_step(Pairing *p, const Step *step) {
        Stack *stack;
        int r;

        if (step->kind == STEP_TASK)
                return stacks_name_task(p->stacks, step);
        if (step->kind == STEP_OTHER)
                return note_sched(p, step);
        if (!step_is_call(step))
                return 0;
        stack = stacks_get(p->stacks, step);
        if (!stack)
                return -ENOMEM;
        if (stack->comm[0] == 0 && step->comm)
                memcpy(stack->comm, step->comm, strnlen(step->comm, sizeof(stack->comm) - 1));
        r = step->kind == STEP_LEAVE ? pair_return(p, stack, step) : pair_call(p, stack, step);
        stack->last_ns = MAX(stack->last_ns, step->timestamp_ns);
        return r;
}

int pairing_finish(Pairing *p) {
        int r = 0;

        for (size_t i = 0; i < stacks_n(p->stacks); i++) {
                Stack *stack = stacks_at(p->stacks, i);

                while (r >= 0 && stack->n > 0) {
                        Frame frame = stack->frames[--stack->n];

                        r = end_unseen(p, stack, &frame, NULL);
                }
        }
        return r;
}

uint64_t pairing_total_ns(const Pairing *p) {
        return p->total_ns;
}

uint64_t pairing_n_calls(const Pairing *p) {
        return p->n_calls;
}

uint64_t pairing_n_cut(const Pairing *p) {
        return p->n_cut;
}

void pairing_set_wait(Pairing *p, PairingWait wait, void *userdata) {
        p->wait = wait;
        p->wait_userdata = userdata;
}

bool pairing_has_sched(const Pairing *p) {
        return p->has_sched;
}

void pairing_set_only_ends(Pairing *p) {
        p->only_ends = true;
}

void pairing_add_sink(Pairing *p, PairingBegin begin, PairingEnd end, void *userdata) {
        assert(p->n_sinks < PAIRING_SINKS_MAX);
        p->sinks[p->n_sinks++] = (Sink){ .begin = begin, .end = end, .userdata = userdata };
}

int pairing_new(Pairing **ret) {
        _cleanup_(pairing_freep) Pairing *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        r = stacks_new(&p->stacks);
        if (r >= 0)
                r = sched_new(&p->sched);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(p);
        return 0;
}

Pairing *pairing_free(Pairing *p) {
        if (!p)
                return NULL;
        free(p->known);
        stacks_free(p->stacks);
        sched_free(p->sched);
        free(p);
        return NULL;
}

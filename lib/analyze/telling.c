/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What is held of a task is told: frames move on and off its stack, and when a frame comes off, its figures go up to its
 * caller's frame.
 */

#include "analyze/held.h"
#include "analyze/pairing.h"

/* Within what its caller has left for it, and behind what the caller called before; a tree as a whole behind the task's
 * last one. */
static void place(const Pairing *p, Stack *stack, const HeldCall *c, Frame *frame) {
        Frame *caller = stack->n > 0 ? &stack->frames[stack->n - 1] : NULL;
        Frame *root = caller ? stack->frames : frame;
        uint64_t begin_ns = c->start_ns, end_ns = PAIRING_END_NS, latest_ns, last_ns;

        if (c->has_readings) {
                if (!root->has_offset)
                        root->offset_ns = c->start_ns - c->calltime_ns;
                root->has_offset = true;
                begin_ns = c->calltime_ns + root->offset_ns;
        }
        if (!caller) {
                frame->task = stack->key;
                last_ns = hash_get(&p->ends, (uint64_t) frame->task);
                root->shift_ns = last_ns - MIN(last_ns, begin_ns);
        }
        begin_ns = add_capped(begin_ns, root->shift_ns);
        if (caller) {
                end_ns = caller->end_ns;
                latest_ns = end_ns - MIN(end_ns, caller->left_ns);
                begin_ns = MIN(begin_ns, latest_ns);
                begin_ns = MAX(begin_ns, caller->next_ns);
                caller->left_ns -= MIN(caller->left_ns, c->share_ns);
        }
        frame->begin_ns = frame->next_ns = MIN(begin_ns, end_ns);
        frame->end_ns = c->is_open ? end_ns : MIN(frame->begin_ns + c->share_ns, end_ns);
        frame->left_ns = c->below_ns - c->told_ns;
        frame->is_endless = c->is_open;
        if (caller && !c->is_open)
                caller->next_ns = frame->end_ns;
}

/* With what a call inherits. */
static Frame frame_of(const HeldCall *c, const Frame *caller) {
        return (Frame){ .function = c->function,
                        .way = c->way,
                        .callers = c->callers,
                        .program = c->program,
                        .owner = c->owner,
                        .depth = c->depth,
                        .start_ns = c->start_ns,
                        .n_line = c->n_line,
                        .role = c->role,
                        .input = c->input,
                        .cpu = c->begin_cpu,
                        .args = c->args,
                        .object = c->object,
                        .is_root = !caller,
                        .parent = caller ? caller->number : 0,
                        .tree = c->tree,
                        .root = caller ? caller->root : c->function,
                        .is_cut = c->is_cut,
                        .in_irq = c->role == ROLE_IRQ || (caller && caller->in_irq) };
}

static int tell_begin(Pairing *p, Stack *stack, HeldCall *c, Frame *frame) {
        const Frame *caller = stack->n > 0 ? &stack->frames[stack->n - 1] : NULL;
        int r = 0;

        *frame = frame_of(c, caller);
        frame->number = ++p->n_begun;
        if (p->places)
                place(p, stack, c, frame);
        c->is_begun = true;
        for (size_t i = 0; i < p->n_sinks && r >= 0; i++)
                if (p->sinks[i].begin)
                        r = p->sinks[i].begin(p->sinks[i].userdata, stack, caller, frame);
        return r;
}

/* True if a task that left the CPU in @c waited for input. */
static bool waits_for_input(const Held *h, const HeldCall *c) {
        while (c->input == INPUT_PASSES && c->parent != HELD_TASK)
                c = &h->calls[c->parent];
        return c->input == INPUT_WAITS;
}

/* Without what is of those below it. */
static Call call_of(const HeldCall *c, const Frame *frame, Frame *caller, Stack *stack,
                    const OwnWorks *own_work) {
        return (Call){
                .frame = frame,
                .caller = caller,
                .stack = stack,
                .duration_ns = c->duration_ns,
                .most_ns = c->is_cut ? c->most_ns ?: UINT64_MAX : c->duration_ns,
                .self_ns = c->share_ns - MIN(c->share_ns, c->below_ns),
                .recorded_ns = c->recorded_ns,
                .retval = c->retval,
                .context = c->context,
                .cpu = c->end_cpu,
                .in_own_work =
                        own_work && own_work->n > 0 &&
                        own_works_overlap(own_work, c->start_ns, c->start_ns + c->duration_ns),
                .has_end = c->has_end,
                .is_late = c->is_late,
                .is_cut = c->is_cut,
                .is_root = !caller,
                .has_retval = c->has_retval,
        };
}

/* @frame has come off @stack, or was never on it. */
static int tell_end(Pairing *p, Stack *stack, const Held *h, const HeldCall *c, Frame *frame) {
        Frame *caller = stack->n > 0 ? &stack->frames[stack->n - 1] : NULL;
        Call call = call_of(c, frame, caller, stack, p->own_work);
        int r = 0;

        frame->n_left_out = c->n_left_out;
        frame->n_below += c->n_left_out;
        frame->n_children += c->n_left_out;
        if (p->places && frame->is_endless)
                frame->end_ns = MIN(frame->begin_ns + c->share_ns, PAIRING_END_NS);
        if (p->places)
                frame->end_ns = MAX(frame->end_ns, frame->next_ns);
        if (p->places && !caller)
                r = hash_set(&p->ends, (uint64_t) frame->task, frame->end_ns);
        call.irq_ns = c->role == ROLE_IRQ ? c->share_ns : frame->irq_ns;
        call.softirq_ns = c->role == ROLE_SOFTIRQ ? c->share_ns : frame->softirq_ns;
        call.wake_ns = c->role == ROLE_WAKE ? c->share_ns : frame->wake_ns;
        call.aside_ns = c->role >= ROLE_IRQ ? c->share_ns : frame->aside_ns;
        p->n_own_work += call.is_root && call.in_own_work;
        if (p->has_sched)
                call.blocked_ns = frame->away_ns;
        else if (c->role == ROLE_WAIT && !frame->has_waited) {
                call.blocked_ns = call.self_ns;
                frame->input_ns += waits_for_input(h, c) ? call.self_ns : 0;
        }
        call.is_idle = call.is_root && frame->input_ns > call.duration_ns / 2;
        p->n_calls++;
        p->total_ns += call.self_ns;
        for (size_t i = 0; i < p->n_sinks && r >= 0; i++)
                r = p->sinks[i].end(p->sinks[i].userdata, &call);
        if (caller) {
                if (p->places)
                        caller->next_ns = MAX(caller->next_ns, frame->end_ns);
                caller->blocked_ns += frame->blocked_ns + call.blocked_ns;
                caller->input_ns += frame->input_ns;
                caller->irq_ns += call.irq_ns;
                caller->softirq_ns += call.softirq_ns;
                caller->wake_ns += call.wake_ns;
                caller->aside_ns += call.aside_ns;
                caller->n_below += frame->n_below + 1;
                caller->n_children++;
                caller->has_waited |= frame->has_waited || frame->role == ROLE_WAIT;
        }
        return r;
}

/* Until it was woken, unless it could not be interrupted: as for a lock, or a disk. */
static uint64_t input_of(const Held *h, const HeldCall *c, const HeldWait *w) {
        uint64_t woken_ns = w->wait.woken_ns > 0 ? w->wait.woken_ns : UINT64_MAX;
        uint64_t queued_ns = w->wait.back_ns - MIN(w->wait.back_ns, woken_ns);

        if (w->wait.state != 'S' || !waits_for_input(h, c))
                return 0;
        return w->away_ns - MIN(w->away_ns, queued_ns);
}

/* Of the top frame. */
static int tell_waits(Pairing *p, Stack *stack, const Held *h, const HeldCall *c) {
        Frame *frame = &stack->frames[stack->n - 1];
        int r = 0;

        for (uint32_t i = c->waits; i != 0 && r >= 0; i = h->waits[i - 1].prev) {
                const HeldWait *w = &h->waits[i - 1];

                frame->away_ns += w->away_ns;
                frame->input_ns += input_of(h, c, w);
                if (p->wait)
                        r = p->wait(p->wait_userdata,
                                    &(CallWait){ &w->wait, stack, frame, w->cpu });
        }
        return r;
}

/* Ends frames until the top one is @call's. */
static int tell_ends(Pairing *p, Stack *stack, const Held *h, uint32_t call) {
        int r = 0;

        while (r >= 0 && stack->n > 0 && stack->frames[stack->n - 1].index != call) {
                const HeldCall *c = &h->calls[stack->frames[stack->n - 1].index];

                if (_unlikely_(c->waits != 0))
                        r = tell_waits(p, stack, h, c);
                stack->n--;
                if (r >= 0)
                        r = tell_end(p, stack, h, c, &stack->frames[stack->n]);
        }
        return r;
}

/* A call's frame is where it is on the stack before it is there, and after. */
static int tell_call(Pairing *p, Stack *stack, Held *h, uint32_t i) {
        HeldCall *c = &h->calls[i];
        bool is_below = stack->n > 0 && stack->frames[stack->n - 1].index == c->parent;
        int r = is_below ? 0 : tell_ends(p, stack, h, c->parent);
        Frame *frame = r >= 0 ? stack_next(stack) : NULL;

        if (!frame)
                return r < 0 ? r : -ENOMEM;
        r = tell_begin(p, stack, c, frame);
        if (r < 0)
                return r;
        frame->index = i;
        if (c->last == 0 && c->waits == 0 && !c->is_open)
                return tell_end(p, stack, h, c, frame);
        stack->n++;
        return 0;
}

/* --- from where calls were made --------------------------------------------------------------- */

/* Whether it is one of what its caller's code calls, and not yet told: an interrupt is not, nor what was left out between the
 * two. */
static bool has_way(const HeldCall *c, const HeldCall *caller) {
        return !c->is_begun && c->role != ROLE_IRQ && c->depth == caller->depth + 1;
}

/* Whether calls may lack before @c, whose caller it is. */
static bool may_lack(const Held *h, const HeldCall *caller, const HeldCall *c) {
        const HeldCall *before = c->prev ? &h->calls[c->prev] : caller;

        return caller->n_left_out > 0 || caller->is_late || before->epoch != c->epoch ||
               (caller->is_begun && c->prev == 0);
}

/* Of the @n calls of @caller that have one.  Before each there may be others. */
static int find_ways(Pairing *p, Held *h, const HeldCall *caller, size_t n) {
        bool has_ended = caller->has_end && caller->n_left_out == 0 && caller->epoch == h->epoch;
        size_t end = 2 * n, begin = end;
        int r;

        if (!ARRAY_ROOM(p->callees, p->n_callees_room, end) ||
            !ARRAY_ROOM(p->ways, p->n_ways_room, end))
                return -ENOMEM;
        for (uint32_t k = caller->last; k != 0; k = h->calls[k].prev)
                if (has_way(&h->calls[k], caller)) {
                        p->callees[--begin] = h->calls[k].function;
                        if (may_lack(h, caller, &h->calls[k]))
                                p->callees[--begin] = NULL;
                }
        r = p->find_ways(p->ways_userdata, caller->function, p->callees + begin, end - begin,
                         has_ended, p->ways + begin);
        for (uint32_t k = caller->last; k != 0 && r >= 0; k = h->calls[k].prev)
                if (has_way(&h->calls[k], caller)) {
                        h->calls[k].way = p->ways[--end];
                        end -= may_lack(h, caller, &h->calls[k]);
                }
        return r;
}

static int find_all_ways(Pairing *p, Held *h) {
        int r = 0;

        for (uint32_t i = HELD_TASK + 1; i < h->n && r >= 0; i++) {
                const HeldCall *caller = &h->calls[i];
                size_t n = 0;

                for (uint32_t k = caller->last; k != 0; k = h->calls[k].prev)
                        n += has_way(&h->calls[k], caller);
                if (n > 0)
                        r = find_ways(p, h, caller, n);
        }
        return r;
}

/* --- whole trees ------------------------------------------------------------------------------ */

/* Whether frames are of use to nobody. */
static bool may_tell_trees(const Pairing *p, const Held *h) {
        bool tells_waits = p->wait && h->n_waits > 0;
        size_t i = 0;

        if (p->places)
                return false;
        for (; i < p->n_sinks && p->sinks[i].trees; i++)
                tells_waits &= p->sinks[i].userdata != p->wait_userdata;
        return i == p->n_sinks && !tells_waits;
}

/* What tell_end() adds to a caller; from the last call on, so that all below it has been added. */
static inline void add_up(Pairing *p, const Held *h, uint32_t place) {
        uint32_t i = h->is_tangled ? h->order[place] : place;
        const HeldCall *c = &h->calls[i];
        CallSums *s = &p->sums[i], *caller = &p->sums[c->parent];

        s->self_ns = c->share_ns - MIN(c->share_ns, c->below_ns);
        s->n_below += c->n_left_out;
        s->n_children += c->n_left_out;
        s->end = s->end ?: place + 1;
        if (p->has_sched)
                for (uint32_t w = c->waits; w != 0; w = h->waits[w - 1].prev) {
                        s->self_blocked_ns += h->waits[w - 1].away_ns;
                        s->input_ns += input_of(h, c, &h->waits[w - 1]);
                }
        else if (c->role == ROLE_WAIT && !s->has_waited) {
                s->self_blocked_ns = s->self_ns;
                s->input_ns += waits_for_input(h, c) ? s->self_ns : 0;
        }
        p->total_ns += s->self_ns;
        caller->end = caller->end ?: s->end;
        caller->n_below += s->n_below + 1;
        caller->n_children++;
        caller->has_waited |= s->has_waited || c->role == ROLE_WAIT;
        caller->blocked_ns += s->blocked_ns + s->self_blocked_ns;
        caller->input_ns += s->input_ns;
        if (c->role < ROLE_IRQ && !s->has_aside)
                return;
        caller->has_aside = true;
        caller->irq_ns += c->role == ROLE_IRQ ? c->share_ns : s->irq_ns;
        caller->softirq_ns += c->role == ROLE_SOFTIRQ ? c->share_ns : s->softirq_ns;
        caller->wake_ns += c->role == ROLE_WAKE ? c->share_ns : s->wake_ns;
        caller->aside_ns += c->role >= ROLE_IRQ ? c->share_ns : s->aside_ns;
}

/* And from the first one on, what a call has of its caller. */
static void hand_down(const Pairing *p, const Held *h) {
        for (uint32_t place = 1; place < h->n;) {
                uint32_t i = h->is_tangled ? h->order[place] : place;
                CallSums *s = &p->sums[i];

                s->in_irq = h->calls[i].role == ROLE_IRQ || p->sums[h->calls[i].parent].in_irq;
                place = s->in_irq || s->has_aside ? place + 1 : s->end;
        }
}

static void count_trees(Pairing *p, const Held *h) {
        p->n_begun += h->n - 1;
        p->n_calls += h->n - 1;
        for (uint32_t i = h->calls[HELD_TASK].last; p->own_work && p->own_work->n > 0 && i != 0;
             i = h->calls[i].prev)
                p->n_own_work += own_works_overlap(p->own_work, h->calls[i].start_ns,
                                                   h->calls[i].start_ns + h->calls[i].duration_ns);
}

/* 1: nobody wants more; 0, -errno. */
static int pass_over(Pairing *p, const Stack *stack, const Held *h) {
        uint64_t from_ns = UINT64_MAX, to_ns = 0, total_ns = 0;
        uint64_t end_ns = hash_get(&p->ends, (uint64_t) stack->key);
        int r;

        for (uint32_t place = 1; place < h->n; place++) {
                const HeldCall *c = &h->calls[h->is_tangled ? h->order[place] : place];

                from_ns = MIN(from_ns, c->start_ns);
                to_ns = MAX(to_ns, add_capped(c->start_ns, c->duration_ns));
                if (c->parent != HELD_TASK)
                        continue;
                end_ns = MAX(end_ns, c->start_ns); /* as place() has it */
                end_ns = MIN(add_capped(end_ns, c->share_ns), PAIRING_END_NS);
                total_ns += c->share_ns;
        }
        for (uint32_t i = 0; i < h->n_waits; i++) {
                from_ns = MIN(from_ns, h->waits[i].wait.left_ns);
                to_ns = MAX(to_ns, h->waits[i].wait.back_ns);
        }
        r = p->wants(p->sinks[0].userdata, stack, from_ns, MAX(to_ns, end_ns), end_ns);
        if (r != 0)
                return MIN(r, 0);
        count_trees(p, h);
        p->total_ns += total_ns;
        r = hash_set(&p->ends, (uint64_t) stack->key, end_ns);
        return r < 0 ? r : 1;
}

Call call_trees_root(const CallTrees *t, uint32_t place, Frame *frame) {
        uint32_t i = call_trees_at(t, place);
        const HeldCall *c = &t->calls[i];
        const CallSums *s = &t->sums[i];
        Call call = call_of(c, frame, NULL, t->stack, t->own_work);

        *frame = frame_of(c, NULL);
        frame->blocked_ns = s->blocked_ns;
        frame->irq_ns = s->irq_ns;
        call.blocked_ns = s->self_blocked_ns;
        call.is_idle = s->input_ns > call.duration_ns / 2;
        return call;
}

static int tell_trees(Pairing *p, Stack *stack, const Held *h) {
        CallTrees trees = { .stack = stack,
                            .calls = h->calls,
                            .waits = h->waits,
                            .order = h->is_tangled ? h->order : NULL,
                            .n = h->n,
                            .own_work = p->own_work };
        int r = 0;

        if (!ARRAY_ROOM(p->sums, p->n_sums_room, h->n) || !ARRAY_ROOM(p->room, p->n_room, h->n))
                return -ENOMEM;
        trees.sums = p->sums;
        trees.room = p->room;
        for (uint32_t i = 0; i < h->n; i++)
                p->sums[i] = (CallSums){};
        for (uint32_t i = h->n - 1; i > 0; i--)
                add_up(p, h, i);
        hand_down(p, h);
        count_trees(p, h);
        for (size_t i = 0; i < p->n_sinks && r >= 0; i++)
                r = p->sinks[i].trees(p->sinks[i].userdata, &trees);
        return r;
}

int pairing_tell_task(Pairing *p, Stack *stack) {
        Held *h = stack->data;
        uint32_t n_before = h->n;
        bool is_whole = h->n_open == 0 && stack->n == 0, is_told;
        int r;

        if (!held_is_chain(h))
                return 0;
        r = held_settle(h);
        if (r >= 0 && is_whole && p->wants)
                r = pass_over(p, stack, h);
        is_told = r > 0;
        if (r >= 0 && !is_told && p->find_ways && !p->is_sparse)
                r = find_all_ways(p, h);
        if (r >= 0 && !is_told && is_whole && may_tell_trees(p, h)) {
                r = tell_trees(p, stack, h);
                is_told = true;
        }
        for (uint32_t i = 1; i < h->n && r >= 0 && !is_told; i++) {
                uint32_t call = h->is_tangled ? h->order[i] : i;

                if (!h->calls[call].is_begun)
                        r = tell_call(p, stack, h, call);
        }
        if (r >= 0)
                r = tell_ends(p, stack, h, h->n_open > 0 ? h->open[h->n_open - 1] : HELD_TASK);
        /* Of what stays open, too, held_drop() forgets the waits. */
        for (uint32_t i = 0, n = stack->n; i < n && r >= 0; i++, stack->n = n) {
                stack->n = i + 1;
                r = tell_waits(p, stack, h, &h->calls[stack->frames[i].index]);
                stack->frames[i].index = i + 1; /* as held_drop() numbers them */
        }
        if (r < 0)
                return r;
        held_drop(h);
        p->n_held -= n_before - h->n;
        if (h->n_open > 0)
                return 0;
        stack->data = NULL;
        if (p->n_spare < ELEMENTSOF(p->spare))
                p->spare[p->n_spare++] = h;
        else
                held_free(h);
        return 0;
}

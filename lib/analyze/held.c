/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls are in one array and name each other by index: a caller its last call, a call its elder
 * sibling.  What moves is at the end of such a list, or just before a call that has come, so that it
 * costs no more than what moves.  Usually nothing does, and the array is in the order of the trees.
 */

#include "analyze/held.h"
#include "analyze/role.h"

uint32_t held_ended_by(const Held *h, int32_t depth, bool is_new) {
        uint32_t n = h->n_open;

        if (n == 0)
                return HELD_TASK;
        if (h->calls[h->open[n - 1]].depth > depth)
                return h->open[n - 1];
        /* The first of them was overtaken most. */
        while (n > 1 && h->calls[h->open[n - 2]].depth == depth)
                n--;
        return is_new && h->calls[h->open[n - 1]].n_overtaking >= HELD_OVERTAKING_MAX
                       ? h->open[n - 1]
                       : HELD_TASK;
}

static void doubt(const Held *h, HeldCall *c, uint64_t seen_ns) {
        if (c->is_unsure)
                return;
        c->is_unsure = true;
        c->seen_ns = seen_ns;
        c->seen_epoch = h->epoch;
}

void held_overtake(Held *h, int32_t depth, uint64_t seen_ns, uint64_t over_ns) {
        for (uint32_t i = h->n_open; i > 0 && h->calls[h->open[i - 1]].depth == depth; i--) {
                HeldCall *c = &h->calls[h->open[i - 1]];

                doubt(h, c, seen_ns);
                c->over_ns = c->n_overtaking++ > 0 ? c->over_ns : over_ns;
        }
}

void held_doubt(Held *h, uint64_t seen_ns, uint32_t epoch) {
        for (uint32_t i = 0; i < h->n_open; i++)
                doubt(h, &h->calls[h->open[i]], seen_ns);
        h->epoch = epoch;
}

void held_trust(Held *h, uint32_t call) {
        for (const HeldCall *c = &h->calls[call]; c->parent != HELD_TASK;
             c = &h->calls[c->parent]) {
                HeldCall *caller = &h->calls[c->parent];

                if (!caller->is_unsure || caller->seen_epoch < c->epoch)
                        return;
                caller->is_unsure = false;
        }
}

/* --- moving ----------------------------------------------------------------------------------- */

/* The last digit that linux 6.12 kernel/trace/trace_functions_graph.c, trace_print_graph_duration(),
 * has room for. */
static uint64_t digit_ns(const HeldCall *c) {
        return !c->is_text || c->duration_ns < 10000000 ? 0
               : c->duration_ns < 100000000             ? 10
               : c->duration_ns < 1000000000            ? 100
                                                        : 1000;
}

/* Of one clock: @cpu's. */
static bool are_comparable(const HeldCall *a, const HeldCall *b, uint32_t cpu) {
        return a->has_readings && b->has_readings && a->begin_cpu == cpu;
}

/* True if @c, of a greater depth and before it, lies within @of, that @taken_ns are taken of. */
static bool is_within(const HeldCall *c, const HeldCall *of, uint64_t taken_ns) {
        if (c->is_open || c->depth <= of->depth || (c->is_late && !of->is_late))
                return false;
        if (are_comparable(c, of, of->begin_cpu))
                return c->calltime_ns >= of->calltime_ns;
        if (c->epoch != of->epoch || (of->has_gaps && !of->is_late && c->role != ROLE_IRQ))
                return false;
        return of->is_cut || taken_ns + c->duration_ns <= of->duration_ns + digit_ns(of);
}

void held_adopt(Held *h, uint32_t call) {
        HeldCall *of = &h->calls[call], *parent = &h->calls[of->parent];
        uint32_t last = of->prev, first = 0, i = last;
        uint64_t sum_ns = 0;

        while (i != 0 && is_within(&h->calls[i], of, of->below_ns + sum_ns)) {
                sum_ns += h->calls[i].duration_ns;
                h->calls[i].parent = call;
                first = i;
                i = h->calls[i].prev;
        }
        if (first == 0)
                return;
        of->prev = i;
        h->calls[first].prev = 0;
        parent->below_ns -= sum_ns;
        of->below_ns += sum_ns;
        h->is_tangled = true;
        if (of->last == 0) {
                of->last = last;
                return;
        }
        i = of->last;
        while (h->calls[i].prev != 0)
                i = h->calls[i].prev;
        h->calls[i].prev = last;
}

/* The last call below @call becomes its next sibling. */
static void move_out(Held *h, uint32_t call) {
        HeldCall *c = &h->calls[call], *parent = &h->calls[c->parent];
        uint32_t moved = c->last, next = parent->last;
        HeldCall *m = &h->calls[moved];

        c->last = m->prev;
        c->below_ns -= m->duration_ns;
        parent->below_ns += m->duration_ns;
        m->parent = c->parent;
        m->prev = call;
        h->is_tangled = true;
        if (next == call) {
                parent->last = moved;
                return;
        }
        while (h->calls[next].prev != call)
                next = h->calls[next].prev;
        h->calls[next].prev = moved;
}

void held_let_go(Held *h, uint32_t call) {
        HeldCall *c = &h->calls[call];

        if (!c->is_unsure)
                return;
        while (c->last != 0 && h->calls[c->last].epoch > c->seen_epoch)
                move_out(h, call);
        while (c->waits != 0 && h->waits[c->waits - 1].wait.back_ns > c->seen_ns)
                c->waits = h->waits[c->waits - 1].prev;
}

/* How many of the last calls below @c its duration has no room for, if they are interrupts: as few as
 * may be, but from the beginning of one. */
static uint32_t n_excess(const Held *h, const HeldCall *c) {
        uint64_t below_ns = c->below_ns, most_ns = c->duration_ns + digit_ns(c);
        bool is_begun = false; /* an interrupt begins with the last one that was looked at */
        uint32_t n = 0, i = c->last;

        for (; i != 0 && (below_ns > most_ns || !is_begun); i = h->calls[i].prev) {
                const HeldCall *below = &h->calls[i];

                if (below->is_open || below->is_cut)
                        return 0;
                below_ns -= below->duration_ns;
                is_begun = below->role == ROLE_IRQ;
                n++;
        }
        for (; is_begun && i != 0 && h->calls[i].role == ROLE_IRQ; i = h->calls[i].prev)
                n++;
        return is_begun ? n : 0;
}

void held_expel(Held *h, uint32_t call) {
        const HeldCall *c = &h->calls[call];

        for (; c->last != 0 && !h->calls[c->last].is_open; move_out(h, call)) {
                const HeldCall *last = &h->calls[c->last];

                if (!are_comparable(last, c, c->end_cpu) ||
                    last->calltime_ns < c->calltime_ns + c->duration_ns)
                        break;
        }
        if (c->below_ns > c->duration_ns + digit_ns(c))
                for (uint32_t n = n_excess(h, c); n > 0; n--)
                        move_out(h, call);
}

/* --- settling --------------------------------------------------------------------------------- */

/* The share of @c, which is known, is divided. */
static void divide(Held *h, HeldCall *c) {
        uint64_t room_ns = c->share_ns - MIN(c->share_ns, c->told_ns);
        uint64_t wanted_ns = c->below_ns - c->told_ns,
                 excess_ns = wanted_ns - MIN(wanted_ns, room_ns);

        for (uint32_t i = c->last; i != 0; i = h->calls[i].prev)
                h->calls[i].share_ns = h->calls[i].duration_ns;
        for (int cut = 1; cut >= 0; cut--)
                for (uint32_t i = c->last; i != 0 && excess_ns > 0; i = h->calls[i].prev) {
                        HeldCall *below = &h->calls[i];
                        uint64_t less_ns =
                                below->is_cut == cut ? MIN(below->share_ns, excess_ns) : 0;

                        below->share_ns -= less_ns;
                        c->below_ns -= less_ns;
                        excess_ns -= less_ns;
                        if (below->is_cut)
                                below->duration_ns = below->share_ns;
                }
}

/* From the last one on, so that a caller's place is the one before all that it calls. */
static void put_in_order(Held *h) {
        uint32_t place = h->n, i = HELD_TASK;

        for (;;) {
                while (h->calls[i].last != 0)
                        i = h->calls[i].last;
                for (;;) {
                        h->order[--place] = i;
                        if (i == HELD_TASK)
                                return;
                        if (h->calls[i].prev != 0)
                                break;
                        i = h->calls[i].parent;
                }
                i = h->calls[i].prev;
        }
}

int held_settle(Held *h) {
        if (h->is_tangled) {
                if (!ARRAY_ROOM(h->order, h->n_order_room, h->n))
                        return -ENOMEM;
                put_in_order(h);
        }
        for (uint32_t i = 1; i < h->n && h->has_excess; i++) {
                HeldCall *c = &h->calls[h->is_tangled ? h->order[i] : i];

                if (!c->is_open && c->below_ns > c->share_ns)
                        divide(h, c);
        }
        return 0;
}

bool held_is_chain(const Held *h) {
        uint32_t parent = HELD_TASK;

        for (uint32_t i = 0; i < h->n_open; i++) {
                const HeldCall *c = &h->calls[h->open[i]];

                if (c->parent != parent || h->calls[parent].last != h->open[i])
                        return false;
                parent = h->open[i];
        }
        return true;
}

uint32_t held_overtaken(const Held *h) {
        for (uint32_t i = 0; i < h->n_open; i++)
                if (h->calls[h->open[i]].n_overtaking > 0)
                        return h->open[i];
        return HELD_TASK;
}

void held_drop(Held *h) {
        for (uint32_t i = 1; h->has_args && i < h->n; i++)
                if (!h->calls[i].is_open) {
                        free(h->calls[i].args);
                        free(h->calls[i].object);
                }
        h->calls[HELD_TASK].last = h->n_open > 0;
        for (uint32_t i = 1; i <= h->n_open; i++) {
                HeldCall *c = &h->calls[i];

                *c = h->calls[h->open[i - 1]];
                h->open[i - 1] = i;
                c->parent = i - 1;
                c->last = i < h->n_open ? i + 1 : 0;
                c->prev = 0;
                c->waits = 0;
                c->has_orphans = false;
                c->told_ns = c->below_ns;
        }
        h->n = h->n_open + 1;
        h->n_waits = 0;
        h->is_tangled = h->has_excess = false;
}

int held_wait(Held *h, uint32_t call, const HeldWait *wait) {
        if (!ARRAY_ROOM(h->waits, h->n_waits_room, h->n_waits + 1))
                return -ENOMEM;
        h->waits[h->n_waits] = *wait;
        h->waits[h->n_waits].prev = h->calls[call].waits;
        h->calls[call].waits = ++h->n_waits;
        return 0;
}

/*
 * True if a softirq in which @h's task wakes somebody is its own.  One that is worked off when softirqs are
 * switched on again has preemption off once more than the call that it is below, and one at the end of
 * an interrupt only if that call has a lock.  Nothing is known if none of the softirq's calls is recorded.
 *
 * Source: linux 6.12 kernel/softirq.c, __local_bh_enable_ip() and __irq_exit_rcu().
 */
static bool is_own_softirq(const Held *h) {
        for (uint32_t i = 0; i < h->n_open; i++) {
                const HeldCall *c = &h->calls[h->open[i]];

                if (role_enters_softirq(c->function))
                        return true;
                if (c->in_softirq)
                        return i > 0 && c->preempt_depth > h->calls[h->open[i - 1]].preempt_depth;
        }
        return false;
}

void held_waker(const Held *h, const Step *step, Waker *w) {
        uint32_t n = h ? h->n_open : 0;

        w->is_irq = step->flags & FLAG_HARDIRQ || (n > 0 && h->calls[h->open[n - 1]].in_irq);
        w->in_softirq = !w->is_irq && step->flags & FLAG_SOFTIRQ && !(n > 0 && is_own_softirq(h));
        if (step->comm)
                memcpy(w->comm, step->comm, strnlen(step->comm, sizeof(w->comm) - 1));
        if (n == 0)
                return;
        for (uint32_t i = n; i > 0 && (w->is_irq || w->in_softirq) && !w->what; i--)
                w->what = role_tells(h->calls[h->open[i - 1]].function, false);
        for (uint32_t i = n; i > 0 && !w->released; i--)
                if (h->calls[h->open[i - 1]].releases_lock)
                        w->released = h->calls[h->open[i - 1]].function;
        while (n > 1 && role_passes_wakes_on(h->calls[h->open[n - 1]].function))
                n--;
        w->function = h->calls[h->open[n - 1]].function;
}

void held_tell_waker(const Held *h, Waker *w) {
        for (uint32_t i = h->n_open; i > 0 && (w->is_irq || w->in_softirq); i--) {
                const Function *f = h->calls[h->open[i - 1]].function;

                w->what = w->what ?: role_tells(f, true);
                if (w->in_softirq && w->pid > 0 && !w->function && !w->receiver &&
                    strstr(f->label, "_recvmsg"))
                        w->receiver = f;
        }
}

int held_new(Held **ret) {
        _cleanup_(held_freep) Held *h = calloc(1, sizeof(*h));

        if (!h || !ARRAY_ROOM(h->calls, h->n_room, 1))
                return -ENOMEM;
        h->calls[HELD_TASK] = (HeldCall){ .depth = INT32_MIN };
        h->n = 1;
        *ret = TAKE_PTR(h);
        return 0;
}

Held *held_free(Held *h) {
        if (!h)
                return NULL;
        for (uint32_t i = 1; i < h->n; i++) {
                free(h->calls[i].args);
                free(h->calls[i].object);
        }
        free(h->calls);
        free(h->open);
        free(h->waits);
        free(h->order);
        return mfree(h);
}

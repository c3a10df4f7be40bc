/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Steps put calls down, and end them, at their task (analyze/held.h).  When an outermost call has ended
 * that nobody can have called, as its depth is 0, all that is held of the task is told (telling.c).  An outermost
 * call of another depth waits, in case its caller's end comes: then it was not the outermost one.
 */

#include <assert.h>

#include "analyze/held.h"
#include "analyze/pairing.h"
#include "calls/step.h"

#define HELD_MAX 65536  /* calls, of all tasks, before those that have ended are told */
#define SURE_NS 1000000 /* what comes between a reading and its record is shorter */
#define SLACK_NS 20000  /* and mostly than this */
#define DRIFT 4096      /* of so much time two clocks differ by less than one */

/* --- what is known of a function -------------------------------------------------------------- */

#define RELEASES_LOCK 0x10000

/* ROLE_*, INPUT_* times 256, RELEASES_LOCK; or -ENOMEM. */
static inline int role_known(Pairing *p, const Function *function) {
        uint64_t role = hash_get(&p->roles, hash_key(function));

        if (_unlikely_(role == 0)) {
                role = (uint64_t) role_of(function) + 256 * (uint64_t) role_input(function) + 1;
                role += role_releases_lock(function) ? RELEASES_LOCK : 0;
                if (hash_add(&p->roles, hash_key(function), role) < 0)
                        return -ENOMEM;
        }
        return (int) role - 1;
}

int pairing_tell(Pairing *p) {
        int r = p->all ? pairing_tell(p->all) : 0;

        for (size_t i = 0; i < p->stacks.n && r >= 0; i++)
                if (p->stacks.items[i].data)
                        r = pairing_tell_task(p, &p->stacks.items[i]);
        p->n_held_max = MAX((uint64_t) HELD_MAX, p->n_held * 2);
        return r;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* So that no sum of durations runs over. */
static uint64_t bounded(Pairing *p, uint64_t duration_ns, bool *is_cut) {
        if (_unlikely_(duration_ns > PAIRING_NS_MAX - p->sum_ns)) {
                duration_ns = PAIRING_NS_MAX - p->sum_ns;
                *is_cut = true;
        }
        p->sum_ns += duration_ns;
        return duration_ns;
}

/* When a step proves that calls have ended.  0: nothing does, or a text has no times. */
typedef struct Proof {
        uint64_t at_ns;
        uint64_t
                begin_ns; /* of the call that it is the end of, if what began before that was over */
        uint64_t
                within_ns; /* of a text without times: the call around them took it; 0: not known */
} Proof;

static Proof proof_of(const Step *step, uint64_t begin_ns) {
        return step->said && !step->said->has_time ? (Proof){}
                                                   : (Proof){ step->timestamp_ns, begin_ns, 0 };
}

static uint64_t cut_key(int64_t task, const HeldCall *c) {
        return hash_mix((uint64_t) task ^ hash_mix(c->start_ns)) ^ (uint64_t) c->depth;
}

static void keep_cut(Pairing *p, int64_t task, const HeldCall *c) {
        if (p->n_cuts < PAIRING_CUTS_MAX && ARRAY_ROOM(p->cut, p->n_cuts_room, p->n_cuts + 1) &&
            hash_add(&p->cuts, cut_key(task, c), p->n_cuts + 1) >= 0)
                p->cut[p->n_cuts++] = (struct PairingCut){ task, c->start_ns, c->duration_ns,
                                                           c->most_ns, c->depth };
}

static const struct PairingCut *find_cut(const Pairing *p, int64_t task, const HeldCall *c) {
        const HashSlot *slot;

        hash_each (slot, &p->cuts, cut_key(task, c)) {
                const struct PairingCut *cut = &p->cut[slot->value - 1];

                if (cut->task == task && cut->start_ns == c->start_ns && cut->depth == c->depth)
                        return cut;
        }
        return NULL;
}

/* What has ended unseen took until its task was seen last before a loss, or before something was called
 * in its place, and no less than what it called; and no longer than until that, or @proof. */
static void end_unseen(Pairing *p, Stack *stack, uint32_t call, Proof proof) {
        Held *h = stack->data;
        HeldCall *c = &h->calls[call];
        const struct PairingCut *known = p->all ? find_cut(p->all, stack->key, c) : NULL;
        uint64_t until_ns = c->is_unsure ? c->seen_ns : stack->last_ns;
        uint64_t by_ns = c->n_overtaking > 0            ? c->over_ns
                         : proof.begin_ns > c->start_ns ? proof.begin_ns
                                                        : proof.at_ns;

        c->is_cut = true;
        held_let_go(h, call);
        until_ns = known ? known->duration_ns : until_ns - MIN(until_ns, c->start_ns);
        c->duration_ns = bounded(p, MAX(until_ns, c->below_ns), &c->is_cut);
        c->most_ns = known       ? known->most_ns
                     : by_ns > 0 ? by_ns - MIN(by_ns, c->start_ns)
                                 : proof.within_ns;
        if (c->most_ns > 0)
                c->most_ns = MAX(c->most_ns, c->duration_ns);
        if (p->is_whole)
                keep_cut(p, stack->key, c);
        if (c->has_orphans)
                held_adopt(h, call);
        held_close(h, call);
}

static void end_deeper(Pairing *p, Stack *stack, const Step *step, bool is_new, Proof proof) {
        uint32_t i;

        while ((i = held_ended_by(stack->data, step->depth, is_new)) != HELD_TASK)
                end_unseen(p, stack, i, proof);
}

/* A kernel that has stamped a return before its call says more than any call can take. */
static uint64_t duration_of(const Step *step) {
        uint64_t duration_ns = step_duration_ns(step);

        return duration_ns > INT64_MAX ? 0 : duration_ns;
}

/* Of a return. */
static uint64_t begin_of(const Step *step) {
        return step->timestamp_ns - MIN(step->timestamp_ns, duration_of(step));
}

/*
 * True if the readings of an end are of the beginning that was seen: that one was recorded after its
 * reading, by what the last leaf says of the two clocks, or the records of the two are as far from each
 * other.  With nosleep-time a reading is moved by what a call slept, and it is not.
 */
static inline bool is_sure(const Pairing *p, const HeldCall *c, const Step *step,
                           uint64_t slack_ns) {
        uint64_t lag_ns = c->start_ns - step->calltime;
        uint64_t late_ns = (step->timestamp_ns - step->rettime) - lag_ns;

        if (step->kind == STEP_LEAF || c->is_late || late_ns + slack_ns <= 2 * slack_ns)
                return true;
        return p->has_lag && (int64_t) (lag_ns + slack_ns - p->lag_ns) >= 0;
}

static inline void read_end(Pairing *p, HeldCall *c, const Step *step) {
        bool sure = is_sure(p, c, step, SURE_NS);

        c->duration_ns = bounded(p, duration_of(step), &c->is_cut);
        c->calltime_ns = step->calltime;
        c->has_readings = !c->is_text && sure;
        p->is_moved |= !sure && p->has_lag && c->epoch == p->epoch;
        if (step->kind == STEP_LEAF) {
                p->lag_ns = c->start_ns - c->calltime_ns;
                p->has_lag = true;
        }
        c->recorded_ns = step->kind == STEP_LEAVE ? step->timestamp_ns : 0;
        c->end_cpu = step->cpu;
        c->has_end = true;
        c->has_retval = step->has_retval;
        c->retval = step->has_retval ? step->retval : 0;
}

static inline void end_seen(Pairing *p, Held *h, uint32_t call, const Step *step) {
        HeldCall *c = &h->calls[call];

        read_end(p, c, step);
        if (_unlikely_(c->is_unsure))
                held_trust(h, call);
        if (c->has_orphans)
                held_adopt(h, call);
        if (c->last != 0)
                held_expel(h, call);
        held_close(h, call);
}

#define PREEMPT_DEPTH 0x0f /* since 5.13 the upper half of preempt_count is of migration */

/* A new call; NULL without memory. */
static inline HeldCall *put_down(Pairing *p, Stack *stack, const Step *step) {
        Held *h = stack->data;
        uint32_t parent = held_caller(h, step->depth);
        int role = role_known(p, step->function);
        HeldCall *c = role < 0 ? NULL : held_begin(h, parent, step->depth);

        if (!c)
                return NULL;
        p->n_held++;
        c->function = step->function;
        c->owner = step->owner;
        c->start_ns = step->timestamp_ns;
        c->epoch = p->epoch;
        c->tree = parent == HELD_TASK ? ++p->n_trees : h->calls[parent].tree;
        c->begin_cpu = c->end_cpu = step->cpu;
        c->is_text = step->said;
        c->has_gaps = p->is_sparse || !step->said;
        c->n_line = step->said ? step->said->line : 0;
        c->role = (uint8_t) role;
        c->input = (uint8_t) (role >> 8);
        c->releases_lock = role >= RELEASES_LOCK;
        if (parent == HELD_TASK) {
                stack->last_root = step->function;
                c->context = stack->context;
        }
        c->preempt_depth = step->preempt_count & PREEMPT_DEPTH;
        c->in_softirq = step->flags & FLAG_SOFTIRQ;
        if (_unlikely_(step->said && step->said->irq_begin))
                c->role = ROLE_IRQ;
        c->in_irq = c->role == ROLE_IRQ || h->calls[parent].in_irq;
        return c;
}

/* As the kernel or a text has them, without the object's; NULL: there are none, or no memory. */
static char *arguments_of(const Step *step) {
        Step plain;
        char *text;

        if (step->said && step->said->args && step->said->n_args > 0)
                return asprintf(&text, "(%.*s)", (int) step->said->n_args, step->said->args) < 0
                               ? NULL
                               : text;
        if (step->n_args == 0)
                return NULL;
        text = malloc(arguments_room(step) + 1);
        plain = *step;
        plain.object = NULL;
        if (text)
                *arguments_append(text, &plain) = 0;
        return text;
}

/* They are of what the task does next, but for interrupts, if nothing was lost since. */
static _cold_ void take_callers(const Pairing *p, Stack *stack, HeldCall *c, bool is_new) {
        is_new = is_new && stack->callers_epoch == p->epoch;
        if (is_new && stack->callers && function_is_same(c->function, stack->callers->root))
                c->callers = TAKE_PTR(stack->callers);
        if (is_new && stack->program && function_is_same(c->function, stack->program->root))
                c->program = TAKE_PTR(stack->program);
        if (!c->in_irq)
                stack->callers = stack->program = NULL;
}

static int pair_call(Pairing *p, Stack *stack, Held *h, const Step *step) {
        HeldCall *c;

        /* Usually it is below all that are open. */
        if (h->n_open > 0 && h->calls[h->open[h->n_open - 1]].depth >= step->depth) {
                Proof proof = proof_of(step, 0);

                end_deeper(p, stack, step, true, proof);
                held_overtake(h, step->depth, stack->last_ns, proof.at_ns);
        }
        c = put_down(p, stack, step);
        if (!c)
                return -ENOMEM;
        if (_unlikely_(stack->callers || stack->program))
                take_callers(p, stack, c, true);
        if (_unlikely_(p->keeps_arguments)) {
                c->args = arguments_of(step);
                h->has_args = true;
        }
        if (_unlikely_(step->object != NULL)) {
                c->object = object_copy(step->object);
                h->has_args = true;
                if (!c->object)
                        return -ENOMEM;
        }
        if (step->kind == STEP_LEAF)
                end_seen(p, h, h->n - 1, step);
        return 0;
}

/* An end whose beginning was not seen. */
static int pair_late(Pairing *p, Stack *stack, Held *h, const Step *step, Proof proof) {
        uint32_t overtaken = held_find(h, step->depth, NULL), call;
        HeldCall *c;

        if (overtaken != HELD_TASK && h->calls[overtaken].epoch != p->epoch)
                end_unseen(p, stack, overtaken, proof);
        held_overtake(h, step->depth, stack->last_ns, proof.at_ns);
        call = h->n;
        c = put_down(p, stack, step);
        if (!c)
                return -ENOMEM;
        c->is_late = true;
        read_end(p, c, step);
        c->start_ns = begin_of(step);
        if (c->start_ns < stack->context_ns)
                c->context =
                        c->start_ns < stack->former_ns ? (TraceContext){} : stack->former_context;
        held_adopt(h, call);
        held_expel(h, call);
        held_close(h, call);
        return 0;
}

/* After a loss a return may be of another call of the same function: one that began later, as far as
 * the two clocks, or the times of a text, can tell, or did less than was seen of this one. */
static bool is_anothers(const Pairing *p, const HeldCall *c, const Step *step) {
        const Pairing *all = p->all ?: p;
        uint64_t slack_ns = SLACK_NS + (step->timestamp_ns - c->start_ns) / DRIFT;

        if (c->epoch == p->epoch)
                return false;
        if (step->said && c->is_unsure && c->seen_ns > c->start_ns + duration_of(step) + slack_ns)
                return true;
        if (all->has_lag && !all->is_moved)
                return !is_sure(all, c, step, slack_ns);
        return c->below_ns > duration_of(step) && !is_sure(all, c, step, SURE_NS);
}

/* --- tasks that leave the CPU ----------------------------------------------------------------- */

Waker pairing_waker(const Pairing *p, const Step *step) {
        const Stack *stack = stacks_find(&p->stacks, step);
        Waker w = { .pid = step->pid };

        if (!p->all || !sched_seen_find(&p->all->seen, step, &w))
                held_waker(stack ? stack->data : NULL, step, &w);
        return w;
}

/* What the task calls goes on until here; behind a loss nobody knows. */
static void note_presence(const Pairing *p, Stack *stack, uint64_t at_ns) {
        Held *h = stack ? stack->data : NULL;

        if (!h)
                return;
        if (_unlikely_(h->epoch != p->epoch))
                held_doubt(h, stack->last_ns, p->epoch);
        stack->last_ns = MAX(stack->last_ns, at_ns);
}

static int come_back(Pairing *p, const SchedEvent *e, const Step *step) {
        const Step task = { .pid = e->pid, .cpu = step->cpu };
        HeldWait w = { .cpu = step->cpu };
        uint64_t since_ns;
        Stack *stack;
        uint32_t call;
        Held *h;

        if (!sched_come_back(&p->sched, e->pid, step->timestamp_ns, &w.wait))
                return 0;
        stack = stacks_find(&p->stacks, &task);
        h = stack ? stack->data : NULL;
        if (!h || h->n_open == 0) {
                if (!stack || !stack->last_root || !p->between || p->all || w.wait.state != 'R' ||
                    !w.wait.is_sure)
                        return 0;
                return p->between(p->between_userdata, &(CallWait){ .wait = &w.wait,
                                                                    .stack = stack,
                                                                    .cpu = w.cpu,
                                                                    .after = stack->last_root });
        }
        note_presence(p, stack, step->timestamp_ns);
        call = h->open[h->n_open - 1];
        if (w.wait.woken_ns > 0)
                held_tell_waker(h, &w.wait.waker);
        since_ns = MAX(w.wait.left_ns, h->calls[call].start_ns);
        w.away_ns = w.wait.back_ns - MIN(w.wait.back_ns, since_ns);
        w.away_ns = MIN(w.away_ns, PAIRING_NS_MAX - p->away_ns);
        p->away_ns += w.away_ns;
        return held_wait(h, call, &w);
}

static int note_sched(Pairing *p, const Step *step) {
        SchedEvent e = sched_parse(step);
        int r;

        if (e.kind == SCHED_WAKING) {
                /* Who it was is told to whom waits are told. */
                Waker waker = p->wait || p->between ? pairing_waker(p, step)
                                                    : (Waker){ .pid = step->pid };

                sched_wake(&p->sched, &e, step->timestamp_ns, &waker);
        } else if (e.kind == SCHED_SWITCH) {
                p->has_sched = true;
                note_presence(
                        p, stacks_find(&p->stacks, &(Step){ .pid = e.left_pid, .cpu = step->cpu }),
                        step->timestamp_ns);
                r = sched_leave(&p->sched, &e, step->cpu, step->timestamp_ns);
                return r < 0 ? r : come_back(p, &e, step);
        }
        return 0;
}

/* What keeps others from being told of. */
static void end_overtaken(Pairing *p) {
        for (size_t i = 0; i < p->stacks.n; i++) {
                Stack *stack = &p->stacks.items[i];
                uint32_t call;

                while (stack->data && (call = held_overtaken(stack->data)) != HELD_TASK)
                        end_unseen(p, stack, call, (Proof){});
        }
}

static int pair(Pairing *p, Stack *stack, const Step *step) {
        Held *h = stack->data;
        uint64_t last_ns;
        uint32_t ended;
        int r = 0;

        if (!h)
                h = p->n_spare > 0 ? p->spare[--p->n_spare] : NULL;
        if (!h && held_new(&h) < 0)
                return -ENOMEM;
        stack->data = h;
        if (_unlikely_(h->epoch != p->epoch))
                held_doubt(h, stack->last_ns, p->epoch);
        if (_unlikely_(step->n_left_out > 0) && h->n_open > 0)
                h->calls[h->open[h->n_open - 1]].n_left_out += step->n_left_out;
        if (step->kind == STEP_LEAVE) {
                ended = held_find(h, step->depth, step->function);
                if (_unlikely_(stack->callers || stack->program))
                        take_callers(p, stack, &h->calls[ended], false);
                if (_likely_(ended != HELD_TASK && ended == h->open[h->n_open - 1] &&
                             h->calls[ended].epoch == p->epoch))
                        end_seen(p, h, ended, step);
                else if (ended == HELD_TASK || is_anothers(p, &h->calls[ended], step)) {
                        Proof proof = proof_of(step, begin_of(step));

                        end_deeper(p, stack, step, true, proof);
                        r = pair_late(p, stack, h, step, proof);
                } else {
                        Proof proof = proof_of(step, 0);

                        if (step->said && !step->said->has_time && !step->said->untimed)
                                proof.within_ns = duration_of(step);
                        end_deeper(p, stack, step, false, proof);
                        end_seen(p, h, ended, step);
                }
        } else
                r = pair_call(p, stack, h, step);
        last_ns = step->timestamp_ns + (step->kind == STEP_LEAF ? duration_of(step) : 0);
        stack->last_ns = MAX(stack->last_ns, last_ns);
        if (r >= 0 && h->n_open == 0 && step->depth == 0)
                r = pairing_tell_task(p, stack);
        if (_unlikely_(p->n_held > p->n_held_max) && r >= 0) {
                r = pairing_tell(p);
                if (r >= 0 && p->n_held > HELD_MAX / 2) {
                        end_overtaken(p);
                        r = pairing_tell(p);
                }
        }
        return r;
}

/* Whose request its task works at from now on. */
static int note_context(Pairing *p, const Step *step) {
        Stack *stack = stacks_get(&p->stacks, step);

        if (!stack)
                return -ENOMEM;
        stack->former_context = stack->context;
        stack->former_ns = stack->context_ns;
        stack->context = trace_context_of(step);
        stack->context_ns = step->timestamp_ns;
        return 0;
}

static int note_callers(Pairing *p, const Step *step) {
        const Callers *callers = step->callers;
        Stack *stack = stacks_get(&p->stacks, step);
        Held *h = stack ? stack->data : NULL;

        for (uint32_t i = h ? h->n_open : 0; i > 0; i--) {
                HeldCall *c = &h->calls[h->open[i - 1]];
                const Callers **own = callers->is_program ? &c->program : &c->callers;

                if (!c->function || !function_is_same(c->function, callers->root))
                        continue;
                if (*own)
                        break; /* of one that it calls in turn */
                *own = callers;
                return 0;
        }
        if (!stack)
                return -ENOMEM;
        *(callers->is_program ? &stack->program : &stack->callers) = callers;
        stack->callers_epoch = p->epoch;
        return 0;
}

static void end_all_unseen(Pairing *p) {
        for (size_t i = 0; i < p->stacks.n; i++) {
                Stack *stack = &p->stacks.items[i];
                Held *h = stack->data;

                while (h && h->n_open > 0)
                        end_unseen(p, stack, h->open[h->n_open - 1], (Proof){});
        }
}

/* What is no call. */
static int note(Pairing *p, const Step *step) {
        if (step->kind == STEP_TASK)
                return stacks_name_task(&p->stacks, step);
        if (step->kind == STEP_OTHER && p->keeps_contexts && trace_context_is_said(step))
                return note_context(p, step);
        if (step->kind == STEP_OTHER && step->callers)
                return note_callers(p, step);
        if (step->kind == STEP_OTHER)
                return note_sched(p, step);
        if (step->kind == STEP_LOST) {
                p->epoch++;
                /* Any task may have said something there. */
                for (size_t i = 0; p->keeps_contexts && i < p->stacks.n; i++)
                        p->stacks.items[i].context = (TraceContext){};
                sched_lose(&p->sched, step->timestamp_ns);
        }
        if (step_cuts_all(step))
                end_all_unseen(p);
        return 0;
}

int pairing_step(Pairing *p, const Step *step) {
        Stack *stack;

        if (_unlikely_(!step_is_call(step)))
                return note(p, step);
        stack = stacks_get(&p->stacks, step);
        if (!stack)
                return -ENOMEM;
        if (stack->comm[0] == 0 && step->comm)
                memcpy(stack->comm, step->comm, strnlen(step->comm, sizeof(stack->comm) - 1));
        return pair(p, stack, step);
}

int pairing_see(void *whole, const Step *step) {
        Pairing *p = whole;

        if (step->kind == STEP_OTHER && (!p->from_ns || step->timestamp_ns >= *p->from_ns) &&
            sched_parse(step).kind == SCHED_WAKING) {
                Waker waker = pairing_waker(p, step);

                if (sched_seen_add(&p->seen, step, &waker) < 0)
                        return -ENOMEM;
        }
        return pairing_step(p, step);
}

int pairing_finish(Pairing *p) {
        int r = p->all ? pairing_finish(p->all) : 0;

        end_all_unseen(p);
        return r < 0 ? r : pairing_tell(p);
}

void pairing_set_wait(Pairing *p, PairingWait wait, void *userdata) {
        p->wait = wait;
        p->wait_userdata = userdata;
}

void pairing_add_sink_of_trees(Pairing *p, PairingBegin begin, PairingEnd end, PairingTrees trees,
                               void *userdata) {
        assert(p->n_sinks < PAIRING_SINKS_MAX);
        p->sinks[p->n_sinks++] = (struct PairingSink){ begin, end, trees, userdata };
}

void pairing_add_sink(Pairing *p, PairingBegin begin, PairingEnd end, void *userdata) {
        pairing_add_sink_of_trees(p, begin, end, NULL, userdata);
}

int pairing_new(Pairing **ret) {
        *ret = NEW(Pairing, .n_held_max = HELD_MAX);
        return *ret ? 0 : -ENOMEM;
}

Pairing *pairing_free(Pairing *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->stacks.n; i++)
                p->stacks.items[i].data = held_free(p->stacks.items[i].data);
        while (p->n_spare > 0)
                held_free(p->spare[--p->n_spare]);
        hash_done(&p->roles);
        free(p->callees);
        free(p->ways);
        free(p->sums);
        free(p->room);
        hash_done(&p->ends);
        free(p->seen.items);
        hash_done(&p->cuts);
        free(p->cut);
        stacks_done(&p->stacks);
        sched_done(&p->sched);
        return mfree(p);
}

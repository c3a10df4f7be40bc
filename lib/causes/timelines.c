/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls of a task begin and end in the order in which a pairing tells of them, and times off the CPU end in the order
 * of time.  What was over before anybody looked makes room for what followed.
 *
 * A kernel may write that a task is woken before it writes that it leaves the CPU, since another CPU
 * wakes while this one is about to switch (linux 6.12 kernel/sched/core.c, try_to_wake_up() and
 * __schedule()): then it did not wait for anybody.
 */

#include <assert.h>

#include "base/array.h"
#include "causes/critical-path.h"

/* --- which calls ------------------------------------------------------------------------------ */

typedef struct RootCall {
        uint64_t start_ns, duration_ns, number;
        int64_t task;
        uint32_t cpu;
} RootCall;

/* Of one root those calls that were idle, or those that were not: it is known last whether idle ones are left out. */
struct RootTotal {
        const Function *root;
        bool is_idle;
        uint64_t n, n_whole, total_ns;
        RootCall *slowest; /* whole ones, up to twice as many as are wanted */
        size_t n_slowest;
        uint64_t least_ns; /* what is quicker is not wanted */
};

static int compare_durations(const void *a, const void *b) {
        const RootCall *x = a, *y = b;

        return CMP(y->duration_ns, x->duration_ns)
                       ?: CMP(x->start_ns, y->start_ns) ?: CMP(x->task, y->task);
}

static int compare_windows(const void *a, const void *b) {
        return CMP(((const Window *) a)->begin_ns, ((const Window *) b)->begin_ns);
}

static uint64_t total_key(const Function *root, bool is_idle) {
        return hash_mix(hash_key(root)) + is_idle;
}

static struct RootTotal *find_total(const RootCalls *c, const Function *root, bool is_idle) {
        uint64_t i = hash_get(&c->by_key, total_key(root, is_idle));

        return i > 0 ? &c->totals[i - 1] : NULL;
}

static struct RootTotal *get_total(RootCalls *c, const Function *root, bool is_idle) {
        struct RootTotal *t = find_total(c, root, is_idle);

        if (t)
                return t;
        if (!ARRAY_GROW(c->totals, c->n) ||
            hash_add(&c->by_key, total_key(root, is_idle), c->n + 1) < 0)
                return NULL;
        c->totals[c->n] = (struct RootTotal){ .root = root, .is_idle = is_idle };
        return &c->totals[c->n++];
}

static int keep_root(void *userdata, const Call *call) {
        RootCalls *c = userdata;
        int r = call->is_root ? idle_note(&c->idle, call->frame->function, call) : 0;
        struct RootTotal *t;

        if (!call->is_root || r < 0)
                return r;
        t = get_total(c, call->frame->function, r > 0);
        if (!t)
                return -ENOMEM;
        t->n++;
        t->total_ns += call->duration_ns;
        if (!call->has_end || call->is_cut || call->is_late)
                return 0;
        t->n_whole++;
        if (call->duration_ns < t->least_ns)
                return 0;
        if (t->n_slowest / 2 >= c->n_max) {
                qsort(t->slowest, t->n_slowest, sizeof(*t->slowest), compare_durations);
                t->n_slowest = c->n_max;
                t->least_ns = t->slowest[c->n_max - 1].duration_ns;
        }
        return ARRAY_ADD(t->slowest, t->n_slowest,
                         (RootCall){ .start_ns = call->frame->start_ns,
                                     .duration_ns = call->duration_ns,
                                     .number = call->frame->tree,
                                     .task = call->stack->key,
                                     .cpu = call->cpu })
                       ? 0
                       : -ENOMEM;
}

static int keep_roots(void *userdata, const CallTrees *t) {
        int r = 0;

        for (uint32_t first = 1; first < t->n && r >= 0;
             first = t->sums[call_trees_at(t, first)].end) {
                Frame frame;
                Call call = call_trees_root(t, first, &frame);

                r = keep_root(userdata, &call);
        }
        return r;
}

/* Of @root those that are chosen from: idle ones, or others; NULL: there are none. */
static const struct RootTotal *chosen_total(const RootCalls *c, const Function *root,
                                            bool is_idle) {
        return is_idle && idle_is_left_out(&c->idle) ? NULL : find_total(c, root, is_idle);
}

/* The root with the most time; NULL: there is none. */
static const Function *find_root(const RootCalls *c) {
        const Function *found = NULL;
        uint64_t most_ns = 0;

        for (size_t i = 0; i < c->n; i++) {
                const Function *root = c->totals[i].root;
                const struct RootTotal *busy = chosen_total(c, root, false),
                                       *idle = chosen_total(c, root, true);
                uint64_t total_ns = (busy ? busy->total_ns : 0) + (idle ? idle->total_ns : 0);

                if ((busy || idle) &&
                    (!found || total_ns > most_ns ||
                     (total_ns == most_ns && strcmp(root->label, found->label) < 0))) {
                        most_ns = total_ns;
                        found = root;
                }
        }
        return found;
}

int root_calls_choose(const RootCalls *c, SlowestCalls *ret) {
        const Function *root = find_root(c);
        const struct RootTotal *busy = chosen_total(c, root, false),
                               *idle = chosen_total(c, root, true);
        size_t n_busy = busy ? busy->n_slowest : 0, n = n_busy + (idle ? idle->n_slowest : 0);
        uint64_t n_whole = (busy ? busy->n_whole : 0) + (idle ? idle->n_whole : 0);
        _cleanup_free_ RootCall *calls = calloc(n + 1, sizeof(*calls));

        *ret = (SlowestCalls){ .root = root, .n_all = (busy ? busy->n : 0) + (idle ? idle->n : 0) };
        if (!calls)
                return -ENOMEM;
        if (n_busy > 0)
                memcpy(calls, busy->slowest, n_busy * sizeof(*calls));
        if (n > n_busy)
                memcpy(calls + n_busy, idle->slowest, (n - n_busy) * sizeof(*calls));
        qsort(calls, n, sizeof(*calls), compare_durations);
        ret->number = calls[0].number;
        ret->n = MIN(c->n_max, n_whole / 100 + (n_whole % 100 > 0));
        ret->windows = calloc(ret->n + 1, sizeof(*ret->windows));
        if (!ret->windows)
                return -ENOMEM;
        for (size_t i = 0; i < ret->n; i++)
                ret->windows[i] = (Window){
                        .task = calls[i].task,
                        .begin_ns = calls[i].start_ns,
                        .end_ns = add_capped(calls[i].start_ns, calls[i].duration_ns),
                        .cpu = calls[i].cpu,
                        .label = root->label,
                };
        qsort(ret->windows, ret->n, sizeof(*ret->windows), compare_windows);
        return 0;
}

void root_calls_init(RootCalls *c, Pairing *pairing, size_t n_max) {
        *c = (RootCalls){ .n_max = n_max };
        pairing_add_sink_of_trees(pairing, NULL, keep_root, keep_roots, c);
}

void root_calls_done(RootCalls *c) {
        for (size_t i = 0; i < c->n; i++)
                free(c->totals[i].slowest);
        free(c->totals);
        hash_done(&c->by_key);
        idle_done(&c->idle);
        *c = (RootCalls){};
}

/* --- timelines -------------------------------------------------------------------------------- */

typedef struct Task {
        Timeline timeline; /* first */
        Away away;         /* if is_away */
        Waker early;       /* at early_ns, while it was not away; 0: nobody */
        uint64_t early_ns;
        uint64_t n_lost; /* before it left */
        uint32_t early_cpu;
        bool is_away;
        bool was_seen; /* on a CPU */
} Task;

struct Timelines {
        Window *windows;
        size_t n_windows;
        uint64_t *until; /* the latest end of the windows up to this one */
        Pairing *pairing;
        Task **tasks;
        size_t n_tasks;
        Hash by_key; /* the tasks */
        SchedCpus cpus;
        size_t n_changes; /* of all tasks */
        uint64_t n_lost;
};

/* --- tasks ------------------------------------------------------------------------------------ */

static Task *find(const Timelines *t, int64_t key) {
        return hash_get_ptr(&t->by_key, (uint64_t) key);
}

static Task *get(Timelines *t, int64_t key) {
        Task *task = find(t, key);

        if (task)
                return task;
        if (!ARRAY_GROW(t->tasks, t->n_tasks))
                return NULL;
        task = NEW(Task, .timeline.task = key);
        if (!task || hash_add_ptr(&t->by_key, (uint64_t) key, task) < 0)
                return mfree(task);
        return t->tasks[t->n_tasks++] = task;
}

/* A task has the name that it had last while anybody looked. */
static void name(const Timelines *t, Task *task, const char *comm, uint64_t at_ns) {
        char *room = task->timeline.comm;

        if (!comm || !*comm || (*room && at_ns > t->until[t->n_windows - 1]))
                return;
        memset(room, 0, sizeof(task->timeline.comm));
        memcpy(room, comm, strnlen(comm, sizeof(task->timeline.comm) - 1));
}

/* How many windows begin before @ns. */
static size_t windows_before(const Timelines *t, uint64_t ns) {
        return BISECT(0, t->n_windows, i, t->windows[i].begin_ns < ns);
}

static bool is_wanted(const Timelines *t, uint64_t begin_ns, uint64_t end_ns) {
        size_t n = windows_before(t, end_ns);

        return n > 0 && t->until[n - 1] > begin_ns;
}

/* --- off the CPU ------------------------------------------------------------------------------ */

static int end_away(Timelines *t, Task *task) {
        Away *away = &task->away;
        Timeline *line = &task->timeline;

        task->is_away = false;
        if (away->wait.back_ns <= away->wait.left_ns ||
            !is_wanted(t, away->wait.left_ns, away->wait.back_ns))
                return 0;
        if (!ARRAY_GROW(line->aways, line->n_aways))
                return -ENOMEM;
        line->aways[line->n_aways++] = *away;
        return 0;
}

/* That it came back was not seen. */
static int lose(Timelines *t, Task *task, uint64_t at_ns) {
        task->away.is_lost = true;
        task->away.wait.back_ns = at_ns;
        return end_away(t, task);
}

static int leave(Timelines *t, const SchedEvent *e, const Step *step) {
        Task *task = e->left_pid > 0 ? get(t, e->left_pid) : NULL;
        int r = 0;

        if (!task)
                return e->left_pid > 0 ? -ENOMEM : 0;
        name(t, task, step->comm, step->timestamp_ns);
        if (task->is_away)
                r = lose(t, task, step->timestamp_ns);
        task->away = (Away){
                .wait = { .left_ns = step->timestamp_ns, .state = e->left_state },
                .left_cpu = step->cpu,
                .back_cpu = step->cpu,
                .waker_cpu = step->cpu,
                .had.pid = -1,
        };
        if (task->n_lost != t->n_lost)
                task->early_ns = 0;
        task->n_lost = t->n_lost;
        task->is_away = task->was_seen = true;
        return r;
}

static int come_back(Timelines *t, const SchedEvent *e, const Step *step) {
        Task *task = e->pid > 0 ? get(t, e->pid) : NULL;
        SchedWait *w;

        if (!task)
                return e->pid > 0 ? -ENOMEM : 0;
        name(t, task, e->comm, step->timestamp_ns);
        if (!task->was_seen) { /* where it was before is not known */
                task->was_seen = true;
                task->away = (Away){ .wait.state = 'S', .had.pid = -1 };
                return lose(t, task, step->timestamp_ns);
        }
        if (!task->is_away)
                return 0;
        w = &task->away.wait;
        if (w->woken_ns == 0 && task->early_ns > 0) {
                w->woken_ns = w->left_ns;
                w->waker = task->early;
                task->away.waker_cpu = task->early_cpu;
        }
        task->early_ns = 0;
        w->back_ns = step->timestamp_ns;
        task->away.back_cpu = step->cpu;
        if (w->state == 'R' || w->woken_ns > 0)
                task->away.had = sched_cpus_longest(
                        &t->cpus, step->cpu,
                        w->state == 'R' ? w->left_ns : MAX(w->woken_ns, w->left_ns), w->back_ns);
        return end_away(t, task);
}

static int wake(Timelines *t, const SchedEvent *e, const Step *step) {
        Waker waker = pairing_waker(t->pairing, step);
        Task *task = find(t, e->pid), *by = NULL;

        if (step->pid > 0 && !waker.is_irq && !waker.in_softirq) {
                by = get(t, step->pid);
                if (!by)
                        return -ENOMEM;
                name(t, by, step->comm, step->timestamp_ns);
                by->was_seen = true;
        }
        if (!task || (task->is_away && task->away.wait.woken_ns > 0))
                return 0;
        if (!task->is_away) {
                task->early = waker;
                task->early_ns = step->timestamp_ns;
                task->early_cpu = step->cpu;
                return 0;
        }
        task->away.wait.woken_ns = step->timestamp_ns;
        task->away.wait.waker = waker;
        task->away.waker_cpu = step->cpu;
        return 0;
}

int timelines_step(Timelines *t, const Step *step) {
        SchedEvent e;
        int r;

        if (step->kind == STEP_LOST) {
                t->n_lost++;
                sched_cpus_lose(&t->cpus, step->timestamp_ns);
        }
        if (step_is_call(step)) {
                Task *task = _unlikely_(t->n_lost > 0) ? find(t, step_task_key(step)) : NULL;

                /* After a loss a task that calls is on the CPU, whatever was seen last. */
                return task && task->is_away && task->n_lost != t->n_lost
                               ? lose(t, task, step->timestamp_ns)
                               : 0;
        }
        if (step->kind != STEP_OTHER)
                return 0;
        e = sched_parse(step);
        if (e.kind == SCHED_WAKING)
                return wake(t, &e, step);
        if (e.kind != SCHED_SWITCH)
                return 0;
        r = sched_cpus_switch(&t->cpus, &e, step->cpu, step->timestamp_ns);
        if (r >= 0)
                r = leave(t, &e, step);
        return r < 0 ? r : come_back(t, &e, step);
}

static const Function *called_as(const Frame *frame) {
        return call_way_callee(frame->way, frame->function);
}

/* The pairing knows in which function a task left. */
static int note_wait(void *userdata, const CallWait *wait) {
        Task *task = find(userdata, wait->stack->key);
        Away *away;

        if (!task)
                return 0;
        away = (Away *) timeline_away_before(&task->timeline, wait->wait->left_ns + 1);
        if (away && away->wait.left_ns == wait->wait->left_ns) {
                away->function = called_as(waits_frame(wait));
                if (away->wait.woken_ns == wait->wait->woken_ns)
                        away->wait.waker = wait->wait->waker;
        }
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* @frame is the innermost from now on; NULL: none. */
static int change(Timelines *t, const Stack *stack, uint64_t at_ns, const Frame *frame) {
        Change c = { .at_ns = at_ns,
                     .function = frame ? called_as(frame) : NULL,
                     .is_chosen = frame && frame->is_nested };
        Task *task = get(t, stack->key);
        Timeline *line = task ? &task->timeline : NULL;
        Change *last = line && line->n_changes > 0 ? &line->changes[line->n_changes - 1] : NULL;

        if (!task)
                return -ENOMEM;
        if (!*line->comm)
                name(t, task, stack->comm, at_ns);
        if (last && (last->at_ns >= at_ns || !is_wanted(t, last->at_ns, at_ns))) {
                c.at_ns = MAX(last->at_ns, at_ns);
                *last = c;
                return 0;
        }
        if (t->n_changes++ >= TIMELINES_CHANGES_MAX)
                return 0;
        return ARRAY_ADD(line->changes, line->n_changes, c) ? 0 : -ENOMEM;
}

static int begin_call(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Timelines *t = userdata;

        frame->is_nested = caller && caller->is_nested;
        for (size_t i = frame->is_nested ? t->n_windows : windows_before(t, frame->start_ns);
             i < t->n_windows && t->windows[i].begin_ns == frame->start_ns && !frame->is_nested;
             i++) {
                Window *w = &t->windows[i];

                if (w->task != stack->key || w->function ||
                    !streq(w->label, frame->function->label))
                        continue;
                w->function = frame->function;
                frame->is_nested = true;
        }
        return change(t, stack, frame->begin_ns, frame);
}

static int end_call(void *userdata, const Call *call) {
        return change(userdata, call->stack, call->frame->end_ns, call->caller);
}

/* Of what overlaps no window only that it is over. */
static int wants(void *userdata, const Stack *stack, uint64_t from_ns, uint64_t to_ns,
                 uint64_t end_ns) {
        Timelines *t = userdata;
        size_t n = windows_before(t, add_capped(to_ns, 1));

        return n > 0 && t->until[n - 1] >= from_ns ? 1 : change(t, stack, end_ns, NULL);
}

static int compare_aways(const void *a, const void *b) {
        return CMP(((const Away *) a)->wait.left_ns, ((const Away *) b)->wait.left_ns);
}

/* What is known when all was read: of waits that the pairing did not see the end of, too. */
static void place_aways(const Timelines *t, Timeline *line) {
        for (size_t i = 0; i < line->n_aways; i++) {
                Away *away = &line->aways[i];
                size_t n = timeline_changes_before(line, away->wait.left_ns + 1);

                if (!away->function && n > 0)
                        away->function = line->changes[n - 1].function;
        }
}

int timelines_finish(Timelines *t) {
        int r = 0;

        for (size_t i = 0; i < t->n_tasks && r >= 0; i++) {
                Task *task = t->tasks[i];

                if (task->is_away)
                        r = lose(t, task, UINT64_MAX);
                SORT(task->timeline.aways, task->timeline.n_aways, compare_aways);
                place_aways(t, &task->timeline);
        }
        return r >= 0 && t->n_changes > TIMELINES_CHANGES_MAX ? TIMELINES_E_FULL : r;
}

/* --- asked ------------------------------------------------------------------------------------ */

const Timeline *timelines_get(const Timelines *t, int64_t task) {
        const Task *found = find(t, task);

        return found ? &found->timeline : NULL;
}

const Away *timeline_away_before(const Timeline *t, uint64_t ns) {
        size_t n = BISECT(0, t->n_aways, i, t->aways[i].wait.left_ns < ns);

        return n > 0 ? &t->aways[n - 1] : NULL;
}

size_t timeline_changes_before(const Timeline *t, uint64_t ns) {
        return BISECT(0, t->n_changes, i, t->changes[i].at_ns < ns);
}

int timelines_new(Timelines **ret, Pairing *pairing, Window *windows, size_t n) {
        _cleanup_(timelines_freep) Timelines *t = calloc(1, sizeof(*t));

        assert(n > 0);
        if (!t)
                return -ENOMEM;
        t->windows = windows;
        t->n_windows = n;
        t->pairing = pairing;
        t->until = calloc(n, sizeof(*t->until));
        if (!t->until)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                t->until[i] = MAX(windows[i].end_ns, i > 0 ? t->until[i - 1] : 0);
        pairing->places = true;
        pairing->wants = wants;
        pairing_set_wait(pairing, note_wait, t);
        pairing_add_sink(pairing, begin_call, end_call, t);
        *ret = TAKE_PTR(t);
        return 0;
}

Timelines *timelines_free(Timelines *t) {
        if (!t)
                return NULL;
        for (size_t i = 0; i < t->n_tasks; i++) {
                free(t->tasks[i]->timeline.aways);
                free(t->tasks[i]->timeline.changes);
                free(t->tasks[i]);
        }
        free(t->tasks);
        sched_cpus_done(&t->cpus);
        hash_done(&t->by_key);
        free(t->until);
        return mfree(t);
}

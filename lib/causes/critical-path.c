/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Levels are a stack: the call's task at the bottom, on top of it who woke it, and so on.  The top one
 * is followed backwards until its lower bound, the moment at which the one below it left the CPU; then
 * that one goes on from there.  Whatever is found is put down at once, last things first, and turned
 * round at the end.
 */

#include "base/array.h"
#include "causes/critical-path.h"

typedef struct Level {
        const Timeline *task;
        uint64_t lower_ns;
        uint32_t cpu;    /* on which it runs at present */
        const Away *why; /* of the one below; NULL: there is none */
} Level;

typedef struct Walk {
        const Timelines *timelines;
        const Window *window;
        Level levels[PATH_DEPTH_MAX];
        uint32_t n;
        uint64_t at_ns; /* what is later has been put down */
        CriticalPath *path;
        int r;
} Walk;

/* The time from @begin_ns to where the walk has come. */
static void put(Walk *w, uint64_t begin_ns, const PathSegment *segment) {
        CriticalPath *p = w->path;
        PathSegment *last = p->n > 0 ? &p->segments[p->n - 1] : NULL;
        uint64_t duration_ns = w->at_ns - begin_ns;

        w->at_ns = begin_ns;
        if (duration_ns == 0 || w->r < 0)
                return;
        if (last && last->kind == segment->kind && last->depth == segment->depth &&
            last->pid == segment->pid && last->cpu == segment->cpu &&
            last->function == segment->function && last->awaited == segment->awaited &&
            last->released == segment->released && last->had == segment->had &&
            last->what == segment->what) {
                last->begin_ns = begin_ns;
                last->duration_ns += duration_ns;
                return;
        }
        if (!ARRAY_GROW(p->segments, p->n)) {
                w->r = -ENOMEM;
                return;
        }
        last = &p->segments[p->n++];
        *last = *segment;
        last->begin_ns = begin_ns;
        last->duration_ns = duration_ns;
        last->n = 1;
}

static PathSegment segment_of(const Walk *w, PathKind kind, uint32_t cpu,
                              const Function *function) {
        const Level *level = &w->levels[w->n - 1];
        int64_t task = level->task->task;
        PathSegment s = {
                .kind = kind,
                .depth = w->n - 1,
                .pid = task > 0           ? (int32_t) task
                       : task < INT32_MIN ? 0
                                          : -1,
                .cpu = cpu,
                .had = -1,
                .function = function,
        };

        if (level->why) {
                s.awaited = level->why->function;
                s.released = level->why->wait.waker.released;
        }
        memcpy(s.comm, level->task->comm, sizeof(s.comm));
        return s;
}

static void wait_until(Walk *w, uint64_t begin_ns, PathKind kind, const Function *function) {
        PathSegment s = segment_of(w, kind, PATH_CPU_NONE, function);

        put(w, begin_ns, &s);
}

static void queue(Walk *w, uint64_t begin_ns, const Away *away) {
        PathSegment s = segment_of(w, PATH_QUEUED, away->back_cpu, away->function);

        s.had = away->had.pid;
        if (s.had > 0)
                memcpy(s.had_comm, away->had.comm, sizeof(s.had_comm));
        put(w, begin_ns, &s);
}

/* On the CPU, function by function. */
static void run(Walk *w, uint64_t begin_ns) {
        const Level *level = &w->levels[w->n - 1];
        const Timeline *line = level->task;
        size_t i = timeline_changes_before(line, w->at_ns);

        while (w->at_ns > begin_ns && w->r >= 0) {
                const Change *c = i > 0 ? &line->changes[i - 1] : NULL;
                const Function *function = c ? c->function : NULL;
                PathSegment s;

                if (w->n == 1 && w->window->function && !(c && c->is_chosen))
                        function = w->window->function;
                s = segment_of(w, PATH_RAN, level->cpu, function);
                put(w, c ? MAX(c->at_ns, begin_ns) : begin_ns, &s);
                i -= i > 0;
        }
}

/* Up to who woke it, if that is a task that can be followed. */
static void follow_waker(Walk *w, const Away *away, uint64_t begin_ns) {
        const Waker *waker = &away->wait.waker;
        const Timeline *task = timelines_get(w->timelines, waker->pid);

        if (waker->is_irq || waker->in_softirq) {
                PathSegment s = segment_of(w, waker->is_irq ? PATH_INTERRUPT : PATH_SOFTIRQ,
                                           PATH_CPU_NONE, away->function);

                s.what = waker->what;
                s.receiver = waker->receiver;
                if (waker->in_softirq) {
                        s.had = waker->pid;
                        memcpy(s.had_comm, waker->comm, sizeof(s.had_comm));
                }
                put(w, begin_ns, &s);
                return;
        }
        if (!task || waker->pid <= 0 || w->n == PATH_DEPTH_MAX) {
                wait_until(w, begin_ns, PATH_UNKNOWN, away->function);
                return;
        }
        w->levels[w->n++] =
                (Level){ .task = task, .lower_ns = begin_ns, .cpu = away->waker_cpu, .why = away };
}

/* It came back when the walk has come there. */
static void follow_away(Walk *w, const Away *away) {
        Level *level = &w->levels[w->n - 1];
        uint64_t left_ns = MAX(away->wait.left_ns, level->lower_ns), woken_ns;

        level->cpu = away->left_cpu;
        if (away->wait.state == 'R') {
                queue(w, left_ns, away);
                return;
        }
        if (away->wait.woken_ns == 0) {
                wait_until(w, left_ns, PATH_UNKNOWN, away->function);
                return;
        }
        woken_ns = MAX(away->wait.woken_ns, left_ns);
        woken_ns = MIN(woken_ns, w->at_ns);
        queue(w, woken_ns, away);
        if (w->at_ns > left_ns)
                follow_waker(w, away, left_ns);
}

static void step_back(Walk *w) {
        const Level *level = &w->levels[w->n - 1];
        const Away *away = timeline_away_before(level->task, w->at_ns);

        if (!away || away->wait.back_ns <= level->lower_ns)
                run(w, level->lower_ns);
        else if (away->wait.back_ns < w->at_ns)
                run(w, away->wait.back_ns);
        else if (away->wait.back_ns > w->at_ns || away->is_lost)
                /* It woke somebody, or its call ended, while it was away: something is missing. */
                wait_until(w, MAX(away->wait.left_ns, level->lower_ns), PATH_UNKNOWN,
                           away->function);
        else
                follow_away(w, away);
}

int critical_path_find(CriticalPath *ret, const Timelines *t, const Window *window) {
        const Timeline nothing = { .task = window->task };
        Walk w = { .timelines = t, .window = window, .n = 1, .at_ns = window->end_ns, .path = ret };

        *ret = (CriticalPath){};
        w.levels[0] = (Level){
                .task = timelines_get(t, window->task) ?: &nothing,
                .lower_ns = window->begin_ns,
                .cpu = window->cpu,
        };
        while (w.n > 0 && w.r >= 0) {
                if (w.at_ns <= w.levels[w.n - 1].lower_ns)
                        w.n--;
                else
                        step_back(&w);
        }
        for (size_t i = 0; i < ret->n / 2; i++)
                SWAP(ret->segments[i], ret->segments[ret->n - 1 - i]);
        return w.r;
}

/* --- added up --------------------------------------------------------------------------------- */

static PathSegment *sum_row(PathSum *sum, const PathSegment *s) {
        uint64_t hash = hash_mix(hash_key(s->function) ^ (uint64_t) s->kind << 60 ^
                                 (uint64_t) s->depth << 48);
        CriticalPath *p = &sum->path;
        const HashSlot *slot;
        PathSegment *row;

        hash = hash_mix(hash_mix(hash ^ hash_key(s->awaited)) ^ hash_key(s->released) ^
                        hash_key(s->what));
        hash = sum->tells_pids ? hash_mix(hash ^ (uint32_t) s->pid)
                               : hash_bytes(hash, s->comm, strlen(s->comm));
        hash_each (slot, &sum->by_hash, hash) {
                row = &p->segments[slot->value - 1];
                if (row->kind == s->kind && row->depth == s->depth &&
                    row->function == s->function && row->awaited == s->awaited &&
                    row->released == s->released && row->what == s->what &&
                    (sum->tells_pids ? row->pid == s->pid : streq(row->comm, s->comm)))
                        return row;
        }
        if (!ARRAY_GROW(p->segments, p->n) || hash_add(&sum->by_hash, hash, p->n + 1) < 0)
                return NULL;
        row = &p->segments[p->n++];
        *row = *s;
        row->begin_ns = row->duration_ns = row->n = 0;
        row->cpu = PATH_CPU_NONE;
        row->had = -1;
        memset(row->had_comm, 0, sizeof(row->had_comm));
        return row;
}

int path_sum_add(PathSum *sum, const CriticalPath *path) {
        for (size_t i = 0; i < path->n; i++) {
                const PathSegment *s = &path->segments[i];
                PathSegment *row = sum_row(sum, s);

                if (!row)
                        return -ENOMEM;
                if (row->pid != s->pid)
                        row->pid = -1;
                row->duration_ns += s->duration_ns;
                row->n += s->n;
        }
        return 0;
}

static int compare(const void *a, const void *b) {
        const PathSegment *x = a, *y = b;

        return CMP(y->duration_ns, x->duration_ns)
                       ?: CMP(x->depth, y->depth) ?: strcmp(x->comm, y->comm);
}

void path_sum_sort(PathSum *sum) {
        SORT(sum->path.segments, sum->path.n, compare);
}

void path_sum_done(PathSum *sum) {
        critical_path_done(&sum->path);
        hash_done(&sum->by_hash);
}

void critical_path_done(CriticalPath *p) {
        free(p->segments);
        *p = (CriticalPath){};
}

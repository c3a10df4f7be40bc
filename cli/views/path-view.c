/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The sentence is made of parts: the call's own time by its kind, and that of others by who they are.
 * Of each the function is named in which most of it was. */

#include "base/name.h"
#include "base/unit.h"
#include "cli/views/views.h"

#define PERCENT_SHOWN 1 /* unless more are asked for */
#define PARTS_MAX 3
#define PART_MIN_PERCENT 5

static bool is_of_one(const PathView *v) {
        return v->n_calls == 1;
}

static double percent_of(const PathView *v, uint64_t ns) {
        return v->duration_ns > 0 ? 100.0 * (double) ns / (double) v->duration_ns : 0;
}

/* --- the sentence ----------------------------------------------------------------------------- */

typedef struct Part {
        const PathSegment *first; /* whoever is like it belongs to the part */
        uint64_t ns, kinds_ns[_PATH_KIND_N];
        const Function *released; /* in which the first lock was let go of that it waited for */
        uint64_t released_ns;     /* what was waited for any */
} Part;

static bool belongs(const Part *part, const PathSegment *s) {
        const PathSegment *f = part->first;

        if (f->depth == 0 || s->depth == 0)
                return f->depth == s->depth && f->kind == s->kind;
        return f->pid == s->pid && streq(f->comm, s->comm);
}

static int compare_parts(const void *a, const void *b) {
        const Part *x = a, *y = b;

        return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Of a sum, whose rows come sorted; 0 or -ENOMEM. */
static int make_parts(const CriticalPath *sum, Part **ret, size_t *ret_n) {
        _cleanup_free_ Part *parts = calloc(sum->n + 1, sizeof(Part));
        size_t n = 0;

        if (!parts)
                return -ENOMEM;
        for (size_t i = 0; i < sum->n; i++) {
                const PathSegment *s = &sum->segments[i];
                size_t k = 0;

                while (k < n && !belongs(&parts[k], s))
                        k++;
                if (k == n)
                        parts[n++].first = s;
                parts[k].ns += s->duration_ns;
                parts[k].kinds_ns[s->kind] += s->duration_ns;
                parts[k].released = parts[k].released ?: s->released;
                parts[k].released_ns += s->released ? s->duration_ns : 0;
        }
        SORT(parts, n, compare_parts);
        *ret = TAKE_PTR(parts);
        *ret_n = n;
        return 0;
}

/* Of a part the kind that took longest, and of that the function. */
typedef struct Most {
        const PathSegment *segment;
        bool is_half; /* that function has at least half of that kind */
} Most;

static Most most_of(const CriticalPath *sum, const Part *part) {
        Most most = { .segment = part->first };
        uint64_t most_ns = 0;
        size_t kind = 0;

        for (size_t i = 1; i < _PATH_KIND_N; i++)
                if (part->kinds_ns[i] > part->kinds_ns[kind])
                        kind = i;
        for (size_t i = 0; i < sum->n; i++) {
                const PathSegment *s = &sum->segments[i];
                uint64_t ns = 0;

                if (s->kind != kind || !belongs(part, s))
                        continue;
                /* Each is looked at where it is met first. */
                for (size_t k = i; k < sum->n; k++)
                        if (sum->segments[k].kind == kind &&
                            sum->segments[k].function == s->function &&
                            belongs(part, &sum->segments[k]))
                                ns += sum->segments[k].duration_ns;
                if (ns > most_ns) {
                        most.segment = s;
                        most_ns = ns;
                }
        }
        most.is_half = most_ns >= part->kinds_ns[kind] / 2;
        return most;
}

static void add_in(Buf *out, const Function *function) {
        if (function)
                buf_printf(out, " in %s%s", NAME_QUOTED(function->label),
                           UNHOOKED_TEXT(function->n_unhooked));
}

static void add_task(Buf *out, const char *comm, int32_t pid) {
        buf_adds(out, *comm ? NAME_QUOTED(comm) : "a task");
        if (pid >= 0)
                buf_printf(out, "-%d", pid);
}

/* Of one call, for which the longest such wait tells. */
static void add_queue(Buf *out, const PathView *v, const Part *part) {
        const PathSegment *longest = NULL;

        for (size_t i = 0; is_of_one(v) && i < v->path->n; i++) {
                const PathSegment *s = &v->path->segments[i];

                if (s->kind == PATH_QUEUED && belongs(part, s) &&
                    (!longest || s->duration_ns > longest->duration_ns))
                        longest = s;
        }
        buf_adds(out, " for a CPU");
        if (longest && longest->had == 0)
                buf_adds(out, " that was idle");
        if (!longest || longest->had <= 0)
                return;
        buf_adds(out, " that ");
        add_task(out, longest->had_comm, longest->had);
        buf_adds(out, " had");
}

static Waker waker_of(const PathSegment *s) {
        Waker w = { .pid = s->had,
                    .what = s->what,
                    .is_irq = s->kind == PATH_INTERRUPT,
                    .in_softirq = s->kind == PATH_SOFTIRQ };

        memcpy(w.comm, s->had_comm, sizeof(w.comm));
        return w;
}

/* An interrupt, or a softirq; of one call with the task that ran, if that was the same each time. */
static void add_wakers(Buf *out, const PathView *v, const Part *part, const PathSegment *s) {
        const PathSegment *first = NULL;
        Waker w = waker_of(s);

        w.pid = -1;
        for (size_t i = 0; is_of_one(v) && i < v->path->n; i++) {
                const PathSegment *other = &v->path->segments[i];

                if (other->kind != PATH_SOFTIRQ || !belongs(part, other))
                        continue;
                first = first ?: other;
                w.pid = other->had == first->had ? first->had : -1;
                if (w.pid < 0)
                        break;
                memcpy(w.comm, first->had_comm, sizeof(w.comm));
        }
        if (w.pid < 0)
                memset(w.comm, 0, sizeof(w.comm));
        add_in(out, s->function);
        buf_adds(out, ", woken ");
        waker_describe(out, &w);
}

static void add_running(Buf *out, const PathView *v, const Most *most) {
        const Function *f = most->segment->function;

        if (most->segment->depth == 0) {
                buf_adds(out, "running");
                f = f && !streq(f->label, v->function->label) ? f : NULL;
        } else if (most->is_half) {
                buf_adds(out, f ? "was" : "ran where nothing was recorded");
                add_in(out, f);
                return;
        } else
                buf_adds(out, "ran");
        buf_adds(out, f ? ", longest" : "");
        add_in(out, f);
}

/* The call's own time, or that of a task that it waited for. */
static void add_part(Buf *out, const PathView *v, const Part *part, const Most *most) {
        const PathSegment *s = most->segment;
        bool is_own = s->depth == 0;

        if (!is_own) {
                buf_adds(out, "waiting for ");
                add_task(out, s->comm, s->pid);
                buf_adds(out, ", which ");
        }
        if (s->kind != PATH_RAN)
                buf_adds(out, is_own ? "waiting" : "waited");
        switch (s->kind) {
        case PATH_RAN:
                add_running(out, v, most);
                break;
        case PATH_QUEUED:
                add_queue(out, v, part);
                break;
        case PATH_INTERRUPT:
        case PATH_SOFTIRQ:
                add_wakers(out, v, part, s);
                break;
        default:
                add_in(out, is_own ? s->function : NULL);
                buf_adds(out, " for what was not recorded");
        }
        if (!is_own && part->released && part->released_ns >= part->ns / 2)
                buf_printf(out, " and let go of a lock in %s", NAME_QUOTED(part->released->label));
}

static void add_beginning(const PathView *v, Buf *out) {
        const char *name = NAME_QUOTED(v->function->label);

        if (is_of_one(v))
                buf_printf(out, "%s, call %s, took %s", name, FORMAT_COUNT(v->number),
                           FIGURE_ROUND(v->duration_ns));
        else
                buf_printf(out, "%s: the slowest %s of %s calls took %s each", name,
                           FORMAT_COUNT(v->n_calls), FORMAT_COUNT(v->n_all),
                           FIGURE_ROUND(v->duration_ns / v->n_calls));
}

void path_view_sentence(const PathView *v, Buf *out) {
        const CriticalPath *sum = &v->sum->path;
        _cleanup_free_ Part *parts = NULL;
        const char *separator = ": ";
        size_t n = 0;

        if (v->between && v->between->away.max > v->duration_ns / v->n_calls) {
                waits_describe(out, v->between);
                buf_adds(out, ".\n");
        }
        add_beginning(v, out);
        if (make_parts(sum, &parts, &n) < 0)
                n = 0;
        for (size_t i = 0; i < MIN(n, (size_t) PARTS_MAX); i++) {
                const Most most = most_of(sum, &parts[i]);
                double percent = percent_of(v, parts[i].ns);

                if (i > 0 && percent < PART_MIN_PERCENT)
                        break;
                buf_printf(out, "%s%.0f %% ", separator, percent);
                add_part(out, v, &parts[i], &most);
                separator = "; ";
        }
        buf_adds(out, ".\n");
}

/* --- the table -------------------------------------------------------------------------------- */

/* The longest first, of several that are as long the one that comes first. */
static int compare_segments(const void *a, const void *b) {
        const PathSegment *x = *(const PathSegment *const *) a,
                          *y = *(const PathSegment *const *) b;

        return CMP(y->duration_ns, x->duration_ns) ?: CMP(x, y);
}

/* The last one, in that order, of @limit rows.  NULL without memory. */
static const PathSegment *last_shown(const CriticalPath *p, size_t limit) {
        _cleanup_free_ const PathSegment **sorted = calloc(p->n, sizeof(*sorted));

        for (size_t i = 0; sorted && i < p->n; i++)
                sorted[i] = &p->segments[i];
        if (sorted)
                qsort(sorted, p->n, sizeof(*sorted), compare_segments);
        return sorted ? sorted[limit - 1] : NULL;
}

static void tell_what(Row r, const PathSegment *s) {
        _cleanup_buf_ Buf waker = BUF_INIT;
        Waker w;

        switch (s->kind) {
        case PATH_RAN:
                row_cell(r, "3WHAT", "ran");
                break;
        case PATH_QUEUED:
                if (s->had > 0)
                        row_cell(r, "3WHAT", "waited for a CPU that %s-%d had",
                                 *s->had_comm ? NAME_QUOTED(s->had_comm) : "", s->had);
                else
                        row_cell(r, "3WHAT", "waited for a CPU%s",
                                 s->had == 0 ? " that was idle" : "");
                break;
        case PATH_INTERRUPT:
        case PATH_SOFTIRQ:
                w = waker_of(s);
                waker_describe(&waker, &w);
                row_cell(r, "3WHAT", "waited, woken %.*s", (int) waker.n_data, waker.data);
                break;
        default:
                row_cell(r, "3WHAT", "waited for what was not recorded");
        }
}

static void tell_time(Row r, const PathView *v, uint64_t ns) {
        row_cell(r, "1>TIME", "%s",
                 FIGURE_ROUND(is_of_one(v) ? ns : (ns + v->n_calls / 2) / v->n_calls));
        row_cell(r, "1>SHARE", "%.1f%%", percent_of(v, ns));
}

static void tell(Row r, const PathView *v, const PathSegment *s, bool has_locks) {
        static const char *const kinds[_PATH_KIND_N] = { "ran", "queued", "interrupt", "softirq",
                                                         "unknown" };
        bool is_one = is_of_one(v);
        char pid[16] = "";

        row_function(r, "4IN", s->function);
        row_cell(r, is_one ? "?>AT" : NULL, "%s", FIGURE_ROUND(s->begin_ns - v->start_ns));
        row_known_int(r, "start_ns", is_one, (int64_t) s->begin_ns);
        tell_time(r, v, s->duration_ns);
        row_int(r, "duration_ns", (int64_t) s->duration_ns);
        row_count(r, is_one ? NULL : "1>TIMES", "count", s->n);
        row_string(r, NULL, "kind", kinds[s->kind]);
        tell_what(r, s);
        row_int(r, "depth", s->depth);
        row_task(r, NULL, s->comm, s->pid);
        if (s->pid >= 0)
                (void) snprintf(pid, sizeof(pid), "-%d", s->pid);
        row_cell(r, "2TASK", "%*s%s%s", (int) s->depth * 2, "",
                 *s->comm ? NAME_QUOTED(s->comm) : "?", pid);
        row_known_int(r, "cpu", s->cpu != PATH_CPU_NONE, s->cpu);
        if (s->cpu == PATH_CPU_NONE)
                row_cell(r, is_one ? "2?>CPU" : NULL, " ");
        else
                row_cell(r, is_one ? "2?>CPU" : NULL, "%u", s->cpu);
        row_string(r, NULL, "cpu_had", *s->had_comm ? s->had_comm : NULL);
        row_known_int(r, "cpu_had_pid", s->had >= 0, s->had);
        row_string(r, NULL, "what", s->what);
        row_label(r, "awaited_in", s->awaited);
        if (r.is_text && s->depth > 0)
                row_function(r, "5?WHILE AWAITED IN", s->awaited);
        else
                row_cell(r, "5?WHILE AWAITED IN", " ");
        row_label(r, "lock_released_in", s->released);
        row_cell(r, has_locks ? "6LOCK RELEASED IN" : NULL, "%s",
                 s->released ? NAME_QUOTED(s->released->label) : " ");
}

int path_view_tell(const PathView *v, Table *t, size_t limit) {
        const CriticalPath *p = is_of_one(v) ? v->path : &v->sum->path;
        size_t n_max = limit > 0 ? limit : PATH_VIEW_LIMIT, n_left = 0;
        const PathSegment *last = NULL; /* all are shown */
        uint64_t left_ns = 0;
        bool has_locks = false;

        if (!t->list && p->n > n_max && !(last = last_shown(p, n_max)))
                return -ENOMEM;
        for (size_t i = 0; i < p->n; i++)
                has_locks |= p->segments[i].released != NULL;
        for (size_t i = 0; i < p->n; i++) {
                const PathSegment *s = &p->segments[i];

                if ((t->list || limit > 0 || percent_of(v, s->duration_ns) >= PERCENT_SHOWN) &&
                    (!last || compare_segments(&s, &last) <= 0)) {
                        tell(table_row(t), v, s, has_locks);
                } else {
                        n_left++;
                        left_ns += s->duration_ns;
                }
        }
        if (n_left > 0) {
                Row rest = table_rest(t);

                tell_time(rest, v, left_ns);
                row_cell(rest, "2TASK", "%zu others", n_left);
        }
        return t->error;
}

json_t *path_view_json(const PathView *v, json_t *segments) {
        Row r = row_of_json();
        bool is_one = is_of_one(v);

        row_function(r, NULL, v->function);
        row_int(r, "calls", (int64_t) v->n_calls);
        row_int(r, "of_calls", (int64_t) v->n_all);
        row_known_int(r, "number", is_one, (int64_t) v->number);
        row_known_int(r, "start_ns", is_one, (int64_t) v->start_ns);
        row_int(r, "duration_ns", (int64_t) v->duration_ns);
        row_string(r, NULL, "task", is_one && *v->comm ? v->comm : NULL);
        row_known_int(r, "pid", is_one && v->task >= 0, v->task);
        row_json(r, "between_calls", waits_json(v->between));
        row_json(r, "left_out", idle_json(v->idle));
        row_json(r, "segments", segments);
        return r.json;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The sentence is made of parts: the call's own time by its kind, and that of others by who they are.
 * Of each the function is named in which most of it was. */

#include "base/name.h"
#include "base/unit.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/path-view.h"

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
        uint64_t ns;
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
                size_t k = 0;

                while (k < n && !belongs(&parts[k], &sum->segments[i]))
                        k++;
                if (k == n)
                        parts[n++].first = &sum->segments[i];
                parts[k].ns += sum->segments[i].duration_ns;
        }
        if (n > 0)
                qsort(parts, n, sizeof(*parts), compare_parts);
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
        uint64_t kinds[_PATH_KIND_N] = {}, most_ns = 0;
        Most most = { .segment = part->first };
        size_t kind = 0;

        for (size_t i = 0; i < sum->n; i++)
                if (belongs(part, &sum->segments[i]))
                        kinds[sum->segments[i].kind] += sum->segments[i].duration_ns;
        for (size_t i = 1; i < _PATH_KIND_N; i++)
                if (kinds[i] > kinds[kind])
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
        most.is_half = most_ns >= kinds[kind] / 2;
        return most;
}

/* The lock, if it is what half of the part at least was waited for. */
static const Function *released_by(const CriticalPath *sum, const Part *part) {
        const Function *released = NULL;
        uint64_t ns = 0;

        for (size_t i = 0; i < sum->n; i++)
                if (sum->segments[i].released && belongs(part, &sum->segments[i])) {
                        released = released ?: sum->segments[i].released;
                        ns += sum->segments[i].duration_ns;
                }
        return ns >= part->ns / 2 ? released : NULL;
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

static void add_own(Buf *out, const PathView *v, const Part *part, const PathSegment *s) {
        switch (s->kind) {
        case PATH_RAN:
                buf_adds(out, "running");
                if (s->function && !streq(s->function->label, v->function->label)) {
                        buf_adds(out, ", longest");
                        add_in(out, s->function);
                }
                break;
        case PATH_QUEUED:
                buf_adds(out, "waiting");
                add_queue(out, v, part);
                break;
        case PATH_INTERRUPT:
                buf_adds(out, "waiting for an interrupt or a timer");
                add_in(out, s->function);
                break;
        default:
                buf_adds(out, "waiting");
                add_in(out, s->function);
                buf_adds(out, " for what was not recorded");
        }
}

static void add_other(Buf *out, const PathView *v, const Part *part, const Most *most,
                      const Function *released) {
        const PathSegment *s = most->segment;

        buf_adds(out, "waiting for ");
        add_task(out, s->comm, s->pid);
        buf_adds(out, ", which ");
        switch (s->kind) {
        case PATH_RAN:
                if (!most->is_half) {
                        buf_adds(out, "ran");
                        if (s->function)
                                buf_adds(out, ", longest");
                        add_in(out, s->function);
                } else if (s->function) {
                        buf_adds(out, "was");
                        add_in(out, s->function);
                } else
                        buf_adds(out, "ran where nothing was recorded");
                break;
        case PATH_QUEUED:
                buf_adds(out, "waited");
                add_queue(out, v, part);
                break;
        case PATH_INTERRUPT:
                buf_adds(out, "waited for an interrupt or a timer");
                add_in(out, s->function);
                break;
        default:
                buf_adds(out, "waited for what was not recorded");
        }
        if (released)
                buf_printf(out, " and let go of a lock in %s", NAME_QUOTED(released->label));
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

        add_beginning(v, out);
        if (make_parts(sum, &parts, &n) < 0)
                n = 0;
        for (size_t i = 0; i < MIN(n, (size_t) PARTS_MAX); i++) {
                const Most most = most_of(sum, &parts[i]);
                double percent = percent_of(v, parts[i].ns);

                if (i > 0 && percent < PART_MIN_PERCENT)
                        break;
                buf_printf(out, "%s%.0f %% ", separator, percent);
                if (most.segment->depth == 0)
                        add_own(out, v, &parts[i], most.segment);
                else
                        add_other(out, v, &parts[i], &most, released_by(sum, &parts[i]));
                separator = "; ";
        }
        buf_adds(out, ".\n");
}

/* --- the table -------------------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

/* The shortest that is shown, of @limit rows; those as long as it are shown if they come first. */
static int find_shortest(const CriticalPath *p, size_t limit, uint64_t *ret_ns, size_t *ret_n) {
        _cleanup_free_ uint64_t *sorted = NULL;
        size_t n = 0;

        *ret_ns = 0;
        *ret_n = p->n;
        if (p->n <= limit)
                return 0;
        sorted = calloc(p->n, sizeof(*sorted));
        if (!sorted)
                return -ENOMEM;
        for (size_t i = 0; i < p->n; i++)
                sorted[i] = p->segments[i].duration_ns;
        qsort(sorted, p->n, sizeof(*sorted), compare_u64);
        *ret_ns = sorted[p->n - limit];
        for (size_t i = p->n - limit; i < p->n && sorted[i] == *ret_ns; i++)
                n++;
        *ret_n = n; /* of those that are just so long */
        return 0;
}

static void add_what(Table *t, const PathSegment *s) {
        switch (s->kind) {
        case PATH_RAN:
                table_add(t, "ran");
                break;
        case PATH_QUEUED:
                if (s->had > 0)
                        table_add(t, "waited for a CPU that %s-%d had",
                                  *s->had_comm ? NAME_QUOTED(s->had_comm) : "", s->had);
                else if (s->had == 0)
                        table_add(t, "waited for a CPU that was idle");
                else
                        table_add(t, "waited for a CPU");
                break;
        case PATH_INTERRUPT:
                table_add(t, "waited for an interrupt or a timer");
                break;
        default:
                table_add(t, "waited for what was not recorded");
        }
}

static void add_function(Table *t, const Function *function) {
        if (function)
                table_add_function(t, function);
        else
                table_add(t, "(not recorded)");
}

static void add_time(Table *t, const PathView *v, uint64_t ns) {
        table_add_time(t, is_of_one(v) ? ns : (ns + v->n_calls / 2) / v->n_calls);
        table_add(t, "%.1f%%", percent_of(v, ns));
}

static void add_row(Table *t, const PathView *v, const PathSegment *s, bool has_locks) {
        char pid[16] = "";

        if (is_of_one(v))
                table_add_time(t, s->begin_ns - v->start_ns);
        add_time(t, v, s->duration_ns);
        if (!is_of_one(v))
                table_add(t, "%llu", (unsigned long long) s->n);
        if (s->pid >= 0)
                (void) snprintf(pid, sizeof(pid), "-%d", s->pid);
        table_add(t, "%*s%s%s", (int) s->depth * 2, "", *s->comm ? NAME_QUOTED(s->comm) : "?", pid);
        if (is_of_one(v) && s->cpu == PATH_CPU_NONE)
                table_add(t, " ");
        else if (is_of_one(v))
                table_add(t, "%u", s->cpu);
        add_what(t, s);
        add_function(t, s->function);
        if (s->depth > 0)
                add_function(t, s->awaited);
        else
                table_add(t, " ");
        if (has_locks && s->released)
                table_add(t, "%s", NAME_QUOTED(s->released->label));
        else if (has_locks)
                table_add(t, " ");
}

static void add_others(Table *t, const PathView *v, size_t n, uint64_t ns, bool has_locks) {
        if (is_of_one(v))
                table_add(t, " ");
        add_time(t, v, ns);
        if (!is_of_one(v))
                table_add(t, " ");
        table_add(t, "(%zu shorter)", n);
        for (int i = 0; i < (is_of_one(v) ? 4 : 3) + has_locks; i++)
                table_add(t, " ");
}

int path_view_print(const PathView *v, Buf *out, size_t limit, bool legend) {
        static const char *const titles[2][2] = {
                { ">TIME|>SHARE|>TIMES|TASK|WHAT|IN|?WHILE AWAITED IN",
                  ">TIME|>SHARE|>TIMES|TASK|WHAT|IN|?WHILE AWAITED IN|LOCK RELEASED IN" },
                { "?>AT|>TIME|>SHARE|TASK|?>CPU|WHAT|IN|?WHILE AWAITED IN",
                  "?>AT|>TIME|>SHARE|TASK|?>CPU|WHAT|IN|?WHILE AWAITED IN|LOCK RELEASED IN" },
        };
        const CriticalPath *p = is_of_one(v) ? v->path : &v->sum->path;
        uint64_t shortest_ns, left_ns = 0;
        bool has_locks = false;
        _cleanup_table_ Table t = {};
        size_t n_shortest, n_left = 0;
        int r = find_shortest(p, limit > 0 ? limit : PATH_VIEW_LIMIT, &shortest_ns, &n_shortest);

        if (r < 0)
                return r;
        for (size_t i = 0; i < p->n; i++)
                has_locks |= p->segments[i].released != NULL;
        table_init(&t, titles[is_of_one(v)][has_locks]);
        for (size_t i = 0; i < p->n; i++) {
                const PathSegment *s = &p->segments[i];
                bool is_shown = s->duration_ns > shortest_ns ||
                                (s->duration_ns == shortest_ns && n_shortest > 0);

                if (is_shown && s->duration_ns == shortest_ns)
                        n_shortest--;
                if (is_shown) {
                        add_row(&t, v, s, has_locks);
                } else {
                        n_left++;
                        left_ns += s->duration_ns;
                }
        }
        if (n_left > 0)
                add_others(&t, v, n_left, left_ns, has_locks);
        r = table_print(&t, out, legend);
        if (legend)
                table_explain(&t.marks, out);
        return r;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *segment_json(const PathView *v, const PathSegment *s) {
        static const char *const kinds[_PATH_KIND_N] = { "ran", "queued", "interrupt", "unknown" };
        json_t *o = json_object();

        if (s->function)
                table_function_json(o, s->function);
        else
                (void) json_object_update_new(
                        o, json_pack("{s:n, s:n, s:n}", "function", "module", "not_hooked_below"));
        (void) json_object_update_new(
                o, json_pack("{s:o, s:I, s:I, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                             "start_ns",
                             is_of_one(v) ? json_integer((json_int_t) s->begin_ns) : json_null(),
                             "duration_ns", (json_int_t) s->duration_ns, "count", (json_int_t) s->n,
                             "kind", kinds[s->kind], "depth", (json_int_t) s->depth, "task",
                             table_comm_json(s->comm), "pid", table_pid_json(s->pid), "cpu",
                             s->cpu != PATH_CPU_NONE ? json_integer(s->cpu) : json_null(),
                             "cpu_had", table_comm_json(s->had_comm), "cpu_had_pid",
                             table_pid_json(s->had), "awaited_in", table_label_json(s->awaited),
                             "lock_released_in", table_label_json(s->released)));
        return o;
}

json_t *path_view_json(const PathView *v) {
        const CriticalPath *p = is_of_one(v) ? v->path : &v->sum->path;
        json_t *list = json_array();

        for (size_t i = 0; i < p->n; i++)
                (void) json_array_append_new(list, segment_json(v, &p->segments[i]));
        return table_function_pack(
                v->function, "{s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o}", "calls",
                (json_int_t) v->n_calls, "of_calls", (json_int_t) v->n_all, "number",
                is_of_one(v) ? json_integer((json_int_t) v->number) : json_null(), "start_ns",
                is_of_one(v) ? json_integer((json_int_t) v->start_ns) : json_null(), "duration_ns",
                (json_int_t) v->duration_ns, "task",
                is_of_one(v) ? table_comm_json(v->comm) : json_null(), "pid",
                is_of_one(v) ? table_pid_json(v->task) : json_null(), "segments", list);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A list that grows while something goes wrong must not grow without end, and what goes wrong for
 * hours is one thing: neighbours in time are one gap, and beyond a bound the last gap of a CPU and
 * cause takes up the others.  The sums stay right, the places become coarser.
 */

#include "meta/gap.h"

const char *const gap_causes[_GAP_CAUSE_N][2] = {
        [GAP_OVERRUN] = { "overrun", "the kernel's buffer was full" },
        [GAP_DROPPED] = { "dropped", "the kernel's buffer was full and took nothing new" },
        [GAP_INTERRUPTED] = { "interrupted", "the buffer wrapped within an interrupt" },
        [GAP_CLEARED] = { "cleared", "somebody else emptied the kernel's buffer" },
        [GAP_TRACING_OFF] = { "tracing_off", "somebody else switched tracing_on off" },
        [GAP_TRACER_OFF] = { "tracer_off", "somebody else switched the tracer off" },
        [GAP_FTRACE_OFF] = { "ftrace_off", "sysctl kernel.ftrace_enabled was 0" },
        [GAP_CLOCK_CHANGED] = { "clock_changed", "somebody else chose another trace_clock" },
        [GAP_FILTER_CHANGED] = { "filter_changed",
                                 "somebody else changed which functions or events are traced" },
        [GAP_NO_SPACE] = { "no_space", "the store's disk was full" },
        [GAP_DISK_FAILED] = { "disk_failed", "the store's disk refused to take pages" },
        [GAP_ROOT_GONE] = { "root_gone", "the module of a root was loaded again" },
        [GAP_ROOTS_CHANGED] = { "roots_changed",
                                "functions of another session or of a module came or went" },
        [GAP_NOT_WRITTEN] = { "not_written",
                              "the store's disk failed to write pages that it had taken" },
        [GAP_DAEMON_GONE] = { "daemon_gone", "no daemon read the kernel's buffer" },
        [GAP_SNAPSHOT] = { "snapshot",
                           "recording paused for a snapshot, which has what was before" },
        [GAP_NOT_RESCUED] = { "not_rescued", "the kernel that booted after the crash emptied this "
                                             "part of the memory" },
};

const char *gap_cause_sentence(GapCause c) {
        return (size_t) c < ELEMENTSOF(gap_causes) ? gap_causes[c][1] : "unknown";
}

/* --- the list -------------------------------------------------------------------------------- */

/* What is in pages was not counted, and is told in pages. */
static uint64_t known_events(const Gap *gap) {
        return gap->n_events == GAP_UNKNOWN && gap->n_pages > 0 ? 0 : gap->n_events;
}

static void merge(Gap *into, const Gap *gap, bool counts) {
        into->from_ns = MIN(into->from_ns, gap->from_ns);
        into->to_ns = MAX(into->to_ns, gap->to_ns); /* GAP_OPEN is the largest */
        into->n_events = into->n_events == gap->n_events && gap->n_events == GAP_UNKNOWN
                                 ? GAP_UNKNOWN
                                 : add_capped(known_events(into), known_events(gap));
        into->n_pages = add_capped(into->n_pages, gap->n_pages);
        if (counts)
                into->n_merged = MAX(into->n_merged, UINT64_C(1)) + MAX(gap->n_merged, UINT64_C(1));
}

/* The last one of its cause, of those that say how much was lost, or of those that do not: a sum of
 * both would say nothing of what was counted. */
static Gap *find_alike(const Gaps *g, uint32_t cpu, const Gap *gap) {
        for (size_t i = g->n; i > 0; i--) {
                Gap *other = &g->items[i - 1];

                if (other->cpu == cpu && other->cause == gap->cause &&
                    (known_events(other) == GAP_UNKNOWN) == (known_events(gap) == GAP_UNKNOWN))
                        return other;
        }
        return NULL;
}

static int append(Gaps *g, const Gap *gap) {
        return ARRAY_ADD(g->items, g->n, *gap) ? 0 : -ENOMEM;
}

int gaps_add(Gaps *g, const Gap *gap) {
        Gap *last = find_alike(g, gap->cpu, gap);
        Gap everywhere = *gap;

        if (last && (last->to_ns >= gap->from_ns)) {
                merge(last, gap, false);
                return 0;
        }
        if (g->n < GAPS_MAX)
                return append(g, gap);

        everywhere.cpu = GAP_ALL_CPUS;
        last = last ?: find_alike(g, GAP_ALL_CPUS, gap);
        if (!last)
                return append(g, &everywhere);
        merge(last, gap, true);
        return 0;
}

void gaps_close(Gaps *g, GapCause cause, uint64_t to_ns) {
        for (size_t i = 0; i < g->n; i++) {
                Gap *gap = &g->items[i];

                if (gap->to_ns == GAP_OPEN && (cause == _GAP_CAUSE_N || gap->cause == cause))
                        gap->to_ns = MAX(to_ns, gap->from_ns);
        }
}

/* --- JSON ------------------------------------------------------------------------------------ */

#define NUMBER(name, kind, member, how, to, absent)                                                \
        JSON_FIELD_AS(name, Gap, member, kind, .flags = (how), .max = (to), .fallback = (absent))

static const JsonField fields[] = {
        JSON_FIELD(Gap, cause, WORD, .flags = JSON_FIELD_REQUIRED, .words = *gap_causes,
                   .word_step = 2, .max = _GAP_CAUSE_N),
        NUMBER("cpu", U32, cpu, JSON_FIELD_OMIT, STORE_MAX_CPUS - 1, GAP_ALL_CPUS),
        NUMBER("from_ns", U64, from_ns, JSON_FIELD_REQUIRED, INT64_MAX, 0),
        NUMBER("to_ns", U64, to_ns, JSON_FIELD_OMIT, INT64_MAX, GAP_OPEN),
        NUMBER("events", U64, n_events, JSON_FIELD_OMIT, INT64_MAX, GAP_UNKNOWN),
        NUMBER("pages", U64, n_pages, JSON_FIELD_OMIT, INT64_MAX, 0),
        NUMBER("count", U64, n_merged, JSON_FIELD_OMIT, INT64_MAX, 0),
};

static bool ends_after_it_begins(const void *items, size_t i) {
        const Gap *g = items;

        return g[i].to_ns >= g[i].from_ns;
}

const JsonTable gap_table =
        JSON_TABLE(Gap, fields, .n_max = GAPS_READ_MAX, .fits = ends_after_it_begins);

/* --- conditions: a handful, found by their cause ------------------------------------------------ */

#define REASON_BYTES_MAX 4096

static const JsonField condition_fields[] = {
        JSON_FIELD(Condition, cause, WORD, .flags = JSON_FIELD_REQUIRED, .words = *gap_causes,
                   .word_step = 2, .max = _GAP_CAUSE_N),
        JSON_FIELD(Condition, since_ns, U64, .max = INT64_MAX),
        JSON_FIELD(Condition, reason, TEXT, .max_text = REASON_BYTES_MAX),
};

static bool has_a_cause_of_its_own(const void *items, size_t i) {
        const Condition *c = items;

        for (size_t k = 0; k < i; k++)
                if (c[k].cause == c[i].cause)
                        return false;
        return true;
}

const JsonTable condition_table = JSON_TABLE(Condition, condition_fields, .n_max = _GAP_CAUSE_N,
                                             .fits = has_a_cause_of_its_own);

const Condition *conditions_find(const Conditions *c, GapCause cause) {
        for (size_t i = 0; i < c->n; i++)
                if (c->items[i].cause == cause)
                        return &c->items[i];
        return NULL;
}

int conditions_set(Conditions *c, GapCause cause, uint64_t since_ns, const char *reason) {
        Condition *it = (Condition *) conditions_find(c, cause),
                  one = { .cause = cause, .since_ns = since_ns };

        if (it)
                return streq(it->reason, reason) ? 0 : text_replace(&it->reason, reason) ?: 1;
        if (text_replace(&one.reason, reason) == 0 && ARRAY_ADD(c->items, c->n, one))
                return 1;
        free(one.reason);
        return -ENOMEM;
}

bool conditions_clear(Conditions *c, GapCause cause) {
        Condition *it = (Condition *) conditions_find(c, cause);

        if (!it)
                return false;
        free(it->reason);
        c->n--;
        memmove(it, it + 1, (size_t) (c->items + c->n - it) * sizeof(*it));
        return true;
}

void conditions_done(Conditions *c) {
        json_list_done(&condition_table, c);
}

/* --- what was hooked ----------------------------------------------------------------------------- */

/* The word in JSON, and what people are told. */
static const char *const reasons[_HOOK_REASON_N][2] = {
        [HOOK_NARROWED] = { "narrowed", "narrowed to what was learned" },
        [HOOK_WIDENED] = { "widened", "widened, to learn new calls" },
        [HOOK_SPARED] = { "spared", "without what others call often" },
        [HOOK_MODULES] = { "modules", "with the modules that were loaded meanwhile" },
        [HOOK_THINNED] = { "thinned", "thinned to spare other work" },
        [HOOK_RESTORED] = { "restored", "restored" },
};

static const JsonField change_fields[] = {
        JSON_FIELD(HookChange, trace_ns, U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX),
        JSON_FIELD(HookChange, reason, WORD, .flags = JSON_FIELD_REQUIRED, .words = *reasons,
                   .word_step = 2, .max = _HOOK_REASON_N),
        JSON_FIELD(HookChange, n_hooked, U32, .max = INT32_MAX),
        JSON_FIELD(HookChange, n_known, U32, .flags = JSON_FIELD_OMIT, .max = INT32_MAX),
};

static bool is_later(const void *items, size_t i) {
        const HookChange *c = items;

        return i == 0 || c[i].trace_ns >= c[i - 1].trace_ns;
}

const JsonTable hook_change_table =
        JSON_TABLE(HookChange, change_fields, .n_max = HOOK_CHANGES_MAX, .fits = is_later);

const char *hook_reason_text(HookReason r) {
        return reasons[r][1];
}

int hook_changes_add(HookChanges *h, const HookChange *change) {
        if (h->n == HOOK_CHANGES_MAX)
                memmove(h->items, h->items + 1, --h->n * sizeof(*h->items));
        return ARRAY_ADD(h->items, h->n, *change) ? 0 : -ENOMEM;
}

/* --- own work: of too many windows two become one, and no moment is forgotten -------------------- */

static const JsonField work_fields[] = {
        JSON_FIELD(OwnWork, from_ns, U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX),
        JSON_FIELD(OwnWork, to_ns, U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX),
};

static bool is_next(const void *items, size_t i) {
        const OwnWork *w = items;

        return w[i].to_ns >= w[i].from_ns && (i == 0 || w[i].from_ns > w[i - 1].to_ns);
}

const JsonTable own_work_table =
        JSON_TABLE(OwnWork, work_fields, .n_max = OWN_WORKS_MAX, .fits = is_next);

static void join_nearest(OwnWorks *w) {
        size_t nearest = 1;

        for (size_t i = 2; i < w->n; i++)
                if (w->items[i].from_ns - w->items[i - 1].to_ns <
                    w->items[nearest].from_ns - w->items[nearest - 1].to_ns)
                        nearest = i;
        w->items[nearest - 1].to_ns = w->items[nearest].to_ns;
        memmove(w->items + nearest, w->items + nearest + 1, (--w->n - nearest) * sizeof(*w->items));
}

int own_works_add(OwnWorks *w, uint64_t from_ns, uint64_t to_ns) {
        OwnWork *last;

        for (; w->n > 0 && from_ns <= (last = &w->items[w->n - 1])->to_ns; w->n--) {
                from_ns = MIN(from_ns, last->from_ns);
                to_ns = MAX(to_ns, last->to_ns);
        }
        if (w->n == OWN_WORKS_MAX)
                join_nearest(w);
        return ARRAY_ADD(w->items, w->n, (OwnWork){ from_ns, MAX(from_ns, to_ns) }) ? 0 : -ENOMEM;
}

bool own_works_overlap(const OwnWorks *w, uint64_t from_ns, uint64_t to_ns) {
        size_t first = BISECT(0, w->n, i, w->items[i].to_ns < from_ns);

        return first < w->n && w->items[first].from_ns <= to_ns;
}

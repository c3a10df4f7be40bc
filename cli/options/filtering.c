/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A time of day is the first such moment of the recording, from its beginning on: at most a day
 * later. */

#include <time.h>

#include "analyze/role.h"
#include "base/array.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/options/filtering.h"
#include "meta/clock.h"

#define NS UINT64_C(1000000000)
#define DAY_NS (24 * 3600 * NS)
#define DIGITS_OF_TRACE_CMD 6
#define HALF_OF_TRACE_CMD 500 /* ns, of what it rounds to */

/* "10:42", "10:42:03.5" */
static int parse_time_of_day(const char *s, uint64_t *ret_ns) {
        uint64_t parts[3] = {};
        size_t n = 0;

        do {
                if (n == ELEMENTSOF(parts) || parse_seconds(&s, &parts[n]) < 0)
                        return ORIGIN(-EINVAL);
                n++;
        } while (*s == ':' && *++s);
        if (*s || n < 2 || parts[0] >= 24 * NS || parts[1] >= 60 * NS || parts[2] >= 61 * NS ||
            parts[0] % NS || (n == 3 && parts[1] % NS))
                return ORIGIN(-EINVAL);
        *ret_ns = parts[0] * 3600 + parts[1] * 60 + parts[2];
        return 0;
}

/* Seconds; what is too large for those are nanoseconds, as trace-cmd prints those of the clock "boot", or
 * ticks. */
static int parse_trace_time(const char *s, Moment *m) {
        const char *point = strchr(s, '.'), *rest = s;

        if (!point && parse_u64(s, UINT64_MAX, &m->ticks) >= 0) {
                m->ns = m->ticks <= INT64_MAX / NS ? m->ticks * NS : m->ticks;
                return 0;
        }
        if (parse_seconds(&rest, &m->ns) < 0 || *rest)
                return ORIGIN(-EINVAL);
        m->ticks = m->ns;
        m->n_digits = point ? (unsigned) (rest - point - 1) : 0;
        return 0;
}

int moment_parse(const char *s, Moment *ret) {
        Moment m = { .kind = *s == '+'        ? MOMENT_SINCE_BEGIN
                             : strchr(s, ':') ? MOMENT_OF_DAY
                                              : MOMENT_TRACE };
        int r = m.kind == MOMENT_SINCE_BEGIN ? parse_duration(s + 1, &m.ns)
                : m.kind == MOMENT_OF_DAY    ? parse_time_of_day(s, &m.ns)
                                             : parse_trace_time(s, &m);

        if (r < 0)
                return ORIGIN(-EINVAL);
        *ret = m;
        return 0;
}

static int set_moment(Moment *ret, const char *option, const char *word) {
        if (!word || moment_parse(word, ret) == 0)
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "--%s: \"%s\" is not a time: give seconds of the trace clock (1234.5), a "
                      "time since the first event (+20ms), or a time of day (10:42:03).",
                      option, NAME_QUOTED(word));
}

static int set_pids(Filtering *f, const Strv *words) {
        if (words->n == 0)
                return STATUS_OK;
        f->pids = calloc(words->n, sizeof(*f->pids));
        if (!f->pids)
                return out_of_memory();
        for (size_t i = 0; i < words->n; i++) {
                uint64_t pid = 0;

                (void) parse_u64(words->items[i], INT32_MAX, &pid);
                f->pids[i] = (int32_t) pid;
        }
        f->spec.pids = f->pids;
        f->spec.n_pids = words->n;
        return STATUS_OK;
}

/* "0", "2-3" */
static int set_cpus(Filtering *f, const Strv *ranges) {
        if (ranges->n == 0)
                return STATUS_OK;
        f->cpus = calloc(CPU_RANGE_END, sizeof(*f->cpus));
        if (!f->cpus)
                return out_of_memory();
        f->spec.cpus = f->cpus;
        f->spec.n_cpus = CPU_RANGE_END;
        for (size_t i = 0; i < ranges->n; i++) {
                const char *rest = ranges->items[i];
                unsigned first, last;

                while (cpu_list_next(&rest, &first, &last) > 0)
                        for (; first <= last; first++)
                                f->cpus[first] = true;
        }
        return STATUS_OK;
}

/* There are few roots, and many calls of them: a sorted array.  NULL: it is not there, or there is no memory. */
static struct RootLimit *find_root(RootLimits *l, const char *name, bool makes_it) {
        size_t i = BISECT(0, l->n, k, strcmp(l->roots[k].name, name) < 0);
        char *copy;

        if (i < l->n && streq(l->roots[i].name, name))
                return &l->roots[i];
        if (!makes_it || !ARRAY_GROW(l->roots, l->n) || !(copy = strdup(name)))
                return NULL;
        memmove(&l->roots[i + 1], &l->roots[i], (l->n++ - i) * sizeof(*l->roots));
        l->roots[i] = (struct RootLimit){ .name = copy, .limit_ns = UINT64_MAX };
        return &l->roots[i];
}

static int learn(void *data, const Function *root, uint64_t duration_ns) {
        struct RootLimit *r = find_root(data, root->label, true);

        return r ? quantiles_add(&r->quantiles, duration_ns) : -ENOMEM;
}

static uint64_t limit_ns(void *data, const Function *root) {
        const RootLimits *l = data;
        struct RootLimit *r = find_root(data, root->label, false);

        if (r && r->limit_ns == UINT64_MAX)
                r->limit_ns = quantiles_at(&r->quantiles, l->permille);
        return r ? r->limit_ns : UINT64_MAX;
}

/* "5ms", or "p99", "p99.9" */
static int set_keep(Filtering *f, const char *word) {
        uint64_t ppm;

        if (!word)
                return STATUS_OK;
        if (*word == 'p' && parse_percent(word + 1, &ppm) >= 0 && ppm >= 1000 && ppm < 1000000) {
                f->limits = (RootLimits){ .permille = (unsigned) (ppm / 1000),
                                          .limits = { learn, limit_ns, &f->limits } };
                f->spec.keep_limits = &f->limits.limits;
                return STATUS_OK;
        }
        if (parse_duration(word, &f->spec.keep_ns) >= 0 && f->spec.keep_ns > 0)
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "--keep-slower: \"%s\" is neither a time like 5ms nor a percentile like p99 "
                      "or p99.9.",
                      NAME_QUOTED(word));
}

static bool is_irq(const Function *f) {
        return role_of(f) == ROLE_IRQ;
}

int filtering_init(Filtering *ret, const Options *o) {
        int status;

        *ret = (Filtering){
                .spec = { .tasks = &o->filter.tasks,
                          .roots = &o->filter.roots,
                          .functions = &o->filter.functions,
                          .notrace = &o->spec.notrace,
                          .fold = &o->filter.fold,
                          .is_irq = is_irq,
                          .slower_ns = o->spec.slower_ns,
                          .depth = o->spec.depth,
                          .nth = o->filter.nth,
                          .n_slowest = o->filter.n_slowest,
                          .keep_failed = o->filter.keep_failed },
        };
        for (OwnerWord i = 0; i < _OWNER_WORD_N; i++)
                ret->spec.owners[i] = &o->filter.owners[i];
        status = set_pids(ret, &o->spec.pids)
                    ?: set_cpus(ret, &o->spec.cpus)
                    ?: set_moment(&ret->from, "from", o->filter.from)
                    ?: set_moment(&ret->to, "to", o->filter.to);
        return status ?: set_keep(ret, o->filter.keep_slower);
}

void filtering_forget_spec(Filtering *f) {
        f->spec.notrace = NULL;
        f->spec.n_pids = 0;
        f->spec.slower_ns = f->spec.depth = 0;
}

bool filtering_is_empty(const Filtering *f) {
        return filter_spec_is_empty(&f->spec) && f->from.kind == MOMENT_NONE &&
               f->to.kind == MOMENT_NONE;
}

/* On the trace clock: the first such time of what is left of the recording, which may be a ring. */
static int resolve_time_of_day(uint64_t ns, const SessionMeta *m, uint64_t *ret_ns,
                               const char **ret_problem) {
        const ClockTuple *begin = !m                                   ? NULL
                                  : clock_tuple_is_set(&m->kept_since) ? &m->kept_since
                                                                       : &m->start;
        time_t start = begin ? (time_t) (begin->realtime_ns / NS) : 0;
        struct tm tm;
        uint64_t since_midnight, distance;

        if (start == 0 || !localtime_r(&start, &tm)) {
                *ret_problem = "it does not say what time of day it was made";
                return FILTERING_E_UNKNOWN;
        }
        since_midnight = (uint64_t) (tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * NS +
                         begin->realtime_ns % NS;
        distance = (ns + DAY_NS - since_midnight) % DAY_NS;
        /* "10:42" of a recording that began at 10:42:00.3 is its beginning. */
        if (distance > DAY_NS - 60 * NS)
                distance = 0;
        *ret_ns = begin->trace_ns + distance;
        return 0;
}

/* Of a clock that counts something else than nanoseconds a number is one of ticks.  trace-cmd rounds
 * what it prints, so a time that was copied from it stands for all that are printed so. */
static uint64_t resolve_trace_time(const Moment *moment, const SessionMeta *m, bool is_end) {
        if (m && m->clock && !trace_clock_is_ns(m->clock))
                return moment->ticks;
        if (!m || !session_meta_is_of_file(m) || moment->n_digits != DIGITS_OF_TRACE_CMD)
                return moment->ns;
        if (is_end)
                return moment->ns + HALF_OF_TRACE_CMD - 1;
        return moment->ns - MIN(moment->ns, (uint64_t) HALF_OF_TRACE_CMD);
}

static int resolve(const Moment *moment, const SessionMeta *m, uint64_t begin_ns, bool is_end,
                   uint64_t *ret_ns, const char **ret_problem) {
        switch (moment->kind) {
        case MOMENT_TRACE:
                *ret_ns = resolve_trace_time(moment, m, is_end);
                return 0;
        case MOMENT_SINCE_BEGIN:
                *ret_ns = begin_ns + moment->ns;
                return 0;
        case MOMENT_OF_DAY:
                return resolve_time_of_day(moment->ns, m, ret_ns, ret_problem);
        default:
                return 0;
        }
}

int filtering_resolve(Filtering *f, const SessionMeta *m, uint64_t begin_ns,
                      const char **ret_problem) {
        int r = resolve(&f->from, m, begin_ns, false, &f->spec.from_ns, ret_problem)
                        ?: resolve(&f->to, m, begin_ns, true, &f->spec.to_ns, ret_problem);

        /* 0 would mean that there is no end. */
        if (r == 0 && f->to.kind != MOMENT_NONE && f->spec.to_ns == 0)
                f->spec.to_ns = 1;
        return r;
}

int filtering_apply(Filtering *f, Playback *p, char **ret_problem) {
        const char *problem = NULL;
        uint64_t begin_ns;

        if (filtering_is_empty(f))
                return 0;
        (void) stream_begin(p->stream, &begin_ns);
        if (filtering_resolve(f, p->meta, begin_ns, &problem) != 0) {
                *ret_problem = strdup(problem);
                return *ret_problem ? PLAYBACK_E_UNREADABLE : -ENOMEM;
        }
        return playback_filter(p, &f->spec, ret_problem);
}

void filtering_done(Filtering *f) {
        for (size_t i = 0; i < f->limits.n; i++) {
                free(f->limits.roots[i].name);
                quantiles_done(&f->limits.roots[i].quantiles);
        }
        free(f->limits.roots);
        free(f->pids);
        free(f->cpus);
        *f = (Filtering){};
}

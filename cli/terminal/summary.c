/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel counts lost events, not lost bytes: what a larger buffer must hold
 * is estimated with the mean size of the events that this CPU did hand out, all
 * of the loss taken as one burst.  That errs on the safe side.
 */

#include <inttypes.h>
#include <time.h>

#include "base/name.h"
#include "cli/terminal/terminal.h"
#include "meta/clock.h"
#include "store/format.h"

#define GAP_LINES_MAX 20
#define BETTER_BUFFER_MAX (1ULL << 30)
#define EVENT_BYTES_GUESS 48 /* an exit record and half an entry record, linux 6.1 */

/* Behind what @text has. */
static _printf_(2, 3) void add(char text[static SUMMARY_MAX], const char *format, ...) {
        size_t n = strlen(text);
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text + n, SUMMARY_MAX - n, format, ap);
        va_end(ap);
}

/* @n_all: how many there are; those that are not in @v are counted. */
static char *write_roots(char text[static SUMMARY_MAX], const Strv *v, size_t n_all, size_t max) {
        size_t i;

        max = MIN(max, (size_t) SUMMARY_MAX - 40);
        text[0] = 0;
        for (i = 0; i < v->n; i++) {
                const char *quoted = NAME_QUOTED(v->items[i]);

                if (i > 0 && strlen(text) + 2 + strlen(quoted) > max)
                        break;
                add(text, "%s%s", i > 0 ? ", " : "", quoted);
        }
        if (i < n_all)
                add(text, " and %zu other%s", n_all - i, n_all - i == 1 ? "" : "s");
        return text;
}

char *summary_roots(char text[static SUMMARY_MAX], const SessionMeta *m, size_t max) {
        const Strv *v = m->roots.n > 0 ? &m->roots : &m->spec.functions;

        return write_roots(text, v, v->n, max);
}

char *summary_brief_roots(char text[static SUMMARY_MAX], const Brief *b, size_t max) {
        return write_roots(text, &b->roots, MAX((size_t) b->n_roots, b->roots.n), max);
}

char *summary_time(char text[static SUMMARY_MAX], uint64_t realtime_ns) {
        (void) snprintf(text, SUMMARY_MAX, "%s", realtime_ns == 0 ? "-" : FIGURE_DATE(realtime_ns));
        return text;
}

bool summary_has_ticks(const SessionMeta *m) {
        return m && session_meta_is_of_file(m) && m->clock && !trace_clock_is_ns(m->clock);
}

char *summary_moment(char text[static SUMMARY_MAX], const SessionMeta *m, uint64_t ns,
                     unsigned n_digits) {
        if (!summary_has_ticks(m))
                return figure_moment(text, ns, n_digits);
        (void) snprintf(text, SUMMARY_MAX, "%" PRIu64, ns);
        return text;
}

char *summary_clock_step(char text[static SUMMARY_MAX], const SessionMeta *m, size_t i) {
        const ClockTuple *now = &m->clock_steps.items[i],
                         *before = i > 0 ? &m->clock_steps.items[i - 1] : &m->start;
        ClockShift shift = clock_shift(before, now);
        bool is_back = shift.set_ns < 0;

        summary_time(text, now->realtime_ns);
        if (shift.set_ns >= CLOCK_STEP_NS_MIN || shift.set_ns <= -CLOCK_STEP_NS_MIN)
                add(text, ", the clock was set %s by %s", is_back ? "back" : "forward",
                    FORMAT_DURATION(is_back ? 0 - (uint64_t) shift.set_ns
                                            : (uint64_t) shift.set_ns));
        if (shift.slept_ns >= CLOCK_STEP_NS_MIN)
                add(text, ", the host slept for %s", FORMAT_DURATION((uint64_t) shift.slept_ns));
        return text;
}

char *summary_dropped(char text[static SUMMARY_MAX], const SessionMeta *m) {
        text[0] = 0;
        if (m->bytes_dropped > 0)
                (void) snprintf(
                        text, SUMMARY_MAX, "%s of older data dropped by the ring, kept since %.64s",
                        FORMAT_BYTES(m->bytes_dropped), SUMMARY_TIME(m->kept_since.realtime_ns));
        return text;
}

void summary_hooked(Buf *out, const SessionMeta *m) {
        size_t n_before = out->n_data;

        unhooked_describe(out, m);
        if (out->n_data > n_before && m->spec.lean != LEAN_OFF)
                buf_printf(out, "; \"ftracectl start --lean=off %s\" records all",
                           m->roots.n == 1 ? m->roots.items[0] : "...");
}

char *summary_silence(char text[static SUMMARY_SILENCE_MAX], const SessionMeta *m) {
        _cleanup_free_ char *why = NULL;

        if (!m->silence && silence_explain(&why, m, &(Strv){}) < 0)
                why = NULL;
        (void) snprintf(text, SUMMARY_SILENCE_MAX, "%s",
                        m->silence ?: why ?: "it is not known why");
        for (char *p = text; *p; p++) /* it may come from a file that anybody wrote */
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        *p = '?';
        return text;
}

bool summary_is_complete(const SessionMeta *m) {
        return session_meta_events_lost(m) == 0 && session_meta_total(m).pages_lost == 0 &&
               m->gaps.n == 0 && m->pages_unsynced == 0 && m->lacks.n == 0;
}

static const char *name_state(SessionState state, SessionLimit limit, bool is_unreadable,
                              bool is_newer, bool is_degraded) {
        if (is_unreadable || is_newer)
                return is_unreadable ? "unreadable" : "newer";
        if (state == SESSION_SEALED && limit != SESSION_LIMIT_NONE)
                return "limited";
        return session_state_is_live(state) && is_degraded ? "degraded" : session_state_name(state);
}

const char *summary_state(const SessionMeta *m) {
        return name_state(m->state, m->limit, m->unreadable, m->newer_version > 0,
                          m->degraded.n > 0);
}

const char *summary_brief_state(const Brief *b) {
        return name_state(b->state, b->limit, b->unreadable, b->newer_version > 0, b->degraded);
}

/* "2,646 events", "1 page", "2,646 events and 1 page" */
static void add_things(char text[static SUMMARY_MAX], uint64_t n_events, uint64_t n_pages) {
        if (n_events > 0)
                add(text, "%s event%s", FORMAT_COUNT(n_events), n_events == 1 ? "" : "s");
        if (n_pages > 0)
                add(text, "%s%s page%s", n_events > 0 ? " and " : "", FORMAT_COUNT(n_pages),
                    n_pages == 1 ? "" : "s");
}

/* What the accounts and gaps say. */
char *summary_loss(char text[static SUMMARY_MAX], const SessionMeta *m) {
        uint64_t n_events = session_meta_events_lost(m), n_pages = session_meta_total(m).pages_lost;
        size_t n_uncounted = 0; /* gaps with events that are known to be lost */

        for (size_t i = 0; i < m->gaps.n; i++)
                n_uncounted += m->gaps.items[i].cause <= GAP_INTERRUPTED &&
                               m->gaps.items[i].n_events == GAP_UNKNOWN;
        text[0] = 0;
        if (n_events > 0 || n_pages > 0) {
                add_things(text, n_events, n_pages);
                add(text, " lost");
                if (n_uncounted > 0)
                        add(text, ", and some more in %zu gap%s", n_uncounted,
                            n_uncounted == 1 ? "" : "s");
        } else if (m->gaps.n > 0)
                add(text, "unknown loss in %zu gap%s", m->gaps.n, m->gaps.n == 1 ? "" : "s");
        else
                add(text, m->lacks.n > 0 ? "some of it could not be fetched" : "nothing lost");
        if (m->pages_unsynced > 0) {
                add(text, ", ");
                add_things(text, 0, m->pages_unsynced);
                add(text, " not on the disk yet");
        }
        return text;
}

/* "10:42:03.120" on the clock on the wall, or the trace clock's seconds if that is not known, or what
 * it shows if it has no seconds. */
static char *gap_time(char text[static SUMMARY_MAX], const SessionMeta *m, uint64_t trace_ns) {
        uint64_t ns = session_meta_realtime_ns(m, trace_ns);
        time_t t = (time_t) (ns / NSEC_PER_SEC);
        char seconds[32];
        struct tm tm;

        if (m->clock && !trace_clock_is_ns(m->clock))
                (void) snprintf(text, SUMMARY_MAX, "%" PRIu64, trace_ns);
        else if (m->start.realtime_ns == 0 || !localtime_r(&t, &tm) ||
                 strftime(seconds, sizeof(seconds), "%H:%M:%S", &tm) == 0)
                (void) snprintf(text, SUMMARY_MAX, "%llu.%06llu", trace_ns / NSEC_PER_SEC,
                                trace_ns % NSEC_PER_SEC / NSEC_PER_USEC);
        else
                (void) snprintf(text, SUMMARY_MAX, "%s.%03u", seconds,
                                (unsigned) (ns % NSEC_PER_SEC / NSEC_PER_MSEC));
        return text;
}

char *summary_events(char text[static UNIT_TEXT_MAX], const SessionMeta *m) {
        uint64_t n = session_meta_total(m).read_events;

        if (n == 0 && session_meta_total(m).n_bytes > 0)
                return strcpy(text, "-");
        return format_count(text, n);
}

char *summary_gap(char text[static SUMMARY_MAX], const SessionMeta *m, const Gap *gap) {
        uint64_t n_events = gap->n_events == GAP_UNKNOWN ? 0 : gap->n_events;
        char from[SUMMARY_MAX], to[SUMMARY_MAX];

        text[0] = 0;
        if (gap->cpu != GAP_ALL_CPUS)
                add(text, "CPU %" PRIu32 ": ", gap->cpu);
        add_things(text, n_events, gap->n_pages);
        add(text, n_events > 0 || gap->n_pages > 0 ? " lost"
                  : gap->cause <= GAP_INTERRUPTED  ? "some events lost"
                                                   : "events may be missing");
        add(text, " from %.20s %s%.20s", gap_time(from, m, gap->from_ns),
            gap->to_ns == GAP_OPEN ? "on" : "to ",
            gap->to_ns == GAP_OPEN ? "" : gap_time(to, m, gap->to_ns));
        if (gap->n_merged > 1)
                add(text, " (%" PRIu64 " times)", gap->n_merged);
        add(text, ": %s", gap_cause_sentence(gap->cause));
        return text;
}

uint64_t summary_better_buffer(const SessionMeta *m, const CpuAccount *c) {
        uint64_t n_lost = c->overrun + c->dropped_events, buffer = m->spec.buffer_bytes, better = 1;
        uint64_t event = c->read_events > 0 ? c->n_bytes / c->read_events : 0;

        if (n_lost == 0 || buffer >= BETTER_BUFFER_MAX || n_lost > BETTER_BUFFER_MAX)
                return 0;
        event = MAX(event, (uint64_t) EVENT_BYTES_GUESS);
        buffer += n_lost * MIN(event, (uint64_t) PAGE_BYTES_MIN);
        while (better < buffer)
                better *= 2;
        return better <= BETTER_BUFFER_MAX ? better : 0;
}

/* What would have helped, of a recording of ours: another program has whatever options.  Ends the line. */
static void add_advice(Buf *out, const SessionMeta *m, const CpuAccount *c) {
        uint64_t better = summary_better_buffer(m, c);

        if (session_meta_is_of_file(m) || c->overrun + c->dropped_events == 0)
                buf_adds(out, ".\n");
        else if (better > 0)
                buf_printf(out, "; --buffer-size=%s would have held them.\n", FORMAT_BYTES(better));
        else
                buf_adds(out, "; trace less: fewer functions, --depth or --notrace.\n");
}

static void loss_line(Buf *out, const SessionMeta *m, const CpuAccount *c) {
        char things[SUMMARY_MAX] = "", why[SUMMARY_MAX] = "";

        add_things(things, cpu_account_events_lost(c), c->pages_lost);
        if (c->overrun + c->dropped_events > 0)
                add(why, ", buffer full");
        if (c->commit_overrun > 0)
                add(why, ", buffer wrapped within an interrupt");
        if (c->pages_lost > 0)
                add(why, ", pages not stored");
        buf_printf(out, "CPU %" PRIu32 ": %s lost (%s)", c->cpu, things, why + strlen(", "));
        add_advice(out, m, c);
}

/* The one gap that has all that @c has lost, so that one line says both; NULL: there is none, or
 * not all are listed. */
static const Gap *only_gap(const SessionMeta *m, const CpuAccount *c) {
        const Gap *found = NULL;

        if (m->gaps.n > GAP_LINES_MAX)
                return NULL;
        for (size_t i = 0; i < m->gaps.n; i++) {
                const Gap *gap = &m->gaps.items[i];

                if (gap->cpu != c->cpu && gap->cpu != GAP_ALL_CPUS)
                        continue;
                if (found || gap->cpu != c->cpu || gap->n_pages != c->pages_lost ||
                    gap->n_events != cpu_account_events_lost(c))
                        return NULL;
                found = gap;
        }
        return found;
}

void summary_loss_lines(Buf *out, const SessionMeta *m) {
        for (size_t i = 0; i < m->n_cpus; i++)
                if ((cpu_account_events_lost(&m->cpus[i]) > 0 || m->cpus[i].pages_lost > 0) &&
                    !only_gap(m, &m->cpus[i]))
                        loss_line(out, m, &m->cpus[i]);
        for (size_t i = 0; i < MIN(m->gaps.n, (size_t) GAP_LINES_MAX); i++) {
                const Gap *gap = &m->gaps.items[i];
                const CpuAccount *c = session_meta_account(m, gap->cpu);

                buf_adds(out, SUMMARY_GAP(m, gap));
                if (c && only_gap(m, c) == gap)
                        add_advice(out, m, c);
                else
                        buf_adds(out, ".\n");
        }
        if (m->gaps.n > GAP_LINES_MAX)
                buf_printf(out, "And %zu gaps more: ftracectl verify %s\n",
                           m->gaps.n - GAP_LINES_MAX, m->name);
        for (size_t i = 0; i < m->lacks.n; i++)
                buf_printf(out, "%s: " SUMMARY_LACK ".\n", m->name, m->lacks.items[i]);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reasons are told in the order of their weight: what the kernel said, that recording never began, what
 * was in the way and for how long; and if there is none of these, what would have been recorded and was
 * not called.
 */

#include <stdio.h>

#include "base/buf.h"
#include "base/unit.h"
#include "meta/silence.h"

#define N_NAMES 3 /* of several roots */

bool silence_is_total(const SessionMeta *m) {
        for (size_t i = 0; i < m->n_cpus; i++)
                if (m->cpus[i].n_pages > 0 || m->cpus[i].pages_lost > 0 ||
                    m->cpus[i].pages_dropped > 0)
                        return false;
        return m->n_snapshots == 0 && m->bytes_dropped == 0;
}

/* Behind what has been said already. */
static void begin(Buf *out) {
        buf_adds(out, out->n_data > 0 ? "; " : "");
}

/* What happened to events that there were is no reason why there were none. */
static bool explains(GapCause cause) {
        return cause != GAP_OVERRUN && cause != GAP_DROPPED && cause != GAP_INTERRUPTED;
}

/* Whether something was in the way, and how long (*@ret_ns) while this recorded. */
static bool find_gaps(const SessionMeta *m, GapCause cause, uint64_t length_ns, uint64_t *ret_ns) {
        uint64_t begin = m->start.trace_ns, end = begin + length_ns, sum = 0;
        bool found = false;

        for (size_t i = 0; i < m->gaps.n; i++) {
                const Gap *g = &m->gaps.items[i];
                uint64_t from = MAX(g->from_ns, begin), to = MIN(g->to_ns, end);

                found = found || g->cause == cause;
                if (g->cause == cause && to > from)
                        sum += to - from;
        }
        *ret_ns = MIN(sum, length_ns);
        return found;
}

static void add_gaps(Buf *out, const SessionMeta *m) {
        uint64_t length_ns = session_meta_length_ns(m);

        for (GapCause c = 0; c < _GAP_CAUSE_N; c++) {
                uint64_t ns;

                if (!explains(c) || !find_gaps(m, c, length_ns, &ns))
                        continue;
                begin(out);
                buf_adds(out, gap_cause_sentence(c));
                if (ns > 0)
                        buf_printf(out, " for %s of the %s", FORMAT_DURATION(ns),
                                   FORMAT_DURATION(length_ns));
        }
}

static void add_words(Buf *out, const char *before, const Strv *words) {
        for (size_t i = 0; i < words->n && i < N_NAMES; i++)
                buf_printf(out, "%s%s", i > 0 ? ", " : before, words->items[i]);
        if (words->n > N_NAMES)
                buf_printf(out, " and %zu others", words->n - N_NAMES);
}

/* "nothing called a, b in process 812 on CPUs 1, 2 in 3s of recording" */
static void add_nobody(Buf *out, const SessionMeta *m) {
        const Spec *s = &m->spec;

        add_words(out, s->slower_ns > 0 ? "no call of " : "nothing called ",
                  m->roots.n > 0 ? &m->roots : &s->functions);
        if (s->slower_ns > 0)
                buf_printf(out, " took %s or more", FORMAT_DURATION(s->slower_ns));
        add_words(out, s->pids.n == 1 ? " in process " : " in processes ", &s->pids);
        add_words(out, " in tasks named ", &s->comms);
        add_words(out, " in control group ", &s->cgroups);
        add_words(out, " on CPUs ", &s->cpus);
        buf_printf(out, " in %s of recording", FORMAT_DURATION(session_meta_length_ns(m)));
}

/* It was armed, and never went on. */
static bool has_only_waited(const SessionMeta *m) {
        return clock_tuple_is_set(&m->armed) &&
               (!clock_tuple_is_set(&m->start) || m->start.trace_ns == m->stop.trace_ns);
}

int silence_explain(char **ret, const SessionMeta *m, const Strv *found) {
        _cleanup_buf_ Buf out = BUF_INIT;

        for (size_t i = 0; i < found->n; i++) {
                begin(&out);
                buf_adds(&out, found->items[i]);
        }
        if (has_only_waited(m)) {
                begin(&out);
                buf_adds(&out, "it waited for a trigger, and none fired");
        } else
                add_gaps(&out, m);
        if (out.n_data == 0 && !out.error)
                add_nobody(&out, m);
        out.n_data = MIN(out.n_data, (size_t) SILENCE_MAX);
        return buf_take_string(&out, ret);
}

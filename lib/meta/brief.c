/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/buf.h"
#include "base/name.h"
#include "base/unit.h"
#include "meta/brief.h"

#define MAX_ROOTS 65536

#define NUMBER(member, kind, to, ...) JSON_FIELD(Brief, member, kind, .max = (to), __VA_ARGS__)
#define NAME(member, valid)                                                                        \
        JSON_FIELD(Brief, member, TEXT, .flags = JSON_FIELD_REQUIRED, .is_valid = (valid),         \
                   .max_text = SESSION_NAME_MAX)

static const JsonField fields[] = {
        JSON_FIELD(Brief, state, WORD, .flags = JSON_FIELD_REQUIRED, .words = session_state_names,
                   .max = _SESSION_STATE_N),
        NAME(name, session_name_is_valid),
        NAME(id, session_id_is_valid),
        NUMBER(newer_version, U32, UINT32_MAX, .flags = JSON_FIELD_OMIT),
        JSON_FIELD(Brief, unreadable, TEXT, .flags = JSON_FIELD_NULLABLE | JSON_FIELD_OMIT,
                   .max_text = SILENCE_MAX),
        JSON_FIELD(Brief, pinned, BOOL, .flags = JSON_FIELD_OMIT),
        JSON_FIELD(Brief, degraded, BOOL, .flags = JSON_FIELD_OMIT),
        NUMBER(owner_uid, U32, UINT32_MAX),
        JSON_FIELD(Brief, roots, STRV, .max = BRIEF_ROOTS_MAX, .max_text = FUNCTION_NAME_MAX),
        NUMBER(n_roots, U64, MAX_ROOTS),
        NUMBER(start_ns, U64, INT64_MAX),
        NUMBER(stop_ns, U64, INT64_MAX),
        NUMBER(length_ns, U64, INT64_MAX),
        NUMBER(n_events, U64, INT64_MAX),
        NUMBER(n_bytes, U64, INT64_MAX),
        NUMBER(events_lost, U64, INT64_MAX),
        NUMBER(pages_lost, U64, INT64_MAX),
        NUMBER(n_gaps, U64, INT64_MAX),
        JSON_FIELD(Brief, limit, WORD, .flags = JSON_FIELD_OMIT, .words = session_limit_names,
                   .max = _SESSION_LIMIT_N),
        NUMBER(disk_bytes, U64, INT64_MAX, .flags = JSON_FIELD_OMIT, .fallback = UINT64_MAX),
};

static const JsonTable table = JSON_TABLE(Brief, fields);

static int copy_roots(Brief *b, const SessionMeta *m) {
        const Strv *roots = m->roots.n > 0 ? &m->roots : &m->spec.functions;
        size_t n_chars = 0;
        int r = 0;

        if (m->unreadable)
                return text_replace(&b->unreadable, m->reason);
        b->n_roots = roots->n;
        for (size_t i = 0; r >= 0 && i < roots->n; i++) {
                n_chars += strlen(roots->items[i]) + 1;
                if (i > 0 && n_chars > BRIEF_ROOTS_MAX)
                        break;
                r = strv_add(&b->roots, roots->items[i]);
        }
        return r;
}

int brief_of_meta(Brief *ret, const SessionMeta *m, uint64_t disk_bytes) {
        _cleanup_brief_ Brief b = {
                .state = m->state,
                .limit = m->limit,
                .newer_version = m->newer_version,
                .pinned = m->pinned,
                .degraded = m->degraded.n > 0,
                .owner_uid = m->owner_uid,
                .start_ns = m->start.realtime_ns,
                .stop_ns = m->stop.realtime_ns,
                .length_ns = session_meta_length_ns(m),
                .n_events = session_meta_total(m).read_events,
                .n_bytes = session_meta_total(m).n_bytes,
                .events_lost = session_meta_events_lost(m),
                .pages_lost = session_meta_total(m).pages_lost,
                .n_gaps = m->gaps.n,
                .disk_bytes = disk_bytes,
        };

        b.name = strdup(m->name);
        b.id = strdup(m->id);
        if (!b.name || !b.id || copy_roots(&b, m) < 0)
                return -ENOMEM;
        *ret = TAKE(b, (Brief){});
        return 0;
}

json_t *brief_to_json(const Brief *b) {
        return json_fields_new(&table, b);
}

int brief_from_json(Brief *ret, const json_t *o, const char **ret_field) {
        _cleanup_brief_ Brief b = {};
        int r = json_fields_read(&b, &table, o, ret_field);

        if (r == 0)
                *ret = TAKE(b, (Brief){});
        return r;
}

void brief_done(Brief *b) {
        json_fields_done(&table, b);
        *b = (Brief){};
}

/* --- silence ------------------------------------------------------------------------------------- */

/*
 * Reasons are told in the order of their weight: what the kernel said, that recording never began, what
 * was in the way and for how long; and if there is none of these, what would have been recorded and was
 * not called.
 */

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

/* True if something was in the way, and how long (*@ret_ns) while this recorded. */
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

                /* What happened to events that there were is no reason why there were none. */
                if (c == GAP_OVERRUN || c == GAP_DROPPED || c == GAP_INTERRUPTED ||
                    !find_gaps(m, c, length_ns, &ns))
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
        buf_printf(out, " in %s of recording%s", FORMAT_DURATION(session_meta_length_ns(m)),
                   m->state == SESSION_RECORDING ? ", as far as is stored" : "");
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A table. */

#include "base/cleanup.h"
#include "base/name.h"
#include "meta/brief.h"
#include "meta/bounds.h"
#include "meta/json-field.h"

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
                .n_events = session_meta_n_events(m),
                .n_bytes = session_meta_n_bytes(m),
                .events_lost = session_meta_events_lost(m),
                .pages_lost = session_meta_pages_lost(m),
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

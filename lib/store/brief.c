/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A table, but for the two words, whose names are store/meta.h's. */

#include "base/cleanup.h"
#include "base/name.h"
#include "store/brief.h"
#include "store/format.h"
#include "store/json-field.h"

#define ID_CHARS 16
#define MAX_ROOTS 65536

static bool id_is_valid(const char *s) {
        return strlen(s) == ID_CHARS && strspn(s, "0123456789abcdef") == ID_CHARS;
}

#define NUMBER(member, kind, to)                                                                   \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_##kind, .offset = offsetof(Brief, member),      \
                .max = (to)                                                                        \
        }
#define OPTIONAL(member, kind, to)                                                                 \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_##kind, .flags = JSON_FIELD_OMIT,               \
                .offset = offsetof(Brief, member), .max = (to)                                     \
        }
#define WORD(member, valid)                                                                        \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_TEXT, .flags = JSON_FIELD_REQUIRED,             \
                .offset = offsetof(Brief, member), .max_text = SESSION_NAME_MAX,                   \
                .is_valid = (valid)                                                                \
        }

static const JsonField fields[] = {
        WORD(name, session_name_is_valid),
        WORD(id, id_is_valid),
        OPTIONAL(newer_version, U32, UINT32_MAX),
        OPTIONAL(pinned, BOOL, 0),
        OPTIONAL(degraded, BOOL, 0),
        NUMBER(owner_uid, U32, UINT32_MAX),
        { .key = "roots",
          .type = JSON_FIELD_STRV,
          .offset = offsetof(Brief, roots),
          .max = BRIEF_ROOTS_MAX,
          .max_text = FUNCTION_NAME_MAX },
        NUMBER(n_roots, U64, MAX_ROOTS),
        NUMBER(start_ns, U64, INT64_MAX),
        NUMBER(stop_ns, U64, INT64_MAX),
        NUMBER(length_ns, U64, INT64_MAX),
        NUMBER(n_events, U64, INT64_MAX),
        NUMBER(n_bytes, U64, INT64_MAX),
        NUMBER(events_lost, U64, INT64_MAX),
        NUMBER(pages_lost, U64, INT64_MAX),
        NUMBER(n_gaps, U64, INT64_MAX),
};

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
        json_auto_t *o = json_pack("{s:s}", "state", session_state_name(b->state));

        if (!o || json_fields_write(o, fields, ELEMENTSOF(fields), b) < 0 ||
            (b->limit != SESSION_LIMIT_NONE &&
             json_object_set_new(o, "limit", json_string(session_limit_names[b->limit])) < 0) ||
            (b->disk_bytes != UINT64_MAX &&
             json_object_set_new(
                     o, "disk_bytes",
                     json_integer((json_int_t) MIN(b->disk_bytes, (uint64_t) INT64_MAX))) < 0))
                return NULL;
        return TAKE_PTR(o);
}

/* 0, META_E_INVALID. */
static int read_words(Brief *b, const json_t *o, const char **ret_field) {
        const char *state = json_string_value(json_object_get(o, "state")),
                   *limit = json_string_value(json_object_get(o, "limit"));
        json_t *disk_bytes = json_object_get(o, "disk_bytes");
        int i = state ? session_state_from_name(state) : -EINVAL;

        *ret_field = "state";
        if (i < 0)
                return META_E_INVALID;
        b->state = (SessionState) i;
        *ret_field = "limit";
        for (i = 0; limit && !streq(session_limit_names[i], limit); i++)
                if (i + 1 == _SESSION_LIMIT_N)
                        return META_E_INVALID;
        b->limit = (SessionLimit) i;
        *ret_field = "disk_bytes";
        b->disk_bytes = UINT64_MAX;
        if (!disk_bytes)
                return 0;
        if (!json_is_integer(disk_bytes) || json_integer_value(disk_bytes) < 0)
                return META_E_INVALID;
        b->disk_bytes = (uint64_t) json_integer_value(disk_bytes);
        return 0;
}

int brief_from_json(Brief *ret, const json_t *o, const char **ret_field) {
        _cleanup_brief_ Brief b = {};
        int r = json_fields_read(&b, fields, ELEMENTSOF(fields), o, ret_field);

        if (r == 0)
                r = read_words(&b, o, ret_field);
        if (r != 0)
                return r < 0 ? r : META_E_INVALID;
        *ret = TAKE(b, (Brief){});
        return 0;
}

void brief_done(Brief *b) {
        free(b->name);
        free(b->id);
        strv_done(&b->roots);
        *b = (Brief){};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Members that belong together are read together: if one is not as it should be, none of them is known. */

#include <jansson.h>

#include "base/array.h"
#include "base/name.h"
#include "meta/meta.h"
#include "pages/dat-file.h"

#define WRITER "ftraced "
#define TEXT_MAX 128 /* of an id */
#define ROOTS_MAX 65536
#define BUILD_IDS_MAX 65536
#define LACKS_MAX 65536
#define SENTENCE_MAX 4096

#define ID(member)                                                                                 \
        JSON_FIELD(SessionMeta, member, TEXT, .flags = JSON_FIELD_NULLABLE, .max_text = TEXT_MAX)

static const JsonField id_fields[] = { ID(boot_id), ID(machine_id) };
/* Which builds it is of. */
static const JsonField build_fields[] = {
        JSON_FIELD(SessionMeta, build_id, TEXT, .flags = JSON_FIELD_NULLABLE | JSON_FIELD_OMIT,
                   .max_text = BUILD_ID_CHARS_MAX, .is_valid = build_id_is_valid),
        JSON_FIELD(SessionMeta, build_ids, STRV, .flags = JSON_FIELD_OMIT, .max = BUILD_IDS_MAX,
                   .max_text = SENTENCE_MAX),
};
static const JsonField time_fields[] = {
        JSON_FIELD(SessionMeta, start, STRUCT, .table = &clock_table),
        JSON_FIELD(SessionMeta, stop, STRUCT, .table = &clock_table),
        JSON_FIELD(SessionMeta, clock_steps, LIST, .table = &clock_step_table),
};
/* What the recording lacked, and what of it is here. */
static const JsonField lacks_fields[] = {
        JSON_FIELD(SessionMeta, gaps, LIST, .flags = JSON_FIELD_OMIT, .table = &gap_table),
        JSON_FIELD(SessionMeta, lacks, STRV, .flags = JSON_FIELD_OMIT, .max = LACKS_MAX,
                   .max_text = SENTENCE_MAX),
        JSON_FIELD(SessionMeta, filters, TEXT, .flags = JSON_FIELD_OMIT | JSON_FIELD_NULLABLE,
                   .max_text = SENTENCE_MAX),
};
/* These belong to the spec. */
static const JsonField roots_fields[] = {
        JSON_FIELD(SessionMeta, roots, STRV, .max = ROOTS_MAX, .max_text = FUNCTION_NAME_MAX),
};

static const JsonTable roots_table = JSON_TABLE(SessionMeta, roots_fields), tables[] = {
        JSON_TABLE(SessionMeta, id_fields), JSON_TABLE(SessionMeta, build_fields),
        JSON_TABLE(SessionMeta, time_fields), JSON_TABLE(SessionMeta, lacks_fields)
};

int dat_origin_format(char **ret, const SessionMeta *m) {
        json_auto_t *o = json_object();
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < ELEMENTSOF(tables); i++)
                if (json_fields_write(o, &tables[i], m) < 0)
                        return -ENOMEM;
        if (json_fields_write(o, &roots_table, m) < 0 ||
            json_object_set_new(o, "spec", spec_to_json(&m->spec)) < 0)
                return -ENOMEM;
        text = json_dumps(o, JSON_COMPACT);
        return text ? text_format(ret, WRITER "%s", text) : -ENOMEM;
}

/* What was asked for, and the functions that it stood for. */
static int take_spec(SessionMeta *m, const json_t *o) {
        _cleanup_spec_ Spec spec = {};
        const char *field;
        int r = spec_from_json(&spec, json_object_get(o, "spec"), &field)
                        ?: json_fields_read(m, &roots_table, o, NULL);

        if (r != 0) {
                json_fields_done(&roots_table, m);
                return MIN(r, 0);
        }
        spec_done(&m->spec);
        m->spec = TAKE(spec, (Spec){});
        strv_sort_unique(&m->roots);
        return 0;
}

int dat_origin_apply(SessionMeta *m, const char *text) {
        json_auto_t *o = NULL;

        if (!startswith(text, WRITER))
                return 0;
        o = json_loads(text + strlen(WRITER), JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(o))
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(tables); i++) {
                int r = json_fields_read(m, &tables[i], o, NULL);

                if (r < 0)
                        return r;
                if (r > 0)
                        json_fields_done(&tables[i], m);
        }
        return take_spec(m, o);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Members are read alone: one that is missing or not as it should be is as if it were not known. */

#include <jansson.h>

#include "base/array.h"
#include "base/name.h"
#include "pages/dat-file.h"

#define WRITER "ftraced "
#define TEXT_MAX 128 /* of an id */
#define ROOTS_MAX 65536
#define LACKS_MAX 65536
#define SENTENCE_MAX 4096

static const JsonField roots_fields[] = {
        JSON_FIELD(SessionMeta, roots, STRV, .max = ROOTS_MAX, .max_text = FUNCTION_NAME_MAX),
};
static const JsonTable roots_table = JSON_TABLE(SessionMeta, roots_fields);

/* What the recording lacked, and what of it is here. */
static const JsonField lacks_fields[] = {
        JSON_FIELD(SessionMeta, gaps, LIST, .flags = JSON_FIELD_OMIT, .table = &gap_table),
        JSON_FIELD(SessionMeta, lacks, STRV, .flags = JSON_FIELD_OMIT, .max = LACKS_MAX,
                   .max_text = SENTENCE_MAX),
        JSON_FIELD(SessionMeta, filters, TEXT, .flags = JSON_FIELD_OMIT | JSON_FIELD_NULLABLE,
                   .max_text = SENTENCE_MAX),
};
static const JsonTable lacks_table = JSON_TABLE(SessionMeta, lacks_fields);

int dat_origin_format(char **ret, const SessionMeta *m) {
        _cleanup_free_ char *text = NULL;
        json_auto_t *o = json_pack("{s:s?, s:s?, s:o, s:o, s:o, s:o}", "boot_id", m->boot_id,
                                   "machine_id", m->machine_id, "spec", spec_to_json(&m->spec),
                                   "start", json_struct_new(&clock_table, &m->start), "stop",
                                   json_struct_new(&clock_table, &m->stop), "clock_steps",
                                   json_list_new(&clock_step_table, &m->clock_steps));

        if (!o)
                return -ENOMEM;
        if (json_fields_write(o, &roots_table, m) < 0 || json_fields_write(o, &lacks_table, m) < 0)
                return -ENOMEM;
        text = json_dumps(o, JSON_COMPACT);
        return text ? text_format(ret, WRITER "%s", text) : -ENOMEM;
}

static int take_text(char **ret, const json_t *o, const char *member) {
        const char *text = json_string_value(json_object_get(o, member));

        return text && strlen(text) <= TEXT_MAX ? text_replace(ret, text) : 0;
}

/* What was asked for, and the functions that it stood for. */
static int take_spec(SessionMeta *m, const json_t *o) {
        _cleanup_spec_ Spec spec = SPEC_INIT;
        SessionMeta read = {};
        const char *field;
        int r = spec_from_json(&spec, json_object_get(o, "spec"), &field);

        if (r == 0)
                r = json_fields_read(&read, &roots_table, o, NULL);
        if (r == 0) {
                spec_done(&m->spec);
                m->spec = TAKE(spec, SPEC_INIT);
                strv_done(&m->roots);
                m->roots = TAKE(read.roots, (Strv){});
                strv_sort_unique(&m->roots);
        }
        strv_done(&read.roots);
        return r < 0 ? r : 0;
}

static int take_lacks(SessionMeta *m, const json_t *o) {
        SessionMeta read = {};
        int r = json_fields_read(&read, &lacks_table, o, NULL);

        if (r == 0) {
                json_fields_done(&lacks_table, m);
                m->gaps = TAKE(read.gaps, (Gaps){});
                m->lacks = TAKE(read.lacks, (Strv){});
                m->filters = TAKE_PTR(read.filters);
        }
        json_fields_done(&lacks_table, &read);
        return r;
}

int dat_origin_apply(SessionMeta *m, const char *text) {
        ClockSteps steps = {};
        ClockTuple start = {}, stop = {};
        json_auto_t *o = NULL;
        int r;

        if (!startswith(text, WRITER))
                return 0;
        o = json_loads(text + strlen(WRITER), JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(o))
                return 0;
        r = take_text(&m->boot_id, o, "boot_id") ?: take_text(&m->machine_id, o, "machine_id");
        if (r == 0 && json_struct_read(&start, &clock_table, json_object_get(o, "start")) == 0 &&
            json_struct_read(&stop, &clock_table, json_object_get(o, "stop")) == 0) {
                r = json_list_read(&steps, &clock_step_table, json_object_get(o, "clock_steps"));
                if (r == 0) {
                        m->start = start;
                        m->stop = stop;
                        clock_steps_done(&m->clock_steps);
                        m->clock_steps = TAKE(steps, (ClockSteps){});
                }
                clock_steps_done(&steps);
        }
        if (r >= 0)
                r = take_spec(m, o);
        if (r >= 0)
                r = take_lacks(m, o);
        return MIN(r, 0);
}

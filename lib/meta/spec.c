/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A spec crosses from any user to root, so everything that may be in one stands in one table:
 * its key, its range, and which words may be in its lists.  Nothing that is not in the table gets
 * through, and each refusal can name its key.
 */

#include "base/cleanup.h"
#include "base/cpu-list.h"
#include "base/name.h"
#include "base/text.h"
#include "base/unit.h"
#include "meta/captures.h"
#include "meta/event-choice.h"
#include "meta/json-field.h"
#include "meta/sample.h"
#include "meta/spec.h"
#include "meta/trigger.h"

#define BUFFER_BYTES_MIN 4096
#define BUFFER_BYTES_MAX (UINT64_C(1) << 40)
#define MAX_FUNCTIONS_MAX 65536 /* more than any kernel has; also META's bound on roots */
#define PID_TEXT_MAX 7
#define CPU_RANGE_TEXT_MAX 9

static bool pid_is_valid(const char *s) {
        uint64_t pid;

        return parse_u64(s, SPEC_PID_MAX, &pid) >= 0 && pid > 0 && *s != '0';
}

static const char *const lean_names[] = {
        [LEAN_DEFAULT] = "default",
        [LEAN_OFF] = "off",
        [LEAN_FULL] = "full",
        [LEAN_AUTO] = "auto",
};

const char *const spec_lesson_names[_LESSON_N] = {
        [LESSON_YES] = "yes",
        [LESSON_NO] = "no",
        [LESSON_WHOLE] = "whole",
};

#define NUMBER(member, from, to, absent)                                                           \
        JSON_FIELD(Spec, member, U64, .flags = JSON_FIELD_OMIT, .min = (from), .max = (to),        \
                   .fallback = (absent))
#define FLAG(member) JSON_FIELD(Spec, member, BOOL, .flags = JSON_FIELD_OMIT)
#define LIST(member, how, most, text, valid)                                                       \
        JSON_FIELD(Spec, member, STRV, .flags = (how), .max = (most), .max_text = (text),          \
                   .is_valid = (valid))
#define WORD(member, all, absent)                                                                  \
        JSON_FIELD(Spec, member, WORD, .flags = JSON_FIELD_OMIT, .words = (all),                   \
                   .max = ELEMENTSOF(all), .fallback = (absent))

static const char *const on_full_names[] = {
        [SPEC_ON_FULL_WAIT] = "wait",
        [SPEC_ON_FULL_STOP] = "stop",
};

int spec_lean_from_name(const char *s) {
        return text_find(lean_names, _LEAN_N, s);
}

int spec_lesson_from_name(const char *s) {
        return text_find(spec_lesson_names, LESSON_WHOLE, s);
}

const char *spec_on_full_name(SpecOnFull o) {
        return (size_t) o < ELEMENTSOF(on_full_names) ? on_full_names[o] : "unknown";
}

int spec_on_full_from_name(const char *s) {
        return text_find(on_full_names, _SPEC_ON_FULL_N, s);
}

static const JsonField fields[] = {
        LIST(functions, JSON_FIELD_REQUIRED, SPEC_MAX_ROOTS, FUNCTION_NAME_MAX,
             function_pattern_is_valid),
        LIST(notrace, JSON_FIELD_OMIT, SPEC_MAX_ROOTS, FUNCTION_NAME_MAX,
             function_pattern_is_valid),
        LIST(pids, JSON_FIELD_OMIT, SPEC_MAX_ROOTS, PID_TEXT_MAX, pid_is_valid),
        LIST(comms, JSON_FIELD_OMIT, SPEC_MAX_COMMS, COMM_MAX, comm_is_valid),
        LIST(cgroups, JSON_FIELD_OMIT, SPEC_MAX_CGROUPS, CGROUP_PATH_MAX, cgroup_path_is_valid),
        LIST(cpus, JSON_FIELD_OMIT, CPU_RANGE_END, CPU_RANGE_TEXT_MAX, cpu_range_is_valid),
        FLAG(flat),
        NUMBER(slower_ns, SPEC_SLOWER_NS_MIN, INT64_MAX, 0),
        FLAG(no_irqs),
        FLAG(no_sleep_time),
        JSON_FIELD(Spec, clock, TEXT, .flags = JSON_FIELD_OMIT | JSON_FIELD_NULLABLE,
                   .max_text = 31, .is_valid = clock_name_is_valid),
        NUMBER(depth, 0, SPEC_DEPTH_MAX, 0),
        NUMBER(duration_ns, 0, INT64_MAX, 0),
        NUMBER(max_bytes, 0, INT64_MAX, 0),
        NUMBER(segment_bytes, SPEC_SEGMENT_BYTES_MIN, INT64_MAX, 0),
        NUMBER(segment_ns, SPEC_SEGMENT_NS_MIN, INT64_MAX, 0),
        FLAG(ring),
        NUMBER(buffer_bytes, BUFFER_BYTES_MIN, BUFFER_BYTES_MAX, SPEC_DEFAULT_BUFFER_BYTES),
        NUMBER(max_functions, 1, MAX_FUNCTIONS_MAX, SPEC_DEFAULT_MAX_FUNCTIONS),
        WORD(on_full, on_full_names, SPEC_ON_FULL_WAIT),
        WORD(lean, lean_names, LEAN_DEFAULT),
        WORD(lesson, spec_lesson_names, LESSON_YES),
        FLAG(args),
        FLAG(retval),
        LIST(retval_functions, JSON_FIELD_OMIT, SPEC_MAX_VALUES, FUNCTION_NAME_MAX,
             function_pattern_is_valid),
        LIST(args_functions, JSON_FIELD_OMIT, SPEC_MAX_VALUES, FUNCTION_NAME_MAX,
             function_pattern_is_valid),
        LIST(events, JSON_FIELD_OMIT, SPEC_MAX_EVENTS, EVENT_CHOICE_MAX, event_choice_is_valid),
        NUMBER(budget_ppm, 0, 1000000, SPEC_DEFAULT_BUDGET_PPM),
        LIST(hooked, JSON_FIELD_OMIT, SPEC_MAX_HOOKED, FUNCTION_NAME_MAX,
             function_pattern_is_valid),
        NUMBER(max_hooked, 1, SPEC_UNLIMITED, 0),
        NUMBER(max_event_rate, 1, SPEC_UNLIMITED, 0),
        NUMBER(max_write_rate, 1, SPEC_UNLIMITED, 0),
        NUMBER(max_cpu_ppm, 1, SPEC_UNLIMITED, 0),
        LIST(triggers, JSON_FIELD_OMIT, TRIGGER_MAX, TRIGGER_RULE_BYTES_MAX, trigger_rule_is_valid),
        FLAG(in_kernel),
        FLAG(black_box),
        NUMBER(max_captures, 0, INT64_MAX, 0),
        NUMBER(max_captures_a_day, 0, CAPTURES_MAX_A_DAY, SPEC_DEFAULT_CAPTURES_A_DAY),
        NUMBER(min_gap_ns, 0, INT64_MAX, SPEC_DEFAULT_GAP_NS),
        NUMBER(sample_ppm, 0, SAMPLE_ALL_PPM, 0),
};

static const JsonTable table = JSON_TABLE(Spec, fields);

const char *spec_member(size_t i) {
        return i < ELEMENTSOF(fields) ? fields[i].key : NULL;
}

json_t *spec_to_json(const Spec *spec) {
        return json_fields_new(&table, spec);
}

/* Of two filters for one event only one could count. */
static bool names_an_event_twice(const Strv *events) {
        _cleanup_strv_ Strv names = {};
        size_t n = 0;

        for (size_t i = 0; i < events->n; i++) {
                EventChoice e;

                if (event_choice_parse(&e, events->items[i])) {
                        n++;
                        (void) strv_addf(&names, "%s:%s", e.system, e.name);
                }
        }
        strv_sort_unique(&names);
        return names.n < n; /* without memory, too */
}

int spec_member_to_json(json_t *o, const Spec *spec, size_t offset) {
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                JsonField f = fields[i];

                if (f.offset != offset)
                        continue;
                f.flags &= ~(unsigned) JSON_FIELD_OMIT;
                return json_fields_write(o, &(JsonTable){ &f, 1 }, spec);
        }
        return ORIGIN(-ENOENT);
}

int spec_from_json(Spec *ret, const json_t *o, const char **ret_field) {
        _cleanup_spec_ Spec spec = {};
        int r;
        const char *field = json_is_object(o) ? json_fields_find_unknown(&table, o) : "spec";

        r = field ? SPEC_E_INVALID : json_fields_read(&spec, &table, o, &field);
        if (r == 0 && spec.functions.n == 0) {
                field = "functions";
                r = SPEC_E_INVALID;
        }
        if (r == 0 && names_an_event_twice(&spec.events)) {
                field = "events";
                r = SPEC_E_INVALID;
        }
        if (r == SPEC_E_INVALID)
                *ret_field = field;
        if (r == 0)
                *ret = TAKE(spec, (Spec){});
        return r;
}

static Strv *list_of(Spec *spec, const JsonField *f) {
        return (void *) ((char *) spec + f->offset);
}

int spec_copy(Spec *ret, const Spec *spec) {
        _cleanup_spec_ Spec copy = *spec;
        int r = 0;

        copy.clock = NULL;
        for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                if (fields[i].type == JSON_FIELD_STRV)
                        *list_of(&copy, &fields[i]) = (Strv){};
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(fields); i++)
                if (fields[i].type == JSON_FIELD_STRV)
                        r = strv_copy(list_of(&copy, &fields[i]),
                                      list_of((Spec *) spec, &fields[i]));
        if (r >= 0 && spec->clock) {
                copy.clock = strdup(spec->clock);
                r = copy.clock ? 0 : -ENOMEM;
        }
        if (r < 0)
                return r;
        *ret = TAKE(copy, (Spec){});
        return 0;
}

void spec_done(Spec *spec) {
        json_fields_done(&table, spec);
}

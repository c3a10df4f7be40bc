/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A spec crosses from any user to root, so everything that may be in one stands in one table:
 * its key, its range, and which words may be in its lists.  Nothing that is not in the table gets
 * through, and each refusal can name its key.
 */

#include "base/cleanup.h"
#include "base/name.h"
#include "base/unit.h"
#include "store/event-choice.h"
#include "store/json-field.h"
#include "store/spec.h"

#define PID_MAX 4194304 /* PID_MAX_LIMIT, linux 6.1 include/linux/threads.h, 64 bit */
#define BUFFER_BYTES_MIN 4096
#define BUFFER_BYTES_MAX (UINT64_C(1) << 40)
#define MAX_FUNCTIONS_MAX 65536 /* more than any kernel has; also META's bound on roots */
#define PID_TEXT_MAX 7

static bool pid_is_valid(const char *s) {
        uint64_t pid;

        return parse_u64(s, PID_MAX, &pid) >= 0 && pid > 0 && *s != '0';
}

static const char *const lean_names[] = {
        [LEAN_OFF] = "off",
        [LEAN_FULL] = "full",
        [LEAN_AUTO] = "auto",
};

#define NUMBER(member, from, to, absent)                                                           \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_U64, .flags = JSON_FIELD_OMIT,                  \
                .offset = offsetof(Spec, member), .min = (from), .max = (to), .fallback = (absent) \
        }
#define FLAG(member)                                                                               \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_BOOL, .flags = JSON_FIELD_OMIT,                 \
                .offset = offsetof(Spec, member)                                                   \
        }
#define LIST(member, how, text, valid)                                                             \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_STRV, .flags = (how),                           \
                .offset = offsetof(Spec, member), .max = SPEC_MAX_ROOTS, .max_text = (text),       \
                .is_valid = (valid)                                                                \
        }

static const char *const on_full_names[] = {
        [SPEC_ON_FULL_WAIT] = "wait",
        [SPEC_ON_FULL_STOP] = "stop",
};

const char *spec_on_full_name(SpecOnFull o) {
        return (size_t) o < ELEMENTSOF(on_full_names) ? on_full_names[o] : "unknown";
}

int spec_on_full_from_name(const char *s) {
        for (int i = 0; i < _SPEC_ON_FULL_N; i++)
                if (streq(on_full_names[i], s))
                        return i;
        return -EINVAL;
}

static const JsonField fields[] = {
        LIST(functions, JSON_FIELD_REQUIRED, FUNCTION_NAME_MAX, function_pattern_is_valid),
        LIST(notrace, JSON_FIELD_OMIT, FUNCTION_NAME_MAX, function_pattern_is_valid),
        LIST(pids, JSON_FIELD_OMIT, PID_TEXT_MAX, pid_is_valid),
        NUMBER(depth, 0, SPEC_DEPTH_MAX, 0),
        NUMBER(duration_ns, 0, INT64_MAX, 0),
        NUMBER(max_bytes, 0, INT64_MAX, 0),
        NUMBER(segment_bytes, SPEC_SEGMENT_BYTES_MIN, INT64_MAX, 0),
        NUMBER(segment_ns, SPEC_SEGMENT_NS_MIN, INT64_MAX, 0),
        FLAG(ring),
        NUMBER(buffer_bytes, BUFFER_BYTES_MIN, BUFFER_BYTES_MAX, SPEC_DEFAULT_BUFFER_BYTES),
        NUMBER(max_functions, 1, MAX_FUNCTIONS_MAX, SPEC_DEFAULT_MAX_FUNCTIONS),
        { .key = "on_full",
          .type = JSON_FIELD_WORD,
          .flags = JSON_FIELD_OMIT,
          .offset = offsetof(Spec, on_full),
          .words = on_full_names,
          .max = _SPEC_ON_FULL_N,
          .fallback = SPEC_ON_FULL_WAIT },
        { .key = "lean",
          .type = JSON_FIELD_WORD,
          .flags = JSON_FIELD_OMIT,
          .offset = offsetof(Spec, lean),
          .words = lean_names,
          .max = _LEAN_N,
          .fallback = SPEC_DEFAULT_LEAN },
        FLAG(args),
        FLAG(retval),
        { .key = "events",
          .type = JSON_FIELD_STRV,
          .flags = JSON_FIELD_OMIT,
          .offset = offsetof(Spec, events),
          .max = SPEC_MAX_EVENTS,
          .max_text = EVENT_CHOICE_MAX,
          .is_valid = event_choice_is_valid },
        NUMBER(budget_ppm, 0, 1000000, SPEC_DEFAULT_BUDGET_PPM),
        { .key = "hooked",
          .type = JSON_FIELD_STRV,
          .flags = JSON_FIELD_OMIT,
          .offset = offsetof(Spec, hooked),
          .max = SPEC_MAX_HOOKED,
          .max_text = FUNCTION_NAME_MAX,
          .is_valid = function_pattern_is_valid },
        NUMBER(max_hooked, 1, INT64_MAX, 0),
        NUMBER(max_event_rate, 1, INT64_MAX, 0),
        NUMBER(max_write_rate, 1, INT64_MAX, 0),
        NUMBER(max_cpu_ppm, 1, INT64_MAX, 0),
};

json_t *spec_to_json(const Spec *spec) {
        json_t *o = json_object();

        if (o && json_fields_write(o, fields, ELEMENTSOF(fields), spec) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

/* Of two filters for one event only one could count. */
static bool names_an_event_twice(const Strv *events) {
        for (size_t i = 0; i < events->n; i++)
                for (size_t k = 0; k < i; k++) {
                        EventChoice a, b;

                        if (event_choice_parse(&a, events->items[i]) &&
                            event_choice_parse(&b, events->items[k]) && streq(a.system, b.system) &&
                            streq(a.name, b.name))
                                return true;
                }
        return false;
}

int spec_member_to_json(json_t *o, const Spec *spec, size_t offset) {
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                JsonField f = fields[i];

                if (f.offset != offset)
                        continue;
                f.flags &= ~(unsigned) JSON_FIELD_OMIT;
                return json_fields_write(o, &f, 1, spec);
        }
        return -ENOENT;
}

int spec_from_json(Spec *ret, const json_t *o, const char **ret_field) {
        _cleanup_spec_ Spec spec = {};
        const char *field;
        int r;

        if (!json_is_object(o)) {
                *ret_field = "spec";
                return SPEC_E_INVALID;
        }
        field = json_fields_find_unknown(fields, ELEMENTSOF(fields), o);
        r = field ? SPEC_E_INVALID : json_fields_read(&spec, fields, ELEMENTSOF(fields), o, &field);
        if (r < 0)
                return r;
        if (r == 0 && spec.functions.n == 0) {
                field = "functions";
                r = SPEC_E_INVALID;
        }
        if (r == 0 && names_an_event_twice(&spec.events)) {
                field = "events";
                r = SPEC_E_INVALID;
        }
        if (r != 0) {
                *ret_field = field;
                return SPEC_E_INVALID;
        }
        *ret = TAKE(spec, (Spec){});
        return 0;
}

int spec_copy(Spec *ret, const Spec *spec) {
        _cleanup_spec_ Spec copy = *spec;
        int r;

        copy.functions = copy.notrace = copy.pids = copy.hooked = copy.events = (Strv){};
        r = strv_copy(&copy.functions, &spec->functions);
        if (r >= 0)
                r = strv_copy(&copy.notrace, &spec->notrace);
        if (r >= 0)
                r = strv_copy(&copy.pids, &spec->pids);
        if (r >= 0)
                r = strv_copy(&copy.hooked, &spec->hooked);
        if (r >= 0)
                r = strv_copy(&copy.events, &spec->events);
        if (r < 0)
                return r;
        *ret = TAKE(copy, (Spec){});
        return 0;
}

void spec_done(Spec *spec) {
        strv_done(&spec->functions);
        strv_done(&spec->notrace);
        strv_done(&spec->pids);
        strv_done(&spec->hooked);
        strv_done(&spec->events);
}

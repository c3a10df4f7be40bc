/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Three flat structs, each with its table (store/json-field.h), and a little glue for what is
 * nested: the spec, the two moments, the CPUs.  The daemon's own file and a stranger's are read by
 * the same code, so a text that is shown has lost its control characters and a list has a bound.
 */

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "base/now.h"
#include "base/text.h"
#include "store/format.h"
#include "store/json-field.h"
#include "store/meta.h"
#include "store/symbol-file.h"

#define MACHINE_ID_CHARS 32
#define ID_CHARS 16
#define MAX_ROOTS 65536
#define MAX_SENTENCES 4096
#define MAX_SENTENCE_BYTES 4096
#define MAX_WORD_BYTES 255

static const char *const state_names[_SESSION_STATE_N] = {
        [SESSION_NEW] = "new",
        [SESSION_ARMED] = "armed",
        [SESSION_RECORDING] = "recording",
        [SESSION_DRAINING] = "draining",
        [SESSION_SEALED] = "sealed",
        [SESSION_FAILED] = "failed",
        [SESSION_INTERRUPTED] = "interrupted",
};

const char *session_state_name(SessionState s) {
        return (size_t) s < ELEMENTSOF(state_names) ? state_names[s] : "unknown";
}

int session_state_from_name(const char *s) {
        for (int i = 0; i < _SESSION_STATE_N; i++)
                if (streq(state_names[i], s))
                        return i;
        return ORIGIN(-EINVAL);
}

bool session_state_is_live(SessionState s) {
        return s == SESSION_ARMED || s == SESSION_RECORDING || s == SESSION_DRAINING;
}

const char *const session_limit_names[_SESSION_LIMIT_N] = {
        [SESSION_LIMIT_NONE] = "none",
        [SESSION_LIMIT_EVENT_RATE] = "max_event_rate",
        [SESSION_LIMIT_WRITE_RATE] = "max_write_rate",
        [SESSION_LIMIT_CPU] = "max_cpu",
};

static bool is_hex(const char *s, size_t n) {
        return strspn(s, "0123456789abcdef") == n && s[n] == 0;
}

static bool id_is_valid(const char *s) {
        return is_hex(s, ID_CHARS);
}

static bool machine_id_is_valid(const char *s) {
        return is_hex(s, MACHINE_ID_CHARS);
}

#define NUMBER(object, member, kind, to)                                                           \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_##kind, .offset = offsetof(object, member),     \
                .max = (to)                                                                        \
        }
#define OPTIONAL(object, member, kind, to)                                                         \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_##kind, .flags = JSON_FIELD_OMIT,               \
                .offset = offsetof(object, member), .max = (to)                                    \
        }
#define WORD(member, how, valid)                                                                   \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_TEXT, .flags = (how),                           \
                .offset = offsetof(SessionMeta, member), .max_text = MAX_WORD_BYTES,               \
                .is_valid = (valid)                                                                \
        }
#define LIST(member, n, text)                                                                      \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_STRV, .offset = offsetof(SessionMeta, member),  \
                .max = (n), .max_text = (text)                                                     \
        }

static const JsonField meta_fields[] = {
        WORD(name, JSON_FIELD_REQUIRED, session_name_is_valid),
        WORD(id, JSON_FIELD_REQUIRED, id_is_valid),
        { .key = "reason",
          .type = JSON_FIELD_TEXT,
          .flags = JSON_FIELD_NULLABLE,
          .offset = offsetof(SessionMeta, reason),
          .max_text = MAX_SENTENCE_BYTES },
        { .key = "silence",
          .type = JSON_FIELD_TEXT,
          .flags = JSON_FIELD_NULLABLE | JSON_FIELD_OMIT,
          .offset = offsetof(SessionMeta, silence),
          .max_text = MAX_SENTENCE_BYTES },
        { .key = "limit",
          .type = JSON_FIELD_WORD,
          .flags = JSON_FIELD_OMIT,
          .offset = offsetof(SessionMeta, limit),
          .words = session_limit_names,
          .max = _SESSION_LIMIT_N },
        NUMBER(SessionMeta, owner_uid, U32, UINT32_MAX),
        NUMBER(SessionMeta, owner_pid, U32, INT32_MAX),
        LIST(roots, MAX_ROOTS, FUNCTION_NAME_MAX),
        LIST(notrace, MAX_ROOTS, FUNCTION_NAME_MAX),
        LIST(neighbours, MAX_SENTENCES, MAX_SENTENCE_BYTES),
        LIST(warnings, MAX_SENTENCES, MAX_SENTENCE_BYTES),
        WORD(kernel, 0, NULL),
        WORD(machine, 0, NULL),
        WORD(host, 0, NULL),
        WORD(boot_id, 0, NULL),
        WORD(machine_id, JSON_FIELD_NULLABLE | JSON_FIELD_OMIT, machine_id_is_valid),
        WORD(profile, JSON_FIELD_NULLABLE, session_name_is_valid),
        WORD(instance, JSON_FIELD_NULLABLE, NULL),
        WORD(clock, 0, NULL),
        WORD(symbols, JSON_FIELD_NULLABLE, symbol_hash_is_valid),
        WORD(modules, JSON_FIELD_NULLABLE, symbol_hash_is_valid),
        WORD(types, JSON_FIELD_NULLABLE, symbol_hash_is_valid),
        NUMBER(SessionMeta, page_bytes, U32, PAGE_BYTES_MAX),
        NUMBER(SessionMeta, n_possible_cpus, U32, STORE_MAX_CPUS),
        { .key = "big_endian",
          .type = JSON_FIELD_BOOL,
          .offset = offsetof(SessionMeta, big_endian) },
        NUMBER(SessionMeta, n_hooked, U32, INT32_MAX),
        { .key = "newer_version",
          .type = JSON_FIELD_U32,
          .flags = JSON_FIELD_OMIT,
          .offset = offsetof(SessionMeta, newer_version),
          .max = INT32_MAX },
        LIST(left_out, MAX_ROOTS, FUNCTION_NAME_MAX),
        { .key = "left_out_in",
          .type = JSON_FIELD_STRV,
          .flags = JSON_FIELD_OMIT,
          .offset = offsetof(SessionMeta, left_out_in),
          .max = MAX_ROOTS,
          .max_text = MAX_SENTENCE_BYTES },
        NUMBER(SessionMeta, learned_ns, U64, INT64_MAX),
        OPTIONAL(SessionMeta, learned_calls, U64, INT64_MAX),
        NUMBER(SessionMeta, narrowed_ns, U64, INT64_MAX),
        { .key = "learns", .type = JSON_FIELD_BOOL, .offset = offsetof(SessionMeta, learns) },
        NUMBER(SessionMeta, arm_ns, U64, INT64_MAX),
        OPTIONAL(SessionMeta, first_sequence, U64, UINT32_MAX),
        OPTIONAL(SessionMeta, bytes_dropped, U64, INT64_MAX),
        OPTIONAL(SessionMeta, pinned, BOOL, 0),
        OPTIONAL(SessionMeta, pages_unsynced, U64, INT64_MAX),
        OPTIONAL(SessionMeta, kept_ns, U64, INT64_MAX),
        WORD(kept_of, JSON_FIELD_NULLABLE | JSON_FIELD_OMIT, id_is_valid),
        OPTIONAL(SessionMeta, n_snapshots, U64, INT64_MAX),
        WORD(origin, JSON_FIELD_NULLABLE, session_name_is_valid),
};

static const JsonField cpu_fields[] = {
        { .key = "cpu",
          .type = JSON_FIELD_U32,
          .flags = JSON_FIELD_REQUIRED,
          .offset = offsetof(CpuAccount, cpu),
          .max = STORE_MAX_CPUS - 1 },
        NUMBER(CpuAccount, n_pages, U64, INT64_MAX),
        NUMBER(CpuAccount, n_bytes, U64, INT64_MAX),
        NUMBER(CpuAccount, read_events, U64, INT64_MAX),
        NUMBER(CpuAccount, overrun, U64, INT64_MAX),
        NUMBER(CpuAccount, commit_overrun, U64, INT64_MAX),
        NUMBER(CpuAccount, dropped_events, U64, INT64_MAX),
        NUMBER(CpuAccount, pages_lost, U64, INT64_MAX),
        NUMBER(CpuAccount, pages_dropped, U64, INT64_MAX),
};

int session_meta_new(SessionMeta **ret) {
        SessionMeta *m = calloc(1, sizeof(*m));

        if (!m)
                return -ENOMEM;
        m->spec = SPEC_INIT;
        *ret = m;
        return 0;
}

int session_meta_renew_id(SessionMeta *m) {
        char text[17];
        uint64_t id;

        if (getrandom(&id, sizeof(id), 0) != sizeof(id))
                return ORIGIN(-errno);
        (void) snprintf(text, sizeof(text), "%016" PRIx64, id);
        return text_replace(&m->id, text);
}

SessionMeta *session_meta_free(SessionMeta *m) {
        if (!m)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(meta_fields); i++) {
                void *p = (char *) m + meta_fields[i].offset;

                if (meta_fields[i].type == JSON_FIELD_TEXT)
                        free(*(char **) p);
                else if (meta_fields[i].type == JSON_FIELD_STRV)
                        strv_done(p);
        }
        spec_done(&m->spec);
        gaps_done(&m->gaps);
        conditions_done(&m->degraded);
        symbol_maps_done(&m->symbol_maps);
        clock_steps_done(&m->clock_steps);
        free(m->cpus);
        free(m);
        return NULL;
}

static json_t *struct_to_json(const JsonField *fields, size_t n_fields, const void *base) {
        json_t *o = json_object();

        if (o && json_fields_write(o, fields, n_fields, base) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

static json_t *cpus_to_json(const SessionMeta *m) {
        json_t *list = json_array();

        for (size_t i = 0; list && i < m->n_cpus; i++) {
                json_t *o = struct_to_json(cpu_fields, ELEMENTSOF(cpu_fields), &m->cpus[i]);

                if (json_array_append_new(list, o) < 0) {
                        json_decref(list);
                        return NULL;
                }
        }
        return list;
}

json_t *session_meta_to_json(const SessionMeta *m) {
        json_t *o = json_object();

        if (!o)
                return NULL;
        if (json_object_set_new(o, "version", json_integer(META_VERSION)) < 0 ||
            json_fields_write(o, meta_fields, ELEMENTSOF(meta_fields), m) < 0 ||
            json_object_set_new(o, "state", json_string(session_state_name(m->state))) < 0 ||
            json_object_set_new(o, "spec", spec_to_json(&m->spec)) < 0 ||
            json_object_set_new(o, "symbol_maps", symbol_maps_to_json(&m->symbol_maps)) < 0 ||
            json_object_set_new(o, "start", clock_tuple_to_json(&m->start)) < 0 ||
            json_object_set_new(o, "stop", clock_tuple_to_json(&m->stop)) < 0 ||
            json_object_set_new(o, "cpus", cpus_to_json(m)) < 0 ||
            json_object_set_new(o, "gaps", gaps_to_json(&m->gaps)) < 0 ||
            json_object_set_new(o, "degraded", conditions_to_json(&m->degraded)) < 0 ||
            (m->clock_steps.n > 0 &&
             json_object_set_new(o, "clock_steps", clock_steps_to_json(&m->clock_steps)) < 0) ||
            (clock_tuple_is_set(&m->kept_since) &&
             json_object_set_new(o, "kept_since", clock_tuple_to_json(&m->kept_since)) < 0) ||
            (clock_tuple_is_set(&m->armed) &&
             json_object_set_new(o, "armed", clock_tuple_to_json(&m->armed)) < 0) ||
            ((m->captures.n > 0 || m->captures.n_triggers > 0) &&
             json_object_set_new(o, "captures", captures_to_json(&m->captures)) < 0)) {
                json_decref(o);
                return NULL;
        }
        return o;
}

static int read_state(SessionMeta *m, const json_t *v, const char **field) {
        const char *s = json_string_value(v);
        int state = s ? session_state_from_name(s) : -EINVAL;

        if (state < 0)
                return META_E_INVALID;
        m->state = (SessionState) state;
        return 0;
}

static int read_spec(SessionMeta *m, const json_t *v, const char **field) {
        return spec_from_json(&m->spec, v, field);
}

static int read_start(SessionMeta *m, const json_t *v, const char **field) {
        return clock_tuple_from_json(&m->start, v);
}

static int read_stop(SessionMeta *m, const json_t *v, const char **field) {
        return clock_tuple_from_json(&m->stop, v);
}

static int read_symbol_maps(SessionMeta *m, const json_t *v, const char **field) {
        return symbol_maps_from_json(&m->symbol_maps, v);
}

static int read_kept_since(SessionMeta *m, const json_t *v, const char **field) {
        return clock_tuple_from_json(&m->kept_since, v);
}

static int read_clock_steps(SessionMeta *m, const json_t *v, const char **field) {
        return clock_steps_from_json(&m->clock_steps, v);
}

static int read_armed(SessionMeta *m, const json_t *v, const char **field) {
        return clock_tuple_from_json(&m->armed, v);
}

static int read_captures(SessionMeta *m, const json_t *v, const char **field) {
        return captures_from_json(&m->captures, v);
}

static int read_cpus(SessionMeta *m, const json_t *list, const char **field) {
        size_t n = json_array_size(list);

        if (!list || json_is_null(list))
                return 0;
        if (!json_is_array(list) || n > STORE_MAX_CPUS)
                return META_E_INVALID;
        m->cpus = calloc(n ?: 1, sizeof(*m->cpus));
        if (!m->cpus)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const char *member; /* refusals name the list */
                int r = json_fields_read(&m->cpus[i], cpu_fields, ELEMENTSOF(cpu_fields),
                                         json_array_get(list, i), &member);

                if (r != 0)
                        return r;
                if (i > 0 && m->cpus[i].cpu <= m->cpus[i - 1].cpu)
                        return META_E_INVALID;
        }
        m->n_cpus = n;
        return 0;
}

static int read_gaps(SessionMeta *m, const json_t *v, const char **field) {
        return gaps_from_json(&m->gaps, v);
}

static int read_degraded(SessionMeta *m, const json_t *v, const char **field) {
        return conditions_from_json(&m->degraded, v);
}

static int check_page_bytes(SessionMeta *m, const json_t *v, const char **field) {
        uint32_t n = m->page_bytes;

        return n == 0 || (n >= PAGE_BYTES_MIN && (n & (n - 1)) == 0) ? 0 : META_E_INVALID;
}

/* What the tables cannot say.  @field names the key already; read() may name one within it. */
static const struct {
        const char *key;
        int (*read)(SessionMeta *m, const json_t *v, const char **field);
} nested[] = {
        { "page_bytes", check_page_bytes },
        { "state", read_state },
        { "spec", read_spec },
        { "start", read_start },
        { "stop", read_stop },
        { "symbol_maps", read_symbol_maps },
        { "kept_since", read_kept_since },
        { "clock_steps", read_clock_steps },
        { "armed", read_armed },
        { "captures", read_captures },
        { "cpus", read_cpus },
        { "gaps", read_gaps },
        { "degraded", read_degraded },
};

static uint32_t newer_version(const json_t *o) {
        json_int_t version = json_integer_value(json_object_get(o, "version"));

        return version > META_VERSION && version <= INT32_MAX ? (uint32_t) version : 0;
}

static int read_session(SessionMeta *m, const json_t *o, const char **field) {
        int r;

        *field = "session";
        if (!json_is_object(o))
                return META_E_INVALID;
        *field = "version";
        if (json_integer_value(json_object_get(o, *field)) != META_VERSION)
                return META_E_INVALID;
        r = json_fields_read(m, meta_fields, ELEMENTSOF(meta_fields), o, field);
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(nested); i++) {
                *field = nested[i].key;
                r = nested[i].read(m, json_object_get(o, *field), field);
        }
        return r;
}

int session_meta_from_json(SessionMeta **ret, const json_t *o, const char **ret_field) {
        _cleanup_(session_meta_freep) SessionMeta *m = calloc(1, sizeof(*m));
        const char *field = "version";
        int r;

        if (!m)
                return -ENOMEM;
        if (newer_version(o) > 0) {
                *ret_field = field;
                return META_E_NEWER;
        }
        r = read_session(m, o, &field);
        if (r < 0)
                return r;
        if (r > 0) {
                *ret_field = field;
                return META_E_INVALID;
        }
        *ret = TAKE_PTR(m);
        return 0;
}

int session_meta_from_newer(SessionMeta **ret, const json_t *o, const char *name) {
        const json_t *owner = json_object_get(o, "owner_uid"), *id = json_object_get(o, "id");
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r;

        r = session_meta_new(&m);
        if (r < 0)
                return r;
        m->newer_version = newer_version(o);
        m->state = SESSION_SEALED;
        m->page_bytes = PAGE_BYTES_MIN;
        if (clock_tuple_from_json(&m->start, json_object_get(o, "start")) != 0)
                m->start = (ClockTuple){};
        if (clock_tuple_from_json(&m->stop, json_object_get(o, "stop")) != 0)
                m->stop = m->start;
        if (json_is_integer(owner) && json_integer_value(owner) <= UINT32_MAX)
                m->owner_uid = (uint32_t) MAX(json_integer_value(owner), 0);
        r = text_replace(&m->name, name);
        if (r >= 0)
                r = text_replace(&m->id, json_is_string(id) && id_is_valid(json_string_value(id))
                                                 ? json_string_value(id)
                                                 : "0000000000000000");
        if (r >= 0)
                r = strv_add(&m->spec.functions, "_*"); /* it has some */
        if (r >= 0 &&
            asprintf(&m->reason,
                     "recorded by a newer ftraced: its session.json is of version %" PRIu32
                     ", and this ftraced knows %i; read it with that one, or remove it",
                     m->newer_version, META_VERSION) < 0) {
                m->reason = NULL;
                r = -ENOMEM;
        }
        if (r >= 0)
                *ret = TAKE_PTR(m);
        return r;
}

/* Sums stop at the largest number: hostile counters must not wrap to a small one. */
static uint64_t add(uint64_t a, uint64_t b) {
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t cpu_account_events_lost(const CpuAccount *c) {
        return add(add(c->overrun, c->commit_overrun), c->dropped_events);
}

uint64_t session_meta_n_pages(const SessionMeta *m) {
        uint64_t n = 0;

        for (size_t i = 0; i < m->n_cpus; i++)
                n = add(n, m->cpus[i].n_pages);
        return n;
}

uint64_t session_meta_n_bytes(const SessionMeta *m) {
        uint64_t n = 0;

        for (size_t i = 0; i < m->n_cpus; i++)
                n = add(n, m->cpus[i].n_bytes);
        return n;
}

uint64_t session_meta_n_events(const SessionMeta *m) {
        uint64_t n = 0;

        for (size_t i = 0; i < m->n_cpus; i++)
                n = add(n, m->cpus[i].read_events);
        return n;
}

uint64_t session_meta_events_lost(const SessionMeta *m) {
        uint64_t n = 0;

        for (size_t i = 0; i < m->n_cpus; i++)
                n = add(n, cpu_account_events_lost(&m->cpus[i]));
        return n;
}

uint64_t session_meta_pages_lost(const SessionMeta *m) {
        uint64_t n = 0;

        for (size_t i = 0; i < m->n_cpus; i++)
                n = add(n, m->cpus[i].pages_lost);
        return n;
}

uint64_t session_meta_pages_dropped(const SessionMeta *m) {
        uint64_t n = 0;

        for (size_t i = 0; i < m->n_cpus; i++)
                n = add(n, m->cpus[i].pages_dropped);
        return n;
}

uint64_t session_meta_realtime_ns(const SessionMeta *m, uint64_t trace_ns) {
        return clock_steps_realtime(&m->clock_steps, &m->start, trace_ns);
}

uint64_t session_meta_length_ns(const SessionMeta *m) {
        uint64_t end_ns = m->stop.boottime_ns;

        if (!clock_tuple_is_set(&m->start))
                return 0;
        if (!clock_tuple_is_set(&m->stop)) {
                if (!session_state_is_live(m->state))
                        return 0;
                end_ns = now_ns(CLOCK_BOOTTIME);
        }
        return end_ns > m->start.boottime_ns ? end_ns - m->start.boottime_ns : 0;
}

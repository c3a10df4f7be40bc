/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tables (meta/json-field.h), and a little glue for the spec and the captures.  The daemon's own
 * file and a stranger's are read by the same code, so a text that is shown has lost its control
 * characters and a list has a bound.
 */

#include <assert.h>
#include <inttypes.h>
#include <sys/random.h>

#include "base/io.h"
#include "base/name.h"
#include "meta/event-choice.h"
#include "meta/meta.h"

#define MACHINE_ID_CHARS 32
#define ID_CHARS 16
#define MAX_ROOTS 65536
#define MAX_SENTENCES 4096
#define MAX_SENTENCE_BYTES 4096
#define MAX_WORD_BYTES 255

const char *const session_state_names[_SESSION_STATE_N] = {
        [SESSION_NEW] = "new",
        [SESSION_ARMED] = "armed",
        [SESSION_RECORDING] = "recording",
        [SESSION_DRAINING] = "draining",
        [SESSION_SEALED] = "sealed",
        [SESSION_FAILED] = "failed",
        [SESSION_INTERRUPTED] = "interrupted",
};

const char *session_state_name(SessionState s) {
        return (size_t) s < _SESSION_STATE_N ? session_state_names[s] : "unknown";
}

int session_state_from_name(const char *s) {
        return text_find(session_state_names, _SESSION_STATE_N, s);
}

bool session_state_is_live(SessionState s) {
        return s == SESSION_ARMED || s == SESSION_RECORDING || s == SESSION_DRAINING;
}

static const char *const tree_origin_names[_TREE_ORIGIN_N] = {
        [TREE_UNTOLD] = "untold",   [TREE_LEARNED] = "learned", [TREE_SHIPPED] = "shipped",
        [TREE_LESSON] = "lesson",   [TREE_FILE] = "file",       [TREE_ALL] = "all",
        [TREE_UNKNOWN] = "unknown",
};

static bool is_hex(const char *s, size_t n) {
        return strspn(s, "0123456789abcdef") == n && s[n] == 0;
}

bool session_id_is_valid(const char *s) {
        return is_hex(s, ID_CHARS);
}

static bool machine_id_is_valid(const char *s) {
        return is_hex(s, MACHINE_ID_CHARS);
}

#define NUMBER(object, member, kind, to, ...)                                                      \
        JSON_FIELD(object, member, kind, .max = (to), __VA_ARGS__)
#define OPTIONAL(member, kind, to) NUMBER(SessionMeta, member, kind, to, .flags = JSON_FIELD_OMIT)
#define WORD(member, how, valid)                                                                   \
        JSON_FIELD(SessionMeta, member, TEXT, .flags = (how), .max_text = MAX_WORD_BYTES,          \
                   .is_valid = (valid))
#define SENTENCE(member, how)                                                                      \
        JSON_FIELD(SessionMeta, member, TEXT, .flags = (how), .max_text = MAX_SENTENCE_BYTES)
#define NESTED(member, kind, how, of)                                                              \
        JSON_FIELD(SessionMeta, member, kind, .flags = (how), .table = &(of))
#define LIST(member, n, text, ...)                                                                 \
        JSON_FIELD(SessionMeta, member, STRV, .max = (n), .max_text = (text), __VA_ARGS__)

static const JsonField cpu_fields[] = {
        NUMBER(CpuAccount, cpu, U32, STORE_MAX_CPUS - 1, .flags = JSON_FIELD_REQUIRED),
        NUMBER(CpuAccount, n_pages, U64, INT64_MAX),
        NUMBER(CpuAccount, n_bytes, U64, INT64_MAX),
        NUMBER(CpuAccount, read_events, U64, INT64_MAX),
        NUMBER(CpuAccount, overrun, U64, INT64_MAX),
        NUMBER(CpuAccount, commit_overrun, U64, INT64_MAX),
        NUMBER(CpuAccount, dropped_events, U64, INT64_MAX),
        NUMBER(CpuAccount, pages_lost, U64, INT64_MAX),
        NUMBER(CpuAccount, pages_dropped, U64, INT64_MAX),
        NUMBER(CpuAccount, in_memory, U64, INT64_MAX, .flags = JSON_FIELD_OMIT),
};

static bool is_next_cpu(const void *items, size_t i) {
        const CpuAccount *c = items;

        return i == 0 || c[i].cpu > c[i - 1].cpu;
}

static const JsonTable cpu_table =
        JSON_TABLE(CpuAccount, cpu_fields, .n_max = STORE_MAX_CPUS, .fits = is_next_cpu);

static const JsonField map_fields[] = {
        JSON_FIELD(SymbolMap, unchanged_ns, U64, .max = INT64_MAX),
        JSON_FIELD(SymbolMap, from_ns, U64, .max = INT64_MAX),
        JSON_FIELD(SymbolMap, symbols, TEXT, .flags = JSON_FIELD_REQUIRED,
                   .max_text = SYMBOL_HASH_CHARS, .is_valid = symbol_hash_is_valid),
        JSON_FIELD(SymbolMap, modules, TEXT, .flags = JSON_FIELD_NULLABLE,
                   .max_text = SYMBOL_HASH_CHARS, .is_valid = symbol_hash_is_valid),
};

static bool is_next_map(const void *items, size_t i) {
        const SymbolMap *m = items;

        return m[i].from_ns >= m[i].unchanged_ns &&
               (i == 0 || m[i].unchanged_ns >= m[i - 1].from_ns);
}

static const JsonTable map_table =
        JSON_TABLE(SymbolMap, map_fields, .n_max = SYMBOL_MAPS_MAX, .fits = is_next_map);

_Static_assert(offsetof(SessionMeta, n_cpus) == offsetof(SessionMeta, cpus) + offsetof(JsonList, n),
               "cpus and n_cpus are a JsonList");

static const JsonField meta_fields[] = {
        WORD(name, JSON_FIELD_REQUIRED, session_name_is_valid),
        WORD(id, JSON_FIELD_REQUIRED, session_id_is_valid),
        SENTENCE(reason, JSON_FIELD_NULLABLE),
        SENTENCE(silence, JSON_FIELD_NULLABLE | JSON_FIELD_OMIT),
        JSON_FIELD(SessionMeta, limit, WORD, .flags = JSON_FIELD_OMIT, .words = session_limit_names,
                   .max = _SESSION_LIMIT_N),
        NUMBER(SessionMeta, owner_uid, U32, UINT32_MAX),
        NUMBER(SessionMeta, owner_pid, U32, INT32_MAX),
        LIST(roots, MAX_ROOTS, FUNCTION_NAME_MAX),
        LIST(notrace, MAX_ROOTS, FUNCTION_NAME_MAX),
        LIST(neighbours, MAX_SENTENCES, MAX_SENTENCE_BYTES),
        LIST(warnings, MAX_SENTENCES, MAX_SENTENCE_BYTES),
        WORD(kernel, 0, NULL),
        WORD(build_id, JSON_FIELD_NULLABLE | JSON_FIELD_OMIT, build_id_is_valid),
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
        JSON_FIELD(SessionMeta, big_endian, BOOL),
        NUMBER(SessionMeta, n_hooked, U32, INT32_MAX),
        OPTIONAL(n_known, U32, INT32_MAX),
        JSON_FIELD(SessionMeta, tree_from, WORD, .flags = JSON_FIELD_OMIT,
                   .words = tree_origin_names, .max = _TREE_ORIGIN_N),
        OPTIONAL(newer_version, U32, INT32_MAX),
        OPTIONAL(unreadable, BOOL, 0),
        LIST(left_out, MAX_ROOTS, FUNCTION_NAME_MAX),
        LIST(left_out_in, MAX_ROOTS, MAX_SENTENCE_BYTES, .flags = JSON_FIELD_OMIT),
        LIST(left_out_why, MAX_ROOTS, MAX_WORD_BYTES, .flags = JSON_FIELD_OMIT),
        OPTIONAL(callees_unknown, BOOL, 0),
        LIST(callees_unknown_of, MAX_ROOTS, FUNCTION_NAME_MAX, .flags = JSON_FIELD_OMIT),
        NUMBER(SessionMeta, learned_ns, U64, INT64_MAX),
        OPTIONAL(learned_calls, U64, INT64_MAX),
        NUMBER(SessionMeta, narrowed_ns, U64, INT64_MAX),
        LIST(probe_events, 3 * SPEC_MAX_VALUES, EVENT_CHOICE_MAX, .flags = JSON_FIELD_OMIT,
             .is_valid = event_choice_is_valid),
        JSON_FIELD(SessionMeta, learns, BOOL),
        NUMBER(SessionMeta, arm_ns, U64, INT64_MAX),
        OPTIONAL(first_sequence, U64, UINT32_MAX),
        OPTIONAL(bytes_dropped, U64, INT64_MAX),
        OPTIONAL(pinned, BOOL, 0),
        OPTIONAL(pages_unsynced, U64, INT64_MAX),
        OPTIONAL(kept_realtime_ns, U64, INT64_MAX),
        OPTIONAL(n_snapshots, U64, INT64_MAX),
        WORD(origin, JSON_FIELD_NULLABLE, session_name_is_valid),
        JSON_FIELD(SessionMeta, state, WORD, .flags = JSON_FIELD_REQUIRED,
                   .words = session_state_names, .max = _SESSION_STATE_N),
        NESTED(symbol_maps, LIST, 0, map_table),
        NESTED(start, STRUCT, 0, clock_table),
        NESTED(stop, STRUCT, 0, clock_table),
        NESTED(cpus, LIST, 0, cpu_table),
        NESTED(gaps, LIST, 0, gap_table),
        NESTED(degraded, LIST, 0, condition_table),
        NESTED(clock_steps, LIST, JSON_FIELD_OMIT, clock_step_table),
        NESTED(hook_changes, LIST, JSON_FIELD_OMIT, hook_change_table),
        NESTED(own_work, LIST, JSON_FIELD_OMIT, own_work_table),
        NESTED(kept_since, STRUCT, JSON_FIELD_OMIT, clock_table),
        NESTED(armed, STRUCT, JSON_FIELD_OMIT, clock_table),
        NESTED(captures, STRUCT, JSON_FIELD_OMIT, captures_table),
};

static const JsonTable meta_table = JSON_TABLE(SessionMeta, meta_fields);

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
        json_fields_done(&meta_table, m);
        spec_done(&m->spec);
        strv_done(&m->build_ids);
        strv_done(&m->lacks);
        free(m->filters);
        return mfree(m);
}

json_t *session_meta_to_json(const SessionMeta *m) {
        json_auto_t *o = json_pack("{s:i}", "version", META_VERSION);

        if (!o || json_fields_write(o, &meta_table, m) < 0 ||
            json_object_set_new(o, "spec", spec_to_json(&m->spec)) < 0)
                return NULL;
        return TAKE_PTR(o);
}

static uint32_t newer_version(const json_t *o) {
        json_int_t version = json_integer_value(json_object_get(o, "version"));

        return version > META_VERSION && version <= INT32_MAX ? (uint32_t) version : 0;
}

/* Earlier versions did not tell, and left out of a tree what a list said. */
static void guess_tree_origin(SessionMeta *m, const json_t *o) {
        bool hooked_part =
                json_integer_value(json_object_get(o, "n_ordinary")) > 0 || m->n_hooked > 0;

        if (m->tree_from != TREE_UNTOLD || m->page_bytes == 0)
                return;
        if (m->spec.hooked.n > 0)
                m->tree_from = TREE_FILE;
        else if (hooked_part)
                m->tree_from = m->learned_ns > 0 ? TREE_LEARNED : TREE_UNKNOWN;
        else
                m->tree_from = TREE_ALL;
        m->callees_unknown |= hooked_part;
}

static int read_session(SessionMeta *m, const json_t *o, const char **field) {
        int r;

        *field = "session";
        if (!json_is_object(o))
                return META_E_INVALID;
        *field = "version";
        if (json_integer_value(json_object_get(o, *field)) != META_VERSION)
                return META_E_INVALID;
        r = json_fields_read(m, &meta_table, o, field);
        if (r == 0 && m->page_bytes != 0 && !page_bytes_are_valid(m->page_bytes)) {
                *field = "page_bytes";
                r = META_E_INVALID;
        }
        if (r == 0) {
                *field = "spec"; /* or what is wrong in it */
                r = spec_from_json(&m->spec, json_object_get(o, *field), field);
        }
        if (r == 0)
                guess_tree_origin(m, o);
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
        if (r > 0)
                *ret_field = field;
        if (r == 0)
                *ret = TAKE_PTR(m);
        return r;
}

int session_meta_stand_in(SessionMeta **ret, const json_t *o, const char *name,
                          const char *problem) {
        const json_t *owner = json_object_get(o, "owner_uid"), *id = json_object_get(o, "id");
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r = session_meta_new(&m);

        if (r < 0)
                return r;
        m->newer_version = newer_version(o);
        m->unreadable = problem;
        m->state = SESSION_SEALED;
        m->page_bytes = PAGE_BYTES_MIN;
        if (json_struct_read(&m->start, &clock_table, json_object_get(o, "start")) != 0)
                m->start = (ClockTuple){};
        if (json_struct_read(&m->stop, &clock_table, json_object_get(o, "stop")) != 0)
                m->stop = m->start;
        if (json_is_integer(owner) && json_integer_value(owner) <= UINT32_MAX)
                m->owner_uid = (uint32_t) MAX(json_integer_value(owner), 0);
        r = text_replace(&m->name, name)
                    ?: text_replace(&m->id,
                                    json_is_string(id) && session_id_is_valid(json_string_value(id))
                                            ? json_string_value(id)
                                            : SESSION_ID_UNKNOWN);
        if (r >= 0)
                r = strv_add(&m->spec.functions, "_*"); /* it has some */
        if (r >= 0 && problem)
                r = text_replace(&m->reason, problem);
        else if (r >= 0)
                r = text_format(&m->reason,
                                "recorded by a newer ftraced: its session.json is of version "
                                "%" PRIu32 ", and this ftraced knows %i; read it with that one, or "
                                "remove it",
                                m->newer_version, META_VERSION);
        if (r >= 0)
                *ret = TAKE_PTR(m);
        return r;
}

CpuAccount *session_meta_account(const SessionMeta *m, uint32_t cpu) {
        for (size_t i = 0; i < m->n_cpus; i++)
                if (m->cpus[i].cpu == cpu)
                        return &m->cpus[i];
        return NULL;
}

/* Hostile counters must not wrap to a small sum. */
uint64_t cpu_account_events_lost(const CpuAccount *c) {
        return add_capped(add_capped(c->overrun, c->commit_overrun), c->dropped_events);
}

CpuAccount session_meta_total(const SessionMeta *m) {
        CpuAccount all = {};

        for (size_t i = 0; i < m->n_cpus; i++)
                for (size_t k = 0; k < ELEMENTSOF(cpu_fields); k++)
                        if (cpu_fields[k].type == JSON_FIELD_U64) {
                                uint64_t *sum = (void *) ((char *) &all + cpu_fields[k].offset);

                                *sum = add_capped(
                                        *sum,
                                        *(const uint64_t *) (const void *) ((const char *) &m
                                                                                    ->cpus[i] +
                                                                            cpu_fields[k].offset));
                        }
        return all;
}

uint64_t session_meta_events_lost(const SessionMeta *m) {
        CpuAccount all = session_meta_total(m);

        return cpu_account_events_lost(&all);
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

uint64_t session_meta_kept_ns(const SessionMeta *m) {
        return m->kept_realtime_ns ?: m->stop.realtime_ns ?: m->start.realtime_ns ?: UINT64_MAX;
}

int symbol_maps_add(SymbolMaps *m, uint64_t unchanged_ns, uint64_t from_ns, const char *symbols,
                    const char *modules) {
        SymbolMap map = { .unchanged_ns = unchanged_ns, .from_ns = from_ns };

        if (m->n >= SYMBOL_MAPS_MAX)
                return ORIGIN(-ENOSPC);
        if (text_replace(&map.symbols, symbols) == 0 && text_replace(&map.modules, modules) == 0 &&
            ARRAY_ADD(m->items, m->n, map))
                return 0;
        json_fields_done(&map_table, &map);
        return -ENOMEM;
}

void symbol_maps_drop_last(SymbolMaps *m) {
        assert(m->n > 0);
        json_fields_done(&map_table, &m->items[--m->n]);
}

/* --- build IDs --------------------------------------------------------------------------------- */

/* Notes are of the machine that they are read on, and so in its byte order. */
#define NOTE_TYPE 3 /* linux/elf.h: NT_GNU_BUILD_ID */
#define NOTE_NAME "GNU"
#define WORD_BUILD_ID 5 /* of a line */

bool build_id_is_valid(const char *s) {
        size_t n = strspn(s, "0123456789abcdef");

        return n > 0 && n <= BUILD_ID_CHARS_MAX && n % 2 == 0 && s[n] == 0;
}

static uint64_t padded(uint32_t n) {
        return ((uint64_t) n + 3) / 4 * 4;
}

bool build_id_find(const void *notes, size_t n, char ret[static BUILD_ID_CHARS_MAX + 1]) {
        const uint8_t *p = notes;
        struct {
                uint32_t n_name, n_desc, type;
        } head;

        while (n >= sizeof(head)) {
                const uint8_t *name = p + sizeof(head), *desc;
                uint64_t n_note;

                memcpy(&head, p, sizeof(head));
                n_note = sizeof(head) + padded(head.n_name) + padded(head.n_desc);
                if (n_note > n)
                        return false;
                desc = name + padded(head.n_name);
                if (head.type == NOTE_TYPE && head.n_name == sizeof(NOTE_NAME) &&
                    memcmp(name, NOTE_NAME, sizeof(NOTE_NAME)) == 0 && head.n_desc > 0 &&
                    head.n_desc <= BUILD_ID_CHARS_MAX / 2) {
                        for (size_t i = 0; i < head.n_desc; i++)
                                (void) snprintf(ret + 2 * i, 3, "%02x", desc[i]);
                        return true;
                }
                p += n_note;
                n -= n_note;
        }
        return false;
}

int build_ids_add_modules(Strv *ids, const char *list) {
        for (const char *line = list; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                _cleanup_strv_ Strv words = {};
                _cleanup_free_ char *copy = strndup(line, strcspn(line, "\n"));
                int r = copy ? strv_split(&words, copy, " ") : -ENOMEM;

                if (r >= 0 && words.n > WORD_BUILD_ID &&
                    build_id_is_valid(words.items[WORD_BUILD_ID]))
                        r = strv_addf(ids, "%s %s", words.items[0], words.items[WORD_BUILD_ID]);
                if (r < 0)
                        return r;
        }
        return 0;
}

const char *build_ids_get(const Strv *ids, const char *module, size_t n_module) {
        const char *found = NULL;

        if (!module) {
                module = BUILD_ID_KERNEL;
                n_module = strlen(module);
        }
        for (size_t i = 0; i < ids->n; i++) {
                const char *id = ids->items[i];

                if (strncmp(id, module, n_module) != 0 || id[n_module] != ' ')
                        continue;
                if (found)
                        return NULL;
                found = id + n_module + 1;
        }
        return found;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/array.h"
#include "codec/model.h"
#include "store/tracing.h"

/* --- layout ----------------------------------------------------------------------------------- */

/*
 * Only the few fields that the codec predicts are looked for, by name; what is surprising makes the
 * text unusable, never wrong: such records are kept as they are.
 */

enum { FLAG_EXIT = 1, FLAG_TIMES = 2, FLAG_LONG_DEPTH = 4 };

static bool is_place(TracingField f, unsigned size) {
        return !f.is_array && f.size == size && f.offset % 4 == 0 &&
               f.offset + size <= LAYOUT_BYTES_MAX;
}

int layout_parse(RecordKind *ret, const char *data, size_t n) {
        _cleanup_free_ char *text = strndup(data, n);
        TracingField type, pid, func, depth, calltime, rettime;
        RecordKind k = {};
        unsigned id;
        const char *p;
        char name[32];

        if (!text || sscanf(text, "name: %31s", name) != 1)
                return LAYOUT_E_INVALID;
        /* "funcgraph_entry", "fgraph_retaddr_entry", "funcgraph_exit", and what newer kernels have beside them */
        p = strrchr(name, '_');
        k.is_exit = p && streq(p, "_exit");
        if (!strstr(name, "graph_") || (!k.is_exit && !(p && streq(p, "_entry"))))
                return LAYOUT_E_INVALID;
        p = strstr(text, "\nID:");
        if (!p || sscanf(p, "\nID: %5u", &id) != 1 || id > UINT16_MAX)
                return LAYOUT_E_INVALID;
        k.id = (uint16_t) id;
        type = tracing_find_field(text, "common_type");
        pid = tracing_find_field(text, "common_pid");
        func = tracing_find_field(text, "func");
        depth = tracing_find_field(text, "depth");
        calltime = tracing_find_field(text, "calltime");
        rettime = tracing_find_field(text, "rettime");
        if (type.size != 2 || type.offset != 0 || pid.size != 4 || pid.offset != 4 ||
            !is_place(func, 8) || (!is_place(depth, 4) && !is_place(depth, 8)))
                return LAYOUT_E_INVALID;
        k.func = (uint8_t) func.offset;
        k.depth = (uint8_t) depth.offset;
        k.depth_is_long = depth.size == 8;
        if (k.is_exit && is_place(calltime, 8) && is_place(rettime, 8)) {
                k.has_times = true;
                k.calltime = (uint8_t) calltime.offset;
                k.rettime = (uint8_t) rettime.offset;
        }
        *ret = k;
        return 0;
}

/* True if the words of a field are inside the payload and nobody else's; takes them. */
static bool take(uint32_t *words, const RecordKind *k, unsigned offset, unsigned size) {
        uint32_t mine;

        if (offset % 4 != 0 || offset + size > k->n_bytes)
                return false;
        mine = (size == 8 ? 3U : 1U) << offset / 4;
        if (*words & mine)
                return false;
        *words |= mine;
        return true;
}

int layout_set_length(RecordKind *k, size_t n_bytes) {
        uint32_t words = 0;

        if (n_bytes > LAYOUT_BYTES_MAX || n_bytes % 4 != 0)
                return LAYOUT_E_INVALID;
        k->n_bytes = (uint8_t) n_bytes;
        if (!take(&words, k, 0, 8) || !take(&words, k, k->func, 8) ||
            !take(&words, k, k->depth, k->depth_is_long ? 8 : 4))
                return LAYOUT_E_INVALID;
        if (k->has_times && (!take(&words, k, k->calltime, 8) || !take(&words, k, k->rettime, 8)))
                return LAYOUT_E_INVALID;
        k->n_rest = 0;
        for (uint8_t at = 0; at < n_bytes; at = (uint8_t) (at + 4))
                if (!(words & 1U << at / 4))
                        k->rest[k->n_rest++] = at;
        return 0;
}

void layout_store(const RecordKind *k, uint8_t *ret) {
        memset(ret, 0, LAYOUT_STORED_BYTES);
        ret[0] = (uint8_t) k->id;
        ret[1] = (uint8_t) (k->id >> 8);
        ret[2] = (uint8_t) ((k->is_exit ? FLAG_EXIT : 0) | (k->has_times ? FLAG_TIMES : 0) |
                            (k->depth_is_long ? FLAG_LONG_DEPTH : 0));
        ret[3] = k->n_bytes;
        ret[4] = k->func;
        ret[5] = k->depth;
        ret[6] = k->calltime;
        ret[7] = k->rettime;
}

int layout_load(RecordKind *ret, const uint8_t *data) {
        RecordKind k = {
                .id = (uint16_t) (data[0] | data[1] << 8),
                .is_exit = data[2] & FLAG_EXIT,
                .has_times = data[2] & FLAG_TIMES,
                .depth_is_long = data[2] & FLAG_LONG_DEPTH,
                .func = data[4],
                .depth = data[5],
                .calltime = data[6],
                .rettime = data[7],
        };

        if (layout_set_length(&k, data[3]) != 0 || (k.has_times && !k.is_exit))
                return LAYOUT_E_INVALID;
        *ret = k;
        return 0;
}

/* --- model ------------------------------------------------------------------------------------ */

/*
 * Numbers are found through open hash tables of twice as many places, so an empty place always
 * ends the search.  Number 0 marks an empty place: functions are entered as their number plus one.
 */

#define PLACES (2 * MODEL_SYMBOLS)

void model_clear(Model *m) {
        m->now = m->call_offset = m->return_offset = 0;
        m->n_symbols = 1;
        m->n_functions = m->words.n = m->regions.n = m->n_tasks = 0;
        m->after_exit = 0;
        m->symbols[0] = (Symbol){ .kind = LAYOUT_KINDS };
        m->kinds[LAYOUT_KINDS] = (RecordKind){};
        memset(m->recent, 0, sizeof(m->recent));
        memset(m->last_rest, 0, sizeof(m->last_rest));
        memset(m->next, 0, sizeof(m->next));
        memset(m->by_content, 0, sizeof(m->by_content));
        memset(m->by_function, 0, sizeof(m->by_function));
        model_switch(m, 0, 0);
}

static uint32_t place(uint64_t a, uint64_t b) {
        uint64_t hash = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b * UINT64_C(0xd6e8feb86659fd93));

        return (uint32_t) ((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32) % PLACES;
}

static uint32_t place_of_symbol(const Model *m, uint32_t word, uint64_t func) {
        uint32_t at = place(word, func), n;

        while ((n = m->by_content[at]) != 0 &&
               (m->symbols[n].word != word || m->symbols[n].func != func))
                at = (at + 1) % PLACES;
        return at;
}

uint32_t model_find(const Model *m, uint32_t word, uint64_t func) {
        return m->by_content[place_of_symbol(m, word, func)];
}

uint32_t model_add(Model *m, unsigned kind, uint32_t word, uint64_t func) {
        uint32_t n = m->n_symbols;

        if (n >= MODEL_SYMBOLS)
                return 0;
        m->n_symbols++;
        m->by_content[place_of_symbol(m, word, func)] = (uint16_t) n;
        m->symbols[n] = (Symbol){ .func = func, .word = word, .kind = kind };
        memcpy(m->rest[n], m->last_rest[kind], m->kinds[kind].n_rest * sizeof(uint32_t));
        return n;
}

static uint32_t place_of_function(const Model *m, uint64_t func) {
        uint32_t at = place(0, func), n;

        while ((n = m->by_function[at]) != 0 && m->functions[n - 1] != func)
                at = (at + 1) % PLACES;
        return at;
}

uint32_t model_find_function(const Model *m, uint64_t func) {
        uint32_t n = m->by_function[place_of_function(m, func)];

        return n > 0 ? n - 1 : m->n_functions;
}

void model_add_function(Model *m, uint64_t func) {
        if (m->n_functions >= MODEL_SYMBOLS)
                return;
        m->functions[m->n_functions++] = func;
        m->by_function[place_of_function(m, func)] = (uint16_t) m->n_functions;
}

uint32_t model_find_task(const Model *m, uint32_t pid) {
        for (uint32_t i = 0; i < m->n_tasks; i++)
                if (m->tasks[i].pid == pid)
                        return i;
        return m->n_tasks;
}

void model_switch(Model *m, uint32_t number, uint32_t pid) {
        if (number >= m->n_tasks) {
                if (m->n_tasks == MODEL_TASKS)
                        m->n_tasks = 0;
                number = m->n_tasks++;
                m->tasks[number] = (Task){ .pid = pid };
        }
        m->task = &m->tasks[number];
}

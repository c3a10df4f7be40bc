/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Numbers are found through open hash tables of twice as many places, so an empty place always
 * ends the search.  Number 0 marks an empty place: functions are entered as their number plus one.
 */

#include "codec/model.h"

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

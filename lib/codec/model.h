/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/cleanup.h"

/*
 * Layout: where a call's record keeps what can be predicted
 *
 * A kind is one event of function_graph that begins with the common fields as every kernel has
 * them (u16 type at 0, s32 pid at 4) and has `func` and `depth`; an exit may have `calltime` and
 * `rettime`.  Everything else in its payload is "rest": 4-byte words that are expected to be what
 * they were the last time.
 *
 * Source: linux 6.1 and 7.2 kernel/trace/trace_entries.h, and the format files of their kernels.
 */

#define LAYOUT_KINDS 3U        /* of one block; an exit, and others in the order of their formats */
#define LAYOUT_BYTES_MAX 112U  /* of a payload: the longest whose length is in the head */
#define LAYOUT_STORED_BYTES 16 /* of one kind in a block */

typedef struct RecordKind {
        uint16_t id;
        bool is_exit, has_times, depth_is_long;
        uint8_t n_bytes; /* payload, a multiple of 4; 0: as long as the fields need, or longer */
        uint8_t func, depth, calltime, rettime; /* offsets */
        uint8_t n_rest;
        uint8_t rest[LAYOUT_BYTES_MAX / 4]; /* offsets */
} RecordKind;

enum { LAYOUT_E_INVALID = 1 };

/* Reads the text of a format file: 0, or LAYOUT_E_INVALID if it is none of these events or cannot
 * be used.  n_bytes and the rest are left to layout_set_length(). */
int layout_parse(RecordKind *ret, const char *text, size_t n);
/* The payload is @n_bytes long; LAYOUT_E_INVALID if the fields are not in it. */
int layout_set_length(RecordKind *k, size_t n_bytes);

/* LAYOUT_STORED_BYTES: u16 id, u8 flags (1 exit, 2 times, 4 long depth), u8 n_bytes, func, depth,
 * calltime, rettime, then zeroes. */
void layout_store(const RecordKind *k, uint8_t *ret);
int layout_load(RecordKind *ret, const uint8_t *data);

/*
 * Model: what the next record is expected to be
 *
 * Encoder and decoder keep one each and change it in the same way with every record, so nothing of
 * it is stored.  A symbol is what a kind of record says of a function: the first word of the record
 * (type, flags, preemption count) and `func`; symbols are numbered in the order in which they come,
 * from 1.  For each task there is the stack of its calls, and each call remembers the last few
 * calls that returned to it.  These and the caller's symbol foretell the symbol that comes next:
 * the one that came the last time, in this block, when all this was the same.
 *
 * The rest of a record is expected to be what it was in the last record of the same symbol.
 */

#define MODEL_SYMBOLS 16384U
#define MODEL_TASKS 128U
#define MODEL_FRAMES 128U
#define MODEL_NEXT_BITS 16
#define MODEL_RECENT 255U
#define MODEL_REST_MAX (LAYOUT_BYTES_MAX / 4)

typedef struct Frame {
        uint64_t timestamp; /* of the entry */
        /* The symbol, and above it a hash of the last calls that returned to this one: a single
         * word, because one that is stored in halves and loaded whole stalls the processor. */
        uint64_t path;
} Frame;

typedef struct Task {
        uint32_t pid;
        uint32_t level; /* depth of the next entry */
        Frame frames[MODEL_FRAMES];
} Task;

typedef struct Symbol {
        uint64_t func;
        uint32_t word;
        uint32_t kind; /* LAYOUT_KINDS: of symbol 0, which is none */
} Symbol;

/* Values by the number that each got when it came first; those that come later have none. */
typedef struct Numbered {
        uint64_t values[255];
        uint32_t n;
} Numbered;

typedef struct Model {
        uint64_t now; /* of the record before */
        Task *task;   /* whose record it was */
        uint64_t call_offset, return_offset;
        uint32_t n_symbols, n_functions, n_tasks;
        unsigned after_exit;                /* 0 or 2 */
        RecordKind kinds[LAYOUT_KINDS + 1]; /* the last one is of symbol 0 */
        unsigned n_kinds;
        Numbered words, regions;
        uint32_t recent[MODEL_RECENT]; /* words of rests that were not as expected */
        uint32_t last_rest[LAYOUT_KINDS][MODEL_REST_MAX];
        uint16_t next[1 << MODEL_NEXT_BITS];
        uint16_t by_content[2 * MODEL_SYMBOLS];
        uint16_t by_function[2 * MODEL_SYMBOLS];
        uint64_t functions[MODEL_SYMBOLS];
        Symbol symbols[MODEL_SYMBOLS];
        uint32_t rest[MODEL_SYMBOLS][MODEL_REST_MAX];
        Task tasks[MODEL_TASKS];
} Model;

/* Everything forgotten but the kinds. */
void model_clear(Model *m);

/* A symbol's number, 0 if it is not known. */
uint32_t model_find(const Model *m, uint32_t word, uint64_t func);
/* A new one; 0: there is no room. */
uint32_t model_add(Model *m, unsigned kind, uint32_t word, uint64_t func);
/* A function's number; n_functions if it is not known. */
uint32_t model_find_function(const Model *m, uint64_t func);
void model_add_function(Model *m, uint64_t func);
/* A task's number; n_tasks if it is not known. */
uint32_t model_find_task(const Model *m, uint32_t pid);
/* The task with that number, or a new one if it is n_tasks, which may take an old one's place. */
void model_switch(Model *m, uint32_t number, uint32_t pid);

/* The number of the kind of a record, LAYOUT_KINDS if it is none. */
static inline unsigned model_kind(const Model *m, uint32_t word, size_t n_bytes) {
        for (unsigned i = 0; i < m->n_kinds; i++)
                if (m->kinds[i].id == (uint16_t) word && m->kinds[i].n_bytes == n_bytes)
                        return i;
        return LAYOUT_KINDS;
}

static inline void numbered_add(Numbered *known, uint64_t v) {
        if (known->n < ELEMENTSOF(known->values))
                known->values[known->n++] = v;
}

/* Where among the recent words this one is, if it is. */
static inline uint32_t model_recent(uint32_t word) {
        return (uint32_t) ((uint64_t) (word * 0x9e3779b1U) * MODEL_RECENT >> 32);
}

static inline Frame *task_frame(Task *t, uint32_t depth) {
        return &t->frames[depth % MODEL_FRAMES];
}

static inline uint64_t model_path(Model *m) {
        return task_frame(m->task, m->task->level - 1)->path;
}

static inline const Symbol *model_caller(Model *m) {
        return &m->symbols[(uint32_t) model_path(m)];
}

/* Where in `next` the symbol is that follows @path. */
static inline uint32_t model_place(uint64_t path) {
        uint64_t hash = path * UINT64_C(0x9e3779b97f4a7c15);

        return (hash ^ hash >> 32) >> 16 & ((1U << MODEL_NEXT_BITS) - 1);
}

/* Where the expectation of the current task's next symbol is. */
static inline uint16_t *model_next(Model *m) {
        return &m->next[model_place(model_path(m))];
}

static inline uint32_t model_depth(const Model *m, bool is_exit) {
        return m->task->level - is_exit;
}

/* Returns what the path of a call becomes when @symbol returned to it. */
static inline uint64_t model_path_after(uint64_t path, uint32_t symbol) {
        uint64_t children = (path >> 32 << 9) + (uint64_t) symbol * 0x9e3779b1U;

        return children << 32 | (uint32_t) path;
}

/* The current task called or returned from what @symbol says, at @depth. */
static inline void model_enter(Model *m, uint32_t symbol, uint32_t depth) {
        Frame *f = task_frame(m->task, depth);

        f->timestamp = m->now;
        f->path = symbol;
        m->task->level = depth + 1;
        m->after_exit = 0;
}

static inline void model_leave(Model *m, uint32_t symbol, uint32_t depth) {
        Frame *caller = task_frame(m->task, depth - 1);

        caller->path = model_path_after(caller->path, symbol);
        m->task->level = depth;
        m->after_exit = 2;
}

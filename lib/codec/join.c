/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The way back: the same model foretells what was not stored.  Nothing read is believed: a number
 * that is not known, a record that does not fit into its page, a column that ends too early are all
 * damage.  The sum of the pages tells whatever is left.
 */

#include "codec/record.h"

typedef struct Join {
        Model *m;
        Columns *c;
        uint8_t *p, *end; /* where the next record goes, and the end of the page */
} Join;

static bool get_task(Join *j) {
        Column *from = &j->c->of[COLUMN_PIDS];
        uint64_t n, pid = 0;

        if (!column_get_varint(from, &n) || n > j->m->n_tasks ||
            (n == j->m->n_tasks && !column_get_bytes(from, &pid, 4)))
                return false;
        model_switch(j->m, (uint32_t) n, (uint32_t) pid);
        return true;
}

/* A value of @n_bytes, or the number that it got when it came first. */
static bool get_numbered(Column *from, Numbered *known, uint64_t *ret, size_t n_bytes) {
        uint8_t n;

        if (!column_get(from, &n) || n > known->n)
                return false;
        if (n < known->n) {
                *ret = known->values[n];
                return true;
        }
        if (!column_get_bytes(from, ret, n_bytes))
                return false;
        numbered_add(known, *ret);
        return true;
}

/* A number of a column of low bytes and the one of high bytes behind it. */
static bool get_halves(Column *from, uint32_t *ret) {
        uint8_t low, high;

        if (!column_get(&from[0], &low) || !column_get(&from[1], &high))
                return false;
        *ret = (uint32_t) low | (uint32_t) high << 8;
        return true;
}

static bool get_function(Join *j, uint64_t *ret) {
        Column *of = j->c->of;
        uint64_t region, address;
        uint32_t n;

        if (!get_halves(&of[COLUMN_FUNC_LOW], &n) || n > j->m->n_functions)
                return false;
        if (n < j->m->n_functions) {
                *ret = j->m->functions[n];
                return true;
        }
        if (!get_numbered(&of[COLUMN_REGIONS], &j->m->regions, &region, 8) ||
            !column_get_bytes(&of[COLUMN_ADDRESSES], &address, 3))
                return false;
        *ret = region << 24 | address;
        model_add_function(j->m, *ret);
        return true;
}

static bool get_rest_word(Join *j, uint32_t *ret) {
        uint64_t word;
        uint8_t at;

        if (!column_get(&j->c->of[COLUMN_HINTS], &at))
                return false;
        if (at < MODEL_RECENT) {
                *ret = j->m->recent[at];
                return true;
        }
        if (!column_get_bytes(&j->c->of[COLUMN_REST], &word, 4))
                return false;
        *ret = (uint32_t) word;
        j->m->recent[model_recent(*ret)] = *ret;
        return true;
}

static bool get_rest(Join *j, uint32_t symbol) {
        unsigned kind = j->m->symbols[symbol].kind;
        const RecordKind *k = &j->m->kinds[kind];
        uint32_t *rest = j->m->rest[symbol];
        uint64_t mask;

        if (!column_get_varint(&j->c->of[COLUMN_MASKS], &mask))
                return false;
        for (unsigned i = 0; i < k->n_rest; i++)
                if ((mask & 1U << i) && !get_rest_word(j, &rest[i]))
                        return false;
        memcpy(j->m->last_rest[kind], rest, k->n_rest * sizeof(*rest));
        return true;
}

/* An exit of the caller's function, with its flags. */
static uint32_t returning(Model *m) {
        const Symbol *caller = model_caller(m);
        uint32_t word, symbol;

        for (unsigned i = 0; i < m->n_kinds; i++)
                if (m->kinds[i].is_exit) {
                        word = (caller->word & ~(uint32_t) UINT16_MAX) | m->kinds[i].id;
                        symbol = model_find(m, word, caller->func);
                        return symbol ?: model_add(m, i, word, caller->func);
                }
        return 0;
}

static uint32_t new_symbol(Join *j) {
        Model *m = j->m;
        uint64_t func, word;

        if (!get_numbered(&j->c->of[COLUMN_WORDS], &m->words, &word, 4) || !get_function(j, &func))
                return 0;
        for (unsigned i = 0; i < m->n_kinds; i++)
                if (m->kinds[i].id == (uint16_t) word)
                        return model_add(m, i, (uint32_t) word, func);
        return 0;
}

/*
 * What changes with every record of a run.  A page is written byte by byte as far as the compiler
 * knows, which may change whatever it has the address of: of this, while a run lasts, it has not.
 */
typedef struct Run {
        Model *m;
        Columns *c;
        Task *task;
        uint8_t *p, *end;
        uint64_t now, call_offset, return_offset;
        uint64_t path; /* of the call that comes next: task_frame()->path */
        uint64_t at;   /* in COLUMN_BITS */
        uint32_t level;
        unsigned after_exit;
} Run;

static _always_inline_ Run run_begin(const Join *j) {
        return (Run){
                .m = j->m,
                .c = j->c,
                .task = j->m->task,
                .p = j->p,
                .end = j->end,
                .now = j->m->now,
                .call_offset = j->m->call_offset,
                .return_offset = j->m->return_offset,
                .path = model_path(j->m),
                .at = j->c->at,
                .level = j->m->task->level,
                .after_exit = j->m->after_exit,
        };
}

static _always_inline_ void run_end(const Run *r, Join *j) {
        j->p = r->p;
        j->m->now = r->now;
        j->m->call_offset = r->call_offset;
        j->m->return_offset = r->return_offset;
        j->m->task->level = r->level;
        j->m->after_exit = r->after_exit;
        j->c->at = r->at;
}

/* Writes the record of a call, and goes on behind it. */
static _always_inline_ bool run_call(Run *r, uint32_t symbol, uint64_t depth, uint64_t pid) {
        const Symbol *s = &r->m->symbols[symbol];
        const RecordKind *k = &r->m->kinds[s->kind];
        uint8_t *data = r->p + RECORD_HEAD_BYTES;
        uint64_t delta, call, ret;
        Frame *frame = task_frame(r->task, (uint32_t) depth);

        if (_unlikely_(symbol == 0 ||
                       (size_t) (r->end - r->p) < (size_t) RECORD_HEAD_BYTES + k->n_bytes) ||
            !columns_get_number(r->c, &r->at, TOKENS_DELTA + r->after_exit + k->is_exit, &delta))
                return false;
        r->now += delta;
        store32(r->p, (uint32_t) delta << 5 | k->n_bytes / 4U);
        store64(data, pid << 32 | s->word);
        store64(data + k->func, s->func);
        if (k->depth_is_long)
                store64(data + k->depth, depth);
        else
                store32(data + k->depth, (uint32_t) depth);
        for (unsigned i = 0; i < k->n_rest; i++)
                store32(data + k->rest[i], r->m->rest[symbol][i]);
        r->p = data + k->n_bytes;
        if (!k->is_exit) {
                frame->timestamp = r->now;
                frame->path = r->path = symbol;
                r->level = (uint32_t) depth + 1;
                r->after_exit = 0;
                return true;
        }
        if (k->has_times) {
                if (!columns_get_number(r->c, &r->at, TOKENS_CALL, &call) ||
                    !columns_get_number(r->c, &r->at, TOKENS_RETURN + (r->after_exit != 0), &ret))
                        return false;
                r->call_offset += unzigzag(call);
                r->return_offset += unzigzag(ret);
                store64(data + k->calltime, r->call_offset + frame->timestamp);
                store64(data + k->rettime, r->now - r->return_offset);
        }
        frame = task_frame(r->task, (uint32_t) depth - 1);
        frame->path = r->path = model_path_after(frame->path, symbol);
        r->level = (uint32_t) depth;
        r->after_exit = 2;
        return true;
}

/* The call that get_call() has found, if there is one, and the records as expected that come next. */
static bool get_run(Join *j, uint32_t first, uint64_t depth) {
        const uint64_t pid = j->m->task->pid;
        Run r = run_begin(j);
        uint8_t n;

        if (first != 0 && !run_call(&r, first, depth, pid))
                return false;
        do {
                if (!column_get(&j->c->of[COLUMN_RUNS], &n))
                        return false;
                for (unsigned i = n; i > 0; i--) {
                        uint32_t symbol = r.m->next[model_place(r.path)];
                        const RecordKind *k = &r.m->kinds[r.m->symbols[symbol].kind];

                        if (_unlikely_(!run_call(&r, symbol, r.level - k->is_exit, pid)))
                                return false;
                }
        } while (n == 255);
        run_end(&r, j);
        return true;
}

/* The symbol of the next record, and its depth; 0: damaged. */
static uint32_t get_call(Join *j, unsigned op, uint64_t *ret_depth) {
        Model *m = j->m;
        uint32_t symbol;
        uint16_t *next;

        if ((op & OP_TASK) && !get_task(j))
                return 0;
        next = model_next(m);
        switch (op & OP_MASK) {
        case OP_EXPECTED:
                symbol = *next;
                break;
        case OP_RETURN:
                symbol = returning(m);
                break;
        case OP_KNOWN:
                if (!get_halves(&j->c->of[COLUMN_LOW], &symbol) || symbol >= m->n_symbols)
                        return 0;
                break;
        default:
                symbol = new_symbol(j);
        }
        if (symbol == 0)
                return 0;
        *next = (uint16_t) symbol;
        *ret_depth = model_depth(m, m->kinds[m->symbols[symbol].kind].is_exit);
        if (((op & OP_DEPTH) && !column_get_varint(&j->c->of[COLUMN_DEPTHS], ret_depth)) ||
            ((op & OP_REST) && !get_rest(j, symbol)))
                return 0;
        return symbol;
}

static bool get_other(Join *j) {
        Column *from = &j->c->of[COLUMN_OTHER];
        size_t n_left = (size_t) (j->end - j->p), n, n_done = 1;
        uint64_t delta;
        uint8_t *p = j->p;

        if (n_left < RECORD_HEAD_BYTES + 4 || !column_get(from, p))
                return false;
        if (record_type(*p) <= RECORD_DATA_MAX) {
                if (!columns_get_number(j->c, &j->c->at, TOKENS_OTHER, &delta))
                        return false;
                store32(p, (uint32_t) delta << 5 | record_type(*p));
                n_done = RECORD_HEAD_BYTES;
        }
        if (!column_read(from, p + n_done, RECORD_HEAD_BYTES + 4 - n_done))
                return false;
        n_done = RECORD_HEAD_BYTES + 4;
        n = record_bytes(p, n_left);
        if (n < n_done || !column_read(from, p + n_done, n - n_done))
                return false;
        model_pass(j->m, p);
        j->p += n;
        return true;
}

static bool get_remainder(Join *j) {
        uint64_t n;

        if (!column_get_varint(&j->c->of[COLUMN_PAGES], &n) || n > (size_t) (j->end - j->p) ||
            !column_read(&j->c->of[COLUMN_OTHER], j->p, n))
                return false;
        j->p += n;
        return true;
}

static bool get_records(Join *j) {
        uint32_t symbol = 0;
        uint64_t depth = 0;
        uint8_t op;

        for (;;) {
                if (!get_run(j, symbol, depth) || !column_get(&j->c->of[COLUMN_OPS], &op) ||
                    (op & ~(OP_MASK | OP_FLAGS)))
                        return false;
                symbol = 0;
                switch (op & OP_MASK) {
                case OP_OTHER:
                        if (!get_other(j))
                                return false;
                        break;
                case OP_REMAINDER:
                        return get_remainder(j);
                case OP_END:
                        return true;
                case OP_MASK:
                        return false;
                default:
                        symbol = get_call(j, op, &depth);
                        if (symbol == 0)
                                return false;
                }
        }
}

static bool join_page(Join *j, uint8_t *page, size_t page_bytes) {
        Column *from = &j->c->of[COLUMN_PAGES];
        uint64_t distance, flags = 0, n_tail = 0;
        uint8_t mode;

        j->p = page + PAGE_HEADER_BYTES;
        j->end = page + page_bytes;
        if (!column_get(from, &mode))
                return false;
        if (mode == PAGE_AS_IT_IS)
                return column_read(&j->c->of[COLUMN_OTHER], page, page_bytes);
        if (!column_get_varint(from, &distance) ||
            ((mode & PAGE_HAS_FLAGS) && !column_get_varint(from, &flags)))
                return false;
        j->m->now += unzigzag(distance);
        store64(page, j->m->now);
        if (!get_records(j) || ((mode & PAGE_HAS_TAIL) && !column_get_varint(from, &n_tail)))
                return false;
        store64(page + 8, flags << 27 | (uint64_t) (j->p - page - PAGE_HEADER_BYTES));
        if (n_tail > (size_t) (j->end - j->p) ||
            !column_read(&j->c->of[COLUMN_OTHER], j->p, n_tail))
                return false;
        memset(j->p + n_tail, 0, (size_t) (j->end - j->p) - n_tail);
        return true;
}

int pages_join(Model *m, Columns *c, uint8_t *ret_pages, size_t n_pages, size_t page_bytes) {
        const Column *bits = &c->of[COLUMN_BITS];
        Join j = { .m = m, .c = c };

        model_clear(m);
        for (size_t i = 0; i < n_pages; i++)
                if (!join_page(&j, ret_pages + i * page_bytes, page_bytes))
                        return PAGES_E_DAMAGED;
        for (size_t i = 0; i < COLUMN_N; i++)
                if (i != COLUMN_BITS && c->of[i].next != c->of[i].end)
                        return PAGES_E_DAMAGED;
        return c->at <= (uint64_t) (bits->end - bits->data) * 8 ? 0 : PAGES_E_DAMAGED;
}

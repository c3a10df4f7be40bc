/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One walk over the records.  The model says what should come; as long as it is right, only the
 * times are written and the records counted.  What is not as expected becomes an operation with
 * what it needs, and the model learns it; what is no record of a known kind is kept as it is, and
 * from what makes no sense on, the remainder of the page.  So there is no way to fail.
 */

#include "codec/record.h"

typedef struct Split {
        Model *m;
        Columns *c;
        uint32_t n_run; /* records as expected that are not written yet */
} Split;

static inline bool rest_is_expected(const Model *m, const RecordKind *k, uint32_t symbol,
                                    const uint8_t *data) {
        const uint32_t *rest = m->rest[symbol];

        for (unsigned i = 0; i < k->n_rest; i++)
                if (load32(data + k->rest[i]) != rest[i])
                        return false;
        return true;
}

static inline uint64_t depth_of(const RecordKind *k, const uint8_t *data) {
        return k->depth_is_long ? load64(data + k->depth) : load32(data + k->depth);
}

/* Whether the record at @p, of which @n bytes are there, is that of the expected symbol. */
static _always_inline_ bool is_expected(const Model *m, uint32_t symbol, const RecordKind *k,
                                        const uint8_t *p, size_t n) {
        const uint8_t *data = p + RECORD_HEAD_BYTES;
        const Symbol *s = &m->symbols[symbol];

        return symbol != 0 && n >= RECORD_HEAD_BYTES + k->n_bytes &&
               record_type(load32(p)) == k->n_bytes / 4U &&
               load64(data) == ((uint64_t) m->task->pid << 32 | s->word) &&
               load64(data + k->func) == s->func &&
               depth_of(k, data) == model_depth(m, k->is_exit) &&
               rest_is_expected(m, k, symbol, data);
}

/* The times of a call's record, and its place in the task's stack. */
static _always_inline_ void put_times(Split *s, Bits *bits, uint32_t symbol, const RecordKind *k,
                                      uint32_t delta, const uint8_t *data) {
        Model *m = s->m;
        uint32_t depth = (uint32_t) depth_of(k, data);

        m->now += delta;
        columns_put_number(s->c, bits, TOKENS_DELTA + m->after_exit + k->is_exit, delta);
        if (!k->is_exit) {
                model_enter(m, symbol, depth);
                return;
        }
        if (k->has_times) {
                uint64_t call = load64(data + k->calltime) - task_frame(m->task, depth)->timestamp;
                uint64_t ret = m->now - load64(data + k->rettime);

                columns_put_number(s->c, bits, TOKENS_CALL,
                                   zigzag((int64_t) (call - m->call_offset)));
                columns_put_number(s->c, bits, TOKENS_RETURN + (m->after_exit != 0),
                                   zigzag((int64_t) (ret - m->return_offset)));
                m->call_offset = call;
                m->return_offset = ret;
        }
        model_leave(m, symbol, depth);
}

/* The records as expected that come first; returns where the next one is. */
static const uint8_t *put_run(Split *s, const uint8_t *p, const uint8_t *end) {
        Bits bits = s->c->bits;
        Model *m = s->m;

        for (;;) {
                uint32_t symbol = *model_next(m);
                const RecordKind *k = &m->kinds[m->symbols[symbol].kind];

                if (!is_expected(m, symbol, k, p, (size_t) (end - p)))
                        break;
                s->n_run++;
                put_times(s, &bits, symbol, k, record_delta(load32(p)), p + RECORD_HEAD_BYTES);
                p += RECORD_HEAD_BYTES + k->n_bytes;
        }
        s->c->bits = bits;
        return p;
}

static void put_op(Split *s, unsigned op) {
        Column *runs = &s->c->of[COLUMN_RUNS];

        for (; s->n_run >= 255; s->n_run -= 255)
                column_put(runs, 255);
        column_put(runs, (uint8_t) s->n_run);
        s->n_run = 0;
        column_put(&s->c->of[COLUMN_OPS], (uint8_t) op);
}

static void put_task(Split *s, uint32_t pid) {
        uint32_t n = model_find_task(s->m, pid);

        column_put_varint(&s->c->of[COLUMN_PIDS], n);
        if (n == s->m->n_tasks)
                column_put_bytes(&s->c->of[COLUMN_PIDS], pid, 4);
        model_switch(s->m, n, pid);
}

static void put_numbered(Column *to, Numbered *known, uint64_t v, size_t n_bytes) {
        uint32_t n;

        for (n = 0; n < known->n && known->values[n] != v; n++)
                ;
        column_put(to, (uint8_t) n);
        if (n < known->n)
                return;
        column_put_bytes(to, v, n_bytes);
        numbered_add(known, v);
}

/* Low bytes and high bytes have columns of their own, the one behind the other. */
static void put_halves(Column *to, uint32_t n) {
        column_put(&to[0], (uint8_t) n);
        column_put(&to[1], (uint8_t) (n >> 8));
}

static void put_function(Split *s, uint64_t func) {
        uint32_t n = model_find_function(s->m, func);
        Column *of = s->c->of;

        put_halves(&of[COLUMN_FUNC_LOW], n);
        if (n < s->m->n_functions)
                return;
        put_numbered(&of[COLUMN_REGIONS], &s->m->regions, func >> 24, 8);
        column_put_bytes(&of[COLUMN_ADDRESSES], func, 3);
        model_add_function(s->m, func);
}

static void put_rest_word(Split *s, uint32_t word) {
        uint32_t at = model_recent(word), *recent = &s->m->recent[at];

        if (*recent == word) {
                column_put(&s->c->of[COLUMN_HINTS], (uint8_t) at);
                return;
        }
        column_put(&s->c->of[COLUMN_HINTS], MODEL_RECENT);
        column_put_bytes(&s->c->of[COLUMN_REST], word, 4);
        *recent = word;
}

static void put_rest(Split *s, uint32_t symbol, const RecordKind *k, unsigned kind,
                     const uint8_t *data) {
        uint32_t *rest = s->m->rest[symbol], mask = 0;

        for (unsigned i = 0; i < k->n_rest; i++)
                if (load32(data + k->rest[i]) != rest[i]) {
                        mask |= 1U << i;
                        rest[i] = load32(data + k->rest[i]);
                        put_rest_word(s, rest[i]);
                }
        column_put_varint(&s->c->of[COLUMN_MASKS], mask);
        memcpy(s->m->last_rest[kind], rest, k->n_rest * sizeof(*rest));
}

/* Which operation leads to the symbol of a record; its number in *@ret, 0 if it is yet to be
 * added. */
static unsigned choose(Model *m, const RecordKind *k, uint32_t expected, uint32_t word,
                       uint64_t func, uint32_t *ret) {
        const Symbol *e = &m->symbols[expected];
        const Symbol *caller = model_caller(m);

        *ret = expected;
        if (expected != 0 && e->word == word && e->func == func)
                return OP_EXPECTED;
        *ret = model_find(m, word, func);
        if (k->is_exit && caller->func == func && caller->word >> 16 == word >> 16)
                return OP_RETURN;
        return *ret ? OP_KNOWN : OP_NEW;
}

/* A record of a known kind that is not as expected. */
static void put_call(Split *s, unsigned kind, uint32_t delta, const uint8_t *data) {
        Model *m = s->m;
        const RecordKind *k = &m->kinds[kind];
        uint32_t word = load32(data), pid = load32(data + 4), symbol;
        uint64_t func = load64(data + k->func), depth = depth_of(k, data);
        uint16_t *next;
        unsigned op, flags = 0;

        if (pid != m->task->pid) {
                flags |= OP_TASK;
                put_task(s, pid);
        }
        next = model_next(m);
        op = choose(m, k, *next, word, func, &symbol);
        if (op == OP_KNOWN)
                put_halves(&s->c->of[COLUMN_LOW], symbol);
        if (op == OP_NEW) {
                put_numbered(&s->c->of[COLUMN_WORDS], &m->words, word, 4);
                put_function(s, func);
        }
        if (symbol == 0)
                symbol = model_add(m, kind, word, func);
        *next = (uint16_t) symbol;
        if (depth != model_depth(m, k->is_exit)) {
                flags |= OP_DEPTH;
                column_put_varint(&s->c->of[COLUMN_DEPTHS], depth);
        }
        if (!rest_is_expected(m, k, symbol, data)) {
                flags |= OP_REST;
                put_rest(s, symbol, k, kind, data);
        }
        put_op(s, op | flags);
        put_times(s, &s->c->bits, symbol, k, delta, data);
}

/* A record that is kept as it is, except that the head of one with data is its type alone, in one
 * byte: its time is a number among others. */
static void put_other(Split *s, const uint8_t *p, size_t n) {
        Column *to = &s->c->of[COLUMN_OTHER];
        uint32_t head = load32(p);
        unsigned skip = 0;

        put_op(s, OP_OTHER);
        if (record_type(head) <= RECORD_DATA_MAX) {
                column_put(to, (uint8_t) record_type(head));
                columns_put_number(s->c, &s->c->bits, TOKENS_OTHER, record_delta(head));
                skip = RECORD_HEAD_BYTES;
        }
        column_write(to, p + skip, n - skip);
        model_pass(s->m, p);
}

static void put_records(Split *s, const uint8_t *p, const uint8_t *end) {
        Model *m = s->m;

        while ((p = put_run(s, p, end)) < end) {
                size_t n_left = (size_t) (end - p), n;
                unsigned kind = LAYOUT_KINDS;
                uint32_t head;

                n = record_bytes(p, n_left);
                if (n == 0) {
                        put_op(s, OP_REMAINDER);
                        column_put_varint(&s->c->of[COLUMN_PAGES], n_left);
                        column_write(&s->c->of[COLUMN_OTHER], p, n_left);
                        return;
                }
                head = load32(p);
                if (n == RECORD_HEAD_BYTES + record_type(head) * 4)
                        kind = model_kind(m, load32(p + RECORD_HEAD_BYTES), n - RECORD_HEAD_BYTES);
                if (kind == LAYOUT_KINDS || m->n_symbols == MODEL_SYMBOLS)
                        put_other(s, p, n);
                else
                        put_call(s, kind, record_delta(head), p + RECORD_HEAD_BYTES);
                p += n;
        }
        put_op(s, OP_END);
}

/* Returns what is behind the payload without the zeroes at its end. */
static size_t tail_bytes(const uint8_t *p, size_t n) {
        while (n >= 8 && load64(p + n - 8) == 0)
                n -= 8;
        while (n > 0 && p[n - 1] == 0)
                n--;
        return n;
}

static void split_page(Split *s, const uint8_t *page, size_t page_bytes) {
        Column *to = &s->c->of[COLUMN_PAGES];
        uint64_t timestamp = load64(page), commit = load64(page + 8);
        uint64_t n = commit & COMMIT_LENGTH_MASK, flags = commit & ~COMMIT_LENGTH_MASK;
        const uint8_t *payload = page + PAGE_HEADER_BYTES;
        size_t n_room = page_bytes - PAGE_HEADER_BYTES, n_tail;
        uint8_t *mode;

        if (n > n_room) {
                column_put(to, PAGE_AS_IT_IS);
                column_write(&s->c->of[COLUMN_OTHER], page, page_bytes);
                return;
        }
        mode = to->next;
        column_put(to, flags ? PAGE_HAS_FLAGS : 0);
        column_put_varint(to, zigzag((int64_t) (timestamp - s->m->now)));
        if (flags)
                column_put_varint(to, flags >> 27);
        s->m->now = timestamp;
        put_records(s, payload, payload + n);
        n_tail = tail_bytes(payload + n, n_room - n);
        if (n_tail) {
                *mode |= PAGE_HAS_TAIL;
                column_put_varint(to, n_tail);
                column_write(&s->c->of[COLUMN_OTHER], payload + n, n_tail);
        }
}

void pages_split(Model *m, Columns *c, const uint8_t *pages, size_t n_pages, size_t page_bytes) {
        Split s = { .m = m, .c = c };

        model_clear(m);
        columns_clear(c);
        for (size_t i = 0; i < n_pages; i++)
                split_page(&s, pages + i * page_bytes, page_bytes);
}

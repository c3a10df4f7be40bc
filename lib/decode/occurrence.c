/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A recording has millions of addresses and some thousands of functions, so an address is looked for
 * in a small table first, which has what came last in each of its places; only what is not there is
 * searched for among the symbols.  A symbol that occurs is a bit, at the place of its name in the
 * text: so nothing is marked twice, and the marks are in the text's own order.
 */

#include <inttypes.h>

#include "decode/names.h"
#include "decode/occurrence.h"
#include "decode/records.h"

#define N_RECENT ((size_t) 4096)
#define N_IDS 65536

struct Occurrence {
        const Formats *formats;
        Symbols *symbols;
        const char *text; /* that `symbols` owns */
        size_t n_text;
        uint8_t *marks;   /* a bit for each byte of the text */
        uint64_t highest; /* address of a symbol that is marked */
        uint8_t events[N_IDS / 8];
        uint64_t recent[N_RECENT];
};

static void set_bit(uint8_t *bits, size_t i) {
        bits[i / 8] |= (uint8_t) (1U << i % 8);
}

static bool has_bit(const uint8_t *bits, size_t i) {
        return bits[i / 8] >> i % 8 & 1;
}

static void mark(Occurrence *o, const Symbol *symbol) {
        set_bit(o->marks, (size_t) (symbol->name - o->text));
}

int occurrence_new(Occurrence **ret, const Formats *formats, char *symbols, size_t n_symbols) {
        _cleanup_(occurrence_freep) Occurrence *o =
                NEW(Occurrence, .formats = formats, .text = symbols, .n_text = n_symbols);
        int r;

        if (!o) {
                free(symbols);
                return -ENOMEM;
        }
        r = symbols_new(&o->symbols, symbols, n_symbols);
        if (r < 0)
                return r;
        o->marks = calloc(1, n_symbols / 8 + 1);
        if (!o->marks)
                return -ENOMEM;
        *ret = TAKE_PTR(o);
        return 0;
}

static void add_address(Occurrence *o, uint64_t address) {
        uint64_t *recent = &o->recent[(address >> 4 ^ address >> 16) % N_RECENT];
        Symbol symbol;

        if (*recent == address)
                return;
        *recent = address;
        /* Absolute ones are offsets, such as those of per-CPU data, and would be in every number. */
        if (symbols_find(o->symbols, address, &symbol) && symbol.type != 'A' &&
            symbol.type != 'a') {
                mark(o, &symbol);
                o->highest = MAX(o->highest, symbol.address);
        }
}

void occurrence_add(Occurrence *o, const PageInfo *info, const void *page, PageCount *count) {
        Records records;
        Record record;
        Event e;
        int r;

        records_init(&records, (const char *) page + PAGE_HEADER_BYTES, info->n_payload,
                     info->timestamp, o->formats->big_endian);
        while ((r = records_next(&records, &record)) == 0) {
                (void) formats_decode(o->formats, &record, &e);
                count->n_records++;
                count->n_records_short += e.kind == EVENT_SHORT;
                set_bit(o->events, e.id);
                if (e.kind == EVENT_ENTRY || e.kind == EVENT_EXIT)
                        add_address(o, e.func);
                else /* fields are aligned to their size from where it begins, arrays to 4 bytes */
                        for (uint32_t i = 0; i + 8 <= record.n_data; i += 4)
                                add_address(o, load_u64(record.data + i, record.swap));
        }
        count->n_pages_damaged += r == RECORDS_E_DAMAGED;
}

bool occurrence_has_event(const Occurrence *o, uint16_t id) {
        return has_bit(o->events, id);
}

/* The functions between these two symbols are where interrupts begin: without them nobody would know. */
static void mark_irq_bounds(Occurrence *o) {
        Symbol begin, end, s;
        bool found;

        if (!symbols_find_name(o->symbols, "__irqentry_text_start", &begin) ||
            !symbols_find_name(o->symbols, "__irqentry_text_end", &end))
                return;
        for (found = symbols_find(o->symbols, begin.address, &s); found && s.address < end.address;
             found = symbols_find_behind(o->symbols, s.address, &s))
                if (has_bit(o->marks, (size_t) (s.name - o->text))) {
                        mark(o, &begin);
                        mark(o, &end);
                        return;
                }
}

void occurrence_put_symbols(Occurrence *o, Buf *out) {
        mark_irq_bounds(o);
        for (size_t i = 0; i < o->n_text; i++) {
                const char *begin = o->text + i, *end;

                if (o->marks[i / 8] == 0) {
                        i |= 7;
                        continue;
                }
                if (!has_bit(o->marks, i))
                        continue;
                end = strchrnul(begin, '\n');
                while (begin > o->text && begin[-1] != '\n')
                        begin--;
                buf_add(out, begin, (size_t) (end - begin));
                buf_add(out, "\n", 1);
        }
        if (o->highest > 0 && o->highest <= UINT64_MAX - SYMBOL_BYTES_MAX)
                buf_printf(out, "%016" PRIx64 " t ftraced_end_of_symbols\n",
                           o->highest + SYMBOL_BYTES_MAX);
}

Occurrence *occurrence_free(Occurrence *o) {
        if (!o)
                return NULL;
        (void) symbols_free(o->symbols);
        free(o->marks);
        return mfree(o);
}

bool occurrence_span(const PageInfo *info, const void *page, bool big_endian,
                     uint64_t *ret_first_ns, uint64_t *ret_last_ns) {
        Records records;
        Record record;
        bool any = false;

        records_init(&records, (const char *) page + PAGE_HEADER_BYTES, info->n_payload,
                     info->timestamp, big_endian);
        for (; records_next(&records, &record) == 0; any = true) {
                if (!any)
                        *ret_first_ns = record.timestamp_ns;
                *ret_last_ns = record.timestamp_ns;
        }
        return any;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A hash of addresses, and for the names one sorted array of all symbols.
 * There are tens of thousands of functions in a kernel and millions of events in a recording, so
 * it is the first that must be quick.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/name.h"
#include "decode/records.h"
#include "learn/function-counts.h"
#include "store/page.h"

#define MAX_ADDRESSES (1U << 20) /* more are no kernel's functions */
#define MAX_DEPTH 64             /* FTRACE_RETFUNC_DEPTH is 50, linux 6.1 include/linux/ftrace.h */
#define TYPE_BYTES 2             /* common_type, with which every event begins */

typedef struct Place {
        uint64_t address;
        uint64_t counts[FUNCTION_COUNTS_MAX_WINDOWS];
        uint64_t callers[FUNCTION_COUNTS_MAX_CALLERS]; /* 0 behind the last */
} Place;

typedef struct Field {
        uint32_t offset, size; /* in the event; size 0: there is none */
} Field;

/* Whom a task is in, as far as the page has told; of depth 0 on, 0 where it has not. */
typedef struct Path {
        uint64_t pid;
        uint64_t callers[MAX_DEPTH];
} Path;

struct FunctionCounts {
        uint16_t type;
        Field address, pid, depth;
        FunctionCountsWindow windows[FUNCTION_COUNTS_MAX_WINDOWS];
        size_t n_windows;
        uint32_t pids[FUNCTION_COUNTS_MAX_PIDS];
        size_t n_pids; /* 0: everybody's events count */
        Place *places;
        size_t n;
        Hash by_address; /* index + 1 */
};

/* "field:unsigned long func;	offset:8;	size:8;	signed:0;" */
static int find_field(const char *format, const char *field, Field *ret) {
        for (const char *s = format; *s; s += strcspn(s, "\n"), s += *s == '\n') {
                const char *line = s + strspn(s, " \t"), *end = strchr(line, ';');
                unsigned offset, size;
                size_t n = strlen(field);

                if (!startswith(line, "field:") || !end || end < line + n + 1 ||
                    strncmp(end - n, field, n) != 0 || end[-(ptrdiff_t) n - 1] != ' ')
                        continue;
                if (sscanf(end, "; offset:%u; size:%u;", &offset, &size) != 2 || offset > 4096 ||
                    (size != 4 && size != 8))
                        return ORIGIN(-EINVAL);
                *ret = (Field){ offset, size };
                return 0;
        }
        return ORIGIN(-EINVAL);
}

static bool record_has(const Record *r, const Field *f) {
        return r->n_data >= f->offset + f->size;
}

static uint64_t record_get(const Record *r, const Field *f) {
        return f->size == 8 ? load_u64(r->data + f->offset, false)
                            : load_u32(r->data + f->offset, false);
}

int function_counts_new(FunctionCounts **ret, const char *format, const char *field,
                        const FunctionCountsWindow *windows, size_t n_windows) {
        _cleanup_(function_counts_freep) FunctionCounts *t = calloc(1, sizeof(*t));
        const char *id = strstr(format, "ID: ");
        unsigned type;

        if (!t)
                return -ENOMEM;
        if (n_windows == 0 || n_windows > FUNCTION_COUNTS_MAX_WINDOWS || !id ||
            sscanf(id, "ID: %u", &type) != 1 || type > UINT16_MAX ||
            find_field(format, field, &t->address) < 0 || t->address.size != 8)
                return ORIGIN(-EINVAL);
        if (find_field(format, "common_pid", &t->pid) < 0 ||
            find_field(format, "depth", &t->depth) < 0)
                t->depth.size = 0;
        t->type = (uint16_t) type;
        t->n_windows = n_windows;
        memcpy(t->windows, windows, n_windows * sizeof(*windows));
        *ret = TAKE_PTR(t);
        return 0;
}

int function_counts_set_pids(FunctionCounts *t, const uint32_t *pids, size_t n) {
        if (n > FUNCTION_COUNTS_MAX_PIDS || (n > 0 && t->pid.size == 0))
                return ORIGIN(-EINVAL);
        if (n > 0)
                memcpy(t->pids, pids, n * sizeof(*pids));
        t->n_pids = n;
        return 0;
}

static void add_caller(Place *p, uint64_t caller) {
        for (size_t i = 0;
             caller != 0 && i < FUNCTION_COUNTS_MAX_CALLERS && p->callers[i] != caller; i++)
                if (p->callers[i] == 0) {
                        p->callers[i] = caller;
                        break;
                }
}

/* Who calls @address: the last one a level above of the same task; 0: not known. */
static uint64_t follow(const FunctionCounts *t, Path *path, const Record *r, uint64_t address) {
        uint64_t pid, depth;

        if (t->depth.size == 0 || !record_has(r, &t->depth) || !record_has(r, &t->pid))
                return 0;
        pid = record_get(r, &t->pid);
        depth = record_get(r, &t->depth);
        if (pid != path->pid)
                *path = (Path){ .pid = pid };
        if (depth >= MAX_DEPTH)
                return 0;
        path->callers[depth] = address;
        return depth > 0 ? path->callers[depth - 1] : 0;
}

static int count(FunctionCounts *t, uint64_t address, uint64_t caller, uint64_t timestamp_ns) {
        uint64_t i = hash_get(&t->by_address, address);
        Place *p;

        if (address == 0 || (i == 0 && t->n >= MAX_ADDRESSES))
                return 0;
        if (i == 0) {
                if (!ARRAY_GROW(t->places, t->n) || hash_add(&t->by_address, address, t->n + 1) < 0)
                        return -ENOMEM;
                t->places[t->n] = (Place){ .address = address };
                i = ++t->n;
        }
        p = &t->places[i - 1];
        add_caller(p, caller);
        for (size_t w = 0; w < t->n_windows; w++)
                if (t->windows[w].from_ns <= timestamp_ns && timestamp_ns < t->windows[w].to_ns)
                        p->counts[w]++;
        return 0;
}

static bool is_wanted(const FunctionCounts *t, const Record *r) {
        size_t i = 0;

        if (t->n_pids == 0)
                return true;
        if (!record_has(r, &t->pid))
                return false;
        while (i < t->n_pids && t->pids[i] != record_get(r, &t->pid))
                i++;
        return i < t->n_pids;
}

int function_counts_add_page(FunctionCounts *t, const void *page, size_t n_bytes) {
        Path path = {};
        PageInfo info;
        Records w;
        Record record;
        int r;

        if (n_bytes < PAGE_HEADER_BYTES || page_parse(&info, page, n_bytes, false) != 0)
                return 0;
        records_init(&w, (const uint8_t *) page + PAGE_HEADER_BYTES, info.n_payload, info.timestamp,
                     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        while (records_next(&w, &record) == 0) {
                uint64_t address;

                if (record.n_data < TYPE_BYTES || !record_has(&record, &t->address) ||
                    load_u16(record.data, false) != t->type || !is_wanted(t, &record))
                        continue;
                address = record_get(&record, &t->address);
                r = count(t, address, follow(t, &path, &record, address), record.timestamp_ns);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* --- names ----------------------------------------------------------------------------------- */

typedef struct Symbol {
        uint64_t address;
        const char *name; /* in the text, up to white space */
} Symbol;

static int compare_symbols(const void *a, const void *b) {
        return CMP(((const Symbol *) a)->address, ((const Symbol *) b)->address);
}

/* "ffffffff81a2b3c0 t udp_sendmsg	[module]" */
static size_t read_symbols(const char *text, Symbol *ret) {
        size_t n = 0;

        for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
                char *end;
                uint64_t address = strtoull(s, &end, 16);

                if (end == s || address == 0 || end[0] != ' ' || end[1] == 0 || end[2] != ' ' ||
                    !strchr("tTwW", end[1]))
                        continue;
                ret[n++] = (Symbol){ address, end + 3 };
        }
        return n;
}

typedef struct Symbols {
        Symbol *items; /* n of them, by address */
        size_t n;
} Symbols;

/* How many begin at or below @address. */
static size_t symbols_up_to(const Symbols *s, uint64_t address) {
        return BISECT(0, s->n, i, s->items[i].address <= address);
}

static size_t symbol_length(const Symbol *s) {
        size_t n = strcspn(s->name, " \t\n");

        return n <= FUNCTION_NAME_MAX ? n : 0;
}

static void write_caller(const Symbols *symbols, uint64_t address, Buf *out) {
        size_t at = symbols_up_to(symbols, address);

        if (at == 0 || symbol_length(&symbols->items[at - 1]) == 0)
                return;
        buf_adds(out, " ");
        buf_add(out, symbols->items[at - 1].name, symbol_length(&symbols->items[at - 1]));
        buf_adds(out, "\n");
}

static void write_place(const FunctionCounts *t, const Place *p, const Symbols *symbols, size_t at,
                        Buf *out) {
        const Symbol *symbol = &symbols->items[at];

        if (symbol_length(symbol) == 0)
                return;
        buf_add(out, symbol->name, symbol_length(symbol));
        for (size_t w = 0; w < t->n_windows; w++)
                buf_printf(out, " %llu", (unsigned long long) p->counts[w]);
        buf_adds(out, "\n");
        for (size_t i = 0; i < FUNCTION_COUNTS_MAX_CALLERS && p->callers[i] != 0; i++)
                write_caller(symbols, p->callers[i], out);
}

int function_counts_name(const FunctionCounts *t, const char *text, Buf *out) {
        _cleanup_free_ Symbol *items = NULL;
        Symbols symbols;
        size_t n_lines = 0;

        for (const char *s = text; *s; s++)
                n_lines += *s == '\n';
        items = calloc(n_lines + 1, sizeof(*items));
        if (!items)
                return -ENOMEM;
        symbols = (Symbols){ .items = items, .n = read_symbols(text, items) };
        qsort(items, symbols.n, sizeof(*items), compare_symbols);
        for (size_t i = 0; i < t->n; i++) {
                const Place *p = &t->places[i];
                size_t at = symbols_up_to(&symbols, p->address);

                for (size_t k = at; k > 0 && items[k - 1].address == items[at - 1].address; k--)
                        write_place(t, p, &symbols, k - 1, out);
        }
        return out->error;
}

FunctionCounts *function_counts_free(FunctionCounts *t) {
        if (!t)
                return NULL;
        free(t->places);
        hash_done(&t->by_address);
        return mfree(t);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A hash of addresses, which get their names at the end: there are tens of thousands of functions in a kernel and
 * millions of events in a recording.
 *
 * Whom each task is in is known from its last entry at each depth.  A page may begin in the middle of a tree, and a
 * task may have been elsewhere meanwhile, so a level that was not seen is not valid, and what is below one may be an
 * interrupt's or not: it is taken to be if it was ever seen below one.
 */

#include <inttypes.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/name.h"
#include "decode/records.h"
#include "learn/function-counts.h"
#include "store/page.h"

#define MAX_ADDRESSES (1U << 20) /* more are no kernel's functions */
#define MAX_DEPTH 64             /* FTRACE_RETFUNC_DEPTH is 50, linux 6.1 include/linux/ftrace.h */
#define MAX_PATHS 4096           /* tasks; of more all are forgotten */
#define TYPE_BYTES 2             /* common_type, with which every event begins */

typedef struct Place {
        uint64_t address;
        uint64_t n, n_own,
                n_interrupt; /* calls; with nothing but calls above, with an interrupt there */
        uint64_t total_ns;
        uint64_t callers[FUNCTION_COUNTS_MAX_CALLERS]; /* 0 behind the last */
        bool calls, is_interrupt;
} Place;

typedef struct Field {
        uint32_t offset, size; /* in the event; size 0: there is none */
} Field;

/* Whom a task is in; a bit for each depth. */
typedef struct Path {
        uint64_t callers[MAX_DEPTH]; /* indices of places */
        uint64_t valid, interrupts;
} Path;

struct FunctionCounts {
        FunctionCountsConfig config;
        uint16_t type, exit_type;
        Field address, pid, depth;
        Field exit_address, exit_pid, exit_depth, from, to;
        uint32_t exit_bytes; /* that have these; 0: exits are not looked at */
        Place *places;
        size_t n;
        Hash by_address; /* index + 1 */
        Path *paths;
        size_t n_paths;
        Hash by_pid; /* index + 1 */
        uint64_t last_ns;
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

/* --- names ----------------------------------------------------------------------------------- */

/* The function that @address is in, as the kernel names it. */
static bool find_function(const FunctionCounts *t, uint64_t address, Symbol *ret) {
        return symbols_find(t->config.symbols, address, ret) && strchr("tTwW", ret->type) &&
               ret->n_name <= FUNCTION_NAME_MAX;
}

static bool is_interrupt(const FunctionCounts *t, uint64_t address) {
        char name[FUNCTION_NAME_MAX + 1] = "";
        Symbol s;

        if (!t->config.is_interrupt || !find_function(t, address, &s))
                return false;
        memcpy(name, s.name, s.n_name);
        return t->config.is_interrupt(name);
}

/* --- counting -------------------------------------------------------------------------------- */

static int read_type(const char *format, uint16_t *ret) {
        const char *id = strstr(format, "ID: ");
        unsigned type;

        if (!id || sscanf(id, "ID: %u", &type) != 1 || type > UINT16_MAX)
                return ORIGIN(-EINVAL);
        *ret = (uint16_t) type;
        return 0;
}

/* Without times, or a way to tell whose they are, exits say nothing. */
static void read_exit(FunctionCounts *t, const char *format) {
        const struct {
                const char *name;
                Field *field;
        } fields[] = { { "func", &t->exit_address },
                       { "common_pid", &t->exit_pid },
                       { "depth", &t->exit_depth },
                       { "rettime", &t->to },
                       { "calltime", &t->from } };
        uint32_t n_bytes = 0;

        if (t->depth.size == 0 || read_type(format, &t->exit_type) < 0)
                return;
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                if (find_field(format, fields[i].name, fields[i].field) < 0)
                        return;
                n_bytes = MAX(n_bytes, fields[i].field->offset + fields[i].field->size);
        }
        t->exit_bytes = n_bytes;
}

int function_counts_new(FunctionCounts **ret, const FunctionCountsConfig *config) {
        _cleanup_(function_counts_freep) FunctionCounts *t = calloc(1, sizeof(*t));
        int r;

        if (!t)
                return -ENOMEM;
        t->config = *config;
        r = read_type(config->format, &t->type);
        if (r >= 0)
                r = find_field(config->format, config->field, &t->address);
        if (r < 0 || t->address.size != 8)
                return ORIGIN(-EINVAL);
        if (find_field(config->format, "common_pid", &t->pid) < 0 ||
            find_field(config->format, "depth", &t->depth) < 0)
                t->depth.size = 0;
        if (config->exit_format)
                read_exit(t, config->exit_format);
        *ret = TAKE_PTR(t);
        return 0;
}

static void forget_paths(FunctionCounts *t) {
        t->n_paths = 0;
        hash_clear(&t->by_pid);
}

/* NULL without memory. */
static Path *find_path(FunctionCounts *t, uint64_t pid) {
        uint64_t key = pid + 1, i = hash_get(&t->by_pid, key);

        if (i == 0 && t->n_paths == MAX_PATHS)
                forget_paths(t);
        if (i == 0) {
                if (!ARRAY_GROW(t->paths, t->n_paths) ||
                    hash_add(&t->by_pid, key, t->n_paths + 1) < 0)
                        return NULL;
                t->paths[t->n_paths] = (Path){};
                i = ++t->n_paths;
        }
        return &t->paths[i - 1];
}

/* Whose call it is, and whether an interrupt's. */
static int follow(FunctionCounts *t, const Record *r, uint64_t i_place) {
        Place *p = &t->places[i_place];
        uint64_t depth, above;
        Path *path;

        if (t->depth.size == 0 || !record_has(r, &t->depth) || !record_has(r, &t->pid))
                return 0;
        depth = record_get(r, &t->depth);
        if (depth >= MAX_DEPTH)
                return 0;
        path = find_path(t, record_get(r, &t->pid));
        if (!path)
                return -ENOMEM;
        above = (UINT64_C(1) << depth) - 1;
        path->valid = (path->valid & above) | (above + 1);
        path->interrupts = (path->interrupts & above) | (p->is_interrupt ? above + 1 : 0);
        path->callers[depth] = i_place;
        if (path->interrupts != 0) {
                p->n_interrupt++;
                return 0;
        }
        p->n_own += (path->valid & above) == above;
        if (depth > 0 && path->valid & UINT64_C(1) << (depth - 1)) {
                Place *caller = &t->places[path->callers[depth - 1]];

                caller->calls = true;
                for (size_t i = 0;
                     i < FUNCTION_COUNTS_MAX_CALLERS && p->callers[i] != caller->address; i++)
                        if (p->callers[i] == 0) {
                                p->callers[i] = caller->address;
                                break;
                        }
        }
        return 0;
}

static int count(FunctionCounts *t, const Record *record) {
        uint64_t address = record_get(record, &t->address), i = hash_get(&t->by_address, address);

        if (address == 0 || (i == 0 && t->n >= MAX_ADDRESSES))
                return 0;
        if (i == 0) {
                if (!ARRAY_GROW(t->places, t->n) || hash_add(&t->by_address, address, t->n + 1) < 0)
                        return -ENOMEM;
                t->places[t->n] =
                        (Place){ .address = address, .is_interrupt = is_interrupt(t, address) };
                i = ++t->n;
        }
        t->places[i - 1].n++;
        return follow(t, record, i - 1);
}

static void leave(FunctionCounts *t, const Record *r) {
        uint64_t i, from_ns, to_ns, depth;

        if (r->n_data < t->exit_bytes)
                return;
        i = hash_get(&t->by_address, record_get(r, &t->exit_address));
        from_ns = record_get(r, &t->from);
        to_ns = record_get(r, &t->to);
        if (i > 0 && to_ns > from_ns && to_ns - from_ns < UINT64_C(1) << 50)
                t->places[i - 1].total_ns += to_ns - from_ns;
        depth = record_get(r, &t->exit_depth);
        i = hash_get(&t->by_pid, record_get(r, &t->exit_pid) + 1);
        if (i > 0 && depth < MAX_DEPTH)
                t->paths[i - 1].valid &= (UINT64_C(1) << depth) - 1;
}

int function_counts_add_page(FunctionCounts *t, const void *page, size_t n_bytes) {
        PageInfo info;
        Records w;
        Record record;

        if (n_bytes < PAGE_HEADER_BYTES || page_parse(&info, page, n_bytes, false) != 0)
                return 0;
        if (info.timestamp < t->last_ns) /* another CPU's */
                forget_paths(t);
        records_init(&w, (const uint8_t *) page + PAGE_HEADER_BYTES, info.n_payload, info.timestamp,
                     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        while (records_next(&w, &record) == 0) {
                uint16_t type;

                t->last_ns = record.timestamp_ns;
                if (record.n_data < TYPE_BYTES || record.timestamp_ns < t->config.from_ns ||
                    record.timestamp_ns >= t->config.to_ns)
                        continue;
                type = load_u16(record.data, false);
                if (t->exit_bytes > 0 && type == t->exit_type)
                        leave(t, &record);
                else if (type == t->type && record_has(&record, &t->address) &&
                         count(t, &record) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* --- the answer ------------------------------------------------------------------------------ */

/* What is never seen with all above it known may be an interrupt's, and is not if it was seen below none. */
static void write_place(const FunctionCounts *t, const Place *p, Buf *out) {
        uint64_t n_own = p->n_own == 0 && p->n_interrupt == 0 ? p->n : p->n_own;
        Symbol s;

        if (!find_function(t, p->address, &s))
                return;
        buf_add(out, s.name, s.n_name);
        buf_printf(out, " %" PRIu64 " %" PRIu64 " %i %" PRIu64 "\n", p->n, n_own, !p->calls,
                   p->total_ns);
        for (size_t i = 0; i < FUNCTION_COUNTS_MAX_CALLERS && p->callers[i] != 0; i++)
                if (find_function(t, p->callers[i], &s))
                        buf_printf(out, " %.*s\n", (int) s.n_name, s.name);
}

int function_counts_name(const FunctionCounts *t, Buf *out) {
        for (size_t i = 0; i < t->n; i++)
                write_place(t, &t->places[i], out);
        return out->error;
}

FunctionCounts *function_counts_free(FunctionCounts *t) {
        if (!t)
                return NULL;
        free(t->places);
        free(t->paths);
        hash_done(&t->by_address);
        hash_done(&t->by_pid);
        return mfree(t);
}

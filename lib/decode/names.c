/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names of what a recording has as numbers: addresses, and process ids. */

#include "base/array.h"
#include "base/hash.h"
#include "decode/names.h"

/* --- symbols ---------------------------------------------------------------------------------- */

/*
 * The text stays where it is; a symbol is its address and where its name begins.
 * kallsyms is nearly sorted (the kernel's own symbols are, modules follow in any
 * order), so only what comes after the sorted beginning is sorted, and the two
 * are merged.  Where a name ends is found out when it is looked up: of 200,000 a
 * recording meets a few hundred.
 */

#define NAME_ENDS "\t\n \r"
#define BEFORE_NAME_MAX 20 /* a newline, 16 digits, a type, blanks */

typedef struct Entry {
        uint64_t address;
        uint32_t name; /* where it begins in the text: also the order of lines */
} Entry;

struct Symbols {
        char *text;
        size_t n_text;
        Entry *entries;
        size_t n_entries;
        bool hidden;
};

static const int8_t hex_values[256] = {
        ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
        ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
        ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
        ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static int compare_entries(const void *pa, const void *pb) {
        const Entry *a = pa, *b = pb;

        return CMP(a->address, b->address) ?: CMP(a->name, b->name);
}

static int sort_entries(Symbols *s) {
        _cleanup_free_ Entry *tail = NULL;
        size_t n_sorted = 1, n_tail, i, j, k;

        while (n_sorted < s->n_entries &&
               s->entries[n_sorted - 1].address <= s->entries[n_sorted].address)
                n_sorted++;
        if (n_sorted >= s->n_entries)
                return 0;
        n_tail = s->n_entries - n_sorted;
        tail = malloc(n_tail * sizeof(*tail));
        if (!tail)
                return -ENOMEM;
        memcpy(tail, s->entries + n_sorted, n_tail * sizeof(*tail));
        qsort(tail, n_tail, sizeof(*tail), compare_entries);

        /* Backwards, so that the beginning can stay in place. */
        i = n_sorted;
        j = n_tail;
        k = s->n_entries;
        while (j > 0) {
                if (i > 0 && compare_entries(&s->entries[i - 1], &tail[j - 1]) > 0)
                        s->entries[--k] = s->entries[--i];
                else
                        s->entries[--k] = tail[--j];
        }
        return 0;
}

/* The first digits of the line before, which most addresses have in common. */
#define ALIKE_DIGITS ((int) sizeof(uint64_t))
typedef struct Alike {
        uint64_t digits, value; /* as they are in memory; of them */
} Alike;
#define ALIKE_NONE ((Alike){ UINT64_C(0x3030303030303030), 0 })

/* "ADDRESS T NAME": true and where the name begins, if the line is one. */
static inline bool parse_line(Alike *alike, const char *line, const char *end,
                              uint64_t *ret_address, const char **ret_name) {
        bool is_alike =
                end - line > ALIKE_DIGITS && memcmp(line, &alike->digits, ALIKE_DIGITS) == 0;
        uint64_t address = is_alike ? alike->value : 0;
        int n = is_alike ? ALIKE_DIGITS : 0;
        const char *p = line + n;

        while (hex_values[(unsigned char) *p] && n < 16) {
                address = address << 4 | (uint64_t) (hex_values[(unsigned char) *p] - 1);
                p++;
                n++;
        }
        if (!is_alike && n >= ALIKE_DIGITS) {
                memcpy(&alike->digits, line, ALIKE_DIGITS);
                alike->value = address >> 4 * (n - ALIKE_DIGITS);
        }
        if (n == 0 || p[0] != ' ' || p[1] <= ' ' || p[2] != ' ' || (unsigned char) p[3] <= ' ')
                return false;
        *ret_address = address;
        *ret_name = p + 3;
        return true;
}

int symbols_new(Symbols **ret, char *text, size_t n_text) {
        _cleanup_(symbols_freep) Symbols *s = NEW(Symbols, .text = text, .n_text = n_text);
        size_t n_room = n_text / 32 + 64; /* a line is longer on average */
        Alike alike = ALIKE_NONE;
        const char *name, *newline;
        uint64_t address, any = 0;
        int r;

        if (!s) {
                free(text);
                return -ENOMEM;
        }
        if (n_text >= INT32_MAX)
                return ORIGIN(-EFBIG);
        s->entries = malloc_huge(n_room * sizeof(*s->entries));
        if (!s->entries)
                return -ENOMEM;
        for (const char *line = text, *end = text ? text + n_text : NULL; line < end;
             line = newline + 1) {
                if (parse_line(&alike, line, end, &address, &name)) {
                        if (!ARRAY_ROOM(s->entries, n_room, s->n_entries + 1))
                                return -ENOMEM;
                        s->entries[s->n_entries++] = (Entry){ address, (uint32_t) (name - text) };
                        any |= address;
                        line = name;
                }
                newline = memchr(line, '\n', (size_t) (end - line));
                if (!newline)
                        break;
        }
        r = sort_entries(s);
        if (r < 0)
                return r;
        s->hidden = s->n_entries > 0 && any == 0;
        *ret = TAKE_PTR(s);
        return 0;
}

bool symbols_have_names(const Symbols *s) {
        return s->n_entries > 0 && !s->hidden;
}

static Symbol symbol_at(const Symbols *s, const Entry *e) {
        const char *name = s->text + e->name;
        Symbol ret = { .address = e->address,
                       .name = name,
                       .n_name = strcspn(name, NAME_ENDS),
                       .type = name[-2] };
        const char *end = name + ret.n_name;

        if (end[0] == '\t' && end[1] == '[') {
                ret.module = end + 2;
                ret.n_module = strcspn(ret.module, "]" NAME_ENDS);
        }
        return ret;
}

/* The last one that begins not after @address; there is one. */
static size_t find_entry(const Symbols *s, uint64_t address) {
        return BISECT(1, s->n_entries, i, s->entries[i].address <= address) - 1;
}

/* get_symbol_pos() and find_kallsyms_symbol(): where the next one of the same module begins. */
static uint64_t size_of(const Symbols *s, size_t i, const Symbol *symbol) {
        Symbol next;

        if (i + 1 == s->n_entries)
                return 0;
        next = symbol_at(s, &s->entries[i + 1]);
        if (next.n_module != symbol->n_module ||
            memcmp(next.module ?: "", symbol->module ?: "", next.n_module) != 0)
                return 0;
        return next.address - symbol->address;
}

bool symbols_find(const Symbols *s, uint64_t address, Symbol *ret) {
        size_t low, last;

        if (!symbols_have_names(s) || s->entries[0].address > address)
                return false;
        low = last = find_entry(s, address);
        while (low > 0 && s->entries[low - 1].address == s->entries[low].address)
                low--;
        if (address - s->entries[low].address > SYMBOL_BYTES_MAX)
                return false;
        *ret = symbol_at(s, &s->entries[low]);
        ret->n_bytes = size_of(s, last, ret);
        return true;
}

bool symbols_find_behind(const Symbols *s, uint64_t address, Symbol *ret) {
        size_t i = 0;

        if (!symbols_have_names(s))
                return false;
        if (s->entries[0].address <= address)
                i = find_entry(s, address) + 1;
        if (i == s->n_entries)
                return false;
        *ret = symbol_at(s, &s->entries[i]);
        return true;
}

bool symbols_find_name(const Symbols *s, const char *name, Symbol *ret) {
        const char *end = s->text ? s->text + s->n_text : NULL, *at;
        size_t n = strlen(name);
        Alike alike = ALIKE_NONE;
        bool found = false;
        Entry first = {}, e;

        for (const char *p = s->text; p < end && (p = memmem(p, (size_t) (end - p), name, n));
             p++) {
                size_t n_before = MIN((size_t) (p - s->text), (size_t) BEFORE_NAME_MAX);
                const char *line = memrchr(p - n_before, '\n', n_before);

                /* A line that is longer is none of a symbol whose name is here. */
                line = line ? line + 1 : p - n_before;
                e.name = (uint32_t) (p - s->text);
                if ((p[n] && !strchr(NAME_ENDS, p[n])) ||
                    !parse_line(&alike, line, end, &e.address, &at) || at != p ||
                    (line > s->text && line[-1] != '\n') ||
                    (found && compare_entries(&e, &first) > 0))
                        continue;
                found = true;
                first = e;
        }
        if (found)
                *ret = symbol_at(s, &first);
        return found;
}

Symbols *symbols_free(Symbols *s) {
        if (!s)
                return NULL;
        free(s->entries);
        free(s->text);
        return mfree(s);
}

/* --- timeline --------------------------------------------------------------------------------- */

/*
 * A map is some 15 MB in memory and is asked for the time of one span only, and
 * events come in the order of time: so a map is read when a span needs it, and
 * dropped when another span needs others.
 */

#define BEGINNING_BYTES_MAX 16

typedef struct Map {
        uint64_t unchanged_ns, from_ns;
        char *hash;       /* NULL: `symbols` was given to us */
        Symbols *symbols; /* NULL: not read yet */
        bool is_damaged;  /* and therefore empty */
} Map;

struct SymbolTimeline {
        const SessionDir *dir;
        Map *maps; /* in order of time, at least one */
        size_t n_maps;
};

static int add_map(SymbolTimeline *a, Map map) {
        if (ARRAY_ADD(a->maps, a->n_maps, map))
                return 0;
        free(map.hash);
        (void) symbols_free(map.symbols);
        return -ENOMEM;
}

/* Empty if it cannot be had: names are addresses then. */
static int map_need(const SymbolTimeline *a, Map *m) {
        char *text = NULL;
        size_t n = 0;
        int r;

        if (m->symbols)
                return 0;
        r = session_dir_read_symbols(a->dir, m->hash, &text, &n)
                    ?: symbols_new(&m->symbols, text, n);
        if (r >= 0 || r == -ENOMEM)
                return r;
        /* Not if it was hidden, or the recording came without the store's symbols. */
        m->is_damaged = r != -ENODATA && r != -ENOENT && r != -EBADF;
        return symbols_new(&m->symbols, NULL, 0);
}

int symbol_timeline_add(SymbolTimeline **a, uint64_t unchanged_ns, uint64_t from_ns,
                        Symbols *symbols) {
        *a = *a ?: NEW(SymbolTimeline, .dir = NULL);
        if (*a)
                return add_map(*a, (Map){ unchanged_ns, from_ns, NULL, symbols });
        (void) symbols_free(symbols);
        return -ENOMEM;
}

int symbol_timeline_open(SymbolTimeline **ret, const SessionDir *dir, const SessionMeta *meta) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NEW(SymbolTimeline, .dir = dir);
        Map first = {};
        int r;

        if (!a)
                return -ENOMEM;
        r = text_replace(&first.hash, meta->symbols);
        if (r >= 0)
                r = add_map(a, first);
        if (r >= 0)
                r = map_need(a, &a->maps[0]);
        if (r >= 0)
                r = symbol_timeline_refresh(a, meta);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(a);
        return 0;
}

int symbol_timeline_refresh(SymbolTimeline *a, const SessionMeta *meta) {
        int changed = 0;

        for (size_t i = a->n_maps - 1; i < meta->symbol_maps.n; i++) {
                const SymbolMap *map = &meta->symbol_maps.items[i];
                char *hash = strdup(map->symbols);
                int r;

                if (!hash)
                        return -ENOMEM;
                r = add_map(a, (Map){ map->unchanged_ns, map->from_ns, hash, NULL });
                if (r < 0)
                        return r;
                changed = 1;
        }
        return changed;
}

bool symbol_timeline_is_damaged(const SymbolTimeline *a) {
        for (size_t i = 0; i < a->n_maps; i++)
                if (a->maps[i].is_damaged)
                        return true;
        return false;
}

bool symbol_timeline_has_names(const SymbolTimeline *a) {
        const Symbols *first = a->maps[0].symbols;

        /* The first is dropped only when there are later ones, and was read to be dropped. */
        return !first || symbols_have_names(first);
}

int symbol_timeline_span(SymbolTimeline *a, uint64_t timestamp_ns, SymbolTimelineSpan *ret) {
        size_t older = 0, newer;
        uint64_t begin_ns, end_ns = UINT64_MAX;
        int r;

        while (older + 1 < a->n_maps && a->maps[older + 1].from_ns <= timestamp_ns)
                older++;
        newer = older;
        begin_ns = a->maps[older].from_ns;
        if (older + 1 < a->n_maps) {
                const Map *next = &a->maps[older + 1];

                end_ns = next->unchanged_ns;
                if (timestamp_ns >= end_ns) {
                        newer++;
                        begin_ns = next->unchanged_ns;
                        end_ns = next->from_ns;
                }
        }

        for (size_t i = 0; i < a->n_maps; i++)
                if (i != older && i != newer && a->maps[i].hash)
                        a->maps[i].symbols = symbols_free(a->maps[i].symbols);
        r = map_need(a, &a->maps[older]);
        if (r >= 0)
                r = map_need(a, &a->maps[newer]);
        if (r < 0)
                return r;
        *ret = (SymbolTimelineSpan){ begin_ns, end_ns, a->maps[older].symbols,
                                     a->maps[newer].symbols, false };
        return 0;
}

/* True if a function begins there: not data, nor the padding before a function, which has a symbol
 * too (linux 6.2 on, tools/objtool/elf.c, elf_create_prefix_symbol()).  Behind the beginning the call
 * of the tracer may follow another instruction or two. */
static bool begins(bool found, const Symbol *s, uint64_t address) {
        return found && strchr("tTwW", s->type) && !startswith(s->name, "__pfx_") &&
               address - s->address <= BEGINNING_BYTES_MAX;
}

bool symbol_timeline_span_find(SymbolTimelineSpan *s, uint64_t address, Symbol *ret) {
        Symbol older = {}, newer = {};
        bool has_older = symbols_find(s->older, address, &older), has_newer, in_older, in_newer;

        if (s->newer == s->older) {
                *ret = older;
                return has_older;
        }
        has_newer = symbols_find(s->newer, address, &newer);
        in_older = begins(has_older, &older, address);
        in_newer = begins(has_newer, &newer, address);
        if (in_newer && !in_older && newer.module)
                s->has_turned = true;
        if (in_older == in_newer)
                in_newer = has_older && has_newer ? s->has_turned : has_newer;
        *ret = in_newer ? newer : older;
        return has_older || has_newer;
}

SymbolTimeline *symbol_timeline_free(SymbolTimeline *a) {
        if (!a)
                return NULL;
        for (size_t i = 0; i < a->n_maps; i++) {
                free(a->maps[i].hash);
                (void) symbols_free(a->maps[i].symbols);
        }
        free(a->maps);
        return mfree(a);
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The kernel keeps 128 names unless told otherwise, and is asked at a context switch only. */
typedef char Comm[TASK_COMM_BYTES];

struct Tasks {
        Comm *comms;
        size_t n_comms;
        Hash by_pid; /* index + 1 */
};

/* "PID COMM", @n bytes without the newline. */
static bool parse_task(const char *line, size_t n, uint64_t *ret_pid, Comm *ret) {
        const char *comm = memchr(line, ' ', n);
        char *end;

        *ret_pid = strtoul(line, &end, 10);
        if (*line < '0' || *line > '9' || end != comm || *ret_pid > INT32_MAX)
                return false;
        (void) snprintf(*ret, sizeof(*ret), "%.*s", (int) (line + n - comm - 1), comm + 1);
        return true;
}

int tasks_new(Tasks **ret, const char *text) {
        _cleanup_(tasks_freep) Tasks *t = calloc(1, sizeof(*t));

        if (!t)
                return -ENOMEM;
        for (const char *line = text; line && *line;) {
                size_t n = strcspn(line, "\n");
                uint64_t pid;

                if (!ARRAY_GROW(t->comms, t->n_comms))
                        return -ENOMEM;
                /* Of two lines for one pid the later counts. */
                if (parse_task(line, n, &pid, &t->comms[t->n_comms]) &&
                    hash_set(&t->by_pid, pid, ++t->n_comms) < 0)
                        return -ENOMEM;
                line += n + (line[n] == '\n');
        }
        *ret = TAKE_PTR(t);
        return 0;
}

const char *tasks_comm(const Tasks *t, int32_t pid) {
        uint64_t i;

        if (pid == 0)
                return "<idle>";
        if (pid < 0)
                return "<XXX>";
        i = hash_get(&t->by_pid, (uint64_t) pid);
        return i > 0 ? t->comms[i - 1] : "<...>";
}

Tasks *tasks_free(Tasks *t) {
        if (!t)
                return NULL;
        free(t->comms);
        hash_done(&t->by_pid);
        return mfree(t);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names of what a recording has as numbers: addresses, and process ids. */

#include "base/array.h"
#include "base/hash.h"
#include "decode/names.h"

/* --- symbols ---------------------------------------------------------------------------------- */

/*
 * The text stays where it is; a symbol is its address and where its name begins.
 * Of 200,000 a recording meets a few hundred, so a part of the text (store/symbol-file.h)
 * is unpacked, parsed and sorted when an address is looked up that may be in it: the kernel's own
 * symbols are sorted, modules follow in any order, and a module's symbols are in none.
 * Where a name ends is found out when it is looked up.
 */

#define NAME_ENDS "\t\n \r"

typedef struct Entry {
        uint64_t address;
        uint32_t name; /* where it begins in the text: also the order of lines */
} Entry;

typedef struct Part {
        Entry *entries;
        bool is_read, is_damaged;
} Part;

/* Stacks ask for the same addresses again and again, and each time all parts would be looked at. */
#define RECENT_BITS 8
typedef struct Recent {
        uint64_t address;
        Symbol symbol; /* no name: nothing yet */
} Recent;

struct Symbols {
        SymbolParts is;
        Recent *recent;
        Part *parts; /* of each */
        Entry *entries;
        bool hidden;
};

static int compare_entries(const void *pa, const void *pb) {
        const Entry *a = pa, *b = pb;

        return CMP(a->address, b->address) ?: CMP(a->name, b->name);
}

/* False: it is not what the index says. */
static bool parse_part(const SymbolPart *is, Entry *entries, const char *text) {
        const char *line = text + is->text, *end = line + is->n_text, *name;
        bool is_sorted = true;
        Entry e, *to = entries, *last = to + is->n_symbols;

        while (line < end) {
                line = symbol_line_next(line, end, &e.address, &name);
                if (!name)
                        continue;
                if (to == last)
                        return false;
                e.name = (uint32_t) (name - text);
                is_sorted &= to == entries || to[-1].address <= e.address;
                *to++ = e;
        }
        if (!is_sorted)
                qsort(entries, (size_t) (to - entries), sizeof(e), compare_entries);
        return to == last &&
               (to == entries || (entries->address == is->low && to[-1].address == is->high));
}

/* Part @i; false if it has no symbols. */
static bool read_part(const Symbols *s, size_t i) {
        SymbolPart *is = &s->is.items[i];
        Part *p = &s->parts[i];

        if (!p->is_read) {
                p->is_damaged = (s->is.packed && symbol_parts_unpack(&s->is, i) < 0) ||
                                !parse_part(is, p->entries, s->is.text);
                if (p->is_damaged)
                        is->n_symbols = 0;
                p->is_read = true;
        }
        return is->n_symbols > 0;
}

bool symbols_are_damaged(const Symbols *s) {
        for (size_t i = 0; i < s->is.n; i++)
                if (s->parts[i].is_damaged)
                        return true;
        return false;
}

int symbols_take(Symbols **ret, SymbolParts *parts) {
        _cleanup_(symbols_freep) Symbols *s = NEW(Symbols, .is = TAKE(*parts, (SymbolParts){}));
        Entry *entries;
        uint64_t any = 0;

        if (!s) {
                symbol_parts_done(parts);
                return -ENOMEM;
        }
        s->parts = calloc(s->is.n ?: 1, sizeof(*s->parts));
        s->entries = entries = malloc((s->is.n_symbols ?: 1) * sizeof(*s->entries));
        s->recent = calloc(1U << RECENT_BITS, sizeof(*s->recent));
        if (!s->parts || !s->entries || !s->recent)
                return -ENOMEM;
        for (size_t i = 0; i < s->is.n; i++) {
                const SymbolPart *is = &s->is.items[i];

                s->parts[i].entries = entries;
                entries += is->n_symbols;
                any |= is->n_symbols > 0 ? is->high : 0;
        }
        s->hidden = any == 0;
        *ret = TAKE_PTR(s);
        return 0;
}

int symbols_new(Symbols **ret, char *text, size_t n_text) {
        SymbolParts parts;

        return symbol_parts_split(&parts, text, n_text, SYMBOL_PART_BYTES)
                       ?: symbols_take(ret, &parts);
}

bool symbols_have_names(const Symbols *s) {
        return !s->hidden;
}

static Symbol symbol_at(const Symbols *s, const Entry *e) {
        const char *name = s->is.text + e->name;
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

/* The first line of those whose address is the greatest up to @address, or the least behind it; NULL: there is none. */
static const Entry *find_entry(const Symbols *s, uint64_t address, bool behind) {
        uint64_t best = 0;
        size_t part = SIZE_MAX;
        const Entry *e;

        for (size_t i = 0; i < s->is.n; i++) {
                const SymbolPart *is = &s->is.items[i];
                uint64_t at = behind ? is->low : is->high;

                if (is->n_symbols == 0 || (behind ? is->high <= address : is->low > address))
                        continue;
                if (behind ? at <= address : at > address) {
                        if (!read_part(s, i))
                                continue;
                        e = s->parts[i].entries;
                        at = e[BISECT(0, is->n_symbols, k, e[k].address <= address) - !behind]
                                     .address;
                }
                if (part == SIZE_MAX || (behind ? at < best : at > best)) {
                        part = i;
                        best = at;
                }
        }
        if (part == SIZE_MAX || !read_part(s, part))
                return NULL;
        e = s->parts[part].entries;
        return e + BISECT(0, s->is.items[part].n_symbols, k, e[k].address < best);
}

bool symbols_find(const Symbols *s, uint64_t address, Symbol *ret) {
        Recent *recent = &s->recent[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
        const Entry *e;
        Symbol next;

        if (recent->symbol.name && recent->address == address) {
                *ret = recent->symbol;
                return true;
        }
        e = s->hidden ? NULL : find_entry(s, address, false);
        if (!e || address - e->address > SYMBOL_BYTES_MAX)
                return false;
        *ret = symbol_at(s, e);
        /* get_symbol_pos() and find_kallsyms_symbol(): where the next one of the same module begins. */
        if (symbols_find_behind(s, e->address, &next) && next.n_module == ret->n_module &&
            memcmp(next.module ?: "", ret->module ?: "", next.n_module) == 0)
                ret->n_bytes = next.address - ret->address;
        *recent = (Recent){ address, *ret };
        return true;
}

bool symbols_find_behind(const Symbols *s, uint64_t address, Symbol *ret) {
        const Entry *e = s->hidden ? NULL : find_entry(s, address, true);

        if (e)
                *ret = symbol_at(s, e);
        return e != NULL;
}

bool symbols_find_name(const Symbols *s, const char *name, Symbol *ret) {
        bool is_irqentry = startswith(name, SYMBOL_IRQENTRY);
        const Entry *first = NULL;
        size_t n = strlen(name);

        for (size_t i = 0; i < s->is.n; i++) {
                if ((is_irqentry && !s->is.items[i].has_irqentry) || !read_part(s, i))
                        continue;
                for (size_t k = 0; k < s->is.items[i].n_symbols; k++) {
                        const Entry *e = &s->parts[i].entries[k];
                        const char *at = s->is.text + e->name;

                        if (strncmp(at, name, n) == 0 && strchr(NAME_ENDS, at[n]) &&
                            (!first || compare_entries(e, first) < 0))
                                first = e;
                }
        }
        if (first)
                *ret = symbol_at(s, first);
        return first;
}

Symbols *symbols_free(Symbols *s) {
        if (!s)
                return NULL;
        symbol_parts_done(&s->is);
        free(s->parts);
        free(s->entries);
        free(s->recent);
        return mfree(s);
}

/* --- timeline --------------------------------------------------------------------------------- */

/*
 * A map is some 10 MB in memory and is asked for the time of one span only, and
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

/* Not if it was hidden, or the recording came without the store's symbols. */
static bool is_damage(int r) {
        return r < 0 && r != -ENODATA && r != -ENOENT && r != -EBADF;
}

/* Empty if it cannot be had: names are addresses then. */
static int map_need(const SymbolTimeline *a, Map *m) {
        SymbolParts parts;
        int r;

        if (m->symbols)
                return 0;
        r = session_dir_load_symbols(a->dir, m->hash, &parts) ?: symbols_take(&m->symbols, &parts);
        if (r >= 0 || r == -ENOMEM)
                return r;
        m->is_damaged |= is_damage(r);
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
                if (a->maps[i].is_damaged ||
                    (a->maps[i].symbols && symbols_are_damaged(a->maps[i].symbols)))
                        return true;
        return false;
}

int symbol_timeline_check(SymbolTimeline *a) {
        for (size_t i = 0; i < a->n_maps; i++) {
                _cleanup_free_ char *text = NULL;
                size_t n;
                int r = a->maps[i].hash
                                ? session_dir_read_symbols(a->dir, a->maps[i].hash, &text, &n)
                                : 0;

                if (r == -ENOMEM)
                        return r;
                a->maps[i].is_damaged |= is_damage(r);
        }
        return 0;
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
                if (i != older && i != newer && a->maps[i].hash && a->maps[i].symbols) {
                        a->maps[i].is_damaged |= symbols_are_damaged(a->maps[i].symbols);
                        a->maps[i].symbols = symbols_free(a->maps[i].symbols);
                }
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

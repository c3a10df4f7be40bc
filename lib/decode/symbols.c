/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The text stays where it is; a symbol is its address and where its name begins.
 * kallsyms is nearly sorted (the kernel's own symbols are, modules follow in any
 * order), so only what comes after the sorted beginning is sorted, and the two
 * are merged.  Where a name ends is found out when it is looked up: of 200,000 a
 * recording meets a few hundred.
 */

#include "base/array.h"
#include "decode/symbols.h"

#define NAME_ENDS "\t\n \r"

typedef struct Entry {
        uint64_t address;
        uint32_t name; /* where it begins in the text: also the order of lines */
} Entry;

struct Symbols {
        char *text;
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

        if (a->address != b->address)
                return a->address < b->address ? -1 : 1;
        return a->name < b->name ? -1 : a->name > b->name;
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

/* "ADDRESS T NAME": true and where the name begins, if the line is one. */
static inline bool parse_line(const char *p, uint64_t *ret_address, const char **ret_name) {
        uint64_t address = 0;
        int n = 0;

        while (hex_values[(unsigned char) *p] && n < 16) {
                address = address << 4 | (uint64_t) (hex_values[(unsigned char) *p] - 1);
                p++;
                n++;
        }
        if (n == 0 || p[0] != ' ' || p[1] <= ' ' || p[2] != ' ' || (unsigned char) p[3] <= ' ')
                return false;
        *ret_address = address;
        *ret_name = p + 3;
        return true;
}

int symbols_new(Symbols **ret, char *text, size_t n_text) {
        _cleanup_(symbols_freep) Symbols *s = NEW(Symbols, .text = text);
        uint64_t any = 0;
        size_t n_room;
        int r;

        if (!s) {
                free(text);
                return -ENOMEM;
        }
        if (text) {
                const char *line = text, *end = text + n_text;

                if (n_text >= INT32_MAX)
                        return ORIGIN(-EFBIG);
                n_room = n_text / 32 + 64; /* a line is longer on average */
                s->entries = malloc(n_room * sizeof(*s->entries));
                if (!s->entries)
                        return -ENOMEM;
                while (line < end) {
                        const char *name, *newline;
                        uint64_t address;

                        if (parse_line(line, &address, &name)) {
                                if (!ARRAY_ROOM(s->entries, n_room, s->n_entries + 1))
                                        return -ENOMEM;
                                s->entries[s->n_entries++] =
                                        (Entry){ address, (uint32_t) (name - text) };
                                any |= address;
                                line = name;
                        }
                        newline = memchr(line, '\n', (size_t) (end - line));
                        if (!newline)
                                break;
                        line = newline + 1;
                }
                r = sort_entries(s);
                if (r < 0)
                        return r;
        }
        s->hidden = s->n_entries > 0 && any == 0;
        *ret = TAKE_PTR(s);
        return 0;
}

bool symbols_are_hidden(const Symbols *s) {
        return s->hidden;
}

size_t symbols_n(const Symbols *s) {
        return s->n_entries;
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

bool symbol_is_function(const Symbol *s) {
        return strchr("tTwW", s->type) && !startswith(s->name, "__pfx_");
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

        if (s->hidden || s->n_entries == 0 || s->entries[0].address > address)
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

        if (s->hidden || s->n_entries == 0)
                return false;
        if (s->entries[0].address <= address)
                i = find_entry(s, address) + 1;
        if (i == s->n_entries)
                return false;
        *ret = symbol_at(s, &s->entries[i]);
        return true;
}

bool symbols_find_name(const Symbols *s, const char *name, Symbol *ret) {
        size_t n = strlen(name);

        for (size_t i = 0; i < s->n_entries; i++) {
                const char *p = s->text + s->entries[i].name;

                /* The first byte decides nearly always. */
                if (*p == *name && strcspn(p, NAME_ENDS) == n && memcmp(p, name, n) == 0) {
                        *ret = symbol_at(s, &s->entries[i]);
                        return true;
                }
        }
        return false;
}

Symbols *symbols_free(Symbols *s) {
        if (!s)
                return NULL;
        free(s->entries);
        free(s->text);
        return mfree(s);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Mutators that know what an input is made of: lines, JSON, pages of a ring buffer.
 *
 * A target's LLVMFuzzerCustomMutator() calls one of them.  Where there is no libFuzzer replay.c calls it a few times for
 * each file of the corpus, with the same seeds always.
 */

#include <endian.h>
#include <jansson.h>

#include "fuzz.h"

#define FUZZ_PAGE ((size_t) 4096)
#define FUZZ_PAGE_HEADER 16

static inline size_t fuzz_random(unsigned *seed, size_t n) {
        *seed = *seed * 1664525U + 1013904223U;
        return n > 0 ? (*seed >> 8) % n : 0;
}

/* --- pieces ----------------------------------------------------------------------------------- */

typedef struct FuzzPiece {
        size_t at, n;
} FuzzPiece;

/* Instead of @to what is at @from; its bytes are between others then.  The new length. */
static inline size_t fuzz_put_piece(uint8_t *data, size_t n, size_t max, FuzzPiece from, FuzzPiece to) {
        _cleanup_free_ uint8_t *copy = fuzz_copy(data + from.at, from.n);

        if (n - to.n + from.n > max)
                return n;
        memmove(data + to.at + from.n, data + to.at + to.n, n - to.at - to.n);
        memcpy(data + to.at, copy, from.n);
        return n - to.n + from.n;
}

/* Takes one away, doubles one, or puts one before or instead of another. */
static inline size_t fuzz_move_pieces(uint8_t *data, size_t n, size_t max, FuzzPiece a, FuzzPiece b,
                                      unsigned *seed) {
        switch (fuzz_random(seed, 3)) {
        case 0:
                return fuzz_put_piece(data, n, max, (FuzzPiece){ a.at, 0 }, a);
        case 1:
                return fuzz_put_piece(data, n, max, a, (FuzzPiece){ b.at, 0 });
        default:
                return fuzz_put_piece(data, n, max, a, b);
        }
}

/* --- lines ------------------------------------------------------------------------------------ */

static inline FuzzPiece fuzz_line(const uint8_t *data, size_t n, unsigned *seed) {
        size_t at = fuzz_random(seed, n);
        const uint8_t *end;

        while (at > 0 && data[at - 1] != '\n')
                at--;
        end = memchr(data + at, '\n', n - at);
        return (FuzzPiece){ at, end ? (size_t) (end + 1 - data) - at : n - at };
}

/* Part of the line, from one blank to another one. */
static inline FuzzPiece fuzz_column(const uint8_t *data, FuzzPiece line, unsigned *seed) {
        size_t at = line.at + fuzz_random(seed, line.n), end = at;

        while (at > line.at && data[at - 1] != ' ')
                at--;
        while (end < line.at + line.n && data[end] != ' ' && data[end] != '\n')
                end++;
        return (FuzzPiece){ at, end - at };
}

static inline size_t fuzz_mutate_lines(uint8_t *data, size_t n, size_t max, unsigned seed) {
        FuzzPiece a, b;

        if (n == 0 || fuzz_random(&seed, 4) == 0)
                return LLVMFuzzerMutate(data, n, max);
        a = fuzz_line(data, n, &seed);
        b = fuzz_line(data, n, &seed);
        if (fuzz_random(&seed, 2) == 0) {
                a = fuzz_column(data, a, &seed);
                b = fuzz_column(data, b, &seed);
        }
        return fuzz_move_pieces(data, n, max, a, b, &seed);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* A value of a document, and how one gets there. */
typedef struct FuzzNode {
        json_t *parent, *value;
        const char *key; /* NULL: in an array, at */
        size_t at;
} FuzzNode;

static inline void fuzz_list_nodes(json_t *parent, FuzzNode *nodes, size_t *n, size_t n_max) {
        const char *key;
        json_t *value;
        size_t i;

        json_object_foreach(parent, key, value) {
                if (*n < n_max)
                        nodes[(*n)++] = (FuzzNode){ parent, value, key, 0 };
                fuzz_list_nodes(value, nodes, n, n_max);
        }
        json_array_foreach(parent, i, value) {
                if (*n < n_max)
                        nodes[(*n)++] = (FuzzNode){ parent, value, NULL, i };
                fuzz_list_nodes(value, nodes, n, n_max);
        }
}

static inline json_t *fuzz_json_value(const json_t *other, unsigned *seed) {
        static const json_int_t numbers[] = { 0, 1, -1, 2, 64, 4096, UINT32_MAX, INT64_MAX, INT64_MIN };

        switch (fuzz_random(seed, 8)) {
        case 0:
                return json_true();
        case 1:
                return json_null();
        case 2:
                return json_string("");
        case 3:
                return json_real(1e308);
        case 4:
                return json_pack("[o]", json_deep_copy(other));
        case 5:
                return json_integer(numbers[fuzz_random(seed, ELEMENTSOF(numbers))]);
        default:
                return json_deep_copy(other);
        }
}

static inline void fuzz_change_json(json_t *root, unsigned *seed) {
        FuzzNode nodes[512];
        const FuzzNode *a, *b;
        size_t n = 0;

        fuzz_list_nodes(root, nodes, &n, ELEMENTSOF(nodes));
        if (n == 0)
                return;
        a = &nodes[fuzz_random(seed, n)];
        b = &nodes[fuzz_random(seed, n)];
        switch (fuzz_random(seed, 4)) {
        case 0:
                (void) (a->key ? json_object_del(a->parent, a->key)
                               : json_array_remove(a->parent, a->at));
                return;
        case 1: /* a member that is known, elsewhere */
                if (json_is_object(a->parent) && b->key)
                        (void) json_object_set_new(a->parent, b->key, json_deep_copy(b->value));
                else if (json_is_array(a->parent))
                        (void) json_array_insert_new(a->parent, a->at, json_deep_copy(b->value));
                return;
        default:
                (void) (a->key ? json_object_set_new(a->parent, a->key, fuzz_json_value(b->value, seed))
                               : json_array_set_new(a->parent, a->at, fuzz_json_value(b->value, seed)));
        }
}

static inline size_t fuzz_mutate_json(uint8_t *data, size_t n, size_t max, unsigned seed) {
        _cleanup_free_ char *text = NULL;
        json_t *root = NULL;
        size_t n_text;

        if (fuzz_random(&seed, 4) > 0)
                root = json_loadb((const char *) data, n, JSON_ALLOW_NUL, NULL);
        if (!root)
                return LLVMFuzzerMutate(data, n, max);
        for (size_t i = fuzz_random(&seed, 3) + 1; i > 0; i--)
                fuzz_change_json(root, &seed);
        text = json_dumps(root, JSON_COMPACT);
        json_decref(root);
        n_text = text ? strlen(text) : 0;
        if (n_text == 0 || n_text > max)
                return n;
        memcpy(data, text, n_text);
        return n_text;
}

/* --- pages ------------------------------------------------------------------------------------ */

static inline uint32_t fuzz_u32(const uint8_t *p) {
        uint32_t v;

        memcpy(&v, p, sizeof(v));
        return le32toh(v);
}

static inline void fuzz_put_u32(uint8_t *p, uint32_t v) {
        v = htole32(v);
        memcpy(p, &v, sizeof(v));
}

/* Source: linux 6.12 include/linux/ring_buffer.h; of little endian. */
static inline size_t fuzz_event_bytes(const uint8_t *event) {
        uint32_t type_len = fuzz_u32(event) & 31;

        if (type_len >= 30)
                return 8;
        if (type_len == 0 || type_len == 29)
                return 4 + (size_t) (fuzz_u32(event + 4) & 0xffc);
        return 4 + 4 * (size_t) type_len;
}

/* One of a page, of eight bytes at least. */
static inline FuzzPiece fuzz_event(const uint8_t *page, unsigned *seed) {
        size_t at = FUZZ_PAGE_HEADER, next = at;

        for (size_t i = fuzz_random(seed, 100) + 1; i > 0 && next + 8 <= FUZZ_PAGE; i--) {
                at = next;
                next += fuzz_event_bytes(page + at);
        }
        next = MAX(next, at + 8);
        return (FuzzPiece){ at, MIN(next, FUZZ_PAGE) - at };
}

static inline void fuzz_change_page(uint8_t *page, unsigned *seed) {
        static const uint32_t commits[] = { 0, 4, 8, 4076, 4080, 4081, 4096, UINT32_MAX, 1U << 31 | 4080, 3U << 30 };
        FuzzPiece event = fuzz_event(page, seed);
        uint32_t word = fuzz_u32(page + event.at);

        switch (fuzz_random(seed, 6)) {
        case 0:
                fuzz_put_u32(page + 8, commits[fuzz_random(seed, ELEMENTSOF(commits))]);
                return;
        case 1: /* the page's time */
                page[fuzz_random(seed, 8)] ^= 1U << fuzz_random(seed, 8);
                return;
        case 2:
                fuzz_put_u32(page + event.at, (word & ~31U) | (uint32_t) fuzz_random(seed, 32));
                return;
        case 3:
                fuzz_put_u32(page + event.at, (word & 31) | (fuzz_random(seed, 2) ? ~31U : 0));
                return;
        case 4:
                fuzz_put_u32(page + event.at + 4, commits[fuzz_random(seed, ELEMENTSOF(commits))]);
                return;
        default:
                (void) LLVMFuzzerMutate(page + event.at, event.n, event.n);
        }
}

/* Pages begin @skip bytes behind the beginning. */
static inline size_t fuzz_mutate_pages(uint8_t *data, size_t n, size_t max, size_t skip, unsigned seed) {
        size_t n_pages = n > skip ? (n - skip) / FUZZ_PAGE : 0;
        FuzzPiece a, b;

        if (n_pages == 0 || fuzz_random(&seed, 8) == 0)
                return LLVMFuzzerMutate(data, n, max);
        a = (FuzzPiece){ skip + fuzz_random(&seed, n_pages) * FUZZ_PAGE, FUZZ_PAGE };
        b = (FuzzPiece){ skip + fuzz_random(&seed, n_pages) * FUZZ_PAGE, FUZZ_PAGE };
        if (fuzz_random(&seed, 4) == 0)
                return fuzz_move_pieces(data, n, max, a, b, &seed);
        fuzz_change_page(data + a.at, &seed);
        return n;
}

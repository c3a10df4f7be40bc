/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Arrays that grow, and lists of strings
 *
 * All are false without memory, and the array is as it was then; else it may have moved.
 *
 *      ARRAY_GROW(items, n)            room for one more than n
 *      ARRAY_ADD(items, n, item)       the same, and it is added
 *      ARRAY_ROOM(items, n_room, n)    room for n, of which there is n_room
 *      ARRAY_REACH(items, n, i)        items[i] is there, n says how many are; new ones are zeroes
 *
 * The first two need no more than the number of items: the room is the next power of two.  It is for
 * arrays that grew by it alone, and that do not shrink and grow all the time.
 */

#include "base/cleanup.h"

/* Behind the macros, where there is no room; NULL without memory. */
_cold_ void *array_resize(void *items, size_t n_room, size_t n_max, size_t item_bytes);

/* malloc() of what is filled from end to end: in huge pages, where the kernel has them. */
void *malloc_huge(size_t n);

static inline size_t array_next_room(size_t n_room, size_t n) {
        n_room = n_room ? n_room * 2 : 16;
        return MAX(n_room, n);
}

#define ARRAY_GROW(items, n)                                                                       \
        ({                                                                                         \
                size_t _n = (n);                                                                   \
                void *_p = (items);                                                                \
                if ((_n & (_n - 1)) == 0) {                                                        \
                        _p = array_resize(_p, _n ? _n * 2 : 1, SIZE_MAX, sizeof(*(items)));        \
                        if (_p)                                                                    \
                                (items) = _p;                                                      \
                }                                                                                  \
                _p != NULL;                                                                        \
        })

#define ARRAY_ADD(items, n, ...)                                                                   \
        (ARRAY_GROW((items), (n)) ? ((items)[(n)++] = (__VA_ARGS__), true) : false)

#define ARRAY_ROOM(items, n_room, n)                                                               \
        ({                                                                                         \
                size_t _n = (n);                                                                   \
                bool _has = _n <= (size_t) (n_room);                                               \
                if (_unlikely_(!_has)) {                                                           \
                        size_t _room = array_next_room((size_t) (n_room), _n);                     \
                        size_t _n_max = sizeof(n_room) < sizeof(size_t) ? INT32_MAX : SIZE_MAX;    \
                        void *_p = array_resize((items), _room, _n_max, sizeof(*(items)));         \
                        _has = _p != NULL;                                                         \
                        if (_has) {                                                                \
                                (items) = _p;                                                      \
                                (n_room) = (typeof(n_room)) _room;                                 \
                        }                                                                          \
                }                                                                                  \
                _has;                                                                              \
        })

#define ARRAY_REACH(items, n, i)                                                                   \
        ({                                                                                         \
                size_t _i = (size_t) (i), _before = (n), _all = _before;                           \
                bool _reached = ARRAY_ROOM((items), _all, _i + 1);                                 \
                if (_unlikely_(_all > _before)) {                                                  \
                        memset((items) + _before, 0, (_all - _before) * sizeof(*(items)));         \
                        (n) = (typeof(n)) _all;                                                    \
                }                                                                                  \
                _reached;                                                                          \
        })

/* A list of strings, which it owns; `(Strv) {}` is an empty one.  Those that return an int return 0 or -ENOMEM. */
typedef struct Strv {
        char **items; /* none is NULL, but items[n] */
        size_t n;
        size_t n_room; /* strings that fit before it must grow, with the NULL */
} Strv;

int strv_add(Strv *v, const char *s); /* a copy, like most of these */
int strv_addn(Strv *v, const char *s, size_t n);
int strv_addf(Strv *v, const char *format, ...) _printf_(2, 3);
int strv_take(Strv *v, char *s);          /* consumes @s, also on failure */
char *strv_take_first(Strv *v);           /* of one that has any; the caller frees */
int strv_add_new(Strv *v, const char *s); /* unless it is there */
int strv_replace(Strv *v, size_t i, const char *s);
int strv_copy(Strv *ret, const Strv *v);
int strv_copy_sorted(Strv *ret, const Strv *v); /* and strv_sort_unique() of the copy */
int strv_extend(Strv *v, const Strv *words);
/* Adds those of @words that are in @sorted, one that strv_sort_unique() left, or those that are not. */
int strv_pick(Strv *v, const Strv *words, const Strv *sorted, bool in_both);
/* Adds every word of @s, split at any of @separators; empty words are skipped. */
int strv_split(Strv *v, const char *s, const char *separators);
/* What is in parentheses is one part of a word. */
int strv_split_outside(Strv *v, const char *s, const char *separators);
bool strv_contains(const Strv *v, const char *s);
bool strv_finds(const Strv *sorted, const char *s);    /* in one that strv_sort_unique() left */
bool strv_equal(const Strv *a, const Strv *b);         /* as ordered lists */
void strv_sort_unique(Strv *v);                        /* byte order */
char *strv_join(const Strv *v, const char *separator); /* the caller frees; NULL without memory */
void strv_done(Strv *v);
#define _cleanup_strv_ _cleanup_(strv_done)

/* A copy of @s, which may be NULL, in the place of *@at.  0, or -ENOMEM and nothing has changed. */
static inline int text_replace(char **at, const char *s) {
        char *copy = s ? strdup(s) : NULL;

        if (s && !copy)
                return -ENOMEM;
        free(*at);
        *at = copy;
        return 0;
}

/* asprintf() that returns 0, or -ENOMEM and *@ret is NULL; the caller frees it. */
#define text_format(ret, ...) (asprintf((ret), __VA_ARGS__) < 0 ? (*(ret) = NULL, -ENOMEM) : 0)

/* Which of @n words @s is; -EINVAL: none. */
static inline int text_find(const char *const *words, size_t n, const char *s) {
        for (size_t i = 0; i < n; i++)
                if (streq(words[i], s))
                        return (int) i;
        return ORIGIN(-EINVAL);
}

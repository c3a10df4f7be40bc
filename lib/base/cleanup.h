/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Ownership in declarations
 *
 * Everything acquired is declared with its cleanup on the same line and leaves
 * the function only through TAKE_PTR() or TAKE_FD().  A destructor `x_free()`
 * accepts NULL and returns NULL; DEFINE_CLEANUP() makes the `x_freep()` that
 * _cleanup_() wants from it.
 */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/origin.h"

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _noreturn_ __attribute__((noreturn))
#define _always_inline_ inline __attribute__((always_inline))
#define _noinline_ __attribute__((noinline))
#define _cold_                                                                                     \
        __attribute__((cold, noinline)) /* seldom called, and not worth a caller's registers */
#define _likely_(x) __builtin_expect(!!(x), 1)
#define _unlikely_(x) __builtin_expect(!!(x), 0)

/* gcc's word, for clang. */
#if defined(__has_feature) && !defined(__SANITIZE_ADDRESS__)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))

#define MIN(a, b)                                                                                  \
        ({                                                                                         \
                typeof(a) _a = (a);                                                                \
                typeof(b) _b = (b);                                                                \
                _a < _b ? _a : _b;                                                                 \
        })
#define MAX(a, b)                                                                                  \
        ({                                                                                         \
                typeof(a) _a = (a);                                                                \
                typeof(b) _b = (b);                                                                \
                _a > _b ? _a : _b;                                                                 \
        })

/* As what qsort(3) compares by returns it: less than 0 if @a comes first, 0 if neither does. */
#define CMP(a, b)                                                                                  \
        ({                                                                                         \
                typeof(a) _a = (a);                                                                \
                typeof(b) _b = (b);                                                                \
                (_a > _b) - (_a < _b);                                                             \
        })
/* qsort(3), also of no items at all, which may be NULL then. */
#define SORT(items, n, compare)                                                                    \
        ({                                                                                         \
                size_t _n = (n);                                                                   \
                if (_n > 0)                                                                        \
                        qsort((items), _n, sizeof(*(items)), (compare));                           \
        })

/* Sums stop at the largest number. */
static inline uint64_t add_capped(uint64_t a, uint64_t b) {
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#define SWAP(a, b)                                                                                 \
        ({                                                                                         \
                typeof(a) _t = (a);                                                                \
                (a) = (b);                                                                         \
                (b) = _t;                                                                          \
        })

/* Where in [@from, @to] that part ends of which @is_before, an expression of @i, is true. */
#define BISECT(from, to, i, is_before)                                                             \
        ({                                                                                         \
                size_t _from = (from), _to = (to);                                                 \
                while (_from < _to) {                                                              \
                        size_t i = _from + (_to - _from) / 2;                                      \
                        if (is_before)                                                             \
                                _from = i + 1;                                                     \
                        else                                                                       \
                                _to = i;                                                           \
                }                                                                                  \
                _from;                                                                             \
        })

#define TAKE(x, nothing)                                                                           \
        ({                                                                                         \
                typeof(x) *_p = &(x);                                                              \
                typeof(x) _x = *_p;                                                                \
                *_p = (nothing);                                                                   \
                _x;                                                                                \
        })
#define TAKE_PTR(p) TAKE(p, NULL)
#define TAKE_FD(fd) TAKE(fd, -EBADF)

/* The first of a list whose items have a `next`, which is out of it then; NULL: it is empty. */
#define POP(first)                                                                                 \
        ({                                                                                         \
                typeof(first) _first = (first);                                                    \
                if (_first)                                                                        \
                        (first) = _first->next;                                                    \
                _first;                                                                            \
        })

#define DEFINE_CLEANUP(type, func)                                                                 \
        static inline void func##p(type *p) {                                                      \
                if (*p)                                                                            \
                        *p = func(*p);                                                             \
        }                                                                                          \
        struct _cleanup_needs_a_semicolon

static inline void freep(void *p) {
        free(*(void **) p);
}

/* One on the heap, with these members and zeroes; NULL without memory. */
#define NEW(type, ...)                                                                             \
        ({                                                                                         \
                type *_new = malloc(sizeof(type));                                                 \
                if (_new)                                                                          \
                        *_new = (type){ __VA_ARGS__ };                                             \
                _new;                                                                              \
        })

/* For the end of a destructor. */
static inline void *mfree(void *p) {
        free(p);
        return NULL;
}

static inline int safe_close(int fd) {
        if (fd >= 0)
                (void) close(fd);
        return -EBADF;
}

static inline void closep(int *fd) {
        *fd = safe_close(*fd);
}

static inline void fclosep(FILE **f) {
        if (*f)
                (void) fclose(*f);
}

static inline void closedirp(DIR **d) {
        if (*d)
                (void) closedir(*d);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)

static inline int streq(const char *a, const char *b) {
        return strcmp(a, b) == 0;
}

/* streq() for pointers that may be NULL; NULL equals NULL alone. */
static inline int streq_ptr(const char *a, const char *b) {
        return a && b ? streq(a, b) : a == b;
}

/* The rest of @s after @prefix, or NULL if it does not begin with it. */
static inline const char *startswith(const char *s, const char *prefix) {
        size_t n = strlen(prefix);

        return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

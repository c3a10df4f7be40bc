/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Arrays that grow
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

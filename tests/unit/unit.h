/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A suite of unit tests, named as its file: `UNIT_SUITE("page", test_a, test_b)` in test-page.c. */

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Of this machine.  Pages, records and files that tests build are little-endian unless said. */
#define HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* Check writes each assertion that holds to a file, so that it can say behind which one a test crashed.  In
 * loops that was most of what tests cost: a line is written when it is reached for the first time. */
static inline void mark_line_once(const char *file, int line) {
        static bool is_marked[4096];

        if (line >= (int) (sizeof(is_marked) / sizeof(is_marked[0])) || !is_marked[line])
                _mark_point(file, line);
        if (line < (int) (sizeof(is_marked) / sizeof(is_marked[0])))
                is_marked[line] = true;
}

#define _mark_point(file, line) mark_line_once(file, line)

/* Adds a suite to the program that it is linked to. */
typedef Suite *(*UnitSuite)(void);
void unit_add(const char *name, UnitSuite make);

#define UNIT_SUITE(name, ...)                                                                      \
        static Suite *unit_make(void) {                                                            \
                const TTest *tests[] = { __VA_ARGS__ };                                            \
                Suite *suite = suite_create(name);                                                 \
                TCase *tcase = tcase_create(name);                                                 \
                                                                                                   \
                tcase_set_timeout(tcase, 240); /* a busy disk, sanitizers */                       \
                for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                      \
                        tcase_add_test(tcase, tests[i]);                                           \
                suite_add_tcase(suite, tcase);                                                     \
                return suite;                                                                      \
        }                                                                                          \
        __attribute__((constructor)) static void unit_add_this(void) {                             \
                unit_add(name, unit_make);                                                         \
        }

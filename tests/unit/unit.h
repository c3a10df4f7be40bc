/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A file's tests are a suite that is named as the file, "page" in test-page.c, and are run in its order. */

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

/* Adds a test to the suite of @file. */
void unit_add(const char *file, const TTest *test);

/* TEST(it_does_so) { ... } */
#define TEST(name)                                                                                 \
        static void name##_fn(int _i);                                                             \
        static const TTest name##_test = { #name, name##_fn, __FILE__, __LINE__ };                 \
        __attribute__((constructor)) static void name##_add(void) {                                \
                unit_add(__FILE__, &name##_test);                                                  \
        }                                                                                          \
        static void name##_fn(__attribute__((unused)) int _i)

/* Of tests between START_TEST() and END_TEST. */
#define UNIT_SUITE(name, ...)                                                                      \
        __attribute__((constructor)) static void unit_add_all(void) {                              \
                const TTest *tests[] = { __VA_ARGS__ };                                            \
                                                                                                   \
                for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                      \
                        unit_add(__FILE__, tests[i]);                                              \
        }

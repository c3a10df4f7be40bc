/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A unit test's main: `UNIT_MAIN("page", test_a, test_b)` runs them with check and prints TAP. */

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

#define UNIT_MAIN(name, ...)                                                                       \
        int main(void) {                                                                           \
                const TTest *tests[] = { __VA_ARGS__ };                                            \
                Suite *suite = suite_create(name);                                                 \
                TCase *tcase = tcase_create(name);                                                 \
                SRunner *runner;                                                                   \
                int n_failed;                                                                      \
                                                                                                   \
                tcase_set_timeout(tcase, 240); /* a busy disk, sanitizers */                       \
                for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                      \
                        tcase_add_test(tcase, tests[i]);                                           \
                suite_add_tcase(suite, tcase);                                                     \
                runner = srunner_create(suite);                                                    \
                srunner_run_all(runner, CK_ENV);                                                   \
                n_failed = srunner_ntests_failed(runner);                                          \
                srunner_free(runner);                                                              \
                return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;                                     \
        }

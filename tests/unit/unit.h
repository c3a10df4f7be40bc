/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A unit test's main: `UNIT_MAIN("page", test_a, test_b)` runs them with check and prints TAP. */

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

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

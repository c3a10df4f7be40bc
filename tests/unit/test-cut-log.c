/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "base/io.h"
#include "store/session-dir.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

static Scratch scratch;
static SessionDir *dir;

static void setup(void) {
        scratch = scratch_new();
        ck_assert_int_eq(session_dir_create(&dir, scratch.fd, "it"), 0);
}

static void teardown(void) {
        dir = session_dir_free(dir);
        scratch_done(&scratch);
}

static Cut cut_of(uint64_t sequence) {
        return (Cut){ sequence, { sequence + 1, sequence + 2, sequence + 3, UINT64_C(1) << 60 } };
}

START_TEST(what_is_appended_is_read_in_order)
        {
                _cleanup_free_ Cut *cuts = NULL;
                size_t n;

                setup();
                for (uint64_t i = 0; i < 40; i++) {
                        Cut c = cut_of(2 * i);

                        ck_assert_int_eq(cut_log_append(dir, &c), 0);
                }
                ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
                ck_assert_uint_eq(n, 40);
                for (uint64_t i = 0; i < 40; i++) {
                        Cut c = cut_of(2 * i);

                        ck_assert_mem_eq(&cuts[i], &c, sizeof(c));
                }
                teardown();
        }
END_TEST

START_TEST(no_file_is_an_empty_log)
        {
                _cleanup_free_ Cut *cuts = NULL;
                size_t n = 7;

                setup();
                ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
                ck_assert_uint_eq(n, 0);
                teardown();
        }
END_TEST

START_TEST(a_replaced_log_says_only_the_new)
        {
                _cleanup_free_ Cut *cuts = NULL;
                Cut all[] = { cut_of(0), cut_of(1), cut_of(2) };
                size_t n;

                setup();
                for (size_t i = 0; i < 3; i++)
                        ck_assert_int_eq(cut_log_append(dir, &all[i]), 0);
                ck_assert_int_eq(cut_log_replace(dir, all + 2, 1), 0);
                ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
                ck_assert_uint_eq(n, 1);
                ck_assert_uint_eq(cuts[0].sequence, 2);
                teardown();
        }
END_TEST

START_TEST(a_line_that_is_none_ends_the_log)
        {
                static const char *const bad[] = {
                        "3 1 2 3",
                        "3 1 2 3\n",
                        "3 1 2 3 4 5\n",
                        "x 1 2 3 4\n",
                        "3 1 2 3 4",
                        "1 1 2 3 4\n",
                        "\n",
                        "3  1 2 3 4\n",
                        "-3 1 2 3 4\n",
                        "99999999999 1 2 3 4\n",
                };

                for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                        _cleanup_free_ Cut *cuts = NULL;
                        char text[128];
                        size_t n;

                        setup();
                        (void) snprintf(text, sizeof(text), "1 5 6 7 8\n%s", bad[i]);
                        ck_assert_int_eq(
                                file_replace(session_dir_fd(dir), "cuts", text, strlen(text), 0600),
                                0);
                        ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
                        ck_assert_uint_eq(n, 1);
                        teardown();
                }
        }
END_TEST

START_TEST(a_symbolic_link_is_not_followed)
        {
                _cleanup_free_ Cut *cuts = NULL;
                Cut c = cut_of(0);
                size_t n;

                setup();
                ck_assert_int_eq(symlinkat("elsewhere", session_dir_fd(dir), "cuts"), 0);
                ck_assert_int_lt(cut_log_append(dir, &c), 0);
                ck_assert_int_lt(cut_log_read(dir, &cuts, &n), 0);
                ck_assert_int_lt(faccessat(session_dir_fd(dir), "elsewhere", F_OK, 0), 0);
                teardown();
        }
END_TEST

UNIT_SUITE("cut-log", what_is_appended_is_read_in_order, no_file_is_an_empty_log,
           a_replaced_log_says_only_the_new, a_line_that_is_none_ends_the_log,
           a_symbolic_link_is_not_followed)

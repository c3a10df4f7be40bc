/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/terminal/table.h"
#include "unit.h"

static char *print(Table *t, bool legend) {
        _cleanup_buf_ Buf out = BUF_INIT;
        char *text;

        ck_assert_int_eq(table_print(t, &out, legend), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        return text;
}

START_TEST(columns_are_as_wide_as_their_widest_cell)
        {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;

                table_init(&t, "NAME|>SIZE|STATE");
                table_add(&t, "%s", "a-long-name");
                table_add(&t, "%s", "1K");
                table_add(&t, "%s", "sealed");
                table_add(&t, "b");
                table_add(&t, "%s", "12345K");
                table_add(&t, "%s", "failed");
                ck_assert_uint_eq(table_n_rows(&t), 2);
                text = print(&t, true);
                ck_assert_str_eq(text, "NAME           SIZE  STATE\n"
                                       "a-long-name      1K  sealed\n"
                                       "b            12345K  failed\n");
        }
END_TEST

START_TEST(without_legend_titles_take_no_room)
        {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;

                table_init(&t, "A LONG TITLE|>N");
                table_add(&t, "x");
                table_add(&t, "1");
                text = print(&t, false);
                ck_assert_str_eq(text, "x  1\n");
        }
END_TEST

START_TEST(characters_are_counted_not_bytes)
        {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;

                table_init(&t, "A|B");
                table_add(&t, "é");
                table_add(&t, "1");
                table_add(&t, "ab");
                table_add(&t, "2");
                text = print(&t, false);
                ck_assert_str_eq(text, "é   1\nab  2\n");
        }
END_TEST

START_TEST(no_line_ends_with_a_space)
        {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;

                table_init(&t, "A|B|C");
                table_add(&t, "x");
                table_add(&t, "%s", "");
                table_add(&t, "%s", "");
                text = print(&t, false);
                ck_assert_str_eq(text, "x\n");
        }
END_TEST

START_TEST(a_table_without_rows_is_its_titles)
        {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *with = NULL, *without = NULL;

                table_init(&t, "A|>B");
                ck_assert_uint_eq(table_n_rows(&t), 0);
                with = print(&t, true);
                without = print(&t, false);
                ck_assert_str_eq(with, "A  B\n");
                ck_assert_str_eq(without, "");
        }
END_TEST

START_TEST(a_narrow_terminal_cuts_the_widest_words_and_no_numbers)
        {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;

                table_init(&t, "NAME|>SIZE|ROOTS");
                t.max_width = 30;
                table_add(&t, "a-name");
                table_add(&t, "1234567890");
                table_add(&t, "udp_sendmsg, udp_recvmsg");
                text = print(&t, false);
                ck_assert_str_eq(text, "a-name  1234567890  udp_sendm~\n");
        }
END_TEST

START_TEST(names_to_be_typed_again_are_cut_last)
        {
                _cleanup_table_ Table t = {}, narrow = {};
                _cleanup_free_ char *text = NULL, *cut = NULL;

                table_init(&t, "=NAME|ROOTS");
                t.max_width = 26;
                table_add(&t, "udp_sendmsg-6.12");
                table_add(&t, "udp_sendmsg, udp_recvmsg");
                text = print(&t, true);
                ck_assert_str_eq(text, "NAME              ROOTS\n"
                                       "udp_sendmsg-6.12  udp_sen~\n");
                table_init(&narrow, "=NAME|ROOTS");
                narrow.max_width = 20;
                table_add(&narrow, "udp_sendmsg-6.12");
                table_add(&narrow, "udp_sendmsg, udp_recvmsg");
                cut = print(&narrow, false);
                ck_assert_str_eq(cut, "udp_sendm~  udp_sen~\n");
        }
END_TEST

START_TEST(what_may_be_left_out_is_before_a_name_is_cut)
        {
                static const char *const expected[] = {
                        [14] = "A  NAME      N\n1  a-name  123\n",
                        [18] = "A  NAME     B    N\n1  a-name  22  123\n",
                        [22] = "A  NAME     B    N  C\n1  a-name  22  123  33\n",
                };

                for (size_t width = 14; width < ELEMENTSOF(expected); width += 4) {
                        _cleanup_table_ Table t = {};
                        _cleanup_free_ char *text = NULL;

                        table_init(&t, ">A|NAME|?>B|>N|?C");
                        t.max_width = width;
                        table_add(&t, "1");
                        table_add(&t, "a-name");
                        table_add(&t, "22");
                        table_add(&t, "123");
                        table_add(&t, "33");
                        text = print(&t, true);
                        ck_assert_str_eq(text, expected[width]);
                }
        }
END_TEST

START_TEST(nothing_is_cut_below_what_says_something)
        {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;

                table_init(&t, "A|B");
                t.max_width = 5;
                table_add(&t, "1234567890");
                table_add(&t, "ä2345678");
                text = print(&t, false);
                ck_assert_str_eq(text, "1234567~  ä2345678\n");
        }
END_TEST

UNIT_SUITE("table", a_narrow_terminal_cuts_the_widest_words_and_no_numbers,
           names_to_be_typed_again_are_cut_last, what_may_be_left_out_is_before_a_name_is_cut,
           nothing_is_cut_below_what_says_something, columns_are_as_wide_as_their_widest_cell,
           without_legend_titles_take_no_room, characters_are_counted_not_bytes,
           no_line_ends_with_a_space, a_table_without_rows_is_its_titles)

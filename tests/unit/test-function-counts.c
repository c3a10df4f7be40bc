/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which functions are in pages, and what they are called. */

#include <stdio.h>

#include "learn/function-counts.h"
#include "page-builder.h"

static const char symbols[] = "ffffffff81000100 t ip_make_skb\n"
                              "ffffffff81000000 T udp_sendmsg\n"
                              "ffffffff81000000 T alias_of_udp\n"
                              "ffffffff81000080 D data_between\n"
                              "ffffffff81000200 T kfree\n"
                              "ffffffffc0000000 t ovl_open\t[overlay]\n";

static char *count(const Layout *layout, const Page *page, const FunctionCountsWindow *windows,
                   size_t n) {
        _cleanup_(function_counts_freep) FunctionCounts *t = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;
        char *text;

        ck_assert_int_eq(function_counts_new(&t, layout->entry, "func", windows, n), 0);
        ck_assert_int_eq(function_counts_add_page(t, page->bytes, sizeof(page->bytes)), 0);
        ck_assert_int_eq(function_counts_name(t, symbols, &out), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        return text;
}

static void fill(Page *p, const Layout *layout) {
        page_begin(p, layout, 1000);
        page_enter(p, 1000, 7, F_ROOT, 0);
        page_enter(p, 1001, 7, F_CHILD + 4, 1); /* behind an endbr64 */
        page_leave(p, 1002, 7, F_CHILD + 4, 1, 1);
        page_enter(p, 2000, 7, F_LEAF, 1);
        page_enter(p, 2001, 7, F_MODULE, 2);
        page_enter(p, 2002, 7, F_LEAF, 1);
        page_enter(p, 2003, 7, 0, 1);
}

START_TEST(entries_are_counted_by_name_in_every_layout_and_exits_are_not)
        {
                const FunctionCountsWindow always = { 0, UINT64_MAX };

                for (size_t i = 0; i < N_LAYOUTS; i++) {
                        _cleanup_free_ char *text = NULL;
                        Page p = { .big_endian = HOST_BIG_ENDIAN };

                        fill(&p, &layouts[i]);
                        text = count(&layouts[i], &p, &always, 1);
                        ck_assert_ptr_nonnull(strstr(text, "udp_sendmsg 1\n"));
                        ck_assert_ptr_nonnull(strstr(text, "alias_of_udp 1\n"));
                        ck_assert_ptr_nonnull(strstr(text, "ip_make_skb 1\n"));
                        ck_assert_ptr_nonnull(strstr(text, "kfree 2\n"));
                        ck_assert_ptr_nonnull(strstr(text, "ovl_open 1\n"));
                        ck_assert_ptr_null(strstr(text, "data_between"));
                }
        }
END_TEST

START_TEST(each_window_counts_from_its_beginning_up_to_its_end)
        {
                const FunctionCountsWindow windows[] = { { 1001, 2000 }, { 2000, 2002 } };
                _cleanup_free_ char *text = NULL;
                Page p = { .big_endian = HOST_BIG_ENDIAN };

                fill(&p, &layouts[LAYOUT_6_12]);
                text = count(&layouts[LAYOUT_6_12], &p, windows, 2);
                ck_assert_ptr_nonnull(strstr(text, "udp_sendmsg 0 0\n"));
                ck_assert_ptr_nonnull(strstr(text, "ip_make_skb 1 0\n"));
                ck_assert_ptr_nonnull(strstr(text, "kfree 0 1\n"));
        }
END_TEST

START_TEST(only_what_the_wanted_tasks_call_is_counted)
        {
                const FunctionCountsWindow always = { 0, UINT64_MAX };
                const uint32_t pids[FUNCTION_COUNTS_MAX_PIDS + 1] = { 9, 8 };
                const char *const without =
                        "ID: 11\nformat:\n\tfield:unsigned long func;\toffset:8;\tsize:8;\n";
                _cleanup_(function_counts_freep) FunctionCounts *t = NULL, *nobodys = NULL;
                _cleanup_buf_ Buf out = BUF_INIT;
                _cleanup_free_ char *text = NULL;
                Page p = { .big_endian = HOST_BIG_ENDIAN };

                fill(&p, &layouts[LAYOUT_6_12]);
                page_enter(&p, 3000, 8, F_LEAF, 0);
                page_enter(&p, 3001, 9, F_LEAF, 0);
                ck_assert_int_eq(
                        function_counts_new(&t, layouts[LAYOUT_6_12].entry, "func", &always, 1), 0);
                ck_assert_int_eq(function_counts_set_pids(t, pids, ELEMENTSOF(pids)), -EINVAL);
                ck_assert_int_eq(function_counts_set_pids(t, pids, 2), 0);
                ck_assert_int_eq(function_counts_add_page(t, p.bytes, sizeof(p.bytes)), 0);
                ck_assert_int_eq(function_counts_name(t, symbols, &out), 0);
                ck_assert_int_eq(buf_take_string(&out, &text), 0);
                ck_assert_str_eq(text, "kfree 2\n");
                ck_assert_int_eq(function_counts_new(&nobodys, without, "func", &always, 1), 0);
                ck_assert_int_eq(function_counts_set_pids(nobodys, pids, 1), -EINVAL);
                ck_assert_int_eq(function_counts_set_pids(nobodys, NULL, 0), 0);
        }
END_TEST

START_TEST(callers_are_told_below_each_function_where_a_page_shows_them)
        {
                const FunctionCountsWindow always = { 0, UINT64_MAX };

                for (size_t i = 0; i < N_LAYOUTS; i++) {
                        _cleanup_free_ char *text = NULL;
                        Page p = { .big_endian = HOST_BIG_ENDIAN };

                        fill(&p, &layouts[i]);
                        page_enter(&p, 3000, 8, F_CHILD,
                                   3); /* of a task whose caller is not there */
                        text = count(&layouts[i], &p, &always, 1);
                        ck_assert(strstr(text, "kfree 2\n udp_sendmsg\n") ||
                                  strstr(text, "kfree 2\n alias_of_udp\n"));
                        ck_assert_ptr_nonnull(strstr(text, "ovl_open 1\n kfree\n"));
                        ck_assert_ptr_null(strstr(text, "udp_sendmsg 1\n "));
                        ck_assert_ptr_null(strstr(text, "ip_make_skb 1\n kfree"));
                }
        }
END_TEST

START_TEST(a_format_without_the_field_is_refused)
        {
                const FunctionCountsWindow always = { 0, UINT64_MAX };
                static const char *const formats[] = {
                        "",
                        "ID: 11\n",
                        "ID: 11\nformat:\n\tfield:unsigned long fun;\toffset:8;\tsize:8;\n",
                        "ID: 11\nformat:\n\tfield:unsigned long func;\toffset:8;\tsize:4;\n",
                        "ID: 11\nformat:\n\tfield:unsigned long func;\toffset:9999;\tsize:8;\n",
                        "ID: 70000\nformat:\n\tfield:unsigned long func;\toffset:8;\tsize:8;\n",
                        "format:\n\tfield:unsigned long func;\toffset:8;\tsize:8;\n",
                };

                for (size_t i = 0; i < ELEMENTSOF(formats); i++) {
                        FunctionCounts *t;

                        ck_assert_msg(function_counts_new(&t, formats[i], "func", &always, 1) ==
                                              -EINVAL,
                                      "%s", formats[i]);
                }
        }
END_TEST

START_TEST(any_bytes_at_all_are_only_counted)
        {
                const FunctionCountsWindow always = { 0, UINT64_MAX };
                _cleanup_(function_counts_freep) FunctionCounts *t = NULL;
                _cleanup_buf_ Buf out = {};
                unsigned seed = (unsigned) getpid();
                Page p = { .big_endian = HOST_BIG_ENDIAN };

                printf("# seed %u\n", seed);
                srandom(seed);
                ck_assert_int_eq(function_counts_new(&t, layouts[0].entry, "func", &always, 1), 0);
                for (size_t i = 0; i < 2000; i++) {
                        fill(&p, &layouts[0]);
                        for (size_t k = 0; k < 20; k++)
                                p.bytes[random() % 200] = (uint8_t) random();
                        ck_assert_int_eq(function_counts_add_page(t, p.bytes, sizeof(p.bytes)), 0);
                }
                ck_assert_int_eq(function_counts_name(t, symbols, &out), 0);
                ck_assert_uint_gt(out.n_data, 0);
        }
END_TEST

UNIT_SUITE("function-counts", entries_are_counted_by_name_in_every_layout_and_exits_are_not,
           each_window_counts_from_its_beginning_up_to_its_end,
           only_what_the_wanted_tasks_call_is_counted,
           callers_are_told_below_each_function_where_a_page_shows_them,
           a_format_without_the_field_is_refused, any_bytes_at_all_are_only_counted)

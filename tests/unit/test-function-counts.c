/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which functions are in pages, and what they are called. */

#include "learn/function-counts.h"
#include "page-builder.h"

static const char text_of_symbols[] = "ffffffff81000100 t ip_make_skb\n"
                                      "ffffffff81000000 T udp_sendmsg\n"
                                      "ffffffff81000000 T alias_of_udp\n"
                                      "ffffffff81000080 D data_between\n"
                                      "ffffffff81000200 T kfree\n"
                                      "ffffffffc0000000 t ovl_open\t[overlay]\n";

static bool is_interrupt(const char *name) {
        return streq(name, "ip_make_skb");
}

static FunctionCountsConfig config_of(const Layout *layout) {
        return (FunctionCountsConfig){ .format = layout->entry,
                                       .field = "func",
                                       .exit_format = layout->exit,
                                       .to_ns = UINT64_MAX };
}

static Symbols *new_symbols(void) {
        Symbols *s = MADE(Symbols, symbols_new, strdup(text_of_symbols), strlen(text_of_symbols));

        return s;
}

static char *count(FunctionCountsConfig *config, const Page *page) {
        _cleanup_(symbols_freep) Symbols *symbols = new_symbols();
        _cleanup_(function_counts_freep) FunctionCounts *t = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;

        config->symbols = symbols;
        ck_assert_int_eq(function_counts_new(&t, config), 0);
        ck_assert_int_eq(function_counts_add_page(t, page->bytes, sizeof(page->bytes)), 0);
        ck_assert_int_eq(function_counts_name(t, &out), 0);
        return TEXT_OF(out);
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

TEST(entries_are_counted_by_name_in_every_layout_and_exits_have_their_times) {
        for (size_t i = 0; i < N_LAYOUTS; i++) {
                FunctionCountsConfig config = config_of(&layouts[i]);
                _cleanup_free_ char *text = NULL;
                Page p = { .big_endian = HOST_BIG_ENDIAN };

                fill(&p, &layouts[i]);
                text = count(&config, &p);
                ck_assert_ptr_nonnull(strstr(text, "udp_sendmsg 1 1 0 0\n"));
                ck_assert_ptr_null(strstr(text, "alias_of_udp"));
                ck_assert_ptr_nonnull(strstr(text, "ip_make_skb 1 1 1 "));
                ck_assert_ptr_null(strstr(text, "ip_make_skb 1 1 1 0\n"));
                ck_assert_ptr_nonnull(strstr(text, "kfree 2 2 0 0\n"));
                ck_assert_ptr_nonnull(strstr(text, "ovl_open 1 1 1 0\n"));
                ck_assert_ptr_null(strstr(text, "data_between"));
        }
}

TEST(a_window_counts_from_its_beginning_up_to_its_end) {
        FunctionCountsConfig config = config_of(&layouts[LAYOUT_6_12]);
        _cleanup_free_ char *text = NULL;
        Page p = { .big_endian = HOST_BIG_ENDIAN };

        fill(&p, &layouts[LAYOUT_6_12]);
        config.from_ns = 1001;
        config.to_ns = 2000;
        text = count(&config, &p);
        ck_assert_ptr_null(strstr(text, "udp_sendmsg"));
        ck_assert_ptr_nonnull(strstr(text, "ip_make_skb 1 "));
        ck_assert_ptr_null(strstr(text, "kfree"));
}

TEST(what_is_below_an_interrupt_is_not_the_roots) {
        FunctionCountsConfig config = config_of(&layouts[LAYOUT_6_12]);
        _cleanup_free_ char *text = NULL;
        Page p = { .big_endian = HOST_BIG_ENDIAN };

        config.is_interrupt = is_interrupt;
        page_begin(&p, &layouts[LAYOUT_6_12], 1000);
        page_enter(&p, 1000, 7, F_ROOT, 0);
        page_enter(&p, 1001, 7, F_CHILD, 1); /* the interrupt */
        page_enter(&p, 1002, 7, F_LEAF, 2);
        page_enter(&p, 1003, 8, F_MODULE, 2); /* of another task, whose callers are not there */
        page_leave(&p, 1004, 7, F_LEAF, 2, 1);
        page_leave(&p, 1005, 7, F_CHILD, 1, 4);
        page_enter(&p, 1006, 7, F_LEAF, 1);
        text = count(&config, &p);
        ck_assert_ptr_nonnull(strstr(text, "ip_make_skb 1 0 "));
        ck_assert_ptr_nonnull(strstr(text, "kfree 2 1 "));
        ck_assert_ptr_nonnull(strstr(text, "ovl_open 1 1 "));
        ck_assert_ptr_null(strstr(text, "\n ip_make_skb\n"));
}

TEST(callers_are_told_below_each_function_where_a_page_shows_them) {
        for (size_t i = 0; i < N_LAYOUTS; i++) {
                FunctionCountsConfig config = config_of(&layouts[i]);
                _cleanup_free_ char *text = NULL;
                Page p = { .big_endian = HOST_BIG_ENDIAN };

                fill(&p, &layouts[i]);
                page_enter(&p, 3000, 8, F_CHILD, 3); /* of a task whose caller is not there */
                text = count(&config, &p);
                ck_assert_ptr_nonnull(strstr(text, "kfree 2 2 0 0\n udp_sendmsg\n"));
                ck_assert_ptr_nonnull(strstr(text, "ovl_open 1 1 1 0\n kfree\n"));
                ck_assert_ptr_null(strstr(text, "udp_sendmsg 1 1 0 0\n "));
                ck_assert_ptr_null(strstr(text, " kfree\n kfree"));
        }
}

TEST(a_format_without_the_field_is_refused) {
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
                FunctionCountsConfig config = { .format = formats[i], .field = "func" };
                FunctionCounts *t;

                ck_assert_msg(function_counts_new(&t, &config) == -EINVAL, "%s", formats[i]);
        }
}

TEST(any_bytes_at_all_are_only_counted) {
        _cleanup_(symbols_freep) Symbols *symbols = new_symbols();
        FunctionCountsConfig config = config_of(&layouts[0]);
        _cleanup_(function_counts_freep) FunctionCounts *t = NULL;
        _cleanup_buf_ Buf out = {};
        Page p = { .big_endian = HOST_BIG_ENDIAN };

        srandom(unit_seed());
        config.symbols = symbols;
        ck_assert_int_eq(function_counts_new(&t, &config), 0);
        for (size_t i = 0; i < 2000; i++) {
                fill(&p, &layouts[0]);
                for (size_t k = 0; k < 20; k++)
                        p.bytes[random() % 200] = (uint8_t) random();
                ck_assert_int_eq(function_counts_add_page(t, p.bytes, sizeof(p.bytes)), 0);
        }
        ck_assert_int_eq(function_counts_name(t, &out), 0);
        ck_assert_uint_gt(out.n_data, 0);
}

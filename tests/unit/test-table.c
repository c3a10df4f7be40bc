/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>

#include "cli/terminal/terminal.h"
#include "unit.h"

static char *print(const Table *t, bool legend) {
        _cleanup_buf_ Buf out = BUF_INIT;

        ck_assert_int_eq(table_print(t, &out, legend), 0);
        return TEXT_OF(out);
}

static const struct {
        const char *what, *titles, *cells; /* apart by '|' */
        size_t width;
        const char *expected; /* with the titles, unless it begins behind them */
        bool no_legend;
} cases[] = {
        { "columns are as wide as their widest cell", "NAME|>SIZE|STATE",
          "a-long-name|1K|sealed|b|12345K|failed", 0,
          "NAME           SIZE  STATE\n"
          "a-long-name      1K  sealed\n"
          "b            12345K  failed\n" },
        { "without a legend titles take no room", "A LONG TITLE|>N", "x|1", 0, "x  1\n", true },
        { "characters are counted, not bytes", "A|B", "é|1|ab|2", 0, "é   1\nab  2\n", true },
        { "no line ends with a space", "A|B|C", "x| | ", 0, "x\n", true },
        { "a narrow terminal cuts what may be, and no numbers", "NAME|>SIZE|~ROOTS",
          "a-name|1234567890|udp_sendmsg, udp_recvmsg", 30, "a-name  1234567890  udp_sendm~\n",
          true },
        { "names go on below, behind a word or a part of one", "NAME|ROOTS",
          "udp_sendmsg-6.12|udp_sendmsg, udp_recvmsg", 34,
          "NAME              ROOTS\nudp_sendmsg-6.12  udp_sendmsg,\n                    "
          "udp_recvmsg\n" },
        { "but not where what may be cut makes room", "NAME|~ROOTS",
          "udp_sendmsg-6.12|udp_sendmsg, udp_recvmsg", 26,
          "NAME              ROOTS\nudp_sendmsg-6.12  udp_sen~\n" },
        { "nor are they ever cut", "NAME|~ROOTS", "udp_sendmsg-6.12|udp_sendmsg", 20,
          "udp_        udp_sen~\nsendmsg-6.\n12\n", true },
        { "indentation makes room for the names", ">A|F", "1|>         udp_sendmsg > ip_output", 22,
          "1  >       udp_sendmsg\n           > ip_output\n", true },
        { "what may be left out is before a name is cut", ">A|NAME|?>B|>N|?C", "1|a-name|22|123|33",
          14, "A  NAME      N\n1  a-name  123\n" },
        { "the last first", ">A|NAME|?>B|>N|?C", "1|a-name|22|123|33", 18,
          "A  NAME     B    N\n1  a-name  22  123\n" },
        { "none where there is room", ">A|NAME|?>B|>N|?C", "1|a-name|22|123|33", 22,
          "A  NAME     B    N  C\n1  a-name  22  123  33\n" },
        { "nothing is cut below what says something", "A|B", "1234567890|ä2345678", 5,
          "12345678  ä2345678\n90\n", true },
        { "a digit moves a column behind those without", "2A|B|1>C|2D", "1|2|3|4", 0,
          "B  C  A  D\n2  3  1  4\n" },
};

TEST(tables_are_as_wide_as_there_is_room) {
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;
                _cleanup_strv_ Strv cells = {}, titles = {};
                Row row = {};

                ck_assert_int_eq(strv_split(&cells, cases[i].cells, "|"), 0);
                ck_assert_int_eq(strv_split(&titles, cases[i].titles, "|"), 0);
                table_begin(&t, JSON_OFF);
                t.max_width = cases[i].width;
                for (size_t k = 0; k < cells.n; k++) {
                        if (k % titles.n == 0)
                                row = table_row(&t);
                        row_cell(row, titles.items[k % titles.n], "%s", cells.items[k]);
                }
                text = print(&t, !cases[i].no_legend);
                ck_assert_msg(streq(text, cases[i].expected), "%s: %s", cases[i].what, text);
        }
}

static void tell(Row r, const char *name, uint64_t ns, double share, bool is_known) {
        row_string(r, "1NAME", "name", name);
        row_time(r, ">TIME", "time_ns", ns);
        row_share(r, ">SHARE", "share", share, 1);
        row_known_time(r, "?>MAX", "max_ns", is_known, ns);
        row_real(r, "p", is_known ? 0.25 : NAN);
        row_cell(r, "2WHAT", "%s", is_known ? "known" : "not\tknown");
        row_bool(r, "known", is_known);
        row_known_int(r, "n", is_known, 7);
        row_count(r, NULL, "hidden", 3);
}

TEST(a_row_is_told_once_for_text_and_json) {
        for (JsonMode json = JSON_OFF; json <= JSON_AUTO; json++) {
                _cleanup_table_ Table t = {};
                _cleanup_free_ char *text = NULL;

                table_begin(&t, json);
                tell(table_row(&t), "a", 1500, 0.5, true);
                tell(table_row(&t), NULL, 20, 0.125, false);
                ck_assert_uint_eq(t.n_rows, 2);
                if (json == JSON_OFF) {
                        row_cell(table_rest(&t), "2WHAT", "the rest");
                        text = print(&t, true);
                        ck_assert_str_eq(text, "    TIME  SHARE      MAX  NAME  WHAT\n"
                                               " 1.50 us  50.0%  1.50 us  a     known\n"
                                               "0.020 us  12.5%        -        not\\x09known\n"
                                               "                                the rest\n");
                } else {
                        text = json_dumps(t.list, JSON_COMPACT);
                        ck_assert_str_eq(text,
                                         "[{\"name\":\"a\",\"time_ns\":1500,\"share\":0.5,"
                                         "\"max_ns\":1500,\"p\":0.25,\"known\":true,\"n\":7,"
                                         "\"hidden\":3},{\"name\":null,\"time_ns\":20,\"share\":"
                                         "0.125,\"max_ns\":null,\"p\":null,\"known\":false,"
                                         "\"n\":null,\"hidden\":3}]");
                }
        }
}

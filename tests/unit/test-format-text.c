/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "decode/event-text.h"
#include "unit.h"

#define HEAD "name: x\nID: 7\nformat:\n"
#define FIELDS                                                                                     \
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
        "\tfield:unsigned long args[6];\toffset:8;\tsize:48;\tsigned:0;\n"                         \
        "\tfield:__data_loc char[] name;\toffset:56;\tsize:4;\tsigned:0;\n"                        \
        "\tfield:const struct sk_buff * skb;\toffset:64;\tsize:8;\tsigned:0;\n"                    \
        "\tfield:char comm[TASK_COMM_LEN];\toffset:72;\tsize:16;\tsigned:0;\n\n"

TEST(what_kernels_declare_is_valid_and_nothing_else) {
        static const char *const bad[] = {
                "",
                "name: x\n",
                "name: x\nID: y\nformat:\n",
                "name: \nID: 7\nformat:\n",
                HEAD "\tfield:int;\toffset:0;\tsize:4;\tsigned:1;\n",
                HEAD "\tfield:int x\toffset:0;\tsize:4;\tsigned:1;\n",
                HEAD "\tfield:int x[1;\toffset:0;\tsize:4;\tsigned:1;\n",
                HEAD "\tfield:[] int x;\toffset:0;\tsize:4;\tsigned:1;\n",
                HEAD "\tfield:int (*x)(int);\toffset:0;\tsize:4;\tsigned:1;\n",
                HEAD "\tfield:int x;\toffset:-1;\tsize:4;\tsigned:1;\n",
                HEAD "\tfield:int x;\toffset:0;\tsize:4;\n",
                HEAD FIELDS "print",
        };

        ck_assert(format_text_is_valid(HEAD FIELDS "print fmt: \"\"\n"));
        ck_assert(format_text_is_valid(HEAD FIELDS));
        ck_assert(format_text_is_valid("name: 9p_client_req\nID: 7\nformat:\n" FIELDS));
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(!format_text_is_valid(bad[i]), "\"%s\"", bad[i]);
}

static bool prints(const char *format) {
        _cleanup_free_ char *text = NULL;

        ck_assert_int_ge(asprintf(&text, "%sprint fmt: %s\n", HEAD FIELDS, format), 0);
        ck_assert(format_text_is_valid(text));
        return format_text_prints_plainly(text);
}

TEST(what_kernels_print_is_plain_and_nothing_else) {
        static const char *const good[] = {
                "\"\"",
                "\"a\" \"b %s\", __get_str(name)",
                "\"%lx %d\", REC->args[1], (int)REC->common_type",
                "\"%s\", (REC->common_type & ((1 | 2) + 1) << 1) ? \"a\\\"\" : \"\"",
                "\"%s\", __print_symbolic(REC->common_type, { 0, \"HI\" }, { 0x1UL, \"TIMER\" })",
                "\"%s\", __print_flags((unsigned long)REC->args[0] & ~1, \"|\", { 1, \"S\" })",
                "\"%p %s\", REC->skb, REC->comm",
                "\"%d %d\", REC->common_type / 1000L, 1 + (REC->common_type % 0x10)",
        };
        static const char *const bad[] = {
                "",
                "x",
                "\"%d\", REC->common_type / 0",
                "\"%d\", REC->common_type % 0x0",
                "\"%d\", REC->common_type / REC->common_pid",
                "\"%d\", REC->common_type / -1",
                "\"%d\", REC->common_type / 0xffffffffffffffff",
                "\"%d\", REC->common_type / (1)",
                "\"%d\", REC->common_type / 2 - 2",
                "\"%d\", REC->common_type / 2 / 0",
                "\"%d\", REC->nothing",
                "\"%d\", REC->comm_type",
                "\"%d\", REC->common",
                "\"%d\", REC->args[REC->common_type]",
                "\"%d\", REC->",
                "\"%d\", REC",
                "\"%d\", (REC->common_type",
                "\"%d\", REC->common_type)",
                "\"%d\", REC->common_type +",
                "\"%d\", 1 ? 2",
                "\"%d\", GFP_KERNEL",
                "\"%s\", __print_hex(__get_dynamic_array(name), 4)",
                "\"%s\", __print_symbolic(REC->common_type, { \"HI\", 0 })",
                "\"%s\", __get_str(nothing)",
                "\"%s\", \"open",
        };
        static const char *const turns[] = { "(", "~", "(long)", "-!" };

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                ck_assert_msg(prints(good[i]), "%s", good[i]);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(!prints(bad[i]), "%s", bad[i]);
        for (size_t i = 0; i < ELEMENTSOF(turns); i++) {
                char deep[4096] = "\"%d\", ";

                for (int n = 0; n < 400; n++)
                        strcat(deep, turns[i]);
                ck_assert_msg(!prints(strcat(deep, "1")), "%s", turns[i]);
        }
}

/* "s" is the number, of which nobody knows where it leads to. */
TEST(a_field_has_the_name_that_its_declaration_ends_with) {
        static const char fields[] =
                HEAD "\tfield:__data_loc char[] s[4] t;\toffset:8;\tsize:4;\tsigned:0;\n"
                     "\tfield:int s;\toffset:12;\tsize:4;\tsigned:1;\n"
                     "\tfield:u8 x[2][3];\toffset:16;\tsize:6;\tsigned:0;\n\n";
        static const struct {
                const char *format;
                bool is_plain;
        } cases[] = {
                { "\"%s\", __get_str(t)", true },
                { "\"%s\", __get_str(s)", false },
                { "\"%d %p\", REC->s, REC->x", true },
                { "\"%d\", REC->x[1]", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = NULL;

                ck_assert_int_ge(asprintf(&text, "%sprint fmt: %s\n", fields, cases[i].format), 0);
                ck_assert(format_text_is_valid(text));
                ck_assert_msg(format_text_prints_plainly(text) == cases[i].is_plain, "%s",
                              cases[i].format);
        }
}

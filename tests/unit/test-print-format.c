/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The formats are those of Debian's 6.12.117, cut to what is told here. */

#include "decode/event-text.h"
#include "unit.h"

static void becomes(const char *system, const char *before, const char *after, const char *names) {
        _cleanup_(print_format_done) PrintFormat f = {};
        char text[512];

        (void) snprintf(text, sizeof(text), "name: x\nID: 7\n\tf(1);\nprint fmt: %s\n", before);
        ck_assert_int_eq(print_format_parse(&f, system, text), 0);
        (void) snprintf(text, sizeof(text), "name: x\nID: 7\n\tf(1);\nprint fmt: %s\n", after);
        ck_assert_str_eq(f.text, text);
        ck_assert_str_eq(f.names, names);
}

TEST(constants_become_numbers) {
        static const char *const cases[][2] = {
                { "(0x00040000 | 0x00080000 | 0x00100000 | 0x00200000)", "3932160" },
                { "{ (1 << 0), \"POSIX_TIMER\" }, { 1 << 3, \"SCHED\" }",
                  "{ 1, \"POSIX_TIMER\" }, { 8, \"SCHED\" }" },
                { "{( unsigned long)((( gfp_t)(((((1UL))) << (10))|((((1UL))) << (11)))) & "
                  "~(( gfp_t)((((1UL))) << (11)))), \"X\"}",
                  "{ 1024, \"X\"}" },
                { "(REC->dev & ((1U << 20) - 1))", "(REC->dev & 1048575)" },
                { "(2 - 1 - 1)", "0" },
                /* of 7.2.13 */
                { "__print_flags(REC->f, \"|\", {( unsigned long)(( gfp_t)((((1UL))) << (24))), "
                  "\"X\"}, { 0, ((void *)0) } )",
                  "__print_flags(REC->f, \"|\", { 16777216, \"X\"} )" },
                { "REC->old & ~((u32)((((1UL))) << (31)))", "REC->old & ~2147483648" },
                { "{ HRTIMER_MODE_REL_HARD, \"REL|HARD\" }", "{ 9, \"REL|HARD\" }" },
                { "{ IOPRIO_CLASS_BE, \"be\" }", "{ 2, \"be\" }" },
                { "{ IOPRIO_CLASS_BEST, \"be\" }", "{ IOPRIO_CLASS_BEST, \"be\" }" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char before[256], after[256];

                (void) snprintf(before, sizeof(before), "\"%%d\", %s", cases[i][0]);
                (void) snprintf(after, sizeof(after), "\"%%d\", %s", cases[i][1]);
                becomes("x", before, after, "");
        }
}

TEST(what_is_no_constant_stays) {
        static const char *const cases[] = {
                "\"(1 << 2)\"",
                "\"%d\", (unsigned long)REC->x",
                "\"%d\", f(1)",
                "\"%d\", (1 << 64)",
                "\"%d\", (-1)",
                "\"%d\", (~0)",
                "\"%d\", (1",
                "\"%d\", (1 |)",
                "\"%d\", (1 + 2 << 3)",
                "\"%d\", (0x)",
                "\"%d\", (99999999999999999999)",
                "\"%s\", \"a \\\" (1) \"",
                "",
        };
        char deep[256], signs[40000] = "(1 << ";

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                becomes("x", cases[i], cases[i], "");
        memset(deep, '(', sizeof(deep) - 1);
        deep[sizeof(deep) - 1] = 0;
        becomes("x", deep, deep, "");
        memset(signs + strlen(signs), '~', sizeof(signs) - strlen(signs) - 1);
        becomes("x", signs, signs, "");
}

TEST(addresses_are_printed_by_name_and_pointers_as_numbers) {
        becomes("skb", "\"skbaddr=%p location=%pS%%pS\", REC->skbaddr, REC->location",
                "\"skbaddr=%016lx location=%ps%%pS\", REC->skbaddr, REC->location", "S");
        becomes("workqueue", "\"%ps %pF %pf %pI4\"", "\"%ps %ps %ps %pI4\"", "sSs");
}

TEST(a_zero_has_its_prefix) {
        becomes("net", "\"%#x %#lx %#010x %#\"", "\"0x%x 0x%lx %#010x %#\"", "");
}

TEST(a_probe_says_where_it_is_as_the_kernel_does) {
        becomes("kprobes", "\"(%lx) at=%ps\", REC->__probe_ip, REC->at",
                "\"(%ps) at=%ps\", REC->__probe_ip, REC->at", "Ss");
        becomes("kprobes",
                "\"(%lx <- %lx) arg1=%d\", REC->__probe_func, REC->__probe_ret_ip, REC->arg1",
                "\"(%ps <- %ps) arg1=%d\", REC->__probe_ret_ip, REC->__probe_func, REC->arg1",
                "Sn");
        becomes("x", "\"(%lx)\", REC->ip", "\"(%lx)\", REC->ip", "");
}

TEST(arguments_of_system_calls_are_hexadecimal_alone) {
        becomes("syscalls", "\"fd: 0x%08lx, n: 0x%08lx\", REC->fd, REC->n",
                "\"fd: %lx, n: %lx\", REC->fd, REC->n", "");
        becomes("x", "\"fd: 0x%08lx\", REC->fd", "\"fd: 0x%08lx\", REC->fd", "");
}

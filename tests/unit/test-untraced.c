/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fake-kernel.h"

static void expect(const FakeKernel *k, const char *name, const char *wanted) {
        _cleanup_free_ char *text = MADE(char, untraced_explain, k->root_fd, name);

        ck_assert_str_eq(text, wanted);
}

TEST(each_reason_why_a_name_cannot_be_traced_is_told_apart) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(false);

        fake_put_root(k, "proc/kallsyms",
                      "ffffffff81000000 T _text\n"
                      "ffffffff81000010 t rcu_read_lock_x\n"
                      "ffffffff81000020 t ip_finish.isra.0\n"
                      "ffffffff81000020 t ip_finish_output\n"
                      "ffffffff81000030 d udp_table\n"
                      "ffffffff81000040 t modular\t[some]\n"
                      "nonsense\n");
        expect(k, "rcu_read_lock_x", ": this kernel has it and excludes it from tracing (notrace)");
        expect(k, "modular", ": this kernel has it and excludes it from tracing (notrace)");
        expect(k, "ip_finish", ": the compiler made ip_finish.isra.0 of it");
        expect(k, "udp_table", "");
        expect(k, "udp_sendmesg", "");
        expect(k, "rcu_read", "");
}

TEST(symbols_are_read_where_a_sandbox_has_put_them) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(false);
        _cleanup_free_ char *elsewhere = NULL;

        fake_put_root(k, "proc/kallsyms", "");
        fake_put_root(k, "run/kallsyms", "ffffffff81000010 t rcu_read_lock_x\n");
        ck_assert_int_gt(asprintf(&elsewhere, "/proc/self/fd/%i/run/kallsyms", k->root_fd), 0);
        ck_assert_int_eq(setenv("FTRACED_KALLSYMS", elsewhere, true), 0);
        expect(k, "rcu_read_lock_x", ": this kernel has it and excludes it from tracing (notrace)");
        unsetenv("FTRACED_KALLSYMS");
        expect(k, "rcu_read_lock_x", "");
}

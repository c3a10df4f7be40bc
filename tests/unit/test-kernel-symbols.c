/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "base/io.h"
#include "daemon/symbols/kernel-symbols.h"
#include "tests/unit/unit.h"

static char proc[64];
static int dir_fd, symbols_fd;

static void put(const char *name, const char *text) {
        ck_assert_int_eq(file_replace(dir_fd, name, text, strlen(text), 0600), 0);
}

static void setup(void) {
        (void) snprintf(proc, sizeof(proc), "/tmp/test-kernel-symbols-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(proc));
        dir_fd = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_eq(dir_make(dir_fd, "symbols", 0700), 0);
        symbols_fd = dir_open(dir_fd, "symbols");
        ck_assert_int_ge(symbols_fd, 0);
        put("modules", "udp_tunnel 32768 0 - Live 0x0000000000000000\n");
        put("kallsyms", "ffffffff81000000 T startup_64\nffffffff81001000 T _stext\n");
}

static void teardown(void) {
        (void) close(symbols_fd);
        (void) close(dir_fd);
        ck_assert_int_eq(tree_remove(AT_FDCWD, proc), 0);
}

static void store(KernelSymbols *k, char hash[static 64], int wanted) {
        const SymbolNames *names = NULL;

        ck_assert_int_eq(kernel_symbols_store(k, symbols_fd, &names), wanted);
        (void) snprintf(hash, 64, "%s", names ? names->symbols : "");
}

static void list_of(KernelSymbols *k, const char *wanted) {
        _cleanup_free_ char *text = NULL;
        const SymbolNames *names;

        ck_assert_int_eq(kernel_symbols_store(k, symbols_fd, &names), 0);
        ck_assert_int_eq(symbol_file_load(symbols_fd, names->modules, &text, NULL), 0);
        ck_assert_str_eq(text, wanted);
}

START_TEST(addresses_that_are_all_zero_are_hidden)
        {
                _cleanup_(kernel_symbols_done) KernelSymbols k = {};
                char hash[64];

                setup();
                k.proc = proc;
                put("kallsyms",
                    "0000000000000000 A fixed_percpu_data\n0000000000000000 T _stext\n");
                store(&k, hash, KERNEL_SYMBOLS_E_HIDDEN);
                put("kallsyms", "");
                store(&k, hash, KERNEL_SYMBOLS_E_HIDDEN);
                teardown();
        }
END_TEST

START_TEST(symbols_are_read_again_only_when_modules_changed)
        {
                _cleanup_(kernel_symbols_done) KernelSymbols k = {};
                char first[64], second[64];

                setup();
                k.proc = proc;
                store(&k, first, 0);
                put("kallsyms", "ffffffff81000000 T startup_64\nffffffffc0000000 t new [new]\n");
                store(&k, second, 0);
                ck_assert_str_eq(first, second);
                put("modules", "new 16384 0 - Live 0x0000000000000000\n");
                store(&k, second, 0);
                ck_assert_str_ne(first, second);
                teardown();
        }
END_TEST

START_TEST(symbols_whose_file_went_are_stored_again)
        {
                _cleanup_(kernel_symbols_done) KernelSymbols k = {};
                char hash[64], path[96];

                setup();
                k.proc = proc;
                store(&k, hash, 0);
                (void) snprintf(path, sizeof(path), "%s.zst", hash);
                ck_assert_int_eq(unlinkat(symbols_fd, path, 0), 0);
                store(&k, hash, 0);
                ck_assert_int_eq(faccessat(symbols_fd, path, F_OK, 0), 0);
                teardown();
        }
END_TEST

START_TEST(use_counts_do_not_make_another_list)
        {
                _cleanup_(kernel_symbols_done) KernelSymbols k = {};
                char first[64], second[64];

                setup();
                k.proc = proc;
                put("modules", "nf_nat 65536 1 iptable_nat, Live 0xffffffffc0200000\n"
                               "ext4 991232 1 - Live 0xffffffffc0100000 (OE)\n");
                store(&k, first, 0);
                list_of(&k, "nf_nat 65536 Live 0xffffffffc0200000 -\n"
                            "ext4 991232 Live 0xffffffffc0100000 (OE)\n");
                put("kallsyms", "ffffffff81000000 T startup_64\nffffffffc0000000 t new [new]\n");
                put("modules", "nf_nat 65536 3 iptable_nat,xt_MASQUERADE, Live 0xffffffffc0200000\n"
                               "ext4 991232 2 - Live 0xffffffffc0100000 (OE)\n");
                store(&k, second, 0);
                ck_assert_str_eq(first, second);
                teardown();
        }
END_TEST

START_TEST(a_module_that_was_loaded_again_makes_another_list)
        {
                _cleanup_(kernel_symbols_done) KernelSymbols k = {};
                char first[64], second[64];

                setup();
                k.proc = proc;
                put("modules", "b 4096 0 - Live 0xffffffffc0200000\n"
                               "a 4096 0 - Live 0xffffffffc0100000\n");
                store(&k, first, 0);
                put("kallsyms", "ffffffff81000000 T startup_64\nffffffffc0000000 t new [new]\n");
                put("modules", "a 4096 0 - Live 0xffffffffc0100000\n"
                               "b 4096 0 - Live 0xffffffffc0200000\n");
                store(&k, second, 0);
                ck_assert_str_ne(first, second);
                teardown();
        }
END_TEST

START_TEST(a_kernel_without_modules_has_no_list)
        {
                _cleanup_(kernel_symbols_done) KernelSymbols k = {};
                const SymbolNames *names;

                setup();
                ck_assert_int_eq(unlinkat(dir_fd, "modules", 0), 0);
                k.proc = proc;
                for (int i = 0; i < 2; i++) {
                        ck_assert_int_eq(kernel_symbols_store(&k, symbols_fd, &names), 0);
                        ck_assert_str_ne(names->symbols, "");
                        ck_assert_str_eq(names->modules, "");
                }
                teardown();
        }
END_TEST

UNIT_SUITE("kernel-symbols", addresses_that_are_all_zero_are_hidden,
           symbols_are_read_again_only_when_modules_changed,
           symbols_whose_file_went_are_stored_again, use_counts_do_not_make_another_list,
           a_module_that_was_loaded_again_makes_another_list, a_kernel_without_modules_has_no_list)

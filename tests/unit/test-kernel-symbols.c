/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "base/io.h"
#include "daemon/kernel-symbols.h"
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
        const char *h = "";

        ck_assert_int_eq(kernel_symbols_store(k, symbols_fd, &h), wanted);
        (void) snprintf(hash, 64, "%s", h);
}

START_TEST(addresses_that_are_all_zero_are_hidden)
        {
                _cleanup_(kernel_symbols_freep) KernelSymbols *k = NULL;
                char hash[64];

                setup();
                ck_assert_int_eq(kernel_symbols_new(&k, proc), 0);
                put("kallsyms",
                    "0000000000000000 A fixed_percpu_data\n0000000000000000 T _stext\n");
                store(k, hash, KERNEL_SYMBOLS_E_HIDDEN);
                put("kallsyms", "");
                store(k, hash, KERNEL_SYMBOLS_E_HIDDEN);
                teardown();
        }
END_TEST

START_TEST(symbols_are_read_again_only_when_modules_changed)
        {
                _cleanup_(kernel_symbols_freep) KernelSymbols *k = NULL;
                char first[64], second[64];

                setup();
                ck_assert_int_eq(kernel_symbols_new(&k, proc), 0);
                store(k, first, 0);
                put("kallsyms", "ffffffff81000000 T startup_64\nffffffffc0000000 t new [new]\n");
                store(k, second, 0);
                ck_assert_str_eq(first, second);
                put("modules", "new 16384 0 - Live 0x0000000000000000\n");
                store(k, second, 0);
                ck_assert_str_ne(first, second);
                teardown();
        }
END_TEST

START_TEST(symbols_whose_file_went_are_stored_again)
        {
                _cleanup_(kernel_symbols_freep) KernelSymbols *k = NULL;
                char hash[64], path[96];

                setup();
                ck_assert_int_eq(kernel_symbols_new(&k, proc), 0);
                store(k, hash, 0);
                (void) snprintf(path, sizeof(path), "%s.zst", hash);
                ck_assert_int_eq(unlinkat(symbols_fd, path, 0), 0);
                store(k, hash, 0);
                ck_assert_int_eq(faccessat(symbols_fd, path, F_OK, 0), 0);
                teardown();
        }
END_TEST

UNIT_MAIN("kernel-symbols", addresses_that_are_all_zero_are_hidden,
          symbols_are_read_again_only_when_modules_changed,
          symbols_whose_file_went_are_stored_again)

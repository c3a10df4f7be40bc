/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/symbols/symbol-watch.h"
#include "scratch.h"

#define KERNEL "ffffffff81000000 T startup_64\n"

typedef struct Host {
        Scratch scratch;
        int symbols_fd;
        KernelSymbols symbols;
        SessionMeta *meta;
        SymbolWatch watch;
} Host;

static void put(Host *h, const char *modules, const char *kallsyms) {
        scratch_write(h->scratch.fd, "modules", modules, strlen(modules));
        scratch_write(h->scratch.fd, "kallsyms", kallsyms, strlen(kallsyms));
}

static void host_init(Host *h) {
        *h = (Host){ .scratch = SCRATCH };
        ck_assert_int_eq(dir_make(h->scratch.fd, "symbols", 0700), 0);
        h->symbols_fd = dir_open(h->scratch.fd, "symbols");
        ck_assert_int_ge(h->symbols_fd, 0);
        h->symbols.proc = h->scratch.path;
        ck_assert_int_eq(session_meta_new(&h->meta), 0);
        put(h, "a 4096 0 - Live 0xffffffffc0000000\n", KERNEL "ffffffffc0000000 t a_f\t[a]\n");
}

static void host_done(Host *h) {
        session_meta_free(h->meta);
        kernel_symbols_done(&h->symbols);
        safe_close(h->symbols_fd);
        scratch_done(&h->scratch);
}

static int look(Host *h, uint64_t trace_ns) {
        return symbol_watch_look(&h->watch, &h->symbols, h->symbols_fd, h->meta, trace_ns);
}

START_TEST(a_change_lies_between_two_looks)
        {
                _cleanup_(host_done) Host h;
                const SymbolMap *map;

                host_init(&h);
                ck_assert_int_eq(symbol_watch_begin(&h.symbols, h.symbols_fd, h.meta), 0);
                ck_assert_int_eq(look(&h, 1000), 0);
                ck_assert_int_eq(look(&h, 2000), 0);
                put(&h, "b 4096 0 - Live 0xffffffffc0000000\n",
                    KERNEL "ffffffffc0000000 t b_f\t[b]\n");
                ck_assert_int_eq(look(&h, 3000), SYMBOL_WATCH_E_CHANGED);
                ck_assert_uint_eq(h.meta->symbol_maps.n, 1);
                map = &h.meta->symbol_maps.items[0];
                ck_assert_uint_eq(map->unchanged_ns, 2000);
                ck_assert_uint_gt(map->from_ns, 3000); /* reading takes its time */
                ck_assert_str_ne(map->symbols, h.meta->symbols);
                ck_assert_str_ne(map->modules, h.meta->modules);
                ck_assert_int_eq(look(&h, map->from_ns + 1), 0);
        }
END_TEST

START_TEST(modules_that_return_have_the_first_files_again)
        {
                _cleanup_(host_done) Host h;
                uint64_t later;

                host_init(&h);
                ck_assert_int_eq(symbol_watch_begin(&h.symbols, h.symbols_fd, h.meta), 0);
                put(&h, "", KERNEL);
                ck_assert_int_eq(look(&h, 1000), SYMBOL_WATCH_E_CHANGED);
                ck_assert_ptr_null(h.meta->symbol_maps.items[0].modules);
                later = h.meta->symbol_maps.items[0].from_ns + 1000;
                put(&h, "a 4096 7 - Live 0xffffffffc0000000\n",
                    KERNEL "ffffffffc0000000 t a_f\t[a]\n");
                ck_assert_int_eq(look(&h, later), SYMBOL_WATCH_E_CHANGED);
                ck_assert_str_eq(h.meta->symbol_maps.items[1].symbols, h.meta->symbols);
                ck_assert_str_eq(h.meta->symbol_maps.items[1].modules, h.meta->modules);
        }
END_TEST

START_TEST(a_map_that_was_taken_away_is_found_again)
        {
                _cleanup_(host_done) Host h;

                host_init(&h);
                ck_assert_int_eq(symbol_watch_begin(&h.symbols, h.symbols_fd, h.meta), 0);
                ck_assert_int_eq(look(&h, 1000), 0);
                put(&h, "", KERNEL);
                ck_assert_int_eq(look(&h, 2000), SYMBOL_WATCH_E_CHANGED);
                symbol_maps_drop_last(&h.meta->symbol_maps);
                ck_assert_int_eq(look(&h, 3000), SYMBOL_WATCH_E_CHANGED);
                ck_assert_uint_eq(h.meta->symbol_maps.items[0].unchanged_ns, 1000);
        }
END_TEST

START_TEST(maps_have_a_bound)
        {
                _cleanup_(host_done) Host h;
                uint64_t now_ns = 0;
                int r = 0;

                host_init(&h);
                ck_assert_int_eq(symbol_watch_begin(&h.symbols, h.symbols_fd, h.meta), 0);
                for (int i = 0; i <= SYMBOL_MAPS_MAX; i++) {
                        char modules[64];

                        ck_assert_int_eq(r, i == 0 ? 0 : SYMBOL_WATCH_E_CHANGED);
                        (void) snprintf(modules, sizeof(modules), "m%d 1 0 - Live 0x1\n", i);
                        put(&h, modules, KERNEL);
                        now_ns += 1000000000;
                        r = look(&h, now_ns);
                }
                ck_assert_int_eq(r, -ENOSPC);
                ck_assert_uint_eq(h.meta->symbol_maps.n, SYMBOL_MAPS_MAX);
        }
END_TEST

START_TEST(after_a_failure_the_next_looks_are_left_out)
        {
                _cleanup_(host_done) Host h;
                int n_failed = 0, fd;

                host_init(&h);
                ck_assert_int_eq(symbol_watch_begin(&h.symbols, h.symbols_fd, h.meta), 0);
                put(&h, "", KERNEL);
                fd = h.symbols_fd;
                h.symbols_fd = -EBADF;
                for (int i = 0; i < 100; i++)
                        n_failed += look(&h, 1000) < 0;
                ck_assert_int_ge(n_failed, 2);
                ck_assert_int_le(n_failed, 8);
                h.symbols_fd = fd;
                for (int i = 0; i < 40 && h.meta->symbol_maps.n == 0; i++)
                        (void) look(&h, 2000);
                ck_assert_uint_eq(h.meta->symbol_maps.n, 1);
        }
END_TEST

START_TEST(a_session_whose_symbols_were_hidden_is_left_alone)
        {
                _cleanup_(host_done) Host h;

                host_init(&h);
                put(&h, "a 4096 0 - Live 0x0\n", "0000000000000000 T startup_64\n");
                ck_assert_int_eq(symbol_watch_begin(&h.symbols, h.symbols_fd, h.meta),
                                 KERNEL_SYMBOLS_E_HIDDEN);
                ck_assert_ptr_null(h.meta->symbols);
                put(&h, "", KERNEL);
                ck_assert_int_eq(look(&h, 1000), 0);
                ck_assert_uint_eq(h.meta->symbol_maps.n, 0);
        }
END_TEST

UNIT_SUITE("symbol-watch", a_change_lies_between_two_looks,
           modules_that_return_have_the_first_files_again, a_map_that_was_taken_away_is_found_again,
           maps_have_a_bound, after_a_failure_the_next_looks_are_left_out,
           a_session_whose_symbols_were_hidden_is_left_alone)

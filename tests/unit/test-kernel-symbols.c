/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/symbols/kernel-symbols.h"
#include "scratch.h"

#define KERNEL "ffffffff81000000 T startup_64\n"
#define A "a 4096 0 - Live 0xffffffffc0000000\n"

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
        h->symbols.proc = h->symbols.sys = h->scratch.path;
        ck_assert_int_eq(session_meta_new(&h->meta), 0);
        put(h, A, KERNEL "ffffffffc0000000 t a_f\t[a]\n");
}

static void host_done(Host *h) {
        session_meta_free(h->meta);
        kernel_symbols_done(&h->symbols);
        safe_close(h->symbols_fd);
        scratch_done(&h->scratch);
}

#define CASE(h, init)                                                                              \
        _cleanup_(host_done) Host h;                                                               \
        init(&h)
#define CASE_TEST(name, init) TEST_WITH(name, (Host * h), CASE(h, init), &h)

/* --- the kernel's ------------------------------------------------------------------------------- */

static SymbolNames stored(Host *h) {
        const SymbolNames *names;

        ck_assert_int_eq(kernel_symbols_store(&h->symbols, h->symbols_fd, &names), 0);
        return *names;
}

TEST(addresses_that_are_all_zero_are_hidden) {
        static const char *const texts[] = {
                "0000000000000000 A fixed_percpu_data\n0000000000000000 T _stext\n", ""
        };
        CASE(h, host_init);
        const SymbolNames *names;

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                put(&h, A, texts[i]);
                ck_assert_int_eq(kernel_symbols_store(&h.symbols, h.symbols_fd, &names),
                                 KERNEL_SYMBOLS_E_HIDDEN);
        }
}

TEST(symbols_are_read_again_only_when_modules_changed) {
        static const struct {
                const char *before, *after;
                bool is_new;
        } cases[] = {
                { A, A, false },
                { A, "new 16384 0 - Live 0x0000000000000000\n", true },
                /* how often and by whom it is used */
                { "nf_nat 65536 1 iptable_nat, Live 0xffffffffc0200000\n" A,
                  "nf_nat 65536 3 iptable_nat,xt_MASQUERADE, Live 0xffffffffc0200000\n" A, false },
                /* loaded again */
                { "b 4096 0 - Live 0xffffffffc0200000\n" A,
                  A "b 4096 0 - Live 0xffffffffc0200000\n", true },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(host_done) Host h;
                SymbolNames first;

                host_init(&h);
                put(&h, cases[i].before, KERNEL);
                first = stored(&h);
                put(&h, cases[i].after, KERNEL "ffffffffc0000000 t new [new]\n");
                ck_assert_msg(!streq(first.symbols, stored(&h).symbols) == cases[i].is_new, "%s",
                              cases[i].after);
        }
}

CASE_TEST(the_list_has_what_does_not_change_at_every_use, host_init) {
        _cleanup_free_ char *text = NULL;

        put(h,
            "nf_nat 65536 1 iptable_nat, Live 0xffffffffc0200000\n"
            "ext4 991232 1 - Live 0xffffffffc0100000 (OE)\n",
            KERNEL);
        ck_assert_int_eq(symbol_file_load(h->symbols_fd, stored(h).modules, &text, NULL), 0);
        ck_assert_str_eq(text, "nf_nat 65536 Live 0xffffffffc0200000 -\n"
                               "ext4 991232 Live 0xffffffffc0100000 (OE)\n");
}

CASE_TEST(builds_are_kept_beside_them, host_init) {
        static const struct {
                const char *path;
                uint32_t n_name, n_desc, type;
                char rest[8];
        } notes[] = { { "kernel/notes", 4, 2, 3, "GNU\0\x12\xab\0" },
                      { "module/a/notes/.note.gnu.build-id", 4, 2, 3, "GNU\0\x34\xcd\0" },
                      { "module/bad/notes/.note.gnu.build-id", 4, 9, 3, "GNU\0\x12\xab\0" } };
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < ELEMENTSOF(notes); i++) {
                scratch_put(&h->scratch, notes[i].path, "");
                scratch_write(h->scratch.fd, notes[i].path, &notes[i].n_name, 20);
        }
        put(h, "bad 1 0 - Live 0xffffffffc0100000\nnone 1 0 - Live 0xffffffffc0200000\n" A, KERNEL);
        ck_assert_int_eq(symbol_watch_begin(&h->symbols, h->symbols_fd, h->meta), 0);
        ck_assert_str_eq(h->meta->build_id, "12ab");
        ck_assert_int_eq(symbol_file_load(h->symbols_fd, h->meta->modules, &text, NULL), 0);
        ck_assert_str_eq(text, "bad 1 Live 0xffffffffc0100000 -\n"
                               "none 1 Live 0xffffffffc0200000 -\n"
                               "a 4096 Live 0xffffffffc0000000 - 34cd\n");
}

CASE_TEST(symbols_whose_file_went_are_stored_again, host_init) {
        char path[96];

        (void) snprintf(path, sizeof(path), "%s.zst", stored(h).symbols);
        ck_assert_int_eq(unlinkat(h->symbols_fd, path, 0), 0);
        (void) stored(h);
        ck_assert_int_eq(faccessat(h->symbols_fd, path, F_OK, 0), 0);
}

CASE_TEST(a_kernel_without_modules_has_no_list, host_init) {
        ck_assert_int_eq(unlinkat(h->scratch.fd, "modules", 0), 0);
        for (int i = 0; i < 2; i++) {
                ck_assert_str_ne(stored(h).symbols, "");
                ck_assert_str_eq(stored(h).modules, "");
        }
}

/* --- a session's -------------------------------------------------------------------------------- */

static void begin(Host *h) {
        host_init(h);
        ck_assert_int_eq(symbol_watch_begin(&h->symbols, h->symbols_fd, h->meta), 0);
}

static int look(Host *h, uint64_t trace_ns) {
        return symbol_watch_look(&h->watch, &h->symbols, h->symbols_fd, h->meta, trace_ns);
}

CASE_TEST(a_change_lies_between_two_looks, begin) {
        const SymbolMap *map;

        ck_assert_int_eq(look(h, 1000), 0);
        ck_assert_int_eq(look(h, 2000), 0);
        put(h, "b 4096 0 - Live 0xffffffffc0000000\n", KERNEL "ffffffffc0000000 t b_f\t[b]\n");
        ck_assert_int_eq(look(h, 3000), SYMBOL_WATCH_E_CHANGED);
        ck_assert_uint_eq(h->meta->symbol_maps.n, 1);
        map = &h->meta->symbol_maps.items[0];
        ck_assert_uint_eq(map->unchanged_ns, 2000);
        ck_assert_uint_gt(map->from_ns, 3000); /* reading takes its time */
        ck_assert_str_ne(map->symbols, h->meta->symbols);
        ck_assert_str_ne(map->modules, h->meta->modules);
        ck_assert_int_eq(look(h, map->from_ns + 1), 0);
}

CASE_TEST(modules_that_return_have_the_first_files_again, begin) {
        uint64_t later;

        put(h, "", KERNEL);
        ck_assert_int_eq(look(h, 1000), SYMBOL_WATCH_E_CHANGED);
        ck_assert_ptr_null(h->meta->symbol_maps.items[0].modules);
        later = h->meta->symbol_maps.items[0].from_ns + 1000;
        put(h, "a 4096 7 - Live 0xffffffffc0000000\n", KERNEL "ffffffffc0000000 t a_f\t[a]\n");
        ck_assert_int_eq(look(h, later), SYMBOL_WATCH_E_CHANGED);
        ck_assert_str_eq(h->meta->symbol_maps.items[1].symbols, h->meta->symbols);
        ck_assert_str_eq(h->meta->symbol_maps.items[1].modules, h->meta->modules);
}

CASE_TEST(a_map_that_was_taken_away_is_found_again, begin) {
        ck_assert_int_eq(look(h, 1000), 0);
        put(h, "", KERNEL);
        ck_assert_int_eq(look(h, 2000), SYMBOL_WATCH_E_CHANGED);
        symbol_maps_drop_last(&h->meta->symbol_maps);
        ck_assert_int_eq(look(h, 3000), SYMBOL_WATCH_E_CHANGED);
        ck_assert_uint_eq(h->meta->symbol_maps.items[0].unchanged_ns, 1000);
}

CASE_TEST(maps_have_a_bound, begin) {
        int r = 0;

        for (int i = 0; i <= SYMBOL_MAPS_MAX; i++) {
                char modules[64];

                ck_assert_int_eq(r, i == 0 ? 0 : SYMBOL_WATCH_E_CHANGED);
                (void) snprintf(modules, sizeof(modules), "m%d 1 0 - Live 0x1\n", i);
                put(h, modules, KERNEL);
                r = look(h, (uint64_t) (i + 1) * 1000000000);
        }
        ck_assert_int_eq(r, -ENOSPC);
        ck_assert_uint_eq(h->meta->symbol_maps.n, SYMBOL_MAPS_MAX);
}

CASE_TEST(after_a_failure_the_next_looks_are_left_out, begin) {
        int n_failed = 0, fd;

        put(h, "", KERNEL);
        fd = h->symbols_fd;
        h->symbols_fd = -EBADF;
        for (int i = 0; i < 100; i++)
                n_failed += look(h, 1000) < 0;
        ck_assert_int_ge(n_failed, 2);
        ck_assert_int_le(n_failed, 8);
        h->symbols_fd = fd;
        for (int i = 0; i < 40 && h->meta->symbol_maps.n == 0; i++)
                (void) look(h, 2000);
        ck_assert_uint_eq(h->meta->symbol_maps.n, 1);
}

CASE_TEST(a_session_whose_symbols_were_hidden_is_left_alone, host_init) {
        put(h, "a 4096 0 - Live 0x0\n", "0000000000000000 T startup_64\n");
        ck_assert_int_eq(symbol_watch_begin(&h->symbols, h->symbols_fd, h->meta),
                         KERNEL_SYMBOLS_E_HIDDEN);
        ck_assert_ptr_null(h->meta->symbols);
        put(h, "", KERNEL);
        ck_assert_int_eq(look(h, 1000), 0);
        ck_assert_uint_eq(h->meta->symbol_maps.n, 0);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/names.h"
#include "page-builder.h"
#include "store/symbol-file.h"

/* A map of one function of a module, from @from_ns on, seen at once. */
static void add_map(Recording *r, uint64_t from_ns, const char *function) {
        char text[256], hash[SYMBOL_HASH_CHARS + 1];
        int n = snprintf(text, sizeof(text),
                         "ffffffff81000000 T udp_sendmsg\nffffffffc0000010 t %s\t[it]\n", function);

        ck_assert_int_eq(symbol_file_store(r->symbols_fd, text, (size_t) n, hash), 0);
        ck_assert_int_eq(symbol_maps_add(&r->meta->symbol_maps, from_ns, from_ns, hash, NULL), 0);
}

static void expect(SymbolTimeline *a, uint64_t timestamp_ns, const char *name) {
        SymbolTimelineSpan span;
        Symbol symbol;

        ck_assert_int_eq(symbol_timeline_span(a, timestamp_ns, &span), 0);
        ck_assert_uint_le(span.begin_ns, timestamp_ns);
        ck_assert_uint_ge(span.end_ns, timestamp_ns);
        ck_assert_int_eq(symbol_timeline_span_find(&span, F_MODULE, &symbol), name != NULL);
        if (name) {
                ck_assert_uint_eq(symbol.n_name, strlen(name));
                ck_assert_mem_eq(symbol.name, name, symbol.n_name);
        }
}

RECORDING_TEST(each_time_has_its_map, &layouts[LAYOUT_6_12]) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NULL;

        add_map(r, 100, "second");
        add_map(r, 200, "third");
        add_map(r, 300, "second");
        ck_assert_int_eq(symbol_timeline_open(&a, r->dir, r->meta), 0);
        ck_assert(symbol_timeline_has_names(a));
        expect(a, 99, "ovl_open");
        expect(a, 100, "second");
        expect(a, 200, "third");
        expect(a, UINT64_MAX, "second");
        expect(a, 0, "ovl_open"); /* dropped meanwhile, and read again */
        ck_assert(symbol_timeline_has_names(a));
}

RECORDING_TEST(maps_that_came_while_it_was_open_are_taken_over, &layouts[LAYOUT_6_12]) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NULL;

        ck_assert_int_eq(symbol_timeline_open(&a, r->dir, r->meta), 0);
        ck_assert_int_eq(symbol_timeline_refresh(a, r->meta), 0);
        expect(a, 100, "ovl_open");
        add_map(r, 100, "second");
        ck_assert_int_eq(symbol_timeline_refresh(a, r->meta), 1);
        ck_assert_int_eq(symbol_timeline_refresh(a, r->meta), 0);
        expect(a, 100, "second");
}

RECORDING_TEST(a_map_that_is_missing_costs_the_names_of_its_time_alone, &layouts[LAYOUT_6_12]) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NULL;
        char name[64];

        add_map(r, 100, "second");
        add_map(r, 200, "third");
        (void) snprintf(name, sizeof(name), "%s.zst", r->meta->symbol_maps.items[0].symbols);
        ck_assert_int_eq(unlinkat(r->symbols_fd, name, 0), 0);
        ck_assert_int_eq(symbol_timeline_open(&a, r->dir, r->meta), 0);
        expect(a, 99, "ovl_open");
        expect(a, 100, NULL);
        expect(a, 200, "third");
}

RECORDING_TEST(a_recording_without_symbols_has_no_names, &layouts[LAYOUT_6_12]) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NULL;

        free(TAKE_PTR(r->meta->symbols));
        ck_assert_int_eq(symbol_timeline_open(&a, r->dir, r->meta), 0);
        ck_assert(!symbol_timeline_has_names(a));
        expect(a, 0, NULL);
}

RECORDING_TEST(a_map_that_is_damaged_is_empty_and_known, &layouts[LAYOUT_6_12]) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NULL;
        char name[SYMBOL_HASH_CHARS + 8];

        add_map(r, 100, "second");
        (void) snprintf(name, sizeof(name), "%s.zst", r->meta->symbols);
        ck_assert_int_eq(file_replace(r->symbols_fd, name, "no frame", 8, 0600), 0);
        ck_assert_int_eq(symbol_timeline_open(&a, r->dir, r->meta), 0);
        ck_assert(symbol_timeline_is_damaged(a));
        expect(a, 0, NULL);
        expect(a, 100, "second");
}

/* Of which another part was read. */
RECORDING_TEST(a_part_that_is_damaged_is_known_when_it_was_needed_or_all_are_looked_at,
               &layouts[LAYOUT_6_12]) {
        for (unsigned needed = 0; needed < 2; needed++) {
                _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NULL;
                _cleanup_free_ char *text = malloc(6000 * 32), *packed = NULL;
                char hash[SYMBOL_HASH_CHARS + 1], name[SYMBOL_HASH_CHARS + 8], *p = text;
                size_t n;

                for (unsigned i = 0; i < 5000; i++)
                        p += sprintf(p, "ffffffff81%06x t f%u_%u\n", i * 16, needed, i);
                p = stpcpy(p, "ffffffffc0000010 t of_the_last\t[it]\n");
                ck_assert_int_eq(symbol_file_store(r->symbols_fd, text, (size_t) (p - text), hash),
                                 0);
                (void) snprintf(name, sizeof(name), "%s.zst", hash);
                ck_assert_int_eq(file_read(r->symbols_fd, name, &packed, &n, 1 << 20), 0);
                packed[1000] ^= 1;
                ck_assert_int_eq(file_replace(r->symbols_fd, name, packed, n, 0600), 0);
                ck_assert_int_eq(text_replace(&r->meta->symbols, hash), 0);
                ck_assert_int_eq(symbol_timeline_open(&a, r->dir, r->meta), 0);
                expect(a, 0, "of_the_last");
                ck_assert(!symbol_timeline_is_damaged(a));
                if (needed) {
                        SymbolTimelineSpan span;

                        ck_assert_int_eq(symbol_timeline_span(a, 0, &span), 0);
                        ck_assert(
                                !symbol_timeline_span_find(&span, 0xffffffff81000010, &(Symbol){}));
                } else
                        ck_assert_int_eq(symbol_timeline_check(a), 0);
                ck_assert(symbol_timeline_is_damaged(a));
        }
}

RECORDING_TEST(symbols_that_were_not_kept_are_no_damage, &layouts[LAYOUT_6_12]) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = NULL;

        free(r->meta->symbols);
        r->meta->symbols = NULL;
        ck_assert_int_eq(symbol_timeline_open(&a, r->dir, r->meta), 0);
        ck_assert(!symbol_timeline_is_damaged(a));
        expect(a, 0, NULL);
}

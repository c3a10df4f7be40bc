/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <time.h>

#include "base/buf.h"
#include "decode/names.h"
#include "unit.h"

static Symbols *table(const char *text) {
        Symbols *s = MADE(Symbols, symbols_new, strdup(text), strlen(text));

        return s;
}

static void expect(const Symbols *s, uint64_t address, const char *name, const char *module) {
        Symbol y = {};

        ck_assert_int_eq(symbols_find(s, address, &y), name != NULL);
        if (!name)
                return;
        ck_assert_uint_eq(y.n_name, strlen(name));
        ck_assert_mem_eq(y.name, name, y.n_name);
        ck_assert_int_eq(y.module != NULL, module != NULL);
        if (!module)
                return;
        ck_assert_uint_eq(y.n_module, strlen(module));
        ck_assert_mem_eq(y.module, module, y.n_module);
}

TEST(an_address_has_the_name_of_the_last_symbol_before_it) {
        static const char two[] = "ffffffff81000000 T first\nffffffff81000100 t second\n";
        /* Of equal addresses the first line counts. */
        static const char equal[] = "ffffffff81000200 t late\nffffffff81000000 T zeta\n"
                                    "ffffffff81000000 T alpha\nffffffff81000200 t later\n";
        static const char modules[] = "ffffffffc0000000 t ovl_open\t[overlay]\n"
                                      "ffffffffc0001000 t bpf_prog\t[bpf]";
        static const char far[] = "0000000000000000 A fixed_percpu_data\n"
                                  "0000000000001000 A cpu_debug_store\n"
                                  "ffffffff81000000 T only\n";
        /* Lines that are no symbols are passed over. */
        static const char rubbish[] = "\nrubbish\nffffffff81000000\nffffffff81000000 T\n"
                                      "ffffffff81000000 T \nffffffff810000001 T long\n"
                                      " ffffffff81000000 T blank\n"
                                      "ffffffff81000000 T good\nffffffff8100";
        static const struct {
                const char *text;
                uint64_t address;
                const char *name, *module;
        } cases[] = {
                { two, 0xffffffff80ffffff, NULL, NULL },
                { two, 0xffffffff81000000, "first", NULL },
                { two, 0xffffffff810000ff, "first", NULL },
                { two, 0xffffffff81000104, "second", NULL },
                { two, 0xffffffff81000100, "second", NULL },
                { equal, 0xffffffff81000010, "zeta", NULL },
                { equal, 0xffffffff81000210, "late", NULL },
                { modules, 0xffffffffc0000004, "ovl_open", "overlay" },
                { modules, 0xffffffffc0001004, "bpf_prog", "bpf" },
                { far, 0xffffffff81000000 + SYMBOL_BYTES_MAX + 1, NULL, NULL },
                { far, 0xfffffff081000000, NULL, NULL },
                { far, 0xffffffff81000001, "only", NULL },
                { rubbish, 0xffffffff81000000, "good", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(symbols_freep) Symbols *s = table(cases[i].text);

                for (int k = 0; k < 2; k++) /* each time */
                        expect(s, cases[i].address, cases[i].name, cases[i].module);
                if (cases[i].text == rubbish)
                        ck_assert(symbols_have_names(s));
        }
}

TEST(what_is_behind_an_address_is_the_next_that_begins) {
        _cleanup_(symbols_freep) Symbols *s =
                table("ffffffff81000000 T first\nffffffff81000100 t second\n"
                      "ffffffff81000100 t alias\nffffffff81000200 t third\n");
        Symbol y;

        ck_assert(symbols_find_behind(s, 1, &y));
        ck_assert(startswith(y.name, "first\n"));
        ck_assert(symbols_find_behind(s, 0xffffffff81000000, &y));
        ck_assert(startswith(y.name, "second\n"));
        ck_assert(symbols_find_behind(s, 0xffffffff81000100, &y));
        ck_assert(startswith(y.name, "third\n"));
        ck_assert(!symbols_find_behind(s, 0xffffffff81000200, &y));
        ck_assert(!symbols_find_behind(s, UINT64_MAX, &y));
}

TEST(a_symbol_ends_where_the_next_of_its_module_begins) {
        _cleanup_(symbols_freep) Symbols *s =
                table("ffffffff81000000 T first\nffffffff81000100 t second\n"
                      "ffffffff81000100 t alias\nffffffff81000250 D third\n"
                      "ffffffffc0000000 t fourth\t[m]\nffffffffc0000010 t fifth\t[m]\n"
                      "ffffffffc0001000 t sixth\t[n]\n");
        static const struct {
                uint64_t address, n_bytes;
        } cases[] = {
                { 0xffffffff810000ff, 0x100 }, { 0xffffffff81000104, 0x150 },
                { 0xffffffff81000250, 0 },     { 0xffffffffc0000000, 0x10 },
                { 0xffffffffc0000020, 0 },     { 0xffffffffc0001000, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Symbol y;

                ck_assert(symbols_find(s, cases[i].address, &y));
                ck_assert_uint_eq(y.n_bytes, cases[i].n_bytes);
        }
}

TEST(hidden_addresses_name_nothing) {
        _cleanup_(symbols_freep) Symbols *s = table("0000000000000000 T a\n0000000000000000 T b\n");

        ck_assert(!symbols_have_names(s));
        expect(s, 0, NULL, NULL);
}

TEST(nothing_is_an_empty_table) {
        _cleanup_(symbols_freep) Symbols *s = MADE(Symbols, symbols_new, NULL, 0);

        ck_assert(!symbols_have_names(s));
        expect(s, 0xffffffff81000000, NULL, NULL);
}

TEST(a_name_finds_its_address) {
        _cleanup_(symbols_freep) Symbols *s =
                table("ffffffff81000000 T udp_sendmsg\nffffffff81000100 t udp_send\t[m]\n");
        Symbol y;

        ck_assert(symbols_find_name(s, "udp_send", &y));
        ck_assert_uint_eq(y.address, 0xffffffff81000100);
        ck_assert(symbols_find_name(s, "udp_send", &y));
        ck_assert_uint_eq(y.n_module, 1);
        ck_assert(!symbols_find_name(s, "udp", &y));
}

TEST(a_name_is_a_whole_word_of_a_line_that_is_a_symbol_and_the_lowest_of_several) {
        _cleanup_(symbols_freep) Symbols *s =
                table("udp_send\n T udp_send\nffffffff80000000 T T udp_send\n"
                      "ffffffff80000000T udp_send\nrubbish8f000000 T udp_send\n"
                      "ffffffff80000000 T a udp_send\nffffffff810000000 T udp_send\n"
                      "ffffffff81000300 T udp_send_skb\nffffffff81000200 T udp_send\n"
                      "ffffffff81000050 T xudp_send\nffffffff81000060 T udp_send.cold\n"
                      "ffffffff81000100 t udp_send\t[m]\nffffffff81000100 t udp_send\t[other]\n"
                      "ffffffff81000070 t last\t[udp_send]\nffffffff80000000 T ");
        Symbol y;

        ck_assert(symbols_find_name(s, "udp_send", &y));
        ck_assert_uint_eq(y.address, 0xffffffff81000100);
        ck_assert_uint_eq(y.n_module, 1);
        ck_assert(symbols_find_name(s, "last", &y));
        ck_assert(!symbols_find_name(s, "[udp_send]", &y));
}

/* The first digits are compared with those of the line before. */
TEST(digits_of_any_number_are_an_address) {
        static const char text[] = "ffffffff81000000 T a\nffffffff T b\nfffffff T c\n"
                                   "ffffffff8 T d\nFFFFFFFF81000010 T e\nffffffff81000020 T f\n"
                                   "00000000 T g\n0000000000000100 T h\n12345678 T i\n"
                                   "\0\0\0\0\0\0\0\0000000200 T j\n"
                                   "ffffffff81g00000 T k\nffffffff81`00000 T l\n"
                                   "fffffffa8100:000 T m\nffffffffAb000040 T n\n12345678";
        static const struct {
                const char *name;
                uint64_t address;
        } cases[] = {
                { "a", 0xffffffff81000000 }, { "b", 0xffffffff }, { "c", 0xfffffff },
                { "d", 0xffffffff8 },        { "g", 0 },          { "e", 0xffffffff81000010 },
                { "f", 0xffffffff81000020 }, { "h", 0x100 },      { "i", 0x12345678 },
                { "n", 0xffffffffab000040 },
        };
        char *copy = memcpy(malloc(sizeof(text)), text, sizeof(text));
        _cleanup_(symbols_freep) Symbols *s = MADE(Symbols, symbols_new, copy, sizeof(text) - 1);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Symbol y;

                expect(s, cases[i].address, cases[i].name, NULL);
                ck_assert(symbols_find_name(s, cases[i].name, &y));
                ck_assert_uint_eq(y.address, cases[i].address);
        }
        for (size_t i = 0; i < 4; i++)
                ck_assert(!symbols_find_name(s, (const char *[]){ "j", "k", "l", "m" }[i],
                                             &(Symbol){}));
}

#define HASH "0123456789abcdef0123456789abcdef"

/* The table of what symbol_file_pack() makes of a text. */
static int open_packed(SymbolParts *ret, const char *text, size_t part_bytes) {
        Buf b = BUF_INIT;

        ck_assert_int_eq(symbol_file_pack(&b, text, strlen(text), HASH, part_bytes), 0);
        return symbol_parts_open(ret, b.data, b.n_data, HASH);
}

static void expect_alike(bool found, const Symbol *a, bool has_found, const Symbol *b) {
        ck_assert_int_eq(found, has_found);
        if (!found)
                return;
        ck_assert_uint_eq(a->address, b->address);
        ck_assert_uint_eq(a->n_bytes, b->n_bytes);
        ck_assert_uint_eq(a->n_name, b->n_name);
        ck_assert_mem_eq(a->name, b->name, a->n_name);
        ck_assert_uint_eq(a->n_module, b->n_module);
}

/* Modules in any order, some on both sides of a part's end, and several symbols at one address. */
TEST(parts_tell_what_the_whole_tells) {
        unsigned seed = 7;

        for (unsigned round = 0; round < 60 / UNIT_EVERY; round++) {
                _cleanup_free_ char *text = malloc(200 * 64);
                _cleanup_(symbols_freep) Symbols *whole = NULL, *packed = NULL;
                SymbolParts parts;
                char *p = text;

                for (unsigned i = 0; i < 200; i++) {
                        unsigned address =
                                i < 100 ? i * 8 : 0x1000 + (unsigned) rand_r(&seed) % 0x300;

                        p += sprintf(p, "ffffffff8100%04x t %s%u%s\n", address & ~7U,
                                     i % 50 == 49 ? SYMBOL_IRQENTRY : "f", i % 100,
                                     i < 100      ? ""
                                     : i / 25 % 2 ? "\t[a]"
                                                  : "\t[bc]");
                }
                whole = table(text);
                ck_assert_int_eq(open_packed(&parts, text, 1 + round * 20), 0);
                ck_assert_ptr_nonnull(parts.packed);
                packed = MADE(Symbols, symbols_take, &parts);
                for (unsigned i = 0; i < 300; i++) {
                        uint64_t at = 0xffffffff81000000 + (unsigned) rand_r(&seed) % 0x1400;
                        char name[32];
                        Symbol a = {}, b = {};

                        expect_alike(symbols_find(whole, at, &a), &a, symbols_find(packed, at, &b),
                                     &b);
                        expect_alike(symbols_find_behind(whole, at, &a), &a,
                                     symbols_find_behind(packed, at, &b), &b);
                        (void) snprintf(name, sizeof(name), "%s%u", i % 2 ? SYMBOL_IRQENTRY : "f",
                                        i % 100);
                        expect_alike(symbols_find_name(whole, name, &a), &a,
                                     symbols_find_name(packed, name, &b), &b);
                }
                ck_assert(!symbols_are_damaged(packed));
        }
}

TEST(a_part_that_is_not_as_its_index_says_costs_its_names_alone_and_is_told) {
        static const char text[] = "ffffffff81000000 T first\nffffffff81000100 t second\n"
                                   "ffffffff81000200 T third\nffffffff81000300 t fourth\n";

        for (unsigned wrong = 0; wrong < 5; wrong++) {
                _cleanup_(symbols_freep) Symbols *s = NULL;
                SymbolParts p;

                ck_assert_int_eq(open_packed(&p, text, 40), 0);
                ck_assert_uint_eq(p.n, 2);
                p.items[0].low -= wrong == 0;
                p.items[0].high += wrong == 1;
                p.items[0].n_symbols -= wrong == 2;
                p.items[0].n_symbols += wrong == 3;
                p.n_symbols += wrong == 3;
                p.items[0].checksum += wrong == 4;
                s = MADE(Symbols, symbols_take, &p);
                ck_assert(symbols_have_names(s));
                expect(s, 0xffffffff81000204, "third", NULL);
                ck_assert(!symbols_are_damaged(s)); /* it was not needed */
                expect(s, 0xffffffff81000000, NULL, NULL);
                ck_assert(symbols_are_damaged(s));
                expect(s, 0xffffffff81000304, "fourth", NULL);
        }
}

TEST(a_line_without_end_is_searched_once) {
        const size_t n = (8 << 20) / UNIT_EVERY & ~1U;
        char *text = malloc(n + 1);
        Symbol y;

        for (size_t i = 0; i < n; i += 2)
                memcpy(text + i, "x ", 2);
        text[n] = 0;
        _cleanup_(symbols_freep) Symbols *s = MADE(Symbols, symbols_new, text, n);

        ck_assert(!symbols_find_name(s, "x", &y)); /* or it takes hours */
}

TEST(two_hundred_thousand_symbols_are_ready_in_a_moment) {
        enum { N = 200000, N_MODULES = 60000 };
        _cleanup_(symbols_freep) Symbols *s = NULL;
        char *text = malloc(N * 64), *p = text;
        struct timespec a, b;

        for (unsigned i = 0; i < N; i++) {
                bool module = i >= N - N_MODULES;
                unsigned k = module ? i * 7919U % N_MODULES : i;

                p += sprintf(p, "%016llx t some_function_%u%s\n",
                             (module ? 0xffffffffc0000000 : 0xffffffff81000000) + k * 64ULL, i,
                             module ? "\t[module]" : "");
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        ck_assert_int_eq(symbols_new(&s, text, (size_t) (p - text)), 0);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        ck_assert(symbols_have_names(s));
        expect(s, 0xffffffff81000000 + 64 * 5, "some_function_5", NULL);
        /* 50 ms of CPU time, or minutes if it went with the square. */
        ck_assert_int_lt((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000, 20000);
}

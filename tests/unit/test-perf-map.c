/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "programs/programs-private.h"
#include "unit.h"

static void is_at(const PerfMap *m, uint64_t address, const char *expected) {
        const PerfMapItem *i = perf_map_find(m, address);
        char text[64] = "none";

        if (i)
                (void) snprintf(text, sizeof(text), "%.*s", (int) i->n_name, i->name);
        ck_assert_str_eq(text, expected);
}

static PerfMap map_of(const char *text) {
        PerfMap m;

        ck_assert_int_eq(perf_map_read(&m, strdup(text)), 0);
        return m;
}

TEST(an_address_is_in_the_line_that_has_it) {
        _cleanup_(perf_map_done) PerfMap m = map_of("2000 10 later\n"
                                                    "1000 20 py::f:/a b.py\n"
                                                    "1000 10 py::g:/a b.py\n"
                                                    "ffffffffffffffff 1 last");

        is_at(&m, 0xfff, "none");
        is_at(&m, 0x100f, "py::g:/a b.py"); /* the later line counts */
        is_at(&m, 0x1010, "none");
        is_at(&m, 0x2000, "later");
        is_at(&m, 0x2010, "none");
        is_at(&m, UINT64_MAX, "none");
}

TEST(what_is_no_line_is_passed_over) {
        _cleanup_(perf_map_done) PerfMap m =
                map_of("\n1000\n1000 \n1000 10\n1000 10 \n 1000 10 a\n-1 2 b\n"
                       "11111111111111111 1 c\n1000 0 d\n0x2000 10 e\n"
                       "fffffffffffffff0 20 f\n3000 10 g\n");

        for (uint64_t at = 0; at < 0x3000; at += 0x10)
                is_at(&m, at, at - 0x2000 < 0x10 ? "e" : "none");
        is_at(&m, 0xfffffffffffffff8, "none");
        is_at(&m, 0x3001, "g");
}

TEST(names_are_as_in_the_source) {
#ifdef HAVE_LIBIBERTY
        static const char *const names[][2] = {
                { "_ZN3app6Sender5twiceEi", "app::Sender::twice" },
                { "_RNvC6_123foo3bar", "123foo::bar" },
                { "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
                  "core::fmt::Write::write_fmt" },
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *name = demangle(names[i][0]);

                ck_assert_ptr_nonnull(name);
                ck_assert_str_eq(name, names[i][1]);
        }
#endif
        ck_assert_ptr_null(demangle("main.main"));
        ck_assert_ptr_null(demangle("_Z"));
        ck_assert_ptr_null(demangle(""));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/function.h"
#include "unit.h"

static const char kallsyms[] = "ffffffff81000000 T udp_recvmsg\n"
                               "ffffffff81000100 T udp_sendmsg\n"
                               "ffffffffc0000000 t ovl_open\t[overlay]\n";

typedef struct Names {
        SymbolTimeline *symbol_timeline;
        Strv roots;
        Functions functions;
} Names;

static Symbols *table(const char *text) {
        Symbols *s = MADE(Symbols, symbols_new, strdup(text), strlen(text));

        return s;
}

static void names_init(Names *n) {
        *n = (Names){};
        ck_assert_int_eq(symbol_timeline_add(&n->symbol_timeline, 0, 0, table(kallsyms)), 0);
        ck_assert_int_eq(strv_add(&n->roots, "ovl_open"), 0);
        ck_assert_int_eq(strv_add(&n->roots, "udp_sendmsg"), 0);
        n->functions = (Functions){ .symbol_timeline = n->symbol_timeline, .roots = &n->roots };
}

static void names_done(Names *n) {
        functions_done(&n->functions);
        symbol_timeline_free(n->symbol_timeline);
        strv_done(&n->roots);
}

#define NAMES(n)                                                                                   \
        _cleanup_(names_done) Names n;                                                             \
        names_init(&n)
#define NAMES_TEST(name) TEST_WITH(name, (Names * n), NAMES(n), &n)

static void expect(Names *n, uint64_t address, const char *label, uint32_t n_name, int root) {
        const Function *f = functions_get(&n->functions, address, 0);

        ck_assert_str_eq(f->label, label);
        ck_assert_uint_eq(f->n_label, strlen(label));
        ck_assert_uint_eq(f->n_name, n_name);
        ck_assert_int_eq(f->root, root);
        ck_assert_uint_eq(f->address, address);
        ck_assert_ptr_eq(functions_get(&n->functions, address, UINT64_MAX), f);
}

NAMES_TEST(labels_are_those_of_the_kernel) {
        expect(n, 0xffffffff81000000, "udp_recvmsg", 11, -1);
        expect(n, 0xffffffff81000104, "udp_sendmsg", 11, 1);
        expect(n, 0xffffffffc0000004, "ovl_open [overlay]", 8, 0);
        expect(n, 0xffffff00, "0xffffff00", 10, -1);
}

TEST(many_functions_stay_where_they_are) {
        enum { N = 20000 };
        NAMES(n);
        _cleanup_free_ const Function **all = calloc(N, sizeof(*all));

        for (size_t i = 0; i < N; i++)
                all[i] = functions_get(&n.functions, i * 16, i);
        for (size_t i = 0; i < N; i++) {
                ck_assert_ptr_eq(functions_get(&n.functions, i * 16, i), all[i]);
                ck_assert_uint_eq(all[i]->address, i * 16);
        }
}

static void labelled(Names *n, uint64_t address, uint64_t timestamp_ns, const char *label) {
        ck_assert_str_eq(functions_get(&n->functions, address, timestamp_ns)->label, label);
}

NAMES_TEST(an_address_has_the_name_of_its_time) {
        const Function *kernels, *modules;

        ck_assert_int_eq(symbol_timeline_add(&n->symbol_timeline, 1000, 2000,
                                             table("ffffffff81000000 T udp_recvmsg\n"
                                                   "ffffffffc0000000 t dummy_xmit\t[dummy]\n")),
                         0);
        ck_assert_int_eq(symbol_timeline_add(&n->symbol_timeline, 3000, 4000,
                                             table("ffffffff81000000 T udp_recvmsg\n")),
                         0);
        functions_forget_times(&n->functions);

        kernels = functions_get(&n->functions, 0xffffffff81000000, 0);
        modules = functions_get(&n->functions, 0xffffffffc0000000, 0);
        ck_assert_str_eq(modules->label, "ovl_open [overlay]");
        ck_assert_int_eq(modules->root, 0);
        labelled(n, 0xffffffffc0000000, 2000, "dummy_xmit [dummy]");
        ck_assert_ptr_eq(functions_get(&n->functions, 0xffffffff81000000, 2500), kernels);
        labelled(n, 0xffffffffc0000000, 2999, "dummy_xmit [dummy]");
        labelled(n, 0xffffffffc0000000, 4000, "0xffffffffc0000000");
        ck_assert_ptr_eq(functions_get(&n->functions, 0xffffffff81000000, 5000), kernels);

        /* CPUs are merged in order, but a live drawing may go back a little. */
        ck_assert_ptr_eq(functions_get(&n->functions, 0xffffffffc0000000, 999), modules);
}

NAMES_TEST(between_two_looks_the_map_where_a_function_begins_is_right) {
        ck_assert_int_eq(symbol_timeline_add(&n->symbol_timeline, 1000, 2000,
                                             table("ffffffff81000000 T udp_recvmsg\n"
                                                   "ffffffffc0000000 t __pfx_dummy_get\t[dummy]\n"
                                                   "ffffffffc0000800 t dummy_xmit\t[dummy]\n"
                                                   "ffffffffc0001000 d dummy_data\t[dummy]\n")),
                         0);
        functions_forget_times(&n->functions);
        labelled(n, 0xffffffffc0000804, 999, "ovl_open [overlay]");
        labelled(n, 0xffffffffc0000000, 1000, "ovl_open [overlay]");
        labelled(n, 0xffffffffc0000804, 1001, "dummy_xmit [dummy]");
        labelled(n, 0xffffffffc0000004, 1999, "ovl_open [overlay]");
        labelled(n, 0xffffffffc0000004, 2000, "__pfx_dummy_get [dummy]");
}

NAMES_TEST(what_begins_in_both_maps_is_the_older_ones_until_a_newer_function_was_met) {
        ck_assert_int_eq(symbol_timeline_add(&n->symbol_timeline, 1000, 2000,
                                             table("ffffffff81000000 T udp_recvmsg\n"
                                                   "ffffffffc0000000 t dummy_get\t[dummy]\n"
                                                   "ffffffffc0000800 t dummy_xmit\t[dummy]\n")),
                         0);
        functions_forget_times(&n->functions);
        labelled(n, 0xffffffffc0000000, 1000, "ovl_open [overlay]");
        labelled(n, 0xffffffff81000000, 1000, "udp_recvmsg");
        labelled(n, 0xffffffffc0000000, 1001, "ovl_open [overlay]");
        labelled(n, 0xffffffffc0000800, 1002, "dummy_xmit [dummy]");
        labelled(n, 0xffffffffc0000000, 1003, "dummy_get [dummy]");
        labelled(n, 0xffffffffc0000000, 2000, "dummy_get [dummy]");
}

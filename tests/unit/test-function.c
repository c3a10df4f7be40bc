/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/function.h"
#include "unit.h"

static const char kallsyms[] = "ffffffff81000000 T udp_recvmsg\n"
                               "ffffffff81000100 T udp_sendmsg\n"
                               "ffffffffc0000000 t ovl_open\t[overlay]\n";

typedef struct Names {
        Symbols *symbols;
        Strv roots;
        Functions *functions;
} Names;

static void names_init(Names *n) {
        *n = (Names){};
        ck_assert_int_eq(symbols_new(&n->symbols, strdup(kallsyms), strlen(kallsyms)), 0);
        ck_assert_int_eq(strv_add(&n->roots, "ovl_open"), 0);
        ck_assert_int_eq(strv_add(&n->roots, "udp_sendmsg"), 0);
        ck_assert_int_eq(functions_new(&n->functions, n->symbols, &n->roots), 0);
}

static void names_done(Names *n) {
        functions_free(n->functions);
        symbols_free(n->symbols);
        strv_done(&n->roots);
}

static void expect(Names *n, uint64_t address, const char *label, uint32_t n_name, int root) {
        const Function *f = functions_get(n->functions, address);

        ck_assert_str_eq(f->label, label);
        ck_assert_uint_eq(f->n_label, strlen(label));
        ck_assert_uint_eq(f->n_name, n_name);
        ck_assert_int_eq(f->root, root);
        ck_assert_uint_eq(f->address, address);
        ck_assert_ptr_eq(functions_get(n->functions, address), f);
}

START_TEST(labels_are_those_of_the_kernel)
        {
                _cleanup_(names_done) Names n;

                names_init(&n);
                expect(&n, 0xffffffff81000000, "udp_recvmsg", 11, -1);
                expect(&n, 0xffffffff81000104, "udp_sendmsg", 11, 1);
                expect(&n, 0xffffffffc0000004, "ovl_open [overlay]", 8, 0);
                expect(&n, 0xffffff00, "0xffffff00", 10, -1);
                ck_assert_uint_eq(functions_n(n.functions), 4);
        }
END_TEST

START_TEST(many_functions_stay_where_they_are)
        {
                enum { N = 20000 };
                _cleanup_(names_done) Names n;
                _cleanup_free_ const Function **all = calloc(N, sizeof(*all));

                names_init(&n);
                for (size_t i = 0; i < N; i++)
                        all[i] = functions_get(n.functions, i * 16);
                for (size_t i = 0; i < N; i++) {
                        ck_assert_ptr_eq(functions_get(n.functions, i * 16), all[i]);
                        ck_assert_uint_eq(all[i]->address, i * 16);
                }
                ck_assert_uint_eq(functions_n(n.functions), N);
        }
END_TEST

UNIT_MAIN("function", labels_are_those_of_the_kernel, many_functions_stay_where_they_are)

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "import/text-private.h"
#include "unit.h"

TEST(a_label_has_one_function) {
        _cleanup_(labels_done) Labels l = {};
        const Function *f, *g;

        f = labels_get(&l, "ovl_open [overlay]", 18, 8);
        g = labels_get(&l, "ovl_open", 8, 8);
        ck_assert_ptr_ne(f, g);
        ck_assert_ptr_eq(labels_get(&l, "ovl_open [overlay]xxx", 18, 8), f);
        ck_assert_str_eq(f->label, "ovl_open [overlay]");
        ck_assert_uint_eq(f->n_name, 8);
        ck_assert_int_eq(f->root, -1);
        ck_assert_uint_eq(l.functions.n, 2);
        ck_assert_str_eq(labels_unknown.label, "?");
}

TEST(many_functions_stay_where_they_are) {
        _cleanup_(labels_done) Labels l = {};
        const Function *f[5000];
        char name[32];

        for (int round = 0; round < 2; round++)
                for (int i = 0; i < 5000; i++) {
                        int n = snprintf(name, sizeof(name), "function_%d", i);
                        const Function *g = labels_get(&l, name, (size_t) n, (size_t) n);

                        if (round == 0)
                                f[i] = g;
                        ck_assert_ptr_eq(f[i], g);
                        ck_assert_str_eq(g->label, name);
                }
        ck_assert_uint_eq(l.functions.n, 5000);
}

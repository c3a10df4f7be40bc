/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/name-set.h"
#include "unit.h"

static int has(const char *pattern, const char *label) {
        const char *space = strchr(label, ' ');
        const Function f = { .label = label,
                             .n_label = (uint32_t) strlen(label),
                             .n_name = (uint32_t) (space ? (size_t) (space - label)
                                                         : strlen(label)) };
        _cleanup_(name_set_freep) NameSet *s = NULL;
        _cleanup_strv_ Strv patterns = {};

        ck_assert_int_eq(strv_add(&patterns, "nobody"), 0);
        ck_assert_int_eq(strv_add(&patterns, pattern), 0);
        ck_assert_int_eq(name_set_new(&s, &patterns), 0);
        ck_assert_int_eq(name_set_has(s, &f), name_set_has(s, &f));
        return name_set_has(s, &f);
}

START_TEST(a_name_is_its_functions_and_its_clones)
        {
                ck_assert_int_eq(has("kfree", "kfree"), 1);
                ck_assert_int_eq(has("kfree", "kfree.part.0"), 1);
                ck_assert_int_eq(has("kfree", "kfree.isra.4.cold"), 1);
                ck_assert_int_eq(has("kfree.part.0", "kfree.part.0"), 1);
                ck_assert_int_eq(has("kfree.part.0", "kfree.part.1"), 0);
                ck_assert_int_eq(has("kfree", "kfree_skb"), 0);
                ck_assert_int_eq(has("kf*", "kfree_skb"), 1);
        }
END_TEST

START_TEST(a_module_is_no_part_of_the_name)
        {
                ck_assert_int_eq(has("ovl_open", "ovl_open [overlay]"), 1);
                ck_assert_int_eq(has("*overlay*", "ovl_open [overlay]"), 0);
        }
END_TEST

START_TEST(a_name_of_nothing_but_a_suffix_is_no_clone)
        { ck_assert_int_eq(has("", ".text"), 0); }
END_TEST

START_TEST(many_functions_keep_their_verdicts)
        {
                static Function functions[5000];
                static char labels[5000][16];
                _cleanup_(name_set_freep) NameSet *s = NULL;
                _cleanup_strv_ Strv patterns = {};

                ck_assert_int_eq(strv_add(&patterns, "f*7"), 0);
                ck_assert_int_eq(name_set_new(&s, &patterns), 0);
                for (unsigned round = 0; round < 2; round++)
                        for (unsigned i = 0; i < ELEMENTSOF(functions); i++) {
                                int n = snprintf(labels[i], sizeof(labels[i]), "f%u", i);

                                functions[i] = (Function){ .label = labels[i],
                                                           .n_label = (uint32_t) n,
                                                           .n_name = (uint32_t) n };
                                ck_assert_int_eq(name_set_has(s, &functions[i]), i % 10 == 7);
                        }
        }
END_TEST

UNIT_SUITE("name-set", a_name_is_its_functions_and_its_clones, a_module_is_no_part_of_the_name,
           a_name_of_nothing_but_a_suffix_is_no_clone, many_functions_keep_their_verdicts)

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "meta/meta.h"
#include "unit.h"

typedef struct Notes {
        uint8_t data[512];
        size_t n;
} Notes;

static void add(Notes *n, uint32_t n_name, uint32_t n_desc, uint32_t type, const char *name) {
        const uint32_t head[] = { n_name, n_desc, type };

        memcpy(n->data + n->n, head, sizeof(head));
        n->n += sizeof(head);
        memcpy(n->data + n->n, name, strlen(name));
        n->n += (strlen(name) + 4) / 4 * 4;
        for (uint32_t i = 0; i < (n_desc + 3) / 4 * 4 && n->n < sizeof(n->data); i++)
                n->data[n->n++] = (uint8_t) (0xa0 + i);
}

static bool find(const Notes *n, char ret[static BUILD_ID_CHARS_MAX + 1]) {
        _cleanup_free_ uint8_t *exact =
                malloc(n->n ?: 1); /* so that a sanitizer sees what is read behind it */

        ck_assert_ptr_nonnull(exact);
        memcpy(exact, n->data, n->n);
        return build_id_find(exact, n->n, ret);
}

TEST(the_number_is_found_among_other_notes) {
        char id[BUILD_ID_CHARS_MAX + 1];
        Notes n = {};

        add(&n, 4, 4, 1, "GNU");
        add(&n, 6, 5, 3, "Linux"); /* of that type, and another's */
        add(&n, 4, 20, 3, "GNU");
        add(&n, 4, 20, 5, "GNU");
        ck_assert(find(&n, id));
        ck_assert_str_eq(id, "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
}

TEST(notes_that_lie_have_no_number) {
        static const struct {
                uint32_t n_name, n_desc;
        } cases[] = {
                { 4, 0 }, { 4, 65 }, { 4, UINT32_MAX }, { UINT32_MAX, 20 }, { UINT32_MAX - 2, 4 }
        };
        char id[BUILD_ID_CHARS_MAX + 1];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Notes n = {};

                add(&n, cases[i].n_name, MIN(cases[i].n_desc, 80U), 3, "GNU");
                memcpy(n.data + 4, &cases[i].n_desc, sizeof(uint32_t));
                ck_assert_msg(!find(&n, id), "%zu", i);
        }
}

TEST(notes_that_are_cut_have_no_number) {
        char id[BUILD_ID_CHARS_MAX + 1];
        Notes n = {};

        add(&n, 4, 20, 3, "GNU");
        for (; n.n > 0; n.n--)
                ck_assert_msg(find(&n, id) == (n.n == 36), "%zu", n.n);
}

TEST(a_module_has_its_own_number) {
        _cleanup_strv_ Strv ids = {};

        ck_assert_int_eq(build_ids_add_modules(&ids, "nf_nat 65536 Live 0xffffffffc0200000 - 0a0b\n"
                                                     "nf 4096 Live 0xffffffffc0100000 (OE) 0c0d\n"
                                                     "old 4096 Live 0xffffffffc0000000 -\n"
                                                     "bad 4096 Live 0xffffffffc0000000 - ../../x\n"
                                                     "odd 4096 Live 0xffffffffc0000000 - 0a0\n"
                                                     "\n end"),
                         0);
        ck_assert_int_eq(strv_add(&ids, BUILD_ID_KERNEL " 0e0f"), 0);
        strv_sort_unique(&ids);
        ck_assert_str_eq(build_ids_get(&ids, "nf", 2), "0c0d");
        ck_assert_str_eq(build_ids_get(&ids, "nf_nat]", 6), "0a0b");
        ck_assert_str_eq(build_ids_get(&ids, NULL, 0), "0e0f");
        for (const char *const *s = (const char *const[]){ "old", "bad", "odd", "n", "", NULL }; *s;
             s++)
                ck_assert_msg(!build_ids_get(&ids, *s, strlen(*s)), "%s", *s);
}

TEST(a_module_that_was_built_anew_has_none) {
        _cleanup_strv_ Strv ids = {};

        for (int i = 0; i < 2; i++) /* the same twice is one */
                ck_assert_int_eq(
                        build_ids_add_modules(&ids, "a 1 Live 0x1 - 01\nb 1 Live 0x1 - 02\n"), 0);
        ck_assert_int_eq(build_ids_add_modules(&ids, "b 1 Live 0x1 - 03\n"), 0);
        strv_sort_unique(&ids);
        ck_assert_str_eq(build_ids_get(&ids, "a", 1), "01");
        ck_assert_ptr_null(build_ids_get(&ids, "b", 1));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "codec/model.h"
#include "page-builder.h"

static RecordKind kind_of(const char *text, size_t n_bytes) {
        RecordKind k;

        ck_assert_int_eq(layout_parse(&k, text, strlen(text)), 0);
        ck_assert_int_eq(layout_set_length(&k, n_bytes), 0);
        return k;
}

TEST(the_formats_of_three_kernels_are_read) {
        for (size_t i = 0; i < N_LAYOUTS; i++) {
                const Layout *l = &layouts[i];
                RecordKind entry = kind_of(l->entry, l->n_entry);
                RecordKind exit = kind_of(l->exit, l->n_exit);

                ck_assert_uint_eq(entry.id, l->entry_id);
                ck_assert(!entry.is_exit && !entry.has_times);
                ck_assert_uint_eq(entry.func, 8);
                ck_assert_uint_eq(entry.depth, 16);
                ck_assert(entry.depth_is_long == (l->n_depth == 8));
                ck_assert_uint_eq(entry.n_rest, 0);
                ck_assert_uint_eq(exit.id, l->exit_id);
                ck_assert(exit.is_exit && exit.has_times && !exit.depth_is_long);
                ck_assert_uint_eq(exit.calltime, 24);
                ck_assert_uint_eq(exit.rettime, 32);
                /* overrun, and what 6.12 has behind its last field */
                ck_assert_uint_eq(exit.n_rest, 1 + (l->n_exit - 40) / 4);
                ck_assert_uint_eq(exit.rest[0], 20);
        }
}

TEST(a_longer_record_has_more_rest) {
        RecordKind k = kind_of(layouts[LAYOUT_7_2].entry, 72);

        ck_assert_uint_eq(k.n_rest, 12);
        ck_assert_uint_eq(k.rest[0], 24);
        ck_assert_uint_eq(k.rest[11], 68);
}

TEST(a_length_that_does_not_hold_the_fields_is_refused) {
        RecordKind k = kind_of(layouts[LAYOUT_6_1].exit, 40);

        for (size_t n = 0; n <= 200; n++)
                ck_assert_int_eq(layout_set_length(&k, n),
                                 n >= 40 && n <= 112 && n % 4 == 0 ? 0 : LAYOUT_E_INVALID);
}

TEST(what_is_stored_is_what_is_loaded) {
        for (size_t i = 0; i < N_LAYOUTS; i++) {
                RecordKind k = kind_of(layouts[i].exit, layouts[i].n_exit), again = {};
                uint8_t stored[LAYOUT_STORED_BYTES];

                layout_store(&k, stored);
                ck_assert_int_eq(layout_load(&again, stored), 0);
                ck_assert_uint_eq(again.id, k.id);
                ck_assert(again.is_exit && again.has_times && !again.depth_is_long);
                ck_assert_uint_eq(again.n_bytes, k.n_bytes);
                ck_assert_uint_eq(again.calltime, k.calltime);
                ck_assert_uint_eq(again.rettime, k.rettime);
                ck_assert_uint_eq(again.n_rest, k.n_rest);
        }
}

TEST(fields_that_overlap_or_lie_outside_are_refused) {
        RecordKind k = kind_of(layouts[LAYOUT_6_1].exit, 40);
        uint8_t stored[LAYOUT_STORED_BYTES];

        /* n_bytes, func, depth, calltime, rettime: each at every place */
        for (size_t field = 4; field < 8; field++)
                for (unsigned at = 0; at < 256; at++) {
                        static const uint8_t places[] = { 8, 16, 24, 32 };
                        bool good =
                                at == places[field - 4] || ((field == 5 || field == 6) && at == 20);

                        layout_store(&k, stored);
                        stored[field] = (uint8_t) at;
                        ck_assert_int_eq(layout_load(&k, stored), good ? 0 : LAYOUT_E_INVALID);
                        k = kind_of(layouts[LAYOUT_6_1].exit, 40);
                }
}

TEST(other_texts_are_refused) {
        static const char *const texts[] = {
                "",
                "name:",
                "name: funcgraph_entry",
                "name: funcgraph_entry\nID: 99999\n",
                "name: function\nID: 1\nformat:\n",
                /* a machine of 32 bits */
                "name: funcgraph_entry\nID: 11\nformat:\n"
                "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                "\tfield:unsigned long func;\toffset:8;\tsize:4;\tsigned:0;\n"
                "\tfield:int depth;\toffset:12;\tsize:4;\tsigned:1;\n",
        };
        RecordKind k;

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                ck_assert_int_eq(layout_parse(&k, texts[i], strlen(texts[i])), LAYOUT_E_INVALID);
}

TEST(a_text_that_is_cut_is_read_or_refused) {
        const char *text = layouts[LAYOUT_6_1].entry;
        int n_read = 0;

        for (size_t n = 0; n <= strlen(text); n++) {
                /* Of the exact size, so that a sanitizer sees one byte too many. */
                _cleanup_free_ char *copy = malloc(n ?: 1);
                RecordKind k;

                memcpy(copy, text, n);
                n_read += layout_parse(&k, copy, n) == 0;
        }
        ck_assert_int_gt(n_read, 0);
}

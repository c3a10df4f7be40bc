/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "types-builder.h"
#include "types/members.h"

/*
 * vmlinux:     struct pair { __be16 port; char name[8]; };
 *              struct leaf { struct { int low : 3, high : 5; }; union { u64 whole; u32 half; }; const char *text;
 *                            struct pair pairs[2]; struct leaf *next; struct gone *away; void *raw; bool yes; enum mode how; };
 *              struct wide { struct leaf leaf; u64 more; };
 *              send(struct leaf *l, u64 len, struct pair by_value)
 * module xt:   struct gone { u64 here; };  struct own { struct leaf *leaf; };  own(struct own *o)
 */
enum { INT = 1, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, CONST = 10, FUNC = 12, FUNC_PROTO };
#define TOLD (1U << 31 >> 24) /* kind_flag, as add_type() shifts the kind */

static Prototypes *make(bool cut, size_t at) {
        _cleanup_(prototypes_freep) Prototypes *p = NULL;
        _cleanup_buf_ Buf b = BUF_INIT;
        Types t, m;
        size_t n;
        char *data;
        int r;

#define N(s) name_at(&t, s)
        types_init(&t, 0);
        add_type(&t, "int", INT, 0, 4, (uint32_t[]){ 1 << 24 | 32 }, 1); /* 1 */
        add_type(&t, "u64", INT, 0, 8, (uint32_t[]){ 64 }, 1);           /* 2 */
        add_type(&t, "u16", INT, 0, 2, (uint32_t[]){ 16 }, 1);           /* 3 */
        add_type(&t, "char", INT, 0, 1, (uint32_t[]){ 1 << 24 | 8 }, 1); /* 4 */
        add_type(&t, "__be16", TYPEDEF, 0, 3, NULL, 0);                  /* 5 */
        add_type(&t, "", ARRAY, 0, 0, (uint32_t[]){ 4, 1, 8 }, 3);       /* 6: char[8] */
        add_type(&t, "pair", STRUCT, 2, 10, (uint32_t[]){ N("port"), 5, 0, N("name"), 6, 16 },
                 6); /* 7 */
        add_type(&t, "", STRUCT | TOLD, 2, 4,
                 (uint32_t[]){ N("low"), 1, 3 << 24 | 0, N("high"), 1, 5 << 24 | 3 }, 6); /* 8 */
        add_type(&t, "u32", INT, 0, 4, (uint32_t[]){ 32 }, 1);                            /* 9 */
        add_type(&t, "", UNION, 2, 8, (uint32_t[]){ N("whole"), 2, 0, N("half"), 9, 0 },
                 6);                                                     /* 10 */
        add_type(&t, "", CONST, 0, 4, NULL, 0);                          /* 11: const char */
        add_type(&t, "", PTR, 0, 11, NULL, 0);                           /* 12 */
        add_type(&t, "", ARRAY, 0, 0, (uint32_t[]){ 7, 1, 2 }, 3);       /* 13: struct pair[2] */
        add_type(&t, "", PTR, 0, 19, NULL, 0);                           /* 14: struct leaf * */
        add_type(&t, "gone", FWD, 0, 0, NULL, 0);                        /* 15 */
        add_type(&t, "", PTR, 0, 15, NULL, 0);                           /* 16 */
        add_type(&t, "", PTR, 0, 0, NULL, 0);                            /* 17: void * */
        add_type(&t, "bool", INT, 0, 1, (uint32_t[]){ 4 << 24 | 8 }, 1); /* 18 */
        add_type(&t, "leaf", STRUCT, 9, 80,
                 (uint32_t[]){ 0,          8,  0,   0,         10, 64,  N("text"), 12, 128,
                               N("pairs"), 13, 192, N("next"), 14, 384, N("away"), 16, 448,
                               N("raw"),   17, 512, N("yes"),  18, 576, N("how"),  20, 608 },
                 27);                                                     /* 19 */
        add_type(&t, "mode", ENUM, 1, 4, (uint32_t[]){ N("OFF"), 0 }, 2); /* 20 */
        add_type(&t, "wide", STRUCT, 2, 88, (uint32_t[]){ N("leaf"), 19, 0, N("more"), 2, 640 },
                 6); /* 21 */
        add_type(&t, "", FUNC_PROTO, 3, 1,
                 (uint32_t[]){ N("l"), 14, N("len"), 2, N("by_value"), 7 }, 6); /* 22 */
        add_type(&t, "send", FUNC, 1, 22, NULL, 0);                             /* 23 */
        types_init(&m, (uint32_t) t.names.n_data);
        add_type(&m, "gone", STRUCT, 1, 8, (uint32_t[]){ name_at(&m, "here"), 2, 0 }, 3); /* 24 */
        add_type(&m, "own", STRUCT, 1, 8, (uint32_t[]){ name_at(&m, "leaf"), 14, 0 }, 3); /* 25 */
        add_type(&m, "", PTR, 0, 25, NULL, 0);                                            /* 26 */
        add_type(&m, "", FUNC_PROTO, 1, 1, (uint32_t[]){ name_at(&m, "o"), 26 }, 2);      /* 27 */
        add_type(&m, "own", FUNC, 1, 27, NULL, 0);
        add_part(&b, "vmlinux", &t);
        add_part(&b, "xt", &m);
        buf_done(&t.types);
        buf_done(&t.names);
        buf_done(&m.types);
        buf_done(&m.names);
        n = b.n_data;
        data = TEXT_OF(b);
        if (cut && at < n * 8)
                data[at / 8] ^= (char) (1 << at % 8);
        else if (cut)
                n = MIN(n, at - n * 8);
        r = prototypes_new(&p, data, n);
        ck_assert(r == 0 || (cut && r == PROTOTYPES_E_INVALID));
        return r == 0 ? TAKE_PTR(p) : NULL;
}

static void expect_of(const char *function, const char *expression, const char *place,
                      MemberKind kind, uint64_t n_bytes) {
        _cleanup_(prototypes_freep) Prototypes *p = make(false, 0);
        char why[MEMBER_WHY_MAX], text[MEMBER_PLACE_MAX];
        Member m;

        ck_assert_msg(member_find(&m, p, function, expression, why) == 0, "%s: %s", expression,
                      why);
        ck_assert_str_eq(member_place(&m, text), place);
        ck_assert_int_eq(m.kind, kind);
        ck_assert_uint_eq(m.n_bytes, n_bytes);
}

static void expect(const char *expression, const char *place, MemberKind kind, uint64_t n_bytes) {
        expect_of("send", expression, place, kind, n_bytes);
}

static void expect_refusal(const char *expression, const char *text) {
        _cleanup_(prototypes_freep) Prototypes *p = make(false, 0);
        char why[MEMBER_WHY_MAX];
        Member m;

        ck_assert_int_eq(member_find(&m, p, "send", expression, why), MEMBER_E_REFUSED);
        ck_assert_str_eq(why, text);
}

TEST(a_parameter_is_a_register) {
        expect("len", "$arg2", MEMBER_UNSIGNED, 8);
        expect("l", "$arg1", MEMBER_POINTER, 8);
}

TEST(members_are_found_behind_pointers_and_in_arrays) {
        expect("l.next", "+48($arg1)", MEMBER_POINTER, 8);
        expect("l->next.next->text", "+16(+48(+48($arg1)))", MEMBER_TEXT_POINTER, 8);
        expect("l.pairs[1].port", "+34($arg1)", MEMBER_BE, 2);
        expect("l.pairs[1].name", "+36($arg1)", MEMBER_TEXT, 8);
        expect("l.pairs[0].name[3]", "+29($arg1)", MEMBER_SIGNED, 1);
        expect("l[2].yes", "+232($arg1)", MEMBER_UNSIGNED, 1);
        expect("l.how", "+76($arg1)", MEMBER_UNSIGNED, 4);
        expect("l.pairs", "+24($arg1)", MEMBER_OBJECT, 20);
}

TEST(anonymous_ones_are_transparent) {
        expect("l.whole", "+8($arg1)", MEMBER_UNSIGNED, 8);
        expect("l.half", "+8($arg1)", MEMBER_UNSIGNED, 4);
}

TEST(bit_fields_say_which_bits) {
        _cleanup_(prototypes_freep) Prototypes *p = make(false, 0);
        char why[MEMBER_WHY_MAX];
        Member m;

        ck_assert_int_eq(member_find(&m, p, "send", "l.high", why), 0);
        ck_assert_uint_eq(m.bit, 3);
        ck_assert_uint_eq(m.n_bits, 5);
        expect_refusal("l.high.x", "\"high\" is no structure and does not point to one");
}

TEST(a_cast_makes_another_structure_of_a_pointer) {
        expect("(wide)l.more", "+80($arg1)", MEMBER_UNSIGNED, 8);
        expect("(wide)(l.raw).leaf.next", "+48(+64($arg1))", MEMBER_POINTER, 8);
        expect("((wide)l).leaf.half", "+8($arg1)", MEMBER_UNSIGNED, 4);
        expect("(leaf)len.text", "+16($arg2)", MEMBER_TEXT_POINTER, 8);
        expect_refusal("(nobody)l.more", "the kernel has no structure \"nobody\"");
        expect_refusal("(wide)(l.half).more",
                       "\"half\" is no pointer, so it cannot be one to wide");
}

TEST(modules_and_vmlinux_complete_each_other) {
        expect("l.away.here", "+0(+56($arg1))", MEMBER_UNSIGNED, 8);
        expect_of("own", "o.leaf.next.whole", "+8(+48(+0($arg1)))", MEMBER_UNSIGNED, 8);
}

TEST(a_refusal_names_what_there_is_the_nearest_first) {
        expect_refusal(
                "l.nxt",
                "struct leaf has no member \"nxt\"; it has next, text, low, raw, yes, how, high, "
                "half and 3 others");
        expect_refusal("l.pairs[1].ports",
                       "struct pair has no member \"ports\"; it has port, name");
        expect_refusal("k.next", "send() has no parameter \"k\"; it has l, len, by_value");
        expect_refusal("l.pairs[2].port", "\"pairs\" has 2 items, so that [2] is none");
        expect_refusal("len.x", "\"len\" is no structure and does not point to one");
        expect_refusal("by_value.port", "\"by_value\" is given by value");
        expect_refusal("l.raw.x", "\"raw\" is no structure and does not point to one");
        expect_refusal("l.", "no member is named behind \".\"");
        expect_refusal("l.pairs[x]", "\"[x]\" is no item like [3]");
        expect_refusal("l.next)", "\")\" is no member");
        expect_refusal("(l.next", "a parenthesis is not closed");
        expect_refusal("", "no parameter is named");
}

TEST(nothing_is_known_of_other_functions) {
        _cleanup_(prototypes_freep) Prototypes *p = make(false, 0);
        char why[MEMBER_WHY_MAX];
        Member m;

        ck_assert_int_eq(member_find(&m, p, "nobody", "l", why), MEMBER_E_NONE);
        ck_assert_int_eq(member_of_param(&m, p, "send", 3), MEMBER_E_NONE);
        ck_assert_int_eq(member_of_struct(&m, p, "nobody"), MEMBER_E_NONE);
}

TEST(a_structure_is_walked_without_a_function) {
        _cleanup_(prototypes_freep) Prototypes *p = make(false, 0);
        char why[MEMBER_WHY_MAX], text[MEMBER_PLACE_MAX];
        Member m;

        ck_assert_int_eq(member_of_struct(&m, p, "wide"), 0);
        ck_assert_int_eq(member_walk(&m, p, "leaf", why), 0);
        ck_assert_str_eq(m.type, "leaf");
        ck_assert_int_eq(member_walk(&m, p, "pairs[1].nam", why), MEMBER_E_REFUSED);
        ck_assert_int_eq(member_walk(&m, p, "pairs[1].name", why), 0);
        ck_assert_str_eq(member_place(&m, text), "+36($arg1)");
}

TEST(chains_and_parentheses_end) {
        char why[MEMBER_WHY_MAX], text[4096] = "l";
        _cleanup_(prototypes_freep) Prototypes *p = make(false, 0);
        Member m;

        for (int i = 0; i < 15; i++)
                strcat(text, ".next");
        ck_assert_int_eq(member_find(&m, p, "send", text, why), 0);
        strcat(text, ".next.next");
        ck_assert_int_eq(member_find(&m, p, "send", text, why), MEMBER_E_REFUSED);
        memset(text, '(', 1000);
        text[1000] = 0;
        ck_assert_int_eq(member_find(&m, p, "send", text, why), MEMBER_E_REFUSED);
        expect_refusal("l[99999999999999999999].yes", "\"l\" is too far from what it is a part of");
}

TEST(whatever_is_cut_off_or_flipped_is_survived) {
        static const char *const expressions[] = { "l.next.next->text",
                                                   "(wide)(l.raw).leaf.next.pairs[1].name[3]",
                                                   "l.high", "l.nobody" };

        for (size_t i = 0; i < 12000; i += UNIT_EVERY) {
                _cleanup_(prototypes_freep) Prototypes *p = make(true, i);
                char why[MEMBER_WHY_MAX], text[MEMBER_PLACE_MAX];
                Member m;

                for (size_t k = 0; p && k < ELEMENTSOF(expressions); k++)
                        if (member_find(&m, p, "send", expressions[k], why) == 0)
                                (void) member_place(&m, text);
        }
}

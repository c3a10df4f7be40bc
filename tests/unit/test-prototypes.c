/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Types made by hand; the expected text is the kernel's. */

#include "calls/step.h"
#include "types-builder.h"

/* vmlinux has send(), empty(), many() and two(); the module xt has own(), and another two(). */
static char *make_types(size_t *ret_n) {
        _cleanup_buf_ Buf b = BUF_INIT;
        Types t, m;
        uint32_t n_types;

        types_init(&t, 0);
        add_type(&t, "int", 1, 0, 4, (uint32_t[]){ 1 << 24 | 32 }, 1); /* 1 */
        add_type(&t, "unsigned long", 1, 0, 8, (uint32_t[]){ 64 }, 1); /* 2 */
        add_type(&t, "", 2, 0, 0, NULL, 0);                            /* 3: void * */
        add_type(&t, "size_t", 8, 0, 2, NULL, 0);                      /* 4 */
        add_type(&t, "", 10, 0, 4, NULL, 0);                           /* 5: const size_t */
        add_type(&t, "mode", 6, 2, 4,
                 (uint32_t[]){ name_at(&t, "OFF"), 0, name_at(&t, "BAD"), (uint32_t) -1 },
                 4);                             /* 6 */
        add_type(&t, "pair", 4, 0, 16, NULL, 0); /* 7 */
        add_type(&t, "", 13, 5, 1,               /* it returns an int */
                 (uint32_t[]){ name_at(&t, "sk"), 3, name_at(&t, "len"), 5, name_at(&t, "flags"), 1,
                               name_at(&t, "how"), 6, name_at(&t, "p"), 7 },
                 10);                              /* 8 */
        add_type(&t, "send", 12, 1, 8, NULL, 0);   /* 9 */
        add_type(&t, "", 13, 0, 0, NULL, 0);       /* 10 */
        add_type(&t, "empty", 12, 1, 10, NULL, 0); /* 11 */
        add_type(&t, "", 13, 7, 1,
                 (uint32_t[]){ name_at(&t, "a"), 1, name_at(&t, "b"), 1, name_at(&t, "c"), 1,
                               name_at(&t, "d"), 1, name_at(&t, "e"), 1, name_at(&t, "f"), 0,
                               name_at(&t, "g"), 1 },
                 14);                                                           /* 12 */
        add_type(&t, "many", 12, 1, 12, NULL, 0);                               /* 13 */
        add_type(&t, "", 13, 1, 3, (uint32_t[]){ name_at(&t, "first"), 3 }, 2); /* 14 */
        add_type(&t, "two", 12, 1, 14, NULL, 0);                                /* 15 */
        add_type(&t, "bool", 1, 0, 1, (uint32_t[]){ 8 }, 1);                    /* 16 */
        add_type(&t, "", 13, 0, 16, NULL, 0);                                   /* 17 */
        add_type(&t, "is", 12, 1, 17, NULL, 0);                                 /* 18 */
        n_types = 18;
        types_init(&m, (uint32_t) t.names.n_data);
        add_type(&m, "", 13, 1, 2, (uint32_t[]){ name_at(&m, "mine"), 4 }, 2);
        add_type(&m, "own", 12, 1, n_types + 1, NULL, 0);
        add_type(&m, "two", 12, 1, n_types + 1, NULL, 0);
        add_part(&b, "vmlinux", &t);
        add_part(&b, "xt", &m);
        *ret_n = b.n_data;
        buf_done(&t.types);
        buf_done(&t.names);
        buf_done(&m.types);
        buf_done(&m.names);
        return TEXT_OF(b);
}

static void expect(const char *name, const char *text) {
        static const uint64_t args[] = {
                0xffff888003d5c000, 64, (uint64_t) -2, (uint64_t) -1, 5, 6
        };
        _cleanup_(prototypes_freep) Prototypes *p = NULL;
        Function function = { .label = name };
        Step step = { .function = &function, .args = args, .n_args = ELEMENTSOF(args) };
        _cleanup_free_ char *drawn = NULL;
        size_t n, n_room;
        char *types = make_types(&n), *end;

        ck_assert_int_eq(prototypes_new(&p, types, n), 0);
        function.prototype = prototypes_find(p, name, strlen(name));
        n_room = arguments_room(&step);
        drawn = malloc(n_room + 1);
        end = arguments_append(drawn, &step);
        *end = 0;
        ck_assert_uint_le((size_t) (end - drawn), n_room);
        ck_assert_str_eq(drawn, text);
}

TEST(arguments_read_as_the_kernel_prints_them) {
        expect("send", "(sk=0xffff888003d5c000, len=0x40, flags=-2, how=-1 [BAD], "
                       "p=(STRUCT)[0x5:0x6])");
        expect("empty", "()");
        expect("many", "(a=-131391575179264, b=64, c=-2, d=-1, e=5, f=?0x6, ...)");
}

TEST(names_are_looked_up_in_the_kernels_order) {
        expect("own", "(mine=0xffff888003d5c000)");
        expect("two", "(first=0xffff888003d5c000)");
        expect("nobody", "()");
        expect("sen", "()");
}

TEST(whatever_is_cut_off_is_survived) {
        size_t n;
        _cleanup_free_ char *whole = make_types(&n);

        for (size_t i = 0; i < n; i++) {
                _cleanup_(prototypes_freep) Prototypes *p = NULL;
                char *part = malloc(i ?: 1);
                int r;

                memcpy(part, whole, i);
                r = prototypes_new(&p, part, i);
                ck_assert(r == 0 || r == PROTOTYPES_E_INVALID);
                if (r == 0)
                        (void) prototypes_find(p, "send", 4);
        }
        for (size_t i = 0; i < n * 8; i++) {
                _cleanup_(prototypes_freep) Prototypes *p = NULL;
                char *flipped = malloc(n);

                memcpy(flipped, whole, n);
                flipped[i / 8] ^= (char) (1 << i % 8);
                if (prototypes_new(&p, flipped, n) == 0) {
                        (void) prototypes_find(p, "send", 4);
                        (void) prototypes_find(p, "own", 3);
                }
        }
}

static uint64_t narrowed(const char *name, uint64_t value) {
        _cleanup_(prototypes_freep) Prototypes *p = NULL;
        size_t n;
        char *types = make_types(&n);

        ck_assert_int_eq(prototypes_new(&p, types, n), 0);
        return prototype_narrow(prototypes_find(p, name, strlen(name)), &value) ? value : 17;
}

TEST(what_is_returned_is_as_wide_as_its_type) {
        ck_assert_uint_eq(narrowed("send", 0x00000000ffffffa6), (uint64_t) -90);
        ck_assert_uint_eq(narrowed("send", 0x1234567800000040), 0x40);
        ck_assert_uint_eq(narrowed("own", 0x12345678ffffffa6), 0x12345678ffffffa6);
        ck_assert_uint_eq(narrowed("two", 0xffff888003d5c000), 0xffff888003d5c000);
        ck_assert_uint_eq(narrowed("is", 0x1234567812345601), 1);
        ck_assert_uint_eq(narrowed("empty", 5), 17);
        /* Nothing is known: as the kernel guesses. */
        ck_assert_uint_eq(narrowed("nobody", 0x00000000ffffffa6), (uint64_t) -90);
        ck_assert_uint_eq(narrowed("nobody", 0x00000000ffff0000), 0xffff0000);
        ck_assert_uint_eq(narrowed("nobody", 0x12345678ffffffa6), 0x12345678ffffffa6);
}

static void expect_retval(uint64_t retval, bool hex, const char *text) {
        char drawn[RETVAL_ROOM + 1];

        *retval_append(drawn, retval, hex) = 0;
        ck_assert_str_eq(drawn, text);
}

TEST(errors_are_decimal_and_all_else_is_hex) {
        expect_retval(0, false, "0x0");
        expect_retval(64, false, "0x40");
        expect_retval((uint64_t) -11, false, "-11");
        expect_retval((uint32_t) -11, false, "-11");
        expect_retval((uint64_t) -4095, false, "-4095");
        expect_retval((uint64_t) -4096, false, "0xfffffffffffff000");
        expect_retval(0x80000000, false, "0x80000000");
        expect_retval((uint64_t) -11, true, "0xfffffffffffffff5");
        expect_retval((uint32_t) -11, true, "0xfffffff5");
}

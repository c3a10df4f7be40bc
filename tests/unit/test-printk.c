/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Values as vbin_printf() of linux 6.1 (lib/vsprintf.c) lays them. */

#include "decode/event-text.h"
#include "unit.h"

static const char formats[] = "0xffffffff82a1c0d8 : \"x is %d\\n\"\n"
                              "0xffffffff82a1c0e0 : \"say \\\"%s\\\"\\\\\"\n"
                              "no line of it\n"
                              "0xffffffff82a1c000 : \"\"\n"
                              "0xffffffff82a1c0f0 : \"cut";

TEST(formats_are_found_by_their_address) {
        _cleanup_(printk_done) Printk p = {}, none = {};

        ck_assert_int_eq(printk_init(&p, formats), 0);
        ck_assert_str_eq(printk_find(&p, UINT64_C(0xffffffff82a1c0d8)), "x is %d\n");
        ck_assert_str_eq(printk_find(&p, UINT64_C(0xffffffff82a1c0e0)), "say \"%s\"\\");
        ck_assert_str_eq(printk_find(&p, UINT64_C(0xffffffff82a1c000)), "");
        ck_assert_ptr_null(printk_find(&p, UINT64_C(0xffffffff82a1c0f0)));
        ck_assert_int_eq(printk_init(&none, NULL), 0);
        ck_assert_ptr_null(printk_find(&none, 0));
}

static void name(void *userdata, Buf *out, uint64_t address, bool offset) {
        buf_printf(out, "f%llx%s", (unsigned long long) address, offset ? "+0x4" : "");
}

static void expect_of(size_t n_long, const char *format, const void *values, size_t n,
                      const char *wanted) {
        _cleanup_free_ uint8_t *at = malloc(n + 1); /* a sanitizer sees what reads beyond */
        _cleanup_buf_ Buf b = BUF_INIT;

        memcpy(at, values, n);
        printk_put(&b, format, at, n, false, n_long, name, NULL);
        EXPECT_TEXT(b, wanted);
}

static void expect(const char *format, const void *values, size_t n, const char *wanted) {
        expect_of(8, format, values, n, wanted);
}

TEST(a_kernel_of_32_bits_has_shorter_longs) {
        struct __attribute__((packed)) {
                uint32_t ld, p, ps;
                uint64_t lld;
                uint32_t zu;
        } v = { (uint32_t) -7, 0xff, 0xc0100004, (uint64_t) -8, 9 };

        expect_of(4, "%ld %p %ps %lld %zu", &v, sizeof(v), "-7 000000ff fc0100004 -8 9");
}

TEST(values_are_printed_as_the_kernel_would) {
        struct __attribute__((packed)) {
                int32_t d;
                uint64_t lu, p, ps;
                uint8_t c, hh;
                uint16_t h;
                char s[5];
                char pad[3];
                uint32_t x, width;
                uint64_t llx;
        } v = { -7, 123456789012, 0xff, 0x81000004, 'c', 0xff, 0xfffe, "text", "", 0xbeef, 6, 1 };

        expect("d=%d lu=%lu p=%p ps=%ps c=%c hh=%hhd h=%hd s=%s x=%#08x [%*llx] 100%%", &v,
               sizeof(v),
               "d=-7 lu=123456789012 p=00000000000000ff ps=f81000004 c=c hh=-1 h=-2 s=text "
               "x=0x00beef [     1] 100%");
        expect("%-6s|%6s|%.2s|", "ab\0cd\0efgh", 11, "ab    |    cd|ef|");
        expect("%pS", &v.ps, 8, "f81000004+0x4");
        expect("%pI4 it", "127.0.0.1", 10, "127.0.0.1 it");
        expect("plain", "", 0, "plain");
}

TEST(text_ends_where_the_values_do) {
        static const uint32_t one = 1;

        expect("%d and %d", &one, 4, "1 and ");
        expect("%d and %s", &one, 4, "1 and ");
        expect("%s", "no end", 6, "");
        expect("%lld", &one, 4, "");
        expect("%n%d", &one, 4, "");
        expect("%", &one, 4, "");
        expect("%99999999999d.", &one, 4, (char[258]){ [0 ... 254] = ' ', '1', '.' });
}

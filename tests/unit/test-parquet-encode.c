/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is encoded is decoded again, by what the specification says and not by what the encoder does. */

#include "encode/parquet-encode.h"
#include "unit.h"

typedef struct In {
        const uint8_t *p, *end;
} In;

static uint64_t get_varint(In *in) {
        uint64_t v = 0;

        for (unsigned shift = 0;; shift += 7) {
                ck_assert(in->p < in->end);
                v |= (uint64_t) (*in->p & 0x7f) << shift;
                if (!(*in->p++ & 0x80))
                        return v;
        }
}

static int64_t get_zigzag(In *in) {
        uint64_t v = get_varint(in);

        return (int64_t) (v >> 1 ^ -(v & 1));
}

/* The @i-th of packed values of @width bits. */
static uint64_t get_packed(const uint8_t *p, size_t i, unsigned width) {
        uint64_t v = 0;

        for (unsigned k = 0; k < width; k++) {
                size_t bit = i * width + k;

                v |= (uint64_t) (p[bit / 8] >> bit % 8 & 1) << k;
        }
        return v;
}

static void decode_delta(const Buf *b, int64_t *ret, size_t n, unsigned bytes) {
        In in = { (uint8_t *) b->data, (uint8_t *) b->data + b->n_data };
        uint64_t block = get_varint(&in), parts = get_varint(&in);
        size_t part = block / parts, i = 1;
        uint64_t value;

        ck_assert_uint_eq(block % 128, 0);
        ck_assert_uint_eq(part % 32, 0);
        ck_assert_uint_eq(get_varint(&in), n);
        value = (uint64_t) get_zigzag(&in);
        if (n > 0)
                ret[0] = (int64_t) value;
        while (i < n) {
                int64_t least = get_zigzag(&in);
                const uint8_t *widths = in.p;

                in.p += parts;
                for (size_t k = 0; k < parts && i < n; k++) {
                        for (size_t m = 0; m < part && i < n; m++) {
                                value += (uint64_t) least + get_packed(in.p, m, widths[k]);
                                if (bytes == 4)
                                        value = (uint64_t) (int64_t) (int32_t) (uint32_t) value;
                                ret[i++] = (int64_t) value;
                        }
                        in.p += part * widths[k] / 8;
                        ck_assert(in.p <= in.end);
                }
        }
        ck_assert_ptr_eq(in.p, in.end);
}

static void decode_runs(In in, uint32_t *ret, size_t n, unsigned width) {
        for (size_t i = 0; i < n;) {
                uint64_t header = get_varint(&in), count = header >> 1;

                if (header & 1) {
                        for (size_t k = 0; k < count * 8 && i < n; k++)
                                ret[i++] = (uint32_t) get_packed(in.p, k, width);
                        in.p += count * width;
                } else {
                        for (size_t k = 0; k < count && i < n; k++)
                                ret[i++] = (uint32_t) get_packed(in.p, 0, (width + 7) / 8 * 8);
                        in.p += (width + 7) / 8;
                }
                ck_assert(in.p <= in.end);
        }
        ck_assert_ptr_eq(in.p, in.end);
}

static uint64_t random_state = 1;

static uint64_t draw(void) {
        random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
        return random_state >> 32 | random_state << 32;
}

static const size_t lengths[] = { 0, 1, 2, 31, 32, 33, 127, 128, 129, 130, 1000 };

static void try_delta(const int64_t *values, size_t n, unsigned bytes) {
        _cleanup_buf_ Buf b = BUF_INIT;
        int64_t back[1000];

        parquet_encode_delta(&b, values, n, bytes);
        ck_assert_int_eq(b.error, 0);
        decode_delta(&b, back, n, bytes);
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(back[i], values[i]);
}

TEST(deltas_are_what_was_encoded_whatever_they_are) {
        int64_t values[1000];

        for (unsigned bits = 0; bits <= 64; bits++)
                for (size_t l = 0; l < ELEMENTSOF(lengths); l++) {
                        for (size_t i = 0; i < lengths[l]; i++)
                                values[i] = bits == 0 ? 7 : (int64_t) draw() >> (64 - bits);
                        try_delta(values, lengths[l], 8);
                        for (size_t i = 0; i < lengths[l]; i++)
                                values[i] = (int32_t) values[i];
                        try_delta(values, lengths[l], 4);
                }
}

TEST(deltas_wrap_around_at_the_ends) {
        static const int64_t wide[] = { INT64_MIN, INT64_MAX, 0, INT64_MIN, -1, INT64_MAX };
        static const int64_t narrow[] = { INT32_MIN, INT32_MAX, 0, INT32_MIN, -1 };

        try_delta(wide, ELEMENTSOF(wide), 8);
        try_delta(narrow, ELEMENTSOF(narrow), 4);
}

TEST(what_ascends_evenly_takes_hardly_anything) {
        _cleanup_buf_ Buf b = BUF_INIT;
        int64_t values[1000];

        for (size_t i = 0; i < ELEMENTSOF(values); i++)
                values[i] = 1000000 + 3 * (int64_t) i;
        parquet_encode_delta(&b, values, ELEMENTSOF(values), 8);
        ck_assert_uint_lt(b.n_data, 64);
}

TEST(numbers_of_a_dictionary_are_what_was_encoded) {
        static const size_t items[] = { 1, 2, 255, 256, 257, 65536, 65537 };
        uint32_t numbers[1000], back[1000];

        for (size_t k = 0; k < ELEMENTSOF(items); k++)
                for (size_t l = 0; l < ELEMENTSOF(lengths); l++) {
                        _cleanup_buf_ Buf b = BUF_INIT;
                        size_t n = lengths[l];

                        for (size_t i = 0; i < n; i++)
                                numbers[i] = (uint32_t) (draw() % items[k]);
                        parquet_encode_numbers(&b, numbers, n, items[k]);
                        ck_assert_uint_ge(b.n_data, 1);
                        decode_runs((In){ (uint8_t *) b.data + 1, (uint8_t *) b.data + b.n_data },
                                    back, n, (uint8_t) b.data[0]);
                        for (size_t i = 0; i < n; i++)
                                ck_assert_uint_eq(back[i], numbers[i]);
                }
}

TEST(levels_tell_which_rows_have_a_value) {
        for (unsigned odds = 0; odds <= 4; odds++)
                for (size_t l = 1; l < ELEMENTSOF(lengths); l++) {
                        _cleanup_buf_ Buf b = BUF_INIT;
                        uint8_t has[1000];
                        uint32_t back[1000];
                        size_t n = lengths[l];

                        for (size_t i = 0; i < n; i++)
                                has[i] = draw() % 4 < odds;
                        parquet_encode_levels(&b, has, n);
                        decode_runs((In){ (uint8_t *) b.data, (uint8_t *) b.data + b.n_data }, back,
                                    n, 1);
                        for (size_t i = 0; i < n; i++)
                                ck_assert_uint_eq(back[i], has[i]);
                }
}

TEST(plain_values_are_little_endian) {
        static const int64_t values[] = { 1, -2 };
        _cleanup_buf_ Buf b = BUF_INIT;

        parquet_encode_plain(&b, values, 2, 4);
        parquet_encode_plain(&b, values, 2, 8);
        parquet_encode_bits(&b, values, 2);
        ck_assert_uint_eq(b.n_data, 25);
        ck_assert_mem_eq(b.data,
                         "\x01\0\0\0\xfe\xff\xff\xff"
                         "\x01\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff"
                         "\x03",
                         25);
}

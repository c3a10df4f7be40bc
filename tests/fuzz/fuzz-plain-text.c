/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Any bytes: what is made of them is plain, the same when it is made plain again, and what was plain
 * stays as it was.  What does not fit is left, and taken up where it was left.  A word can be undone.
 *
 * Input: one byte (the style, and how much room there is at a time), text.
 */

#include "fuzz.h"
#include "base/buf.h"

/* The code point at @s, of @n bytes, by the rule "as many bytes as the first says, and no shorter way
 * to write it"; 0 bytes: it is no UTF-8. */
static size_t decode_slowly(const unsigned char *s, size_t n, uint32_t *ret) {
        static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
        size_t length = s[0] < 0x80       ? 1
                        : s[0] >> 5 == 6  ? 2
                        : s[0] >> 4 == 14 ? 3
                        : s[0] >> 3 == 30 ? 4
                                          : 0;
        uint32_t c = length > 1 ? s[0] & (0xffU >> (length + 1)) : s[0];

        if (length == 0 || length > n)
                return 0;
        for (size_t i = 1; i < length; i++) {
                if (s[i] >> 6 != 2)
                        return 0;
                c = c << 6 | (s[i] & 0x3fU);
        }
        *ret = c;
        return c < least[length] || c > 0x10ffff || c >> 11 == 0x1b ? 0 : length;
}

static bool is_harmless(uint32_t c, PlainStyle style) {
        if (c < 0x20)
                return style != PLAIN_WORD && (c == '\n' || c == '\t');
        if (c >= 0x7f && c <= 0x9f)
                return false;
        /* Directions, their isolates, separators. */
        return c != 0x61c && c != 0x200e && c != 0x200f && !(c >= 0x2028 && c <= 0x202e) &&
               !(c >= 0x2066 && c <= 0x2069) && c >> 7 != 0xe0000 >> 7;
}

/* How many bytes are harmless. */
static size_t harmless_length(const char *s, size_t n, PlainStyle style) {
        const unsigned char *p = (const unsigned char *) s;
        size_t i = 0, length;
        uint32_t c;

        for (; i < n; i += length) {
                length = decode_slowly(p + i, n - i, &c);
                if (length == 0 || !is_harmless(c, style))
                        break;
        }
        return i;
}

static void check_undo(const char *text, size_t n, const char *out, size_t n_out) {
        char *undone = malloc(n + 1);

        FUZZ_CHECK(undone && plain_undo(NULL, 0, out, n_out) == n);
        FUZZ_CHECK(plain_undo(undone, n + 1, out, n_out) == n && undone[n] == 0);
        FUZZ_CHECK(n == 0 || memcmp(undone, text, n) == 0);
        free(undone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *text = NULL, *out = NULL, *again = NULL, *piece = NULL;
        size_t n, n_plain, n_out, n_again, n_piece, n_room, at = 0;
        PlainStyle style;

        if (n_data < 1)
                return 0;
        style = (PlainStyle) (data[0] % (PLAIN_JSON + 1));
        n_room = PLAIN_BYTES_MAX + 1 + data[0] / (PLAIN_JSON + 1);
        n = n_data - 1;
        text = fuzz_copy(data + 1, n);
        n_plain = plain_length(text, n, style);
        FUZZ_CHECK(n_plain <= harmless_length(text, n, style));

        out = malloc(n * PLAIN_BYTES_MAX + 1);
        FUZZ_CHECK(out);
        FUZZ_CHECK(plain_copy(out, n * PLAIN_BYTES_MAX + 1, text, n, style, &n_out) == n);
        FUZZ_CHECK(out[n_out] == 0 && harmless_length(out, n_out, style) == n_out);
        FUZZ_CHECK(plain_length(out, n_out, style) == n_out);
        FUZZ_CHECK(n_out >= n_plain && memcmp(out, text, n_plain) == 0);
        FUZZ_CHECK(n_plain < n || n_out == n);
        if (style == PLAIN_WORD && !memmem(text, n, "\\x", 2) && !memchr(text, 0, n))
                check_undo(text, n, out, n_out);

        again = malloc(n_out * PLAIN_BYTES_MAX + 1);
        FUZZ_CHECK(again);
        FUZZ_CHECK(plain_copy(again, n_out * PLAIN_BYTES_MAX + 1, out, n_out, style, &n_again) ==
                   n_out);
        FUZZ_CHECK(n_again == n_out && memcmp(again, out, n_out) == 0);

        /* Through a small window the same comes out. */
        piece = malloc(n_room);
        FUZZ_CHECK(piece);
        for (size_t i = 0, taken; i < n; i += taken) {
                taken = plain_copy(piece, n_room, text + i, n - i, style, &n_piece);
                FUZZ_CHECK(taken > 0 && n_piece < n_room && piece[n_piece] == 0);
                FUZZ_CHECK(n_piece <= n_out - at && memcmp(out + at, piece, n_piece) == 0);
                at += n_piece;
        }
        FUZZ_CHECK(at == n_out);
        return 0;
}

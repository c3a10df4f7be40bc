/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "lines/lines-private.h"
#include "unit.h"

/* Bytes as "0f 1f 44 00 00". */
static size_t bytes_of(uint8_t ret[static 32], const char *hex) {
        size_t n = 0;
        int n_read;

        memset(ret, 0x90, 32);
        for (; sscanf(hex, " %2hhx%n", &ret[n], &n_read) == 1; hex += n_read)
                n++;
        return n;
}

static void expect(CodeMachine machine, const char *hex, CodeKind kind, int64_t target) {
        uint8_t bytes[32];
        size_t n = bytes_of(bytes, hex);
        Instruction i = code_decode(machine, bytes, sizeof(bytes));

        ck_assert_msg(i.is_known && i.n_bytes == n && i.kind == kind && i.target == target,
                      "%s: %u bytes, kind %d, to %lld", hex, i.n_bytes, (int) i.kind,
                      (long long) i.target);
        /* Of what is cut nothing is said. */
        for (size_t k = 1; k < n; k++) {
                i = code_decode(machine, bytes, k);
                ck_assert_uint_ge(i.n_bytes, 1);
                ck_assert_uint_le(i.n_bytes, k);
                ck_assert(i.kind == CODE_OTHER || i.n_bytes < n);
        }
}

TEST(x86_calls_jumps_and_returns_are_told) {
        static const struct {
                const char *hex;
                CodeKind kind;
                int64_t target;
        } cases[] = {
                { "e8 10 00 00 00", CODE_CALL, 0x15 },
                { "e8 fb ff ff ff", CODE_CALL, 0 },
                { "2e e8 00 00 00 00", CODE_CALL, 6 },
                { "e9 00 01 00 00", CODE_JUMP, 0x105 },
                { "eb fe", CODE_JUMP, 0 },
                { "74 7f", CODE_BRANCH, 0x81 },
                { "0f 85 80 ff ff ff", CODE_BRANCH, -0x7a },
                { "e3 00", CODE_BRANCH, 2 },
                { "ff d0", CODE_CALL_POINTER, 0 },
                { "ff 15 00 00 00 00", CODE_CALL_POINTER, 0 },
                { "41 ff 54 24 08", CODE_CALL_POINTER, 0 },
                { "ff e0", CODE_JUMP_POINTER, 0 },
                { "ff 24 c5 00 00 00 81", CODE_JUMP_POINTER, 0 },
                { "c3", CODE_RETURN, 0 },
                { "c2 08 00", CODE_RETURN, 0 },
                { "48 cf", CODE_RETURN, 0 },
                { "0f 1f 44 00 00", CODE_NOP, 0 },
                { "66 90", CODE_NOP, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                expect(CODE_X86_64, cases[i].hex, cases[i].kind, cases[i].target);
}

TEST(x86_instructions_have_their_length) {
        static const char *const others[] = {
                "55",
                "f3 0f 1e fa",
                "ff 73 08", /* push, of the same opcode as calls */
                "48 89 e5",
                "48 83 ec 10",
                "48 81 ec 50 01 00 00",
                "65 48 8b 04 25 28 00 00 00",
                "48 c7 85 e0 fe ff ff 00 00 00 00",
                "48 b8 00 11 22 33 44 55 66 77",
                "b8 00 00 00 00",
                "66 b8 00 00",
                "66 81 3c 25 00 00 00 81 34 12",
                "48 a1 00 11 22 33 44 55 66 77",
                "f6 c3 01",
                "f6 d3",
                "f7 c3 01 00 00 00",
                "f7 d8",
                "f0 48 0f b1 0d 00 00 00 00",
                "0f ba e0 05",
                "0f 0b",
                "0f 01 ca",
                "0f a2",
                "0f 38 f0 00",
                "66 0f 3a 0f c1 08",
                "c5 f8 77",
                "c4 e2 7d 18 05 00 00 00 00",
                "c8 10 00 00",
                "62 f1 7c 48 28 05 00 00 00 00",
        };

        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                expect(CODE_X86_64, others[i], CODE_OTHER, 0);
}

TEST(what_is_no_x86_instruction_is_a_byte) {
        static const char *const none[] = {
                "06", "0e", "82", "9a", "ce", "d4", "ea", "c4 e0 7d 18"
        };

        for (size_t i = 0; i < ELEMENTSOF(none); i++) {
                uint8_t bytes[32];
                Instruction is;

                (void) bytes_of(bytes, none[i]);
                is = code_decode(CODE_X86_64, bytes, sizeof(bytes));
                ck_assert(!is.is_known);
                ck_assert_uint_eq(is.n_bytes, 1);
        }
}

TEST(arm64_calls_jumps_and_returns_are_told) {
        static const struct {
                const char *hex;
                CodeKind kind;
                int64_t target;
        } cases[] = {
                { "04 00 00 94", CODE_CALL, 16 }, /* bl */
                { "ff ff ff 97", CODE_CALL, -4 },
                { "02 00 00 14", CODE_JUMP, 8 },         /* b */
                { "40 00 00 54", CODE_BRANCH, 8 },       /* b.eq */
                { "e0 ff ff b4", CODE_BRANCH, -4 },      /* cbz */
                { "60 00 08 37", CODE_BRANCH, 12 },      /* tbnz */
                { "00 00 3f d6", CODE_CALL_POINTER, 0 }, /* blr */
                { "1f 09 3f d7", CODE_CALL_POINTER, 0 }, /* blraa */
                { "00 02 1f d6", CODE_JUMP_POINTER, 0 }, /* br */
                { "c0 03 5f d6", CODE_RETURN, 0 },
                { "ff 0b 5f d6", CODE_RETURN, 0 }, /* retaa */
                { "1f 20 03 d5", CODE_NOP, 0 },
                { "5f 24 03 d5", CODE_OTHER, 0 }, /* bti c */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                expect(CODE_ARM64, cases[i].hex, cases[i].kind, cases[i].target);
}

TEST(any_bytes_are_at_least_one_and_no_more_than_there_are) {
        unsigned seed = unit_seed();

        for (size_t i = 0; i < 200000; i++) {
                uint8_t bytes[16];
                size_t n = 1 + (size_t) rand_r(&seed) % sizeof(bytes);
                Instruction is;

                for (size_t k = 0; k < sizeof(bytes); k++)
                        bytes[k] = (uint8_t) rand_r(&seed);
                is = code_decode((CodeMachine) (i % 2), bytes, n);
                ck_assert_uint_ge(is.n_bytes, 1);
                ck_assert_uint_le(is.n_bytes, n);
        }
}

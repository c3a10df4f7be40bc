/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An x86-64 instruction is prefixes, an opcode of one of four maps, a ModRM byte with what it announces, and an
 * immediate: the maps below say of each opcode whether it has the last two.  An arm64 instruction has four bytes.
 */

#include "base/bytes.h"
#include "lines/lines-private.h"

/* --- x86-64 ----------------------------------------------------------------------------------- */

enum {
        MODRM = 1 << 0,
        IMM8 = 1 << 1,
        IMM16 = 1 << 2,
        IMMZ = 1 << 3, /* 4 bytes, 2 with an operand size prefix */
        IMMV = 1 << 4, /* the same, 8 with REX.W */
        MOFFS = 1 << 5,
        NOT_64 = 1 << 6, /* no opcode in 64-bit mode, or a prefix, which was taken before */
};

static const uint8_t one_byte[256] = {
        /* Arithmetic: the rows of eight are set in opcode_of(). */
        [0x60 ... 0x62] = NOT_64,
        [0x63] = MODRM,
        [0x68] = IMMZ,
        [0x69] = MODRM | IMMZ,
        [0x6a] = IMM8,
        [0x6b] = MODRM | IMM8,
        [0x70 ... 0x7f] = IMM8,
        [0x80] = MODRM | IMM8,
        [0x81] = MODRM | IMMZ,
        [0x82] = NOT_64,
        [0x83] = MODRM | IMM8,
        [0x84 ... 0x8f] = MODRM,
        [0x9a] = NOT_64,
        [0xa0 ... 0xa3] = MOFFS,
        [0xa8] = IMM8,
        [0xa9] = IMMZ,
        [0xb0 ... 0xb7] = IMM8,
        [0xb8 ... 0xbf] = IMMV,
        [0xc0 ... 0xc1] = MODRM | IMM8,
        [0xc2] = IMM16,
        [0xc4 ... 0xc5] = NOT_64,
        [0xc6] = MODRM | IMM8,
        [0xc7] = MODRM | IMMZ,
        [0xc8] = IMM16 | IMM8,
        [0xca] = IMM16,
        [0xcd] = IMM8,
        [0xce] = NOT_64,
        [0xd0 ... 0xd3] = MODRM,
        [0xd4 ... 0xd6] = NOT_64,
        [0xd8 ... 0xdf] = MODRM,
        [0xe0 ... 0xe7] = IMM8,
        [0xe8 ... 0xe9] = IMMZ,
        [0xea] = NOT_64,
        [0xeb] = IMM8,
        [0xf6 ... 0xf7] = MODRM,
        [0xfe ... 0xff] = MODRM,
};

/* Behind 0f: most have a ModRM. */
static uint8_t two_byte(uint8_t op) {
        switch (op) {
        case 0x05 ... 0x09:
        case 0x0b:
        case 0x0e:
        case 0x30 ... 0x37:
        case 0x77:
        case 0xa0 ... 0xa2:
        case 0xa8 ... 0xaa:
        case 0xc8 ... 0xcf:
                return 0;
        case 0x80 ... 0x8f:
                return IMMZ;
        case 0x0f:
        case 0x70 ... 0x73:
        case 0xa4:
        case 0xac:
        case 0xba:
        case 0xc2:
        case 0xc4 ... 0xc6:
                return MODRM | IMM8;
        default:
                return MODRM;
        }
}

static uint8_t of_map(unsigned map, uint8_t op) {
        switch (map) {
        case 0:
                if (op < 0x40)
                        return (op & 7) < 4    ? MODRM
                               : (op & 7) == 4 ? IMM8
                               : (op & 7) == 5 ? IMMZ
                                               : NOT_64;
                return one_byte[op];
        case 1:
                return two_byte(op);
        case 2:
                return MODRM;
        case 3:
                return MODRM | IMM8;
        default:
                return NOT_64;
        }
}

/* Bytes of a ModRM and of what it announces; more than @n: they are not there. */
static size_t modrm_bytes(const uint8_t *p, size_t n) {
        size_t n_bytes = 1;
        unsigned mod = p[0] >> 6, rm = p[0] & 7;

        if (mod == 3)
                return 1;
        if (rm == 4) {
                if (n < 2)
                        return n + 1;
                n_bytes++;
                rm = p[1] & 7;
        }
        if (mod == 1)
                return n_bytes + 1;
        return n_bytes + (mod == 2 || rm == 5 ? 4 : 0);
}

static bool is_prefix(uint8_t c) {
        return c == 0x66 || c == 0x67 || (c & 0xfe) == 0xf2 || c == 0xf0 || (c & 0xe7) == 0x26 ||
               (c & 0xfe) == 0x64;
}

/* What the instruction does whose opcode is @op, and whose immediate is at @imm. */
static void tell_x86(Instruction *i, unsigned map, uint8_t op, unsigned reg, const uint8_t *imm) {
        bool is_short = map == 0 && ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 || op == 0xeb);
        bool is_near = map == 0 ? (op & 0xfe) == 0xe8 : map == 1 && (op & 0xf0) == 0x80;

        if (is_short || is_near) {
                if (map == 0 && op == 0xe8)
                        i->kind = CODE_CALL;
                else
                        i->kind = map == 0 && (op & 0xfd) == 0xe9 ? CODE_JUMP : CODE_BRANCH;
                i->target = is_near ? (int32_t) load_u32(imm, needs_swap(false)) : (int8_t) *imm;
                i->target += i->n_bytes;
        } else if (map == 0 && op == 0xff && (reg & 6) == 2)
                i->kind = CODE_CALL_POINTER;
        else if (map == 0 && op == 0xff && (reg & 6) == 4)
                i->kind = CODE_JUMP_POINTER;
        else if (map == 0 ? (op & 0xf6) == 0xc2 || op == 0xcf
                          : map == 1 && (op == 0x07 || op == 0x35))
                i->kind = CODE_RETURN; /* ret, iret, sysret, sysexit */
        else if (map == 0 ? op == 0x90 : map == 1 && op == 0x1f)
                i->kind = CODE_NOP;
}

static Instruction decode_x86(const uint8_t *p, size_t n_bytes) {
        static const Instruction unknown = { .kind = CODE_OTHER, .n_bytes = 1 };
        Instruction ret = { .kind = CODE_OTHER, .is_known = true };
        size_t n = MIN(n_bytes, (size_t) 15), i = 0, at;
        bool has_operand_size = false, has_address_size = false, is_wide = false;
        unsigned map = 0, reg = 0, flags;
        uint8_t op;

        for (; i < n && is_prefix(p[i]); i++) {
                has_operand_size |= p[i] == 0x66;
                has_address_size |= p[i] == 0x67;
        }
        if (i < n && (p[i] & 0xf0) == 0x40)
                is_wide = p[i++] & 8;
        if (i < n && (p[i] == 0xc5 || p[i] == 0xc4 || p[i] == 0x62)) {
                size_t n_vex = p[i] == 0xc5 ? 2 : p[i] == 0xc4 ? 3 : 4;

                if (n - i <= n_vex)
                        return unknown;
                map = n_vex == 2 ? 1 : p[i + 1] & (n_vex == 3 ? 0x1f : 7);
                i += n_vex;
                if (map == 0)
                        return unknown;
        } else if (i < n && p[i] == 0x0f) {
                i++;
                map = 1;
                if (i < n && (p[i] == 0x38 || p[i] == 0x3a)) {
                        map = p[i] == 0x38 ? 2 : 3;
                        i++;
                }
        }
        if (i >= n)
                return unknown;
        op = p[i++];
        flags = of_map(map, op);
        if (flags & NOT_64)
                return unknown;
        if (flags & MODRM) {
                if (i >= n)
                        return unknown;
                reg = p[i] >> 3 & 7;
                if (map == 0 && (op == 0xf6 || op == 0xf7) && reg < 2)
                        flags |= op == 0xf6 ? IMM8 : IMMZ; /* test */
                i += modrm_bytes(p + i, n - i);
        }
        at = i;
        if (flags & IMM8)
                i += 1;
        if (flags & IMM16)
                i += 2;
        if (flags & MOFFS)
                i += has_address_size ? 4 : 8;
        if (flags & IMMV && is_wide)
                i += 8;
        else if (flags & (IMMZ | IMMV)) /* a near jump has four, whatever is in front */
                i += has_operand_size && !is_wide && !(map == 0 && (op & 0xfe) == 0xe8) ? 2 : 4;
        if (i > n)
                return unknown;
        ret.n_bytes = (unsigned) i;
        tell_x86(&ret, map, op, reg, p + at);
        return ret;
}

/* --- arm64 ------------------------------------------------------------------------------------ */

/* @n_bits of @word from @first on, with their sign, in instructions. */
static int64_t branch_target(uint32_t word, unsigned first, unsigned n_bits) {
        return (int64_t) ((uint64_t) (word >> first) << (64 - n_bits)) >> (64 - n_bits - 2) &
               ~INT64_C(3);
}

static Instruction decode_arm64(const uint8_t *p, size_t n) {
        Instruction ret = { .kind = CODE_OTHER, .n_bytes = (unsigned) MIN(n, (size_t) 4) };
        uint32_t w;

        if (n < 4)
                return ret;
        w = load_u32(p, needs_swap(false));
        ret.is_known = true;
        if ((w & 0x7c000000) == 0x14000000) {
                ret.kind = w >> 31 ? CODE_CALL : CODE_JUMP;
                ret.target = branch_target(w, 0, 26);
        } else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000) {
                ret.kind = CODE_BRANCH;
                ret.target = branch_target(w, 5, 19);
        } else if ((w & 0x7e000000) == 0x36000000) {
                ret.kind = CODE_BRANCH;
                ret.target = branch_target(w, 5, 14);
        } else if ((w & 0xfe000000) ==
                   0xd6000000) { /* br, blr, ret, eret, and with pointer authentication */
                unsigned op = w >> 21 & 7;

                ret.kind = op == 0 ? CODE_JUMP_POINTER : op == 1 ? CODE_CALL_POINTER : CODE_RETURN;
        } else if (w == 0xd503201f)
                ret.kind = CODE_NOP;
        return ret;
}

Instruction code_decode(CodeMachine machine, const uint8_t *p, size_t n) {
        return machine == CODE_ARM64 ? decode_arm64(p, n) : decode_x86(p, n);
}

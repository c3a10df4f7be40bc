/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One step up a copied stack: .eh_frame tells, for each address of a program, how the caller's registers are found from
 * those of the callee and the stack.  libdw finds and reads the rules; they are evaluated here, so that all processes share
 * those of a file.  Code without rules (Go, what runtimes compile) is passed by its frame pointer.
 */

#include <dwarf.h>

#include "base/bytes.h"
#include "programs/programs-private.h"

#define OPS_MAX                                                                                    \
        64 /* compilers need a dozen; a file may have any number, for each register of each step */
#define DEPTH_MAX 16
#define ARM64_ADDRESS ((UINT64_C(1) << 48) - 1) /* without a pointer's signature */

/* How a value was not found is remembered: the outermost one tells whether more was copied. */
typedef struct Machine {
        const StackCopy *before;
        uint64_t cfa;
        bool is_cut;
} Machine;

static bool read_word(Machine *m, uint64_t address, uint64_t *ret) {
        const StackCopy *c = m->before;
        uint64_t at = address - c->begin;

        if (address < c->begin || at > c->n_stack || c->n_stack - at < 8) {
                m->is_cut |= address >= c->begin && at < (UINT64_C(1) << 24);
                return false;
        }
        *ret = load_u64(c->stack + at, false);
        return true;
}

static bool read_register(const Machine *m, uint64_t number, uint64_t *ret) {
        const StackCopy *c = m->before;

        if (number >= 32 || !(c->known >> number & 1)) {
                if (number != 16 || c->machine != 62)
                        return false;
                *ret = c->pc;
                return true;
        }
        *ret = c->registers[number];
        return true;
}

/* The few operations that compilers, PLTs and signal trampolines use; no jumps, so that it ends. */
static bool evaluate(Machine *m, const UnwindRule *rule, bool *ret_is_value, uint64_t *ret) {
        uint64_t stack[DEPTH_MAX];
        size_t n = 0;

        *ret_is_value = false;
        if (rule->n > OPS_MAX)
                return false;
        for (size_t i = 0; i < rule->n; i++) {
                const Dwarf_Op *op = &rule->ops[i];
                uint64_t v = 0;
                uint8_t a = op->atom;
                bool has_two = n >= 2;

                if (a == DW_OP_stack_value) {
                        *ret_is_value = true;
                        continue;
                }
                if (a >= DW_OP_breg0 && a <= DW_OP_breg31) {
                        if (!read_register(m, a - DW_OP_breg0, &v))
                                return false;
                        v += op->number;
                } else if (a == DW_OP_bregx) {
                        if (!read_register(m, op->number, &v))
                                return false;
                        v += op->number2;
                } else if ((a >= DW_OP_reg0 && a <= DW_OP_reg31) || a == DW_OP_regx) {
                        uint64_t number = a == DW_OP_regx ? op->number : (uint64_t) a - DW_OP_reg0;

                        if (!read_register(m, number, &v))
                                return false;
                        *ret_is_value = true;
                } else if (a >= DW_OP_lit0 && a <= DW_OP_lit31)
                        v = a - DW_OP_lit0;
                else if ((a >= DW_OP_const1u && a <= DW_OP_consts) || a == DW_OP_addr)
                        v = op->number;
                else if (a == DW_OP_call_frame_cfa)
                        v = m->cfa;
                else if (a == DW_OP_dup && n >= 1)
                        v = stack[n - 1];
                else if (a == DW_OP_plus_uconst && n >= 1)
                        v = stack[--n] + op->number;
                else if (a == DW_OP_deref && n >= 1) {
                        if (!read_word(m, stack[--n], &v))
                                return false;
                } else if (a == DW_OP_nop)
                        continue;
                else if (has_two &&
                         (a == DW_OP_plus || a == DW_OP_minus || a == DW_OP_and || a == DW_OP_or ||
                          a == DW_OP_ge || a == DW_OP_mul || a == DW_OP_shl || a == DW_OP_shr)) {
                        uint64_t y = stack[--n], x = stack[--n];

                        v = a == DW_OP_plus    ? x + y
                            : a == DW_OP_minus ? x - y
                            : a == DW_OP_and   ? x & y
                            : a == DW_OP_or    ? x | y
                            : a == DW_OP_mul   ? x * y
                            : a == DW_OP_ge    ? (int64_t) x >= (int64_t) y
                            : y >= 64          ? 0
                            : a == DW_OP_shl   ? x << y
                                               : x >> y;
                } else
                        return false;
                if (n == DEPTH_MAX)
                        return false;
                stack[n++] = v;
        }
        if (n == 0)
                return false;
        *ret = stack[n - 1];
        return true;
}

/* The caller's register. */
static bool find_caller(Machine *m, const UnwindRule *rule, uint64_t number, uint64_t *ret) {
        bool is_value;
        uint64_t v;

        if (rule->kind == UNWIND_SAME)
                return read_register(m, number, ret);
        if (rule->kind != UNWIND_BY_OPS || !evaluate(m, rule, &is_value, &v))
                return false;
        if (is_value)
                *ret = v;
        return is_value || read_word(m, v, ret);
}

static UnwindStep by_rules(StackCopy *c, const UnwindRules *rules) {
        Machine m = { .before = c };
        StackCopy caller = *c;
        bool is_value;
        uint64_t v;

        if (rules->registers[rules->return_register].kind == UNWIND_UNDEFINED)
                return UNWIND_WHOLE;
        if (rules->cfa.kind != UNWIND_BY_OPS || !evaluate(&m, &rules->cfa, &is_value, &m.cfa))
                return m.is_cut ? UNWIND_CUT : UNWIND_LOST;
        if (!find_caller(&m, &rules->registers[rules->return_register], rules->return_register,
                         &caller.pc))
                return m.is_cut ? UNWIND_CUT : UNWIND_LOST;
        caller.known = 0;
        for (unsigned i = 0; i < 32; i++)
                if (rules->registers[i].kind != UNWIND_UNDEFINED &&
                    find_caller(&m, &rules->registers[i], i, &v)) {
                        caller.registers[i] = v;
                        caller.known |= UINT32_C(1) << i;
                }
        if (c->machine == 183)
                caller.pc &= ARM64_ADDRESS;
        caller.sp = m.cfa;
        v = c->machine == 62 ? 7 : 31;
        if (rules->is_signal && caller.known >> v & 1)
                caller.sp = caller.registers[v]; /* which may be on a stack of its own */
        caller.registers[v] = caller.sp;
        caller.known |= UINT32_C(1) << v;
        if ((caller.sp < c->sp && !rules->is_signal) || (caller.sp == c->sp && caller.pc == c->pc))
                return UNWIND_LOST;
        *c = caller;
        return c->pc == 0 ? UNWIND_WHOLE : rules->is_signal ? UNWIND_INTERRUPTED : UNWIND_CALLED;
}

static UnwindStep by_frame_pointer(StackCopy *c) {
        unsigned number = c->machine == 62 ? 6 : 29;
        uint64_t frame = c->registers[number], next, pc;
        Machine m = { .before = c };

        if (!(c->known >> number & 1) || frame < c->sp || frame % 8 != 0)
                return UNWIND_LOST;
        if (!read_word(&m, frame, &next) || !read_word(&m, frame + 8, &pc))
                return m.is_cut ? UNWIND_CUT : UNWIND_LOST;
        c->known = UINT32_C(1) << number | UINT32_C(1) << (c->machine == 62 ? 7 : 31);
        c->registers[number] = next;
        c->pc = c->machine == 183 ? pc & ARM64_ADDRESS : pc;
        c->sp = c->registers[c->machine == 62 ? 7 : 31] = frame + 16;
        return c->pc == 0 ? UNWIND_WHOLE : UNWIND_CALLED;
}

UnwindStep unwind_step(StackCopy *c, const UnwindRules *rules) {
        return rules ? by_rules(c, rules) : by_frame_pointer(c);
}

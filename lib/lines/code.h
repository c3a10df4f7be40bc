/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Code: how long each machine instruction is, and where it may lead
 *
 * No disassembler: of what does not call, jump or return only the length is told.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A; Arm
 * Architecture Reference Manual for A-profile, C4.1 (branches).
 */

#include "base/cleanup.h"

typedef enum CodeMachine {
        CODE_X86_64,
        CODE_ARM64,
} CodeMachine;

typedef enum CodeKind {
        CODE_OTHER,  /* goes on behind it */
        CODE_NOP,    /* the same, and what a static key may make a jump of */
        CODE_CALL,   /* to `target` */
        CODE_JUMP,   /* there, and does not come back */
        CODE_BRANCH, /* there, or behind it */
        CODE_CALL_POINTER,
        CODE_JUMP_POINTER,
        CODE_RETURN,
} CodeKind;

typedef struct Instruction {
        CodeKind kind;
        unsigned n_bytes; /* 1, or 4, also of what cannot be read */
        bool is_known;    /* false: what there is cannot be read */
        int64_t target;   /* CALL, JUMP, BRANCH: from the beginning of the instruction [bytes] */
} Instruction;

/* The one at @p, of @n bytes (at least 1). */
Instruction code_decode(CodeMachine machine, const uint8_t *p, size_t n);

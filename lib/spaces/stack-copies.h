/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stack copies: what was on the stack of a program when it called a root
 *
 * A recording with --user-stack=copy has, for each CPU, files "stacks/cpuN-K", K counting from 0, which belong to root
 * alone: whatever a program keeps on its stack is in them.  Each begins with a header in the byte order of its host,
 *
 *      0   u8[8]  magic "ftracSTK"           24  u32  bytes of each stack that were asked for
 *      8   u32    version, 1                 28  u32  of so many calls one
 *      12  u32    ELF's number of the machine 32 u32  CPU
 *      16  u64    which registers there are  36  u32  0
 *
 * behind which records are as the kernel gave them, undecoded (linux 6.12 include/uapi/linux/perf_event.h,
 * perf_event_header; kernel/events/core.c, perf_output_sample()).  Those of type PERF_RECORD_SAMPLE have
 *
 *      u32 tgid, tid; u64 time; u32 cpu, 0; u64 abi; u64 registers[]; u64 n; u8 stack[n]; u64 n_copied
 *
 * without registers if abi is 0, and without n_copied if n is 0; behind n_copied bytes the stack is what was in the
 * kernel's ring.  The time is of the recording's own clock.  In a ring the older files go.
 */

#include "base/cleanup.h"

#define STACKS_DIR "stacks"
#define STACKS_MAGIC "ftracSTK"
#define STACKS_VERSION 1
#define STACKS_NAME_MAX 32 /* of a file in it */

typedef struct StacksHeader {
        char magic[8];
        uint32_t version, machine;
        uint64_t registers;
        uint32_t n_bytes, every, cpu, zero;
} StacksHeader;
_Static_assert(sizeof(StacksHeader) == 40, "the header is a file format");

/* What is recorded here (arch/x86/include/uapi/asm/perf_regs.h: AX to IP, R8 to R15; arch/arm64: X0 to X30, SP, PC). */
#if defined(__x86_64__)
#define STACKS_MACHINE 62
#define STACKS_REGISTERS UINT64_C(0xff01ff)
#elif defined(__aarch64__)
#define STACKS_MACHINE 183
#define STACKS_REGISTERS UINT64_C(0x1ffffffff)
#else
#define STACKS_MACHINE 0 /* not here */
#define STACKS_REGISTERS UINT64_C(0)
#endif

#define STACK_REGISTERS_MAX 33

/* One copy, with registers by DWARF's numbers. */
typedef struct StackCopy {
        int32_t tgid, tid;
        uint64_t timestamp_ns;
        uint32_t machine;
        uint64_t registers
                [STACK_REGISTERS_MAX]; /* those of x86-64: 16 is where it is; of arm64: 32 */
        uint32_t known;                /* bit of each that is known, of the first 32 */
        uint64_t pc, sp;
        uint64_t begin;       /* the address of stack[0] */
        const uint8_t *stack; /* valid until the next one is found */
        size_t n_stack;
} StackCopy;

typedef struct StackCopies StackCopies;

/* Those of the session at @dir_fd, which is borrowed.  What is damaged is left out.  *@ret NULL: there are none, or they are
 * not for you.  0 or -ENOMEM. */
int stack_copies_open(StackCopies **ret, int dir_fd);
/* The first of @tid that was taken on @cpu at a time of these.  1: @ret is filled; 0: there is none; -ENOMEM. */
int stack_copies_find(StackCopies *s, uint32_t cpu, int32_t tid, uint64_t from_ns, uint64_t to_ns,
                      StackCopy *ret);
/* Copies for which the kernel says that it had no room. */
uint64_t stack_copies_n_lost(const StackCopies *s);
StackCopies *stack_copies_free(StackCopies *s);
DEFINE_CLEANUP(StackCopies *, stack_copies_free);

/* A record, @n bytes of it, hostile.  False: it is no copy that can be unwound. */
bool stack_copy_parse(StackCopy *ret, const StacksHeader *h, const uint8_t *record, size_t n);

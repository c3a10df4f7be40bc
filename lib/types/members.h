/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Member: where, behind a function's parameters, a value is
 *
 *      sk.__sk_common.skc_dport        a parameter's members; "." and "->" are the same
 *      file.f_path.dentry.d_name.name  pointers are followed
 *      skb.cb[3]                       arrays, and pointers as such
 *      (inet_sock)sk.inet_sport        a parameter as a pointer to another structure
 *      (tcp_sock)(sock.sk).snd_cwnd    the same of what is in parentheses
 *
 * Members of anonymous structures and unions are found as if they were those of what is around them.  The
 * place is a chain of offsets: of a parameter that is a pointer, the value is read at
 *
 *      *( *(parameter + offsets[0]) + offsets[1] )
 *
 * which the kernel's probes write from the inside to the outside, +OFFSET1(+OFFSET0($arg1)) (linux 6.1
 * Documentation/trace/kprobetrace.rst).  All is read from the kernel's types (types/prototypes.h).
 */

#include "types/prototypes.h"

#define MEMBER_OFFSETS_MAX 16
#define MEMBER_WHY_MAX 512
#define MEMBER_PLACE_MAX (MEMBER_OFFSETS_MAX * 14 + 64)

typedef enum MemberKind {
        MEMBER_UNSIGNED, /* also bool and enums */
        MEMBER_SIGNED,
        MEMBER_BE,           /* a number in network byte order: __be16, __be32, __be64 */
        MEMBER_POINTER,      /* to anything else than: */
        MEMBER_TEXT_POINTER, /* char * */
        MEMBER_TEXT,         /* char[] */
        MEMBER_OBJECT,       /* a structure, a union, another array: no number */
} MemberKind;

typedef struct Member {
        unsigned param;     /* from 0 */
        unsigned n_offsets; /* 0: the parameter itself, a register */
        uint32_t offsets[MEMBER_OFFSETS_MAX];
        unsigned bit,
                n_bits; /* of a bit field, from the last offset, bit < 8; n_bits 0: it is none */
        MemberKind kind;
        uint64_t n_bytes;
        const char *name; /* of the parameter or the last member: "" if it has none */
        const char *type; /* of the structure that it is or points to; "": of none */
        /* Its type in the file; @number is what it points to if it was cast. */
        const void *part;
        uint32_t number;
        bool is_cast;
} Member;

/*
 * member_of_param() - parameter @i of a function
 * member_of_struct() - a pointer to a structure, for probes that have one without being of a function
 * @ret: names live as long as @p
 *
 * Return: 0, MEMBER_E_NONE: there is no such function, parameter or structure.
 */
enum { MEMBER_E_NONE = 1, MEMBER_E_REFUSED };
int member_of_param(Member *ret, const Prototypes *p, const char *function, unsigned i);
int member_of_struct(Member *ret, const Prototypes *p, const char *name);

/*
 * member_walk() - go on to members
 * @m:    is what it was on failure
 * @path: "f_path.dentry->d_name.name", "[3].x"
 * @why:  a sentence without its end: "struct sock has no member \"foo\"; it has ..."
 *
 * Return: 0, MEMBER_E_REFUSED.
 */
int member_walk(Member *m, const Prototypes *p, const char *path, char why[static MEMBER_WHY_MAX]);
/* The whole of an expression.  0; MEMBER_E_NONE: nothing is known of @function; MEMBER_E_REFUSED. */
int member_find(Member *ret, const Prototypes *p, const char *function, const char *expression,
                char why[static MEMBER_WHY_MAX]);

/* "+8(+16($arg1))": where the value is, for the kernel's probes.  Returns @text. */
char *member_place(const Member *m, char text[static MEMBER_PLACE_MAX]);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Functions: each address met in a recording, named once
 *
 * A Function stays where it is for the table's life, so that pointers to it may
 * be compared and kept.  An address that is another function later, because
 * modules came and went, has a Function for each; one that keeps its name keeps
 * its Function.
 */

#include "base/array.h"
#include "base/buf.h"
#include "base/hash.h"
#include "decode/names.h"
#include "types/prototypes.h"

#define FUNCTION_SLACK 32
#define FUNCTION_SYMBOL_MAX 511 /* KSYM_NAME_LEN is 512 (linux 6.1); what is longer is cut */
#define FUNCTION_MODULE_MAX 63  /* MODULE_NAME_LEN is 64 less a long */

typedef enum FunctionKind {
        FUNCTION_RECORDED,
        FUNCTION_INLINED, /* the compiler put it into who called it: it has neither calls nor a time of its own */
        FUNCTION_UNTRACED,   /* it was called, and no tracer sees it: likewise */
        FUNCTION_OF_PROGRAM, /* of its stack: likewise; its module is the file that it is in */
} FunctionKind;

typedef struct Function {
        uint64_t address;
        /* As the kernel's %ps prints it: "udp_sendmsg", "ovl_open [overlay]", and
         * "0xffffffff81000000" without a symbol; what is not plain text is escaped.  Another FUNCTION_SLACK bytes can be read behind
         * its NUL, so that copying needs no exact length. */
        const char *label;
        uint32_t n_label;   /* bytes */
        uint32_t n_name;    /* bytes of the label without the module */
        uint32_t n_place;   /* bytes at its end that say from where it was called (CallWay) */
        int32_t root;       /* which of the roots it is; -1: none */
        int32_t n_unhooked; /* functions below it that were not hooked (Unhooked) */
        bool was_left_out;  /* it was not hooked itself, for a while at least */
        bool is_irq_entry; /* an interrupt begins with it: it lies in the kernel\'s .irqentry.text */
        const Prototype *prototype; /* NULL: none is known */
        FunctionKind kind;
        /* Of one that is called from somewhere: */
        const struct Function *plain; /* the same without that; NULL: it is of any calls */
        const char *file;             /* "net/ipv4/udp.c"; NULL: it is not one line, or not known */
        uint32_t line;
} Function;

static inline const Function *function_plain(const Function *f) {
        return f->plain ?: f;
}

/* The same by name: probes and the graph may know it by two addresses, behind an ENDBR, or before it. */
static inline bool function_is_same(const Function *a, const Function *b) {
        return a == b || (a->n_label == b->n_label && memcmp(a->label, b->label, a->n_label) == 0);
}

/* The name of its module, not ended; NULL: it is the kernel's own. */
static inline const char *function_module(const Function *f, size_t *ret_n) {
        static const size_t n_brackets = sizeof(" []") - 1;
        size_t n_label = f->n_label - f->n_place;

        if (n_label <= f->n_name + n_brackets) {
                *ret_n = 0;
                return NULL;
        }
        *ret_n = n_label - f->n_name - n_brackets;
        return f->label + f->n_name + 2;
}

/*
 * CallWay: from where a function was called, and through which others that no recording has
 *
 *      ip_route_output_flow
 *        __ip_route_output_key (inlined, net/ipv4/route.c:2850)        functions[0]
 *          rcu_read_lock (inlined, include/net/route.h:135)
 *            __rcu_read_lock (include/linux/rcupdate.h:840)            functions[n - 1]: the one that was called
 *
 * Each is a Function of its own, whose label says from where.  The same way is at the same address.
 */
typedef struct CallWay {
        const char *
                text; /* "net/ipv4/route.c:2850 [__ip_route_output_key] include/net/route.h:135 ..." */
        uint32_t n_text;
        uint32_t n; /* at least 1 */
        const Function *functions[];
} CallWay;

/* @f as it was called; @way NULL: nobody knows from where. */
static inline const Function *call_way_callee(const CallWay *way, const Function *f) {
        return way ? way->functions[way->n - 1] : f;
}

typedef struct Functions {
        SymbolTimeline *symbol_timeline; /* borrowed, like the next three */
        const Strv *roots;               /* sorted */
        Prototypes *prototypes;          /* NULL: none are known */
        struct Unhooked *unhooked;       /* what is not hooked below each; NULL: nobody has said */

        /* Its own: */
        uint64_t begin_ns, length_ns; /* of the present stretch of time; 0: no stretch yet */
        SymbolTimelineSpan span;      /* begin_ns == end_ns: none yet */
        uint64_t irq_begin, irq_end;  /* of the span; equal: not known */
        Hash now, all;
} Functions;

/* functions_get() where nothing is at hand. */
const Function *functions_look_up(Functions *f, uint64_t address, uint64_t timestamp_ns);

/* functions_get() of what is at hand, else NULL. */
static inline const Function *functions_find(const Functions *f, uint64_t address,
                                             uint64_t timestamp_ns) {
        const Function *known = hash_get_ptr(&f->now, address);

        return known && timestamp_ns - f->begin_ns < f->length_ns ? known : NULL;
}

/* Returns what was at @address then.  Quick where times ascend.  NULL without memory. */
static inline const Function *functions_get(Functions *f, uint64_t address, uint64_t timestamp_ns) {
        return functions_find(f, address, timestamp_ns)
                       ?: functions_look_up(f, address, timestamp_ns);
}
/* The symbol that @address, of anything, lay in then; false: none. */
bool functions_find_symbol(Functions *f, uint64_t address, uint64_t timestamp_ns, Symbol *ret);
/* To be told after symbol_timeline_refresh(). */
void functions_forget_times(Functions *f);
void functions_done(Functions *f);

/*
 * Unhooked: what else the own time of a function may be
 *
 * Calls of a function that was not hooked are not recorded, and what they take is their caller's own time.
 * Below F are not hooked the functions of `left_out` whose callers (`left_out_in`) lead to F through others of
 * that list:
 *
 *      ip_send_skb           own time: its own, and that of
 *        (dst_release)       in ip_send_skb
 *          (kfree)           in dst_release          2 functions not hooked
 *        ip_output
 *
 * What has no callers there, or "..." as the last of them, for others than those, may be below any function.
 */

typedef struct SessionMeta SessionMeta;

/* What is greater says less, so that of several recordings the greatest holds. */
#define UNHOOKED_UNTOLD (-1)       /* of a text, or another program's file: nothing is said */
#define UNHOOKED_UNKNOWN INT32_MAX /* nobody knows what it calls */

typedef struct Unhooked {
        const SessionMeta *meta;
        Strv *callers; /* of each of left_out */
        struct UnhookedEdge *edges;
        size_t n_edges;
        size_t *open;   /* of left_out: what is still to be looked below */
        unsigned *seen; /* in which round */
        unsigned round;
} Unhooked;

/* @m: borrowed for its life.  0 or -ENOMEM; then, too, unhooked_done() it. */
int unhooked_init(Unhooked *u, const SessionMeta *m);
/* How many known functions below that one were not hooked, at least for a while; or one of the above.  @ret_was_left_out:
 * whether that one was not. */
int32_t unhooked_below(Unhooked *u, const char *function, bool *ret_was_left_out);
void unhooked_done(Unhooked *u);

/* "hooked 129 of 286 known functions; left out: 157 for their cost (kfree, ...)", of all of the recording; nothing
 * if all of the kernel's were hooked, as far as anybody has said, or only the roots should be. */
void unhooked_describe(Buf *out, const SessionMeta *m);
/* " for the 129 functions that were hooked of 286 known": what a recording can be complete for; nothing likewise. */
void unhooked_describe_scope(Buf *out, const SessionMeta *m);

/* True if an own time is that of the function alone, as far as anybody has said. */
static inline bool unhooked_is_none(int32_t n) {
        return n <= 0;
}

/* True if it is a number that a table has. */
static inline bool unhooked_is_number(int32_t n) {
        return n >= 0 && n != UNHOOKED_UNKNOWN;
}

#define UNHOOKED_TEXT_MAX 64
/* " or below it (12 functions not hooked)", behind a function's name; empty if there is nothing to say. */
char *unhooked_text(char text[static UNHOOKED_TEXT_MAX], int32_t n);
#define UNHOOKED_TEXT(n) unhooked_text((char[UNHOOKED_TEXT_MAX]){}, (n))
/* For a comment or a cell: "12 not hooked below", "callees not known"; empty likewise. */
char *unhooked_note(char text[static UNHOOKED_TEXT_MAX], int32_t n);
#define UNHOOKED_NOTE(n) unhooked_note((char[UNHOOKED_TEXT_MAX]){}, (n))

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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "calls/unhooked.h"
#include "decode/names.h"
#include "decode/prototypes.h"

#define FUNCTION_SLACK 32
#define FUNCTION_SYMBOL_MAX 511 /* KSYM_NAME_LEN is 512 (linux 6.1); what is longer is cut */
#define FUNCTION_MODULE_MAX 63  /* MODULE_NAME_LEN is 64 less a long */

typedef struct Function {
        uint64_t address;
        /* As the kernel's %ps prints it: "udp_sendmsg", "ovl_open [overlay]", and
         * "0xffffffff81000000" without a symbol; what is not plain text is escaped.  Another FUNCTION_SLACK bytes can be read behind
         * its NUL, so that copying needs no exact length. */
        const char *label;
        uint32_t n_label;   /* bytes */
        uint32_t n_name;    /* bytes of the label without the module */
        int32_t root;       /* which of the roots it is; -1: none */
        int32_t n_unhooked; /* functions below it that were not hooked (calls/unhooked.h) */
        bool was_left_out;  /* it was not hooked itself, for a while at least */
        bool is_irq_entry; /* an interrupt begins with it: it lies in the kernel\'s .irqentry.text */
        const Prototype *prototype; /* NULL: none is known */
} Function;

/* The name of its module, not ended; NULL: it is the kernel's own. */
static inline const char *function_module(const Function *f, size_t *ret_n) {
        static const size_t n_brackets = sizeof(" []") - 1;

        if (f->n_label <= f->n_name + n_brackets) {
                *ret_n = 0;
                return NULL;
        }
        *ret_n = f->n_label - f->n_name - n_brackets;
        return f->label + f->n_name + 2;
}

typedef struct Functions Functions;

#define FUNCTIONS_RECENT 1024

/* What a Functions begins with: what was asked for lately in the present stretch of time, so that
 * nearly every question is answered without a call. */
typedef struct FunctionsHead {
        uint64_t begin_ns, length_ns; /* 0: no stretch yet */
        struct {
                uint64_t address;
                const Function *function; /* NULL: free */
        } recent[FUNCTIONS_RECENT];
} FunctionsHead;

/* @symbol timeline, @roots (sorted), @prototypes (NULL: none are known): borrowed for the table's life. */
int functions_new(Functions **ret, SymbolTimeline *symbol_timeline, const Strv *roots,
                  Prototypes *prototypes);
/* What is not hooked below each; borrowed.  Without it nobody has said. */
void functions_set_unhooked(Functions *f, Unhooked *unhooked);
/* functions_get() where nothing is at hand. */
const Function *functions_look_up(Functions *f, uint64_t address, uint64_t timestamp_ns);

static inline size_t functions_recent_slot(uint64_t address) {
        return (size_t) (address ^ address >> 10) / 16 % FUNCTIONS_RECENT;
}

/* What was at @address then.  Quick where times ascend.  NULL without memory. */
static inline const Function *functions_get(Functions *f, uint64_t address, uint64_t timestamp_ns) {
        FunctionsHead *h = (FunctionsHead *) f;
        size_t i = functions_recent_slot(address);

        if (_likely_(h->recent[i].address == address && h->recent[i].function &&
                     timestamp_ns - h->begin_ns < h->length_ns))
                return h->recent[i].function;
        return functions_look_up(f, address, timestamp_ns);
}
/* The symbol that @address, of anything, lay in then; false: none. */
bool functions_find_symbol(Functions *f, uint64_t address, uint64_t timestamp_ns, Symbol *ret);
/* To be told after symbol_timeline_refresh(). */
void functions_forget_times(Functions *f);
Functions *functions_free(Functions *f);
DEFINE_CLEANUP(Functions *, functions_free);

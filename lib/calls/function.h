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

#include "base/cleanup.h"
#include "base/strv.h"
#include "decode/atlas.h"

typedef struct Function {
        uint64_t address;
        const char *label; /* as the kernel's %ps prints it: "udp_sendmsg", "ovl_open [overlay]",
                              and "0xffffffff81000000" without a symbol */
        uint32_t n_label;  /* bytes */
        uint32_t n_name;   /* bytes of the label without the module */
        int32_t root;      /* which of the roots it is; -1: none */
} Function;

typedef struct Functions Functions;

/* @atlas, @roots (sorted): borrowed for the table's life. */
int functions_new(Functions **ret, Atlas *atlas, const Strv *roots);
/* What was at @address then.  Quick where times ascend.  NULL without memory. */
const Function *functions_get(Functions *f, uint64_t address, uint64_t timestamp_ns);
/* To be told after atlas_refresh(). */
void functions_forget_times(Functions *f);
size_t functions_n(const Functions *f);
Functions *functions_free(Functions *f);
DEFINE_CLEANUP(Functions *, functions_free);

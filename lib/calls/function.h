/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Functions: each address met in a recording, named once
 *
 * A Function stays where it is for the table's life, so that pointers to it may
 * be compared and kept.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "decode/symbols.h"

typedef struct Function {
        uint64_t address;
        const char *label; /* as the kernel's %ps prints it: "udp_sendmsg", "ovl_open [overlay]",
                              and "0xffffffff81000000" without a symbol */
        uint32_t n_label;  /* bytes */
        uint32_t n_name;   /* bytes of the label without the module */
        int32_t root;      /* which of the roots it is; -1: none */
} Function;

typedef struct Functions Functions;

/* @symbols, @roots (sorted): borrowed for the table's life. */
int functions_new(Functions **ret, const Symbols *symbols, const Strv *roots);
/* NULL without memory. */
const Function *functions_get(Functions *f, uint64_t address);
size_t functions_n(const Functions *f);
Functions *functions_free(Functions *f);
DEFINE_CLEANUP(Functions *, functions_free);

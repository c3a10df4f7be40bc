/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Alike: which functions of two recordings are the same
 *
 * Two kernels, or two compilers, call one function differently:
 *
 *      skb_clone.part.50, skb_clone.isra.4          skb_clone
 *      SyS_write, __x64_sys_write, ksys_write       sys_write
 *
 * and build one into the kernel that is a module elsewhere.  What is compared is what is left of a
 * name without that.
 */

#include <stdbool.h>
#include <stdint.h>

#include "calls/function.h"

typedef struct Alike {
        const char *prefix; /* "sys_", or "" */
        const char *name;   /* what follows it, in the function's label; not ended */
        size_t n_name;
} Alike;

Alike alike_of(const Function *function);
bool alike_equal(const Alike *a, const Alike *b);
uint64_t alike_hash(const Alike *a);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Intern: pointers are counted as they come, from 0
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

typedef struct Intern {
        const void **items; /* n of them, by number */
        uint32_t n;
        Hash numbers; /* plus 1, by pointer */
} Intern;

/* 1: @item is new; 0: it is not; -ENOMEM. */
int intern_add(Intern *in, const void *item, uint32_t *ret_number);
void intern_done(Intern *in);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Variables: what calls were given and what they returned, where that was recorded
 *
 * A variable is an argument, or what is returned ("ret"), of a function under the path of its callers (a node of a
 * call tree).  An outermost call has one value of each variable of its own, and of those below it as many as there
 * were calls.
 *
 *      send(sk=0xffff888003d5c000, len=0x5c8) {        send  sk   0xffff888003d5c000
 *        copy(n=0x400) { } ret=0x400                   send  len  1480
 *        copy(n=0x1c8) { } ret=-14                     copy  n    1024, 456
 *      } ret=-14                                       copy  ret  1024, -14; send ret -14
 *
 * Memory is bounded: there are VARIABLES_MAX, the first that are met; below the outermost call addresses are not kept,
 * nor more than VARIABLES_VALUES_MAX values of one outermost call.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "calls/arguments.h"

#define VARIABLES_MAX 1024
#define VARIABLES_VALUES_MAX 256
/* What is not less is an address, and has no order. */
#define VARIABLE_NUMBER_MAX (UINT64_C(1) << 44)

typedef struct Variable {
        uint32_t node; /* its id */
        char *name;    /* "ret", or an argument's */
} Variable;

typedef struct VariableValue {
        uint32_t variable; /* its index */
        bool is_negative;
        uint64_t magnitude;
} VariableValue;

typedef struct Variables {
        Variable *items;
        size_t n;
        Hash by_name; /* of node and name; index + 1 */
} Variables;

/* The values of one outermost call. */
typedef struct VariableValues {
        VariableValue *items;
        size_t n, n_room;
} VariableValues;

/*
 * variables_note() - put down what a call was given and returned
 * @to:     of its outermost call
 * @node:   id of its node; @is_root: it is the outermost call itself
 * @args:   text of its arguments; NULL: none are known
 * @retval: NULL: it is not known
 *
 * 0 or -ENOMEM.
 */
int variables_note(Variables *v, VariableValues *to, uint32_t node, bool is_root, const char *args,
                   const uint64_t *retval);
void variables_done(Variables *v);

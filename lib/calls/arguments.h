/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Arguments: a call's arguments and return value as the kernel prints them
 *
 *      (sk=0xffff888003d5c000, msg=0xffffc900001bbd88, len=0x40)       arguments_append()
 *      ret=0x40, ret=-11                                                retval_append()
 *
 * What a function's parameters are called is in the recording if its types were stored
 * (decode/prototypes.h); a function without a prototype has "()", as in the kernel's text.
 *
 * Source: linux 7.2 kernel/trace/trace_output.c, print_function_args(), and
 * kernel/trace/trace_functions_graph.c, print_graph_retval().
 */

#include <stdbool.h>
#include <stddef.h>

#include "calls/step.h"

/* How many bytes arguments_append() will write at most. */
size_t arguments_room(const Step *step);
/* "(NAME=VALUE, ...)" at @p; where it ends. */
char *arguments_append(char *p, const Step *step);

/* What a register held, with its sign: -11, 0xffff888003d5c000. */
typedef struct ValueNumber {
        bool is_negative;
        uint64_t magnitude;
} ValueNumber;

/* The next argument that is a number in "(sk=0x1, len=0x40, how=-1 [BAD])", from *@at on, which goes on behind
 * it; false: there is none.  The text is hostile. */
bool arguments_next(const char **at, const char **ret_name, size_t *ret_n_name, ValueNumber *ret);
/* Of what a function returned: as retval_append() has it, negative if it is in 32 bits. */
ValueNumber retval_number(uint64_t retval);

#define RETVAL_ROOM 24
/* The value at @p, at most RETVAL_ROOM bytes; where it ends.  @hex: errors, too. */
char *retval_append(char *p, uint64_t retval, bool hex);

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

#define RETVAL_ROOM 24
/* The value at @p, at most RETVAL_ROOM bytes; where it ends.  @hex: errors, too. */
char *retval_append(char *p, uint64_t retval, bool hex);

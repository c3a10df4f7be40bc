/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * FormatText: whether an event's format file is one that may be given to libtraceevent
 *
 * Which ends the process (1.7.1) over declarations that are not C, and over an expression with a
 * field that is not there.  What kernels write is a small part of C, and that alone is let through:
 *
 *      name: WORD     or 9p_client_req
 *      ID: NUMBER
 *      format:
 *      <tab>field:TYPE NAME;<tab>offset:NUMBER;<tab>size:NUMBER;<tab>signed:NUMBER;
 *
 *      print fmt: "format" [, expression]...
 *
 *      TYPE NAME    words, '*', and "[]" with a word or a number in it or none
 *
 *      expression   REC->FIELD, REC->FIELD[NUMBER], numbers, "text", (TYPE) casts, + - * & | ^
 *                   << >> && || ! ~ == != < > <= >= ?:, last of all / or % NUMBER but 0,
 *                   __get_str(FIELD), __get_bitmask(FIELD), __get_dynamic_array_len(FIELD),
 *                   __print_symbolic(expression, { NUMBER, "text" }...),
 *                   __print_flags(expression, "text", { NUMBER, "text" }...)
 *
 * Source: linux 6.1 kernel/trace/trace_events.c, f_show(), and include/trace/stages/stage3_trace_output.h.
 */

#include <stdbool.h>

/* All but the print format. */
bool format_text_is_valid(const char *text);
/* False: it has no print format, or one of another kind.  The rest must be valid. */
bool format_text_prints_plainly(const char *text);

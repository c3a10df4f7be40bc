/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Figures: how times and names are written in tables and JSON
 */

#include <jansson.h>

#include "calls/function.h"
#include "cli/table.h"

#define FIGURE_MAX 32

/* As exact as the tracer is: "6.650 us", "1.250 ms", "3.000 s".  Returns @text. */
char *figure_exact(char text[static FIGURE_MAX], uint64_t ns);
/* For a sentence, three digits: "191 us", "12.9 us", "0.45 us", "85 ns". */
char *figure_round(char text[static FIGURE_MAX], uint64_t ns);
/* A cell with figure_exact(). */
void figure_add(Table *t, uint64_t ns);
/* "nf_conntrack_in [nf_conntrack]", quoted where a terminal wants it. */
void figure_add_function(Table *t, const Function *function);
/* "function" and "module" (a string or null) into @object. */
void figure_function_json(json_t *object, const Function *function);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Figures in tables and JSON: times (base/figure.h) and names
 */

#include <jansson.h>

#include "base/figure.h"
#include "calls/function.h"
#include "cli/terminal/table.h"

/* A cell with figure_exact(). */
void figure_add(Table *t, uint64_t ns);
/* "nf_conntrack_in [nf_conntrack]", quoted where a terminal wants it. */
void figure_add_function(Table *t, const Function *function);
/* "function" and "module" (a string or null) into @object. */
void figure_function_json(json_t *object, const Function *function);

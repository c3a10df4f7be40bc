/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * FunctionList: what can be traced, as the daemon hands it over
 */

#include <stddef.h>

#include "base/cleanup.h"
#include "cli/contact/client.h"
#include "cli/options/options.h"

typedef struct ListedFunction {
        const char *name;
        const char *module; /* NULL: the kernel itself */
} ListedFunction;

typedef struct FunctionList {
        char *text; /* what the items point into */
        ListedFunction *items;
        size_t n; /* as the daemon sorted them */
} FunctionList;

/*
 * function_list_parse() - lines "NAME" or "NAME [MODULE]"
 * @text: consumed, also on failure
 *
 * 0 or -ENOMEM.
 */
int function_list_parse(FunctionList *ret, char *text);
/* Asks the daemon (ListFunctions); an exit status. */
int function_list_get(FunctionList *ret, const Options *o, Client *c);
void function_list_done(FunctionList *l);
#define _cleanup_function_list_ _cleanup_(function_list_done)

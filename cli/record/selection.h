/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Selection: the functions that words of a command line stand for
 *
 *      NAME, GLOB      for the daemon, which has the kernel's globs
 *      /REGEX/         an extended regular expression (regex(7)) that a name must match somewhere
 *      mod:NAME        every function of a module
 *      syscall:NAME    the kernel's own function for a system call, whatever its prefix is here
 *      @FILE           words from a file, one a line; '#' begins a comment
 *
 * All but the first become names here: a regular expression can cost any amount of time, which is
 * then the user's own.
 */

#include "base/strv.h"
#include "cli/contact/client.h"
#include "cli/options/options.h"

/* What can be traced, as the daemon hands it over. */
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
int function_list_get(FunctionList *ret, Client *c);
void function_list_done(FunctionList *l);
#define _cleanup_function_list_ _cleanup_(function_list_done)

/* The words, with @FILE replaced by what is in it, each of the right form; an exit status. */
int selection_read(Strv *ret, const Strv *words);
/*
 * selection_expand() - names and globs only
 * @option: of which the words are, for what is said of each that is replaced; NULL: none
 * @words:  from selection_read()
 * @list:   asked for if it is needed and empty
 *
 * An exit status; a word that stands for nothing is STATUS_NOT_FOUND.
 */
int selection_expand(Strv *ret, const Options *o, Client *c, const char *option, const Strv *words,
                     FunctionList *list);
/* Names of @l that one word stands for, globs too.  An exit status; none is STATUS_OK. */
int selection_match(Strv *ret, const char *word, const FunctionList *l);

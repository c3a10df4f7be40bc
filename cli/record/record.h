/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Recording: a session that this process began (run, start, follow)
 */

#include "cli/contact/contact.h"

/* Checks the names in @o and of @functions before anything is connected; an exit status. */
int recording_check(const Options *o, const Strv *functions);
/* Says on stderr what the daemon warned of; an exit status. @functions: words, as below; @attach: it ends when @c
 * closes; @wake_fd: of signals_open(), or -EBADF: what interrupts --wait. */
int recording_start(SessionMeta **ret, const Options *o, Client *c, const Strv *functions,
                    bool attach, int wake_fd);
/* Prints what recording_start() would write into tracefs; an exit status. */
int recording_dry_run(const Options *o, Client *c, const Strv *functions);
/* Names of the sessions that record; an exit status. */
int recording_list_live(Strv *ret, Client *c);
/* Ends @name and waits for its last page, or, if it @may_be_over and is, asks what came of it: the
 * reply.  An exit status. */
int recording_call_stop(json_t **ret, Client *c, const char *name, bool may_be_over);
/* The same; what is already over is fine.  Says what goes for it. */
int recording_stop(SessionMeta **ret, const Options *o, Client *c, const char *name);
/* Says where the recording is and how to draw it. */
void recording_talk_kept(const Options *o, const SessionMeta *m);

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

/* @text: lines "NAME" or "NAME [MODULE]"; consumed, also on failure.  0 or -ENOMEM. */
int function_list_parse(FunctionList *ret, char *text);
/* Asks the daemon (ListFunctions); an exit status. */
int function_list_get(FunctionList *ret, Client *c);
void function_list_done(FunctionList *l);
#define _cleanup_function_list_ _cleanup_(function_list_done)

/* The words, with @FILE replaced by what is in it, each of the right form; an exit status. */
int selection_read(Strv *ret, const Strv *words);
/* Names and globs only, of @words from selection_read(); says of each that is replaced, as of @option, what it
 * stands for. @list: asked for if it is needed and empty.  An exit status; a word that stands for nothing is
 * STATUS_NOT_FOUND. */
int selection_expand(Strv *ret, const Options *o, Client *c, const char *option, const Strv *words,
                     FunctionList *list);
/* Names of @l that one word stands for, globs too.  An exit status; none is STATUS_OK. */
int selection_match(Strv *ret, const char *word, const FunctionList *l);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages for people
 *
 * One line to stderr each, of plain text (base/buf.h), prefixed `<N>` (sd-daemon(3)) when stderr is the
 * journal or --log-prefix asks for it, plain on a terminal.  lib/ logs at
 * LOG_DEBUG only; programs log at their edges.  Debug messages have a domain
 * and are printed when FTRACED_DEBUG names it ("reader,store", or "all").
 */

#include <syslog.h>

#include "base/cleanup.h"

/* @program: printed before each message on a terminal, may be NULL. */
void log_setup(const char *program);
/* Folds what is no line for the journal between words (base/buf.h); 0: not. */
void log_set_width(size_t n_columns);
/* Messages less urgent than @priority are not printed; LOG_DEBUG, the default, prints all. */
void log_set_max_priority(int priority);
bool log_is_shown(int priority);
bool log_is_journal(void); /* stderr is the journal's */
void log_message(int priority, const char *format, ...) _printf_(2, 3);
/* Appends nothing; `%m` in @format prints strerror(@error).  Returns -abs(@error). */
int log_message_errno(int priority, int error, const char *format, ...) _printf_(3, 4);

#define log_error(...) log_message(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_message(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_error_errno(e, ...) log_message_errno(LOG_ERR, (e), __VA_ARGS__)
#define log_warning_errno(e, ...) log_message_errno(LOG_WARNING, (e), __VA_ARGS__)
#define log_debug(domain, ...)                                                                     \
        do {                                                                                       \
                if (log_debug_enabled(domain))                                                     \
                        log_message(LOG_DEBUG, __VA_ARGS__);                                       \
        } while (0)

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Terminal: results to stdout, talk to stderr
 *
 * stdout holds what was asked for and nothing else; a pager and colours only if
 * it is a terminal.  Talk is what a person likes to know and a program does
 * not: --quiet silences it.
 */

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "cli/options/options.h"

void talk(const Options *o, const char *format, ...) _printf_(2, 3);

/* Colours of stdout, where they are wanted. */
typedef enum Colour { COLOUR_GOOD, COLOUR_WARNING, COLOUR_BAD, COLOUR_BOLD } Colour;
bool terminal_has_colours(const Options *o);
/* Whether there are 256 of them; with --color=always there are. */
bool terminal_has_256_colours(const Options *o);
/* Adds @text in that colour; a name like a word (base/buf.h). */
void terminal_add(Buf *out, const Options *o, Colour c, const char *text);
bool terminal_is_utf8(void);
/* How wide stdout is; 0: it is no terminal.  COLUMNS in the environment has the last word. */
size_t terminal_columns(void);
/*
 * Pager: between us and stdout from pager_open() to pager_close()
 *
 * Does nothing unless stdout is a terminal, --no-pager is absent and the
 * environment names no empty one (SYSTEMD_PAGER, PAGER; else less).
 * @n_lines: nothing either if so many fit the terminal; SIZE_MAX: unknown
 */
typedef struct Pager {
        pid_t pid; /* 0: none */
        int stdout_fd;
} Pager;

#define PAGER_INIT ((Pager){ .stdout_fd = -EBADF })
void pager_open(Pager *p, const Options *o, size_t n_lines);
void pager_close(Pager *p); /* waits until the reader has seen enough */
/* pager_close() after having written with the result @r: if there was a pager, -EPIPE only means
 * that its user has seen enough, and becomes 0. */
int pager_end(Pager *p, int r);
#define _cleanup_pager_ _cleanup_(pager_close)

/* Turns the result @r (0 or -errno) of writing to stdout into an exit status; a reader that has
 * left is not worth a word. */
int stdout_status(int r);
/* Flushes @out, which writes to stdout; an exit status. */
int stdout_end(Buf *out);
/* The same of what went through @p; @r: what it came to so far, 0 or -errno. */
int stdout_paged(Pager *p, Buf *out, int r);
/* JSON as json_dumps() makes it, of which a terminal may have all; the caller frees. */
char *terminal_json(const json_t *value, size_t flags);
/* A string of what need not be UTF-8: U+FFFD stands for what is not.  NULL: null. */
json_t *terminal_json_text(const char *s, size_t n);
/* The same of all of @s, and of each of @list. */
json_t *terminal_json_string(const char *s);
json_t *terminal_json_list(const Strv *list);
/* Prints @o as o->json wants it; an exit status.  Consumes @value; NULL: no memory. */
int stdout_json(const Options *o, json_t *value);

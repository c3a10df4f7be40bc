/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lines: a file's lines, one after the other, whatever the file is
 *
 * A line ends with "\n", "\r\n" or, in texts that have nothing else, "\r".
 * Memory is bounded: what a line has beyond LINES_MAX_BYTES is read and
 * forgotten, piece by piece, so that whoever reads a line without an end can
 * stop.
 */

#include "base/cleanup.h"

#define LINES_MAX_BYTES ((size_t) 64 * 1024)
#define LINES_AHEAD_BYTES 256

typedef struct Line {
        const char *text; /* not ended; valid until the next line is asked for */
        size_t n_text;    /* without the line's end, "\n" or "\r\n" */
        uint64_t number;  /* from 1 */
        bool is_long;     /* there is more than text holds */
        bool is_rest;     /* it is some of that, which is not handed out */
        bool is_binary;   /* it holds bytes that text does not: below a space, but for a tab */
        bool is_last;     /* no "\n" ended it */
        bool is_tabbed;   /* some of its blanks were tabs (import/envelope.h): who knows how wide */
        const char *next; /* what follows it, LINES_AHEAD_BYTES at least unless the file ends */
        size_t n_next;
} Line;

typedef struct Lines Lines;

/* @fd: consumed, also on failure.  0 or -ENOMEM. */
int lines_take_fd(Lines **ret, int fd);
/* 1: @ret is filled; 0: there are no more; -errno. */
int lines_next(Lines *l, Line *ret);
/* Whether there are bytes that text does not hold: below a space, but for a tab. */
bool lines_is_binary(const char *s, size_t n);
/*
 * lines_on_wait() - of a descriptor whose next bytes may be long in coming
 * @on_wait: called before a line is waited for; whether a whole line is handed out before it is known what follows it
 */
typedef bool (*LinesWait)(void *userdata);
void lines_on_wait(Lines *l, LinesWait on_wait, void *userdata);
/* Bytes handed out, or forgotten. */
uint64_t lines_n_bytes(const Lines *l);
Lines *lines_free(Lines *l);
DEFINE_CLEANUP(Lines *, lines_free);

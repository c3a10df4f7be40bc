/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Put-back: what a control file is to say once we have left it
 *
 * The ledger has what a file said before ("old") and what we made it say ("set").  In between others may
 * have written it: they have reset their tracer, or set up another one.  What they wrote is theirs and
 * stays; only what still says what we made it say is put back.
 *
 * Where both are the same ("nop", "0", an empty list) the file's mark tells: the time of the last open
 * that truncated it, as shells, perf, and mostly trace-cmd do.  A write alone leaves the times of a file in tracefs as
 * they are (linux 6.12 fs/tracefs/inode.c has no setattr of its own, so fs/namei.c, handle_truncate() sets
 * them; the write functions of kernel/trace do not).  Events' files lose their inodes, and have no mark.
 */

#include <stdint.h>

#include "base/array.h"
#include "daemon/tracefs/tracefs.h"

#define PUT_BACK_THEIRS 1 /* somebody else has written it: it is to say what it says */

typedef struct PutBack {
        const char *file, *old;
        const char *set;   /* all that we made it say, joined with '\n'; NULL: not known */
        const Strv *added; /* of a list: our words that are in it now, beside those in @set */
        uint64_t mark;     /* put_back_mark() when we had written it; 0: not known */
} PutBack;

#define PUT_BACK_MARK_MAX ((uint64_t) INT64_MAX - 1)
#define PUT_BACK_MARK_THEIRS                                                                       \
        ((uint64_t) INT64_MAX) /* no file's: it is known to be written by others */

/* 0: there is none, it tells nothing.  Of a current_tracer: of all files of its buffer that set up a tracer. */
uint64_t put_back_mark(const Tracefs *fs, const char *file);

/*
 * put_back_value() - what @b->file is to say
 * @now: what it says; the caller frees *@ret
 *
 * Words that others have added to a list of ours stay in it, beside those that were there before.  A
 * value that nobody but us would ask for is ours, even if somebody wrote it: they took back what they
 * had done.
 * Return: 0, PUT_BACK_THEIRS (*@ret is @now), or -ENOMEM.
 */
int put_back_value(const PutBack *b, const Tracefs *fs, const char *now, char **ret);

/* Whether a tracer "function" or "function_graph" of the buffer with this current_tracer would be called for some
 * functions only; true for other tracers. */
bool put_back_is_bounded(const Tracefs *fs, const char *tracer_file, const char *tracer);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Last words: what the kernel said at the end of a recording that it did not survive
 *
 * A black box records the kernel's messages (printk:console) beside the calls.  The last of them that tells of an
 * end tells how this one ended; none does of a reset, a hang or a loss of power.
 */

#include "base/array.h"
#include "calls/step.h"
#include "meta/meta.h"

#define LAST_WORDS_MAX 240

typedef struct LastWords {
        char text[LAST_WORDS_MAX];  /* "" : none told of an end */
        const char *what;           /* what that is: "a panic" */
        char fault[LAST_WORDS_MAX]; /* what was said first of the latest; "": there was none */
        uint64_t said_ns, fault_ns, now_ns; /* trace clock: of the two, and of the last step */
} LastWords;

/* Looks at one more step, in the order of time. */
void last_words_step(LastWords *w, const Step *s);
/* Whether @m is of a kernel that went down: what was rescued from a black box. */
bool last_words_are_due(const SessionMeta *m);
/* Adds a sentence, without a full stop, of how it ended.  0 or -ENOMEM. */
int last_words_note(const LastWords *w, Strv *notes);

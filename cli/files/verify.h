/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Verify: is everything there that was recorded, and was everything recorded?
 *
 * Every page of every segment is decoded; what is found is compared with itself
 * and with what the daemon noted down.
 */

#include <stdbool.h>

#include "base/strv.h"
#include "calls/census.h"
#include "calls/step.h"
#include "cli/terminal/progress.h"
#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct VerifyResult {
        Strv problems; /* sentences, without a full stop */
        Strv notes;    /* likewise: what is no loss of what was hooked */
        bool complete; /* no problem: every event that happened is in the recording */
        Census census; /* of all steps, finished */
} VerifyResult;

/*
 * verify_session()
 * @progress: told how far it is; may be NULL
 * @ret: filled on success; verify_result_done() it
 *
 * A recording that cannot be decoded at all is a result with that problem, not an error.  While
 * a session records, what its daemon has yet to write is no problem.
 * Return: 0 or -errno.
 */
int verify_session(const SessionDir *dir, const SessionMeta *meta, Progress *progress,
                   VerifyResult *ret);
void verify_result_done(VerifyResult *v);
#define _cleanup_verify_result_ _cleanup_(verify_result_done)

/*
 * verify_blocks() - whether every block still holds the pages that the kernel gave
 *
 * Sealed segments keep a checksum of each block's raw pages, taken before it was encoded.  Here
 * every block is decoded, whatever its pages say, and held against it.  A segment that is not
 * sealed has nothing to be held against: it is counted.
 */
typedef struct VerifyBlocks {
        uint64_t n_segments, n_sealed;
        uint64_t n_blocks, n_blocks_good; /* of sealed ones: found, and equal */
        uint64_t n_pages;                 /* in the good ones */
        Strv damages;                     /* sentences, without a full stop */
} VerifyBlocks;

/* @progress: as above; verify_blocks_done() @ret.  0 or -errno. */
int verify_blocks(const SessionDir *dir, Progress *progress, VerifyBlocks *ret);
void verify_blocks_done(VerifyBlocks *c);
#define _cleanup_verify_blocks_ _cleanup_(verify_blocks_done)

/*
 * Last words: what the kernel said at the end of a recording that it did not survive
 *
 * A black box records the kernel's messages (printk:console) beside the calls.  The last of them that tells of an
 * end tells how this one ended; none does of a reset, a hang or a loss of power.
 */

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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Unhooked: what else the own time of a function may be
 *
 * Calls of a function that was not hooked are not recorded, and what they take is their caller's own time.
 * Below F are not hooked the functions of `left_out` whose callers (`left_out_in`) lead to F through others of
 * that list:
 *
 *      ip_send_skb           own time: its own, and that of
 *        (dst_release)       in ip_send_skb
 *          (kfree)           in dst_release          2 functions not hooked
 *        ip_output
 *
 * What has no callers there, or "..." as the last of them, for others than those, may be below any function.
 */

#include "base/buf.h"
#include "base/cleanup.h"

typedef struct SessionMeta SessionMeta;

/* What is greater says less, so that of several recordings the greatest holds. */
#define UNHOOKED_UNTOLD (-1)       /* of a text, or another program's file: nothing is said */
#define UNHOOKED_UNKNOWN INT32_MAX /* nobody knows what it calls */

typedef struct Unhooked Unhooked;

/* @m: borrowed for its life.  0 or -ENOMEM. */
int unhooked_new(Unhooked **ret, const SessionMeta *m);
/* How many known functions below that one were not hooked, at least for a while; or one of the above.  @ret_was_left_out:
 * whether that one was not. */
int32_t unhooked_below(Unhooked *u, const char *function, bool *ret_was_left_out);
/* Whether calls of that function may lack in the recording because it was not hooked. */
bool unhooked_may_lack(const SessionMeta *m, const char *function);
Unhooked *unhooked_free(Unhooked *u);
DEFINE_CLEANUP(Unhooked *, unhooked_free);

/* "hooked 129 of 286 known functions; left out: 157 for their cost (kfree, ...)", of all of the recording; nothing
 * if all of the kernel's were hooked, as far as anybody has said, or only the roots should be. */
void unhooked_describe(Buf *out, const SessionMeta *m);
/* " for the 129 functions that were hooked of 286 known": what a recording can be complete for; nothing likewise. */
void unhooked_describe_scope(Buf *out, const SessionMeta *m);

/* Whether an own time is that of the function alone, as far as anybody has said. */
static inline bool unhooked_is_none(int32_t n) {
        return n <= 0;
}

/* Whether it is a number that a table has. */
static inline bool unhooked_is_number(int32_t n) {
        return n >= 0 && n != UNHOOKED_UNKNOWN;
}

#define UNHOOKED_TEXT_MAX 64
/* " or below it (12 functions not hooked)", behind a function's name; empty if there is nothing to say. */
char *unhooked_text(char text[static UNHOOKED_TEXT_MAX], int32_t n);
#define UNHOOKED_TEXT(n) unhooked_text((char[UNHOOKED_TEXT_MAX]){}, (n))
/* For a comment or a cell: "12 not hooked below", "callees not known"; empty likewise. */
char *unhooked_note(char text[static UNHOOKED_TEXT_MAX], int32_t n);
#define UNHOOKED_NOTE(n) unhooked_note((char[UNHOOKED_TEXT_MAX]){}, (n))

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Allowance: what somebody may record who is not root, but a member of ftraced's group
 *
 * [Members] of ftraced.conf says it.  A profile is root's, so that what it says is allowed as it
 * stands; what a call says besides, or without a profile, is looked at: functions and events that are
 * not allowed are refused, wherever they are named (as roots, beside them, in a trigger, since what
 * fires tells as much as what is recorded).
 *
 * The table in meta/spec.c has an answer for each member of a Spec.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "meta/config.h"
#include "meta/spec.h"
#include "wire/refusal.h"

/*
 * allowance_ask() - what a call says itself
 * @ret:   bits of SpecAsks; all without a profile
 * @given: the spec in the call, may be NULL
 *
 * A call that changes what is seen of a profile's functions, whose calls for one, is asked for those
 * functions as if it had named them.  Return: 0; REFUSED: there is a member that no Spec has.
 */
int allowance_ask(unsigned *ret, const json_t *given, bool has_profile, Refusal *refusal);

/* Whether every name, and every glob, that was asked for stays within what is allowed.  A glob does
 * if it is itself on the list, or if one there that has nothing but a * at its end begins as it does.
 * 0, REFUSED, -ENOMEM. */
int allowance_check(const Limits *l, const Spec *spec, unsigned asked, Refusal *refusal);
bool allowance_covers(const Strv *allowed, const char *pattern);

/* What a user has already.  Each session counts as ALLOWANCE_SESSION_BYTES at least, since the daemon has all of them
 * in memory. */
#define ALLOWANCE_SESSION_BYTES (256U << 10)

typedef struct AllowanceUse {
        uid_t uid;
        size_t n_sessions; /* that have not ended */
        uint64_t stored_bytes;
} AllowanceUse;

/* Whether that user may have one more.  0, REFUSED. */
int allowance_admit(const MemberLimits *l, const AllowanceUse *use, Refusal *refusal);
/* After that: makes the size what is left; a sentence if it was more.  0 or -ENOMEM. */
int allowance_narrow(const MemberLimits *l, const AllowanceUse *use, Spec *spec, Strv *warnings);
/* All of it in a few words, for `doctor`; the caller frees.  0 or -ENOMEM. */
int allowance_describe(const Limits *l, char **ret);

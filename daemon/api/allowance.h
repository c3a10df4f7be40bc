/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Allowance: what somebody may record who is not root, but a member of ftraced's group
 *
 * [Members] of ftraced.conf says it.  A profile is root's, so that what it says is allowed as it
 * stands; what a call says besides, or without a profile, is looked at: functions and events that are
 * not allowed are refused, wherever they are named (as roots, beside them, in a trigger, since what
 * fires tells as much as what is recorded), and where it asks for too much, or for no limit, it gets
 * the limit.
 *
 * One table in allowance.c has an answer for each member of a Spec.  A member that it does not have is
 * refused, so that a new one is root's alone until somebody has decided.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "meta/config.h"
#include "meta/spec.h"
#include "wire/refusal.h"

/* What has to be allowed of a spec. */
typedef enum AllowanceAsked {
        ALLOWANCE_FUNCTIONS = 1 << 0,
        ALLOWANCE_NOTRACE = 1 << 1,
        ALLOWANCE_HOOKED = 1 << 2,
        ALLOWANCE_EVENTS = 1 << 3,
        ALLOWANCE_TRIGGERS = 1 << 4,
        ALLOWANCE_DEPTH = 1 << 5,
        ALLOWANCE_DURATION = 1 << 6,
        ALLOWANCE_SIZE = 1 << 7,
        ALLOWANCE_ALL = (1 << 8) - 1,
} AllowanceAsked;

/*
 * allowance_ask() - what a call says itself
 * @ret:   bits of AllowanceAsked; all without a profile
 * @given: the spec in the call, may be NULL
 *
 * A call that changes what is seen of a profile's functions, whose calls for one, is asked for those
 * functions as if it had named them.  Return: 0; REFUSED: there is a member that nobody has decided on.
 */
int allowance_ask(unsigned *ret, const json_t *given, bool has_profile, Refusal *refusal);

/* Whether every name, and every glob, that was asked for stays within what is allowed.  A glob does
 * if it is itself on the list, or if one there that has nothing but a * at its end begins as it does.
 * 0, REFUSED, -ENOMEM. */
int allowance_check(const Limits *l, const Spec *spec, unsigned asked, Refusal *refusal);
bool allowance_covers(const Strv *allowed, const char *pattern);

/*
 * What a user has already, and what one more would take at first: at least ALLOWANCE_NEW_BYTES, for
 * what it is read by.  Each session counts as ALLOWANCE_SESSION_BYTES at least, since every one is read
 * when the daemon starts, and in its memory; and as ALLOWANCE_NAMES times what its functions' names take
 * there, so that 4096 of them in each of many sessions do not fill it.
 */
#define ALLOWANCE_NEW_BYTES (64U << 10)
#define ALLOWANCE_SESSION_BYTES (256U << 10)
#define ALLOWANCE_NAMES 32U
#define ALLOWANCE_NAME_BYTES 32U /* besides its characters */

typedef struct AllowanceUse {
        size_t n_sessions; /* that have not ended */
        uint64_t stored_bytes;
        uint64_t new_bytes;
        size_t n_cpus; /* whose buffers are stored at a recording's end; 0: not looked at */
        uid_t uid;
} AllowanceUse;

/* Whether he may have one more.  0, REFUSED, -errno; so does the next. */
int allowance_admit(const Limits *l, const AllowanceUse *use, Refusal *refusal);
/* Whether so much of members' sessions may be pinned together, half of MaxUse= at most: what is pinned
 * must not leave the store without anything that can go. */
int allowance_admit_pin(const Limits *l, uint64_t n_bytes, Refusal *refusal);
/* Makes what was asked for as small as is allowed; a sentence for each.  0 or -ENOMEM. */
int allowance_narrow(const Limits *l, const AllowanceUse *use, unsigned asked, Spec *spec,
                     Strv *warnings);
/* All of it in a few words, for `doctor`; the caller frees.  0 or -ENOMEM. */
int allowance_describe(const Limits *l, char **ret);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Where: which calls a condition lets through
 *
 *      ret < 0 && len > 1400
 *      ret == -EAGAIN || !(cpu == 0) && duration >= 5ms
 *      flags & 0x40
 *
 *      condition   and { "||" and }
 *      and         not { "&&" not }
 *      not         "!" not | "(" condition ")" | NAME OPERATOR VALUE
 *      OPERATOR    == != < <= > >=, and & ("has one of these bits")
 *      VALUE       decimal, 0x..., -decimal, -ERRNO or ERRNO by name, of times also "5ms"
 *
 * NAMEs are ret, duration and self [ns], cpu, pid, and else arguments'.  A comparison with what a call does not
 * have is false, its contrary ("!") therefore true.  What a function returns counts as negative if it is in 32 bits,
 * as lib/calls/step.h has it; an argument is what is drawn of it, in hex without a sign.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

typedef struct Where Where;

typedef struct WhereCall {
        const char *args; /* "(sk=0x1, len=0x40)"; NULL: none are known */
        bool has_retval, has_cpu;
        uint64_t retval, duration_ns, self_ns;
        uint32_t cpu;
        int32_t pid; /* < 0: not known */
} WhereCall;

#define WHERE_WHY_MAX 160

enum { WHERE_E_INVALID = 1 };
/* @why: on WHERE_E_INVALID half a sentence that quotes the place.  0, WHERE_E_INVALID, -ENOMEM. */
int where_parse(Where **ret, const char *text, char why[static WHERE_WHY_MAX]);
bool where_matches(Where *w, const WhereCall *call);
/* A name that no call had that was asked for; NULL: there is none. */
const char *where_unmet(const Where *w);
Where *where_free(Where *w);
DEFINE_CLEANUP(Where *, where_free);

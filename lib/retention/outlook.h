/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Outlook: which session goes next, when, and by which rule
 *
 * The `Retention` of org.ftraced.varlink, which the daemon makes (retention/vacuum.h), and the words for it
 * that all programs use.
 */

#include <jansson.h>

#include "base/array.h"
#include "retention/retain.h"

#define OUTLOOK_NAMES 8 /* that are told one by one */

typedef struct Outlook {
        RetainLimits limits;
        uint64_t used_bytes, free_bytes;
        uint64_t
                growth_bytes; /* what those that record may still take, as far as they are limited */
        RetainVerdict why;    /* of the next one; RETAIN_KEEP: nothing has to go as things are */
        char *next;           /* NULL: nothing may ever go */
        uint64_t next_bytes;
        uint64_t
                not_before_ns; /* CLOCK_REALTIME: it stays until then; 0: it did; UINT64_MAX: always */
        uint64_t at_ns;        /* when it is too old; 0: never */
        Strv going;            /* of those that have to go, next first, OUTLOOK_NAMES at most */
        uint64_t n_going;
        bool is_full; /* nothing begins: retain_is_full(), and nothing may go now */
} Outlook;

void outlook_done(Outlook *o);
#define _cleanup_outlook_ _cleanup_(outlook_done)

json_t *outlook_to_json(const Outlook *o); /* a new object; NULL without memory */
enum { OUTLOOK_E_INVALID = 1 };
int outlook_from_json(Outlook *ret, const json_t *o); /* 0, OUTLOOK_E_INVALID, -ENOMEM */

/* True if something has to go, or nothing begins, as things are. */
bool outlook_is_tight(const Outlook *o);
/* One sentence, without a full stop, of local times; the caller frees *@ret.  0 or -ENOMEM. */
int outlook_describe(char **ret, const Outlook *o);
/* What to do about it; NULL: nothing has to be done.  The same. */
int outlook_advise(char **ret, const Outlook *o);

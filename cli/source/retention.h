/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Retention: what a daemon says of which recording goes next (retention/outlook.h), for people
 *
 * @reply: of a method that has the member "retention"; without it nothing is said, for nothing goes by
 * itself there.
 */

#include <jansson.h>

#include "base/buf.h"
#include "cli/options/options.h"
#include "retention/vacuum.h"

/* One line, after @indent. */
void retention_add_line(Buf *out, const json_t *reply, const char *indent);
/* Says what goes for what has begun or was kept, if anything has to. */
void retention_talk(const Options *o, const json_t *reply);
/* What a daemon with this machine's ftraced.conf would go by; @problems: sentences of what is wrong in
 * that are added.  0 or -errno. */
int retention_limits(RetainLimits *ret, const Options *o, const Store *store, Strv *problems);
/* What the next daemon on the usual store would say; @v: all of that store.  NULL: it cannot be told. */
json_t *retention_of_store(const Options *o, const Store *store, const Vacuum *v);
/* The one of @sessions (an array of Session) that goes next gets the member "goes". */
void retention_mark(json_t *sessions, const json_t *reply);

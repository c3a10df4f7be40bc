/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * NameSet: functions by what the user calls them
 *
 * Names or globs, as fnmatch(3) has them.  A name also stands for the clones that a compiler makes
 * of it: "do_softirq" for "do_softirq.part.20".
 */

#include "base/array.h"
#include "base/cleanup.h"
#include "calls/function.h"

typedef struct NameSet NameSet;

/* Whether @name is one of them as it stands. */
bool name_set_patterns_match(const Strv *patterns, const char *name);
/* @patterns: borrowed.  0 or -ENOMEM. */
int name_set_new(NameSet **ret, const Strv *patterns);
/* Whether @function is meant: 1, 0, -ENOMEM.  Asked once for each, and kept by its pointer. */
int name_set_has(NameSet *s, const Function *function);
NameSet *name_set_free(NameSet *s);
DEFINE_CLEANUP(NameSet *, name_set_free);

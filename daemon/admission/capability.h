/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Capability: what some kernels can record and others cannot
 *
 * Whether this one can is read from the files of tracefs that it takes, not from its version.  The same table
 * answers `ftracectl doctor` and refuses a session.
 */

#include <stddef.h>

#include "daemon/tracefs/tracefs.h"
#include "meta/spec.h"
#include "wire/refusal.h"

typedef struct Capability {
        const char *name;   /* "args" */
        const char *option; /* "--args"; NULL: none asks for it */
        const char *what;   /* "the calls' arguments" */
        const char *
                files; /* in tracefs, separated by spaces: all of them exist; NULL: no file tells */
        const char *word;  /* stands in the one file, too */
        const char *since; /* the first version of Linux, and what it is configured with */
        bool (*is_wanted)(const Spec *spec); /* NULL: something else refuses it */
        const char *instead;                 /* in tracefs, files that do as well; NULL: none */
        const char *instead_what;            /* what they can */
} Capability;

/* The @i-th, or NULL. */
const Capability *capability_get(size_t i);
/* Whether it is by what stands in `instead` that this kernel can. */
bool capability_is_instead(const Capability *c, const Tracefs *fs);
/* What is missing, which the caller frees; NULL: nothing.  0 or -errno. */
int capability_find_missing(const Capability *c, const Tracefs *fs, char **ret);
/* The first that @spec takes and this kernel does not have: 0, REFUSED, -errno. */
int admit_capabilities(const Tracefs *fs, const Spec *spec, Refusal *refusal);

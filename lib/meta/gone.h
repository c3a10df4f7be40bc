/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Gone: what earlier versions of ftraced had, and what to use now
 *
 * Words of command lines, configuration and profiles, by kind, since one word may be of several.
 */

typedef enum GoneKind {
        GONE_VERB,   /* "learn" */
        GONE_OPTION, /* "--via" */
        GONE_FORMAT, /* of export: "dot" */
        GONE_KEY,    /* of ftraced.conf or a profile: "MaxDepth" */
} GoneKind;

/* What follows "... is gone; ", or NULL: there never was such a word. */
const char *gone_instead(GoneKind kind, const char *word);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Why view: what one cohort of calls has that another has not, as text and as JSON
 */

#include "causes/why.h"
#include "cli/options/options.h"
#include "cli/terminal/table.h"
#include "cli/views/counting.h"

/* What is compared: one recording with itself, or with an earlier one. */
typedef struct WhySides {
        Counting now, before; /* before: nothing, if there is none */
        Anatomy *anatomy;
} WhySides;

/* @s must stay where it is; why_sides_done() it also after a failure.  @before: NULL: there is none.  An exit status. */
int why_sides_read(WhySides *s, const Options *o, const char *before, const char *now);
/* why_new(), with what may lack in one of two recordings; an exit status. */
int why_sides_explain(Why **ret, const WhySides *s, const CohortsRoot *root,
                      const CohortsSpec *spec);
/* What was left out, and what the sources were short of; an exit status. */
int why_sides_end(const WhySides *s, const Options *o);
void why_sides_done(WhySides *s);
#define _cleanup_why_sides_ _cleanup_(why_sides_done)

/* A row for each cause that is worth one, at most @limit, then the sum; with more columns what is known of many calls.
 * 0 or -errno. */
int why_view_add_causes(Buf *out, const Options *o, const Why *w, size_t limit);
/* The sentence, the causes, and what goes with them.  0 or -errno. */
int why_view_add(Buf *out, const Options *o, const Why *w);
json_t *why_view_causes_json(const Why *w, size_t limit);
json_t *why_view_json(const Options *o, const Why *w);

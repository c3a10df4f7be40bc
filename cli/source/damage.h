/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Damage: what decoding had to step over
 */

#include <stdbool.h>

#include "base/array.h"
#include "calls/playback.h"

/* How often something was found. */
typedef struct DamageCount {
        uint64_t n;
        const char *one, *many, *what;
} DamageCount;

/* "CPU 3: 2,646 pages WHAT", with @where in front, of each that was found.  0 or -ENOMEM. */
int damage_add_counts(Strv *ret, const char *where, const DamageCount *counts, size_t n);
/* "cpu0/00000003.seg: block 5: the body does not match its checksum, 256 pages lost", of each.
 * 0 or -ENOMEM. */
int damage_describe_each(const Damages *d, Strv *ret);

/*
 * damage_describe() - a sentence for each kind of damage, of the files, the symbols and on each CPU
 * @p:      read to its end, of which a census is finished here; what its meta says of losses need
 *          not be said again, and what pages say and it denies is damage
 * @live:   the session still records: what its daemon has yet to write is no damage
 *
 * Return: 0, or -ENOMEM.  Adds nothing if all is well.
 */
int damage_describe(Playback *p, bool live, Strv *ret);
/*
 * damage_describe_pairs() - calls and returns that have no partner, though nothing tells of a loss
 * @c:  finished, of all of the recording
 *
 * Return: 0, or -ENOMEM.  Adds nothing if all is well, or if something explains them.
 */
int damage_describe_pairs(const Census *c, const SessionMeta *m, Strv *ret);
/* How many of the returns that are missing the kernel is known not to record (calls/census.c). */
uint64_t damage_dropped(const Census *c, const SessionMeta *m);
/* Of the files alone: what is no file of ours and stands in the place of one.  0 or -ENOMEM. */
int damage_describe_misplaced(const SessionDir *dir, Strv *ret);

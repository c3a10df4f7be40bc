/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Chance: whether two groups differ by more than chance, in many things at once
 *
 * By permutation: which group a unit is in is dealt anew, CHANCE_DEALS times, and each time the greatest
 * difference of all things is noted.  A thing's p is how often that was as great as its own
 * difference is; so it is corrected for how many things were looked at, whatever they have to do with each other,
 * and nothing is supposed of how they are spread (Westfall and Young 1993, single-step max T).
 * Differences are of means, in standard deviations of all units.
 *
 * Units that are near in time may be alike, and groups that are near in time too: then their means differ by more than
 * those of groups that are dealt.  How alike they are, and how much further that spreads the difference of just these
 * groups, is estimated for each thing from the greater group (its autocorrelation; Geyer 1992, initial positive
 * sequence).  The difference counts as if there were only so few independent units as say as much; of a handful nothing
 * can be told.
 */

#include "base/cleanup.h"

#define CHANCE_DEALS 999 /* so no p is less than 0.001 */

/* Of a generator whose @state is not 0.  The same each time, so that a recording has the same p each time. */
static inline uint64_t chance_random(uint64_t *state) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

/*
 * chance_test()
 * @ret_p:    of each thing
 * @values:   @n_units rows of @n_things
 * @is_first: of each unit, whether it is in the first group; 1 of a thing that no unit differs in, or if
 *            a group is empty
 * @in_time:  indices of the units, in the order of time; NULL: how near they are says nothing
 *
 * Return: 0, -ENOMEM.
 */
int chance_test(double *ret_p, const float *values, const bool *is_first, const uint32_t *in_time,
                size_t n_units, size_t n_things);

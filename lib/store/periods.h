/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Periods: a session's segments, all CPUs of one sequence taken together
 *
 * What is cut together is dropped together: a ring lets go of its oldest period on every CPU.
 */

#include "store/session-dir.h"

/* @n_pages of a segment of @cpu are about to go. */
typedef void (*PeriodDropped)(uint32_t cpu, uint64_t n_pages, void *userdata);

/*
 * periods_drop() - remove a period's segments
 *
 * No writer has any of them open.  A segment whose pages cannot be counted goes too.
 * Return: 0, or -errno for the first that could not be removed; the others are.
 */
int periods_drop(const SessionDir *d, uint64_t sequence, PeriodDropped dropped, void *userdata);

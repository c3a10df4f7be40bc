/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Slowest: which of many calls, numbered as they came, took longest
 *
 * Memory is in proportion to how many are wanted.  Of two that took equally long the earlier one is.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

typedef struct Slowest Slowest;

int slowest_new(Slowest **ret, uint64_t n_wanted);
/* 0 or -ENOMEM. */
int slowest_add(Slowest *s, uint64_t number, uint64_t duration_ns);
/* No more are added; slowest_has() may be asked. */
void slowest_finish(Slowest *s);
bool slowest_has(const Slowest *s, uint64_t number);
Slowest *slowest_free(Slowest *s);
DEFINE_CLEANUP(Slowest *, slowest_free);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Call rates: how often functions were called during some time, and whose calls are too many
 *
 * Each call of a hooked function outside the roots costs whoever calls it a hook, about as long as the
 * cheapest system call, and brings nothing: function_graph needs some 200 instructions for a call that it does not
 * record (linux 6.12), such a system call some more.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

typedef struct CallRate {
        char *name;
        uint64_t n;
} CallRate;

typedef struct CallRates {
        CallRate *items; /* n of them, sorted by name, unique */
        size_t n;
} CallRates;

/* Names are added in the order of strcmp().  0 or -ENOMEM. */
int call_rates_add(CallRates *r, const char *name, uint64_t n);
enum { CALL_RATES_E_INVALID = 1 };
/* The answer of a worker that counted in one window (daemon/lean/learner.h).  0, CALL_RATES_E_INVALID, -ENOMEM. */
int call_rates_read(CallRates *ret, const char *counts);
void call_rates_done(CallRates *r);
#define _cleanup_call_rates_ _cleanup_(call_rates_done)
/* What is in @own, too, was called below the roots: what is left are others' calls. */
void call_rates_subtract(CallRates *all, const CallRates *own);
/* How often @name was called. */
uint64_t call_rates_get(const CallRates *r, const char *name);
/* What @n of them cost in millionths of a CPU's time. */
double call_rates_cost_ppm(double n, uint64_t window_ns, uint64_t hook_ns);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Units: what ftracectl asks of systemd, process 1
 *
 * Over D-Bus (wire/manager-bus.h).  Functions return an exit status (cli/options/status.h) after having said what systemd said.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/cleanup.h"

typedef struct sd_bus Units;

/* The path of this program, as units need it: 0, -errno. */
int units_add_self(Strv *ret);

int units_open(Units **ret);
/* All unit files are read again. */
int units_reload(Units *u);
/* Makes or removes the links that [Install] of @unit asks for, and reloads. */
int units_enable(Units *u, const char *unit);
int units_disable(Units *u, const char *unit);
/* Returns when it is done: of a oneshot service, when that has ended. */
int units_start(Units *u, const char *unit);
int units_stop(Units *u, const char *unit);

/* What is known of a timer. */
typedef struct TimerState {
        uint64_t next_us, last_us; /* of the realtime clock; 0: never */
        bool is_active, is_masked;
} TimerState;

int units_timer_state(Units *u, const char *unit, TimerState *ret);

/* A timer and the service that it starts, which vanish when that was done, or at the next boot. */
typedef struct TransientTimer {
        const char *name; /* both units' without its ending */
        const char *description;
        const char *calendar; /* a calendar event */
        const Strv *command;  /* the first is the program's path */
} TransientTimer;

int units_start_transient(Units *u, const TransientTimer *t);
Units *units_free(Units *u);
DEFINE_CLEANUP(Units *, units_free);

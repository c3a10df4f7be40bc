/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionUsage: what a session takes in the store
 *
 * Measuring looks at each of its files, so what was measured is remembered (store/footprint.h): of a
 * session that has ended until something is said to have changed, of a live one for a moment.
 */

#include "daemon/record/recorder.h"
#include "store/footprint.h"
#include "meta/meta.h"
#include "store/session-dir.h"
#include "store/store.h"

typedef struct SessionUsage {
        Footprint footprint;  /* what was measured last */
        uint64_t measured_ns; /* CLOCK_MONOTONIC: when that was so; 0: it is not known */
} SessionUsage;

/* Where the session is now. */
typedef struct SessionPlace {
        Store *store;
        const char *name;
        const SessionDir *dir; /* NULL: it is closed */
        Rotation *rotation;    /* that knows its segments' sizes; NULL: it is not live */
} SessionPlace;

/* Measures all that @dir has, now; a task may be asked to wait for that. */
void session_usage_measure(SessionUsage *u, const SessionDir *dir);
/* The same, with segments of which somebody knows that they take @segment_bytes. */
void session_usage_measure_beside(SessionUsage *u, const SessionDir *dir, uint64_t segment_bytes);
/* A file of @n_bytes took the place of a segment of @n_before, of a session that has ended. */
void session_usage_segment_sealed(SessionUsage *u, uint64_t n_before, uint64_t n_bytes);
/* What somebody else has remembered. */
void session_usage_set(SessionUsage *u, Footprint f);
uint64_t session_usage_bytes(SessionUsage *u, const SessionPlace *place);

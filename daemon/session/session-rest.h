/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionRest: what stays in memory of a session that has ended
 *
 * Those are asked for seldom, and there may be tens of thousands: one is laid down (session_rest()), which
 * leaves a few hundred bytes, and woken (session_wake()), which reads its session.json, when somebody
 * wants more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "meta/brief.h"
#include "retention/footprint.h"

typedef struct SessionRest {
        Brief brief;
        Footprint footprint;
        uint64_t kept_ns; /* session_kept_ns() */
        bool is_kept_unsaved, is_kept_guessed;
} SessionRest;

void session_rest_done(SessionRest *rest);
/* As session_segment_sealed(). */
void session_rest_sealed(SessionRest *rest, uint64_t n_before, uint64_t n_bytes);

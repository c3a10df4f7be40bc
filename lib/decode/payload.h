/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Payloads: what an event carries besides its fields, kept when its page may go
 *
 * A cursor is already at the next event, perhaps in another segment, when an event is drawn.  So
 * what points into the page is copied: into one of two places in turn, since at most two events of
 * a CPU are looked at together.
 */

#include "decode/formats.h"

typedef struct Payloads {
        uint64_t *kept[2];
        size_t n_room[2];
        unsigned at;
} Payloads;

/* Makes @event->payload one that lasts until the next call but one; for Event.payload's forms see
 * decode/formats.h.  0 or -ENOMEM. */
int payloads_keep(Payloads *p, const Formats *formats, Event *event);
void payloads_done(Payloads *p);

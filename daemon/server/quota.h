/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Quota: what each user has of the server, and how much more he may have
 *
 * Connections, calls that wait for their answers, and what these hold of memory are counted.  Of
 * connections each user has some more for short calls, so that who follows as much as he may can still
 * list and stop, and who comes when all places are taken is served.  The loop's time is not counted but
 * kept fair: who took it for a while, at once or bit by bit, rests three times as long, all his
 * connections alike, so that a user who calls in a loop has a quarter of it and others the rest.  Root
 * and the daemon's own user never rest.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/server/peer.h"

typedef struct QuotaLimits {
        size_t max_connections; /* of all; as many as one user may have are kept for PEER_ALL */
        size_t max_connections_per_user;
        size_t max_calls_per_user; /* of a PEER_MEMBER */
} QuotaLimits;

#define QUOTA_SHORT_PER_USER 8 /* places for short calls, beyond max_connections_per_user */
#define QUOTA_SHORT 64         /* of all but PEER_ALL together, beyond max_connections */

/* What calls hold, from their first byte to their answer; PEER_ALL holds what he needs. */
#define QUOTA_FREE_BYTES ((size_t) 128 << 10)   /* of a connection: not counted */
#define QUOTA_BYTES_PER_USER ((size_t) 8 << 20) /* three of the longest calls */
#define QUOTA_BYTES ((size_t) 32 << 20)         /* of all together */

#define QUOTA_REST 3        /* times what he took */
#define QUOTA_SHORT_US 1000 /* is not worth a rest, unless there is more of it */

typedef struct QuotaAccount QuotaAccount;

typedef struct Quota {
        QuotaLimits limits;
        QuotaAccount *accounts; /* of users that have connections, or rest */
        size_t n_connections,
                n_short; /* those that are counted in max_connections, and QUOTA_SHORT */
        size_t n_bytes;
} Quota;

/* A connection: 0, QUOTA_E_*, -ENOMEM. */
enum {
        QUOTA_E_SHORT = 1, /* it has a place, for short calls alone */
        QUOTA_E_FULL = 2,
};
int quota_add_connection(Quota *q, const Peer *peer, uint64_t now_us);
/* Whether he has as many as he may himself. */
bool quota_is_full(const Quota *q, const Peer *peer);
void quota_remove_connection(Quota *q, const Peer *peer, bool is_short);
/* A connection holds @n_bytes now, and @n_held (0 at first) of those are counted.  False: it may not, and
 * nothing has changed; never if it is less than before. */
bool quota_hold(Quota *q, const Peer *peer, size_t *n_held, size_t n_bytes);
/* A call that is not answered yet: whether there may be one. */
bool quota_add_call(Quota *q, const Peer *peer);
void quota_remove_call(Quota *q, const Peer *peer);

/* @peer had the loop from @from_us to @to_us, monotonic. */
void quota_charge(Quota *q, const Peer *peer, uint64_t from_us, uint64_t to_us);
/* Until when he rests, monotonic; 0: he does not. */
uint64_t quota_rests_until(const Quota *q, const Peer *peer);
/* Frees all accounts. */
void quota_done(Quota *q);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Quota: what each user has of the server, and how much more he may have
 *
 * Connections and calls that wait for their answers are counted.  The loop's time is not counted but
 * kept fair: who took it for a while, at once or bit by bit, rests three times as long, all his
 * connections alike, so that a user who calls in a loop has a quarter of it and others the rest.  Root
 * and the daemon's own user never rest.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/peer.h"

typedef struct QuotaLimits {
        size_t max_connections; /* of all; as many as one user may have are kept for PEER_ALL */
        size_t max_connections_per_user;
        size_t max_calls_per_user; /* of a PEER_MEMBER */
} QuotaLimits;

#define QUOTA_REST 3        /* times what he took */
#define QUOTA_SHORT_US 1000 /* is not worth a rest, unless there is more of it */

typedef struct QuotaAccount QuotaAccount;

typedef struct Quota {
        QuotaLimits limits;
        QuotaAccount *accounts; /* of users that have connections, or rest */
        size_t n_connections;
} Quota;

/* A connection: 0, QUOTA_E_FULL, -ENOMEM. */
enum { QUOTA_E_FULL = 1 };
int quota_add_connection(Quota *q, const Peer *peer, uint64_t now_us);
void quota_remove_connection(Quota *q, const Peer *peer);
/* A call that is not answered yet: whether there may be one. */
bool quota_add_call(Quota *q, const Peer *peer);
void quota_remove_call(Quota *q, const Peer *peer);

/* @peer had the loop from @from_us to @to_us, monotonic. */
void quota_charge(Quota *q, const Peer *peer, uint64_t from_us, uint64_t to_us);
/* Until when he rests, monotonic; 0: he does not. */
uint64_t quota_rests_until(const Quota *q, const Peer *peer);
/* Frees all accounts. */
void quota_done(Quota *q);

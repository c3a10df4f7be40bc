/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Quota: what each user has of the server, and how much more he may have
 *
 * Connections, calls that wait for their answers, and what these hold of memory are counted.
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

/* What calls hold, from their first byte to their answer; PEER_ALL holds what he needs. */
#define QUOTA_FREE_BYTES ((size_t) 128 << 10)   /* of a connection: not counted */
#define QUOTA_BYTES_PER_USER ((size_t) 8 << 20) /* three of the longest calls */
#define QUOTA_BYTES ((size_t) 32 << 20)         /* of all together */

typedef struct QuotaAccount QuotaAccount;

typedef struct Quota {
        QuotaLimits limits;
        QuotaAccount *accounts; /* of users that have connections */
        size_t n_connections, n_bytes;
} Quota;

/* A connection: 0, QUOTA_E_FULL, -ENOMEM. */
enum { QUOTA_E_FULL = 1 };
int quota_add_connection(Quota *q, const Peer *peer);
/* Whether that user has as many as one may. */
bool quota_is_full(const Quota *q, const Peer *peer);
/* The last one of a user: nothing is counted any more. */
void quota_remove_connection(Quota *q, const Peer *peer);
/* A connection holds @n_bytes now, and @n_held (0 at first) of those are counted.  False: it may not, and
 * nothing has changed; never if it is less than before. */
bool quota_hold(Quota *q, const Peer *peer, size_t *n_held, size_t n_bytes);
/* A call that is not answered yet: whether there may be one. */
bool quota_add_call(Quota *q, const Peer *peer);
void quota_remove_call(Quota *q, const Peer *peer);

/* Frees all accounts. */
void quota_done(Quota *q);

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A list of accounts: of as many users as have connections, a few as a rule. */

#include <assert.h>

#include "daemon/server/server-private.h"

struct QuotaAccount {
        QuotaAccount *next;
        uid_t uid;
        size_t n_connections, n_calls, n_bytes;
};

static QuotaAccount *find(const Quota *q, uid_t uid) {
        for (QuotaAccount *a = q->accounts; a; a = a->next)
                if (a->uid == uid)
                        return a;
        return NULL;
}

bool quota_is_full(const Quota *q, const Peer *peer) {
        const QuotaAccount *a = find(q, peer->uid);

        return a && a->n_connections >= q->max_connections_per_user;
}

int quota_add_connection(Quota *q, const Peer *peer) {
        size_t kept = peer->right == PEER_ALL ? 0 : q->max_connections_per_user;
        QuotaAccount *a = find(q, peer->uid);

        if (quota_is_full(q, peer) || q->n_connections + kept >= q->max_connections)
                return QUOTA_E_FULL;
        if (!a) {
                a = NEW(QuotaAccount, .next = q->accounts, .uid = peer->uid);
                if (!a)
                        return -ENOMEM;
                q->accounts = a;
        }
        a->n_connections++;
        q->n_connections++;
        return 0;
}

void quota_remove_connection(Quota *q, const Peer *peer) {
        QuotaAccount **at = &q->accounts, *a;

        while (*at && (*at)->uid != peer->uid)
                at = &(*at)->next;
        a = *at;
        assert(a);
        q->n_connections--;
        if (--a->n_connections > 0)
                return;
        *at = a->next;
        free(a);
}

bool quota_hold(Quota *q, const Peer *peer, size_t *n_held, size_t n_bytes) {
        QuotaAccount *a = find(q, peer->uid);
        size_t n = n_bytes - MIN(n_bytes, QUOTA_FREE_BYTES);

        if (!a || peer->right == PEER_ALL)
                return true;
        if (n > *n_held && (a->n_bytes - *n_held + n > QUOTA_BYTES_PER_USER ||
                            q->n_bytes - *n_held + n > QUOTA_BYTES))
                return false;
        a->n_bytes = a->n_bytes - *n_held + n;
        q->n_bytes = q->n_bytes - *n_held + n;
        *n_held = n;
        return true;
}

bool quota_add_call(Quota *q, const Peer *peer) {
        QuotaAccount *a = find(q, peer->uid);

        assert(a);
        if (peer->right != PEER_ALL && a->n_calls >= q->max_calls_per_user)
                return false;
        a->n_calls++;
        return true;
}

void quota_remove_call(Quota *q, const Peer *peer) {
        QuotaAccount *a = find(q, peer->uid);

        if (a && a->n_calls > 0)
                a->n_calls--;
}

void quota_done(Quota *q) {
        for (QuotaAccount *a; (a = POP(q->accounts));)
                free(a);
        q->n_connections = q->n_bytes = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A list of accounts: of as many users as have connections, a few as a rule. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "daemon/quota.h"

struct QuotaAccount {
        QuotaAccount *next;
        uid_t uid;
        size_t n_connections, n_calls;
        uint64_t owed_us, charged_us; /* what he took that he has not rested for, and when */
        uint64_t rests_until_us;
};

static QuotaAccount *find(const Quota *q, uid_t uid) {
        for (QuotaAccount *a = q->accounts; a; a = a->next)
                if (a->uid == uid)
                        return a;
        return NULL;
}

/* Accounts of users who have gone are kept until they have rested: who comes again rests on. */
static void drop_unused(Quota *q, uint64_t now_us) {
        for (QuotaAccount **at = &q->accounts; *at;) {
                QuotaAccount *a = *at;

                if (a->n_connections == 0 && a->rests_until_us <= now_us) {
                        *at = a->next;
                        free(a);
                } else
                        at = &a->next;
        }
}

int quota_add_connection(Quota *q, const Peer *peer, uint64_t now_us) {
        size_t kept = peer->right == PEER_ALL ? 0 : q->limits.max_connections_per_user;
        QuotaAccount *a;

        drop_unused(q, now_us);
        a = find(q, peer->uid);

        if (q->n_connections + kept >= q->limits.max_connections)
                return QUOTA_E_FULL;
        if (a && a->n_connections >= q->limits.max_connections_per_user)
                return QUOTA_E_FULL;
        if (!a) {
                a = malloc(sizeof(*a));
                if (!a)
                        return -ENOMEM;
                *a = (QuotaAccount){ .next = q->accounts, .uid = peer->uid };
                q->accounts = a;
        }
        a->n_connections++;
        q->n_connections++;
        return 0;
}

void quota_remove_connection(Quota *q, const Peer *peer) {
        QuotaAccount *a = find(q, peer->uid);

        if (!a || a->n_connections == 0)
                return;
        a->n_connections--;
        q->n_connections--;
}

bool quota_add_call(Quota *q, const Peer *peer) {
        QuotaAccount *a = find(q, peer->uid);

        assert(a);
        if (peer->right != PEER_ALL && a->n_calls >= q->limits.max_calls_per_user)
                return false;
        a->n_calls++;
        return true;
}

void quota_remove_call(Quota *q, const Peer *peer) {
        QuotaAccount *a = find(q, peer->uid);

        if (a && a->n_calls > 0)
                a->n_calls--;
}

void quota_charge(Quota *q, const Peer *peer, uint64_t from_us, uint64_t to_us) {
        QuotaAccount *a = find(q, peer->uid);
        uint64_t took = to_us > from_us ? to_us - from_us : 0, rested;

        if (!a || peer->right == PEER_ALL)
                return;
        rested = from_us > a->charged_us ? (from_us - a->charged_us) / QUOTA_REST : 0;
        a->owed_us -= MIN(a->owed_us, rested);
        a->owed_us += took;
        a->charged_us = MAX(a->charged_us, to_us);
        if (a->owed_us < QUOTA_SHORT_US)
                return;
        a->rests_until_us = MAX(a->rests_until_us, to_us) + QUOTA_REST * TAKE(a->owed_us, 0);
}

uint64_t quota_rests_until(const Quota *q, const Peer *peer) {
        const QuotaAccount *a = find(q, peer->uid);

        return a ? a->rests_until_us : 0;
}

void quota_done(Quota *q) {
        while (q->accounts) {
                QuotaAccount *a = q->accounts;

                q->accounts = a->next;
                free(a);
        }
        q->n_connections = 0;
}

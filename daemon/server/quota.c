/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A list of accounts: of as many users as have connections, a few as a rule. */

#include <assert.h>

#include "base/cleanup.h"
#include "daemon/server/quota.h"

struct QuotaAccount {
        QuotaAccount *next;
        uid_t uid;
        size_t n_connections, n_short, n_calls, n_bytes;
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

                if (a->n_connections + a->n_short == 0 && a->rests_until_us <= now_us) {
                        *at = a->next;
                        free(a);
                } else
                        at = &a->next;
        }
}

bool quota_is_full(const Quota *q, const Peer *peer) {
        const QuotaAccount *a = find(q, peer->uid);

        return a && a->n_connections >= q->limits.max_connections_per_user;
}

static bool has_short_place(const Quota *q, const Peer *peer) {
        const QuotaAccount *a = find(q, peer->uid);

        if (peer->right == PEER_NOTHING || (a && a->n_short >= QUOTA_SHORT_PER_USER))
                return false;
        return peer->right == PEER_ALL || q->n_short < QUOTA_SHORT;
}

/* 0 or QUOTA_E_*. */
static int find_place(const Quota *q, const Peer *peer) {
        size_t kept = peer->right == PEER_ALL ? 0 : q->limits.max_connections_per_user;

        if (!quota_is_full(q, peer) && q->n_connections + kept < q->limits.max_connections)
                return 0;
        return has_short_place(q, peer) ? QUOTA_E_SHORT : QUOTA_E_FULL;
}

/* Which of the two counts of all together a connection is in. */
static size_t *count_of_all(Quota *q, const Peer *peer, bool is_short) {
        return !is_short ? &q->n_connections : peer->right == PEER_ALL ? NULL : &q->n_short;
}

int quota_add_connection(Quota *q, const Peer *peer, uint64_t now_us) {
        QuotaAccount *a;
        size_t *n_all;
        int r;

        drop_unused(q, now_us);
        r = find_place(q, peer);
        if (r == QUOTA_E_FULL)
                return r;
        a = find(q, peer->uid);
        if (!a) {
                a = NEW(QuotaAccount, .next = q->accounts, .uid = peer->uid);
                if (!a)
                        return -ENOMEM;
                q->accounts = a;
        }
        n_all = count_of_all(q, peer, r == QUOTA_E_SHORT);
        ++*(r == QUOTA_E_SHORT ? &a->n_short : &a->n_connections);
        if (n_all)
                ++*n_all;
        return r;
}

void quota_remove_connection(Quota *q, const Peer *peer, bool is_short) {
        QuotaAccount *a = find(q, peer->uid);
        size_t *n = a ? is_short ? &a->n_short : &a->n_connections : NULL,
               *n_all = count_of_all(q, peer, is_short);

        if (!n || *n == 0)
                return;
        --*n;
        if (n_all)
                --*n_all;
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
        for (QuotaAccount *a; (a = POP(q->accounts));)
                free(a);
        q->n_connections = q->n_short = q->n_bytes = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A handful of claims; every question is a walk over them.
 */

#include <errno.h>
#include <time.h>

#include "base/unit.h"
#include "daemon/arbiter.h"

static void claim_free(Claim *c) {
        if (!c)
                return;
        free(c->session);
        strv_done(&c->roots);
        strv_done(&c->notrace);
        free(c);
}

int arbiter_look(const Arbiter *a, const Strv *roots, const Strv *notrace, uint64_t depth,
                 const Claim **ret_holder, const char **ret_what) {
        for (size_t i = 0; i < a->n; i++) {
                const Claim *c = a->claims[i];

                if (c->depth != depth || (depth > 0 && !strv_equal(&c->roots, roots)))
                        *ret_what = "max_graph_depth";
                else if (!strv_equal(&c->notrace, notrace))
                        *ret_what = "set_graph_notrace";
                else
                        continue;
                *ret_holder = c;
                return ARBITER_E_HELD;
        }
        return 0;
}

int arbiter_join(Arbiter *a, Claim **ret, const char *session, uid_t uid, const Strv *roots,
                 const Strv *notrace, uint64_t depth, const Claim **ret_holder,
                 const char **ret_what) {
        struct timespec now;
        Claim **claims, *c;

        if (arbiter_look(a, roots, notrace, depth, ret_holder, ret_what) == ARBITER_E_HELD)
                return ARBITER_E_HELD;
        claims = reallocarray(a->claims, a->n + 1, sizeof(*claims));
        if (!claims)
                return -ENOMEM;
        a->claims = claims;
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        (void) clock_gettime(CLOCK_REALTIME, &now);
        c->uid = uid;
        c->depth = depth;
        c->since_ns = (uint64_t) now.tv_sec * NSEC_PER_SEC + (uint64_t) now.tv_nsec;
        c->session = strdup(session);
        if (!c->session || strv_copy(&c->roots, roots) < 0 || strv_copy(&c->notrace, notrace) < 0) {
                claim_free(c);
                return -ENOMEM;
        }
        *ret = a->claims[a->n++] = c;
        return 0;
}

void arbiter_leave(Arbiter *a, Claim *claim) {
        for (size_t i = 0; i < a->n; i++) {
                if (a->claims[i] != claim)
                        continue;
                memmove(a->claims + i, a->claims + i + 1, (a->n - i - 1) * sizeof(*a->claims));
                a->n--;
                claim_free(claim);
                return;
        }
}

void arbiter_done(Arbiter *a) {
        for (size_t i = 0; i < a->n; i++)
                claim_free(a->claims[i]);
        free(a->claims);
        *a = (Arbiter){};
}

int arbiter_own_roots(const Arbiter *a, const Claim *claim, Strv *ret) {
        for (size_t i = 0; i < claim->roots.n; i++) {
                bool shared = false;
                int r;

                for (size_t k = 0; k < a->n && !shared; k++)
                        shared = a->claims[k] != claim &&
                                 strv_contains(&a->claims[k]->roots, claim->roots.items[i]);
                if (shared)
                        continue;
                r = strv_add(ret, claim->roots.items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

int arbiter_all_roots(const Arbiter *a, Strv *ret) {
        for (size_t i = 0; i < a->n; i++)
                for (size_t k = 0; k < a->claims[i]->roots.n; k++) {
                        int r = strv_add(ret, a->claims[i]->roots.items[k]);

                        if (r < 0)
                                return r;
                }
        strv_sort_unique(ret);
        return 0;
}

int arbiter_neighbours(const Arbiter *a, const Claim *claim, Strv *ret) {
        for (size_t i = 0; i < a->n; i++) {
                int r;

                if (a->claims[i] == claim)
                        continue;
                r = strv_add(ret, a->claims[i]->session);
                if (r < 0)
                        return r;
        }
        return 0;
}

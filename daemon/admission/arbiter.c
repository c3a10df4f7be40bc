/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A handful of claims; every question is a walk over them.
 */

#include "base/io.h"
#include "daemon/admission/admission.h"

static void claim_free(Claim *c) {
        if (!c)
                return;
        free(c->session);
        strv_done(&c->roots);
        strv_done(&c->notrace);
        free(c);
}

/* The file that keeps two sessions apart, or NULL. */
static const char *find_conflict(const Claim *c, const Strv *roots, const Strv *notrace,
                                 const ClaimValues *v) {
        if (c->values.depth != v->depth || (v->depth > 0 && !strv_equal(&c->roots, roots)))
                return "max_graph_depth";
        if (!strv_equal(&c->notrace, notrace))
                return "set_graph_notrace";
        if (c->values.thresh_us != v->thresh_us)
                return "tracing_thresh";
        if (c->values.no_irqs != v->no_irqs)
                return "options/funcgraph-irqs";
        if (c->values.no_sleep_time != v->no_sleep_time)
                return "options/sleep-time";
        if (c->values.args != v->args)
                return "options/funcgraph-args";
        if (v->thresh_us > 0 && (!c->values.flat || !v->flat) && !strv_equal(&c->roots, roots))
                return "set_graph_function (with --slower, but without --flat)";
        return NULL;
}

int arbiter_look(const Arbiter *a, const Strv *roots, const Strv *notrace,
                 const ClaimValues *values, const Claim **ret_holder, const char **ret_what) {
        for (size_t i = 0; i < a->n; i++) {
                const char *what = find_conflict(a->claims[i], roots, notrace, values);

                if (what) {
                        *ret_holder = a->claims[i];
                        *ret_what = what;
                        return ARBITER_E_HELD;
                }
        }
        return 0;
}

int arbiter_join(Arbiter *a, Claim **ret, const char *session, uid_t uid, const Strv *roots,
                 const Strv *notrace, const ClaimValues *values, const Claim **ret_holder,
                 const char **ret_what) {
        Claim *c;

        if (arbiter_look(a, roots, notrace, values, ret_holder, ret_what) == ARBITER_E_HELD)
                return ARBITER_E_HELD;
        if (!ARRAY_GROW(a->claims, a->n))
                return -ENOMEM;
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        c->uid = uid;
        c->values = *values;
        c->since_ns = now_ns(CLOCK_REALTIME);
        c->session = strdup(session);
        if (!c->session || strv_copy(&c->roots, roots) < 0 || strv_copy(&c->notrace, notrace) < 0) {
                claim_free(c);
                return -ENOMEM;
        }
        strv_sort_unique(&c->roots); /* they are; but for what an adopted session.json says */
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

static bool is_shared(const Arbiter *a, const Claim *claim, const char *root) {
        for (size_t i = 0; i < a->n; i++)
                if (a->claims[i] != claim && strv_finds(&a->claims[i]->roots, root))
                        return true;
        return false;
}

int arbiter_own_roots(const Arbiter *a, const Claim *claim, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < claim->roots.n; i++)
                if (!is_shared(a, claim, claim->roots.items[i]))
                        r = strv_add(ret, claim->roots.items[i]);
        return r;
}

int arbiter_all_roots(const Arbiter *a, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < a->n; i++)
                r = strv_extend(ret, &a->claims[i]->roots);
        if (r >= 0)
                strv_sort_unique(ret);
        return r;
}

int arbiter_neighbours(const Arbiter *a, const Claim *claim, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < a->n; i++)
                if (a->claims[i] != claim)
                        r = strv_add(ret, a->claims[i]->session);
        return r;
}

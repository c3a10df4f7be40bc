/* SPDX-License-Identifier: GPL-2.0-or-later */

/* There are few roots, and many calls of them: a sorted array. */

#include "base/grow.h"
#include "cli/options/root-limits.h"

/* Where @name is, or belongs. */
static size_t find(const RootLimits *l, const char *name) {
        size_t low = 0, high = l->n;

        while (low < high) {
                size_t i = (low + high) / 2;

                if (strcmp(l->roots[i].name, name) < 0)
                        low = i + 1;
                else
                        high = i;
        }
        return low;
}

static bool has(const RootLimits *l, size_t i, const char *name) {
        return i < l->n && streq(l->roots[i].name, name);
}

static int insert(RootLimits *l, size_t i, const char *name) {
        char *copy;

        if (!ARRAY_GROW(l->roots, l->n))
                return -ENOMEM;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        memmove(&l->roots[i + 1], &l->roots[i], (l->n - i) * sizeof(*l->roots));
        l->roots[i] = (RootLimit){ .name = copy, .limit_ns = UINT64_MAX };
        l->n++;
        return 0;
}

static int learn(void *data, const Function *root, uint64_t duration_ns) {
        RootLimits *l = data;
        size_t i = find(l, root->label);
        int r = has(l, i, root->label) ? 0 : insert(l, i, root->label);

        return r < 0 ? r : quantiles_add(&l->roots[i].quantiles, duration_ns);
}

static uint64_t limit_ns(void *data, const Function *root) {
        RootLimits *l = data;
        size_t i = find(l, root->label);
        RootLimit *limit;

        if (!has(l, i, root->label))
                return UINT64_MAX;
        limit = &l->roots[i];
        if (limit->limit_ns == UINT64_MAX)
                limit->limit_ns = quantiles_at(&limit->quantiles, l->permille);
        return limit->limit_ns;
}

void root_limits_init(RootLimits *l, unsigned permille) {
        *l = (RootLimits){ .permille = permille,
                           .limits = { .learn = learn, .limit_ns = limit_ns, .data = l } };
}

void root_limits_done(RootLimits *l) {
        for (size_t i = 0; i < l->n; i++) {
                free(l->roots[i].name);
                quantiles_done(&l->roots[i].quantiles);
        }
        free(l->roots);
        *l = (RootLimits){};
}

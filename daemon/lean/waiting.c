/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A table made of the file; names that end with "*" stand for all that begin so. */

#include "base/cleanup.h"
#include "daemon/lean/waiting.h"

static const struct {
        const char *name;
        size_t n_prefix; /* of what stands for all that begin so; else 0 */
        WaitingKind kind;
} waiting[] = {
#include "daemon/lean/waiting-names.h"
};

static bool is_meant(size_t i, const char *name) {
        return *name == *waiting[i].name &&
               (waiting[i].n_prefix > 0 ? strncmp(waiting[i].name, name, waiting[i].n_prefix) == 0
                                        : streq(waiting[i].name, name));
}

int waiting_find(const Functions *f, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(waiting); i++)
                if (waiting[i].n_prefix == 0) {
                        if (functions_contain(f, waiting[i].name))
                                r = strv_add(ret, waiting[i].name);
                } else
                        for (size_t k =
                                     BISECT(0, f->n, j, strcmp(f->names[j], waiting[i].name) < 0);
                             r >= 0 && k < f->n && is_meant(i, f->names[k]); k++)
                                r = strv_add(ret, f->names[k]);
        strv_sort_unique(ret);
        return r;
}

bool waiting_is(const char *name, WaitingKind kind) {
        for (size_t i = 0; i < ELEMENTSOF(waiting); i++)
                if (waiting[i].kind == kind && is_meant(i, name))
                        return true;
        return false;
}

bool waiting_is_interrupt(const char *name) {
        return waiting_is(name, WAITING_INTERRUPT);
}

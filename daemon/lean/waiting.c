/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A table made of the file; names that end with "*" stand for all that begin so. */

#include "base/cleanup.h"
#include "daemon/lean/waiting.h"

static const struct {
        const char *name;
        WaitingKind kind;
} waiting[] = {
#include "daemon/lean/waiting-names.h"
};

static bool is_meant(const char *pattern, const char *name) {
        size_t n = strcspn(pattern, "*");

        return pattern[n] ? strncmp(pattern, name, n) == 0 : streq(pattern, name);
}

int waiting_find(const Functions *f, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(waiting); i++)
                if (!strchr(waiting[i].name, '*')) {
                        if (functions_contain(f, waiting[i].name))
                                r = strv_add(ret, waiting[i].name);
                } else
                        for (size_t k = 0; r >= 0 && k < f->n; k++)
                                if (is_meant(waiting[i].name, f->names[k]))
                                        r = strv_add(ret, f->names[k]);
        strv_sort_unique(ret);
        return r;
}

bool waiting_is(const char *name, WaitingKind kind) {
        for (size_t i = 0; i < ELEMENTSOF(waiting); i++)
                if (waiting[i].kind == kind && is_meant(waiting[i].name, name))
                        return true;
        return false;
}

bool waiting_is_interrupt(const char *name) {
        return waiting_is(name, WAITING_INTERRUPT);
}

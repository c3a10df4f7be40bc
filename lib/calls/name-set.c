/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Patterns are tried once for each function; what they said is kept in a table with open
 * addressing. */

#include <fnmatch.h>

#include "calls/name-set.h"

#define N_ROOM_FIRST 1024

typedef struct Verdict {
        const Function *function; /* NULL: free */
        bool is_meant;
} Verdict;

struct NameSet {
        const Strv *patterns;
        Verdict *verdicts; /* n_room of them, a power of two */
        size_t n, n_room;
};

static bool matches(const Strv *patterns, const char *name) {
        for (size_t i = 0; i < patterns->n; i++)
                if (fnmatch(patterns->items[i], name, 0) == 0)
                        return true;
        return false;
}

static bool is_meant(const Strv *patterns, const Function *f) {
        char name[512], *dot;
        size_t n = MIN((size_t) f->n_name, sizeof(name) - 1);

        memcpy(name, f->label, n);
        name[n] = 0;
        if (matches(patterns, name))
                return true;
        dot = strchr(name + (n > 0), '.');
        if (!dot)
                return false;
        *dot = 0;
        return matches(patterns, name);
}

static Verdict *find(Verdict *verdicts, size_t n_room, const Function *f) {
        size_t i =
                (size_t) (((uintptr_t) f >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n_room - 1);

        while (verdicts[i].function && verdicts[i].function != f)
                i = (i + 1) & (n_room - 1);
        return &verdicts[i];
}

static int grow(NameSet *s) {
        size_t n_room = s->n_room * 2;
        Verdict *bigger = calloc(n_room, sizeof(*bigger));

        if (!bigger)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_room; i++)
                if (s->verdicts[i].function)
                        *find(bigger, n_room, s->verdicts[i].function) = s->verdicts[i];
        free(s->verdicts);
        s->verdicts = bigger;
        s->n_room = n_room;
        return 0;
}

int name_set_has(NameSet *s, const Function *function) {
        Verdict *v = find(s->verdicts, s->n_room, function);

        if (_likely_(v->function))
                return v->is_meant;
        if (s->n >= s->n_room / 2) {
                if (grow(s) < 0)
                        return -ENOMEM;
                v = find(s->verdicts, s->n_room, function);
        }
        *v = (Verdict){ function, is_meant(s->patterns, function) };
        s->n++;
        return v->is_meant;
}

void name_set_forget(NameSet *s) {
        memset(s->verdicts, 0, s->n_room * sizeof(*s->verdicts));
        s->n = 0;
}

int name_set_new(NameSet **ret, const Strv *patterns) {
        _cleanup_(name_set_freep) NameSet *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->patterns = patterns;
        s->n_room = N_ROOM_FIRST;
        s->verdicts = calloc(s->n_room, sizeof(*s->verdicts));
        if (!s->verdicts)
                return -ENOMEM;
        *ret = TAKE_PTR(s);
        return 0;
}

NameSet *name_set_free(NameSet *s) {
        if (!s)
                return NULL;
        free(s->verdicts);
        free(s);
        return NULL;
}

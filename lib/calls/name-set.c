/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Patterns are tried once for each function; what they said is kept. */

#include <fnmatch.h>

#include "base/hash.h"
#include "calls/name-set.h"

enum { NOT_MEANT = 1, MEANT };

struct NameSet {
        const Strv *patterns;
        Hash verdicts; /* by function */
};

bool name_set_patterns_match(const Strv *patterns, const char *name) {
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
        if (name_set_patterns_match(patterns, name))
                return true;
        dot = strchr(name + (n > 0), '.');
        if (!dot)
                return false;
        *dot = 0;
        return name_set_patterns_match(patterns, name);
}

int name_set_has(NameSet *s, const Function *function) {
        uint64_t verdict = hash_get(&s->verdicts, hash_key(function));

        if (_unlikely_(verdict == 0)) {
                verdict = is_meant(s->patterns, function) ? MEANT : NOT_MEANT;
                if (hash_add(&s->verdicts, hash_key(function), verdict) < 0)
                        return -ENOMEM;
        }
        return verdict == MEANT;
}

int name_set_new(NameSet **ret, const Strv *patterns) {
        *ret = NEW(NameSet, .patterns = patterns);
        return *ret ? 0 : -ENOMEM;
}

NameSet *name_set_free(NameSet *s) {
        if (!s)
                return NULL;
        hash_done(&s->verdicts);
        return mfree(s);
}

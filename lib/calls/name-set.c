/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Patterns are tried once for each function; what they said is kept. */

#include <fnmatch.h>

#include "calls/name-set.h"

enum { NOT_MEANT = 1, MEANT };

bool name_set_patterns_match(const Strv *patterns, const char *name) {
        for (size_t i = 0; i < patterns->n; i++)
                if (fnmatch(patterns->items[i], name, 0) == 0)
                        return true;
        return false;
}

static bool is_meant(const NameSet *s, const Function *f) {
        char name[512], *dot;
        size_t n = MIN((size_t) f->n_name, sizeof(name) - 1);

        memcpy(name, f->label, n);
        name[n] = 0;
        if (name_set_patterns_match(s->patterns, name) || (s->also && s->also(f)))
                return true;
        dot = strchr(name + (n > 0), '.');
        if (!dot)
                return false;
        *dot = 0;
        return name_set_patterns_match(s->patterns, name);
}

int name_set_has(NameSet *s, const Function *function) {
        uint64_t verdict = hash_get(&s->verdicts, hash_key(function));

        if (_unlikely_(verdict == 0)) {
                verdict = is_meant(s, function) ? MEANT : NOT_MEANT;
                if (hash_add(&s->verdicts, hash_key(function), verdict) < 0)
                        return -ENOMEM;
        }
        return verdict == MEANT;
}

/* --- prune ------------------------------------------------------------------------------------ */

/* A task is in one stretch that is hidden, or in none; a return follows its call. */

/* 1 if a stretch begins with @step, else 0; or -ENOMEM. */
static int begins(Prune *p, const Step *step) {
        if (p->names.also && step->said && step->said->irq_begin)
                return 1;
        return name_set_has(&p->names, step->function);
}

int prune_hides(Prune *p, Stretch *s, const Step *step) {
        int r;

        if (step->kind == STEP_OTHER)
                return s->function != NULL;
        if (step->kind == STEP_LEAVE) {
                Leaving leaving = stretch_leave(s, step);

                if (leaving != LEAVES_NOTHING)
                        return leaving == LEAVES_INSIDE || !p->is_below;
        } else if (stretch_call(s, step->depth))
                return 1;
        r = p->is_below && step->kind == STEP_LEAVE ? 0 : begins(p, step);
        if (r > 0 && step->kind == STEP_ENTER) {
                s->function = step->function;
                s->depth = step->depth;
        }
        return p->is_below ? MIN(r, 0) : r;
}

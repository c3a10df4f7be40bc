/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A name that ftracectl makes for a session has a "-", a file a "/" or a "."; functions have
 * neither, but for clones, which a pattern need not name. */

#include "base/name.h"
#include "cli/source/chosen.h"
#include "cli/source/source.h"

static bool can_be_function(const char *word) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_*?[]";

        return word[strspn(word, letters)] == 0;
}

/* Whether @word is a file, and @other nothing that can be read. */
static bool is_only_file(const Options *o, const char *word, const char *other) {
        return source_names_file(word) && !source_names_file(other) &&
               !source_has_session(o, other);
}

int chosen_init(Chosen *ret, const Options *o) {
        const char *first = o->words.items[0], *second = o->words.n > 1 ? o->words.items[1] : NULL;

        *ret = (Chosen){};
        if (second && can_be_function(first) &&
            (!can_be_function(second) || is_only_file(o, second, first)))
                SWAP(first, second);
        ret->source = first;
        if (second && strv_add(&ret->patterns, second) < 0)
                return failed(STATUS_FAILED, "Failed to read the command line: out of memory");
        ret->name_set.patterns = &ret->patterns;
        ret->names = second ? &ret->name_set : NULL;
        return STATUS_OK;
}

void chosen_done(Chosen *c) {
        name_set_done(&c->name_set);
        strv_done(&c->patterns);
        *c = (Chosen){};
}

int chosen_not_found(const Chosen *c, const Options *o) {
        _cleanup_free_ char *said = options_said_filters(o);

        if (c->patterns.n == 0)
                log_error("there are no calls in \"%s\"%s.", c->source, said ?: "");
        else
                log_error("there are no calls of \"%s\" in \"%s\"%s.",
                          NAME_QUOTED(c->patterns.items[0]), c->source, said ?: "");
        return STATUS_NOT_FOUND;
}

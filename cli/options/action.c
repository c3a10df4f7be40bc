/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/name.h"
#include "cli/options/action.h"

int action_run(const Options *o, const char *verb, const Action *actions, size_t n_actions,
               const char *names) {
        const char *name = o->words.n > 0 ? o->words.items[0] : actions[0].name;
        size_t n = o->words.n > 0 ? o->words.n - 1 : 0;

        for (const Action *a = actions; a < actions + n_actions; a++) {
                if (!streq(a->name, name))
                        continue;
                if (n >= a->min_words && n <= a->max_words)
                        return a->run(o, n > 0 ? o->words.items[1] : NULL);
                return failed(STATUS_USAGE, "\"%s %s\" takes %s; see \"ftracectl %s --help\".",
                              verb, name, a->takes, verb);
        }
        return failed(STATUS_USAGE, "\"%s\" does not know \"%s\": %s; see \"ftracectl %s --help\".",
                      verb, NAME_QUOTED(name), names, verb);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What removes sessions, and what keeps them from being removed. */

#include "cli/files/upkeep.h"
#include "cli/options/verb.h"
#include "cli/terminal/terminal.h"

static int remove_one(const Options *o, Client *c, const char *word) {
        _cleanup_free_ char *name = NULL;
        int status = upkeep_name(&name, o, c, word) ?: upkeep_remove(o, c, name);

        if (status == STATUS_OK)
                talk(o, "Removed %s.", name);
        return status;
}

int verb_remove(const Options *o) {
        return upkeep_each(o, remove_one);
}

static int pin(const Options *o, Client *c, const char *word) {
        _cleanup_free_ char *name = NULL;
        int status = upkeep_name(&name, o, c, word) ?: upkeep_pin(o, c, name, !o->off);

        if (status == STATUS_OK)
                talk(o, "%s %s.", name,
                     o->off ? "may be removed"
                            : "is not removed any more, until \"ftracectl pin --off\"");
        return status;
}

int verb_pin(const Options *o) {
        return upkeep_each(o, pin);
}

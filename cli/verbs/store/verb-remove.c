/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/files/upkeep.h"
#include "cli/options/status.h"
#include "cli/options/verb.h"
#include "cli/source/source.h"
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

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/source.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/upkeep.h"
#include "cli/verb.h"

static int remove_one(const Options *o, Client *c, const char *word) {
        _cleanup_free_ char *name = NULL;
        int status;

        status = upkeep_name(&name, o, c, word);
        if (status == STATUS_OK)
                status = upkeep_remove(o, c, name);
        if (status == STATUS_OK)
                talk(o, "Removed %s.", name);
        return status;
}

int verb_remove(const Options *o) {
        return upkeep_each(o, remove_one);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdlib.h>
#include <string.h>

#include "base/debug-domain.h"

bool log_debug_enabled(const char *domain) {
        const char *e = getenv("FTRACED_DEBUG");
        size_t n = strlen(domain);

        if (!e)
                return false;
        for (; *e; e += strcspn(e, ",") + (e[strcspn(e, ",")] == ',')) {
                size_t k = strcspn(e, ",");

                if ((k == 3 && strncmp(e, "all", 3) == 0) || (k == n && strncmp(e, domain, n) == 0))
                        return true;
        }
        return false;
}

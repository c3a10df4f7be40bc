/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Distributions write what they like behind the second number. */

#include <stdio.h>

#include "base/release.h"

Release release_compare(const char *release, unsigned major, unsigned minor) {
        unsigned a, b;

        if (!release || sscanf(release, "%u.%u", &a, &b) != 2)
                return RELEASE_UNKNOWN;
        return a < major || (a == major && b < minor) ? RELEASE_BEFORE : RELEASE_SINCE;
}

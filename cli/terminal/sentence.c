/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One line of memory handling that every list of findings would otherwise repeat. */

#include "base/unit.h"
#include "cli/terminal/sentence.h"

int sentence_add_count(Strv *list, const char *where, uint64_t n, const char *one, const char *many,
                       const char *what) {
        char number[UNIT_TEXT_MAX];

        if (n == 0)
                return 0;
        return strv_addf(list, "%s%s %s %s", where, format_count(number, n), n == 1 ? one : many,
                         what);
}

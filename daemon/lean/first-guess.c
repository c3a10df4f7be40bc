/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Below "ROOT:" what it calls, up to the next such line. */

#include <string.h>

#include "daemon/lean/first-guess.h"

static const char *const lines[] = {
#include "daemon/lean/first-guess-names.h"
};

static bool is_head(const char *line) {
        return line[strlen(line) - 1] == ':';
}

/* The first line below its own; ELEMENTSOF(lines): there is none. */
static size_t find_root(const char *root) {
        size_t n = strlen(root);

        for (size_t i = 0; i < ELEMENTSOF(lines); i++)
                if (is_head(lines[i]) && strlen(lines[i]) == n + 1 &&
                    strncmp(lines[i], root, n) == 0)
                        return i + 1;
        return ELEMENTSOF(lines);
}

int first_guess_find(const Functions *f, const Strv *roots, const Strv *left_out, Strv *ret) {
        _cleanup_strv_ Strv found = {};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < roots->n; i++) {
                size_t at = find_root(roots->items[i]);

                if (at == ELEMENTSOF(lines))
                        return 0;
                r = strv_add(&found, roots->items[i]);
                for (; r >= 0 && at < ELEMENTSOF(lines) && !is_head(lines[at]); at++)
                        if (functions_contain(f, lines[at]) && !strv_finds(left_out, lines[at]))
                                r = strv_add(&found, lines[at]);
        }
        if (r < 0)
                return r;
        strv_sort_unique(&found);
        SWAP(*ret, found);
        return 0;
}

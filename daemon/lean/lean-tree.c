/* SPDX-License-Identifier: GPL-2.0-or-later */

/* An array that is sorted when it is complete.  What is shipped is one text, in which a root is looked for. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/lean/lean-tree.h"

static const char shipped[] =
#include "daemon/lean/trees-text.h"
        ;

int lean_tree_add(LeanTree *t, const char *name, bool leaf, uint64_t share_ppm,
                  uint64_t rate_milli) {
        LeanFunction f = { .leaf = leaf,
                           .share_ppm = (uint32_t) MIN(share_ppm, UINT64_C(1000000)),
                           .rate_milli = (uint32_t) MIN(rate_milli, (uint64_t) INT32_MAX) };

        if (!ARRAY_GROW(t->functions, t->n))
                return -ENOMEM;
        f.name = strdup(name);
        if (!f.name)
                return -ENOMEM;
        t->functions[t->n++] = f;
        return 0;
}

static int add_caller(LeanFunction *f, const char *name) {
        if (f->callers.n >= LEAN_MAX_CALLERS || strv_contains(&f->callers, name))
                return 0;
        return strv_add(&f->callers, name);
}

int lean_tree_add_caller(LeanTree *t, const char *name) {
        return add_caller(&t->functions[t->n - 1], name);
}

int lean_tree_join(LeanTree *t, const LeanTree *other) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < other->n; i++) {
                const LeanFunction *f = &other->functions[i];

                r = lean_tree_add(t, f->name, f->leaf, f->share_ppm, f->rate_milli);
                for (size_t k = 0; r >= 0 && k < f->callers.n; k++)
                        r = lean_tree_add_caller(t, f->callers.items[k]);
        }
        return r;
}

void lean_function_done(LeanFunction *f) {
        free(f->name);
        strv_done(&f->callers);
}

static int compare_functions(const void *a, const void *b) {
        return strcmp(((const LeanFunction *) a)->name, ((const LeanFunction *) b)->name);
}

void lean_tree_sort(LeanTree *t) {
        size_t kept = 0;

        if (t->n == 0)
                return;
        qsort(t->functions, t->n, sizeof(*t->functions), compare_functions);
        for (size_t i = 0; i < t->n; i++) {
                LeanFunction *f = &t->functions[i], *last = kept > 0 ? f - (i - kept) - 1 : NULL;

                if (!last || !streq(last->name, f->name)) {
                        t->functions[kept++] = *f;
                        continue;
                }
                last->leaf &= f->leaf;
                last->share_ppm = MAX(last->share_ppm, f->share_ppm);
                last->rate_milli = MAX(last->rate_milli, f->rate_milli);
                /* One that memory is short of is no harm. */
                for (size_t k = 0; k < f->callers.n; k++)
                        (void) add_caller(last, f->callers.items[k]);
                lean_function_done(f);
        }
        /* Room is a power of two, and adding grows it by that alone. */
        for (size_t i = kept; i < t->n; i++)
                t->functions[i] = (LeanFunction){};
        t->n = kept;
}

LeanFunction *lean_tree_find(const LeanTree *t, const char *name) {
        LeanFunction key = { .name = (char *) name };

        return t->n > 0 ? bsearch(&key, t->functions, t->n, sizeof(key), compare_functions) : NULL;
}

void lean_tree_done(LeanTree *t) {
        for (size_t i = 0; i < t->n; i++)
                lean_function_done(&t->functions[i]);
        free(t->functions);
        *t = (LeanTree){};
}

/* --- text ------------------------------------------------------------------------------------- */

static int parse_function(LeanTree *t, const char *line) {
        _cleanup_strv_ Strv words = {};
        uint64_t numbers[3];
        int r = strv_split(&words, line, " ");

        if (r < 0)
                return r;
        if (words.n != 1 + ELEMENTSOF(numbers) || !function_name_is_valid(words.items[0]) ||
            t->n >= LEAN_MAX_FUNCTIONS)
                return LEAN_TREE_E_INVALID;
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
                if (parse_u64(words.items[1 + i], INT32_MAX, &numbers[i]) < 0)
                        return LEAN_TREE_E_INVALID;
        if (numbers[0] > 1)
                return LEAN_TREE_E_INVALID;
        return lean_tree_add(t, words.items[0], numbers[0] == 1, numbers[1], numbers[2]);
}

int lean_tree_parse(LeanTree *t, const char *line) {
        if (startswith(line, "root "))
                return 0;
        if (*line != ' ')
                return parse_function(t, line);
        return t->n > 0 && function_name_is_valid(line + 1) ? lean_tree_add_caller(t, line + 1)
                                                            : LEAN_TREE_E_INVALID;
}

int lean_tree_ship(LeanTree *t, const char *root) {
        char first[FUNCTION_NAME_MAX + 16], line[FUNCTION_NAME_MAX + 64];
        const char *s = shipped;
        int r = 0;

        (void) snprintf(first, sizeof(first), "\nroot %s\n", root);
        if (strncmp(s, first + 1, strlen(first + 1)) != 0)
                s = strstr(s, first);
        if (!s)
                return 0;
        s += s == shipped ? strlen(first + 1) : strlen(first);
        for (size_t n; r >= 0 && *s && !startswith(s, "root "); s += n + (s[n] == '\n')) {
                n = strcspn(s, "\n");
                (void) snprintf(line, sizeof(line), "%.*s", (int) n, s);
                r = lean_tree_parse(t, line);
        }
        return r < 0 ? r : 1;
}

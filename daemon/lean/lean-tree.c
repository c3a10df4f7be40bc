/* SPDX-License-Identifier: GPL-2.0-or-later */

/* An array that is sorted when it is complete.  What is shipped is one text, in which a root is looked for. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/lean/lean-tree.h"

static const char shipped[] =
#include "daemon/lean/trees-text.h"
        ;

int lean_tree_add(LeanTree *t, const char *name, bool leaf, uint64_t share_ppm) {
        LeanFunction f = { .leaf = leaf,
                           .share_ppm = (uint32_t) MIN(share_ppm, UINT64_C(1000000)) };

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

                r = lean_tree_add(t, f->name, f->leaf, f->share_ppm);
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
        uint64_t numbers[2];
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
        return lean_tree_add(t, words.items[0], numbers[0] == 1, numbers[1]);
}

int lean_tree_parse(LeanTree *t, const char *line) {
        if (startswith(line, "root "))
                return 0;
        if (*line != ' ')
                return parse_function(t, line);
        return t->n > 0 && function_name_is_valid(line + 1) ? lean_tree_add_caller(t, line + 1)
                                                            : LEAN_TREE_E_INVALID;
}

/* --- what is shipped --------------------------------------------------------------------------- */

typedef struct Shipped {
        const char **lines; /* of functions, by number */
        size_t n;
        bool *is_in; /* the tree that is looked for */
} Shipped;

static void shipped_done(Shipped *s) {
        free(s->lines);
        free(s->is_in);
}

/* @name: with room for FUNCTION_NAME_MAX bytes and a NUL; returns what follows it. */
static const char *read_name(const char *line, char *name) {
        size_t n = MIN(strcspn(line, " \n"), (size_t) FUNCTION_NAME_MAX);

        memcpy(name, line, n);
        name[n] = 0;
        return line + n;
}

static int find_functions(Shipped *s) {
        size_t n = 0;

        for (const char *line = shipped; !startswith(line, "root ");
             line += strcspn(line, "\n") + 1)
                n++;
        s->lines = calloc(n, sizeof(*s->lines));
        s->is_in = calloc(n, sizeof(*s->is_in));
        if (!s->lines || !s->is_in)
                return -ENOMEM;
        for (const char *line = shipped; s->n < n; line += strcspn(line, "\n") + 1)
                s->lines[s->n++] = line;
        return 0;
}

/* A tree names its callers alone. */
static int add_shipped(LeanTree *t, const Shipped *s, size_t number, char mark) {
        char name[FUNCTION_NAME_MAX + 1];
        const char *line = read_name(s->lines[number], name);
        int r = lean_tree_add(t, name, mark == '+' || mark == '-', mark == '+' ? LEAN_PART_PPM : 0);

        while (r >= 0 && *line == ' ') {
                size_t caller = strtoul(line, (char **) &line, 10);

                if (caller < s->n && s->is_in[caller]) {
                        (void) read_name(s->lines[caller], name);
                        r = lean_tree_add_caller(t, name);
                }
        }
        return r;
}

/* The numbers of a tree, of which every line begins with a space: notes them, or adds their functions. */
static int walk_tree(const char *text, Shipped *s, LeanTree *t) {
        int r = 0;

        for (; r >= 0 && *text == ' '; text += strspn(text, "+-\n")) {
                size_t number = strtoul(text, (char **) &text, 10);

                if (number >= s->n)
                        return -EINVAL;
                s->is_in[number] = true;
                if (t)
                        r = add_shipped(t, s, number, *text);
        }
        return r;
}

int lean_tree_ship(LeanTree *t, const char *root) {
        _cleanup_(shipped_done) Shipped s = {};
        char first[FUNCTION_NAME_MAX + 16], name[FUNCTION_NAME_MAX + 1];
        const char *numbers;
        int r;

        (void) snprintf(first, sizeof(first), "\nroot %s\n", root);
        numbers = strstr(shipped, first);
        if (!numbers)
                return 0;
        numbers += strlen(first);
        r = find_functions(&s);
        for (size_t i = 0; r >= 0 && i < s.n; i++) {
                (void) read_name(s.lines[i], name);
                s.is_in[i] = streq(name, root);
        }
        if (r >= 0)
                r = walk_tree(numbers, &s, NULL);
        if (r >= 0)
                r = walk_tree(numbers, &s, t);
        return r < 0 ? r : 1;
}

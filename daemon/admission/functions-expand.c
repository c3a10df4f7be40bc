/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A byte for each function, so that a list of globs that match the same ones costs no more memory than one
 * that does not.  A glob is compared with the names that begin as it does.  Whoever asks decides what is compared,
 * so that the work is counted, and there is an end to it.
 */

#include "base/name.h"
#include "daemon/admission/admission.h"

#define STEPS_MAX (UINT64_C(64) << 20) /* characters compared: a quarter of a second at most */
#define GLOBS_KEPT_MAX 16
#define KEPT_STEPS_MAX (UINT64_C(2) << 20) /* likewise, for globs that may be kept */
#define SHORTER_BY 4                       /* words less are worth it */

/* --- one glob --------------------------------------------------------------------------------- */

/* True if @c is in the class that begins after '['; *@end is set behind its ']', or to NULL if it
 * has none.  The first character may be ']' itself. */
static bool class_matches(const char *class, char c, const char **end) {
        const char *s = class + (*class == '!');
        bool found = false;

        do {
                unsigned char low = (unsigned char) *s++, high = low;

                if (low == 0) {
                        *end = NULL;
                        return false;
                }
                if (s[0] == '-' && s[1] != ']' && s[1] != 0) {
                        high = (unsigned char) s[1];
                        s += 2;
                }
                found = found || (low <= (unsigned char) c && (unsigned char) c <= high);
        } while (*s != ']');
        *end = s + 1;
        return found != (*class == '!');
}

bool function_glob_matches(const char *pattern, const char *name, uint64_t *n_steps) {
        const char *star = NULL, *from = NULL; /* the last '*', and where it was tried last */

        while (*name) {
                const char *next = pattern + 1;
                bool matches;

                ++*n_steps;
                if (*pattern == '*') {
                        star = ++pattern;
                        from = name;
                        continue;
                }
                if (*pattern == '?')
                        matches = true;
                else if (*pattern == '[') {
                        const char *end;

                        matches = class_matches(pattern + 1, *name, &end);
                        *n_steps += end ? (uint64_t) (end - pattern) : strlen(pattern);
                        if (end)
                                next = end;
                        else
                                matches = *name == '[';
                } else
                        matches = *pattern == *name;
                if (matches) {
                        pattern = next;
                        name++;
                } else if (star) {
                        pattern = star;
                        name = ++from;
                } else
                        return false;
        }
        return pattern[strspn(pattern, "*")] == 0;
}

/* --- many ------------------------------------------------------------------------------------- */

typedef struct Expansion {
        const Functions *f;
        bool *chosen; /* for each function */
        size_t n;     /* chosen */
        uint64_t n_steps;
} Expansion;

static int expansion_init(Expansion *x, const Functions *f) {
        *x = (Expansion){ .f = f, .chosen = calloc(f->n + 1, sizeof(*x->chosen)) };
        return x->chosen ? 0 : -ENOMEM;
}

static void expansion_done(Expansion *x) {
        free(x->chosen);
}

static void choose(Expansion *x, size_t i) {
        x->n += !x->chosen[i];
        x->chosen[i] = true;
}

/* Where names that are not less than the first @n characters of @text begin, or with @after those that
 * are greater. */
static size_t find_bound(const Functions *f, const char *text, size_t n, bool after) {
        return BISECT(0, f->n, i, strncmp(f->names[i], text, n) < (after ? 1 : 0));
}

/* True if it stands for any. */
static bool expand_glob(Expansion *x, const char *glob) {
        size_t n_plain = strcspn(glob, "*?["), to = find_bound(x->f, glob, n_plain, true);
        bool matches = false;

        for (size_t i = find_bound(x->f, glob, n_plain, false); i < to && x->n_steps <= STEPS_MAX;
             i++) {
                if ((x->chosen[i] && matches) ||
                    !function_glob_matches(glob, x->f->names[i], &x->n_steps))
                        continue;
                matches = true;
                choose(x, i);
        }
        return matches;
}

static bool expand_name(Expansion *x, const char *name) {
        size_t i = find_bound(x->f, name, strlen(name) + 1, false);

        if (i == x->f->n || !streq(x->f->names[i], name))
                return false;
        choose(x, i);
        return true;
}

int functions_expand(const Functions *f, const Strv *patterns, size_t max, Strv *ret,
                     size_t *ret_n) {
        _cleanup_(expansion_done) Expansion x;
        int r = expansion_init(&x, f);

        if (r < 0)
                return r;
        for (size_t i = 0; i < patterns->n; i++) {
                const char *pattern = patterns->items[i];
                bool matches = function_pattern_is_glob(pattern) ? expand_glob(&x, pattern)
                                                                 : expand_name(&x, pattern);

                if (matches && x.n_steps <= STEPS_MAX)
                        continue;
                *ret_n = i;
                return x.n_steps > STEPS_MAX ? FUNCTIONS_E_COSTLY : FUNCTIONS_E_NOTHING;
        }
        *ret_n = x.n;
        for (size_t i = 0; r >= 0 && x.n <= max && i < f->n; i++)
                if (x.chosen[i])
                        r = strv_add(ret, f->names[i]);
        return r;
}

/* --- fewer words ------------------------------------------------------------------------------ */

/* True if @glob stands for some of what is chosen, and nothing else; then they are not @left. */
static bool take_glob(Expansion *x, const char *glob, bool *left) {
        size_t n_plain = strcspn(glob, "*?["), from = find_bound(x->f, glob, n_plain, false),
               to = find_bound(x->f, glob, n_plain, true), n = 0;

        if (strchr(glob, '[') || from == to)
                return false;
        for (size_t i = from; i < to && x->n_steps <= KEPT_STEPS_MAX; i++)
                if (function_glob_matches(glob, x->f->names[i], &x->n_steps)) {
                        if (!x->chosen[i])
                                return false;
                        n += left[i];
                }
        if (n < 2 || x->n_steps > KEPT_STEPS_MAX)
                return false;
        for (size_t i = from; i < to; i++)
                left[i] = left[i] && !function_glob_matches(glob, x->f->names[i], &x->n_steps);
        return true;
}

/* The shortest beginning of the @i-th name that only those have that are chosen; 0: it stands alone. */
static size_t find_beginning(const Expansion *x, size_t i, size_t *ret_from, size_t *ret_to) {
        const char *name = x->f->names[i];

        for (size_t n = 1; name[n]; n++) {
                *ret_from = find_bound(x->f, name, n, false);
                *ret_to = find_bound(x->f, name, n, true);
                if (*ret_to - *ret_from == 1)
                        break;
                if (!memchr(x->chosen + *ret_from, false, *ret_to - *ret_from))
                        return n;
        }
        return 0;
}

static int add_words(const Expansion *x, bool *left, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < x->f->n; i++) {
                size_t n, from, to;

                if (!left[i])
                        continue;
                n = find_beginning(x, i, &from, &to);
                r = n > 0 ? strv_addf(ret, "%.*s*", (int) n, x->f->names[i])
                          : strv_add(ret, x->f->names[i]);
                memset(left + (n > 0 ? from : i), false, n > 0 ? to - from : 1);
        }
        return r;
}

static int shorten(Expansion *x, const Strv *names, const Strv *globs, Strv *ret) {
        _cleanup_free_ bool *left = calloc(x->f->n + 1, sizeof(*left));
        int r = left ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < names->n; i++)
                if (!expand_name(x, names->items[i]))
                        r = strv_add(ret, names->items[i]);
        if (r >= 0)
                memcpy(left, x->chosen, x->f->n * sizeof(*left));
        for (size_t i = 0; globs && r >= 0 && i < MIN(globs->n, (size_t) GLOBS_KEPT_MAX); i++)
                if (function_pattern_is_glob(globs->items[i]) &&
                    take_glob(x, globs->items[i], left))
                        r = strv_add(ret, globs->items[i]);
        return r ?: add_words(x, left, ret);
}

int functions_shorten(const Functions *f, const Strv *names, const Strv *globs, Strv *ret) {
        _cleanup_(expansion_done) Expansion x;
        _cleanup_strv_ Strv words = {};
        int r = expansion_init(&x, f) ?: shorten(&x, names, globs, &words);

        if (r < 0)
                return r;
        if (words.n + SHORTER_BY > names->n)
                return strv_copy(ret, names);
        *ret = TAKE(words, (Strv){});
        return 0;
}

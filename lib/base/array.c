/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>
#include <sys/mman.h>

#include "base/array.h"

void *array_resize(void *items, size_t n_room, size_t n_max, size_t item_bytes) {
        return n_room <= n_max ? reallocarray(items, n_room, item_bytes) : NULL;
}

void *malloc_huge(size_t n) {
        static const size_t huge = (size_t) 2 << 20;
        size_t n_room = (n + huge - 1) & ~(huge - 1);
        void *p = n < huge / 2 || n_room < n ? malloc(n) : aligned_alloc(huge, n_room);

        if (p && n >= huge / 2)
                (void) madvise(p, n_room, MADV_HUGEPAGE);
        return p;
}

int strv_take(Strv *v, char *s) {
        if (!s)
                return -ENOMEM;
        if (!ARRAY_ROOM(v->items, v->n_room, v->n + 2)) {
                free(s);
                return -ENOMEM;
        }
        v->items[v->n++] = s;
        v->items[v->n] = NULL;
        return 0;
}

char *strv_take_first(Strv *v) {
        char *first = v->items[0];

        memmove(v->items, v->items + 1, v->n * sizeof(*v->items)); /* with the NULL */
        v->n--;
        return first;
}

int strv_addn(Strv *v, const char *s, size_t n) {
        return strv_take(v, strndup(s, n));
}

int strv_add(Strv *v, const char *s) {
        return strv_take(v, strdup(s));
}

int strv_addf(Strv *v, const char *format, ...) {
        char *text;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        return n < 0 ? -ENOMEM : strv_take(v, text);
}

int strv_add_new(Strv *v, const char *s) {
        return strv_contains(v, s) ? 0 : strv_add(v, s);
}

int strv_extend(Strv *v, const Strv *words) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < words->n; i++)
                r = strv_add(v, words->items[i]);
        return r;
}

int strv_pick(Strv *v, const Strv *words, const Strv *sorted, bool in_both) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < words->n; i++)
                if (strv_finds(sorted, words->items[i]) == in_both)
                        r = strv_add(v, words->items[i]);
        return r;
}

int strv_replace(Strv *v, size_t i, const char *s) {
        char *copy = strdup(s);

        if (!copy)
                return -ENOMEM;
        free(v->items[i]);
        v->items[i] = copy;
        return 0;
}

int strv_copy(Strv *ret, const Strv *v) {
        _cleanup_strv_ Strv copy = {};
        int r = strv_extend(&copy, v);

        if (r < 0)
                return r;
        *ret = TAKE(copy, (Strv){});
        return 0;
}

int strv_split(Strv *v, const char *s, const char *separators) {
        for (s += strspn(s, separators); *s; s += strspn(s, separators)) {
                size_t n = strcspn(s, separators);
                int r = strv_addn(v, s, n);

                if (r < 0)
                        return r;
                s += n;
        }
        return 0;
}

int strv_split_outside(Strv *v, const char *s, const char *separators) {
        for (s += strspn(s, separators); *s; s += strspn(s, separators)) {
                size_t n = 0, depth = 0;
                int r;

                for (; s[n] && (depth > 0 || !strchr(separators, s[n])); n++)
                        depth = s[n] == '(' ? depth + 1 : depth - (s[n] == ')' && depth > 0);
                r = strv_addn(v, s, n);
                if (r < 0)
                        return r;
                s += n;
        }
        return 0;
}

bool strv_contains(const Strv *v, const char *s) {
        for (size_t i = 0; i < v->n; i++)
                if (streq(v->items[i], s))
                        return true;
        return false;
}

bool strv_equal(const Strv *a, const Strv *b) {
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (!streq(a->items[i], b->items[i]))
                        return false;
        return true;
}

static int compare(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

bool strv_finds(const Strv *sorted, const char *s) {
        return sorted->n > 0 &&
               bsearch(&s, sorted->items, sorted->n, sizeof(*sorted->items), compare);
}

void strv_sort_unique(Strv *v) {
        size_t kept = 0, n = v->n;

        if (n == 0)
                return;
        qsort(v->items, n, sizeof(*v->items), compare);
        for (size_t i = 0; i < n; i++) {
                if (kept > 0 && streq(v->items[kept - 1], v->items[i]))
                        free(v->items[i]);
                else
                        v->items[kept++] = v->items[i];
        }
        v->n = kept;
        v->items[kept] = NULL;
}

int strv_copy_sorted(Strv *ret, const Strv *v) {
        int r = strv_copy(ret, v);

        strv_sort_unique(ret);
        return r;
}

char *strv_join(const Strv *v, const char *separator) {
        size_t n = 1, n_sep = strlen(separator);
        char *s, *p;

        for (size_t i = 0; i < v->n; i++)
                n += strlen(v->items[i]) + n_sep;
        s = p = malloc(n);
        if (!s)
                return NULL;
        *p = 0;
        for (size_t i = 0; i < v->n; i++) {
                if (i > 0)
                        p = stpcpy(p, separator);
                p = stpcpy(p, v->items[i]);
        }
        return s;
}

void strv_done(Strv *v) {
        for (size_t i = 0; i < v->n; i++)
                free(v->items[i]);
        free(v->items);
        *v = (Strv){};
}

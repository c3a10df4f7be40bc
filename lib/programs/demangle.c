/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * GNU's libiberty knows both languages.  A short name can stand for a text without end, so what is written is cut, by
 * leaving the library, which has allocated nothing then.
 */

#include <setjmp.h>

#include "programs/programs-private.h"
#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>

typedef struct Demangled {
        jmp_buf full;
        char text[PROGRAM_NAME_MAX + 1];
        size_t n;
} Demangled;

static void take(const char *s, size_t n, void *userdata) {
        Demangled *d = userdata;
        size_t n_taken = MIN(n, PROGRAM_NAME_MAX - d->n);

        memcpy(d->text + d->n, s, n_taken);
        d->n += n_taken;
        if (n_taken < n)
                longjmp(d->full, 1);
}

char *demangle(const char *name) {
        Demangled *d;
        char *ret = NULL;

        if (!startswith(name, "_Z") && !startswith(name, "_R"))
                return NULL;
        d = malloc(sizeof(*d));
        if (!d)
                return NULL;
        d->n = 0;
        if (setjmp(d->full) != 0 || rust_demangle_callback(name, 0, take, d) ||
            (d->n = 0, cplus_demangle_v3_callback(name, DMGL_ANSI, take, d)))
                ret = strndup(d->text, d->n);
        free(d);
        return ret;
}
#else
char *demangle(const char *name) {
        return NULL;
}
#endif

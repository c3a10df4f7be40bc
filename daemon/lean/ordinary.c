/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/now.h"
#include "daemon/lean/lean-cache.h"
#include "daemon/lean/ordinary.h"

/* Kinds of work that people trace, of what nothing else calls. */
enum { TCP = 1 << 0, UDP = 1 << 1, ALL_KINDS = TCP | UDP };

static const struct Ordinary {
        const char *name;
        unsigned kinds; /* 0: any work calls it */
} ordinary[] = {
#include "daemon/lean/ordinary-names.h"
};

static int compare(const void *name, const void *item) {
        return strcmp(name, ((const struct Ordinary *) item)->name);
}

/* What these roots are part of: of one that nobody knows, all of them. */
static unsigned kinds_of(const Strv *roots) {
        unsigned kinds = 0;

        for (size_t i = 0; i < roots->n; i++) {
                const struct Ordinary *o = bsearch(roots->items[i], ordinary, ELEMENTSOF(ordinary),
                                                   sizeof(ordinary[0]), compare);

                kinds |= o ? o->kinds : ALL_KINDS;
        }
        return kinds;
}

int ordinary_find(const Functions *f, const Strv *roots, Strv *ret) {
        unsigned kept = kinds_of(roots);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(ordinary); i++)
                if (!(ordinary[i].kinds & kept) && functions_contain(f, ordinary[i].name))
                        r = strv_add(ret, ordinary[i].name);
        return r;
}

/* Empty if there is none, or it is of long ago. */
static int read_host(LeanCache *ret, const Functions *f, int store_fd, int root_fd,
                     char key[static LEAN_KEY_CHARS + 1]) {
        int r = lean_cache_make_key(root_fd, f, &(Strv){}, key);

        if (r >= 0)
                r = lean_cache_read(ret, store_fd, key);
        if (r == -ENOENT || r == LEAN_CACHE_E_INVALID)
                return 0;
        if (r >= 0 && lean_cache_is_old(ret)) {
                lean_cache_done(ret);
                return 0;
        }
        return r;
}

int ordinary_find_host(const Functions *f, int store_fd, int root_fd, Strv *ret,
                       uint64_t *ret_since_ns) {
        _cleanup_lean_cache_ LeanCache c = {};
        char key[LEAN_KEY_CHARS + 1];
        int r = read_host(&c, f, store_fd, root_fd, key);

        for (size_t i = 0; r >= 0 && i < c.n; i++)
                if (functions_contain(f, c.functions[i].name))
                        r = strv_add(ret, c.functions[i].name);
        if (r >= 0 && ret_since_ns)
                *ret_since_ns = c.learned_ns;
        return r;
}

int ordinary_learn_host(const Functions *f, int store_fd, int root_fd, const char *kernel,
                        const Strv *new, bool anew) {
        _cleanup_lean_cache_ LeanCache c = {};
        char key[LEAN_KEY_CHARS + 1];
        int r = read_host(&c, f, store_fd, root_fd, key);

        if (r >= 0 && anew)
                lean_cache_done(&c);
        if (r >= 0 && c.n == 0) {
                c.learned_ns = now_ns(CLOCK_REALTIME);
                /* That nothing else is called often is known, too, and a file without a name is no file. */
                r = lean_cache_add(&c, ordinary[0].name, NULL, 0);
        }
        for (size_t i = 0; r >= 0 && i < new->n; i++)
                r = lean_cache_add(&c, new->items[i], NULL, 0);
        if (r < 0)
                return r;
        lean_cache_sort(&c);
        if (c.n > ORDINARY_HOST_MAX)
                return ORIGIN(-E2BIG);
        return lean_cache_write(&c, store_fd, key, kernel, &(Strv){});
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/now.h"
#include "daemon/lean/lean-cache.h"
#include "daemon/lean/ordinary.h"

/* Kinds of work that people trace, by the names that they have in the list. */
enum { KIND_tcp = 1 << 0, KIND_connect = 1 << 1, KIND_udp = 1 << 2, ALL_KINDS = (1 << 3) - 1 };

static const struct Ordinary {
        const char *name;
        unsigned kinds; /* all that call it; 0: any work does */
} ordinary[] = {
#include "daemon/lean/ordinary-names.h"
};

static int compare(const void *name, const void *item) {
        return strcmp(name, ((const struct Ordinary *) item)->name);
}

static const struct Ordinary *find(const char *name) {
        return bsearch(name, ordinary, ELEMENTSOF(ordinary), sizeof(ordinary[0]), compare);
}

/* Which sets of kinds call some root. */
typedef struct Traced {
        bool has[ALL_KINDS + 1];
} Traced;

static Traced find_traced(const Strv *roots) {
        Traced t = {};

        for (size_t i = 0; i < roots->n; i++) {
                const struct Ordinary *o = find(roots->items[i]);

                t.has[o ? o->kinds : 0] = true;
        }
        return t;
}

/* Nothing calls it but what calls the roots, and all that calls one of these calls it, too. */
static bool is_traced(const struct Ordinary *o, const Traced *t) {
        unsigned others = o->kinds;
        bool is_below = false;

        for (unsigned kinds = 1; kinds <= ALL_KINDS; kinds++)
                if (t->has[kinds]) {
                        others &= ~kinds;
                        is_below = is_below || (kinds & ~o->kinds) == 0;
                }
        return is_below && others == 0;
}

bool ordinary_has_kind(const char *name) {
        const struct Ordinary *o = find(name);

        return o && o->kinds != 0;
}

/* A root that is called often itself has callees that are, too. */
static bool is_any_hot(const Strv *roots, const Strv *host) {
        for (size_t i = 0; i < roots->n; i++)
                if (strv_finds(host, roots->items[i]))
                        return true;
        return false;
}

int ordinary_find(const Functions *f, const Strv *roots, const Strv *host, Strv *ret,
                  Strv *ret_here) {
        Traced traced = find_traced(roots);
        bool is_hot = is_any_hot(roots, host);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(ordinary); i++) {
                const struct Ordinary *o = &ordinary[i];

                if (!is_traced(o, &traced) && functions_contain(f, o->name))
                        r = strv_add(ret, o->name);
        }
        for (size_t i = 0; r >= 0 && i < host->n && !is_hot; i++)
                if (!strv_finds(ret, host->items[i]))
                        r = strv_add(ret_here, host->items[i]);
        strv_sort_unique(ret_here);
        return r;
}

/* Empty if there is none, or it is of long ago. */
static int read_host(LeanCache *ret, const Functions *f, int store_fd, int root_fd,
                     char key[static LEAN_KEY_CHARS + 1]) {
        int r = lean_cache_load(ret, store_fd, root_fd, f, &(Strv){}, key);

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

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/now.h"
#include "daemon/lean/lean-cache.h"
#include "daemon/lean/ordinary.h"

#define KIND(i) (UINT64_C(1) << (i))

/* @kinds: of work that people trace, by their place in kinds[], all that call it; 0: any work does. */
struct Ordinary {
        const char *name;
        uint64_t kinds;
};

#include "daemon/lean/ordinary-names.h" /* kinds[], and ordinary[], sorted by name */

_Static_assert(ELEMENTSOF(kinds) <= 64, "a bit for each kind");

static int compare(const void *name, const void *item) {
        return strcmp(name, ((const struct Ordinary *) item)->name);
}

static const struct Ordinary *find(const char *name) {
        return bsearch(name, ordinary, ELEMENTSOF(ordinary), sizeof(ordinary[0]), compare);
}

/* "__udp4_lib_err" is of "udp". */
static bool is_named_after(const char *name, const char *kind) {
        for (const char *p = name; (p = strstr(p, kind)); p++)
                if (p == name || p[-1] == '_')
                        return true;
        return false;
}

/* What is called too seldom to be in the list says by its name what it is part of, if at all. */
static uint64_t kinds_by_name(const char *name) {
        uint64_t found = 0;

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (is_named_after(name, kinds[i]))
                        found |= KIND(i);
        return found;
}

/* What these roots are part of. */
static uint64_t kinds_of(const Strv *roots) {
        uint64_t sum = 0;

        for (size_t i = 0; i < roots->n; i++) {
                const struct Ordinary *o = find(roots->items[i]);

                sum |= o ? o->kinds : kinds_by_name(roots->items[i]);
        }
        return sum;
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
        uint64_t traced = kinds_of(roots);
        bool is_hot = is_any_hot(roots, host);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(ordinary); i++) {
                const struct Ordinary *o = &ordinary[i];

                if ((o->kinds == 0 || (o->kinds & ~traced)) && functions_contain(f, o->name))
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

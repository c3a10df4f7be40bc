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

static const struct Ordinary *find(const char *name) {
        return bsearch(name, ordinary, ELEMENTSOF(ordinary), sizeof(ordinary[0]), compare);
}

/* In the host's list: it does much of that.  No function has such a name. */
static const struct {
        const char *name;
        unsigned kind;
} kinds[] = { { "tcp", TCP }, { "udp", UDP } };

static const char *kind_name(unsigned kind) {
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (kinds[i].kind == kind)
                        return kinds[i].name;
        return NULL;
}

static unsigned kind_of(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (streq(kinds[i].name, name))
                        return kinds[i].kind;
        return 0;
}

static unsigned busy_kinds(const Strv *host) {
        unsigned busy = 0;

        for (size_t i = 0; i < host->n; i++)
                busy |= kind_of(host->items[i]);
        return busy;
}

/* What these roots are part of; @unknown: a root that is in no list. */
static unsigned kinds_of(const Strv *roots, unsigned unknown) {
        unsigned sum = 0;

        for (size_t i = 0; i < roots->n; i++) {
                const struct Ordinary *o = find(roots->items[i]);

                sum |= o ? o->kinds : unknown;
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
        unsigned kept = kinds_of(roots, ALL_KINDS), others = busy_kinds(host) & ~kinds_of(roots, 0);
        bool is_hot = is_any_hot(roots, host);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(ordinary); i++) {
                const struct Ordinary *o = &ordinary[i];
                bool is_anywhere = !(o->kinds & kept);

                if ((is_anywhere || (o->kinds & others)) && functions_contain(f, o->name))
                        r = strv_add(is_anywhere ? ret : ret_here, o->name);
        }
        for (size_t i = 0; r >= 0 && i < host->n && !is_hot; i++)
                if (!kind_of(host->items[i]) && !strv_finds(ret, host->items[i]))
                        r = strv_add(ret_here, host->items[i]);
        strv_sort_unique(ret_here);
        return r;
}

int ordinary_find_common(const Functions *f, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(ordinary); i++)
                if (ordinary[i].kinds == 0 && functions_contain(f, ordinary[i].name))
                        r = strv_add(ret, ordinary[i].name);
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
                if (functions_contain(f, c.functions[i].name) || kind_of(c.functions[i].name))
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
        for (size_t i = 0; r >= 0 && i < new->n; i++) {
                const struct Ordinary *o = anew ? find(new->items[i]) : NULL;
                /* What several kinds call tells none of them. */
                const char *name = o ? kind_name(o->kinds) : new->items[i];

                if (name)
                        r = lean_cache_add(&c, name, NULL, 0);
        }
        if (r < 0)
                return r;
        lean_cache_sort(&c);
        if (c.n > ORDINARY_HOST_MAX)
                return ORIGIN(-E2BIG);
        return lean_cache_write(&c, store_fd, key, kernel, &(Strv){});
}

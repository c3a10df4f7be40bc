/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>

#include "base/cleanup.h"
#include "base/now.h"
#include "daemon/lean/lean-cache.h"
#include "daemon/lean/ordinary.h"

static const char *const names[] = {
#include "daemon/lean/ordinary-names.h"
};

int ordinary_find(const Functions *f, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(names); i++)
                if (functions_contain(f, names[i]))
                        r = strv_add(ret, names[i]);
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
                r = lean_cache_add(&c, names[0], NULL, 0);
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

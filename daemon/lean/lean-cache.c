/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A line is a keyword or a function.  The store is the daemon's own, and the file is read as if it
 * were not: every number and every name has a bound, and what does not fit makes the file invalid,
 * which costs no more than learning again.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/lean/lean-cache.h"
#include "store/entry.h"
#include "store/format.h"

#define MAGIC "ftraced lean 3\n"
#define MAX_FILE_BYTES ((size_t) 16 << 20)
#define MAX_NOTES_BYTES 65536
#define PATH_BYTES (sizeof(LEAN_DIR "/") + LEAN_KEY_CHARS)

/* The names alone: a module's size and order of loading do not matter. */
static int add_modules(Buf *b, const Functions *f) {
        _cleanup_strv_ Strv names = {};

        for (const char *s = f->modules ?: ""; *s; s += strcspn(s, "\n"), s += *s == '\n') {
                int r = strv_addn(&names, s, strcspn(s, " \n"));

                if (r < 0)
                        return r;
        }
        strv_sort_unique(&names);
        for (size_t i = 0; i < names.n; i++)
                buf_add(b, names.items[i], strlen(names.items[i]) + 1);
        return 0;
}

int lean_cache_make_key(int root_fd, const Functions *f, const Strv *roots,
                        char ret[static LEAN_KEY_CHARS + 1]) {
        static const char *const files[] = { "proc/sys/kernel/osrelease", "sys/kernel/notes" };
        _cleanup_buf_ Buf b = BUF_INIT;
        XXH128_canonical_t digest;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                _cleanup_free_ char *text = NULL;
                size_t n;

                r = file_read(root_fd, files[i], &text, &n, MAX_NOTES_BYTES);
                if (r < 0 && r != -ENOENT)
                        return r;
                if (r >= 0)
                        buf_add(&b, text, n);
                buf_add(&b, "", 1);
        }
        r = add_modules(&b, f);
        if (r < 0)
                return r;
        buf_add(&b, "", 1);
        for (size_t i = 0; i < roots->n; i++)
                buf_add(&b, roots->items[i], strlen(roots->items[i]) + 1);
        if (b.error < 0)
                return b.error;
        XXH128_canonicalFromHash(&digest, XXH3_128bits(b.data, b.n_data));
        for (size_t i = 0; i < sizeof(digest.digest); i++)
                (void) snprintf(ret + 2 * i, 3, "%02x", digest.digest[i]);
        return 0;
}

static int parse_number(const char *text, uint64_t *ret) {
        return parse_u64(text, INT64_MAX, ret) < 0 ? LEAN_CACHE_E_INVALID : 0;
}

static int parse_line(LeanCache *c, const char *line) {
        const char *rest;

        if ((rest = startswith(line, "learned ")))
                return parse_number(rest, &c->learned_ns);
        if ((rest = startswith(line, "calls ")))
                return parse_number(rest, &c->n_calls);
        if (startswith(line, "kernel ") || startswith(line, "roots "))
                return 0;
        return lean_tree_parse(&c->tree, line);
}

int lean_cache_parse(LeanCache *ret, const char *text) {
        _cleanup_lean_cache_ LeanCache c = {};

        text = startswith(text, MAGIC);
        if (!text)
                return LEAN_CACHE_E_INVALID;
        while (*text) {
                _cleanup_free_ char *line = NULL;
                size_t n = strcspn(text, "\n");
                int r;

                if (text[n] != '\n') /* a file that ends within a line was cut */
                        return LEAN_CACHE_E_INVALID;
                line = strndup(text, n);
                if (!line)
                        return -ENOMEM;
                r = parse_line(&c, line);
                if (r != 0)
                        return r;
                text += n + 1;
        }
        if (c.tree.n == 0)
                return LEAN_CACHE_E_INVALID;
        lean_tree_sort(&c.tree);
        *ret = TAKE(c, (LeanCache){});
        return 0;
}

static void make_path(char ret[static PATH_BYTES], const char *key) {
        (void) snprintf(ret, PATH_BYTES, "%s/%s", LEAN_DIR, key);
}

int lean_cache_read(LeanCache *ret, int store_fd, const char *key) {
        _cleanup_free_ char *text = NULL;
        char path[PATH_BYTES];
        size_t n;
        int r;

        make_path(path, key);
        r = entry_read(store_fd, path, &text, &n, MAX_FILE_BYTES);
        if (r == -EFBIG)
                return LEAN_CACHE_E_INVALID;
        if (r < 0)
                return r;
        return strlen(text) == n ? lean_cache_parse(ret, text) : LEAN_CACHE_E_INVALID;
}

int lean_cache_load(LeanCache *ret, int store_fd, int root_fd, const Functions *f,
                    const Strv *roots, char ret_key[static LEAN_KEY_CHARS + 1]) {
        int r = lean_cache_make_key(root_fd, f, roots, ret_key);

        return r < 0 ? r : lean_cache_read(ret, store_fd, ret_key);
}

typedef struct Learned {
        char name[LEAN_KEY_CHARS + 1];
        struct timespec at;
        uint64_t n_bytes;
} Learned;

static int compare_learned(const void *a, const void *b) {
        const struct timespec *x = &((const Learned *) a)->at, *y = &((const Learned *) b)->at;

        if (x->tv_sec != y->tv_sec)
                return x->tv_sec > y->tv_sec ? -1 : 1;
        return x->tv_nsec > y->tv_nsec ? -1 : x->tv_nsec < y->tv_nsec;
}

/* What there is, the newest first. */
static int list_learned(Learned **ret, size_t *ret_n, int dir_fd) {
        _cleanup_free_ Learned *all = NULL;
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        size_t n = 0;
        int r = dir_list(&d, dir_open(dir_fd, "."));

        if (r < 0)
                return r;
        while ((e = readdir(d))) {
                size_t n_name = strlen(e->d_name);
                struct stat st;

                if (n_name > LEAN_KEY_CHARS || e->d_name[0] == '.' ||
                    fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                    !S_ISREG(st.st_mode))
                        continue;
                if (!ARRAY_GROW(all, n))
                        return -ENOMEM;
                all[n] = (Learned){ .at = st.st_mtim, .n_bytes = (uint64_t) st.st_size };
                memcpy(all[n++].name, e->d_name, n_name + 1);
        }
        if (n > 1)
                qsort(all, n, sizeof(*all), compare_learned);
        *ret = TAKE_PTR(all);
        *ret_n = n;
        return 0;
}

/* What was learned longest ago makes room: members may let anything be learned, and kernels go. */
static void forget_oldest(int store_fd) {
        _cleanup_close_ int dir_fd = dir_open(store_fd, LEAN_DIR);
        _cleanup_free_ Learned *all = NULL;
        uint64_t n_bytes = 0;
        size_t n = 0;

        if (dir_fd < 0 || list_learned(&all, &n, dir_fd) < 0)
                return;
        for (size_t i = 0; i < n; i++) {
                n_bytes += all[i].n_bytes;
                if (i >= LEAN_MAX_FILES || (i > 0 && n_bytes > LEAN_MAX_BYTES))
                        (void) unlinkat(dir_fd, all[i].name, 0);
        }
}

int lean_cache_write(const LeanCache *c, int store_fd, const char *key, const char *kernel,
                     const Strv *roots) {
        _cleanup_free_ char *words = strv_join(roots, " ");
        _cleanup_buf_ Buf b = BUF_INIT;
        char path[PATH_BYTES];
        int r;

        if (!words)
                return -ENOMEM;
        buf_printf(&b, MAGIC "kernel %s\nroots %s\nlearned %" PRIu64 "\ncalls %" PRIu64 "\n",
                   kernel, words, c->learned_ns, c->n_calls);
        for (size_t i = 0; i < roots->n; i++)
                buf_printf(&b, "root %s\n", roots->items[i]);
        for (size_t i = 0; i < c->tree.n; i++) {
                const LeanFunction *f = &c->tree.functions[i];

                buf_printf(&b, "%s %i %" PRIu32 "\n", f->name, f->leaf, f->share_ppm);
                for (size_t k = 0; k < f->callers.n; k++)
                        buf_printf(&b, " %s\n", f->callers.items[k]);
        }
        if (b.error < 0)
                return b.error;
        make_path(path, key);
        r = entry_replace(store_fd, path, b.data, b.n_data, false);
        if (r >= 0)
                forget_oldest(store_fd);
        return r;
}

void lean_cache_done(LeanCache *c) {
        lean_tree_done(&c->tree);
        *c = (LeanCache){};
}

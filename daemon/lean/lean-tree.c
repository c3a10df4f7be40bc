/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An array that is sorted when it is complete.  What is shipped is one text, in which a root is looked for.
 *
 * What was learned is a file of lines, a keyword or a function each.  The store is the daemon's own, and the file is read as
 * if it were not: every number and every name has a bound, and what does not fit makes the file invalid, which costs no more
 * than learning again.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/lean/lean.h"
#include "store/entry.h"
#include "store/format.h"

#define MAGIC "ftraced lean 3\n"
#define MAX_FILE_BYTES ((size_t) 16 << 20)
#define MAX_NOTES_BYTES 65536
#define PATH_BYTES (sizeof(LEAN_DIR "/") + LEAN_KEY_CHARS)

static const char shipped[] =
#include "daemon/lean/trees.inc"
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

static void function_done(LeanFunction *f) {
        free(f->name);
        strv_done(&f->callers);
}

static int compare_functions(const void *a, const void *b) {
        return strcmp(((const LeanFunction *) a)->name, ((const LeanFunction *) b)->name);
}

void lean_tree_sort(LeanTree *t) {
        size_t kept = 0;

        SORT(t->functions, t->n, compare_functions);
        for (size_t i = 0; i < t->n; i++) {
                LeanFunction *f = &t->functions[i], *last = kept > 0 ? f - (i - kept) - 1 : NULL;

                if (!last || !streq(last->name, f->name)) {
                        t->functions[kept++] = *f;
                        continue;
                }
                last->leaf &= f->leaf;
                last->share_ppm = MAX(last->share_ppm, f->share_ppm);
                last->n_calls = add_capped(last->n_calls, f->n_calls);
                last->n_own = add_capped(last->n_own, f->n_own);
                last->total_ns = add_capped(last->total_ns, f->total_ns);
                /* One that memory is short of is no harm. */
                for (size_t k = 0; k < f->callers.n; k++)
                        (void) add_caller(last, f->callers.items[k]);
                function_done(f);
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
                function_done(&t->functions[i]);
        free(t->functions);
        *t = (LeanTree){};
}

void lean_tree_keep(LeanTree *t, bool (*keeps)(const LeanFunction *f, const void *userdata),
                    const void *userdata) {
        size_t kept = 0;

        for (size_t i = 0; i < t->n; i++)
                if (keeps(&t->functions[i], userdata))
                        t->functions[kept++] = t->functions[i];
                else
                        function_done(&t->functions[i]);
        t->n = kept;
}

static bool is_present(const LeanFunction *f, const void *functions) {
        return functions_contain(functions, f->name) && !startswith(f->name, "__traceiter_");
}

void lean_tree_keep_present(LeanTree *t, const Functions *f) {
        lean_tree_keep(t, is_present, f);
        lean_tree_sort(t);
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
        return r ?: walk_tree(numbers, &s, NULL) ?: walk_tree(numbers, &s, t) ?: 1;
}

/* --- what was learned -------------------------------------------------------------------------- */

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

static int parse_function(LeanTree *t, const char *line) {
        _cleanup_strv_ Strv words = {};
        uint64_t numbers[2];
        int r = strv_split(&words, line, " ");

        if (r < 0)
                return r;
        if (words.n != 1 + ELEMENTSOF(numbers) || !function_name_is_valid(words.items[0]) ||
            t->n >= LEAN_MAX_FUNCTIONS)
                return LEAN_CACHE_E_INVALID;
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
                if (parse_u64(words.items[1 + i], INT32_MAX, &numbers[i]) < 0)
                        return LEAN_CACHE_E_INVALID;
        if (numbers[0] > 1)
                return LEAN_CACHE_E_INVALID;
        return lean_tree_add(t, words.items[0], numbers[0] == 1, numbers[1]);
}

static int parse_line(LeanCache *c, const char *line) {
        const char *rest;

        if ((rest = startswith(line, "learned ")))
                return parse_number(rest, &c->learned_ns);
        if ((rest = startswith(line, "calls ")))
                return parse_number(rest, &c->n_calls);
        /* For people, and for whoever looks for a root. */
        if (startswith(line, "kernel ") || startswith(line, "roots ") || startswith(line, "root "))
                return 0;
        if (*line != ' ')
                return parse_function(&c->tree, line);
        return c->tree.n > 0 && function_name_is_valid(line + 1)
                       ? lean_tree_add_caller(&c->tree, line + 1)
                       : LEAN_CACHE_E_INVALID;
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

int lean_cache_load(LeanCache *ret, int store_fd, int root_fd, const Functions *f,
                    const Strv *roots, char ret_key[static LEAN_KEY_CHARS + 1]) {
        _cleanup_free_ char *text = NULL;
        char path[PATH_BYTES];
        size_t n;
        int r = lean_cache_make_key(root_fd, f, roots, ret_key);

        if (r < 0)
                return r;
        make_path(path, ret_key);
        r = entry_read(store_fd, path, &text, &n, MAX_FILE_BYTES);
        if (r == -EFBIG)
                return LEAN_CACHE_E_INVALID;
        if (r < 0)
                return r;
        return strlen(text) == n ? lean_cache_parse(ret, text) : LEAN_CACHE_E_INVALID;
}

/* What was learned longest ago; false: there is room for all. */
static bool find_oldest(int dir_fd, char ret[static LEAN_KEY_CHARS + 1]) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct stat st, oldest = {};
        uint64_t n_bytes = 0;
        struct dirent *e;
        size_t n = 0;

        if (dir_list(&d, dir_open(dir_fd, ".")) < 0)
                return false;
        while ((e = readdir(d))) {
                size_t n_name = strlen(e->d_name);

                if (n_name > LEAN_KEY_CHARS || e->d_name[0] == '.' ||
                    fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                    !S_ISREG(st.st_mode))
                        continue;
                n_bytes += (uint64_t) st.st_size;
                if (n++ > 0 && (st.st_mtim.tv_sec > oldest.st_mtim.tv_sec ||
                                (st.st_mtim.tv_sec == oldest.st_mtim.tv_sec &&
                                 st.st_mtim.tv_nsec >= oldest.st_mtim.tv_nsec)))
                        continue;
                oldest = st;
                memcpy(ret, e->d_name, n_name + 1);
        }
        return n > LEAN_MAX_FILES || (n > 1 && n_bytes > LEAN_MAX_BYTES);
}

/* Makes room: members may let anything be learned, and kernels go. */
static void forget_oldest(int store_fd) {
        _cleanup_close_ int dir_fd = dir_open(store_fd, LEAN_DIR);
        char name[LEAN_KEY_CHARS + 1];

        while (dir_fd >= 0 && find_oldest(dir_fd, name))
                if (unlinkat(dir_fd, name, 0) < 0)
                        break;
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

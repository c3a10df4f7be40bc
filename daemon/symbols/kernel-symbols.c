/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Reading /proc/kallsyms takes tens of milliseconds to seconds (the kernel
 * formats 10 MB line by line), so it is done once for each list of modules.  The
 * order of the list counts, too: a module that was loaded again, perhaps built
 * anew, is the first.  If it changes before the symbols are read it is the older, so that the next look finds
 * another.  Where addresses are hidden the file is not empty: every
 * address is 0 (linux 6.1 kernel/kallsyms.c, s_show()); under systemd's
 * ProtectKernelTunables= it is empty.  So a symbol that must have an address
 * is looked at.
 */

#include <fcntl.h>

#include "base/array.h"
#include "base/io.h"
#include "daemon/process/background.h"
#include "daemon/symbols/kernel-symbols.h"

#define MODULES_MAX ((size_t) 16 << 20)
#define NOTES_MAX ((size_t) 64 << 10)
#define SKIP_SHIFT_MAX 5U             /* 32 looks */
#define TYPES_MAX ((size_t) 64 << 20) /* of one file; vmlinux's is 5.4 MB in Debian's 7.2 */

static const char *const anchors[] = { " T _stext\n", " T _text\n", " T startup_64\n" };

bool kernel_symbols_have_addresses(const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(anchors); i++) {
                const char *at = strstr(text, anchors[i]), *p = at;

                while (p && p > text && p[-1] != '\n')
                        if (*--p != '0')
                                return true;
        }
        return false;
}

const char *kernel_symbols_path(const char *otherwise) {
        return getenv("FTRACED_KALLSYMS") ?: otherwise;
}

/* "NAME BYTES USES USERS STATE ADDRESS TAINTS", the last only if there are any. */
static void add_module(Buf *b, char *line) {
        enum { NAME, BYTES, USES, USERS, STATE, ADDRESS, TAINTS, N };
        const char *words[N] = { [TAINTS] = "-" };
        char *save = NULL;
        size_t n = 0;

        for (char *w = strtok_r(line, " ", &save); w && n < N; w = strtok_r(NULL, " ", &save))
                words[n++] = w;
        if (n > ADDRESS)
                buf_printf(b, "%s %s %s %s %s\n", words[NAME], words[BYTES], words[STATE],
                           words[ADDRESS], words[TAINTS]);
}

int kernel_modules_read(int dir_fd, const char *path, char **ret) {
        _cleanup_free_ char *text = NULL;
        _cleanup_buf_ Buf b = BUF_INIT;
        char *save = NULL;
        int r = file_read(dir_fd, path, &text, NULL, MODULES_MAX);

        if (r < 0 && r != -ENOENT)
                return r;
        for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
             line = strtok_r(NULL, "\n", &save))
                add_module(&b, line);
        return buf_take_string(&b, ret);
}

static bool is_stored(int symbols_fd, const char *hash) {
        char name[SYMBOL_HASH_CHARS + sizeof(".zst")];

        (void) snprintf(name, sizeof(name), "%s.zst", hash);
        return !*hash || faccessat(symbols_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

/* Whether the store has what it should, for the modules of now. */
static int is_current(const KernelSymbols *k, int proc_fd, int symbols_fd) {
        _cleanup_free_ char *modules = NULL;

        if (!k->modules)
                return 0;
        return kernel_modules_read(proc_fd, "modules", &modules)
                       ?: streq(k->modules, modules) && is_stored(symbols_fd, k->names.symbols) &&
                                  is_stored(symbols_fd, k->names.modules);
}

bool kernel_symbols_are_current(const KernelSymbols *k, int symbols_fd) {
        _cleanup_close_ int proc_fd = dir_open(AT_FDCWD, k->proc);

        return proc_fd >= 0 && is_current(k, proc_fd, symbols_fd) > 0;
}

/* "" if there is none, or it cannot be read. */
static int read_build_id(int sys_fd, const char *path, char ret[static BUILD_ID_CHARS_MAX + 1]) {
        _cleanup_free_ char *notes = NULL;
        size_t n;
        int r = file_read(sys_fd, path, &notes, &n, NOTES_MAX);

        if (r < 0 || !build_id_find(notes, n, ret))
                *ret = 0;
        return r == -ENOMEM ? r : 0;
}

/* The list with build IDs.  A module that went meanwhile has none. */
static int add_build_ids(int sys_fd, const char *modules, Buf *list) {
        for (const char *line = modules, *end; *line; line = end + 1) {
                _cleanup_free_ char *path = NULL;
                char id[BUILD_ID_CHARS_MAX + 1];
                int r;

                end = strchr(line, '\n');
                if (asprintf(&path, "module/%.*s/notes/.note.gnu.build-id",
                             (int) strcspn(line, " "), line) < 0)
                        return -ENOMEM;
                r = read_build_id(sys_fd, path, id);
                if (r < 0)
                        return r;
                buf_printf(list, "%.*s%s%s\n", (int) (end - line), line, *id ? " " : "", id);
        }
        return list->error;
}

static int read_and_store(const KernelSymbols *k, int proc_fd, int symbols_fd, char **ret_modules,
                          SymbolNames *ret) {
        _cleanup_close_ int sys_fd = dir_open(AT_FDCWD, k->sys);
        _cleanup_free_ char *text = NULL;
        _cleanup_buf_ Buf list = BUF_INIT;
        size_t n;
        int r = kernel_modules_read(proc_fd, "modules", ret_modules)
                        ?: read_build_id(sys_fd, "kernel/notes", ret->build_id)
                        ?: add_build_ids(sys_fd, *ret_modules, &list)
                        ?: file_read(proc_fd, kernel_symbols_path("kallsyms"), &text, &n,
                                     SYMBOL_FILE_MAX);

        if (r < 0)
                return r;
        if (!kernel_symbols_have_addresses(text))
                return KERNEL_SYMBOLS_E_HIDDEN;
        r = symbol_file_store(symbols_fd, text, n, ret->symbols);
        if (r >= 0 && **ret_modules)
                r = symbol_file_store(symbols_fd, list.data, list.n_data, ret->modules);
        return MIN(r, 0);
}

int kernel_symbols_store(KernelSymbols *k, int symbols_fd, const SymbolNames **ret) {
        _cleanup_free_ char *modules = NULL;
        _cleanup_close_ int proc_fd = -EBADF;
        SymbolNames names = {};
        int r;

        proc_fd = dir_open(AT_FDCWD, k->proc);
        if (proc_fd < 0)
                return proc_fd;
        r = is_current(k, proc_fd, symbols_fd);
        if (r < 0)
                return r;
        if (r == 0) {
                if (TAKE(k->is_reading, true))
                        return KERNEL_SYMBOLS_E_BUSY;
                r = BACKGROUND_CALL(read_and_store(k, proc_fd, symbols_fd, &modules, &names));
                k->is_reading = false;
                if (r != 0)
                        return r;
                free(k->modules);
                k->modules = TAKE_PTR(modules);
                k->names = names;
        }
        *ret = &k->names;
        return 0;
}

void kernel_symbols_done(KernelSymbols *k) {
        free(k->modules);
}

/* --- a session's -------------------------------------------------------------------------------- */

/*
 * The kernel tells nobody without a netlink socket that a module came, so we look.  The last look that saw the old
 * modules and the first that saw the new ones are both kept: in between either may be right.
 */

/* What is not there has an empty name. */
static int replace(char **p, const char *hash) {
        return text_replace(p, *hash ? hash : NULL);
}

int symbol_watch_begin(KernelSymbols *k, int symbols_fd, SessionMeta *m) {
        const SymbolNames *names;
        int r = kernel_symbols_store(k, symbols_fd, &names);

        if (r != 0)
                return r;
        r = replace(&m->symbols, names->symbols);
        return r < 0 ? r
                     : replace(&m->modules, names->modules) ?: replace(&m->build_id, names->build_id);
}

static int look(SymbolWatch *w, KernelSymbols *k, int symbols_fd, SessionMeta *m,
                uint64_t trace_ns) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        const SymbolMap *last =
                m->symbol_maps.n > 0 ? &m->symbol_maps.items[m->symbol_maps.n - 1] : NULL;
        const SymbolNames *names;
        int r = kernel_symbols_store(k, symbols_fd, &names);

        if (r != 0)
                return MIN(r, 0); /* hidden meanwhile: what is known stays */
        if (streq(names->symbols, last ? last->symbols : m->symbols) &&
            streq(names->modules, (last ? last->modules : m->modules) ?: "")) {
                w->seen_ns = trace_ns;
                return 0;
        }
        r = symbol_maps_add(&m->symbol_maps, MAX(w->seen_ns, last ? last->from_ns : 0),
                            trace_ns + now_ns(CLOCK_MONOTONIC) - since_ns, names->symbols,
                            *names->modules ? names->modules : NULL);
        return r < 0 ? r : SYMBOL_WATCH_E_CHANGED;
}

int symbol_watch_look(SymbolWatch *w, KernelSymbols *k, int symbols_fd, SessionMeta *m,
                      uint64_t trace_ns) {
        int r;

        if (!m->symbols)
                return 0;
        if (w->n_failures > 0 && w->n_skipped++ < 1U << MIN(w->n_failures, SKIP_SHIFT_MAX))
                return 0;
        w->n_skipped = 0;
        r = look(w, k, symbols_fd, m, trace_ns);
        w->n_failures = r < 0 ? w->n_failures + 1 : 0;
        return r;
}

/* --- types -------------------------------------------------------------------------------------- */

/* 0, -ENOENT, another -errno. */
static int add_types(Buf *b, int root_fd, const char *name, size_t n_name) {
        _cleanup_free_ char *path = NULL, *data = NULL;
        size_t n;
        int r;

        if (asprintf(&path, "sys/kernel/btf/%.*s", (int) n_name, name) < 0)
                return -ENOMEM;
        r = file_read(root_fd, path, &data, &n, TYPES_MAX);
        if (r < 0)
                return r;
        buf_printf(b, "%.*s %zu\n", (int) n_name, name, n);
        buf_add(b, data, n);
        return b->error;
}

/* /proc/modules has the newest module first, so its order reversed is that of loading.  A module may have no types, and
 * one that goes while we read is left out. */
int kernel_types_read(int root_fd, Buf *b) {
        _cleanup_free_ char *modules = NULL;
        _cleanup_strv_ Strv lines = {};
        int r = add_types(b, root_fd, "vmlinux", strlen("vmlinux"));

        if (r < 0)
                return r == -ENOENT ? KERNEL_TYPES_E_NONE : r;
        r = file_read(root_fd, "proc/modules", &modules, NULL, MODULES_MAX)
                    ?: strv_split(&lines, modules, "\n");
        if (r < 0 && r != -ENOENT)
                return r;
        for (size_t i = lines.n; i-- > 0;) {
                const char *line = lines.items[i];

                r = add_types(b, root_fd, line, strcspn(line, " "));
                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return 0;
}

int kernel_types_store(int root_fd, int symbols_fd, char ret_hash[static SYMBOL_HASH_CHARS + 1]) {
        _cleanup_buf_ Buf b = BUF_INIT;

        return kernel_types_read(root_fd, &b)
                       ?: symbol_file_store(symbols_fd, b.data, b.n_data, ret_hash);
}

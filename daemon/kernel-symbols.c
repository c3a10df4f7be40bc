/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Reading /proc/kallsyms takes tens of milliseconds to seconds (the kernel
 * formats 10 MB line by line), so it is done once for each content of
 * /proc/modules.  Where addresses are hidden the file is not empty: every
 * address is 0 (linux 6.1 kernel/kallsyms.c, s_show()); under systemd's
 * ProtectKernelTunables= it is empty.  So a symbol that must have an address
 * is looked at.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/kernel-symbols.h"
#include "store/symbol-file.h"

#define MODULES_MAX ((size_t) 16 << 20)

struct KernelSymbols {
        const char *proc;
        char *modules; /* /proc/modules when `hash` was made */
        char hash[SYMBOL_HASH_CHARS + 1];
};

static const char *const anchors[] = { " T _stext\n", " T _text\n", " T startup_64\n" };

/* Whether any anchor's line begins with an address other than 0. */
static bool symbols_have_addresses(const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(anchors); i++) {
                const char *at = strstr(text, anchors[i]), *p = at;

                while (p && p > text && p[-1] != '\n')
                        if (*--p != '0')
                                return true;
        }
        return false;
}

int kernel_symbols_new(KernelSymbols **ret, const char *proc) {
        KernelSymbols *k = calloc(1, sizeof(*k));

        if (!k)
                return -ENOMEM;
        k->proc = proc;
        *ret = k;
        return 0;
}

int kernel_symbols_store(KernelSymbols *k, int symbols_fd, const char **ret_hash) {
        _cleanup_free_ char *modules = NULL, *text = NULL;
        _cleanup_close_ int proc_fd = -EBADF;
        char name[SYMBOL_HASH_CHARS + sizeof(".zst")];
        size_t n;
        int r;

        proc_fd = dir_open(AT_FDCWD, k->proc);
        if (proc_fd < 0)
                return proc_fd;
        /* A kernel without modules has no such file: its symbols never change. */
        r = file_read(proc_fd, "modules", &modules, NULL, MODULES_MAX);
        if (r < 0 && r != -ENOENT)
                return r;
        if (!modules && !(modules = strdup("")))
                return -ENOMEM;

        if (streq_ptr(k->modules, modules)) {
                (void) snprintf(name, sizeof(name), "%s.zst", k->hash);
                if (faccessat(symbols_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) >= 0) {
                        *ret_hash = k->hash;
                        return 0;
                }
        }

        r = file_read(proc_fd, "kallsyms", &text, &n, SYMBOL_FILE_MAX);
        if (r < 0)
                return r;
        if (!symbols_have_addresses(text))
                return KERNEL_SYMBOLS_E_HIDDEN;
        r = symbol_file_store(symbols_fd, text, n, k->hash);
        if (r < 0) {
                free(TAKE_PTR(k->modules));
                return r;
        }

        free(k->modules);
        k->modules = TAKE_PTR(modules);
        *ret_hash = k->hash;
        return 0;
}

KernelSymbols *kernel_symbols_free(KernelSymbols *k) {
        if (!k)
                return NULL;
        free(k->modules);
        free(k);
        return NULL;
}

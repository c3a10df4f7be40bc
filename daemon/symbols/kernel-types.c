/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * /proc/modules has the newest module first, so its order reversed is that of loading.  A module
 * may have no types, and one that goes while we read is left out.
 */

#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/io.h"
#include "daemon/symbols/kernel-types.h"

#define TYPES_MAX ((size_t) 64 << 20) /* of one file; vmlinux's is 5.4 MB in Debian's 7.2 */
#define MODULES_MAX ((size_t) 16 << 20)

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

int kernel_types_store(int root_fd, int symbols_fd, char ret_hash[static SYMBOL_HASH_CHARS + 1]) {
        _cleanup_free_ char *modules = NULL;
        _cleanup_buf_ Buf b = BUF_INIT;
        _cleanup_strv_ Strv lines = {};
        int r = add_types(&b, root_fd, "vmlinux", strlen("vmlinux"));

        if (r < 0)
                return r == -ENOENT ? KERNEL_TYPES_E_NONE : r;
        r = file_read(root_fd, "proc/modules", &modules, NULL, MODULES_MAX);
        if (r >= 0)
                r = strv_split(&lines, modules, "\n");
        if (r < 0 && r != -ENOENT)
                return r;
        for (size_t i = lines.n; i-- > 0;) {
                const char *line = lines.items[i];

                r = add_types(&b, root_fd, line, strcspn(line, " "));
                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return symbol_file_store(symbols_fd, b.data, b.n_data, ret_hash);
}

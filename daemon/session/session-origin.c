/* SPDX-License-Identifier: GPL-2.0-or-later */

/* All of it is read once, when a recording begins: it may be read elsewhere, and later. */

#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <systemd/sd-id128.h>

#include "base/io.h"
#include "base/release.h"
#include "daemon/session/session-origin.h"
#include "daemon/symbols/kernel-types.h"
#include "daemon/symbols/symbol-watch.h"
#include "daemon/watch/health.h"

/* Recordings travel; a machine-id(5) should not, so this is one of ours that is made of it. */
static int add_machine_id(SessionMeta *m) {
        static const sd_id128_t ours =
                SD_ID128_MAKE(41, c8, 0e, 2b, 5d, 0f, 4a, 6e, 9a, 3f, 7d, 1c, 52, b6, e0, 93);
        char text[SD_ID128_STRING_MAX];
        sd_id128_t id;

        if (sd_id128_get_machine_app_specific(ours, &id) < 0)
                return 0;
        m->machine_id = strdup(sd_id128_to_string(id, text));
        return m->machine_id ? 0 : -ENOMEM;
}

int session_origin_add_host(SessionMeta *m) {
        _cleanup_free_ char *boot_id = NULL;
        struct utsname u;
        int r;

        if (uname(&u) < 0)
                return ORIGIN(-errno);
        r = session_meta_renew_id(m);
        if (r < 0)
                return r;
        if (file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &boot_id, NULL, 128) >= 0)
                boot_id[strcspn(boot_id, "\n")] = 0;
        m->kernel = strdup(u.release);
        m->machine = strdup(u.machine);
        m->host = strdup(u.nodename);
        m->boot_id = strdup(boot_id ?: "");
        m->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        if (!m->kernel || !m->machine || !m->host || !m->boot_id)
                return -ENOMEM;
        return add_machine_id(m);
}

int session_origin_add_symbols(SessionMeta *m, KernelSymbols *symbols, int symbols_fd) {
        bool is_again = m->state != SESSION_NEW;
        int r;

        if (is_again && !m->symbols)
                return 0;
        r = symbol_watch_begin(symbols, symbols_fd, m);
        if (r == KERNEL_SYMBOLS_E_HIDDEN) {
                if (!is_again)
                        health_warn(m, "the kernel hides its symbols' addresses (sysctl "
                                       "kernel.kptr_restrict, or no CAP_SYSLOG): functions have "
                                       "no names");
                return 0;
        }
        return MIN(r, 0);
}

/* Arguments have their names from them.  What a kretprobe sees is as wide as a register; fprobes know types themselves
 * (daemon/instances/instance.h). */
static bool needs_types(const SessionMeta *m, bool *ret_has_args) {
        *ret_has_args = m->spec.args || m->spec.args_functions.n > 0;
        return *ret_has_args || ((m->spec.retval || m->spec.retval_functions.n > 0) &&
                                 release_compare(m->kernel, 6, 5) == RELEASE_BEFORE);
}

int session_origin_add_types(SessionMeta *m, int symbols_fd) {
        _cleanup_close_ int root_fd = -EBADF;
        char hash[SYMBOL_HASH_CHARS + 1];
        bool has_args;
        int r;

        if (!needs_types(m, &has_args))
                return 0;
        root_fd = dir_open(AT_FDCWD, "/");
        r = root_fd < 0 ? root_fd : kernel_types_store(root_fd, symbols_fd, hash);
        if (r == KERNEL_TYPES_E_NONE && !has_args)
                return 0;
        if (r == KERNEL_TYPES_E_NONE) {
                health_warn(m, "the kernel does not say what its functions' arguments are "
                               "(/sys/kernel/btf/vmlinux is missing): they are recorded, but "
                               "cannot be drawn");
                return 0;
        }
        if (r < 0)
                return r;
        m->types = strdup(hash);
        return m->types ? 0 : -ENOMEM;
}

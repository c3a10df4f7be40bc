/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Kernel symbols: /proc/kallsyms, read when it may have changed and stored once
 */

#include "base/cleanup.h"

typedef struct KernelSymbols KernelSymbols;

enum {
        KERNEL_SYMBOLS_E_HIDDEN = 1
}; /* every address reads as 0: kptr_restrict, or no CAP_SYSLOG */

/* @proc: where procfs is, "/proc"; borrowed. */
int kernel_symbols_new(KernelSymbols **ret, const char *proc);
/*
 * kernel_symbols_store() - see that the store has the symbols of now
 * @ret_hash: their name there; valid until the next call
 *
 * /proc/kallsyms is read again only if /proc/modules changed or the stored file went.
 * Return: 0, KERNEL_SYMBOLS_E_HIDDEN, -errno.
 */
int kernel_symbols_store(KernelSymbols *k, int symbols_fd, const char **ret_hash);
KernelSymbols *kernel_symbols_free(KernelSymbols *k);
DEFINE_CLEANUP(KernelSymbols *, kernel_symbols_free);

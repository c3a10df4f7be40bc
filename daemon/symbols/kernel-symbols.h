/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Kernel symbols: /proc/kallsyms and the list of modules, read when they may
 * have changed and stored once
 *
 * The list is /proc/modules without what changes at every use (how often and by
 * whom a module is used), a module a line, newest first:
 *
 *      NAME BYTES STATE ADDRESS TAINTS
 *      nf_conntrack 196608 Live 0xffffffffc0a5d000 -
 *
 * TAINTS is "-" or as the kernel has it, "(OE)".
 * Source: linux 6.12 kernel/module/procfs.c, m_show().
 */

#include "base/cleanup.h"
#include "store/symbol-file.h"

typedef struct KernelSymbols KernelSymbols;

/* Names in the store; "" where there is nothing. */
typedef struct SymbolNames {
        char symbols[SYMBOL_HASH_CHARS + 1];
        char modules[SYMBOL_HASH_CHARS + 1]; /* "": a kernel without modules */
} SymbolNames;

enum {
        KERNEL_SYMBOLS_E_HIDDEN = 1,
        KERNEL_SYMBOLS_E_BUSY, /* a task of the daemon's is at it (daemon/process/background.h) */
};                             /* every address reads as 0: kptr_restrict, or no CAP_SYSLOG */

/* Where the kernel's symbols are: $FTRACED_KALLSYMS, for where a sandbox covers /proc/kallsyms, or
 * @otherwise. */
const char *kernel_symbols_path(const char *otherwise);
/* @proc: where procfs is, "/proc"; borrowed. */
int kernel_symbols_new(KernelSymbols **ret, const char *proc);
/*
 * kernel_symbols_store() - see that the store has the symbols of now
 * @ret: valid until the next call
 *
 * Cheap while nothing changed: /proc/kallsyms is read again only if the list of modules is another,
 * or a stored file went.
 * Return: 0, KERNEL_SYMBOLS_E_HIDDEN, KERNEL_SYMBOLS_E_BUSY, -errno.
 */
int kernel_symbols_store(KernelSymbols *k, int symbols_fd, const SymbolNames **ret);
KernelSymbols *kernel_symbols_free(KernelSymbols *k);
DEFINE_CLEANUP(KernelSymbols *, kernel_symbols_free);

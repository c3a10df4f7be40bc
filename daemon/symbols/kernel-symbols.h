/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Kernel symbols: /proc/kallsyms and the list of modules, read when they may
 * have changed and stored once
 *
 * The list is /proc/modules without what changes at every use (how often and by
 * whom a module is used), a module a line, newest first; what is stored has the build ID (meta/meta.h) behind it:
 *
 *      NAME BYTES STATE ADDRESS TAINTS BUILD-ID
 *      nf_conntrack 196608 Live 0xffffffffc0a5d000 - 2f0c17f3ab5ee1ab1e1f7b1b8e1c9a3d6f0e5c11
 *
 * TAINTS is "-" or as the kernel has it, "(OE)"; a build ID that is not known is not there.
 * Source: linux 6.12 kernel/module/procfs.c, m_show().
 */

#include "base/cleanup.h"

#include "meta/meta.h"
#include "store/symbol-file.h"

/* Names in the store; "" where there is nothing. */
typedef struct SymbolNames {
        char symbols[SYMBOL_HASH_CHARS + 1];
        char modules[SYMBOL_HASH_CHARS + 1];   /* "": a kernel without modules */
        char build_id[BUILD_ID_CHARS_MAX + 1]; /* the kernel's */
} SymbolNames;

typedef struct KernelSymbols {
        const char *proc, *sys; /* where procfs and sysfs are; the rest is its own */
        char *modules;          /* the list when `names` were made; NULL: not yet */
        SymbolNames names;
        bool is_reading; /* somebody who has left meanwhile */
} KernelSymbols;

enum {
        KERNEL_SYMBOLS_E_HIDDEN = 1, /* every address reads as 0: kptr_restrict, or no CAP_SYSLOG */
        KERNEL_SYMBOLS_E_BUSY, /* a task of the daemon's is at it (daemon/process/background.h) */
};

/* Where the kernel's symbols are: $FTRACED_KALLSYMS, for where a sandbox covers /proc/kallsyms, or
 * @otherwise. */
const char *kernel_symbols_path(const char *otherwise);
/* The list, of what @path below @dir_fd says.  A kernel without modules has no such file: *@ret is "" then, and its symbols
 * never change.  The caller frees.  0 or -errno. */
int kernel_modules_read(int dir_fd, const char *path, char **ret);
/* Whether addresses can be seen in the text of kallsyms, or in its beginning: those of per-CPU symbols are small or 0 by
 * nature, that of the first function is not. */
bool kernel_symbols_have_addresses(const char *text);
/*
 * kernel_symbols_store() - see that the store has the symbols of now
 * @ret: valid until the next call
 *
 * Cheap while nothing changed: /proc/kallsyms is read again only if the list of modules is another,
 * or a stored file went.
 * Return: 0, KERNEL_SYMBOLS_E_HIDDEN, KERNEL_SYMBOLS_E_BUSY, -errno.
 */
int kernel_symbols_store(KernelSymbols *k, int symbols_fd, const SymbolNames **ret);
/* True if it has, so that nothing would be read. */
bool kernel_symbols_are_current(const KernelSymbols *k, int symbols_fd);
void kernel_symbols_done(KernelSymbols *k);

/* Keeps a session's maps of symbols true while modules come and go.  Its owner looks from time to time; a look reads
 * /proc/modules, and no more unless that has changed. */
typedef struct SymbolWatch {
        uint64_t seen_ns; /* trace clock: when the last map still held; 0: not looked yet */
        unsigned n_failures,
                n_skipped; /* of the last looks; and since, of those that are left out */
} SymbolWatch;

/* Names the symbols of now in @m, as those of the session's beginning.
 * 0, KERNEL_SYMBOLS_E_HIDDEN (@m is left as it was), -errno. */
int symbol_watch_begin(KernelSymbols *k, int symbols_fd, SessionMeta *m);

/*
 * symbol_watch_look() - see whether the symbols are others now
 * @trace_ns: the session's trace clock, when this is called
 *
 * Return: SYMBOL_WATCH_E_CHANGED: a map was added to @m, which the caller writes down or takes away
 * again; 0: nothing new, or this session has no symbols; -ENOSPC: the maps are SYMBOL_MAPS_MAX
 * already; -errno: they cannot be read or stored; ever fewer looks try again.
 */
enum { SYMBOL_WATCH_E_CHANGED = 1 };
int symbol_watch_look(SymbolWatch *w, KernelSymbols *k, int symbols_fd, SessionMeta *m,
                      uint64_t trace_ns);

/*
 * kernel_types_store() - see that the store has what the kernel says of its functions' parameters now
 * @root_fd: what /sys and /proc are below
 *
 * The files of /sys/kernel/btf put behind each other as types/prototypes.h has it, some 6 MB, of which 2 remain in the
 * store, once for each content.  They are not looked into here.
 * Return: 0 and the file's name, KERNEL_TYPES_E_NONE, -errno.
 */
enum { KERNEL_TYPES_E_NONE = 1 }; /* the kernel was built without */
int kernel_types_store(int root_fd, int symbols_fd, char ret_hash[static SYMBOL_HASH_CHARS + 1]);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Kernel types: what the kernel says of its functions' parameters, stored once for each content
 *
 * The files of /sys/kernel/btf put behind each other as decode/prototypes.h has it, some 6 MB, of
 * which 2 remain in the store.  They are not looked into here.
 */

#include "store/symbol-file.h"

enum { KERNEL_TYPES_E_NONE = 1 }; /* the kernel was built without */

/*
 * kernel_types_store() - see that the store has the types of now
 * @root_fd: what /sys and /proc are below
 *
 * Return: 0 and the file's name, KERNEL_TYPES_E_NONE, -errno.
 */
int kernel_types_store(int root_fd, int symbols_fd, char ret_hash[static SYMBOL_HASH_CHARS + 1]);

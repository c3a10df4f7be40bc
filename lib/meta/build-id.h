/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Build IDs: which build of the kernel and of its modules a recording is of
 *
 * The linker leaves a number that no other build has in a note of what it makes, so that the debug information of exactly
 * that can be found.  The kernel shows its own notes in /sys/kernel/notes, and a module's in
 * /sys/module/NAME/notes/.note.gnu.build-id.  A list of them has "NAME HEX" of each, the kernel's with the name
 * BUILD_ID_KERNEL.
 *
 *      0   u32   n_name   bytes, 4 of "GNU" and a NUL
 *      4   u32   n_desc   bytes of the number
 *      8   u32   type     3
 *      12        name, then the number, each filled up to a multiple of 4; the next note
 *
 * Source: elf(5), "Notes"; linux 6.12 kernel/ksysfs.c, notes_read(), and kernel/module/sysfs.c, add_notes_attrs().
 */

#include "base/array.h"

#define BUILD_ID_KERNEL "vmlinux"
#define BUILD_ID_CHARS_MAX 128 /* 20 bytes are usual */

bool build_id_is_valid(const char *s);
/* The number in @notes, hostile, of @n bytes, in hex; false: there is none. */
bool build_id_find(const void *notes, size_t n, char ret[static BUILD_ID_CHARS_MAX + 1]);
/* Of a list of modules (daemon/symbols/kernel-symbols.h), hostile.  0 or -ENOMEM. */
int build_ids_add_modules(Strv *ids, const char *list);
/* Of the module, whose name is not ended, or, if that is NULL, of the kernel, from a list that strv_sort_unique() left.  NULL: it
 * is not known, or there were several: the module was loaded again, built anew. */
const char *build_ids_get(const Strv *ids, const char *module, size_t n_module);

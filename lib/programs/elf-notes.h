/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the ELF file @fd says of itself in notes, of which one is its build ID (meta/meta.h, build_id_find()).  Nothing
 * else of it is read, and little of that; the file is hostile. */

#include "base/buf.h"

#define ELF_NOTES_MAX ((size_t) 64 << 10)

/* Adds all that are loaded with it.  0; -EBADMSG: it is no such file of this machine's byte order; -errno. */
int elf_notes_read(int fd, Buf *out);

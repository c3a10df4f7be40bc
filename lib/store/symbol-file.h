/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Symbol files: kallsyms text, and lists of modules, kept once for each content, as
 * symbols/HASH.zst
 */

#include "meta/json-field.h"

#define SYMBOL_FILE_MAX ((size_t) 256 << 20) /* bytes, plain */

/* Stores @text unless it is there; writes the hash and a NUL to @ret_hash.  0 or -errno. */
int symbol_file_store(int symbols_fd, const char *text, size_t n,
                      char ret_hash[static SYMBOL_HASH_CHARS + 1]);
/* The file, to read and to write: a descriptor that the caller owns, or -errno. */
int symbol_file_open(int symbols_fd, const char *hash);
/* NUL-terminated plain text, checked against @hash (-EBADMSG); the caller frees *@ret. */
int symbol_file_load(int symbols_fd, const char *hash, char **ret, size_t *ret_n);

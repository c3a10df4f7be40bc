/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Symbol files: kallsyms text, and lists of modules, kept once for each content, as
 * symbols/HASH.zst
 *
 * Of 200,000 symbols a recording meets a few hundred, so kallsyms is in parts that are unpacked alone
 * (store/format.h).
 */

#include "meta/json-field.h"

#define SYMBOL_FILE_MAX ((size_t) 256 << 20)  /* bytes, plain */
#define SYMBOL_PART_BYTES ((size_t) 32 << 10) /* and up to the end of a line */
#define SYMBOL_IRQENTRY "__irqentry_text_" /* names that begin so are asked for by every reader */

typedef struct SymbolPart {
        uint64_t low, high; /* the least and the greatest address */
        uint64_t checksum;  /* of the text, if it is packed */
        uint32_t n_symbols, has_irqentry;
        uint32_t n_text;               /* what is above is in the file */
        size_t text, packed, n_packed; /* where it is, and its frame */
} SymbolPart;

typedef struct SymbolParts {
        char *text; /* n_text bytes and a NUL; of what is packed, 0 until symbol_parts_unpack() */
        SymbolPart *items;
        size_t n, n_text, n_symbols;
        char *packed; /* NULL: all of the text is there */
        struct ZSTD_DCtx_s *unpacker;
} SymbolParts;
#define _cleanup_symbol_parts_ _cleanup_(symbol_parts_done)

/* The line behind @line, which is before @end; *@ret_name: where the name of "ADDRESS T NAME" begins, NULL: it is none.  The
 * text ends with a newline or a NUL. */
const char *symbol_line_next(const char *line, const char *end, uint64_t *ret_address,
                             const char **ret_name);
/* @text: malloc()ed, NUL-terminated, consumed, also on failure; @part_bytes: SYMBOL_PART_BYTES but for tests.
 * 0, -ENOMEM, -EFBIG (2 GiB and more). */
int symbol_parts_split(SymbolParts *ret, char *text, size_t n_text, size_t part_bytes);
/* @packed: what a file named @hash holds; malloc()ed, consumed, also on failure.  Without an index, or with a wrong one,
 * all of it is unpacked, and must have that hash.  0, -ENOMEM, -EBADMSG, -EFBIG. */
int symbol_parts_open(SymbolParts *ret, char *packed, size_t n_packed, const char *hash);
/* Fills in part @i of the text.  0 or -EBADMSG. */
int symbol_parts_unpack(const SymbolParts *p, size_t i);
void symbol_parts_done(SymbolParts *p);
/* Adds the file's bytes.  0 or -ENOMEM. */
struct Buf;
int symbol_file_pack(struct Buf *b, const char *text, size_t n, const char *hash,
                     size_t part_bytes);

/* Stores @text unless it is there; writes the hash and a NUL to @ret_hash.  0 or -errno. */
int symbol_file_store(int symbols_fd, const char *text, size_t n,
                      char ret_hash[static SYMBOL_HASH_CHARS + 1]);
/* The file, to read and to write: a descriptor that the caller owns, or -errno. */
int symbol_file_open(int symbols_fd, const char *hash);
/* NUL-terminated plain text, checked against @hash (-EBADMSG); the caller frees *@ret. */
int symbol_file_load(int symbols_fd, const char *hash, char **ret, size_t *ret_n);
/* The same in parts.  A file that has an index is not compared with its hash; what is unpacked has its own checksum. */
int symbol_file_load_parts(int symbols_fd, const char *hash, SymbolParts *ret);

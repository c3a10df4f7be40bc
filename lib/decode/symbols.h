/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Symbols: an address's name, as the kernel itself would print it
 *
 * A table made from the text of /proc/kallsyms: lines of "ADDRESS TYPE NAME" or
 * "ADDRESS TYPE NAME\t[MODULE]".  libtraceevent 1.7.1 reads that text too but
 * cannot tell the module, which the kernel prints.
 *
 * Source: linux 6.1 kernel/kallsyms.c, s_show() writes it, get_symbol_pos() and
 * kallsyms_lookup() say which name an address has: that of the last symbol not
 * after it, of several at one address the first.
 */

#include "base/cleanup.h"

typedef struct Symbols Symbols;

typedef struct Symbol {
        uint64_t address;
        const char *name; /* n_name bytes, not ended by a NUL; lives as long as the table */
        size_t n_name;
        const char *module; /* n_module bytes, without brackets; NULL: part of the kernel */
        size_t n_module;
        char type;        /* of nm(1): 't' or 'T' for code */
        uint64_t n_bytes; /* up to the next symbol; 0: not known, as of a module's last */
} Symbol;

/* No function is longer: an address farther behind its symbol belongs to something that has left
 * the table, a module that was unloaded for instance. */
#define SYMBOL_BYTES_MAX (UINT64_C(1) << 20)

/*
 * symbols_new() - a table from kallsyms text
 * @text: NUL-terminated, malloc()ed; consumed, also on failure; NULL makes an empty table
 *
 * Lines that are no symbols are passed over.  Return: 0, -ENOMEM, -EFBIG (2 GiB and more).
 */
int symbols_new(Symbols **ret, char *text, size_t n_text);
/* All addresses are 0: whoever copied the text was not allowed to see them (kptr_restrict). */
bool symbols_are_hidden(const Symbols *s);
size_t symbols_n(const Symbols *s);
/* Whether a function begins there: not data, nor the padding before a function, which has a symbol
 * too (linux 6.2 on, tools/objtool/elf.c, elf_create_prefix_symbol()). */
bool symbol_is_function(const Symbol *s);
bool symbols_find(const Symbols *s, uint64_t address, Symbol *ret);
/* The first symbol that begins behind @address; false: there is none. */
bool symbols_find_behind(const Symbols *s, uint64_t address, Symbol *ret);
/* The first symbol of this name; false if there is none.  Looks at every one. */
bool symbols_find_name(const Symbols *s, const char *name, Symbol *ret);
Symbols *symbols_free(Symbols *s);
DEFINE_CLEANUP(Symbols *, symbols_free);

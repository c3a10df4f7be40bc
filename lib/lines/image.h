/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Image: its parts
 *
 *      image.c   the file: sections, symbols, relocations
 *      dwarf.c   compile units, and what was inlined
 */

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "lines/lines-private.h"

typedef struct Section {
        uint64_t address;
        size_t n_bytes;
        const uint8_t *data;
        bool is_code;
} Section;

typedef struct Relocation {
        uint64_t at, target;
        const char *name; /* NULL: target has it */
} Relocation;

typedef struct Key {
        uint64_t at, target;
} Key;

/* The code of one function in a compile unit. */
typedef struct Extent {
        CodeRange range;
        Dwarf_Die function;
} Extent;

typedef struct Unit {
        Dwarf_Die die;
        Extent *extents;
        size_t n_extents;
} Unit;

typedef struct UnitRange {
        CodeRange range;
        Dwarf_Off die;
} UnitRange;

struct Image {
        Dwfl *dwfl;
        Elf *elf;     /* the dwfl's */
        Dwarf *dwarf; /* the dwfl's */
        CodeMachine code;
        const char *machine;
        bool is_relocatable; /* a module */
        bool is_fixed;       /* all addresses are in it as they were linked */
        char *build_id, *root;
        Section *sections;
        size_t n_sections;
        Relocation *relocations;
        size_t n_relocations;
        CodeRange traced; /* a table of what can be traced: these are no pointers */
        Key *keys;
        size_t n_keys;
        Unit **units;
        size_t n_units;
        UnitRange *unit_ranges; /* by address, once an address was in none of .debug_aranges */
        size_t n_unit_ranges;
        bool has_unit_ranges;
        Hash units_at; /* of offsets of their DIEs */
        Hash files;    /* cleaned names, by the addresses of libdw's */
        Strv names;
};

/* What the paths of all files begin with: what is in front of init/main.c, the function at @start_kernel's.  0 or
 * -ENOMEM. */
int image_find_root(Image *i, uint64_t start_kernel);

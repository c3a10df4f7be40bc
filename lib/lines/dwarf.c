/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where code comes from in the source.  Of the compile units only those of functions that are asked for are read, each
 * once.
 */

#include <dwarf.h>

#include "lines/image.h"

#define INLINE_DEPTH_MAX 64

/* --- compile units ---------------------------------------------------------------------------- */

static int add_extents(Unit *u, Dwarf_Die *parent, unsigned depth) {
        Dwarf_Die die;
        int more = dwarf_child(parent, &die);

        for (; more == 0; more = dwarf_siblingof(&die, &die)) {
                Dwarf_Addr base, begin, end;
                int tag = dwarf_tag(&die), r;

                if (tag == DW_TAG_namespace && depth < INLINE_DEPTH_MAX) {
                        r = add_extents(u, &die, depth + 1);
                        if (r < 0)
                                return r;
                }
                if (tag != DW_TAG_subprogram)
                        continue;
                for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
                        if (begin < end &&
                            !ARRAY_ADD(u->extents, u->n_extents, (Extent){ { begin, end }, die }))
                                return -ENOMEM;
        }
        return 0;
}

static int compare_unit_ranges(const void *a, const void *b) {
        return CMP(((const UnitRange *) a)->range.begin, ((const UnitRange *) b)->range.begin);
}

/* Not every compiler writes .debug_aranges, and none for all that has an address. */
static int add_unit_ranges(Image *i) {
        Dwarf_Off at = 0, next;
        size_t n_header;
        Dwarf_Die die;

        for (; dwarf_nextcu(i->dwarf, at, &next, &n_header, NULL, NULL, NULL) == 0; at = next) {
                UnitRange u = { .die = at + n_header };
                Dwarf_Addr base;

                if (!dwarf_offdie(i->dwarf, u.die, &die))
                        continue;
                for (ptrdiff_t k = 0;
                     (k = dwarf_ranges(&die, k, &base, &u.range.begin, &u.range.end)) > 0;)
                        if (!ARRAY_ADD(i->unit_ranges, i->n_unit_ranges, u))
                                return -ENOMEM;
        }
        if (i->n_unit_ranges > 0)
                qsort(i->unit_ranges, i->n_unit_ranges, sizeof(*i->unit_ranges),
                      compare_unit_ranges);
        return 0;
}

/* The compile unit that @address is in: 1; 0: there is none; -ENOMEM. */
static int find_unit(Image *i, uint64_t address, Dwarf_Die *ret) {
        size_t k;

        if (dwarf_addrdie(i->dwarf, address, ret))
                return 1;
        if (!TAKE(i->has_unit_ranges, true) && add_unit_ranges(i) < 0)
                return -ENOMEM;
        k = BISECT(0, i->n_unit_ranges, n, i->unit_ranges[n].range.begin <= address);
        return k > 0 && address < i->unit_ranges[k - 1].range.end &&
               dwarf_offdie(i->dwarf, i->unit_ranges[k - 1].die, ret);
}

/* 0, also where *@ret is NULL since there is none, or -ENOMEM. */
static int unit_at(Image *i, uint64_t address, Unit **ret) {
        Dwarf_Die die;
        Unit *u;
        int r;

        *ret = NULL;
        r = find_unit(i, address, &die);
        if (r <= 0)
                return r;
        *ret = hash_get_ptr(&i->units_at, dwarf_dieoffset(&die));
        if (*ret)
                return 0;
        u = NEW(Unit, .die = die);
        if (!u || !ARRAY_ADD(i->units, i->n_units, u)) {
                free(u);
                return -ENOMEM;
        }
        r = add_extents(u, &u->die, 0);
        if (r >= 0)
                r = hash_add_ptr(&i->units_at, dwarf_dieoffset(&die), u);
        if (r >= 0)
                *ret = u;
        return r;
}

/* The function that has code there; NULL: not known. */
static Dwarf_Die *function_at(const Unit *u, uint64_t address) {
        for (size_t k = 0; u && k < u->n_extents; k++)
                if (address >= u->extents[k].range.begin && address < u->extents[k].range.end)
                        return &u->extents[k].function;
        return NULL;
}

int image_ranges(Image *i, const CodeSymbol *symbol, CodeRange **ret, size_t *ret_n) {
        _cleanup_free_ CodeRange *ranges = NULL;
        Dwarf_Die *function;
        Unit *u;
        size_t n = 0;
        int r = unit_at(i, symbol->address, &u);

        if (r < 0)
                return r;
        function = function_at(u, symbol->address);
        for (size_t k = 0; function && k < u->n_extents; k++)
                if (u->extents[k].function.addr == function->addr &&
                    !ARRAY_ADD(ranges, n, u->extents[k].range))
                        return -ENOMEM;
        /* Of what was written in assembler only the symbol tells. */
        if (n == 0 && !ARRAY_ADD(ranges, n,
                                 (CodeRange){ symbol->address, symbol->address + symbol->n_bytes }))
                return -ENOMEM;
        *ret = TAKE_PTR(ranges);
        *ret_n = n;
        return 0;
}

/* --- places ----------------------------------------------------------------------------------- */

/* "/src/linux/debug/../net/./ipv4/udp.c" -> "/src/linux/net/ipv4/udp.c", in place. */
static void normalise(char *path) {
        char *out = path;
        const char *p = path;

        while (*p) {
                size_t n = strcspn(p, "/");

                if (n == 0 && p != path)
                        p++;
                else if (n == 1 && *p == '.')
                        p += 1 + (p[1] == '/');
                else if (n == 2 && p[0] == '.' && p[1] == '.' && out > path + 1) {
                        out--;
                        while (out > path && out[-1] != '/')
                                out--;
                        p += 2 + (p[2] == '/');
                } else {
                        n += p[n] == '/';
                        memmove(out, p, n);
                        out += n;
                        p += n;
                }
        }
        *out = '\0';
}

/* The file of that number in the unit's table. */
static const char *file_of(const Unit *u, Dwarf_Die *die, unsigned attribute) {
        Dwarf_Attribute a;
        Dwarf_Word number;
        Dwarf_Files *files;
        size_t n;

        if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &a), &number) != 0 ||
            dwarf_getsrcfiles((Dwarf_Die *) &u->die, &files, &n) != 0 || number >= n)
                return NULL;
        return dwarf_filesrc(files, number, NULL, NULL);
}

int image_find_root(Image *i, uint64_t start_kernel) {
        static const char known[] = "init/main.c";
        _cleanup_free_ char *path = NULL;
        const char *file;
        Dwarf_Die *function;
        Unit *u;
        int r = unit_at(i, start_kernel, &u);

        function = r < 0 ? NULL : function_at(u, start_kernel);
        file = function ? file_of(u, function, DW_AT_decl_file) : NULL;
        if (!file)
                return r;
        path = strdup(file);
        if (!path)
                return -ENOMEM;
        normalise(path);
        if (strlen(path) < strlen(known) || !streq(path + strlen(path) - strlen(known), known))
                return 0;
        path[strlen(path) - strlen(known)] = '\0';
        i->root = TAKE_PTR(path);
        return 0;
}

/* As it is in the sources of the kernel; NULL without memory. */
static const char *clean_file(Image *i, const char *file) {
        const char *known = hash_get_ptr(&i->files, hash_key(file)), *rest;
        _cleanup_free_ char *path = NULL;

        if (known)
                return known;
        path = strdup(file);
        if (!path)
                return NULL;
        normalise(path);
        rest = i->root && *i->root ? startswith(path, i->root) : NULL;
        if (strv_add(&i->names, rest ?: path) < 0)
                return NULL;
        known = i->names.items[i->names.n - 1];
        return hash_add_ptr(&i->files, hash_key(file), known) < 0 ? NULL : known;
}

static uint32_t line_of(Dwarf_Die *die, unsigned attribute) {
        Dwarf_Attribute a;
        Dwarf_Word line;

        return dwarf_formudata(dwarf_attr_integrate(die, attribute, &a), &line) == 0
                       ? (uint32_t) MIN(line, UINT32_MAX)
                       : 0;
}

/* What of @parent was inlined, or is a block of its own, and has code at @address. */
static bool inner_at(Dwarf_Die parent, uint64_t address, Dwarf_Die *ret) {
        int more = dwarf_child(&parent, ret);

        for (; more == 0; more = dwarf_siblingof(ret, ret)) {
                int tag = dwarf_tag(ret);

                if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
                    dwarf_haspc(ret, address) == 1)
                        return true;
        }
        return false;
}

int image_frames(Image *i, const CodeSymbol *symbol, LinesNode *node) {
        LineFrame frames[INLINE_DEPTH_MAX] = { { .function = symbol->name } };
        uint32_t n = 1;
        Dwarf_Die *function, die;
        Dwarf_Line *line;
        const char *file;
        Unit *u;
        int r = unit_at(i, node->address, &u), number;

        if (r < 0)
                return r;
        function = function_at(u, node->address);
        if (function) {
                frames[0].function = dwarf_diename(function) ?: symbol->name;
                die = *function;
                for (unsigned depth = 0;
                     depth < 2 * INLINE_DEPTH_MAX && inner_at(die, node->address, &die); depth++) {
                        if (dwarf_tag(&die) != DW_TAG_inlined_subroutine || n == INLINE_DEPTH_MAX)
                                continue;
                        frames[n - 1].file = file_of(u, &die, DW_AT_call_file);
                        frames[n - 1].line = line_of(&die, DW_AT_call_line);
                        frames[n++].function = dwarf_diename(&die) ?: "?";
                }
        }
        line = u ? dwarf_getsrc_die(&u->die, node->address) : NULL;
        if (line) {
                frames[n - 1].file = dwarf_linesrc(line, NULL, NULL);
                if (dwarf_lineno(line, &number) == 0 && number > 0)
                        frames[n - 1].line = (uint32_t) number;
        }
        for (uint32_t k = 0; k < n; k++) {
                file = frames[k].file;
                frames[k].file = file ? clean_file(i, file) : NULL;
                if (file && !frames[k].file)
                        return -ENOMEM;
        }
        node->frames = malloc(n * sizeof(*frames));
        if (!node->frames)
                return -ENOMEM;
        memcpy(node->frames, frames, n * sizeof(*frames));
        node->n_frames = n;
        return 0;
}

bool image_definition(Image *i, const CodeSymbol *symbol, LineFrame *ret) {
        Dwarf_Die *function;
        const char *file;
        Unit *u;

        if (unit_at(i, symbol->address, &u) < 0)
                return false;
        function = function_at(u, symbol->address);
        file = function ? file_of(u, function, DW_AT_decl_file) : u ? dwarf_diename(&u->die) : NULL;
        if (file)
                file = clean_file(i, file);
        if (!file)
                return false;
        *ret = (LineFrame){ .function = symbol->name, .file = file };
        if (function)
                ret->line = line_of(function, DW_AT_decl_line);
        return true;
}

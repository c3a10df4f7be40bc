/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A vmlinux or a module with debug information, read with elfutils.
 *
 * Of the compile units only those of functions that are asked for are read, each once.  A module is relocatable:
 * libdwfl lays its sections out, and relocates what describes them; what its instructions call is told by the
 * relocations of the code, which are kept by address.
 */

#include "base/bytes.h"
#include "lines/lines-private.h"

#ifdef HAVE_ELFUTILS
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#define INLINE_DEPTH_MAX 64
/* An entry of __jump_table: s32 code, s32 target, long key (linux 6.12 include/linux/jump_label.h). */
#define KEY_BYTES 16
#define KEY_TARGET 4

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

struct Image {
        Dwfl *dwfl;
        Elf *elf;     /* the dwfl's */
        Dwarf *dwarf; /* the dwfl's */
        CodeMachine code;
        const char *machine;
        bool is_relocatable;
        char *build_id, *root;
        Section *sections;
        size_t n_sections;
        Relocation *relocations;
        size_t n_relocations;
        Key *keys;
        size_t n_keys;
        Unit **units;
        size_t n_units;
        Hash units_at; /* of offsets of their DIEs */
        Hash files;    /* cleaned names, by the addresses of libdw's */
        Strv names;
};

/* --- opening ---------------------------------------------------------------------------------- */

static int find_no_debuginfo(Dwfl_Module *m, void **p, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word crc, char **ret) {
        return -1;
}

static int find_no_elf(Dwfl_Module *m, void **p, const char *name, Dwarf_Addr base, char **ret,
                       Elf **elf) {
        return -1;
}

static int compare_relocations(const void *a, const void *b) {
        return CMP(((const Relocation *) a)->at, ((const Relocation *) b)->at);
}

static int compare_keys(const void *a, const void *b) {
        return CMP(((const Key *) a)->at, ((const Key *) b)->at);
}

static bool call_relocation(const Image *i, unsigned type) {
        return i->code == CODE_ARM64 ? type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26
                                     : type == R_X86_64_PC32 || type == R_X86_64_PLT32;
}

/* Where @symbol is; false: nowhere in this file. */
static bool locate(const Image *i, const GElf_Sym *symbol, GElf_Word shndx, uint64_t *ret) {
        GElf_Shdr header;
        size_t section = symbol->st_shndx == SHN_XINDEX ? shndx : symbol->st_shndx;
        Elf_Scn *scn;

        if (symbol->st_shndx == SHN_UNDEF ||
            (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
                return false;
        *ret = symbol->st_value;
        if (!i->is_relocatable)
                return true;
        scn = elf_getscn(i->elf, section);
        if (!scn || !gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC))
                return false;
        *ret += header.sh_addr;
        return true;
}

/* The table of symbols of the file. */
typedef struct Table {
        Elf_Data *data, *indices;
        size_t n, names;
} Table;

static bool symbol_table(const Image *i, Table *ret) {
        GElf_Shdr header;

        *ret = (Table){};
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(i->elf, scn));) {
                if (!gelf_getshdr(scn, &header))
                        continue;
                if (header.sh_type == SHT_SYMTAB_SHNDX)
                        ret->indices = elf_getdata(scn, NULL);
                if (header.sh_type != SHT_SYMTAB || header.sh_entsize == 0)
                        continue;
                ret->data = elf_getdata(scn, NULL);
                ret->n = header.sh_size / header.sh_entsize;
                ret->names = header.sh_link;
        }
        return ret->data;
}

static bool symbol_of(const Image *i, const Table *t, size_t n, GElf_Sym *ret,
                      uint64_t *ret_address, const char **ret_name) {
        GElf_Word shndx = 0;

        if (!gelf_getsymshndx(t->data, t->indices, (int) n, ret, &shndx))
                return false;
        *ret_name = elf_strptr(i->elf, t->names, ret->st_name);
        return *ret_name && locate(i, ret, shndx, ret_address);
}

/* The relocations of a section of code, or of the static keys. */
static int add_relocations(Image *i, const Table *t, const GElf_Shdr *header, Elf_Data *data,
                           uint64_t base, bool is_keys) {
        size_t n = header->sh_entsize > 0 ? header->sh_size / header->sh_entsize : 0;
        bool has_code = false;
        uint64_t code = 0;

        for (size_t k = 0; k < n && k < INT32_MAX; k++) {
                Relocation r = {};
                bool is_here, has_room = true;
                GElf_Rela rela;
                GElf_Sym symbol;

                if (!gelf_getrela(data, (int) k, &rela))
                        break;
                is_here = symbol_of(i, t, GELF_R_SYM(rela.r_info), &symbol, &r.target, &r.name);
                r.target += (uint64_t) rela.r_addend;
                r.at = base + rela.r_offset;
                if (is_keys) { /* by turns that of the code, and that of its target; the key's is absolute */
                        if (rela.r_offset % KEY_BYTES == 0) {
                                code = r.target;
                                has_code = is_here;
                        } else if (rela.r_offset % KEY_BYTES == KEY_TARGET && has_code && is_here)
                                has_room = ARRAY_ADD(i->keys, i->n_keys, (Key){ code, r.target });
                } else if (call_relocation(i, (unsigned) GELF_R_TYPE(rela.r_info)) &&
                           (is_here || r.name)) {
                        if (is_here)
                                r.name = NULL;
                        if (i->code == CODE_X86_64)
                                r.target += sizeof(uint32_t);
                        has_room = ARRAY_ADD(i->relocations, i->n_relocations, r);
                }
                if (!has_room)
                        return -ENOMEM;
        }
        return 0;
}

static const Section *section_at(const Image *i, uint64_t address) {
        for (size_t k = 0; k < i->n_sections; k++)
                if (address >= i->sections[k].address &&
                    address - i->sections[k].address < i->sections[k].n_bytes)
                        return &i->sections[k];
        return NULL;
}

/* What a number at @address says, which counts from its own place; false: there is none. */
static bool relative_at(const Image *i, uint64_t address, uint64_t *ret) {
        const Section *s = section_at(i, address);

        if (!s || s->n_bytes - (address - s->address) < sizeof(uint32_t))
                return false;
        *ret = address + (uint64_t) (int64_t) (int32_t) load_u32(s->data + (address - s->address),
                                                                 needs_swap(false));
        return true;
}

/* The static keys of a vmlinux: between two symbols. */
static int add_linked_keys(Image *i, uint64_t begin, uint64_t end) {
        Key key;

        for (uint64_t at = begin; at < end && relative_at(i, at, &key.at) &&
                                  relative_at(i, at + KEY_TARGET, &key.target);
             at += KEY_BYTES)
                if (!ARRAY_ADD(i->keys, i->n_keys, key))
                        return -ENOMEM;
        return 0;
}

static int add_sections(Image *i) {
        GElf_Shdr header, of;
        Table t;
        size_t names;
        int r = 0;

        if (elf_getshdrstrndx(i->elf, &names) != 0)
                return 0;
        (void) symbol_table(i, &t);
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(i->elf, scn)) && r >= 0;) {
                Elf_Data *data;

                if (!gelf_getshdr(scn, &header))
                        continue;
                if (header.sh_type == SHT_RELA && i->is_relocatable && t.data) {
                        Elf_Scn *code = elf_getscn(i->elf, header.sh_info);
                        const char *name;
                        bool is_keys;

                        if (!code || !gelf_getshdr(code, &of) || !(of.sh_flags & SHF_ALLOC))
                                continue;
                        name = elf_strptr(i->elf, names, of.sh_name);
                        is_keys = name && streq(name, "__jump_table");
                        data = is_keys || of.sh_flags & SHF_EXECINSTR ? elf_getdata(scn, NULL)
                                                                      : NULL;
                        if (data)
                                r = add_relocations(i, &t, &header, data, is_keys ? 0 : of.sh_addr,
                                                    is_keys);
                        continue;
                }
                if (!(header.sh_flags & SHF_ALLOC) || header.sh_type == SHT_NOBITS)
                        continue;
                data = elf_rawdata(scn, NULL);
                if (data && data->d_buf && data->d_size > 0 &&
                    !ARRAY_ADD(i->sections, i->n_sections,
                               (Section){ header.sh_addr, data->d_size, data->d_buf,
                                          header.sh_flags & SHF_EXECINSTR }))
                        r = -ENOMEM;
        }
        return r;
}

/* The lowest number of a 20-byte name, mostly: what a linker or a package gave the file. */
static int take_build_id(Image *i, Dwfl_Module *m) {
        const unsigned char *bits;
        GElf_Addr at;
        int n = dwfl_module_build_id(m, &bits, &at);

        if (n <= 0)
                return 0;
        i->build_id = malloc((size_t) n * 2 + 1);
        if (!i->build_id)
                return -ENOMEM;
        for (int k = 0; k < n; k++)
                sprintf(i->build_id + k * 2, "%02x", bits[k]);
        return 0;
}

int image_open(Image **ret, int fd, const char *path, const char *root, const char **ret_problem) {
        static const Dwfl_Callbacks callbacks = {
                .find_elf = find_no_elf,
                .find_debuginfo = find_no_debuginfo,
                .section_address = dwfl_offline_section_address,
        };
        _cleanup_close_ int file = fd;
        _cleanup_(image_freep) Image *i = NEW(Image, .root = NULL);
        Dwfl_Module *m;
        GElf_Ehdr header;
        Dwarf_Addr bias;
        int r;

        if (!i)
                return -ENOMEM;
        i->dwfl = dwfl_begin(&callbacks);
        if (!i->dwfl)
                return -ENOMEM;
        *ret_problem = "is no ELF file";
        m = dwfl_report_elf(i->dwfl, "image", path, file, 0, false);
        if (!m)
                return LINES_E_NONE;
        (void) TAKE_FD(file);
        (void) dwfl_report_end(i->dwfl, NULL, NULL);
        i->elf = dwfl_module_getelf(m, &bias);
        if (!i->elf || !gelf_getehdr(i->elf, &header))
                return LINES_E_NONE;
        *ret_problem = "is of a machine that lines are not known of";
        if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
                return LINES_E_NONE;
        i->code = header.e_machine == EM_AARCH64 ? CODE_ARM64 : CODE_X86_64;
        i->machine = header.e_machine == EM_AARCH64 ? "aarch64" : "x86_64";
        i->is_relocatable = header.e_type == ET_REL;
        *ret_problem = "has no debug information";
        i->dwarf = dwfl_module_getdwarf(m, &bias);
        if (!i->dwarf)
                return LINES_E_NONE;
        r = take_build_id(i, m) ?: add_sections(i) ?: text_replace(&i->root, root);
        if (r < 0)
                return r;
        if (i->n_relocations > 0)
                qsort(i->relocations, i->n_relocations, sizeof(*i->relocations),
                      compare_relocations);
        *ret = TAKE_PTR(i);
        return 0;
}

static Unit *unit_free(Unit *u) {
        if (u)
                free(u->extents);
        return mfree(u);
}

Image *image_free(Image *i) {
        if (!i)
                return NULL;
        for (size_t k = 0; k < i->n_units; k++)
                (void) unit_free(i->units[k]);
        free(i->units);
        hash_done(&i->units_at);
        hash_done(&i->files);
        strv_done(&i->names);
        free(i->keys);
        free(i->relocations);
        free(i->sections);
        free(i->build_id);
        free(i->root);
        if (i->dwfl)
                dwfl_end(i->dwfl);
        return mfree(i);
}

const char *image_build_id(const Image *i) {
        return i->build_id;
}

const char *image_machine(const Image *i) {
        return i->machine;
}

CodeMachine image_code(const Image *i) {
        return i->code;
}

/* --- symbols, and code ------------------------------------------------------------------------ */

/* What is no function, nor the beginning of one: padding, and what linkers put beside it. */
static bool is_label(const char *name) {
        return !*name || *name == '$' || *name == '.' || startswith(name, "__pfx_") ||
               startswith(name, "__cfi_");
}

const uint8_t *image_bytes(const Image *i, uint64_t address, size_t *ret_n) {
        const Section *s = section_at(i, address);

        if (!s || !s->is_code)
                return NULL;
        *ret_n = s->n_bytes - (address - s->address);
        return s->data + (address - s->address);
}

bool image_relocated(const Image *i, uint64_t at, uint64_t *ret, const char **ret_name) {
        size_t k = BISECT(0, i->n_relocations, n, i->relocations[n].at < at);

        if (k == i->n_relocations || i->relocations[k].at != at)
                return false;
        *ret = i->relocations[k].target;
        *ret_name = i->relocations[k].name;
        return true;
}

uint64_t image_key_target(const Image *i, uint64_t at) {
        size_t k = BISECT(0, i->n_keys, n, i->keys[n].at < at);

        return k < i->n_keys && i->keys[k].at == at ? i->keys[k].target : 0;
}

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

/* The compile unit that @address is in; NULL: there is none.  Not every compiler writes .debug_aranges. */
static Dwarf_Die *find_unit(const Image *i, uint64_t address, Dwarf_Die *ret) {
        Dwarf_Off at = 0, next;
        size_t n_header;

        if (dwarf_addrdie(i->dwarf, address, ret))
                return ret;
        for (; dwarf_nextcu(i->dwarf, at, &next, &n_header, NULL, NULL, NULL) == 0; at = next)
                if (dwarf_offdie(i->dwarf, at + n_header, ret) && dwarf_haspc(ret, address) == 1)
                        return ret;
        return NULL;
}

/* 0, also where *@ret is NULL since there is none, or -ENOMEM. */
static int unit_at(Image *i, uint64_t address, Unit **ret) {
        Dwarf_Die die;
        Unit *u;
        int r;

        *ret = NULL;
        if (!find_unit(i, address, &die))
                return 0;
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

/* What the paths of all files begin with: what is in front of init/main.c.  0 or -ENOMEM. */
static int find_root(Image *i, uint64_t start_kernel) {
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

int image_symbols(Image *i, CodeSymbols *ret) {
        uint64_t keys_begin = 0, keys_end = 0, start_kernel = 0;
        Table t;
        int r;

        if (!symbol_table(i, &t))
                return 0;
        for (size_t k = 0; k < t.n && k < INT32_MAX; k++) {
                CodeSymbol s = {};
                GElf_Sym symbol;
                const Section *section;

                if (!symbol_of(i, &t, k, &symbol, &s.address, &s.name) || is_label(s.name))
                        continue;
                if (streq(s.name, "__start___jump_table"))
                        keys_begin = s.address;
                else if (streq(s.name, "__stop___jump_table"))
                        keys_end = s.address;
                else if (streq(s.name, "start_kernel"))
                        start_kernel = s.address;
                if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
                    GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE)
                        continue;
                section = section_at(i, s.address);
                if (!section || !section->is_code)
                        continue;
                s.n_bytes = MIN(symbol.st_size, section->n_bytes - (s.address - section->address));
                if (!ARRAY_ADD(ret->items, ret->n, s))
                        return -ENOMEM;
        }
        r = i->is_relocatable ? 0 : add_linked_keys(i, keys_begin, keys_end);
        if (r >= 0 && start_kernel != 0 && !i->root)
                r = find_root(i, start_kernel);
        if (r < 0)
                return r;
        if (i->n_keys > 0)
                qsort(i->keys, i->n_keys, sizeof(*i->keys), compare_keys);
        return code_symbols_finish(ret);
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

const char *image_root(const Image *i) {
        return i->root;
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
#else

int image_open(Image **ret, int fd, const char *path, const char *root, const char **ret_problem) {
        safe_close(fd);
        *ret_problem = "cannot be read: this ftracectl was built without elfutils (libdw)";
        return LINES_E_NONE;
}

/* No image is ever open. */
Image *image_free(Image *i) {
        return NULL;
}

const char *image_build_id(const Image *i) {
        return NULL;
}

const char *image_machine(const Image *i) {
        return NULL;
}

const char *image_root(const Image *i) {
        return NULL;
}

CodeMachine image_code(const Image *i) {
        return CODE_X86_64;
}

int image_symbols(Image *i, CodeSymbols *ret) {
        return 0;
}

int image_ranges(Image *i, const CodeSymbol *symbol, CodeRange **ret, size_t *ret_n) {
        return -ENOMEM;
}

const uint8_t *image_bytes(const Image *i, uint64_t address, size_t *ret_n) {
        return NULL;
}

bool image_relocated(const Image *i, uint64_t at, uint64_t *ret, const char **ret_name) {
        return false;
}

uint64_t image_key_target(const Image *i, uint64_t at) {
        return 0;
}

int image_frames(Image *i, const CodeSymbol *symbol, LinesNode *node) {
        return -ENOMEM;
}

bool image_definition(Image *i, const CodeSymbol *symbol, LineFrame *ret) {
        return false;
}
#endif

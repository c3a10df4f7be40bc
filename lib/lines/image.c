/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A vmlinux or a module with debug information, read with elfutils.
 *
 * A module is relocatable: libdwfl lays its sections out, and relocates what describes them; what its instructions call is told by the
 * relocations of the code, which are kept by address.
 */

#include <gelf.h>

#include "base/bytes.h"
#include "lines/image.h"

/* An entry of __jump_table: s32 code, s32 target, long key (linux 6.12 include/linux/jump_label.h). */
#define KEY_BYTES 16
#define KEY_TARGET 4

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
        i->is_fixed = header.e_type == ET_EXEC && i->code == CODE_X86_64;
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

Image *image_free(Image *i) {
        if (!i)
                return NULL;
        for (size_t k = 0; k < i->n_units; k++) {
                free(i->units[k]->extents);
                free(i->units[k]);
        }
        free(i->units);
        free(i->unit_ranges);
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

const char *image_root(const Image *i) {
        return i->root;
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

/* The address that is in @s at @at: in data that word; in code "mov $ADDRESS" and "lea ADDRESS(%rip)". */
static uint64_t pointer_at(const Section *s, size_t at) {
        const uint8_t *p = s->data + at;
        int64_t n;

        if (!s->is_code)
                return load_u64(p, needs_swap(false));
        n = (int32_t) load_u32(p, needs_swap(false));
        return (uint64_t) n + (at >= 2 && p[-2] == 0x8d && (p[-1] & 0xc7) == 0x05
                                       ? s->address + at + sizeof(uint32_t)
                                       : 0);
}

void image_find_pointed(const Image *i, const CodeSymbols *s, uint8_t *marks, uint8_t mark) {
        for (size_t k = 0; k < s->n && !i->is_fixed; k++)
                marks[k] |= mark;
        for (size_t k = 0; k < i->n_sections && i->is_fixed && s->n > 0; k++) {
                const Section *in = &i->sections[k];
                size_t n_word = in->is_code ? sizeof(uint32_t) : sizeof(uint64_t);

                for (size_t at = 0; at + n_word <= in->n_bytes; at += in->is_code ? 1 : n_word) {
                        uint64_t is = pointer_at(in, at);

                        if (is < s->items[0].address || is > s->items[s->n - 1].address ||
                            (in->address + at >= i->traced.begin &&
                             in->address + at < i->traced.end))
                                continue;
                        for (size_t n = code_symbols_at(s, is);
                             n < s->n && s->items[n].address == is; n++)
                                marks[n] |= mark;
                }
        }
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
                else if (streq(s.name, "__start_mcount_loc"))
                        i->traced.begin = s.address;
                else if (streq(s.name, "__stop_mcount_loc"))
                        i->traced.end = s.address;
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
                r = image_find_root(i, start_kernel);
        if (r < 0)
                return r;
        if (i->n_keys > 0)
                qsort(i->keys, i->n_keys, sizeof(*i->keys), compare_keys);
        return code_symbols_finish(ret);
}

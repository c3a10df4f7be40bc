/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A copy in memory that nobody can cut is what libdwfl maps.  It finds the best table of symbols, with that of a debug file;
 * of this a list by address is made, with one name for each address.  It also unpacks what is compressed, and does as rules
 * say, and a few bytes of either may stand for any amount of memory: there is a limit while it is asked.
 *
 * Whether a function keeps a frame pointer at an address is told by .eh_frame: from which register it counts its frame.
 * Go's compiler, which keeps them, writes none.
 */

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/io.h"
#include "programs/programs-private.h"

#define FILE_BYTES_MAX ((off_t) 512 << 20)
#define SYMBOLS_MAX ((size_t) 4 << 20)
#define CALL_BYTES_MAX 8
#define MEMORY_MAX ((uint64_t) 1 << 30) /* more than there is already; a mapped file counts */

typedef struct ImageSymbol {
        uint64_t start, n_bytes; /* 0: up to the next one */
        const char *name;        /* in the file's table */
        bool is_global;
} ImageSymbol;

struct ProgramImage {
        Dwfl *dwfl;
        Dwfl_Module *module;
        Elf *elf; /* its */
        int fd;   /* the copy, which libdwfl has */
        GElf_Addr bias;
        GElf_Half machine;
        Dwarf_CFI *cfi; /* NULL: there is none */
        GElf_Addr cfi_bias;
        const char *debug; /* where debug files are */
        ImageSymbol *symbols;
        size_t n_symbols;
        char *name; /* the last one, demangled */
        UnwindRules **rules;
        size_t n_rules;
        Hash rules_at; /* index + 1 by the place in the file */
};

/* --- opening ----------------------------------------------------------------------------------- */

/* What there was, for restore_memory(). */
static struct rlimit limit_memory(void) {
        _cleanup_free_ char *text = NULL;
        struct rlimit before = { RLIM_INFINITY, RLIM_INFINITY }, limit;
        uint64_t n_pages;

        (void) getrlimit(RLIMIT_DATA, &before);
        limit = before;
        if (file_read(AT_FDCWD, "/proc/self/statm", &text, NULL, 256) >= 0 &&
            sscanf(text, "%*u %*u %*u %*u %*u %" SCNu64, &n_pages) == 1) {
                limit.rlim_cur = MIN((uint64_t) before.rlim_cur,
                                     n_pages * (uint64_t) sysconf(_SC_PAGESIZE) + MEMORY_MAX);
                (void) setrlimit(RLIMIT_DATA, &limit);
        }
        return before;
}

static void restore_memory(struct rlimit *before) {
        (void) setrlimit(RLIMIT_DATA, before);
}

#define LIMIT_MEMORY                                                                               \
        _cleanup_(restore_memory) struct rlimit before __attribute__((unused)) = limit_memory()

/* A regular file's bytes in memory; -EFBIG: too many. */
static int copy_file(int from) {
        _cleanup_close_ int to = -EBADF;
        struct stat st;
        off_t n = 0;

        if (fstat(from, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EBADMSG;
        if (st.st_size > FILE_BYTES_MAX)
                return -EFBIG;
        to = memfd_create("program", MFD_CLOEXEC);
        if (to < 0)
                return -errno;
        while (n < st.st_size) {
                ssize_t r = sendfile(to, from, &n, (size_t) (st.st_size - n));

                if (r < 0)
                        return -errno;
                if (r == 0) /* it has been cut */
                        break;
        }
        return TAKE_FD(to);
}

static int find_no_elf(Dwfl_Module *m, void **p, const char *name, Dwarf_Addr base, char **ret,
                       Elf **elf) {
        return -1;
}

/* DEBUG/.build-id/ab/cdef.debug */
static int find_debug(Dwfl_Module *m, void **p, const char *name, Dwarf_Addr base, const char *file,
                      const char *link, GElf_Word crc, char **ret) {
        const ProgramImage *i = *p;
        const unsigned char *bits;
        _cleanup_close_ int fd = -EBADF;
        char path[PATH_MAX], *at;
        GElf_Addr where;
        int n = dwfl_module_build_id(m, &bits, &where);

        if (!i || n < 2 || n > 64)
                return -1;
        at = path + snprintf(path, PATH_MAX / 2, "%s/.build-id/%02x/", i->debug, bits[0]);
        for (int k = 1; k < n; k++)
                at += sprintf(at, "%02x", bits[k]);
        strcpy(at, ".debug");
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        return fd < 0 ? -1 : copy_file(fd);
}

static int compare_symbols(const void *pa, const void *pb) {
        const ImageSymbol *a = pa, *b = pb;

        return CMP(a->start, b->start) ?: CMP(*a->name == '_', *b->name == '_')
                       ?: CMP(b->is_global, a->is_global) ?: strcmp(a->name, b->name);
}

static int read_symbols(ProgramImage *i) {
        int n = dwfl_module_getsymtab(i->module);
        size_t n_all;

        for (int k = 1; k < n && i->n_symbols < SYMBOLS_MAX; k++) {
                ImageSymbol s = {};
                GElf_Word section;
                GElf_Sym symbol;
                int type;

                s.name = dwfl_module_getsym_info(i->module, k, &symbol, &s.start, &section, NULL,
                                                 NULL);
                type = GELF_ST_TYPE(symbol.st_info);
                if (!s.name || !*s.name || section == SHN_UNDEF ||
                    (type != STT_FUNC && type != STT_GNU_IFUNC))
                        continue;
                s.n_bytes = symbol.st_size;
                s.is_global = GELF_ST_BIND(symbol.st_info) == STB_GLOBAL;
                if (!ARRAY_ADD(i->symbols, i->n_symbols, s))
                        return -ENOMEM;
        }
        SORT(i->symbols, i->n_symbols, compare_symbols);
        n_all = i->n_symbols;
        i->n_symbols = 0;
        for (size_t k = 0; k < n_all; k++)
                if (i->n_symbols == 0 || i->symbols[i->n_symbols - 1].start != i->symbols[k].start)
                        i->symbols[i->n_symbols++] = i->symbols[k];
        return 0;
}

int program_image_open(ProgramImage **ret, int fd, const char *debug, const char **ret_problem) {
        static const Dwfl_Callbacks callbacks = { .find_elf = find_no_elf,
                                                  .find_debuginfo = find_debug,
                                                  .section_address = dwfl_offline_section_address };
        _cleanup_(program_image_freep) ProgramImage *i =
                NEW(ProgramImage, .fd = -EBADF, .debug = debug);
        _cleanup_close_ int file = fd, copy = -EBADF;
        char magic[SELFMAG] = "";
        GElf_Ehdr header;
        LIMIT_MEMORY;
        void **data;
        int r;

        if (!i)
                return -ENOMEM;
        copy = copy_file(file);
        *ret_problem = copy == -EFBIG ? "is larger than 512 MiB" : "cannot be read";
        if (copy < 0)
                return PROGRAM_IMAGE_E_INVALID;
        i->fd = fcntl(copy, F_DUPFD_CLOEXEC, 3);
        i->dwfl = dwfl_begin(&callbacks);
        if (i->fd < 0 || !i->dwfl)
                return -ENOMEM;
        *ret_problem = "is no ELF file";
        (void) pread(copy, magic, sizeof(magic), 0);
        if (memcmp(magic, ELFMAG, SELFMAG) != 0)
                return PROGRAM_IMAGE_E_INVALID;
        i->module = dwfl_report_elf(i->dwfl, "program", "program", copy, 0, true);
        if (!i->module)
                return PROGRAM_IMAGE_E_INVALID;
        (void) TAKE_FD(copy);
        (void) dwfl_report_end(i->dwfl, NULL, NULL);
        (void) dwfl_module_info(i->module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
        *data = i;
        i->elf = dwfl_module_getelf(i->module, &i->bias);
        if (!i->elf || !gelf_getehdr(i->elf, &header) ||
            (header.e_type != ET_DYN && header.e_type != ET_EXEC))
                return PROGRAM_IMAGE_E_INVALID;
        i->machine = header.e_machine;
        r = read_symbols(i);
        if (r < 0)
                return r;
        i->cfi = dwfl_module_eh_cfi(i->module, &i->cfi_bias);
        *ret = TAKE_PTR(i);
        return 0;
}

/* --- what is asked ------------------------------------------------------------------------------ */

/* Where a byte of the file lies when it is loaded; false: nowhere. */
static bool find_address(const ProgramImage *i, uint64_t at, uint64_t *ret) {
        bool is_there = false;
        GElf_Phdr h;
        size_t n;

        if (elf_getphdrnum(i->elf, &n) != 0)
                return false;
        for (size_t k = 0; k < n && k < INT32_MAX; k++) {
                if (!gelf_getphdr(i->elf, (int) k, &h))
                        break;
                if (h.p_type != PT_LOAD || at < h.p_offset || at - h.p_offset >= h.p_filesz ||
                    (is_there && !(h.p_flags & PF_X)))
                        continue;
                *ret = h.p_vaddr + (at - h.p_offset) + i->bias;
                is_there = true;
        }
        return is_there;
}

/* ff /2: its length by its operand; 0: it is none (Intel's manual, volume 2, 2.1.5). */
static size_t indirect_call_bytes(const uint8_t *p) {
        uint8_t mod = p[1] >> 6, rm = p[1] & 7;
        size_t n = rm == 4 && mod != 3 ? 3 : 2;

        if (p[0] != 0xff || ((p[1] >> 3) & 7) != 2)
                return 0;
        if (mod == 1)
                return n + 1;
        return mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (p[2] & 7) == 5))) ? n + 4 : n;
}

/* True if the instruction that ends with the byte @at is a call, or nobody knows. */
static bool is_behind_call(const ProgramImage *i, uint64_t at) {
        uint8_t p[CALL_BYTES_MAX] = {};
        size_t n = (size_t) MIN(at + 1, (uint64_t) sizeof(p));
        uint8_t *from = p + sizeof(p) - n;
        uint32_t word;

        if (i->machine != EM_X86_64 && i->machine != EM_AARCH64)
                return true;
        if (at > INT64_MAX || pread(i->fd, from, n, (off_t) (at + 1 - n)) != (ssize_t) n)
                return false;
        if (i->machine == EM_AARCH64) {
                word = load_u32(p + 4, needs_swap(false));
                return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000 ||
                       (word & 0xfefff800) == 0xd63f0800;
        }
        if (p[CALL_BYTES_MAX - 5] == 0xe8)
                return true;
        for (size_t k = 2; k <= 7; k++)
                if (indirect_call_bytes(p + CALL_BYTES_MAX - k) == k)
                        return true;
        return false;
}

/* The caller's frame pointer is still where the caller had it, so that whoever follows it skips the caller. */
static bool hides_caller(const ProgramImage *i, uint64_t address) {
        Dwarf_Frame *frame = NULL;
        Dwarf_Op *ops, room[3];
        size_t n = 0;
        bool is_hidden = false;
        LIMIT_MEMORY;

        if (!i->cfi || dwarf_cfi_addrframe(i->cfi, address - i->cfi_bias, &frame) != 0)
                return false;
        if (i->machine == EM_AARCH64) /* as long as it has not saved where it returns to */
                is_hidden = dwarf_frame_register(frame, 30, room, &ops, &n) == 0 && n == 0;
        else if (i->machine == EM_X86_64 && dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1)
                is_hidden = ops[0].atom == DW_OP_breg7 ||
                            (ops[0].atom == DW_OP_bregx && ops[0].number == 7);
        free(frame);
        return is_hidden;
}

/* --- unwinding ----------------------------------------------------------------------------------- */

#define RULES_MAX 16384 /* then all are read anew */

static UnwindRules *rules_free(UnwindRules *r) {
        if (r)
                free(r->frame);
        return mfree(r);
}

static void forget_rules(ProgramImage *i) {
        for (size_t k = 0; k < i->n_rules; k++)
                (void) rules_free(i->rules[k]);
        i->n_rules = 0;
        hash_clear(&i->rules_at);
        free(TAKE_PTR(i->rules));
}

/* NULL: libdw knows none.  What it says in @room has to be pointed at anew. */
static UnwindRules *read_rules(const ProgramImage *i, uint64_t address) {
        UnwindRules *r = calloc(1, sizeof(*r));
        Dwarf_Op *ops;
        size_t n = 0;
        LIMIT_MEMORY;
        int ra;

        if (!r || !i->cfi || dwarf_cfi_addrframe(i->cfi, address - i->cfi_bias, &r->frame) != 0)
                return rules_free(r);
        ra = dwarf_frame_info(r->frame, NULL, NULL, &r->is_signal);
        if (ra < 0 || ra >= 32 || dwarf_frame_cfa(r->frame, &ops, &n) != 0 || n == 0)
                return rules_free(r);
        r->return_register = (uint8_t) ra;
        r->cfa = (UnwindRule){ .kind = UNWIND_BY_OPS, .n = (uint32_t) n, .ops = ops };
        for (int k = 0; k < 32; k++) {
                UnwindRule *rule = &r->registers[k];

                if (dwarf_frame_register(r->frame, k, rule->room, &ops, &n) != 0)
                        continue;
                rule->n = (uint32_t) n;
                rule->ops = ops;
                rule->kind = n > 0 ? UNWIND_BY_OPS : ops ? UNWIND_UNDEFINED : UNWIND_SAME;
        }
        return r;
}

const UnwindRules *program_image_rules(ProgramImage *i, uint64_t at) {
        size_t known = hash_get(&i->rules_at, at + 1);
        UnwindRules *r;
        uint64_t address;

        if (known > 0)
                return i->rules[known - 1];
        if (!find_address(i, at, &address))
                return NULL;
        if (i->n_rules == RULES_MAX)
                forget_rules(i);
        r = read_rules(i, address);
        if (!ARRAY_ADD(i->rules, i->n_rules, r))
                return rules_free(r);
        (void) hash_set(&i->rules_at, at + 1, i->n_rules);
        return r;
}

/* --- names --------------------------------------------------------------------------------------- */

static const ImageSymbol *find_symbol(const ProgramImage *i, uint64_t address) {
        size_t k = BISECT(0, i->n_symbols, x, i->symbols[x].start <= address);
        const ImageSymbol *s = k > 0 ? &i->symbols[k - 1] : NULL;

        return s && (s->n_bytes > 0 ? address - s->start < s->n_bytes : k < i->n_symbols) ? s
                                                                                          : NULL;
}

void program_image_name(ProgramImage *i, uint64_t at, ProgramFrame *frame) {
        const ImageSymbol *s;
        uint64_t address;

        if (!find_address(i, at, &address))
                return;
        frame->address = address - i->bias + frame->is_return;
        frame->is_wrong = frame->is_return && !frame->is_unwound && !is_behind_call(i, at);
        if (frame->is_wrong)
                return;
        frame->hides_caller = !frame->is_unwound && hides_caller(i, address);
        s = find_symbol(i, address);
        if (!s)
                return;
        free(i->name);
        i->name = demangle(s->name);
        frame->name = i->name ?: s->name;
        frame->n_name = i->name ? strlen(i->name) : strcspn(s->name + 1, "@") + 1; /* its version */
}

ProgramImage *program_image_free(ProgramImage *i) {
        if (!i)
                return NULL;
        forget_rules(i);
        hash_done(&i->rules_at);
        if (i->dwfl)
                dwfl_end(i->dwfl);
        if (i->fd >= 0)
                (void) close(i->fd);
        free(i->symbols);
        free(i->name);
        return mfree(i);
}

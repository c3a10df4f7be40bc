/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The head, which both versions begin with, and the answers.  Texts that may be large (kallsyms)
 * are unpacked when they are asked for; formats are kept, by the path that they had in tracefs.
 */

#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/array.h"
#include "pages/dat-private.h"
#include "store/format.h"
#include "store/page.h"
#include "store/tracing.h"

#define CLOCK_OF_TICKS "tsc2nsec" /* ticks that the file says how to make nanoseconds of */

static int map_file(DatFile *f, int fd) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (!S_ISREG(st.st_mode) || (uint64_t) st.st_size < DAT_MAGIC_BYTES + 2)
                return DAT_FILE_E_FOREIGN;
        f->n_map = (uint64_t) st.st_size;
        f->map = mmap(NULL, f->n_map, PROT_READ, MAP_SHARED, fd, 0);
        if (f->map == MAP_FAILED) {
                f->map = NULL;
                return ORIGIN(-errno);
        }
        return 0;
}

static int read_compressor(DatFile *f, DatBytes *b, char **ret_problem) {
        static const struct {
                const char *name;
                DatCompressor compressor;
        } compressors[] = {
                { "none", DAT_NONE }, { "", DAT_NONE }, { "zstd", DAT_ZSTD }, { "zlib", DAT_ZLIB }
        };
        uint64_t at = b->at;
        const char *name = dat_bytes_string(b, "the file ends within the compressor's name");

        (void) dat_bytes_string(b, "the file ends within the compressor's version");
        for (size_t i = 0; i < ELEMENTSOF(compressors); i++)
                if (streq(name, compressors[i].name)) {
                        f->compressor = compressors[i].compressor;
                        return dat_can_unpack(f->compressor)
                                       ? 0
                                       : dat_fail(
                                                 ret_problem, at,
                                                 "it is compressed by zlib, which this program was "
                                                 "built without");
                }
        return dat_fail(ret_problem, at, "it is compressed in a way that is neither zstd nor zlib");
}

static int read_head(DatFile *f, DatBytes *b, char **ret_problem) {
        const char *version;
        const uint8_t *bytes;
        int r = 0;

        if (!dat_bytes_are(b, DAT_MAGIC, DAT_MAGIC_BYTES))
                return DAT_FILE_E_FOREIGN;
        version = dat_bytes_string(b, "the file ends within its version");
        if (!streq(version, "6") && !streq(version, "7"))
                return dat_fail(ret_problem, DAT_MAGIC_BYTES, "the version is neither 6 nor 7");
        f->version = (unsigned) (version[0] - '0');
        bytes = dat_bytes_take(b, 2, "the file ends within its head");
        if (!bytes || bytes[0] > 1)
                return dat_fail(ret_problem, b->at, "the byte order is not known");
        f->big_endian = bytes[0];
        f->swap = b->swap = needs_swap(f->big_endian);
        if (bytes[1] != 8 && bytes[1] != 4)
                return dat_fail(ret_problem, b->at - 1,
                                "its kernel is neither of 32 nor of 64 bits");
        f->page_bytes = dat_bytes_u32(b, "the file ends within its head");
        if (f->version == 7) {
                r = read_compressor(f, b, ret_problem);
                f->first_option = dat_bytes_u64(b, "the file ends within its head");
        }
        return r;
}

static int check(DatFile *f, char **ret_problem) {
        for (DatBuffer *b = f->buffers; b < f->buffers + f->n_buffers; b++) {
                b->page_bytes = b->page_bytes ?: f->page_bytes;
                if (!page_bytes_are_valid(b->page_bytes))
                        return dat_fail(ret_problem, 14, "the size of a page is impossible");
                for (size_t i = 1; i < b->n_cpus; i++)
                        if (b->cpus[i - 1].cpu >= b->cpus[i].cpu)
                                return dat_fail(ret_problem, b->cpus[i].at,
                                                "a CPU comes twice, or CPUs are not in order");
        }
        while (f->i_chosen < f->n_buffers && f->buffers[f->i_chosen].n_cpus == 0)
                f->i_chosen++;
        if (f->i_chosen == f->n_buffers)
                f->i_chosen = 0;
        return 0;
}

static const DatFormat *find_format(const DatFile *f, const char *path) {
        for (size_t i = 0; i < f->n_formats; i++)
                if (streq(f->formats[i].path, path))
                        return &f->formats[i];
        return NULL;
}

/* What trace-cmd says of longs is its own, where it was built for another kernel: the kernel's word counts. */
static int find_width(DatFile *f, char **ret_problem) {
        const DatFormat *header = find_format(f, "events/header_page");
        TracingField commit = tracing_find_field(header ? header->text : "", "commit"), data;

        if (commit.offset != 8 || commit.size != 4)
                return 0;
        data = tracing_find_field(header->text, "data");
        if (data.offset < 12 || data.offset > 16)
                return dat_fail(ret_problem, 0, "its header_page is not that of any kernel");
        f->narrow_data_at = data.offset;
        return 0;
}

uint32_t dat_file_page_bytes(const DatFile *f) {
        return dat_file_buffer(f)->page_bytes << (f->narrow_data_at > 0);
}

/* header_page of pages that are made wider. */
static int write_header_page(const DatFile *f, char **ret, size_t *ret_n) {
        int n = asprintf(ret,
                         "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                         "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                         "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                         "\tfield: char data;\toffset:16;\tsize:%" PRIu32 ";\tsigned:1;\n",
                         dat_file_page_bytes(f) - PAGE_HEADER_BYTES);

        *ret_n = (size_t) n;
        return n < 0 ? -ENOMEM : 0;
}

const DatBuffer *dat_file_buffer(const DatFile *f) {
        return &f->buffers[f->i_chosen];
}

int dat_file_take_fd(DatFile **ret, int fd, char **ret_problem) {
        _cleanup_(dat_file_freep) DatFile *f = calloc(1, sizeof(*f));
        _cleanup_close_ int owned = fd;
        DatBytes head;
        int r;

        *ret_problem = NULL;
        if (!f)
                return -ENOMEM;
        f->fd = TAKE_FD(owned);
        r = map_file(f, f->fd);
        if (r != 0)
                return r;
        head = (DatBytes){ .data = f->map, .n = f->n_map };
        r = read_head(f, &head, ret_problem);
        if (r == 0 && head.problem)
                r = dat_fail(ret_problem, head.problem_at, head.problem);
        r = r ?: dat_body_read(f, &head, ret_problem) ?: check(f, ret_problem)
                   ?: find_width(f, ret_problem);
        if (r != 0)
                return r;
        *ret = TAKE_PTR(f);
        return 0;
}

/* Packed sections begin with the text's own length, of @n_count bytes. */
static int read_text(const DatFile *f, const DatText *t, size_t n_count, char **ret,
                     size_t *ret_n) {
        uint64_t n = t->is_packed ? t->n_plain : t->n;
        _cleanup_free_ char *text = NULL;

        if (!t->data)
                return ORIGIN(-ENOENT);
        if (n > DAT_TEXT_MAX)
                return ORIGIN(-EFBIG);
        text = malloc_huge(n + 1);
        if (!text)
                return -ENOMEM;
        if (!t->is_packed)
                memcpy(text, t->data, n);
        else if (n < n_count || !dat_unpack(f->compressor, NULL, t->data, t->n, text, n))
                return ORIGIN(-EBADMSG);
        else
                memmove(text, text + n_count, n -= n_count);
        text[n] = 0;
        *ret = TAKE_PTR(text);
        *ret_n = n;
        return 0;
}

int dat_file_read_tracing(const void *file, const char *path, char **ret, size_t *ret_n) {
        const DatFile *f = file;
        const DatFormat *format;
        const char *said;

        if (f->narrow_data_at > 0 && streq(path, "events/header_page"))
                return write_header_page(f, ret, ret_n);
        if (streq(path, "saved_cmdlines"))
                return read_text(f, &f->cmdlines, 8, ret, ret_n);
        said = streq(path, "owners") ? f->owners : streq(path, "maps") ? f->maps : NULL;
        if (said) {
                *ret = strdup(said);
                *ret_n = strlen(said);
                return *ret ? 0 : -ENOMEM;
        }
        if (streq(path, "printk_formats"))
                return read_text(f, &f->printk, 4, ret, ret_n);
        format = find_format(f, path);
        if (!format)
                return ORIGIN(-ENOENT);
        /* There may be a NUL in it. */
        *ret = malloc(format->n + 1);
        if (!*ret)
                return -ENOMEM;
        memcpy(*ret, format->text, format->n + 1);
        *ret_n = format->n;
        return 0;
}

int dat_file_read_symbols(const void *file, char **ret, size_t *ret_n) {
        const DatFile *f = file;
        int r = read_text(f, &f->kallsyms, 4, ret, ret_n);

        return r == -ENOENT ? -ENODATA : r;
}

int dat_file_meta(const void *file, SessionMeta **ret) {
        const DatFile *f = file;
        const DatBuffer *b = dat_file_buffer(f);
        const char *name = f->name ?: "trace.dat",
                   *clock = f->times.mult > 0 ? CLOCK_OF_TICKS : b->clock ?: f->clock;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r = session_meta_new(&m);

        if (r < 0)
                return r;
        /* What holds the symbols' place: there is no store that they would be named in. */
        r = text_replace(&m->name, name) ?: text_replace(&m->id, "")
                    ?: (clock ? text_replace(&m->clock, clock) : 0)
                    ?: (*b->name ? text_replace(&m->instance, b->name) : 0)
                    ?: (f->kallsyms.data ? text_replace(&m->symbols, "trace.dat") : 0)
                    ?: (f->origin ? dat_origin_apply(m, f->origin) : 0);
        if (r < 0)
                return r;
        if (f->uname) /* "Linux HOST RELEASE MACHINE" */
                (void) sscanf(f->uname, "%*s %ms %ms %ms", &m->host, &m->kernel, &m->machine);
        m->state = SESSION_SEALED;
        m->page_bytes = dat_file_page_bytes(f);
        m->big_endian = f->big_endian;
        m->n_possible_cpus = f->n_possible_cpus;
        if (b->n_accounts > 0) {
                m->cpus = malloc(b->n_accounts * sizeof(*m->cpus));
                if (!m->cpus)
                        return -ENOMEM;
                memcpy(m->cpus, b->accounts, b->n_accounts * sizeof(*m->cpus));
                m->n_cpus = b->n_accounts;
        }
        *ret = TAKE_PTR(m);
        return 0;
}

static int files_list_cpus(const void *p, uint32_t **ret, size_t *ret_n) {
        const DatBuffer *b = dat_file_buffer(p);

        *ret = calloc(b->n_cpus ?: 1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        for (size_t i = 0; i < b->n_cpus; i++)
                (*ret)[i] = b->cpus[i].cpu;
        *ret_n = b->n_cpus;
        return 0;
}

static void files_free(void *p) {
        (void) dat_file_free(p);
}

static const SessionFiles dat_files = {
        .read_meta = dat_file_meta,
        .read_tracing = dat_file_read_tracing,
        .read_symbols = dat_file_read_symbols,
        .list_cpus = files_list_cpus,
        .free = files_free,
};

int dat_file_to_dir(SessionDir **ret, DatFile *f, const char *name) {
        free(f->name);
        f->name = strdup(name);
        if (!f->name) {
                (void) dat_file_free(f);
                return -ENOMEM;
        }
        return session_dir_stand_in(ret, &dat_files, f);
}

const DatFile *dat_file_of_dir(const SessionDir *d) {
        return session_dir_files(d, &dat_files);
}

int dat_file_choose_buffer(DatFile *f, const char *name) {
        for (size_t i = 0; i < f->n_buffers; i++)
                if (streq(f->buffers[i].name, name)) {
                        f->i_chosen = i;
                        return 0;
                }
        return DAT_FILE_E_NO_BUFFER;
}

DatFile *dat_file_free(DatFile *f) {
        if (!f)
                return NULL;
        if (f->map)
                (void) munmap(f->map, f->n_map);
        safe_close(f->fd);
        for (size_t i = 0; i < f->n_formats; i++) {
                free(f->formats[i].path);
                free(f->formats[i].text);
        }
        free(f->formats);
        for (size_t i = 0; i < f->n_buffers; i++) {
                free(f->buffers[i].name);
                free(f->buffers[i].clock);
                free(f->buffers[i].cpus);
                free(f->buffers[i].accounts);
        }
        free(f->buffers);
        dat_times_done(&f->times);
        free(f->name);
        free(f->clock);
        free(f->uname);
        free(f->origin);
        free(f->owners);
        free(f->maps);
        return mfree(f);
}

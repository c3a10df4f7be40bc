/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The same things come in both versions: in version 6 one after the other, in version 7 each in a
 * section that an option points at.  So there is one reader for each thing (formats, options, the
 * table of CPUs), which is given the bytes that it is in.  Texts in packed sections are unpacked
 * only to be taken apart (formats) or when they are asked for.
 */

#include "base/array.h"
#include "pages/dat-private.h"

#define SECTIONS_MAX 4096 /* of options, so that a chain that bites its tail ends */
#define FORMATS_MAX 65536
#define ACCOUNTS_MAX STORE_MAX_CPUS
#define BUFFERS_MAX 1024
/* Of formats, and of all that is unpacked or read again to find them: real ones are below 20 MiB, and a
 * file may name one section as often as it likes. */
#define WORK_BYTES_MAX ((uint64_t) 128 << 20)
#define SECTION_WORK_BYTES ((uint64_t) 16 << 10) /* as long takes it to unpack the smallest */

int dat_fail(char **ret_problem, uint64_t at, const char *what) {
        if (*ret_problem)
                return DAT_FILE_E_UNREADABLE;
        return text_format(ret_problem, "byte %llu: %s", (unsigned long long) at, what)
                       ?: DAT_FILE_E_UNREADABLE;
}

typedef struct Body {
        DatFile *f;
        char **ret_problem;
        size_t i_counted; /* the buffer of which CPUSTAT speaks */
        uint64_t
                text_at; /* of version 7: where the text of a latency tracer is; 0: there is none */
        uint64_t n_work; /* bytes, see WORK_BYTES_MAX */
} Body;

static const char latency_text[] = "it holds the text of a latency tracer, not pages";

static int fail(Body *b, uint64_t at, const char *what) {
        return dat_fail(b->ret_problem, at, what);
}

static int finish(Body *b, const DatBytes *bytes) {
        return bytes->problem ? fail(b, bytes->problem_at, bytes->problem) : 0;
}

static int add_work(Body *b, uint64_t at, uint64_t n) {
        b->n_work += MIN(n, WORK_BYTES_MAX);
        return b->n_work > WORK_BYTES_MAX
                       ? fail(b, at, "formats and options are larger than any kernel's")
                       : 0;
}

/* All of the file from @at on. */
static DatBytes bytes_at(const Body *b, uint64_t at) {
        DatBytes ret = { .data = b->f->map, .n = b->f->n_map, .at = at, .swap = b->f->swap };

        if (at > ret.n) {
                ret.problem = "the file ends before what is said to be here";
                ret.problem_at = at;
                ret.at = ret.n;
        }
        return ret;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* @system NULL: it is the whole path. */
static int add_format(Body *b, const DatBytes *at, const char *system, const char *name,
                      size_t n_name, const char *text, uint64_t n) {
        DatFormat format = {};
        int r;

        if (!ARRAY_GROW(b->f->formats, b->f->n_formats))
                return -ENOMEM;
        r = add_work(b, at->base + at->at, n);
        if (r != 0)
                return r;
        if (system ? asprintf(&format.path, "events/%s/%.*s/format", system, (int) n_name, name) < 0
                   : asprintf(&format.path, "events/%.*s", (int) n_name, name) < 0)
                return -ENOMEM;
        format.text = malloc(n + 1);
        if (!format.text) {
                free(format.path);
                return -ENOMEM;
        }
        memcpy(format.text, text, n);
        format.text[n] = 0;
        format.n = n;
        b->f->formats[b->f->n_formats++] = format;
        return 0;
}

/* "header_page" 00  u64 n, text */
static int read_header(Body *b, DatBytes *bytes, const char *name) {
        const char *text;
        uint64_t n;

        if (!dat_bytes_are(bytes, name, strlen(name) + 1))
                dat_bytes_fail(bytes, "here the format of pages should be");
        n = dat_bytes_u64(bytes, "the file ends within the format of pages");
        text = dat_bytes_take(bytes, n, "the format of pages reaches beyond the file");
        return text ? add_format(b, bytes, NULL, name, strlen(name), text, n) : finish(b, bytes);
}

static int read_headers(Body *b, DatBytes *bytes) {
        return read_header(b, bytes, "header_page") ?: read_header(b, bytes, "header_event");
}

/* u32 count { u64 n, text }; the name is the text's first line. */
static int read_formats(Body *b, DatBytes *bytes, const char *system) {
        uint32_t count = dat_bytes_u32(bytes, "the file ends within the formats of events");
        int r = 0;

        for (; r == 0 && count > 0 && !bytes->problem; count--) {
                uint64_t n = dat_bytes_u64(bytes, "the file ends within the formats of events");
                const char *text = dat_bytes_take(bytes, n, "a format reaches beyond the file"),
                           *end;

                if (!text || n < 6 || memcmp(text, "name: ", 6) != 0)
                        continue;
                if (b->f->n_formats >= FORMATS_MAX)
                        return fail(b, bytes->base + bytes->at, "there are too many formats");
                end = memchr(text, '\n', n);
                if (end)
                        r = add_format(b, bytes, system, text + 6, (size_t) (end - text - 6), text,
                                       n);
        }
        return r == 0 ? finish(b, bytes) : r;
}

/* u32 count { system 00, formats } */
static int read_systems(Body *b, DatBytes *bytes) {
        uint32_t count = dat_bytes_u32(bytes, "the file ends within the list of event systems");
        int r = 0;

        for (; r == 0 && count > 0 && !bytes->problem; count--) {
                const char *system =
                        dat_bytes_string(bytes, "the file ends within a system's name");

                r = read_formats(b, bytes, system);
        }
        return r == 0 ? finish(b, bytes) : r;
}

static void read_text(DatBytes *bytes, uint64_t n, DatText *ret, const char *what) {
        const void *data = dat_bytes_take(bytes, n, what);

        if (data)
                *ret = (DatText){ .data = data, .n = n };
}

/* --- pages ------------------------------------------------------------------------------------ */

/* What of it is behind the file's end is cut: of a recording whose copy broke off the rest is
 * good. */
static int add_cpu(Body *b, DatCpu **cpus, size_t *n_cpus, uint32_t cpu, uint64_t offset,
                   uint64_t n) {
        uint64_t n_there = offset < b->f->n_map ? MIN(n, b->f->n_map - offset) : 0;

        if (n == 0)
                return 0;
        if (cpu >= STORE_MAX_CPUS)
                return fail(b, offset, "the number of the CPU whose pages are here is impossible");
        return ARRAY_ADD(*cpus, *n_cpus,
                         (DatCpu){ .cpu = cpu,
                                   .at = n_there ? offset : 0,
                                   .n = n_there,
                                   .n_cut = n - n_there })
                       ? 0
                       : -ENOMEM;
}

/* The buffer of that name, which is made if there is none yet.  0 or an error. */
static int find_buffer(Body *b, const char *name, size_t *ret) {
        /* As many as there are are compared. */
        int r = add_work(b, 0, b->f->n_buffers * sizeof(*b->f->buffers));

        if (r != 0)
                return r;
        for (*ret = 0; *ret < b->f->n_buffers; ++*ret)
                if (streq(b->f->buffers[*ret].name, name))
                        return 0;
        if (b->f->n_buffers >= BUFFERS_MAX)
                return fail(b, 0, "there are too many buffers");
        if (!ARRAY_GROW(b->f->buffers, b->f->n_buffers))
                return -ENOMEM;
        b->f->buffers[*ret] = (DatBuffer){ .name = strdup(name) };
        if (!b->f->buffers[*ret].name)
                return -ENOMEM;
        b->f->n_buffers++;
        return 0;
}

/* "[mono]" of a list of clocks, or the one that is named. */
static int take_clock(char **ret, const char *text, size_t n) {
        const char *open = memchr(text, '[', n), *close;

        if (open) {
                close = memchr(open, ']', n - (size_t) (open - text));
                if (close) {
                        text = open + 1;
                        n = (size_t) (close - text);
                }
        }
        free(*ret);
        *ret = strndup(text, n);
        return *ret ? 0 : -ENOMEM;
}

/* --- options ---------------------------------------------------------------------------------- */

static uint64_t number_behind(const char *text, const char *word) {
        const char *p = strstr(text, word);

        return p ? strtoull(p + strlen(word), NULL, 10) : 0;
}

/* What per_cpu/cpuN/stats said in the end.  Before those of an instance its name comes. */
static int read_cpustat(Body *b, const char *data, uint32_t n) {
        _cleanup_free_ char *text = strndup(data, n);
        CpuAccount account = {};
        DatBuffer *buffer;
        char *name;

        if (!text)
                return -ENOMEM;
        name = startswith(text, "\nBuffer: ") ? text + strlen("\nBuffer: ") : NULL;
        if (name) {
                name[strcspn(name, "\n")] = 0;
                return find_buffer(b, name, &b->i_counted);
        }
        buffer = &b->f->buffers[b->i_counted];
        if (!startswith(text, "CPU:") || buffer->n_accounts >= ACCOUNTS_MAX)
                return 0;
        account.cpu = (uint32_t) number_behind(text, "CPU:");
        account.overrun = number_behind(text, "\noverrun:");
        account.commit_overrun = number_behind(text, "\ncommit overrun:");
        account.dropped_events = number_behind(text, "\ndropped events:");
        account.read_events = number_behind(text, "\nread events:");
        if (account.cpu >= STORE_MAX_CPUS ||
            (buffer->n_accounts > 0 && buffer->accounts[buffer->n_accounts - 1].cpu >= account.cpu))
                return 0; /* not to be told apart */
        return ARRAY_ADD(buffer->accounts, buffer->n_accounts, account) ? 0 : -ENOMEM;
}

/* What every section begins with; *@ret is behind that. */
static uint16_t open_head(const Body *b, uint64_t offset, DatBytes *ret, uint64_t *ret_n) {
        static const char cut[] = "the file ends within a section's head";
        uint16_t flags;

        *ret = bytes_at(b, offset);
        (void) dat_bytes_u16(ret, cut);
        flags = dat_bytes_u16(ret, cut);
        (void) dat_bytes_u32(ret, cut);
        *ret_n = dat_bytes_u64(ret, cut);
        return flags;
}

/* Of version 7; the head of this file says what is in it. */
static int read_buffer(Body *b, DatBytes *bytes) {
        uint64_t section = dat_bytes_u64(bytes, "the file ends within a buffer");
        const char *name = dat_bytes_string(bytes, "the file ends within a buffer's name");
        const char *clock = dat_bytes_string(bytes, "the file ends within a buffer's clock");
        uint32_t page_bytes = dat_bytes_u32(bytes, "the file ends within a buffer");
        uint32_t n = dat_bytes_u32(bytes, "the file ends within a buffer's table of CPUs");
        _cleanup_free_ DatCpu *cpus = NULL;
        uint64_t n_section;
        DatBuffer *buffer;
        DatBytes head;
        size_t n_cpus = 0, i;
        int r = 0;
        bool packed = (open_head(b, section, &head, &n_section) & DAT_SECTION_PACKED) &&
                      b->f->compressor != DAT_NONE;

        for (uint32_t k = 0; r == 0 && k < n && !bytes->problem; k++) {
                uint32_t cpu = dat_bytes_u32(bytes, "a table of CPUs reaches beyond its option");
                uint64_t at = dat_bytes_u64(bytes, "a table of CPUs reaches beyond its option");
                uint64_t n_bytes =
                        dat_bytes_u64(bytes, "a table of CPUs reaches beyond its option");

                /* Packed ones begin with their number, which is not in the length. */
                if (packed && n_bytes > 0 && n_bytes < UINT64_MAX - 4)
                        n_bytes += 4;
                if (!bytes->problem)
                        r = add_cpu(b, &cpus, &n_cpus, cpu, at, n_bytes);
        }
        r = r ?: finish(b, bytes) ?: finish(b, &head) ?: find_buffer(b, name, &i);
        if (r != 0)
                return r;
        buffer = &b->f->buffers[i];
        if (TAKE(buffer->is_read, true))
                return 0; /* the first of a name is it */
        buffer->cpus = TAKE_PTR(cpus);
        buffer->n_cpus = n_cpus;
        buffer->page_bytes = page_bytes;
        buffer->is_packed = packed;
        return *clock ? take_clock(&buffer->clock, clock, strlen(clock)) : 0;
}

/* Of version 6: u64 offset of its table, name. */
static int note_buffer(Body *b, DatBytes *bytes) {
        uint64_t at = dat_bytes_u64(bytes, "an option is too short");
        const char *name = dat_bytes_string(bytes, "the file ends within a buffer's name");
        size_t i;
        int r = finish(b, bytes) ?: find_buffer(b, name, &i);

        if (r == 0 && i > 0)
                b->f->buffers[i].table_at = at;
        return r;
}

/* The bytes of the section at @offset, unpacked into *@ret_plain if they are packed. */
static int open_section(Body *b, uint64_t offset, DatBytes *ret, char **ret_plain) {
        uint32_t n_stored, n_plain;
        const void *stored;
        DatBytes bytes;
        uint64_t n;
        uint16_t flags = open_head(b, offset, &bytes, &n);
        int r;

        if (!bytes.problem && n > bytes.n - bytes.at)
                dat_bytes_fail(&bytes, "a section reaches beyond the file");
        if (bytes.problem)
                return finish(b, &bytes);
        bytes.n = bytes.at + n;
        if (!(flags & DAT_SECTION_PACKED)) {
                *ret = bytes;
                return add_work(b, offset, n);
        }
        n_stored = dat_bytes_u32(&bytes, "a section ends within its head");
        n_plain = dat_bytes_u32(&bytes, "a section ends within its head");
        stored = dat_bytes_take(&bytes, n_stored, "a packed section reaches beyond its end");
        if (!stored)
                return finish(b, &bytes);
        if (b->f->compressor == DAT_NONE)
                return fail(b, offset, "a section is packed that cannot be");
        r = add_work(b, offset, MAX((uint64_t) n_plain, SECTION_WORK_BYTES));
        if (r != 0)
                return r;
        *ret_plain = malloc((size_t) n_plain + 1);
        if (!*ret_plain)
                return -ENOMEM;
        if (!dat_unpack(b->f->compressor, NULL, stored, n_stored, *ret_plain, n_plain))
                return fail(b, offset, "a packed section is damaged");
        *ret = (DatBytes){ .data = (const uint8_t *) *ret_plain,
                           .n = n_plain,
                           .base = offset,
                           .swap = b->f->swap };
        return 0;
}

/* A text whose section begins with its length, of @n_count bytes. */
static int read_text_section(Body *b, uint64_t offset, size_t n_count, DatText *ret) {
        DatBytes bytes;
        uint64_t n;
        uint16_t flags = open_head(b, offset, &bytes, &n);

        if (flags & DAT_SECTION_PACKED) {
                n = dat_bytes_u32(&bytes, "the file ends within a section's head");
                ret->n_plain = dat_bytes_u32(&bytes, "the file ends within a section's head");
                ret->is_packed = true;
                if (b->f->compressor == DAT_NONE)
                        return fail(b, offset, "a section is packed that cannot be");
        } else
                n = n_count == 8 ? dat_bytes_u64(&bytes, "the file ends within a text's length")
                                 : dat_bytes_u32(&bytes, "the file ends within a text's length");
        ret->n = n;
        ret->data = dat_bytes_take(&bytes, n, "a text reaches beyond the file");
        return finish(b, &bytes);
}

static int read_section(Body *b, uint16_t id, uint64_t offset) {
        _cleanup_free_ char *plain = NULL;
        DatBytes bytes;
        int r;

        switch (id) {
        case DAT_OPTION_KALLSYMS:
                return read_text_section(b, offset, 4, &b->f->kallsyms);
        case DAT_OPTION_PRINTK:
                return read_text_section(b, offset, 4, &b->f->printk);
        case DAT_OPTION_CMDLINES:
                return read_text_section(b, offset, 8, &b->f->cmdlines);
        }
        r = open_section(b, offset, &bytes, &plain);
        return r != 0                           ? r
               : id == DAT_OPTION_HEADER_INFO   ? read_headers(b, &bytes)
               : id == DAT_OPTION_FTRACE_EVENTS ? read_formats(b, &bytes, "ftrace")
                                                : read_systems(b, &bytes);
}

static bool begins_with(const char *text, size_t n, const char *word) {
        return n > strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* One option; @data is its content. */
static int read_option(Body *b, uint16_t id, DatBytes data) {
        const char *text = (const char *) data.data + data.at;
        size_t n = data.n - data.at;
        char **said;

        switch (id) {
        case DAT_OPTION_CPUSTAT:
                return read_cpustat(b, text, (uint32_t) n);
        case DAT_OPTION_TRACECLOCK:
                return b->f->clock ? 0 : take_clock(&b->f->clock, text, strnlen(text, n));
        case DAT_OPTION_DATE:
        case DAT_OPTION_OFFSET:
        case DAT_OPTION_TIME_SHIFT:
        case DAT_OPTION_TSC2NSEC:
                return dat_times_read(&b->f->times, id, data);
        case DAT_OPTION_UNAME:
                free(b->f->uname);
                b->f->uname = strndup(text, n);
                return b->f->uname ? 0 : -ENOMEM;
        case DAT_OPTION_VERSION:
                said = begins_with(text, n, DAT_OWNERS) ? &b->f->owners
                       : begins_with(text, n, DAT_MAPS) ? &b->f->maps
                                                        : &b->f->origin;
                free(*said);
                *said = strndup(text, n);
                return *said ? 0 : -ENOMEM;
        case DAT_OPTION_CPUCOUNT:
                b->f->n_possible_cpus = dat_bytes_u32(&data, "an option is too short");
                return finish(b, &data);
        case DAT_OPTION_BUFFER:
                return b->f->version == 7 ? read_buffer(b, &data) : note_buffer(b, &data);
        case DAT_OPTION_BUFFER_TEXT:
                b->text_at = dat_bytes_u64(&data, "an option is too short");
                return finish(b, &data);
        case DAT_OPTION_HEADER_INFO:
        case DAT_OPTION_FTRACE_EVENTS:
        case DAT_OPTION_EVENT_FORMATS:
        case DAT_OPTION_KALLSYMS:
        case DAT_OPTION_PRINTK:
        case DAT_OPTION_CMDLINES: {
                uint64_t offset = dat_bytes_u64(&data, "an option is too short");

                if (b->f->version != 7)
                        return 0;
                return data.problem ? finish(b, &data) : read_section(b, id, offset);
        }
        default:
                return 0;
        }
}

/* { u16 id, u32 n, data } up to id 0; *@ret_next is what that holds in version 7. */
static int read_options(Body *b, DatBytes *bytes, uint64_t *ret_next) {
        for (;;) {
                uint16_t id = dat_bytes_u16(bytes, "the file ends within its options");
                DatBytes data = *bytes;
                uint32_t n;
                int r;

                if (id == DAT_OPTION_DONE && b->f->version == 6)
                        return finish(b, bytes);
                n = dat_bytes_u32(bytes, "the file ends within its options");
                data.at = bytes->at;
                if (!dat_bytes_take(bytes, n, "an option reaches beyond its end"))
                        return finish(b, bytes);
                data.n = bytes->at;
                if (id == DAT_OPTION_DONE) {
                        *ret_next = n >= 8 ? dat_bytes_u64(&data, "an option is too short") : 0;
                        return 0;
                }
                r = read_option(b, id, data);
                if (r != 0)
                        return r;
        }
}

/* --- the versions ----------------------------------------------------------------------------- */

static int read_flyrecord(Body *b, DatBytes *bytes, uint32_t n, DatBuffer *ret) {
        _cleanup_free_ DatCpu *cpus = NULL;
        size_t n_cpus = 0;
        int r = 0;

        if (!dat_bytes_are(bytes, "flyrecord", 10))
                return fail(b, bytes->at,
                            dat_bytes_are(bytes, "latency  ", 10)
                                    ? latency_text
                                    : "here the table of CPUs should be");
        r = add_work(b, bytes->at, MIN((uint64_t) n * 16, bytes->n - bytes->at));
        for (uint32_t cpu = 0; r == 0 && cpu < n && !bytes->problem; cpu++) {
                uint64_t at = dat_bytes_u64(bytes, "the file ends within the table of CPUs");
                uint64_t n_bytes = dat_bytes_u64(bytes, "the file ends within the table of CPUs");

                if (!bytes->problem)
                        r = add_cpu(b, &cpus, &n_cpus, cpu, at, n_bytes);
        }
        r = r ?: finish(b, bytes);
        if (r == 0) {
                ret->cpus = TAKE_PTR(cpus);
                ret->n_cpus = n_cpus;
        }
        return r;
}

static int read_version_6(Body *b, DatBytes *bytes) {
        uint32_t n_cpus;
        uint64_t none;
        int r = read_headers(b, bytes) ?: read_formats(b, bytes, "ftrace") ?: read_systems(b, bytes);

        if (r != 0)
                return r;
        read_text(bytes, dat_bytes_u32(bytes, "the file ends before its symbols"), &b->f->kallsyms,
                  "the symbols reach beyond the file");
        read_text(bytes, dat_bytes_u32(bytes, "the file ends before its printk formats"),
                  &b->f->printk, "the printk formats reach beyond the file");
        read_text(bytes, dat_bytes_u64(bytes, "the file ends before its task names"),
                  &b->f->cmdlines, "the task names reach beyond the file");
        n_cpus = dat_bytes_u32(bytes, "the file ends before its table of CPUs");
        b->f->n_possible_cpus = n_cpus;
        if (dat_bytes_are(bytes, "options  ", 10)) {
                r = read_options(b, bytes, &none);
                if (r != 0)
                        return r;
        }
        if (bytes->problem)
                return finish(b, bytes);
        r = read_flyrecord(b, bytes, n_cpus, &b->f->buffers[0]);
        for (size_t i = 1; r == 0 && i < b->f->n_buffers; i++) {
                if (b->f->buffers[i].table_at == 0)
                        continue;
                *bytes = bytes_at(b, b->f->buffers[i].table_at);
                r = bytes->problem ? finish(b, bytes)
                                   : read_flyrecord(b, bytes, n_cpus, &b->f->buffers[i]);
        }
        return r;
}

static int read_version_7(Body *b) {
        uint64_t offset = b->f->first_option;
        int r = 0;

        for (unsigned n = 0; r == 0 && offset != 0; n++) {
                _cleanup_free_ char *plain = NULL;
                DatBytes bytes;

                if (n >= SECTIONS_MAX)
                        return fail(b, offset, "its options never end");
                r = open_section(b, offset, &bytes, &plain);
                if (r == 0)
                        r = read_options(b, &bytes, &offset);
        }
        for (size_t i = 0; i < b->f->n_buffers; i++)
                if (b->f->buffers[i].n_cpus > 0)
                        return r;
        return r == 0 && b->text_at > 0 ? fail(b, b->text_at, latency_text) : r;
}

int dat_body_read(DatFile *f, DatBytes *head, char **ret_problem) {
        Body b = { .f = f, .ret_problem = ret_problem };
        size_t top;
        return find_buffer(&b, "", &top)
                       ?: (f->version == 6 ? read_version_6(&b, head) : read_version_7(&b));
}

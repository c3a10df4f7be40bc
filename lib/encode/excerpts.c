/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was asked for is sorted, so that each file is read once, from its beginning to its end. */

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/io.h"
#include "encode/escape.h"
#include "encode/excerpts.h"

#define LINES_BEFORE 4U
#define LINES_AFTER 3U
#define DEFINITION_NEAR 3U
#define PART_MIN 3 /* letters of a name that tell it */
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define LINE_BYTES_MAX ((size_t) 240) /* what is longer is cut */
#define MAKEFILE_BYTES_MAX ((size_t) 1 << 20)

typedef struct Wanted {
        size_t file;
        uint32_t line;
        const char *defined;
        size_t n_defined;
} Wanted;

struct Excerpts {
        int dir_fd;
        unsigned version[3];
        char version_text[48];
        const char **files;
        size_t n_files, n_wanted, n_bytes;
        Hash by_name; /* indices, plus 1 */
        Wanted *wanted;
};

/* --- the directory ---------------------------------------------------------------------------- */

/* Nothing above the directory is opened, whatever links say.  0, -EXDEV: it would be; -EISDIR: it is no file; -errno. */
static int read_below(int dir_fd, const char *path, char **ret, size_t *ret_n, size_t max) {
        struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                                .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
        _cleanup_close_ int fd = (int) syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        return S_ISREG(st.st_mode) ? fd_read(fd, ret, ret_n, max) : -EISDIR;
}

/* VERSION = 6, PATCHLEVEL = 12, SUBLEVEL = 117 */
static bool find_version(Excerpts *e, const char *makefile) {
        static const char *const names[] = { "VERSION = ", "PATCHLEVEL = ", "SUBLEVEL = " };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                const char *line = makefile, *value = startswith(line, names[i]);

                while (!value && (line = strchr(line, '\n')))
                        value = startswith(++line, names[i]);
                if (!value || sscanf(value, "%4u", &e->version[i]) != 1)
                        return false;
        }
        (void) snprintf(e->version_text, sizeof(e->version_text), "%u.%u.%u", e->version[0],
                        e->version[1], e->version[2]);
        return true;
}

int excerpts_new(Excerpts **ret, const char *dir) {
        _cleanup_(excerpts_freep) Excerpts *e = NEW(Excerpts, .dir_fd = -EBADF);
        _cleanup_free_ char *makefile = NULL;
        int r;

        if (!e)
                return -ENOMEM;
        e->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (e->dir_fd < 0)
                return ORIGIN(-errno);
        r = read_below(e->dir_fd, "Makefile", &makefile, NULL, MAKEFILE_BYTES_MAX);
        if (r < 0 && r != -ENOENT && r != -EISDIR)
                return r;
        if (r < 0 || !find_version(e, makefile))
                return EXCERPTS_E_NONE;
        *ret = TAKE_PTR(e);
        return 0;
}

const char *excerpts_version(const Excerpts *e) {
        return e->version_text;
}

/* Debian's 6.1.0-56 does not tell which 6.1 it is. */
bool excerpts_fit(const Excerpts *e, const char *release) {
        unsigned is[3] = {};

        return sscanf(release, "%u.%u.%u", &is[0], &is[1], &is[2]) >= 2 && is[0] == e->version[0] &&
               is[1] == e->version[1] && (is[2] == 0 || is[2] == e->version[2]);
}

/* --- what is asked for ------------------------------------------------------------------------ */

int excerpts_add(Excerpts *e, const char *file, uint32_t line, const char *defined,
                 size_t n_defined, size_t *ret_file) {
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, file, strlen(file));
        const HashSlot *slot;

        *ret_file = e->n_files;
        hash_each (slot, &e->by_name, key)
                if (streq(e->files[slot->value - 1], file))
                        *ret_file = slot->value - 1;
        if (*ret_file == e->n_files &&
            (!ARRAY_ADD(e->files, e->n_files, file) || hash_add(&e->by_name, key, e->n_files) < 0))
                return -ENOMEM;
        return ARRAY_ADD(e->wanted, e->n_wanted, (Wanted){ *ret_file, line, defined, n_defined })
                       ? 0
                       : -ENOMEM;
}

static int compare_wanted(const void *a, const void *b) {
        const Wanted *x = a, *y = b;

        return CMP(x->file, y->file)
                       ?: CMP(x->line, y->line) ?: CMP(hash_key(x->defined), hash_key(y->defined));
}

/* Each once. */
static void sort_wanted(Excerpts *e) {
        size_t n = 0;

        SORT(e->wanted, e->n_wanted, compare_wanted);
        for (size_t i = 0; i < e->n_wanted; i++)
                if (i == 0 || compare_wanted(&e->wanted[i], &e->wanted[n - 1]) != 0)
                        e->wanted[n++] = e->wanted[i];
        e->n_wanted = n;
}

/* --- files ------------------------------------------------------------------------------------ */

static const char *skip_lines(const char *s, const char *end, size_t n) {
        while (n-- > 0 && s < end) {
                const char *newline = memchr(s, '\n', (size_t) (end - s));

                s = newline ? newline + 1 : end;
        }
        return s;
}

/* Bytes that are not plain become "\xNN", as everywhere. */
static void add_line(Buf *out, const char *s, size_t n) {
        _cleanup_buf_ Buf plain = BUF_INIT;
        const char *p, *tab;
        size_t n_left;

        buf_add_plain(&plain, s, MIN(n, LINE_BYTES_MAX), PLAIN_LINES);
        for (p = plain.data, n_left = plain.n_data; n_left > 0 && (tab = memchr(p, '\t', n_left));
             p = tab + 1) {
                escape_json(out, p, (size_t) (tab - p));
                buf_adds(out, "\\t");
                n_left -= (size_t) (tab - p) + 1;
        }
        escape_json(out, p, n_left);
        buf_adds(out, n > LINE_BYTES_MAX ? "...\\n" : "\\n");
        out->error = out->error ?: plain.error;
}

/* DEVICE_ATTR_RO(mtu), where mtu_show() is defined; @open: the bracket. */
static bool is_part_of_name(const char *s, const char *open, const char *end, const char *name,
                            size_t n) {
        const char *macro = open, *part = open + 1, *behind = part;
        size_t k;

        while (macro > s && strchr(UPPER, macro[-1]))
                macro--;
        if (macro == open || (macro > s && strchr(LOWER, macro[-1])) ||
            startswith(macro, "EXPORT_"))
                return false;
        while (behind < end && strchr(LOWER UPPER, *behind))
                behind++;
        k = (size_t) (behind - part);
        return k >= PART_MIN && k < n &&
               ((name[k] == '_' && memcmp(name, part, k) == 0) ||
                (name[n - k - 1] == '_' && memcmp(name + n - k, part, k) == 0));
}

/* Macros that make functions put underscores before a name, or are given a part of it. */
static bool has_name(const char *s, const char *end, const char *name, size_t n) {
        bool is;

        for (; n > 1 && *name == '_'; name++)
                n--;
        is = memmem(s, (size_t) (end - s), name, n);
        for (const char *p = s; !is && (p = memchr(p, '(', (size_t) (end - p))); p++)
                is = is_part_of_name(s, p, end, name, n);
        return is;
}

/* A file while its lines are written, those with the lowest numbers first. */
typedef struct Reader {
        Excerpts *e;
        Buf *out, other, part;
        const char *at, *end; /* @at: the line of that number */
        uint32_t line, n_lines;
        ExcerptsCount *count;
        const char *separator;
} Reader;

/* How many of @w belong together, up to line *@ret_last; 0: they are all behind the end. */
static size_t find_range(const Reader *r, const Wanted *w, size_t n, uint32_t *ret_last) {
        size_t k = 0;

        for (*ret_last = 0; k < n && w[k].line <= r->n_lines; k++) {
                if (k > 0 && w[k].line > *ret_last + LINES_BEFORE + 1)
                        break;
                *ret_last = MIN(w[k].line + LINES_AFTER, r->n_lines);
        }
        return k;
}

/* Of those in the range that begins where the reader is. */
static void check_definitions(Reader *r, const Wanted *w, size_t n) {
        for (size_t i = 0; i < n; i++) {
                uint32_t first = w[i].line - MIN(w[i].line - 1, DEFINITION_NEAR);
                const char *from, *to;

                if (!w[i].defined)
                        continue;
                from = skip_lines(r->at, r->end, first - r->line);
                to = skip_lines(from, r->end, w[i].line + DEFINITION_NEAR - first + 1);
                if (has_name(from, to, w[i].defined, w[i].n_defined))
                        continue;
                buf_printf(&r->other, "%s%" PRIu32, r->other.n_data > 0 ? "," : "", w[i].line);
                r->count->n_other++;
        }
}

static void write_range(Reader *r, const Wanted *w, size_t n, uint32_t last) {
        uint32_t first = w->line - MIN(w->line - 1, LINES_BEFORE);

        r->at = skip_lines(r->at, r->end, first - r->line);
        r->line = first;
        check_definitions(r, w, n);
        for (r->part.n_data = 0;
             r->line <= last && r->e->n_bytes + r->part.n_data < EXCERPTS_BYTES_MAX; r->line++) {
                const char *next = skip_lines(r->at, r->end, 1);

                add_line(&r->part, r->at, (size_t) (next - r->at) - (next[-1] == '\n'));
                r->at = next;
        }
        for (size_t i = 0; i < n; i++)
                r->count->n_left_out += w[i].line >= r->line;
        if (r->line == first)
                return;
        r->e->n_bytes += r->part.n_data;
        buf_printf(r->out, "%s%" PRIu32 ",\"", TAKE(r->separator, ","), first);
        buf_add(r->out, r->part.data, r->part.n_data);
        buf_adds(r->out, "\"");
}

/* What was asked for of one file, sorted. */
static void write_file(Excerpts *e, Buf *out, const Wanted *w, size_t n, const char *text,
                       size_t n_text, ExcerptsCount *count) {
        Reader r = { e, out, BUF_INIT, BUF_INIT, text, text + n_text, 1, 0, count, "" };
        uint32_t last;

        for (const char *p = text; p < r.end; r.n_lines++)
                p = skip_lines(p, r.end, 1);
        buf_printf(out, ",\"n\":%" PRIu32 ",\"parts\":[", r.n_lines);
        for (size_t k; n > 0 && (k = find_range(&r, w, n, &last)) > 0; w += k, n -= k)
                write_range(&r, w, k, last);
        count->n_other += n;
        buf_adds(out, "],\"other\":[");
        buf_add(out, r.other.data, r.other.n_data);
        buf_adds(out, "]");
        out->error = out->error ?: r.part.error ?: r.other.error;
        buf_done(&r.part);
        buf_done(&r.other);
}

/* NULL: there is none. */
static const char *problem_of(int r, const char *text, size_t n) {
        return r == -EXDEV || r == -ELOOP      ? "lies outside of the source"
               : r == -ENOENT || r == -ENOTDIR ? "is not in the source"
               : r == -EFBIG                   ? "is too large"
               : r < 0                         ? "cannot be read"
               : memchr(text, 0, n)            ? "is no text"
                                               : NULL;
}

int excerpts_write(Excerpts *e, Buf *out, ExcerptsCount *ret) {
        *ret = (ExcerptsCount){ .n_files = e->n_files };
        sort_wanted(e);
        buf_adds(out, "[");
        for (size_t i = 0, k; i < e->n_wanted; i = k) {
                const char *name = e->files[e->wanted[i].file], *problem;
                _cleanup_free_ char *text = NULL;
                size_t n = 0;
                int r = read_below(e->dir_fd, name, &text, &n, EXCERPTS_FILE_MAX);

                for (k = i; k < e->n_wanted && e->wanted[k].file == e->wanted[i].file;)
                        k++;
                if (r == -ENOMEM)
                        return r;
                problem = problem_of(r, text, n);
                buf_adds(out, i > 0 ? ",\n{\"name\":\"" : "{\"name\":\"");
                escape_json(out, name, strlen(name));
                buf_adds(out, "\"");
                ret->n_without += problem != NULL;
                if (problem)
                        buf_printf(out, ",\"problem\":\"%s\"", problem);
                else
                        write_file(e, out, e->wanted + i, k - i, text, n, ret);
                buf_adds(out, "}");
        }
        buf_adds(out, "]");
        return out->error;
}

Excerpts *excerpts_free(Excerpts *e) {
        if (!e)
                return NULL;
        (void) safe_close(e->dir_fd);
        free(e->files);
        free(e->wanted);
        hash_done(&e->by_name);
        return mfree(e);
}

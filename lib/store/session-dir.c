/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Names are made here and nowhere else: "session.json", "tracing/PATH", "cpuN", "SSSSSSSS.seg".
 * Listing goes the other way and accepts only what making would have made, so that a file somebody
 * put beside them ("cpu01", "0000000A.seg") is never taken for ours.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/name.h"
#include "store/entry.h"
#include "store/session-dir.h"

#define META_NAME "session.json"
#define META_BYTES_MAX ((size_t) 16 << 20)
#define TRACING_BYTES_MAX ((size_t) 64 << 20)
#define CPU_NAME_MAX 16

struct SessionDir {
        int fd;
        int symbols_fd;            /* or -errno; -EBADF: there are none */
        const SessionFiles *files; /* NULL: a directory */
        void *p;
};

int session_dir_stand_in(SessionDir **ret, const SessionFiles *files, void *p) {
        SessionDir *d = NEW(SessionDir, .fd = -EBADF, .symbols_fd = -EBADF, .files = files, .p = p);

        if (!d) {
                files->free(p);
                return -ENOMEM;
        }
        *ret = d;
        return 0;
}

void *session_dir_files(const SessionDir *d, const SessionFiles *files) {
        return d->files == files ? d->p : NULL;
}

int session_dir_take_fds(SessionDir **ret, int dir_fd, int symbols_fd) {
        _cleanup_close_ int fd = dir_fd, symbols = symbols_fd;
        struct stat st;
        SessionDir *d;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (!S_ISDIR(st.st_mode))
                return ORIGIN(-ENOTDIR);
        d = NEW(SessionDir, .fd = TAKE_FD(fd), .symbols_fd = TAKE_FD(symbols));
        if (!d)
                return -ENOMEM;
        *ret = d;
        return 0;
}

int session_dir_open(SessionDir **ret, int sessions_fd, const char *name, int symbols_fd) {
        _cleanup_close_ int fd = -EBADF, symbols = symbols_fd < 0 ? symbols_fd : -EBADF;

        if (!session_name_is_valid(name))
                return ORIGIN(-EINVAL);
        fd = dir_open(sessions_fd, name);
        if (fd < 0)
                return fd;
        if (symbols_fd >= 0) {
                symbols = fcntl(symbols_fd, F_DUPFD_CLOEXEC, 3);
                if (symbols < 0)
                        return ORIGIN(-errno);
        }
        return session_dir_take_fds(ret, TAKE_FD(fd), TAKE_FD(symbols));
}

int session_dir_create(SessionDir **ret, int sessions_fd, const char *name) {
        if (!session_name_is_valid(name))
                return ORIGIN(-EINVAL);
        if (mkdirat(sessions_fd, name, STORE_DIR_MODE) < 0)
                return ORIGIN(-errno);
        return session_dir_open(ret, sessions_fd, name, -EBADF);
}

int session_dir_symbols_fd(const SessionDir *d) {
        return d->symbols_fd;
}

int session_dir_fd(const SessionDir *d) {
        return d->fd;
}

SessionDir *session_dir_free(SessionDir *d) {
        if (!d)
                return NULL;
        safe_close(d->fd);
        safe_close(d->symbols_fd);
        if (d->files)
                d->files->free(d->p);
        return mfree(d);
}

int session_dir_write_meta(SessionDir *d, const SessionMeta *m, bool synced) {
        json_auto_t *o = session_meta_to_json(m);
        _cleanup_free_ char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;

        if (!session_meta_is_known(m)) /* it holds what is not in @m */
                return ORIGIN(-EROFS);
        return text ? entry_replace(d->fd, META_NAME, text, strlen(text), synced) : -ENOMEM;
}

/* *@ret_o, *@ret_field: of a file that was read, as far as there is any. */
static int read_meta(const SessionDir *d, SessionMeta **ret, json_t **ret_o,
                     const char **ret_field) {
        _cleanup_free_ char *text = NULL;
        json_error_t error;
        size_t n;
        int r;

        if (d->files)
                return d->files->read_meta(d->p, ret);
        r = entry_read(d->fd, META_NAME, &text, &n, META_BYTES_MAX);
        if (r < 0)
                return entry_is_misplaced(r) ? META_E_INVALID : r;
        *ret_field = "no JSON";
        *ret_o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
        if (!*ret_o)
                return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM
                                                                           : META_E_INVALID;
        return session_meta_from_json(ret, *ret_o, ret_field);
}

int session_dir_read_meta(const SessionDir *d, SessionMeta **ret) {
        json_auto_t *o = NULL;
        const char *field;

        return read_meta(d, ret, &o, &field);
}

int session_dir_read_any_meta(const SessionDir *d, const char *name, SessionMeta **ret) {
        json_auto_t *o = NULL;
        const char *field = NULL;
        char problem[256];
        int r = read_meta(d, ret, &o, &field);

        if (r == META_E_INVALID && field)
                (void) snprintf(problem, sizeof(problem),
                                "damaged: its session.json is not valid (%s)", field);
        else if (r == -EIO || r == -EACCES || r == -EFBIG)
                (void) snprintf(problem, sizeof(problem),
                                "unreadable: its session.json cannot be read: %s", strerror(-r));
        else if (r != META_E_NEWER)
                return r;
        return session_meta_stand_in(ret, o, name, r == META_E_NEWER ? NULL : problem);
}

static int tracing_path(char ret[static PATH_MAX], const char *path) {
        return (size_t) snprintf(ret, PATH_MAX, "tracing/%s", path) >= PATH_MAX ? ORIGIN(-EINVAL)
                                                                                : 0;
}

int session_dir_write_tracing(SessionDir *d, const char *path, const void *data, size_t n,
                              bool synced) {
        char whole[PATH_MAX];

        return tracing_path(whole, path) ?: entry_replace(d->fd, whole, data, n, synced);
}

int session_dir_read_tracing(const SessionDir *d, const char *path, char **ret, size_t *ret_n) {
        char whole[PATH_MAX];
        int r;

        if (d->files)
                return d->files->read_tracing(d->p, path, ret, ret_n);
        r = tracing_path(whole, path) ?: entry_read(d->fd, whole, ret, ret_n, TRACING_BYTES_MAX);
        return entry_is_misplaced(r) ? -ENOENT : r;
}

static char *format_cpu_name(char ret[static CPU_NAME_MAX], uint32_t cpu) {
        (void) snprintf(ret, CPU_NAME_MAX, "cpu%" PRIu32, cpu);
        return ret;
}

int session_dir_make_cpu(SessionDir *d, uint32_t cpu) {
        char name[CPU_NAME_MAX];

        if (cpu >= STORE_MAX_CPUS)
                return ORIGIN(-EINVAL);
        return dir_make(d->fd, format_cpu_name(name, cpu), STORE_DIR_MODE) ?: dir_open(d->fd, name);
}

/* What a name stands for; false if it is none of ours. */
typedef bool (*NameParser)(const char *name, uint64_t *ret);

static bool parse_cpu_name(const char *name, uint64_t *ret) {
        const char *digits = startswith(name, "cpu");

        return digits && (digits[0] != '0' || digits[1] == 0) &&
               parse_u64(digits, STORE_MAX_CPUS - 1, ret) >= 0;
}

static int compare_numbers(const void *a, const void *b) {
        return CMP(*(const uint64_t *) a, *(const uint64_t *) b);
}

/* Without a look at the file where the file system tells: there may be tens of thousands. */
static bool is_of_type(int dir_fd, const struct dirent *e, mode_t type) {
        struct stat st;

        if (e->d_type != DT_UNKNOWN)
                return (mode_t) DTTOIF(e->d_type) == type;
        return fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
               (st.st_mode & S_IFMT) == type;
}

/* Numbers of the entries of @name below @dir_fd whose names the parser takes and whose type is
 * @type (S_IFDIR, S_IFREG), ascending. */
static int list_numbers(int dir_fd, const char *name, NameParser parse, mode_t type, uint64_t **ret,
                        size_t *ret_n) {
        _cleanup_free_ uint64_t *numbers = NULL;
        _cleanup_(closedirp) DIR *dir = NULL;
        const struct dirent *e;
        uint64_t number;
        size_t n = 0;
        int r = dir_list(&dir, dir_open(dir_fd, name));

        while (r >= 0 && (e = dir_next(dir, &r)))
                if (parse(e->d_name, &number) && is_of_type(dirfd(dir), e, type) &&
                    !ARRAY_ADD(numbers, n, number))
                        r = -ENOMEM;
        if (r < 0)
                return r;
        SORT(numbers, n, compare_numbers);
        *ret = TAKE_PTR(numbers);
        *ret_n = n;
        return 0;
}

int session_dir_list_cpus(const SessionDir *d, uint32_t **ret, size_t *ret_n) {
        _cleanup_free_ uint64_t *numbers = NULL;
        uint32_t *cpus;
        size_t n;
        int r;

        if (d->files)
                return d->files->list_cpus(d->p, ret, ret_n);
        r = list_numbers(d->fd, ".", parse_cpu_name, S_IFDIR, &numbers, &n);
        if (r < 0)
                return r;
        cpus = calloc(n ?: 1, sizeof(*cpus));
        if (!cpus)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                cpus[i] = (uint32_t) numbers[i];
        *ret = cpus;
        *ret_n = n;
        return 0;
}

int session_dir_list_segments(const SessionDir *d, uint32_t cpu, uint64_t **ret, size_t *ret_n) {
        char name[CPU_NAME_MAX];

        if (d->files) {
                *ret = calloc(1, sizeof(**ret));
                *ret_n = 1;
                return *ret ? 0 : -ENOMEM;
        }
        return list_numbers(d->fd, format_cpu_name(name, cpu), segment_parse_name, S_IFREG, ret,
                            ret_n);
}

int session_dir_list_places(const SessionDir *d, SegmentPlace **ret, size_t *ret_n) {
        _cleanup_free_ SegmentPlace *places = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n = 0, n_room = 0, n_cpus;
        int r = session_dir_list_cpus(d, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n_here;

                r = session_dir_list_segments(d, cpus[i], &sequences, &n_here);
                if (r >= 0 && !ARRAY_ROOM(places, n_room, n + n_here))
                        r = -ENOMEM;
                for (size_t k = 0; r >= 0 && k < n_here; k++)
                        places[n++] = (SegmentPlace){ cpus[i], sequences[k] };
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(places);
        *ret_n = n;
        return 0;
}

int session_dir_open_segment_file(const SessionDir *d, uint32_t cpu, uint64_t sequence) {
        char path[SEGMENT_PATH_MAX];

        if (sequence > UINT32_MAX || d->files)
                return ORIGIN(-EINVAL);
        return entry_open_file(d->fd, segment_format_path(path, cpu, sequence), O_RDONLY);
}

/* As its header says, sealed or not; 0 if that cannot be read. */
static uint64_t count_pages(const SessionDir *d, uint32_t cpu, uint64_t sequence) {
        _cleanup_close_ int fd = session_dir_open_segment_file(d, cpu, sequence);
        SegmentHeader h;
        int r = fd < 0 ? fd : segment_read_header(fd, &h);

        return r == 0 || r == SEGMENT_E_SEALED ? h.n_pages : 0;
}

int session_dir_drop_period(const SessionDir *d, uint64_t sequence, PeriodDropped dropped,
                            void *userdata) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(d, &cpus, &n_cpus);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n_cpus; i++) {
                uint64_t n_pages = count_pages(d, cpus[i], sequence);
                char path[SEGMENT_PATH_MAX];

                if (unlinkat(session_dir_fd(d), segment_format_path(path, cpus[i], sequence), 0) >=
                    0)
                        dropped(cpus[i], n_pages, userdata);
                else if (errno != ENOENT)
                        r = r < 0 ? r : ORIGIN(-errno);
        }
        return MIN(r, 0);
}

int session_dir_read_symbols(const SessionDir *d, const char *hash, char **ret, size_t *ret_n) {
        if (d->files)
                return d->files->read_symbols(d->p, ret, ret_n);
        if (!hash || d->symbols_fd == -EBADF)
                return ORIGIN(-ENODATA);
        if (d->symbols_fd < 0)
                return d->symbols_fd;
        return symbol_file_load(d->symbols_fd, hash, ret, ret_n);
}

int session_dir_load_symbols(const SessionDir *d, const char *hash, SymbolParts *ret) {
        char *text;
        size_t n;

        if (!d->files && hash && d->symbols_fd >= 0)
                return symbol_file_load_parts(d->symbols_fd, hash, ret);
        return session_dir_read_symbols(d, hash, &text, &n)
                       ?: symbol_parts_split(ret, text, n, SYMBOL_PART_BYTES);
}

static int add_build_ids(const SessionDir *d, const char *modules, Strv *ids) {
        _cleanup_free_ char *list = NULL;
        int r = session_dir_read_symbols(d, modules, &list, NULL);

        return r >= 0 ? build_ids_add_modules(ids, list) : r == -ENOMEM ? r : 0;
}

int session_dir_read_build_ids(const SessionDir *d, const SessionMeta *m, Strv *ret) {
        _cleanup_strv_ Strv ids = {};
        int r = strv_extend(&ids, &m->build_ids);

        if (r >= 0 && m->build_id)
                r = strv_addf(&ids, BUILD_ID_KERNEL " %s", m->build_id);
        if (r >= 0 && !d->files)
                r = add_build_ids(d, m->modules, &ids);
        for (size_t i = 0; i < m->symbol_maps.n && r >= 0 && !d->files; i++)
                r = add_build_ids(d, m->symbol_maps.items[i].modules, &ids);
        if (r < 0)
                return r;
        strv_sort_unique(&ids);
        *ret = TAKE(ids, (Strv){});
        return 0;
}

/* --- cuts: text, since people read it at least as often as programs ------------------------------ */

#define CUTS_NAME "cuts"
#define CUTS_BYTES_MAX ((size_t) 64 << 20)
#define LINE_NUMBERS 5

static void add_line(Buf *b, const Cut *c) {
        buf_printf(b, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->sequence,
                   c->clocks.trace_ns, c->clocks.monotonic_ns, c->clocks.boottime_ns,
                   c->clocks.realtime_ns);
}

int cut_log_append(const SessionDir *d, const Cut *cut) {
        _cleanup_buf_ Buf b = BUF_INIT;
        uint64_t n_file;

        add_line(&b, cut);
        return b.error ?: entry_append(session_dir_fd(d), CUTS_NAME, b.data, b.n_data, &n_file);
}

/* Takes a line off *@text; false if it is none. */
static bool read_line(char **text, Cut *ret) {
        uint64_t numbers[LINE_NUMBERS];
        char *end = strchr(*text, '\n'), *p = *text;

        if (!end)
                return false;
        *end = 0;
        for (size_t i = 0; i < LINE_NUMBERS; i++) {
                char *word = p;

                p += strcspn(p, " ");
                if ((*p == 0) != (i + 1 == LINE_NUMBERS))
                        return false;
                *p++ = 0;
                if (parse_u64(word, i == 0 ? UINT32_MAX : INT64_MAX, &numbers[i]) < 0)
                        return false;
        }
        *ret = (Cut){ numbers[0], { numbers[1], numbers[2], numbers[3], numbers[4] } };
        *text = end + 1;
        return true;
}

int cut_log_read(const SessionDir *d, Cut **ret, size_t *ret_n) {
        _cleanup_free_ char *text = NULL;
        _cleanup_free_ Cut *cuts = NULL;
        size_t n = 0;
        char *p;
        Cut cut;
        int r = entry_read(session_dir_fd(d), CUTS_NAME, &text, NULL, CUTS_BYTES_MAX);

        if (r < 0 && r != -ENOENT)
                return r;
        for (p = text; p && read_line(&p, &cut);) {
                if (n > 0 && cut.sequence <= cuts[n - 1].sequence)
                        break;
                if (!ARRAY_ADD(cuts, n, cut))
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(cuts);
        *ret_n = n;
        return 0;
}

int cut_log_replace(const SessionDir *d, const Cut *cuts, size_t n) {
        _cleanup_buf_ Buf b = BUF_INIT;

        for (size_t i = 0; i < n; i++)
                add_line(&b, &cuts[i]);
        if (b.error < 0)
                return b.error;
        return entry_replace(session_dir_fd(d), CUTS_NAME, b.data ?: "", b.n_data, false);
}

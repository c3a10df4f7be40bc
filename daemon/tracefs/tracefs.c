/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Looking without touching: where tracefs is, which CPUs, instances and tracers it has, and
 * which processes hold its pipes.  libtracefs is asked where it is mounted, and told not to
 * mount it: a daemon that changes the mounts of a host surprises somebody.
 */

#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <tracefs.h>

#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/process/background.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracefs/tracefs.h"

static bool is_tracefs(int fd) {
        struct statfs st;

        return fstatfs(fd, &st) >= 0 && st.f_type == TRACEFS_MAGIC;
}

/* The name under which people know the directory: a sandbox may show it elsewhere. */
static const char *usual_path(int fd, const char *path) {
        struct stat st, usual;

        return fstat(fd, &st) >= 0 && stat(TRACEFS_DEFAULT_PATH, &usual) >= 0 &&
                               st.st_dev == usual.st_dev && st.st_ino == usual.st_ino
                       ? TRACEFS_DEFAULT_PATH
                       : path;
}

int tracefs_attach(Tracefs *fs, const char *path) {
        _cleanup_close_ int fd = -EBADF, probe = -EBADF;
        const char *found = NULL;

        if (fs->fd >= 0)
                return 0;
        if (!path)
                path = tracefs_tracing_dir_is_mounted(false, &found) > 0 && found
                               ? found
                               : TRACEFS_DEFAULT_PATH;
        if (text_replace(&fs->path, path) < 0)
                return fs->error = -ENOMEM;

        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return fs->error = ORIGIN(-errno);
        probe = openat(fd, "current_tracer", O_RDONLY | O_CLOEXEC);
        if (probe < 0)
                return fs->error = errno == ENOENT && is_tracefs(fd) ? -ENODATA : ORIGIN(-errno);
        if (text_replace(&fs->path, usual_path(fd, fs->path)) < 0)
                return fs->error = -ENOMEM;
        fs->is_real = is_tracefs(fd);
        fs->fd = TAKE_FD(fd);
        return fs->error = 0;
}

void tracefs_detach(Tracefs *fs) {
        fs->fd = safe_close(fs->fd);
        free(fs->path);
        fs->path = NULL;
}

/* Adds the names in a directory that do not begin with a dot, and sorts. */
static int list_names(int dir_fd, const char *path, Strv *ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = dir_list(&d, dir_open(dir_fd, path));

        while (r >= 0 && (e = readdir(d)))
                if (e->d_name[0] != '.')
                        r = strv_add(ret, e->d_name);
        if (r >= 0)
                strv_sort_unique(ret);
        return r;
}

bool tracefs_kernel_is_since(const Tracefs *fs, unsigned major, unsigned minor) {
        _cleanup_free_ char *release = NULL;

        return file_read(fs->root_fd, "proc/sys/kernel/osrelease", &release, NULL, 4096) >= 0 &&
               release_compare(release, major, minor) == RELEASE_SINCE;
}

int tracefs_get_instances(const Tracefs *fs, Strv *ret) {
        int r = list_names(fs->fd, "instances", ret);

        return r == -ENOENT ? 0 : r;
}

int tracefs_get_threads(const Tracefs *fs, const char *pid, Strv *ret) {
        char path[64];

        (void) snprintf(path, sizeof(path), "proc/%.20s/task", pid);
        return list_names(fs->root_fd, path, ret);
}

static int compare_u32(const void *a, const void *b) {
        return CMP(*(const uint32_t *) a, *(const uint32_t *) b);
}

int tracefs_get_cpus(const Tracefs *fs, uint32_t **ret, size_t *ret_n) {
        _cleanup_(closedirp) DIR *d = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        struct dirent *e;
        size_t n = 0;
        int r = dir_list(&d, dir_open(fs->fd, "per_cpu"));

        if (r < 0)
                return r;
        while ((e = readdir(d))) {
                const char *number = startswith(e->d_name, "cpu");
                uint64_t cpu;

                if (!number || parse_u64(number, UINT32_MAX - 1, &cpu) < 0)
                        continue;
                if (!ARRAY_GROW(cpus, n))
                        return -ENOMEM;
                cpus[n++] = (uint32_t) cpu;
        }
        if (n == 0)
                return ORIGIN(-ENOENT);
        qsort(cpus, n, sizeof(*cpus), compare_u32);
        *ret = TAKE_PTR(cpus);
        *ret_n = n;
        return 0;
}

char *tracefs_make_mask(uint32_t n, const Strv *ranges) {
        uint32_t n_groups = (n + 31) / 32;
        _cleanup_free_ uint32_t *groups = calloc(n_groups, sizeof(*groups));
        char *text = malloc((size_t) n_groups * 9 + 1), *p = text;

        if (!groups || !text)
                return mfree(text);
        for (size_t k = 0; k < MAX(ranges->n, (size_t) 1); k++) {
                unsigned cpu = 0, last = n - 1;

                if (ranges->n > 0)
                        cpu_range_parse(ranges->items[k], &cpu, &last);
                for (; cpu <= last && cpu < n; cpu++)
                        groups[cpu / 32] |= UINT32_C(1) << cpu % 32;
        }
        p += sprintf(p, "%x", groups[n_groups - 1]);
        for (uint32_t g = n_groups - 1; g > 0; g--)
                p += sprintf(p, ",%08x", groups[g - 1]);
        return text;
}

const char *tracefs_path(char ret[static PATH_MAX], const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(ret, PATH_MAX, format, ap);
        va_end(ap);
        return ret;
}

int(tracefs_open)(const Tracefs *fs, int flags, const char *path) {
        int fd = openat(fs->fd, path, flags | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

int tracefs_read_stats(const Tracefs *fs, const char *dir, uint32_t cpu,
                       uint64_t ret[static _STAT_N]) {
        static const char *const names[_STAT_N] = {
                [STAT_OVERRUN] = "overrun: ",        [STAT_COMMIT_OVERRUN] = "commit overrun: ",
                [STAT_DROPPED] = "dropped events: ", [STAT_READ] = "read events: ",
                [STAT_ENTRIES] = "entries: ",        [STAT_NOW] = "now ts: ",
        };
        _cleanup_free_ char *text = NULL;
        int r = file_read(fs->fd, TRACEFS_PATH("%sper_cpu/cpu%u/stats", dir, cpu), &text, NULL,
                          CONTROL_MAX_BYTES);

        if (r < 0)
                return r;
        for (char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n')
                for (size_t i = 0; i < _STAT_N; i++) {
                        const char *number = startswith(s, names[i]);
                        char *end;

                        if (!number)
                                continue;
                        ret[i] = strtoull(number, &end, 10);
                        if (*end == '.') /* microseconds follow */
                                ret[i] = ret[i] * NSEC_PER_SEC +
                                         strtoull(end + 1, NULL, 10) * NSEC_PER_USEC;
                }
        return 0;
}

int tracefs_sum_stats(const Tracefs *fs, const char *dir, uint64_t ret[static _STAT_N]) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n;
        int r = tracefs_get_cpus(fs, &cpus, &n);

        memset(ret, 0, _STAT_N * sizeof(*ret));
        for (size_t i = 0; r >= 0 && i < n; i++) {
                uint64_t one[_STAT_N] = {};

                r = tracefs_read_stats(fs, dir, cpus[i], one);
                for (size_t k = 0; r >= 0 && k < _STAT_N; k++)
                        ret[k] += one[k];
        }
        return r;
}

uint64_t tracefs_count_events(const Tracefs *fs, const char *dir) {
        uint64_t stats[_STAT_N];

        (void) tracefs_sum_stats(fs, dir, stats);
        return stats[STAT_ENTRIES] + stats[STAT_OVERRUN] + stats[STAT_READ];
}

/* linux 6.12 kernel/trace/trace.c, tracing_open() with O_TRUNC */
int tracefs_empty(const Tracefs *fs, const char *dir) {
        _cleanup_close_ int fd = -EBADF;

        log_debug("control", "empty %strace", dir);
        fd = tracefs_open(fs, O_WRONLY | O_TRUNC, "%strace", dir);
        return MIN(fd, 0);
}

int tracefs_read_words(const Tracefs *fs, const char *path, const char *separators, Strv *ret) {
        _cleanup_free_ char *text = NULL;

        return file_read(fs->fd, path, &text, NULL, CONTROL_MAX_BYTES)
                       ?: strv_split(ret, text, separators);
}

int tracefs_has_tracer(const Tracefs *fs, const char *dir, const char *tracer) {
        _cleanup_strv_ Strv words = {};

        return tracefs_read_words(fs, TRACEFS_PATH("%savailable_tracers", dir), " \n", &words)
                       ?: strv_contains(&words, tracer);
}

int tracefs_read_header_page(const Tracefs *fs, const char *dir, char **ret, size_t *ret_n) {
        int r = file_read(fs->fd, TRACEFS_PATH("%sevents/header_page", dir), ret, ret_n,
                          CONTROL_MAX_BYTES);

        return r == -ENOENT && *dir ? tracefs_read_header_page(fs, "", ret, ret_n) : r;
}

int tracefs_read_page_bytes(const Tracefs *fs, const char *dir, uint32_t *ret) {
        _cleanup_free_ char *text = NULL;
        unsigned offset, size;
        const char *data;
        int r = tracefs_read_header_page(fs, dir, &text, NULL);

        if (r < 0)
                return r;
        data = strstr(text, " data;");
        if (!data || sscanf(data, " data; offset:%u; size:%u;", &offset, &size) != 2 ||
            offset > 4096 || size > (1U << 24))
                return ORIGIN(-EBADMSG);
        *ret = offset + size;
        return 0;
}

int tracefs_find_users(const Tracefs *fs, const char *tracer, Strv *ret) {
        _cleanup_strv_ Strv dirs = {};
        int r = tracefs_get_instances(fs, &dirs);

        for (size_t i = 0; r >= 0 && i <= dirs.n; i++) {
                const char *dir = i < dirs.n ? TRACEFS_PATH("instances/%s/", dirs.items[i]) : "";
                _cleanup_free_ char *now = NULL;

                r = control_read(fs->fd, TRACEFS_PATH("%scurrent_tracer", dir), &now);
                if (r == -ENOENT || r == -ENODEV)
                        r = 0; /* an instance that has just gone */
                else if (r >= 0 && (tracer ? streq(now, tracer) : !streq(now, "nop")))
                        r = strv_add(ret, dir);
        }
        return r;
}

int tracefs_find_graph_users(const Tracefs *fs, Strv *ret) {
        return tracefs_find_users(fs, "function_graph", ret);
}

/* True if @target (of a link in /proc/PID/fd) is a pipe of the buffer in @dir.  debugfs shows the
 * same files a second time. */
static bool is_pipe_of(const Tracefs *fs, const char *dir, const char *target) {
        const char *const prefixes[] = { fs->path, TRACEFS_DEFAULT_PATH,
                                         "/sys/kernel/debug/tracing" };

        for (size_t i = 0; i < ELEMENTSOF(prefixes); i++) {
                const char *rest = startswith(target, prefixes[i]);

                if (!rest || *rest != '/')
                        continue;
                rest = startswith(rest + 1, dir);
                if (!rest)
                        continue;
                if (streq(rest, "trace_pipe"))
                        return true;
                rest = startswith(rest, "per_cpu/cpu");
                rest = rest ? strchr(rest, '/') : NULL;
                if (rest && startswith(rest, "/trace_pipe"))
                        return true;
        }
        return false;
}

static int add_holder(const Tracefs *fs, const char *dir, const char *pid, Strv *ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        char path[PATH_MAX], target[PATH_MAX];
        struct dirent *e;

        (void) snprintf(path, sizeof(path), "proc/%.20s/fd", pid);
        if (dir_list(&d, dir_open(fs->root_fd, path)) < 0)
                return 0; /* it has ended, or is not ours to see */
        while ((e = readdir(d))) {
                ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
                _cleanup_free_ char *comm = NULL;

                if (n <= 0)
                        continue;
                target[n] = 0;
                if (!is_pipe_of(fs, dir, target))
                        continue;
                (void) snprintf(path, sizeof(path), "proc/%.20s/comm", pid);
                if (file_read(fs->root_fd, path, &comm, NULL, 4096) < 0)
                        return 0;
                comm[strcspn(comm, "\n")] = 0;
                return strv_addf(ret, "%s (pid %s)", comm, pid);
        }
        return 0;
}

static int find_pipe_holders(const Tracefs *fs, const char *dir, Strv *ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        const char *pid;
        int r = 0;

        if (dir_list(&d, dir_open(fs->root_fd, "proc")) < 0)
                return 0;
        while (r >= 0 && (pid = dir_next_number(d)))
                if (atoi(pid) != getpid())
                        r = add_holder(fs, dir, pid, ret);
        return r;
}

/* Any user may have as many descriptors as he likes. */
int tracefs_find_pipe_holders(const Tracefs *fs, const char *dir, Strv *ret) {
        return BACKGROUND_CALL(find_pipe_holders(fs, dir, ret));
}

char *tracefs_where(const Tracefs *fs, const char *dir) {
        char *text;
        int n = (int) strlen(dir);

        if (n > 0 && dir[n - 1] == '/')
                n--;
        (void) text_format(&text, "%s%s%.*s", fs->path, n > 0 ? "/" : "", n, dir);
        return text;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A kernel or a disk that takes its time, preloaded into a daemon
 *
 * As long as the file $SLOW_FILE names a file below $SLOW_DIR, write() to that one does not return, nor
 * does close() of one that may be written, which is when the kernel hooks (linux 6.1
 * kernel/trace/ftrace.c, ftrace_regex_release()); $SLOW_FILE.reached is there once somebody has called it.
 * If it names "unlink NAME" no file is unlinked in a directory of that name.
 *
 * Whoever is at the kernel has locks, so that meanwhile no file below $SLOW_DIR opens that shows what is hooked
 * (ftrace_lock: their readers wait for it), and none at all if $SLOW_FILE has a second line "all" (linux 6.12
 * kernel/trace/trace.c, trace_array_get(), trace_types_lock, which is held while current_tracer is written).
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

static atomic_int n_held; /* calls of the kernel's that do not return */

/* The first line of $SLOW_FILE, and whether the second says "all". */
static int read_slow(char text[static 256]) {
        const char *path = getenv("SLOW_FILE");
        FILE *f = path ? fopen(path, "re") : NULL;
        char second[256] = {};

        text[0] = 0;
        if (!f)
                return 0;
        if (!fgets(text, 256, f))
                text[0] = 0;
        if (!fgets(second, sizeof(second), f))
                second[0] = 0;
        (void) fclose(f);
        text[strcspn(text, "\n")] = 0;
        return strcmp(second, "all\n") == 0;
}

/* Whether $SLOW_FILE names @name. */
static int is_slow(const char *name) {
        char text[256];

        (void) read_slow(text);
        return strcmp(text, name) == 0;
}

static void say_reached(void) {
        char path[PATH_MAX];

        (void) snprintf(path, sizeof(path), "%s.reached", getenv("SLOW_FILE"));
        (void) REAL(close)(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void wait_for_release(const char *name) {
        say_reached();
        while (is_slow(name))
                (void) nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* Where @fd is, relative to $SLOW_DIR: "" for that itself; NULL: elsewhere. */
static const char *find_below(int fd, char path[static PATH_MAX]) {
        const char *dir = getenv("SLOW_DIR");
        char link[64];
        ssize_t n;

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = dir ? readlink(link, path, PATH_MAX - 1) : -1;
        if (n < 0)
                return NULL;
        path[n] = 0;
        n = (ssize_t) strlen(dir);
        if (strncmp(path, dir, (size_t) n) != 0 || (path[n] != '/' && path[n] != 0))
                return NULL;
        return path + n + (path[n] == '/');
}

static void hold(int fd) {
        char path[PATH_MAX];
        const char *name = find_below(fd, path);

        if (!name || !is_slow(name))
                return;
        (void) atomic_fetch_add(&n_held, 1);
        wait_for_release(name);
        (void) atomic_fetch_sub(&n_held, 1);
}

static void wait_for_lock(int dir_fd, const char *name) {
        char path[PATH_MAX], text[256];

        if (atomic_load(&n_held) == 0 || !find_below(dir_fd, path))
                return;
        while (atomic_load(&n_held) > 0 &&
               (read_slow(text) || strstr(name, "set_ftrace_") || strstr(name, "_functions")))
                (void) nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

#define DEFINE_OPENAT(openat)                                                                      \
        int openat(int dir_fd, const char *name, int flags, ...) {                                 \
                mode_t mode;                                                                       \
                va_list ap;                                                                        \
                                                                                                   \
                va_start(ap, flags);                                                               \
                mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;                     \
                va_end(ap);                                                                        \
                wait_for_lock(dir_fd, name);                                                       \
                return REAL(openat)(dir_fd, name, flags, mode);                                    \
        }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t n) {
        hold(fd);
        return REAL(write)(fd, data, n);
}

int close(int fd) {
        int flags = fcntl(fd, F_GETFL);

        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
                hold(fd);
        return REAL(close)(fd);
}

int unlinkat(int dir_fd, const char *name, int flags) {
        char link[64], path[PATH_MAX], wanted[PATH_MAX + 16];
        ssize_t n;

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
        n = readlink(link, path, sizeof(path) - 1);
        if (n > 0) {
                path[n] = 0;
                (void) snprintf(wanted, sizeof(wanted), "unlink %s", strrchr(path, '/') + 1);
                if (is_slow(wanted))
                        wait_for_release(wanted);
        }
        return REAL(unlinkat)(dir_fd, name, flags);
}

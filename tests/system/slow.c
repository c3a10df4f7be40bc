/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A kernel or a disk that takes its time, preloaded into a daemon
 *
 * As long as the file $SLOW_FILE names a file below $SLOW_DIR, write() to that one does not return, nor
 * does close() of one that may be written, which is when the kernel hooks (linux 6.1
 * kernel/trace/ftrace.c, ftrace_regex_release()); $SLOW_FILE.reached is there once somebody has called it.
 * If it names "unlink NAME" no file is unlinked in a directory of that name.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

/* Whether $SLOW_FILE names @name. */
static int is_slow(const char *name) {
        const char *path = getenv("SLOW_FILE");
        char text[256] = {};
        FILE *f = path ? fopen(path, "re") : NULL;

        if (!f)
                return 0;
        if (!fgets(text, sizeof(text), f))
                text[0] = 0;
        (void) fclose(f);
        text[strcspn(text, "\n")] = 0;
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

static void hold(int fd) {
        const char *dir = getenv("SLOW_DIR");
        char link[64], path[PATH_MAX];
        const char *name;
        ssize_t n;

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = dir ? readlink(link, path, sizeof(path) - 1) : -1;
        if (n < 0)
                return;
        path[n] = 0;
        n = (ssize_t) strlen(dir);
        if (strncmp(path, dir, (size_t) n) != 0 || path[n] != '/')
                return;
        name = path + n + 1;
        if (is_slow(name))
                wait_for_release(name);
}

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

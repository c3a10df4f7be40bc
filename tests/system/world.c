/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What others do to a host, preloaded into a daemon
 *
 * Files in $WORLD_DIR, as long as they are there: CLOCK_REALTIME is ahead by the seconds in "ahead" and no
 * other clock knows of it; "boot_id" is the kernel's of another boot; the CPUs in "possible" are those that a kernel
 * could ever have; so many bytes as "free" says are free on every disk.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

static int find(char path[static PATH_MAX], const char *name) {
        const char *dir = getenv("WORLD_DIR");

        return dir && snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX &&
               access(path, F_OK) == 0;
}

/* Whether there is one. */
static int read_number(const char *name, long *ret) {
        char path[PATH_MAX];
        FILE *f = find(path, name) ? fopen(path, "re") : NULL;
        int n = f ? fscanf(f, "%ld", ret) : 0;

        if (f)
                (void) fclose(f);
        return n == 1;
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
        int r = REAL(clock_gettime)(clock, ret);
        long s;

        if (r == 0 && clock == CLOCK_REALTIME && read_number("ahead", &s))
                ret->tv_sec += s;
        return r;
}

int openat(int dir_fd, const char *name, int flags, ...) {
        char path[PATH_MAX];
        mode_t mode;
        va_list ap;

        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        va_end(ap);
        if (strcmp(name, "/proc/sys/kernel/random/boot_id") == 0 && find(path, "boot_id"))
                name = path;
        else if (strcmp(name, "/sys/devices/system/cpu/possible") == 0 && find(path, "possible"))
                name = path;
        return REAL(openat)(dir_fd, name, flags, mode);
}

int fstatvfs(int fd, struct statvfs *ret) {
        int r = REAL(fstatvfs)(fd, ret);
        long n_bytes;

        if (r == 0 && read_number("free", &n_bytes))
                ret->f_bavail = (unsigned long) n_bytes / ret->f_frsize;
        return r;
}

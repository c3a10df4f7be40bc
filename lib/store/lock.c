/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An flock() goes with the process that has it, however that ends. */

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/unit.h"
#include "store/entry.h"
#include "store/lock.h"

#define LOCK_NAME "lock"
#define LOCK_MODE 0600
#define TRIES 10
#define TRY_USEC 10000
#define PID_MAX 4194304 /* PID_MAX_LIMIT, linux 6.1 include/linux/threads.h, 64 bit */

/* As the file says, of a process that lives; or 0. */
static pid_t read_holder(int fd) {
        char text[32];
        uint64_t pid = 0;
        ssize_t n = pread_up_to(fd, text, sizeof(text) - 1, 0);

        if (n <= 0)
                return 0;
        text[n] = 0;
        text[strcspn(text, "\n")] = 0;
        if (parse_u64(text, PID_MAX, &pid) < 0 || pid == 0)
                return 0;
        return kill((pid_t) pid, 0) >= 0 || errno == EPERM ? (pid_t) pid : 0;
}

/* Writes over what another daemon's pid takes already, so that it works on a full disk as well. */
static int write_pid(int fd) {
        char text[32];
        int n = snprintf(text, sizeof(text), "%ld\n", (long) getpid());
        int r = pwrite_full(fd, text, (size_t) n, 0);

        if (r < 0)
                return r;
        return ftruncate(fd, n) < 0 ? ORIGIN(-errno) : 0;
}

static int open_lock(int store_fd, bool *ret_is_new) {
        int fd = entry_open_file(store_fd, LOCK_NAME, O_RDWR);
        struct statvfs st;

        if (fd != -ENOENT)
                return fd;
        if (fstatvfs(store_fd, &st) >= 0 && st.f_blocks > 0 && st.f_bavail == 0)
                return ORIGIN(-ENOSPC); /* not even the directory's time changes */
        fd = openat(store_fd, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
        *ret_is_new = fd >= 0;
        return fd < 0 ? ORIGIN(-errno) : fd;
}

/* 0, LOCK_E_HELD, -errno. */
static int try(int *ret, int store_fd, pid_t *ret_holder, bool *ret_is_new) {
        _cleanup_close_ int fd = open_lock(store_fd, ret_is_new);
        struct stat st;
        int r;

        if (fd < 0)
                return fd;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                if (errno != EWOULDBLOCK)
                        return ORIGIN(-errno);
                *ret_holder = read_holder(fd);
                return LOCK_E_HELD;
        }
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (st.st_nlink == 0) /* who had it has removed it */
                return LOCK_E_HELD;
        (void) fchmod(fd, LOCK_MODE); /* whoever can open it can lock it */
        r = write_pid(fd);
        if (r >= 0)
                *ret = TAKE_FD(fd);
        return r;
}

int lock_take(int *ret, int store_fd, pid_t *ret_holder, bool *ret_is_new) {
        pid_t holder = 0;
        int r = LOCK_E_HELD;

        *ret_is_new = false;
        for (unsigned i = 0; r == LOCK_E_HELD && i < TRIES; i++) {
                if (i > 0) /* somebody may be asking lock_look() */
                        (void) usleep(TRY_USEC);
                r = try(ret, store_fd, &holder, ret_is_new);
        }
        if (r == LOCK_E_HELD && ret_holder)
                *ret_holder = holder;
        return r;
}

int lock_look(int store_fd, pid_t *ret_holder) {
        _cleanup_close_ int fd = entry_open_file(store_fd, LOCK_NAME, O_RDONLY);

        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        /* A shared lock can be had as long as there is no exclusive one, and is given back at once. */
        if (flock(fd, LOCK_SH | LOCK_NB) >= 0)
                return 0;
        if (errno != EWOULDBLOCK)
                return ORIGIN(-errno);
        *ret_holder = read_holder(fd);
        return 1;
}

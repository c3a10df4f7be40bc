/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A lock may outlive who took it: a child that has a copy of the descriptor holds it on.  So whoever is
 * named as its holder was seen with the file open, or, where /proc does not let us look, lives and is the
 * one that took it.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/unit.h"
#include "store/entry.h"
#include "store/lock.h"

#define LOCK_NAME "lock"
#define NEW_NAME "lock.new"
#define TRIES 10
#define TRY_USEC 10000
#define PID_MAX 4194304 /* PID_MAX_LIMIT, linux 6.1 include/linux/threads.h, 64 bit */
#define LOCKS_MAX ((size_t) 16 << 20)
#define STATUS_MAX 16384
#define AGAIN _LOCK_E_N

/* --- who holds it ----------------------------------------------------------------------------- */

/* As the file says; 0: it does not say (yet). */
static pid_t read_pid(int fd) {
        char text[32];
        uint64_t pid = 0;
        ssize_t n = pread_up_to(fd, text, sizeof(text) - 1, 0);

        if (n <= 0)
                return 0;
        text[n] = 0;
        text[strcspn(text, "\n")] = 0;
        return parse_u64(text, PID_MAX, &pid) < 0 ? 0 : (pid_t) pid;
}

static bool is_alive(pid_t pid) {
        return pid > 0 && (kill(pid, 0) >= 0 || errno == EPERM);
}

/* Whether the process runs as the owner of the file: as /proc has it, anybody can let his own
 * /proc/PID be root's. */
static bool is_owners(pid_t pid, const struct stat *st) {
        _cleanup_free_ char *text = NULL;
        char path[32], *uid;

        (void) snprintf(path, sizeof(path), "/proc/%ld/status", (long) pid);
        if (file_read(AT_FDCWD, path, &text, NULL, STATUS_MAX) < 0)
                return false;
        uid = strstr(text, "\nUid:");
        return uid && strtoul(uid + strlen("\nUid:"), NULL, 10) == st->st_uid;
}

/*
 * A line of /proc/locks (linux 6.1 fs/locks.c, lock_get_status()): "7: FLOCK  ADVISORY  WRITE 812
 * 08:01:1234 0 EOF".  On some file systems (btrfs, overlayfs) stat() knows another device than it has.
 * Whether that is an exclusive flock() of the file.  *@ret_pid took it, and may be dead.
 */
static bool is_lock_of(const char *line, const struct stat *st, pid_t *ret_pid) {
        unsigned major, minor;
        uint64_t inode;
        long pid;

        if (sscanf(line, "%*u: FLOCK %*s WRITE %ld %x:%x:%" SCNu64, &pid, &major, &minor, &inode) !=
                    4 ||
            inode != st->st_ino)
                return false;
        *ret_pid = (pid_t) pid;
        return (major(st->st_dev) == major && minor(st->st_dev) == minor) ||
               is_owners((pid_t) pid, st);
}

/* Whether @pid, or, if that is 0, anybody (*@ret_pid), took it exclusively: 1, 0, -errno. */
static int is_listed(const struct stat *st, pid_t pid, pid_t *ret_pid) {
        _cleanup_free_ char *text = NULL;
        char *rest, *line;
        int r = file_read(AT_FDCWD, "/proc/locks", &text, NULL, LOCKS_MAX);

        if (r < 0)
                return r;
        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                pid_t found;

                if (is_lock_of(line, st, &found) && (pid == 0 || found == pid)) {
                        *ret_pid = found;
                        return 1;
                }
        }
        return 0;
}

/* Whether @pid has the file open: 1, 0, -errno: it cannot be told. */
static int has_open(pid_t pid, const struct stat *st) {
        _cleanup_(closedirp) DIR *dir = NULL;
        char path[32];
        struct dirent *e;
        struct stat f;

        (void) snprintf(path, sizeof(path), "/proc/%ld/fd", (long) pid);
        dir = opendir(path);
        if (!dir)
                return ORIGIN(-errno);
        while ((e = readdir(dir)))
                if (fstatat(dirfd(dir), e->d_name, &f, 0) >= 0 && f.st_dev == st->st_dev &&
                    f.st_ino == st->st_ino)
                        return 1;
        return 0;
}

/* Of the file that @lock_fd is, which somebody holds. */
static pid_t find_holder(int lock_fd, const struct stat *st) {
        _cleanup_(closedirp) DIR *proc = NULL;
        pid_t first = read_pid(lock_fd), self = getpid();
        struct dirent *e;
        int r = is_alive(first) ? has_open(first, st) : 0;

        if (r > 0 || r == -EACCES || r == -EPERM)
                return first;
        proc = opendir("/proc");
        while (proc && (e = readdir(proc))) {
                uint64_t pid;

                if (parse_u64(e->d_name, PID_MAX, &pid) >= 0 && (pid_t) pid != self &&
                    has_open((pid_t) pid, st) > 0)
                        return (pid_t) pid;
        }
        return 0;
}

/* Whether what holds a lock that readers can open is a daemon of an older version. */
static bool is_older_daemons(int lock_fd, const struct stat *st) {
        pid_t pid = read_pid(lock_fd), found;

        return is_owners(pid, st) && is_listed(st, pid, &found) != 0;
}

/* --- taking it -------------------------------------------------------------------------------- */

static bool is_private(const struct stat *st) {
        return (st->st_mode & 077) == 0;
}

static bool is_full(int fd) {
        struct statvfs st;

        return fstatvfs(fd, &st) >= 0 && st.f_blocks > 0 && st.f_bavail == 0;
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

static int open_lock(int store_fd, int *ret, bool *ret_is_new) {
        int fd = entry_open_file(store_fd, LOCK_NAME, O_RDWR);

        if (fd == -ENOENT) {
                if (is_full(store_fd))
                        return LOCK_E_FULL; /* not even the directory's time changes */
                fd = openat(store_fd, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                            LOCK_FILE_MODE);
                if (fd < 0)
                        return ORIGIN(-errno);
                *ret_is_new = true;
        }
        if (fd < 0)
                return fd;
        *ret = fd;
        return 0;
}

/* One that nobody has a descriptor of, in the place of one that anybody may have. */
static int replace(Lock *l, int store_fd) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        (void) unlinkat(store_fd, NEW_NAME, 0);
        fd = openat(store_fd, NEW_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    LOCK_FILE_MODE);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errno == ENOSPC || errno == EDQUOT ? LOCK_E_FULL : ORIGIN(-errno);
        r = write_pid(fd);
        if (r >= 0 && renameat(store_fd, NEW_NAME, store_fd, LOCK_NAME) < 0)
                r = ORIGIN(-errno);
        if (r < 0) {
                (void) unlinkat(store_fd, NEW_NAME, 0);
                return is_full(store_fd) ? LOCK_E_FULL : r;
        }
        l->old_fd = TAKE_FD(l->fd);
        l->fd = TAKE_FD(fd);
        return 0;
}

/* Whether it is still the file of that name: another daemon may have replaced it. */
static bool is_current(int store_fd, int lock_fd) {
        struct stat named, ours;

        return fstatat(store_fd, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) >= 0 &&
               fstat(lock_fd, &ours) >= 0 && named.st_dev == ours.st_dev &&
               named.st_ino == ours.st_ino;
}

/* 0, LOCK_E_*, AGAIN, -errno. */
static int try(Lock *ret, int store_fd, pid_t *ret_holder, bool *ret_is_new) {
        _cleanup_(lock_done) Lock l = LOCK_INIT;
        bool is_held;
        struct stat st;
        int r = open_lock(store_fd, &l.fd, ret_is_new);

        if (r != 0)
                return r;
        if (fstat(l.fd, &st) < 0)
                return ORIGIN(-errno);
        is_held = flock(l.fd, LOCK_EX | LOCK_NB) < 0;
        if (is_held && errno != EWOULDBLOCK)
                return ORIGIN(-errno);
        if (is_held && (is_private(&st) || is_older_daemons(l.fd, &st))) {
                *ret_holder = find_holder(l.fd, &st);
                return LOCK_E_HELD;
        }
        if (!is_private(&st)) {
                r = replace(&l, store_fd);
                if (r == LOCK_E_FULL && !is_held)
                        r = 0; /* the old one does, until there is room */
        }
        if (r == 0 && !is_current(store_fd, l.fd))
                r = AGAIN;
        if (r == 0)
                r = write_pid(l.fd);
        if (r != 0)
                return r;
        *ret = TAKE(l, LOCK_INIT);
        return 0;
}

int lock_take(Lock *ret, int store_fd, pid_t *ret_holder, bool *ret_is_new) {
        pid_t holder = 0;
        int r = AGAIN;

        *ret_is_new = false;
        for (unsigned i = 0; (r == LOCK_E_HELD || r == AGAIN) && i < TRIES; i++) {
                if (i > 0) /* somebody may be asking lock_look() */
                        (void) usleep(TRY_USEC);
                r = try(ret, store_fd, &holder, ret_is_new);
        }
        if (r == AGAIN)
                r = LOCK_E_HELD; /* by whom replaces it all the time */
        if (r == LOCK_E_HELD && ret_holder)
                *ret_holder = holder;
        return r;
}

/* --- asking ----------------------------------------------------------------------------------- */

int lock_look(int store_fd, pid_t *ret_holder) {
        _cleanup_close_ int fd = entry_open_file(store_fd, LOCK_NAME, O_RDONLY);
        struct stat st;
        pid_t pid = 0;
        int r;

        if (fd == -ENOENT)
                return 0;
        if (fd == -EACCES || fd == -EPERM) {
                if (fstatat(store_fd, LOCK_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return ORIGIN(-errno);
                r = is_listed(&st, 0, &pid);
                if (r > 0)
                        *ret_holder = is_alive(pid) ? pid : 0;
                return r;
        }
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        /* A shared lock can be had as long as there is no exclusive one, and is given back at once. */
        if (flock(fd, LOCK_SH | LOCK_NB) >= 0)
                return 0;
        if (errno != EWOULDBLOCK)
                return ORIGIN(-errno);
        if (!is_private(&st) && !is_older_daemons(fd, &st))
                return 0;
        *ret_holder = find_holder(fd, &st);
        return 1;
}

void lock_done(Lock *l) {
        l->fd = safe_close(l->fd);
        l->old_fd = safe_close(l->old_fd);
}

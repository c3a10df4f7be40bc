/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Two walks: over /proc, reading names, and over the directories of a control group, reading
 * cgroup.procs.  A threaded group has its tasks in cgroup.threads instead and says EOPNOTSUPP to the
 * other (linux 6.1 kernel/cgroup/cgroup.c, __cgroup_procs_start()).  Paths of groups are resolved by
 * the kernel with nothing that leads out of /sys/fs/cgroup.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "base/unit.h"
#include "daemon/admission/admission.h"

#define CGROUP_ROOT "sys/fs/cgroup"
#define CGROUP_DEPTH_MAX 64
#define PROCS_MAX_BYTES (16U << 20)
#define NUMBERS_TRIED 1000

int task_find_nobody(const Tracefs *fs, char ret[static TASK_NUMBER_MAX]) {
        _cleanup_free_ char *text = NULL;
        uint64_t end;
        int r;

        if (tracefs_kernel_is_since(fs, 5, 16)) {
                strcpy(ret, TASK_NOBODY);
                return 0;
        }
        r = file_read(fs->root_fd, "proc/sys/kernel/pid_max", &text, NULL, 64);
        if (r < 0)
                return r;
        text[strcspn(text, "\n")] = 0;
        r = parse_u64(text, INT32_MAX, &end);
        for (uint64_t n = end; r >= 0 && n > 1 && end - n < NUMBERS_TRIED;) {
                char path[sizeof("proc/") + TASK_NUMBER_MAX];

                (void) snprintf(ret, TASK_NUMBER_MAX, "%" PRIu64, --n);
                (void) snprintf(path, sizeof(path), "proc/%s", ret);
                if (faccessat(fs->root_fd, path, F_OK, 0) < 0)
                        return 0;
        }
        return r ?: -ENOENT;
}

static bool has_comm(int dir_fd, const char *id, const Strv *comms) {
        _cleanup_free_ char *text = NULL;
        char path[32];

        (void) snprintf(path, sizeof(path), "%.11s/comm", id);
        if (file_read(dir_fd, path, &text, NULL, 256) < 0)
                return false;
        text[strcspn(text, "\n")] = 0;
        return strv_contains(comms, text);
}

/* Threads of a process; only those called one of @comms, unless that is NULL. */
static int add_threads(int proc_fd, const char *pid, const Strv *comms, Strv *ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        const char *id;
        char path[32];
        int r;

        (void) snprintf(path, sizeof(path), "%.11s/task", pid);
        r = dir_list(&d, dir_open(proc_fd, path));
        if (r < 0)
                return r == -ENOENT || r == -ESRCH ? 0 : r;
        while (r >= 0 && (id = dir_next_number(d)))
                if (!comms || has_comm(dirfd(d), id, comms))
                        r = strv_add(ret, id);
        return r;
}

int task_find_by_comms(const Tracefs *fs, const Strv *comms, Strv *ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        const char *pid;
        int r = dir_list(&d, dir_open(fs->root_fd, "proc"));

        while (r >= 0 && (pid = dir_next_number(d)))
                r = add_threads(dirfd(d), pid, has_comm(dirfd(d), pid, comms) ? NULL : comms, ret);
        return r;
}

const char *task_group_below(const char *path) {
        const char *below = startswith(path, "/" CGROUP_ROOT);

        if (below && (*below == '/' || *below == 0))
                path = below;
        return path + strspn(path, "/");
}

int task_group_open(const Tracefs *fs, const char *path) {
        _cleanup_close_ int root_fd =
                openat(fs->root_fd, CGROUP_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                                .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
        long fd;

        if (root_fd < 0)
                return ORIGIN(-errno);
        path = task_group_below(path);
        fd = syscall(SYS_openat2, root_fd, *path ? path : ".", &how, sizeof(how));
        if (fd < 0 && errno == ENOSYS) /* before linux 5.6; the name has no ".." (base/name.h) */
                fd = openat(root_fd, *path ? path : ".",
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == EXDEV || errno == ENOTDIR ? -ENOENT : ORIGIN(-errno);
        return (int) fd;
}

static int add_processes(const Tracefs *fs, int group_fd, Strv *ret) {
        _cleanup_close_ int proc_fd = dir_open(fs->root_fd, "proc");
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv ids = {};
        bool are_threads = false;
        int r;

        if (proc_fd < 0)
                return proc_fd;
        r = file_read(group_fd, "cgroup.procs", &text, NULL, PROCS_MAX_BYTES);
        if (r == -EOPNOTSUPP) {
                are_threads = true;
                r = file_read(group_fd, "cgroup.threads", &text, NULL, PROCS_MAX_BYTES);
        }
        r = r ?: strv_split(&ids, text, "\n");
        /* 0 is a process that our namespace does not see. */
        for (size_t i = 0; r >= 0 && i < ids.n; i++)
                if (!streq(ids.items[i], "0"))
                        r = are_threads ? strv_add(ret, ids.items[i])
                                        : add_threads(proc_fd, ids.items[i], NULL, ret);
        return r;
}

/* A group that has been removed meanwhile has nobody in it. */
static int add_group(const Tracefs *fs, int group_fd, unsigned depth, Strv *ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = add_processes(fs, group_fd, ret);

        if (r == -ENODEV || r == -ENOENT)
                return 0;
        r = r ?: dir_list(&d, dir_open(group_fd, "."));
        while (r >= 0 && depth < CGROUP_DEPTH_MAX && (e = readdir(d))) {
                _cleanup_close_ int fd = -EBADF;

                if (e->d_type != DT_DIR || e->d_name[0] == '.')
                        continue;
                fd = dir_open(group_fd, e->d_name);
                if (fd >= 0)
                        r = add_group(fs, fd, depth + 1, ret);
        }
        return r == -ENOENT ? 0 : r;
}

int task_find_by_cgroup(const Tracefs *fs, const char *path, Strv *ret) {
        _cleanup_close_ int fd = task_group_open(fs, path);

        return fd < 0 ? fd : add_group(fs, fd, 0, ret);
}

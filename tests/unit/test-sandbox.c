/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "daemon/process/sandbox.h"
#include "scratch.h"

#define FILE_MAX (UINT64_C(1) << 20)

static int scratch_fd = -EBADF;

/* What a locked process tries; what it returns is its exit status. */
typedef int (*Attempt)(void);

static int try_to_work(void) {
        char *p = malloc(3 << 20), *q;
        int r;

        if (!p)
                return 1;
        memset(p, 7, 3 << 20);
        q = realloc(p, 9 << 20);
        if (!q)
                return 2;
        r = write_full(scratch_fd, q, 4096) < 0 || fsync(scratch_fd) < 0 ||
            pread_up_to(scratch_fd, q + 4096, 4096, 0) != 4096 || memcmp(q, q + 4096, 4096) != 0;
        free(q);
        return r ? 3 : 0;
}

/* As workers read what they were given: files and the kernel's texts. */
static int try_to_read_all(void) {
        char *text = NULL;
        size_t n;
        int r;

        if (write_full(scratch_fd, "abc", 3) < 0 || lseek(scratch_fd, 0, SEEK_SET) != 0)
                return 1;
        r = fd_read(scratch_fd, &text, &n, 16);
        r = r < 0 || n != 3 || memcmp(text, "abc", 3) != 0 ? 2 : 0;
        free(text);
        if (r == 0 && (fd_hole_bytes(scratch_fd, 0, 3) != 0 || fd_data_end(scratch_fd, 0, 3) != 3))
                r = 3;
        return r;
}

static int try_to_open(void) {
        return open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0;
}

static int try_to_make_a_socket(void) {
        return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int try_to_fork(void) {
        return fork() >= 0;
}

static int try_to_run(void) {
        return execl("/bin/true", "true", NULL);
}

static int try_to_map_a_file(void) {
        return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, scratch_fd, 0) != MAP_FAILED;
}

static int try_to_map_code(void) {
        return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
               MAP_FAILED;
}

static int try_to_make_code(void) {
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        return mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0;
}

static int try_to_signal(void) {
        return kill(getppid(), 0) == 0;
}

static int try_to_write_more(void) {
        char page[4096] = {};

        for (uint64_t n = 0; n <= FILE_MAX; n += sizeof(page))
                if (write(scratch_fd, page, sizeof(page)) < 0)
                        return 1;
        return 0;
}

/* Exit status of a locked child, or 128 and the signal that killed it. */
static int run_locked(Attempt attempt) {
        const struct rlimit no_core = {};
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                (void) setrlimit(RLIMIT_CORE, &no_core);
                if (sandbox(SANDBOX_IDLE, UINT64_C(256) << 20, FILE_MAX) < 0)
                        _exit(77);
                _exit(attempt());
        }
        return unit_wait(pid);
}

TEST(computing_reading_and_writing_are_allowed_and_all_else_kills) {
        static const struct {
                Attempt attempt;
                int status;
        } cases[] = {
                { try_to_work, 0 },
                { try_to_read_all, 0 },
                { try_to_open, 128 + SIGSYS },
                { try_to_make_a_socket, 128 + SIGSYS },
                { try_to_fork, 128 + SIGSYS },
                { try_to_run, 128 + SIGSYS },
                { try_to_map_a_file, 128 + SIGSYS },
                { try_to_map_code, 128 + SIGSYS },
                { try_to_make_code, 128 + SIGSYS },
                { try_to_signal, 128 + SIGSYS },
                { try_to_write_more, 128 + SIGXFSZ },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_scratch_ Scratch s = SCRATCH;

                scratch_fd = openat(s.fd, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
                ck_assert_int_ge(scratch_fd, 0);
                ck_assert_msg(run_locked(cases[i].attempt) == cases[i].status, "attempt %zu", i);
                (void) close(scratch_fd);
        }
}

/* Waits until somebody has looked at it. */
static int wait_for_a_byte(int fd) {
        char c;

        return read(fd, &c, 1) == 1 ? 0 : 1;
}

static void expect_status(SandboxPriority priority, int policy, int nice) {
        static const char *const lines[] = { "CapEff:\t0000000000000000\n",
                                             "CapPrm:\t0000000000000000\n",
                                             "CapInh:\t0000000000000000\n", "NoNewPrivs:\t1\n",
                                             "Seccomp:\t2\n" };
        _cleanup_free_ char *status = NULL;
        int to[2], from[2];
        char path[64], c = 0;
        pid_t pid;

        ck_assert_int_eq(pipe(to), 0);
        ck_assert_int_eq(pipe(from), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                if (sandbox(priority, UINT64_C(256) << 20, FILE_MAX) < 0)
                        _exit(1);
                (void) !write(from[1], &c, 1);
                _exit(wait_for_a_byte(to[0]));
        }
        ck_assert_int_eq(read(from[0], &c, 1), 1);
        (void) snprintf(path, sizeof(path), "/proc/%i/status", (int) pid);
        ck_assert_int_eq(file_read(AT_FDCWD, path, &status, NULL, 65536), 0);
        for (size_t i = 0; i < ELEMENTSOF(lines); i++)
                ck_assert_msg(strstr(status, lines[i]), "no %s in\n%s", lines[i], status);
        ck_assert_int_eq(sched_getscheduler(pid), policy);
        ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t) pid), nice);
        ck_assert_int_eq(write(to[1], &c, 1), 1);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

TEST(its_status_says_so) {
        int nice = getpriority(PRIO_PROCESS, 0);

        expect_status(SANDBOX_IDLE, SCHED_IDLE, nice);
        expect_status(SANDBOX_SOON, SCHED_OTHER, nice);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "store/lock.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

static int take(const Scratch *s, int *fd, pid_t *holder) {
        bool is_new;

        return lock_take(fd, s->fd, holder, &is_new);
}

/* A process that holds it, or, with @orphaned, a child of the one that took it and is dead. */
static pid_t make_holder(const Scratch *s, bool orphaned) {
        int pipe_fds[2], status;
        pid_t taker, pid;

        ck_assert_int_eq(pipe(pipe_fds), 0);
        taker = fork();
        if (taker == 0) {
                int fd;

                if (take(s, &fd, NULL) != 0)
                        _exit(1);
                if (orphaned && fork() != 0)
                        _exit(0);
                pid = getpid();
                if (write(pipe_fds[1], &pid, sizeof(pid)) != sizeof(pid))
                        _exit(1);
                for (;;)
                        (void) pause();
        }
        ck_assert_int_eq(read(pipe_fds[0], &pid, sizeof(pid)), sizeof(pid));
        if (orphaned)
                ck_assert_int_eq(waitpid(taker, &status, 0), taker);
        (void) close(pipe_fds[0]);
        (void) close(pipe_fds[1]);
        return pid;
}

static void end(pid_t pid) {
        (void) kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == ECHILD && kill(pid, 0) == 0)
                (void) usleep(1000);
}

START_TEST(it_is_for_its_owner_alone)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                struct stat st;

                for (int i = 0; i < 2; i++) {
                        int fd;

                        ck_assert_int_eq(take(&s, &fd, NULL), 0);
                        ck_assert_int_eq(fstatat(s.fd, "lock", &st, 0), 0);
                        ck_assert_uint_eq(st.st_mode & 0777, 0600);
                        (void) close(fd);
                        ck_assert_int_eq(fchmodat(s.fd, "lock", 0640, 0), 0);
                }
        }
END_TEST

START_TEST(who_lives_and_has_it_is_named)
        {
                for (int i = 0; i < 2; i++) {
                        _cleanup_scratch_ Scratch s = SCRATCH;
                        pid_t pid = make_holder(&s, i > 0), holder = 42, owner = 42;
                        int fd;

                        ck_assert_int_eq(take(&s, &fd, &holder), LOCK_E_HELD);
                        ck_assert_int_eq(holder, i > 0 ? 0 : pid);
                        ck_assert_int_eq(lock_look(s.fd, &owner), 1);
                        ck_assert_int_eq(owner, holder);
                        end(pid);
                        ck_assert_int_eq(lock_look(s.fd, &owner), 0);
                        ck_assert_int_eq(take(&s, &fd, NULL), 0);
                        (void) close(fd);
                }
        }
END_TEST

START_TEST(one_that_its_holder_removes_is_not_taken)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                int first, second;

                ck_assert_int_eq(take(&s, &first, NULL), 0);
                ck_assert_int_eq(unlinkat(s.fd, "lock", 0), 0);
                ck_assert_int_eq(take(&s, &second, NULL), 0);
                ck_assert_int_eq(faccessat(s.fd, "lock", F_OK, 0), 0);
                (void) close(first);
                (void) close(second);
        }
END_TEST

START_TEST(who_may_not_open_it_is_told_that)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                int fd, status;
                pid_t pid, owner;

                if (geteuid() != 0)
                        return;
                ck_assert_int_eq(fchmod(s.fd, 0755), 0);
                ck_assert_int_eq(take(&s, &fd, NULL), 0);
                pid = fork();
                if (pid == 0) {
                        if (setgid(65534) < 0 || setuid(65534) < 0)
                                _exit(9);
                        _exit(lock_look(s.fd, &owner) == -EACCES ? 0 : 1);
                }
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert_int_eq(status, 0);
                (void) close(fd);
        }
END_TEST

UNIT_SUITE("lock", it_is_for_its_owner_alone, who_lives_and_has_it_is_named,
           one_that_its_holder_removes_is_not_taken, who_may_not_open_it_is_told_that)

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "store/lock.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

static int take(const Scratch *s, Lock *l, pid_t *holder) {
        bool is_new;

        return lock_take(l, s->fd, holder, &is_new);
}

/* As a version had it that let readers open it. */
static void make_older(const Scratch *s, const char *text) {
        (void) unlinkat(s->fd, "lock", 0);
        scratch_write(s->fd, "lock", text, strlen(text));
        ck_assert_int_eq(fchmodat(s->fd, "lock", 0640, 0), 0);
}

static int lock_it(const Scratch *s, int flags, int how) {
        int fd = openat(s->fd, "lock", flags | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(flock(fd, how | LOCK_NB), 0);
        return fd;
}

static mode_t mode_of(const Scratch *s) {
        struct stat st;

        ck_assert_int_eq(fstatat(s->fd, "lock", &st, 0), 0);
        return st.st_mode & 0777;
}

/* A process that holds an exclusive lock; with @orphaned its parent took it, and is dead. */
static pid_t make_holder(const Scratch *s, bool orphaned, pid_t *ret_taker) {
        int pipe_fds[2], status;
        pid_t taker, pid;

        ck_assert_int_eq(pipe(pipe_fds), 0);
        taker = fork();
        if (taker == 0) {
                int fd = lock_it(s, O_RDWR, LOCK_EX);
                char text[32];
                int n = snprintf(text, sizeof(text), "%d\n", (int) getpid());

                if (pwrite(fd, text, (size_t) n, 0) != n || ftruncate(fd, n) < 0)
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
        *ret_taker = taker;
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
                Lock l = LOCK_INIT;

                ck_assert_int_eq(take(&s, &l, NULL), 0);
                ck_assert_uint_eq(mode_of(&s), 0600);
                lock_done(&l);
        }
END_TEST

START_TEST(readers_of_an_older_lock_hold_nothing)
        {
                static const int how[] = { LOCK_SH, LOCK_EX };

                for (size_t i = 0; i < ELEMENTSOF(how); i++) {
                        _cleanup_scratch_ Scratch s = SCRATCH;
                        pid_t holder = 42, owner = 42;
                        Lock l = LOCK_INIT;
                        int fd;

                        make_older(&s, "4194304\n");
                        fd = lock_it(&s, O_RDONLY, how[i]);
                        ck_assert_int_eq(lock_look(s.fd, &owner), 0);
                        ck_assert_int_eq(take(&s, &l, &holder), 0);
                        ck_assert_uint_eq(mode_of(&s), 0600);
                        ck_assert_int_eq(lock_look(s.fd, &owner), 1);
                        lock_done(&l);
                        ck_assert_int_eq(take(&s, &l, &holder), 0); /* again */
                        lock_done(&l);
                        (void) close(fd);
                }
        }
END_TEST

START_TEST(a_daemon_of_an_older_version_keeps_its_store)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                pid_t taker, pid, holder = 42, owner = 42;
                Lock l = LOCK_INIT;

                make_older(&s, "");
                pid = make_holder(&s, false, &taker);
                ck_assert_int_eq(take(&s, &l, &holder), LOCK_E_HELD);
                ck_assert_int_eq(holder, pid);
                ck_assert_int_eq(lock_look(s.fd, &owner), 1);
                ck_assert_int_eq(owner, pid);
                ck_assert_uint_eq(mode_of(&s), 0640);
                end(pid);
                ck_assert_int_eq(lock_look(s.fd, &owner), 0);
                ck_assert_int_eq(take(&s, &l, &holder), 0);
                lock_done(&l);
        }
END_TEST

START_TEST(a_daemon_of_an_older_version_finds_it_locked)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Lock l = LOCK_INIT;
                int before, now;

                make_older(&s, "1\n");
                before = openat(s.fd, "lock", O_RDWR | O_CLOEXEC);
                ck_assert_int_eq(take(&s, &l, NULL), 0);
                now = openat(s.fd, "lock", O_RDWR | O_CLOEXEC);
                ck_assert_int_lt(flock(before, LOCK_EX | LOCK_NB), 0);
                ck_assert_int_lt(flock(now, LOCK_EX | LOCK_NB), 0);
                (void) close(before);
                (void) close(now);
                lock_done(&l);
        }
END_TEST

START_TEST(who_took_it_and_is_dead_is_not_named)
        {
                for (int i = 0; i < 2; i++) {
                        _cleanup_scratch_ Scratch s = SCRATCH;
                        pid_t taker, pid, holder = 42, owner = 42;
                        Lock l = LOCK_INIT;

                        scratch_write(s.fd, "lock", "", 0);
                        ck_assert_int_eq(fchmodat(s.fd, "lock", 0600, 0), 0);
                        pid = make_holder(&s, i > 0, &taker);
                        ck_assert_int_eq(take(&s, &l, &holder), LOCK_E_HELD);
                        ck_assert_int_eq(holder, pid);
                        ck_assert_int_eq(lock_look(s.fd, &owner), 1);
                        ck_assert_int_eq(owner, pid);
                        ck_assert(i == 0 || holder != taker);
                        end(pid);
                }
        }
END_TEST

START_TEST(who_may_not_open_it_is_told_whether_somebody_has_it)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                pid_t pid, owner = 42;
                Lock l = LOCK_INIT;
                int status;

                if (geteuid() != 0)
                        return;
                ck_assert_int_eq(fchmod(s.fd, 0755), 0);
                for (int i = 0; i < 2; i++) {
                        if (i > 0)
                                ck_assert_int_eq(take(&s, &l, NULL), 0);
                        else {
                                ck_assert_int_eq(take(&s, &l, NULL), 0);
                                lock_done(&l);
                        }
                        pid = fork();
                        if (pid == 0) {
                                if (setgid(65534) < 0 || setuid(65534) < 0)
                                        _exit(9);
                                _exit(lock_look(s.fd, &owner) == i && (i == 0 || owner == getppid())
                                              ? 0
                                              : 1);
                        }
                        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                        ck_assert_int_eq(status, 0);
                }
                lock_done(&l);
        }
END_TEST

UNIT_SUITE("lock", it_is_for_its_owner_alone, readers_of_an_older_lock_hold_nothing,
           a_daemon_of_an_older_version_keeps_its_store,
           a_daemon_of_an_older_version_finds_it_locked, who_took_it_and_is_dead_is_not_named,
           who_may_not_open_it_is_told_whether_somebody_has_it)

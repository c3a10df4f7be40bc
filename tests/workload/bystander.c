/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Work that has nothing to do with what is traced, and how long it takes: bystander WORK N prints nanoseconds, and
 * bystander run N PROGRAM... those of a program that runs N times.  On one CPU, so that a clock that counts
 * instructions counts its own.  Files are made in the current directory.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES 64
#define PAGE_BYTES 4096

static uint64_t now_ns(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
}

/* A byte there and back between two processes, n times. */
static int ping_pong(unsigned long n, const int there[2], const int back[2]) {
        pid_t partner = fork();
        char c = 0;

        if (partner < 0)
                return -1;
        if (partner == 0) {
                close(there[1]);
                while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
                        ;
                _exit(0);
        }
        for (; n > 0; n--)
                if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
                        return -1;
        close(there[1]);
        return waitpid(partner, NULL, 0) < 0 ? -1 : 0;
}

static int pipes(unsigned long n) {
        int there[2], back[2];

        return pipe(there) < 0 || pipe(back) < 0 ? -1 : ping_pong(n, there, back);
}

static int sockets(unsigned long n) {
        int there[2], back[2];

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, there) < 0 ||
            socketpair(AF_UNIX, SOCK_STREAM, 0, back) < 0)
                return -1;
        return ping_pong(n, there, back);
}

typedef union Address {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
} Address;

/* A socket of this host's own address, at a port that was free. */
static int bind_one(int family, int type, Address *ret, socklen_t *ret_n) {
        int fd = socket(family, type, 0);

        *ret = (Address){ .any.sa_family = (sa_family_t) family };
        if (family == AF_INET)
                ret->ip4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        else
                ret->ip6.sin6_addr = in6addr_loopback;
        *ret_n = family == AF_INET ? sizeof(ret->ip4) : sizeof(ret->ip6);
        return fd < 0 || bind(fd, &ret->any, *ret_n) < 0 || getsockname(fd, &ret->any, ret_n) < 0
                       ? -1
                       : fd;
}

static int connect_pair(int family, int ret[2]) {
        socklen_t n;
        Address a;
        int fd = bind_one(family, SOCK_STREAM, &a, &n), one = 1;

        ret[1] = socket(family, SOCK_STREAM, 0);
        if (fd < 0 || ret[1] < 0 || listen(fd, 1) < 0 || connect(ret[1], &a.any, n) < 0)
                return -1;
        ret[0] = accept(fd, NULL, NULL);
        close(fd);
        return setsockopt(ret[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 ? -1 : ret[0];
}

static int tcp_over(int family, unsigned long n) {
        int there[2], back[2];

        return connect_pair(family, there) < 0 || connect_pair(family, back) < 0
                       ? -1
                       : ping_pong(n, there, back);
}

static int tcp(unsigned long n) {
        return tcp_over(AF_INET, n);
}

static int tcp_on_ip6(unsigned long n) {
        return tcp_over(AF_INET6, n);
}

/* As who serves one request over each connection. */
static int connections(unsigned long n) {
        char c = 0;

        for (int pair[2]; n > 0; n--) {
                if (connect_pair(AF_INET, pair) < 0 || write(pair[1], &c, 1) != 1 ||
                    read(pair[0], &c, 1) != 1)
                        return -1;
                close(pair[0]);
                close(pair[1]);
        }
        return 0;
}

/* As much as goes through. */
static int stream(unsigned long n) {
        static char data[4 * PAGE_BYTES];
        pid_t partner;
        int pair[2];

        if (connect_pair(AF_INET, pair) < 0 || (partner = fork()) < 0)
                return -1;
        close(pair[partner == 0]);
        if (partner == 0) {
                while (read(pair[0], data, sizeof(data)) > 0)
                        ;
                _exit(0);
        }
        for (; n > 0; n--)
                if (write(pair[1], data, sizeof(data)) != sizeof(data))
                        return -1;
        close(pair[1]);
        return waitpid(partner, NULL, 0) < 0 ? -1 : 0;
}

/* A datagram there and back, by one process. */
static int udp(unsigned long n) {
        int fds[2];
        socklen_t n_a, n_b;
        Address a, b;
        char c = 0;

        fds[0] = bind_one(AF_INET, SOCK_DGRAM, &a, &n_a);
        fds[1] = bind_one(AF_INET, SOCK_DGRAM, &b, &n_b);
        if (fds[0] < 0 || fds[1] < 0 || connect(fds[0], &b.any, n_b) < 0 ||
            connect(fds[1], &a.any, n_a) < 0)
                return -1;
        for (; n > 0; n--)
                if (write(fds[0], &c, 1) != 1 || read(fds[1], &c, 1) != 1 ||
                    write(fds[1], &c, 1) != 1 || read(fds[0], &c, 1) != 1)
                        return -1;
        return 0;
}

static int semaphores(unsigned long n) {
        struct sembuf up = { .sem_op = 1 }, down = { .sem_op = -1 };
        int id = semget(IPC_PRIVATE, 1, 0600), r = 0;

        if (id < 0)
                return -1;
        for (; r == 0 && n > 0; n--)
                r = semop(id, &up, 1) < 0 || semop(id, &down, 1) < 0 ? -1 : 0;
        (void) semctl(id, 0, IPC_RMID);
        return r;
}

static int fork_loop(unsigned long n) {
        for (; n > 0; n--) {
                pid_t pid = fork();

                if (pid == 0)
                        _exit(0);
                if (pid < 0 || waitpid(pid, NULL, 0) < 0)
                        return -1;
        }
        return 0;
}

static int wait_and_read(int poll_fd, int fd) {
        struct epoll_event e;
        char c;

        return epoll_wait(poll_fd, &e, 1, -1) == 1 && read(fd, &c, 1) == 1 ? 0 : -1;
}

static int make_poll(int fd) {
        struct epoll_event e = { .events = EPOLLIN };
        int poll_fd = epoll_create1(0);

        return poll_fd >= 0 && epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &e) == 0 ? poll_fd : -1;
}

/* As servers do it: who waits, waits for several. */
static int polls(unsigned long n) {
        int fds[2], poll_fd;
        pid_t partner;

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 || (partner = fork()) < 0)
                return -1;
        poll_fd = make_poll(fds[partner == 0]);
        if (partner == 0) {
                close(fds[0]);
                while (wait_and_read(poll_fd, fds[1]) == 0 && write(fds[1], "", 1) == 1)
                        ;
                _exit(0);
        }
        close(fds[1]);
        for (; n > 0; n--)
                if (write(fds[0], "", 1) != 1 || wait_and_read(poll_fd, fds[0]) < 0)
                        return -1;
        close(fds[0]);
        return waitpid(partner, NULL, 0) < 0 ? -1 : 0;
}

static void await_turn(uint32_t *turn, uint32_t mine) {
        for (uint32_t now; (now = __atomic_load_n(turn, __ATOMIC_ACQUIRE)) != mine;)
                (void) syscall(SYS_futex, turn, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void give_turn(uint32_t *turn, uint32_t to) {
        __atomic_store_n(turn, to, __ATOMIC_RELEASE);
        (void) syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int futexes(unsigned long n) {
        uint32_t *turn =
                mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pid_t partner = turn == MAP_FAILED ? -1 : fork();
        uint32_t mine = partner == 0;

        if (partner < 0)
                return -1;
        for (; n > 0; n--) {
                await_turn(turn, mine);
                give_turn(turn, !mine);
        }
        if (partner == 0)
                _exit(0);
        return waitpid(partner, NULL, 0) < 0 ? -1 : 0;
}

static void on_signal(int number) {
        (void) number;
}

static int signals(unsigned long n) {
        struct sigaction a = { .sa_handler = on_signal };
        int r = sigaction(SIGUSR1, &a, NULL);

        for (; r == 0 && n > 0; n--)
                r = kill(getpid(), SIGUSR1);
        return r;
}

static int timers(unsigned long n) {
        struct itimerspec t = { .it_value.tv_nsec = 1000 };
        int fd = timerfd_create(CLOCK_MONOTONIC, 0);
        uint64_t fired;

        for (; fd >= 0 && n > 0; n--)
                if (timerfd_settime(fd, 0, &t, NULL) < 0 ||
                    read(fd, &fired, sizeof(fired)) != sizeof(fired))
                        return -1;
        return fd < 0 ? -1 : 0;
}

static int faults(unsigned long n) {
        for (; n > 0; n--) {
                char *p = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

                if (p == MAP_FAILED)
                        return -1;
                for (int i = 0; i < PAGES; i++)
                        *(volatile char *) (p + i * PAGE_BYTES) = 1;
                if (munmap(p, PAGES * PAGE_BYTES) < 0)
                        return -1;
        }
        return 0;
}

/* An open file of PAGES pages, which has no name any more. */
static int make_file(void) {
        char page[PAGE_BYTES] = "";
        int fd = open("bystander.file", O_RDWR | O_CREAT | O_TRUNC, 0600);

        (void) unlink("bystander.file");
        for (int i = 0; fd >= 0 && i < PAGES; i++)
                if (write(fd, page, sizeof(page)) != sizeof(page))
                        return -1;
        return fd;
}

static int file_maps(unsigned long n) {
        int fd = make_file();

        for (; fd >= 0 && n > 0; n--) {
                char *p = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

                if (p == MAP_FAILED)
                        return -1;
                for (int i = 0; i < PAGES; i++)
                        *(volatile char *) (p + i * PAGE_BYTES) = 1;
                if (msync(p, PAGES * PAGE_BYTES, MS_SYNC) < 0 || munmap(p, PAGES * PAGE_BYTES) < 0)
                        return -1;
        }
        return fd < 0 ? -1 : 0;
}

static int syncs(unsigned long n) {
        char page[PAGE_BYTES] = "";
        int fd = make_file();

        for (; fd >= 0 && n > 0; n--)
                if (pwrite(fd, page, sizeof(page), (off_t) (n % PAGES) * PAGE_BYTES) !=
                            sizeof(page) ||
                    fsync(fd) < 0)
                        return -1;
        return fd < 0 ? -1 : 0;
}

static int sent_files(unsigned long n) {
        char data[2 * PAGE_BYTES];
        int fd = make_file(), pair[2];

        if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
                return -1;
        for (; n > 0; n--) {
                off_t at = 0;

                if (sendfile(pair[0], fd, &at, sizeof(data)) != sizeof(data) ||
                    recv(pair[1], data, sizeof(data), MSG_WAITALL) != sizeof(data))
                        return -1;
        }
        return 0;
}

/* A ring of one entry, by the kernel's interface alone: io_uring(7). */
static int ring(unsigned long n) {
        struct io_uring_params p = {};
        int fd = make_file(), ring_fd = (int) syscall(SYS_io_uring_setup, 1, &p);
        char data[PAGE_BYTES], *rings;
        struct io_uring_sqe *entry;
        uint32_t *tail, *head;

        if (fd < 0 || ring_fd < 0)
                return -1;
        rings = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd,
                     IORING_OFF_SQ_RING);
        entry = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd,
                     (off_t) IORING_OFF_SQES);
        if (rings == MAP_FAILED || entry == MAP_FAILED)
                return -1;
        tail = (uint32_t *) (void *) (rings + p.sq_off.tail);
        head = (uint32_t *) (void *) (rings + p.cq_off.head);
        for (; n > 0; n--) {
                *entry = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
                                                .fd = fd,
                                                .addr = (uintptr_t) data,
                                                .len = sizeof(data) };
                __atomic_fetch_add(tail, 1, __ATOMIC_RELEASE);
                if (syscall(SYS_io_uring_enter, ring_fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) !=
                    1)
                        return -1;
                __atomic_fetch_add(head, 1, __ATOMIC_RELEASE);
        }
        return 0;
}

static int run(unsigned long n, char *argv[]) {
        posix_spawn_file_actions_t actions;
        int status = 0;
        pid_t pid;

        if (posix_spawn_file_actions_init(&actions) != 0 ||
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) !=
                    0)
                return -1;
        for (; n > 0; n--)
                if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0 ||
                    waitpid(pid, &status, 0) != pid || status != 0)
                        return -1;
        return 0;
}

static const struct {
        const char *name;
        int (*work)(unsigned long n);
} works[] = {
        { "pipe", pipes },      { "socket", sockets },      { "tcp", tcp },
        { "tcp6", tcp_on_ip6 }, { "stream", stream },       { "connect", connections },
        { "udp", udp },         { "sem", semaphores },      { "fork", fork_loop },
        { "epoll", polls },     { "futex", futexes },       { "signal", signals },
        { "timerfd", timers },  { "fault", faults },        { "filemap", file_maps },
        { "fsync", syncs },     { "sendfile", sent_files }, { "uring", ring },
};

int main(int argc, char *argv[]) {
        unsigned long n = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
        bool is_run = argc >= 4 && strcmp(argv[1], "run") == 0;
        size_t i = 0, n_works = sizeof(works) / sizeof(*works);
        cpu_set_t one;
        uint64_t since;
        int r;

        while (argc == 3 && i < n_works && strcmp(argv[1], works[i].name) != 0)
                i++;
        if (n == 0 || (argc != 3 && !is_run) || i == n_works) {
                fprintf(stderr, "usage: bystander WORK N, bystander run N PROGRAM...; WORK:");
                for (i = 0; i < n_works; i++)
                        fprintf(stderr, " %s", works[i].name);
                fprintf(stderr, "\n");
                return 2;
        }
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        if (sched_setaffinity(0, sizeof(one), &one) < 0)
                return 1;
        since = now_ns();
        r = is_run ? run(n, argv + 3) : works[i].work(n);
        if (r < 0) {
                perror(argv[1]);
                return 1;
        }
        printf("%" PRIu64 "\n", now_ns() - since);
        return 0;
}

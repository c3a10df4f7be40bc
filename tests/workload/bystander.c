/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Work that has nothing to do with what is traced, and how long it takes: bystander pipe|socket|tcp|sem|fork N
 * prints nanoseconds.  On one CPU, so that a clock that counts instructions counts its own.
 */

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static int connect_pair(int ret[2]) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
        socklen_t n = sizeof(a);

        ret[1] = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || ret[1] < 0 || bind(fd, (struct sockaddr *) &a, n) < 0 || listen(fd, 1) < 0 ||
            getsockname(fd, (struct sockaddr *) &a, &n) < 0 ||
            connect(ret[1], (struct sockaddr *) &a, n) < 0)
                return -1;
        ret[0] = accept(fd, NULL, NULL);
        close(fd);
        return setsockopt(ret[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 ? -1 : ret[0];
}

static int connections(unsigned long n) {
        int there[2], back[2];

        return connect_pair(there) < 0 || connect_pair(back) < 0 ? -1 : ping_pong(n, there, back);
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

static const struct {
        const char *name;
        int (*work)(unsigned long n);
} works[] = {
        { "pipe", pipes },     { "socket", sockets }, { "tcp", connections },
        { "sem", semaphores }, { "fork", fork_loop },
};

int main(int argc, char *argv[]) {
        unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
        size_t i = 0, n_works = sizeof(works) / sizeof(*works);
        cpu_set_t one;
        uint64_t since;

        while (argc == 3 && i < n_works && strcmp(argv[1], works[i].name) != 0)
                i++;
        if (n == 0 || i == n_works) {
                fprintf(stderr, "usage: bystander pipe|socket|tcp|sem|fork N\n");
                return 2;
        }
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        if (sched_setaffinity(0, sizeof(one), &one) < 0)
                return 1;
        since = now_ns();
        if (works[i].work(n) < 0) {
                perror(argv[1]);
                return 1;
        }
        printf("%" PRIu64 "\n", now_ns() - since);
        return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp-pairs: a known number of calls of udp_sendmsg
 *
 * Two processes over the loopback interface: the client sends a datagram, the
 * server answers it, N times.  Each sends with one sendto() on an AF_INET
 * socket, which is one call of udp_sendmsg (linux 6.1 net/ipv4/af_inet.c,
 * inet_dgram_ops and udp_prot), so there are exactly 2N; nothing else of it
 * sends datagrams.  The next datagram leaves when the answer to the last one
 * is here, so none is ever dropped for want of room in a socket.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"

#define N_MAX 100000000UL
#define WAIT_S 10 /* for one datagram */

/* To CPU @i of those this process may use, if there are so many. */
static void pin_to(int i) {
        cpu_set_t all, one;

        if (sched_getaffinity(0, sizeof(all), &all) < 0 || CPU_COUNT(&all) < 2)
                return;

        CPU_ZERO(&one);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (CPU_ISSET(cpu, &all) && i-- == 0)
                        CPU_SET(cpu, &one);
        (void) sched_setaffinity(0, sizeof(one), &one);
}

static int socket_new(struct sockaddr_in *ret) {
        const struct timeval wait = { .tv_sec = WAIT_S };
        socklen_t n = sizeof(*ret);
        _cleanup_close_ int fd = -EBADF;

        fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;

        *ret = (struct sockaddr_in){ .sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
            bind(fd, (struct sockaddr *) ret, sizeof(*ret)) < 0 ||
            getsockname(fd, (struct sockaddr *) ret, &n) < 0)
                return -errno;

        return TAKE_FD(fd);
}

/* Sends datagram number @i; whether that went well. */
static bool send_number(int fd, const struct sockaddr_in *to, unsigned long i) {
        return sendto(fd, &i, sizeof(i), 0, (const struct sockaddr *) to, sizeof(*to)) ==
               (ssize_t) sizeof(i);
}

/* A wait with a limit is not begun again by the kernel after a host's sleep: the freezer is a signal
 * to it (linux 6.1 include/net/sock.h, sock_intr_errno()). */
static bool receive_number(int fd, unsigned long i) {
        unsigned long got;
        ssize_t n = TEMP_FAILURE_RETRY(recv(fd, &got, sizeof(got), 0));

        return n == (ssize_t) sizeof(got) && got == i;
}

/* Both return how many datagrams they sent. */
static unsigned long serve(int fd, const struct sockaddr_in *client, unsigned long n) {
        unsigned long i = 0;

        while (i < n && receive_number(fd, i) && send_number(fd, client, i))
                i++;
        return i;
}

static unsigned long ask(int fd, const struct sockaddr_in *server, unsigned long n,
                         unsigned long pause_us) {
        unsigned long i = 0;

        while (i < n && send_number(fd, server, i) && receive_number(fd, i)) {
                i++;
                if (pause_us > 0)
                        (void) usleep((useconds_t) pause_us);
        }
        return i;
}

static int run(unsigned long n, unsigned long pause_us) {
        struct sockaddr_in client_address, server_address;
        _cleanup_close_ int client = -EBADF, server = -EBADF;
        unsigned long asked;
        int status;
        pid_t pid;

        client = socket_new(&client_address);
        server = socket_new(&server_address);
        if (client < 0 || server < 0) {
                errno = client < 0 ? -client : -server;
                perror("udp-pairs: cannot make a socket");
                return EXIT_FAILURE;
        }

        pid = fork();
        if (pid < 0) {
                perror("udp-pairs: cannot fork");
                return EXIT_FAILURE;
        }
        if (pid == 0) {
                (void) prctl(PR_SET_NAME, "udp-server");
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                pin_to(1);
                _exit(serve(server, &client_address, n) == n ? EXIT_SUCCESS : EXIT_FAILURE);
        }

        (void) prctl(PR_SET_NAME, "udp-client");
        pin_to(0);
        asked = ask(client, &server_address, n, pause_us);
        if (waitpid(pid, &status, 0) < 0)
                status = -1;

        printf("%lu of %lu datagrams sent and answered\n", asked, n);
        return asked == n && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int parse_number(const char *s, unsigned long *ret) {
        char *end;

        if (*s < '0' || *s > '9')
                return -EINVAL;
        errno = 0;
        *ret = strtoul(s, &end, 10);
        return errno != 0 || *end != '\0' || *ret > N_MAX ? -EINVAL : 0;
}

int main(int argc, char **argv) {
        unsigned long n, pause_us = 0;

        if ((argc != 2 && !(argc == 4 && strcmp(argv[2], "--pause-us") == 0)) ||
            parse_number(argv[1], &n) < 0 || (argc == 4 && parse_number(argv[3], &pause_us) < 0)) {
                fprintf(stderr, "usage: udp-pairs N [--pause-us MICROSECONDS]\n"
                                "\n"
                                "A client sends N UDP datagrams over the loopback interface to a "
                                "server, which answers\neach: exactly 2N calls of udp_sendmsg.\n");
                return 2;
        }

        return run(n, pause_us);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp-errors: calls of udp_sendmsg that fail, among others that do not
 *
 * Prints what each sendto() returned, one a line: how many bytes, or the negative error number.  In each of N
 * rounds: a datagram of as many bytes as the number of the round, one that is too long (EMSGSIZE), and two to
 * a port of this host that nobody listens at, of which the second is told of the first (ECONNREFUSED).
 * Each sendto() is one call of udp_sendmsg, as in udp-pairs.c, and returns what that does.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/cleanup.h"

#define N_MAX 1000000UL
#define TOO_LONG 65530

/* To @port of this host; 0: to a port that is its own. */
static int socket_to(in_port_t port) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof(a);
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *) &a, n) < 0 ||
            getsockname(fd, (struct sockaddr *) &a, &n) < 0)
                return -errno;
        if (port)
                a.sin_port = port;
        if (connect(fd, (struct sockaddr *) &a, n) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static void send_bytes(int fd, size_t n) {
        static const char bytes[TOO_LONG];
        ssize_t sent = sendto(fd, bytes, n, MSG_DONTWAIT, NULL, 0);

        printf("%d\n", sent < 0 ? -errno : (int) sent);
}

int main(int argc, char **argv) {
        unsigned long n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
        _cleanup_close_ int own = socket_to(0), nobody = socket_to(htons(1));
        char got[64];

        if (n == 0 || n > N_MAX || own < 0 || nobody < 0) {
                fprintf(stderr, "usage: udp-errors N, with a loopback interface that is up\n");
                return EXIT_FAILURE;
        }
        for (unsigned long i = 1; i <= n; i++) {
                send_bytes(own, i % 1000);
                send_bytes(own, TOO_LONG);
                send_bytes(nobody, 1);
                send_bytes(nobody, 1);
                (void) recv(own, got, sizeof(got), MSG_DONTWAIT);
        }
        return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * stacked N [SECONDS|- [libc|large]] - sends N datagrams, each below main() > even() or odd() > send_one(), which makes the system
 * call itself, or has libc do it; SECONDS after it said "ready", or at the end of its input.  large: those below even() have
 * 60,000 bytes, others one.  It has frame pointers, unless the Makefile says otherwise.
 */

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

NOINLINE long send_one(int fd, int i);
NOINLINE long even(int fd, int i);
NOINLINE long odd(int fd, int i);

static const struct sockaddr_in to = { .sin_family = AF_INET,
                                       .sin_port = 0x0900, /* discard, as the network has it */
                                       .sin_addr.s_addr = 0x0100007f };

static bool by_libc, is_large;
static char data[60000];

NOINLINE long send_one(int fd, int i) {
        size_t n_bytes = is_large && i % 2 == 0 ? sizeof(data) : 1;
        long r;

#ifdef HAS_FRAMES /* from the beginning, and not where libc is called alone */
        __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
#endif
#if defined(__x86_64__)
        if (by_libc)
                return syscall(SYS_sendto, fd, data, n_bytes, 0, &to, sizeof(to)) + 1;
        register long flags __asm__("r10") = 0, address __asm__("r8") = (long) &to,
                            n __asm__("r9") = sizeof(to);

        __asm__ volatile("syscall"
                         : "=a"(r)
                         : "a"(SYS_sendto), "D"(fd), "S"(data), "d"(n_bytes), "r"(flags), "r"(address),
                           "r"(n)
                         : "rcx", "r11", "memory");
#else
        r = sendto(fd, data, n_bytes, 0, (const struct sockaddr *) &to, sizeof(to));
#endif
        return r + 1;
}

/* Nothing is a tail call: each adds something. */
NOINLINE long even(int fd, int i) {
        return send_one(fd, i) + 2;
}

NOINLINE long odd(int fd, int i) {
        return send_one(fd, i) + 3;
}

int main(int argc, char *argv[]) {
        int n = argc > 1 ? atoi(argv[1]) : 1, fd = socket(AF_INET, SOCK_DGRAM, 0);
        long sum = 0;

        by_libc = argc > 3 && strcmp(argv[3], "libc") == 0;
        is_large = argc > 3 && !by_libc;
        if (argc > 2) {
                puts("ready");
                (void) fflush(stdout);
                if (strcmp(argv[2], "-") == 0)
                        while (getchar() != EOF)
                                ;
                else
                        (void) sleep((unsigned) atoi(argv[2]));
        }
        for (int i = 0; i < n; i++)
                sum += i % 2 ? odd(fd, i) : even(fd, i);
        return sum == 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * jitted N - sends N datagrams below code that it has made itself, which keeps a frame pointer and calls send_one(); it
 * says in /tmp/perf-PID.map what that is, as runtimes with a compiler of their own do
 */

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void send_one(int fd);

static const struct sockaddr_in __attribute__((unused)) to = { .sin_family = AF_INET,
                                       .sin_port = 0x0900,
                                       .sin_addr.s_addr = 0x0100007f };

__attribute__((noinline)) void send_one(int fd) {
#ifdef __x86_64__
        register long flags __asm__("r10") = 0, address __asm__("r8") = (long) &to,
                            n __asm__("r9") = sizeof(to);
        long r;

        __asm__ volatile("syscall"
                         : "=a"(r)
                         : "a"(SYS_sendto), "D"(fd), "S"(&fd), "d"(1), "r"(flags), "r"(address),
                           "r"(n)
                         : "rcx", "r11", "memory");
#endif
}

int main(int argc, char **argv) {
        /* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
        static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        char path[64];
        void *made = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        FILE *map;

        if (made == MAP_FAILED)
                return 1;
        memcpy(made, code, sizeof(code));
        (void) snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
        map = fopen(path, "we");
        if (!map)
                return 1;
        (void) fprintf(map, "%lx %zx LazyCompile:~hot /app/x y.js:3\n", (unsigned long) made,
                       sizeof(code));
        (void) fclose(map);
        for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
                ((void (*)(int, void (*)(int))) made)(fd, send_one);
        return 0;
}

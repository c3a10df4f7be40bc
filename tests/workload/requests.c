/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * requests: a program that says in a trace_marker which request it works at
 *
 *      requests FILE N        FILE: a trace_marker; "-": standard input is one, opened for writing;
 *                             /dev/null: it is told by on_request() alone, and ends with it of ""
 *
 * Two processes, N requests each.  For a request a process writes a traceparent, sends two datagrams to
 * itself, writes an empty traceparent and sends a third, so that of its 3N calls of udp_sendmsg 2N belong to
 * requests.  The processes take turns: of each request the other one's begins before this one's ends.
 * on_request() is called with the value, too, before a marker is written.  Prints "PID TRACE-ID SPAN-ID" for each request.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"

#define N_MAX 1000000UL

typedef struct Sender {
        int marker, socket;
        struct sockaddr_in to;
        int from_other, to_other; /* a byte: it is your turn */
} Sender;

static bool say(const Sender *s, const char *text) {
        return write(s->marker, text, strlen(text)) == (ssize_t) strlen(text);
}

/* A datagram to oneself, which is taken out again. */
static bool send_one(const Sender *s) {
        char c = 'x';

        return sendto(s->socket, &c, 1, 0, (const struct sockaddr *) &s->to, sizeof(s->to)) == 1 &&
               recv(s->socket, &c, 1, 0) == 1;
}

static bool take_turns(const Sender *s) {
        char c = 'x';

        return write(s->to_other, &c, 1) == 1 && read(s->from_other, &c, 1) == 1;
}

/* For a uprobe. */
__attribute__((noinline, visibility("default"))) void on_request(const char *traceparent);
void on_request(const char *traceparent) {
        __asm__ volatile("" : : "r"(traceparent) : "memory");
}

static bool do_request(const Sender *s, unsigned long i) {
        char text[128], trace_id[33];
        unsigned long span_id = (unsigned long) getpid() << 32 | i;

        (void) snprintf(trace_id, sizeof(trace_id), "%016lx%016lx", span_id * 2654435761 + 1,
                        span_id);
        (void) snprintf(text, sizeof(text), "request %lu traceparent=00-%s-%016lx-01\n", i,
                        trace_id, span_id);
        on_request(strstr(text, "00-"));
        if (!say(s, text) || !send_one(s) || !take_turns(s) || !send_one(s) ||
            !say(s, "traceparent=-\n"))
                return false;
        on_request("");
        if (!send_one(s))
                return false;
        return printf("%d %s %016lx\n", getpid(), trace_id, span_id) > 0;
}

static int run(Sender *s, unsigned long n) {
        socklen_t n_address = sizeof(s->to);

        s->to = (struct sockaddr_in){ .sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        s->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (s->socket < 0 || bind(s->socket, (struct sockaddr *) &s->to, sizeof(s->to)) < 0 ||
            getsockname(s->socket, (struct sockaddr *) &s->to, &n_address) < 0) {
                perror("socket");
                return 1;
        }
        for (unsigned long i = 1; i <= n; i++)
                if (!do_request(s, i)) {
                        perror("request");
                        return 1;
                }
        return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char *argv[]) {
        unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
        int there[2], back[2], status = 0, r;
        Sender s;
        pid_t child;

        if (n < 1 || n > N_MAX) {
                (void) fprintf(stderr, "usage: requests FILE|- N\n");
                return 1;
        }
        s.marker = streq(argv[1], "-") ? STDIN_FILENO : open(argv[1], O_WRONLY | O_CLOEXEC);
        if (s.marker < 0 || pipe(there) < 0 || pipe(back) < 0) {
                perror(argv[1]);
                return 1;
        }
        child = fork();
        if (child < 0) {
                perror("fork");
                return 1;
        }
        s.from_other = child ? back[0] : there[0];
        s.to_other = child ? there[1] : back[1];
        r = run(&s, n);
        if (child == 0)
                return r;
        (void) close(there[1]);
        if (waitpid(child, &status, 0) < 0 || status != 0)
                return 1;
        return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a service manager gets to read; what it gives back is tests/system/test-restart.sh's. */

#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/process/fdstore.h"
#include "scratch.h"

#define ID "0123456789abcdef"

static int listen_at(const Scratch *s) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/notify", s->path);
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        (void) setenv("NOTIFY_SOCKET", address.sun_path, 1);
        return fd;
}

/* One message; *@ret_n descriptors came with it. */
static void receive(int fd, char text[static 256], size_t *ret_n) {
        union {
                struct cmsghdr header;
                char bytes[CMSG_SPACE(4 * sizeof(int))];
        } control;
        struct iovec iov = { text, 255 };
        struct msghdr message = { .msg_iov = &iov,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof(control) };
        ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);

        ck_assert_int_ge(n, 0);
        text[n] = 0;
        *ret_n = 0;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
                int fds[4];

                *ret_n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                memcpy(fds, CMSG_DATA(c), *ret_n * sizeof(int));
                for (size_t i = 0; i < *ret_n; i++)
                        (void) close(fds[i]);
        }
}

SCRATCH_TEST(both_descriptors_of_a_cpu_are_sent_together_and_never_polled) {
        _cleanup_(fdstore_freep) FdStore *f = NULL;
        int notify = listen_at(s), fds[2];
        char text[256];
        size_t n;

        ck_assert_int_eq(pipe(fds), 0);
        ck_assert_int_eq(fdstore_new(&f, true), 0);
        ck_assert(fdstore_is_there(f));
        ck_assert_int_eq(fdstore_put(f, ID, 12, fds[1], fds[0]), 0);
        receive(notify, text, &n);
        ck_assert_str_eq(text, "FDSTORE=1\nFDPOLL=0\nFDNAME=ftraced-" ID "-12");
        ck_assert_uint_eq(n, 2);
        ck_assert_int_eq(fdstore_remove(f, ID, 12), 0);
        receive(notify, text, &n);
        ck_assert_str_eq(text, "FDSTOREREMOVE=1\nFDNAME=ftraced-" ID "-12");
        (void) unsetenv("NOTIFY_SOCKET");
        (void) close(notify);
        (void) close(fds[0]);
        (void) close(fds[1]);
}

TEST(without_a_manager_nothing_is_said_and_nothing_fails) {
        _cleanup_(fdstore_freep) FdStore *f = MADE(FdStore, fdstore_new, true);
        int raw_fd, pipe_fd;

        ck_assert(!fdstore_is_there(f));
        ck_assert_int_eq(fdstore_put(f, ID, 0, 0, 1), 0);
        ck_assert_int_eq(fdstore_barrier(f), 0);
        fdstore_take(f, ID, 0, &raw_fd, &pipe_fd);
        ck_assert_int_eq(raw_fd, -EBADF);
        ck_assert_int_eq(pipe_fd, -EBADF);
        ck_assert_uint_eq(fdstore_drop_rest(f), 0);
}

SCRATCH_TEST(sockets_and_the_managers_own_are_left_alone) {
        _cleanup_(fdstore_freep) FdStore *f = NULL;
        int notify = listen_at(s);

        ck_assert_int_eq(fdstore_new(&f, false), 0); /* a private daemon's */
        ck_assert(!fdstore_is_there(f));
        (void) unsetenv("NOTIFY_SOCKET");
        (void) close(notify);
        ck_assert(fdstore_owns_name("ftraced-" ID "-0"));
        ck_assert(!fdstore_owns_name("ftraced.socket"));
        ck_assert(!fdstore_owns_name("ftraced-private"));
        ck_assert(!fdstore_owns_name("unknown"));
}

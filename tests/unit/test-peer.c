/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <grp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/server/server-private.h"
#include "tests/unit/scratch.h"

#define GROUP 4711
#define STRANGER 4712

TEST(the_socket_group_makes_a_member_and_nothing_else_does) {
        const gid_t groups[] = { 5, GROUP, 7 };

        ck_assert_int_eq(peer_right(0, 0, NULL, 0, PEER_NO_GROUP), PEER_ALL);
        ck_assert_int_eq(peer_right(geteuid(), 9, NULL, 0, GROUP), PEER_ALL);
        ck_assert_int_eq(peer_right(STRANGER, GROUP, NULL, 0, GROUP), PEER_MEMBER);
        ck_assert_int_eq(peer_right(STRANGER, 9, groups, 3, GROUP), PEER_MEMBER);
        ck_assert_int_eq(peer_right(STRANGER, 9, groups, 1, GROUP), PEER_NOTHING);
        ck_assert_int_eq(peer_right(STRANGER, 0, groups, 3, 6), PEER_NOTHING);
        /* -1 is no group, whatever a process says of itself. */
        ck_assert_int_eq(peer_right(STRANGER, PEER_NO_GROUP, NULL, 0, PEER_NO_GROUP), PEER_NOTHING);
}

static int listen_in(const Scratch *s, struct sockaddr_un *ret) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
        (void) snprintf(ret->sun_path, sizeof(ret->sun_path), "%.80s/socket", s->path);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *) ret, sizeof(*ret)), 0);
        ck_assert_int_eq(listen(fd, 8), 0);
        return fd;
}

SCRATCH_TEST(a_group_counts_only_where_the_mode_lets_it_write) {
        _cleanup_close_ int fd = -EBADF, pair_fd = -EBADF, other_fd = -EBADF;
        gid_t group = geteuid() == 0 ? GROUP : getegid();
        struct sockaddr_un address;
        int fds[2];

        fd = listen_in(s, &address);
        ck_assert_int_eq(chmod(address.sun_path, 0660), 0);
        if (geteuid() == 0) {
                ck_assert(peer_group_of_socket(fd) == PEER_NO_GROUP);
                ck_assert_int_eq(chown(address.sun_path, 0, group), 0);
        }
        ck_assert_int_eq(chmod(address.sun_path, 0640), 0);
        ck_assert(peer_group_of_socket(fd) == PEER_NO_GROUP);
        ck_assert_int_eq(chmod(address.sun_path, 0660), 0);
        ck_assert_uint_eq(peer_group_of_socket(fd), group);
        ck_assert_int_eq(unlink(address.sun_path), 0);
        ck_assert(peer_group_of_socket(fd) == PEER_NO_GROUP);
        /* A symbolic link in its place is not followed. */
        ck_assert_int_eq(symlink("/", address.sun_path), 0);
        ck_assert(peer_group_of_socket(fd) == PEER_NO_GROUP);

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        pair_fd = fds[0];
        other_fd = fds[1];
        ck_assert(peer_group_of_socket(pair_fd) == PEER_NO_GROUP);
}

/* Connects as somebody in @groups, and what that makes of him. */
static int right_of(int listen_fd, const struct sockaddr_un *address, const gid_t *groups,
                    size_t n_groups) {
        _cleanup_close_ int fd = -EBADF;
        pid_t pid = fork();
        Peer peer;

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                int s = socket(AF_UNIX, SOCK_STREAM, 0);

                if (setgroups(n_groups, groups) < 0 ||
                    setresgid(STRANGER, STRANGER, STRANGER) < 0 ||
                    setresuid(STRANGER, STRANGER, STRANGER) < 0)
                        _exit(1);
                _exit(connect(s, (const struct sockaddr *) address, sizeof(*address)) < 0);
        }
        fd = accept(listen_fd, NULL, NULL);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(unit_wait(pid), 0);
        ck_assert_int_eq(peer_of_socket(&peer, fd), 0);
        ck_assert_uint_eq(peer.uid, STRANGER);
        ck_assert_int_eq(peer.pid, pid);
        return peer.right;
}

SCRATCH_TEST(supplementary_groups_are_those_of_who_connected) {
        _cleanup_close_ int fd = -EBADF;
        struct sockaddr_un address;
        gid_t many[300];

        if (geteuid() != 0)
                return;
        for (size_t i = 0; i < ELEMENTSOF(many); i++)
                many[i] = (gid_t) (10000 + i);
        many[299] = GROUP;
        ck_assert_int_eq(chmod(s->path, 0755), 0);
        fd = listen_in(s, &address);
        ck_assert_int_eq(chown(address.sun_path, 0, GROUP), 0);
        ck_assert_int_eq(chmod(address.sun_path, 0666), 0);
        ck_assert_int_eq(right_of(fd, &address, NULL, 0), PEER_NOTHING);
        ck_assert_int_eq(right_of(fd, &address, many, 299), PEER_NOTHING);
        ck_assert_int_eq(right_of(fd, &address, many, 300), PEER_MEMBER);
}

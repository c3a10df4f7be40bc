/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Peer: who is at the other end of a socket, and what he may
 *
 * Both are taken once, when the connection is accepted, and from the kernel (SO_PEERCRED and
 * SO_PEERGROUPS, unix(7)): what a process was when it connected counts, not what it became, and no
 * name service is asked.  The group whose members may do something is that of the socket's file, if
 * its mode lets the group write to it, and it is not root's, so that SocketGroup= of a unit, or chgrp(1), say all there is
 * to say.
 */

#include <stddef.h>
#include <sys/types.h>

typedef enum PeerRight {
        PEER_NOTHING, /* but ask who is there */
        PEER_MEMBER,  /* of the socket's group: what ftraced.conf leaves him */
        PEER_ALL,     /* root, and whoever the daemon runs as */
} PeerRight;

#define PEER_NO_GROUP ((gid_t) -1)

typedef struct Peer {
        uid_t uid;
        pid_t pid;
        PeerRight right;
} Peer;

/* @fd: a connected Unix socket.  0 or -errno. */
int peer_of_socket(Peer *ret, int fd);
/* The group that the socket's file lets in; PEER_NO_GROUP: none, or the socket has no file. */
gid_t peer_group_of_socket(int fd);
/* @gid, @groups: the process's own and its supplementary groups. */
PeerRight peer_right(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups, gid_t group);

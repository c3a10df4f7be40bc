/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Three questions to the kernel: who connected, in which groups he was, and whose socket it is.  An
 * accepted socket has the name of the one that listens, so the file is found from either.
 */

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemon/server/server-private.h"

/* All supplementary groups; the caller frees.  -ERANGE tells how many there are, which a process
 * cannot change any more. */
static int peer_groups(int fd, gid_t **ret, size_t *ret_n) {
        socklen_t n_bytes = 0;
        gid_t *groups;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &n_bytes) < 0 && errno != ERANGE)
                return ORIGIN(-errno);
        groups = malloc(n_bytes + sizeof(gid_t));
        if (!groups)
                return -ENOMEM;
        if (n_bytes > 0 && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &n_bytes) < 0) {
                free(groups);
                return ORIGIN(-errno);
        }
        *ret = groups;
        *ret_n = n_bytes / sizeof(gid_t);
        return 0;
}

gid_t peer_group_of_socket(int fd) {
        struct sockaddr_un address = {};
        socklen_t n = sizeof(address) - 1; /* so that a path ends with a NUL */
        struct stat st;

        if (getsockname(fd, (struct sockaddr *) &address, &n) < 0 ||
            address.sun_family != AF_UNIX || n <= offsetof(struct sockaddr_un, sun_path) ||
            !address.sun_path[0] || lstat(address.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode) ||
            st.st_gid == 0 || !(st.st_mode & S_IWGRP))
                return PEER_NO_GROUP;
        return st.st_gid;
}

int peer_right(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups, gid_t group) {
        if (uid == 0 || uid == geteuid())
                return PEER_ALL;
        if (group == PEER_NO_GROUP)
                return PEER_NOTHING;
        if (gid == group)
                return PEER_MEMBER;
        for (size_t i = 0; i < n_groups; i++)
                if (groups[i] == group)
                        return PEER_MEMBER;
        return PEER_NOTHING;
}

int peer_of_socket(Peer *ret, int fd) {
        _cleanup_free_ gid_t *groups = NULL;
        struct ucred credentials;
        socklen_t n = sizeof(credentials);
        size_t n_groups = 0;
        int r;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n) < 0)
                return ORIGIN(-errno);
        r = peer_groups(fd, &groups, &n_groups);
        if (r < 0)
                return r;
        *ret = (Peer){
                .uid = credentials.uid,
                .pid = credentials.pid,
                .right = peer_right(credentials.uid, credentials.gid, groups, n_groups,
                                    peer_group_of_socket(fd)),
        };
        return 0;
}

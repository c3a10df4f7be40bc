/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "wire/dial.h"

int dial(const char *path) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (strlen(path) >= sizeof(sa.sun_path))
                return ORIGIN(-ENAMETOOLONG);
        strcpy(sa.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return ORIGIN(-errno);
        do
                r = connect(fd, (struct sockaddr *) &sa, sizeof(sa));
        while (r < 0 && errno == EINTR);
        return r < 0 ? ORIGIN(-errno) : TAKE_FD(fd);
}

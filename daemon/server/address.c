/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * bind() refuses a name that exists, whoever left it.  Only connect() tells a
 * dead socket from a live one, so a name is removed after ECONNREFUSED alone.
 */

#include <fcntl.h>
#include <libgen.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/server/address.h"

/* Who comes waits behind those who came before: not for long, also in a flood. */
#define ADDRESS_BACKLOG 128

static int remove_stale(const struct sockaddr_un *address) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (lstat(address->sun_path, &st) < 0)
                return errno == ENOENT ? 0 : ORIGIN(-errno);
        if (!S_ISSOCK(st.st_mode))
                return ORIGIN(-EEXIST);

        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return ORIGIN(-errno);
        /* EAGAIN: its queue is full, so that somebody listens. */
        if (connect(fd, (const struct sockaddr *) address, sizeof(*address)) >= 0 ||
            errno == EAGAIN)
                return ORIGIN(-EADDRINUSE);
        if (errno != ECONNREFUSED)
                return ORIGIN(-errno);
        return unlink(address->sun_path) < 0 ? ORIGIN(-errno) : 0;
}

int address_bind(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_free_ char *copy = NULL;
        _cleanup_close_ int fd = -EBADF;
        mode_t mask;
        int r;

        if (strlen(path) >= sizeof(address.sun_path))
                return ORIGIN(-ENAMETOOLONG);
        memcpy(address.sun_path, path, strlen(path));

        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        r = dir_make(AT_FDCWD, dirname(copy), 0755);
        if (r < 0)
                return r;
        r = remove_stale(&address);
        if (r < 0)
                return r;

        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return ORIGIN(-errno);
        mask = umask(0177);
        r = bind(fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ? ORIGIN(-errno) : 0;
        (void) umask(mask);
        if (r < 0)
                return r;
        if (listen(fd, ADDRESS_BACKLOG) < 0)
                return ORIGIN(-errno);
        return TAKE_FD(fd);
}

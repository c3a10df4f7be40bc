/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/files/content-id.h"

#define READ_BYTES ((size_t) 256 << 10)

static XXH3_state_t *free_state(XXH3_state_t *s) {
        (void) XXH3_freeState(s);
        return NULL;
}
DEFINE_CLEANUP(XXH3_state_t *, free_state);

int content_id(char ret[static CONTENT_ID_CHARS + 1], const char *path, const char *part) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        _cleanup_(free_statep) XXH3_state_t *state = XXH3_createState();
        _cleanup_free_ char *data = malloc(READ_BYTES);
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (!S_ISREG(st.st_mode))
                return CONTENT_ID_E_STREAM;
        if (!state || !data)
                return -ENOMEM;
        (void) XXH3_64bits_reset(state);
        while ((n = read_up_to(fd, data, READ_BYTES)) > 0)
                (void) XXH3_64bits_update(state, data, (size_t) n);
        if (n < 0)
                return (int) n;
        if (part)
                (void) XXH3_64bits_update(state, part, strlen(part));
        (void) snprintf(ret, CONTENT_ID_CHARS + 1, "%016" PRIx64, XXH3_64bits_digest(state));
        return 0;
}

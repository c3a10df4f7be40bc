/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/mman.h>

#include "encode/spill.h"

static void *grow_memory(Spill *s, size_t n) {
        void *p = realloc(s->data, n);

        if (!p)
                return NULL;
        s->n_room = n;
        return s->data = p;
}

/* Room on the disk is taken at once: a write to a page that then has none would end the program. */
static void *grow_file(Spill *s, size_t n) {
        void *p;

        if (posix_fallocate(s->fd, (off_t) s->n_room, (off_t) (n - s->n_room)) != 0)
                return NULL;
        spill_relax(s);
        p = mremap(s->data, s->n_room, n, MREMAP_MAYMOVE);
        if (p == MAP_FAILED)
                return NULL;
        s->n_room = n;
        return s->data = p;
}

static void *become_file(Spill *s, size_t n) {
        const char *dir = getenv("TMPDIR");
        _cleanup_close_ int fd =
                open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        void *p;

        if (fd < 0 || posix_fallocate(fd, 0, (off_t) n) != 0)
                return grow_memory(s, n);
        p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
                return NULL;
        memcpy(p, s->data, s->n_room);
        free(s->data);
        s->fd = TAKE_FD(fd);
        s->n_room = n;
        return s->data = p;
}

void *spill_grow(Spill *s, size_t n) {
        size_t more = s->fd >= 0 ? s->n_room + SPILL_BYTES : MAX(s->n_room * 2, (size_t) 4096),
               room = MAX(more, n);

        if (s->fd >= 0)
                return grow_file(s, room);
        return room <= SPILL_BYTES || s->n_room == 0 ? grow_memory(s, room) : become_file(s, room);
}

/* Of a mapping that is shared, what was written stays in the file. */
void spill_relax(Spill *s) {
        if (s->fd >= 0)
                (void) madvise(s->data, s->n_room, MADV_DONTNEED);
}

void spill_shrink(Spill *s) {
        if (s->fd >= 0)
                spill_done(s);
}

void spill_done(Spill *s) {
        if (s->fd >= 0) {
                (void) munmap(s->data, s->n_room);
                s->fd = safe_close(s->fd);
        } else
                free(s->data);
        *s = SPILL_INIT;
}

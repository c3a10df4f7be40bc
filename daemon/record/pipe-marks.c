/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A mark is raised before pages are moved into the pipe and lowered after they have left it, so that
 * it says too much for a moment and never too little.
 */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/record/pipe-marks.h"

struct PipeMarks {
        PipeMark *marks;
        size_t n;
};

static void format_name(char name[static 64], const char *session_id) {
        (void) snprintf(name, 64, "/ftraced-%.16s", session_id);
}

static int map(PipeMarks **ret, int fd, size_t n) {
        _cleanup_free_ PipeMarks *m = NEW(PipeMarks, .n = n);

        if (!m)
                return -ENOMEM;
        m->marks = mmap(NULL, n * sizeof(PipeMark), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (m->marks == MAP_FAILED)
                return ORIGIN(-errno);
        *ret = TAKE_PTR(m);
        return 0;
}

int pipe_marks_new(PipeMarks **ret, const char *session_id, size_t n) {
        _cleanup_close_ int fd = -EBADF;
        char name[64];
        int r;

        format_name(name, session_id);
        (void) shm_unlink(name);
        fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return ORIGIN(-errno);
        /* Allocated now: a full tmpfs would be SIGBUS later. */
        r = -posix_fallocate(fd, 0, (off_t) (n * sizeof(PipeMark)));
        if (r == 0)
                r = map(ret, fd, n);
        if (r < 0)
                (void) shm_unlink(name);
        return r;
}

int pipe_marks_open(PipeMarks **ret, const char *session_id, size_t n) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        char name[64];

        format_name(name, session_id);
        fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
        if (fd < 0)
                return ORIGIN(-errno);
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        /* The directory is everybody's. */
        if (st.st_uid != geteuid() || !S_ISREG(st.st_mode))
                return ORIGIN(-EPERM);
        if ((uint64_t) st.st_size != n * sizeof(PipeMark))
                return ORIGIN(-EBADMSG);
        return map(ret, fd, n);
}

PipeMark *pipe_marks_get(PipeMarks *m, size_t i) {
        return i < m->n ? &m->marks[i] : NULL;
}

PipeMarks *pipe_marks_free(PipeMarks *m) {
        if (!m)
                return NULL;
        (void) munmap(m->marks, m->n * sizeof(PipeMark));
        return mfree(m);
}

void pipe_marks_remove(const char *session_id) {
        char name[64];

        format_name(name, session_id);
        (void) shm_unlink(name);
}

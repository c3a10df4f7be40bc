/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Segments sealed as the worker does it, for tests. */

#include "codec/sealed-writer.h"
#include "scratch.h"
#include "store/session-dir.h"

/* Seals one segment of a session in its place; @block_bytes of pages in a block. */
static inline SealedSize seal(const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                              uint32_t block_bytes) {
        _cleanup_close_ int in = session_dir_open_segment_file(dir, cpu, sequence), out = -EBADF,
                            raw = -EBADF;
        char path[64], sealed[80];
        SealedSize size;

        (void) snprintf(path, sizeof(path), "cpu%u/%08x.seg", cpu, (unsigned) sequence);
        (void) snprintf(sealed, sizeof(sealed), "%s.new", path);
        out = openat(session_dir_fd(dir), sealed, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
        ck_assert_int_ge(in, 0);
        ck_assert_int_ge(out, 0);
        ck_assert_int_eq(
                sealed_write(out, &(SealedSource){ .fd = in, .block_bytes = block_bytes }, &size),
                0);
        ck_assert_int_eq(sealed_write_check(TAKE_FD(out), &size), 0);
        raw = openat(session_dir_fd(dir), path, O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(renameat(session_dir_fd(dir), sealed, session_dir_fd(dir), path), 0);
        return size;
}

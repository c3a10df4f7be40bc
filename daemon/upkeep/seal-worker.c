/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The one place on the daemon's side that looks into pages, so it is a process that can do no harm:
 * what it may still do once it is locked up is to read the segment and to write the new file.  What
 * it says is its exit status.
 */

#include <signal.h>
#include <sys/prctl.h>

#include "base/io.h"
#include "codec/sealed-writer.h"
#include "daemon/process/sandbox.h"
#include "daemon/upkeep/upkeep.h"

#define MEMORY_BYTES_MAX (UINT64_C(512) << 20)
#define FORMATS_BYTES_MAX ((size_t) 1 << 20)
/* Pages that cannot be compressed cost a header for each block. */
#define FILE_BYTES_MAX(n_in) ((n_in) + (n_in) / 64 + (1 << 20))

static const struct {
        int status;
        const char *text;
} problems[] = {
        { SEAL_WORKER_E_UNFIT, "it is not closed, not as long as it says, or has holes" },
        { SEAL_WORKER_E_DIFFERS, "what was written could not be read back" },
        { SEAL_WORKER_E_SANDBOX, "the worker cannot lock itself up on this system" },
        { SEAL_WORKER_E_NO_SPACE, "no space is left" },
        { SEAL_WORKER_E_NO_MEMORY, "out of memory" },
        { SEAL_WORKER_E_IO, "the disk cannot be read or written" },
        { SEAL_WORKER_E_USAGE, "the worker was called in a way that it does not know" },
};

const char *seal_worker_problem(int status) {
        for (size_t i = 0; i < ELEMENTSOF(problems); i++)
                if (problems[i].status == status)
                        return problems[i].text;
        return NULL;
}

static int work(const SealedSource *source) {
        SealedSize size;
        int r = sealed_write(SEAL_WORKER_FD_OUT, source, &size);

        if (r == SEALED_WRITE_E_UNFIT)
                return SEAL_WORKER_E_UNFIT;
        if (r == 0 && fsync(SEAL_WORKER_FD_OUT) < 0)
                r = ORIGIN(-errno);
        r = r ?: sealed_write_check(SEAL_WORKER_FD_OUT, &size);
        if (r == SEALED_WRITE_E_DIFFERS)
                return SEAL_WORKER_E_DIFFERS;
        return r == -ENOSPC || r == -EDQUOT ? SEAL_WORKER_E_NO_SPACE
               : r == -ENOMEM               ? SEAL_WORKER_E_NO_MEMORY
               : r < 0                      ? SEAL_WORKER_E_IO
                                            : SEAL_WORKER_DONE;
}

int seal_worker(const char *byte_order) {
        _cleanup_free_ char *formats = NULL;
        SealedSource source = { .fd = SEAL_WORKER_FD_IN };
        off_t n_in;
        int r;

        /* Should the daemon die, nobody would wait for us. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) prctl(PR_SET_NAME, "ftraced-seal");
        if (!streq(byte_order, "little") && !streq(byte_order, "big"))
                return SEAL_WORKER_E_USAGE;
        source.big_endian = streq(byte_order, "big");
        closefrom(SEAL_WORKER_FD_FORMATS + 1);
        r = fd_read(SEAL_WORKER_FD_FORMATS, &formats, &source.n_formats, FORMATS_BYTES_MAX);
        n_in = lseek(SEAL_WORKER_FD_IN, 0, SEEK_END);
        if (r < 0 || n_in < 0)
                return SEAL_WORKER_E_USAGE;
        source.formats = formats;
        (void) close(SEAL_WORKER_FD_FORMATS);
        r = sandbox(SANDBOX_IDLE, MEMORY_BYTES_MAX, FILE_BYTES_MAX((uint64_t) n_in));
        return r < 0 ? SEAL_WORKER_E_SANDBOX : work(&source);
}

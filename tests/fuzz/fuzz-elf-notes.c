/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whatever claims to be a program: its notes are read within bounds, and a build ID among them is digits. */

#include <sys/mman.h>

#include "fuzz.h"
#include "meta/meta.h"
#include "programs/programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_close_ int fd = memfd_create("program", MFD_CLOEXEC);
        _cleanup_buf_ Buf notes = BUF_INIT;
        char id[BUILD_ID_CHARS_MAX + 1];
        int r;

        FUZZ_CHECK(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t) size);
        r = elf_notes_read(fd, &notes);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        FUZZ_CHECK(notes.n_data <= 2 * ELF_NOTES_MAX);
        if (build_id_find(notes.data, notes.n_data, id))
                FUZZ_CHECK(build_id_is_valid(id));
        return 0;
}

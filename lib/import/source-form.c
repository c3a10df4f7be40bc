/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The first bytes of a trace.dat are no text's.  What cannot be read at a place of its own, as a pipe, cannot be
 * mapped either, and so is no trace.dat.
 */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/origin.h"
#include "import/source-form.h"
#include "pages/dat-file.h"

int source_form_of(int fd) {
        char begin[DAT_MAGIC_BYTES];
        struct stat st;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (S_ISDIR(st.st_mode))
                return SOURCE_SESSION;
        if (!S_ISREG(st.st_mode) || pread_up_to(fd, begin, sizeof(begin), 0) != sizeof(begin))
                return SOURCE_TEXT;
        return memcmp(begin, DAT_MAGIC, sizeof(begin)) == 0 ? SOURCE_DAT : SOURCE_TEXT;
}

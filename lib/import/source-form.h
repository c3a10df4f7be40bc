/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Source form: what is behind a file that is to be read as a recording
 *
 *      SOURCE_SESSION   a directory: that of a session in a store (store/session-dir.h)
 *      SOURCE_DAT       a file that begins as a trace.dat does (pages/dat-file.h)
 *      SOURCE_TEXT      anything else, also what can be read only once: a text (import/text-trace.h)
 *
 * Its name does not count.  Whether it can be read as that is for who opens it to find out.
 */

#include <stdint.h>

typedef enum SourceForm {
        SOURCE_SESSION,
        SOURCE_DAT,
        SOURCE_TEXT,
} SourceForm;

/* A SourceForm, or -errno.  The position of @fd stays as it is. */
int source_form_of(int fd);

/*
 * Packed: a file that was compressed as a whole, as traces are attached: trace.txt.gz, trace.dat.zst
 *
 * Its first bytes tell, and not its name.  It is unpacked into a file without a name in $TMPDIR, or /var/tmp, so
 * that it can be mapped and read twice.
 */
#define PACKED_BYTES_MAX (UINT64_C(4) << 30) /* more is not unpacked, whatever is there */

enum {
        PACKED_E_REFUSED = 1, /* it is not unpacked here, or cannot be */
};

/*
 * packed_open()
 * @fd:          of any file, whose position stays; a compressed one is closed, and becomes what is in it
 * @n_max:       PACKED_BYTES_MAX, or less
 * @ret_problem: on PACKED_E_REFUSED what the file is, and the way out: a sentence's end, a constant
 *
 * Return: 0, PACKED_E_REFUSED, -errno.
 */
int packed_open(int *fd, uint64_t n_max, const char **ret_problem);

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

typedef enum SourceForm {
        SOURCE_SESSION,
        SOURCE_DAT,
        SOURCE_TEXT,
} SourceForm;

/* A SourceForm, or -errno.  The position of @fd stays as it is. */
int source_form_of(int fd);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Remote output: what another host sends, on its way to a terminal or a file here
 *
 * The host may be anybody's, and its recordings hold anybody's names.  Of what it sends the plain
 * text (base/buf.h) reaches the terminal, and of what a terminal obeys the codes that ftracectl
 * itself writes: colours, lines that are written over, a table that is drawn again.  Everything else
 * becomes "\xNN".  What does not go to a terminal is not touched.
 *
 * A file is written here, for ssh ends well although the disk was full for the last of it.
 */

#include <sys/types.h>

#include "base/buf.h"

#define REMOTE_OUTPUT_HELD_MAX 8 /* of a code or a character of which the rest is to come */

typedef struct RemoteOutput {
        int in_fd;  /* a pipe's end, or -EBADF: there is nothing between */
        int out_fd; /* a terminal or a file, borrowed */
        bool is_file;
        int error; /* -errno: the file could not be written */
        char held[REMOTE_OUTPUT_HELD_MAX];
        size_t n_held;
} RemoteOutput;

#define REMOTE_OUTPUT_INIT ((RemoteOutput){ .in_fd = -EBADF, .out_fd = -EBADF })

/*
 * remote_output_open() - stand between somebody and @fd if that is a terminal or a regular file
 * @ret_fd: what he is given to write to: a pipe that the caller closes, or @fd
 *
 * 0 or -errno.
 */
int remote_output_open(RemoteOutput *o, int fd, int *ret_fd);
/* Passes on what comes until the process has ended, which is not waited for, and all is read. */
void remote_output_pass(RemoteOutput outputs[], size_t n, pid_t pid);
/* Adds to @out, a BUF_OF_TEXT, what of @n bytes more may go there; @is_end: no more will come. */
void remote_output_add(RemoteOutput *o, Buf *out, const char *data, size_t n, bool is_end);
void remote_output_done(RemoteOutput *o);
#define _cleanup_remote_output_ _cleanup_(remote_output_done)

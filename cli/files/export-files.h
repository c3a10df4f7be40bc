/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Export files: where an export of one or several recordings goes that has more than one file
 *
 *      -o NAME.parquet    calls; NAME.waits.parquet, NAME.losses.parquet
 *      -o DIR             DIR/date=2026-11-25/root=udp_sendmsg/HOST-RECORDING.parquet
 *                         DIR/_waits/date=2026-11-25/HOST-RECORDING.parquet, DIR/_losses/...
 *
 * The day is that of the recording's beginning, UTC; "unknown" of one that does not tell.  Bytes of names that a path,
 * or an engine that reads it, may take for something else are %XX; behind 100 of them there is a hash, "~" and 16
 * digits.  Each file is there whole or not at all, and all appear together at the end: until then those of a DIR are in
 * DIR/.ftraced-XXXXXX, which is gone afterwards, whatever we die of (cli/terminal/outfile.h), so that only those that
 * are written now need descriptors.
 */

#include <sys/types.h>

#include "cli/terminal/outfile.h"
#include "export/exporter.h"

typedef struct ExportFile {
        Buf out; /* first */
        Outfile file;
        struct ExportFile *next;
} ExportFile;

typedef struct ExportFiles {
        const char *path;
        mode_t mode;
        bool is_dir;
        const ExportInfo *info; /* of the recording that is exported now */
        bool is_unknown; /* whether it is the same as one of its name that is there already cannot be told */
        ExportFile *files;
        size_t n;
        char *temporary; /* of DIR; NULL: there is none yet */
        int sweeper_fd;
        char *failed; /* the path that could not be opened; NULL: none */
} ExportFiles;

#define EXPORT_FILES_INIT ((ExportFiles){ .sweeper_fd = -EBADF })

/* Whether @path is a directory, or shall be one: it ends in "/". */
bool export_files_is_dir(const char *path);
/* An ExportInfo's open() and close(), of @data, an ExportFiles.  -EEXIST: of one that is_unknown there is a file. */
int export_files_open(void *data, const char *name, const Function *root, Buf **ret);
int export_files_close(void *data, Buf *out);
/* All of them are there now.  0 or -errno. */
int export_files_commit(ExportFiles *f);
void export_files_done(ExportFiles *f);
#define _cleanup_export_files_ _cleanup_(export_files_done)

/*
 * Content id: 16 hexadecimal digits that tell files apart, whatever their names
 *
 * What a session's id is for a file that has none: files of the same bytes have the same, on every host, and one
 * that has changed has another.  XXH3-64 of its bytes, and of what of it is read if that is said.
 */

#define CONTENT_ID_CHARS 16

/*
 * content_id()
 * @part: which of several recordings in the file; NULL: the usual one
 *
 * Return: 0, CONTENT_ID_E_STREAM (it can be read only once, and has none), -errno.
 */
enum { CONTENT_ID_E_STREAM = 1 };
int content_id(char ret[static CONTENT_ID_CHARS + 1], const char *path, const char *part);

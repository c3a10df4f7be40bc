/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Export files: where an export of one or several recordings goes that has more than one file
 *
 *      -o NAME.parquet    calls; NAME.waits.parquet, NAME.losses.parquet if there are any
 *      -o DIR             DIR/date=2026-11-25/root=udp_sendmsg/HOST-RECORDING.parquet
 *                         DIR/_waits/date=2026-11-25/HOST-RECORDING.parquet, DIR/_losses/...
 *
 * The day is that of the recording's beginning, UTC.  Bytes of names that a path, or an engine that reads it, may
 * take for something else are %XX; behind 100 of them there is a hash, "~" and 16 digits.  Each file is there whole or not at all (cli/terminal/outfile.h), and all appear
 * together at the end.
 */

#include <sys/types.h>

#include "cli/terminal/outfile.h"
#include "export/exporter.h"

typedef struct ExportFile {
        Outfile file;
        char *asked; /* its path, as it was made */
        Buf out;
        struct ExportFile *next;
} ExportFile;

typedef struct ExportFiles {
        const char *path;
        mode_t mode;
        bool is_dir;
        const ExportInfo *info; /* of the recording that is exported now */
        const ExportInfo *opened_for;
        ExportFile *files;
        char *failed;  /* the path that could not be opened; NULL: none */
        bool is_twice; /* because another recording is written to it */
} ExportFiles;

/* Whether @path is a directory, or shall be one: it ends in "/". */
bool export_files_is_dir(const char *path);
/* An ExportInfo's open(), of @data, an ExportFiles. */
int export_files_open(void *data, const char *name, const Function *root, Buf **ret);
/* All of them are there now.  0 or -errno. */
int export_files_commit(ExportFiles *f);
void export_files_done(ExportFiles *f);
#define _cleanup_export_files_ _cleanup_(export_files_done)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The room's own: files that were mapped, once each. */

#include "base/array.h"
#include "base/hash.h"
#include "spaces/spaces.h"

typedef struct FileItem {
        MappedFile file;
        char *text, *told; /* owned: all its words; file.told */
} FileItem;

/* One of zeroes is empty. */
typedef struct MappedFiles {
        FileItem **items;
        size_t n;
        Hash all_at;  /* index + 1, by hash of all */
        Hash seen_at; /* likewise of those of looks, by device and inode */
} MappedFiles;

typedef struct FileWords {
        const char *path, *build_id;
        size_t n_path, n_build_id; /* 0: not known */
} FileWords;

/* The file that is like @f, with these words.  *@ret NULL: there are too many.  0 or -ENOMEM. */
int mapped_files_get(MappedFiles *s, const MappedFile *f, const FileWords *w,
                     const MappedFile **ret);
/* A process that has mapped @f was told to execute @path: this leads to it, if the name is its. */
void mapped_files_tell(MappedFiles *s, const MappedFile *f, const char *path, size_t n);
void mapped_files_done(MappedFiles *s);

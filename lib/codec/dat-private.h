/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the parts of DatFile share: dat-file.c opens and answers, dat-body.c reads the body of
 * either version. */

#include "codec/dat-bytes.h"
#include "codec/dat-file.h"
#include "codec/dat-times.h"

/* A text that is read when it is asked for. */
typedef struct DatText {
        const uint8_t *data; /* mapped; NULL: there is none */
        uint64_t n;          /* bytes in the file */
        uint64_t n_plain;    /* unpacked; only if it is packed */
        bool is_packed;
} DatText;

struct DatFile {
        char *name; /* of the recording; NULL until it stands in for a directory */
        int fd;
        uint8_t *map;
        uint64_t n_map;
        bool big_endian, swap;
        unsigned version;
        uint32_t page_bytes;
        DatCompressor compressor; /* of whatever is packed */
        DatText kallsyms, printk, cmdlines;
        DatFormat *formats; /* header_page and header_event among them */
        size_t n_formats;
        DatBuffer *buffers; /* the top-level one first */
        size_t n_buffers, i_chosen;
        uint32_t n_possible_cpus;
        char *clock, *uname, *origin;
        DatTimes times;
        uint64_t first_option; /* of version 7 */
};

/* Reads what follows the common head, at @head->at.  0, DAT_FILE_E_UNREADABLE with *@ret_problem,
 * -errno. */
int dat_body_read(DatFile *f, DatBytes *head, char **ret_problem);

/* Makes the sentence of *@ret_problem, unless there is one: what was found first is the cause.
 * DAT_FILE_E_UNREADABLE or -ENOMEM. */
int dat_fail(char **ret_problem, uint64_t at, const char *what);

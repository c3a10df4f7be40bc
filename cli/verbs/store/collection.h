/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Collection: which hosts' recordings are in a directory
 *
 *      DIR/NAME@HOST.dat      the recording NAME of HOST; a name has no '@', so that no other one is in its place
 *      DIR/NAME.collected     a line of JSON for each, added when its file has its name:
 *
 *      {"host":"web-3","id":"5c0f...","options":"--v7","bytes":81920,"status":0,"lacks":null}
 *
 * Only what is added to, and only after the file is whole, survives whatever ends this program.  Of two
 * lines of a host the later one counts; a line that is no such object does not.  A file of another size
 * than its line says is not whole.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

typedef struct Collection {
        char *dir, *name, *path;
        json_t *hosts; /* by name: the objects of the lines */
        int fd;
} Collection;

#define COLLECTION_INIT ((Collection){ .fd = -EBADF })

/* Reads what was collected of @name into @dir, which is there.  0 or -errno. */
int collection_open(Collection *ret, const char *dir, const char *name);
void collection_done(Collection *c);
#define _cleanup_collection_ _cleanup_(collection_done)

/* DIR/NAME@HOST.dat; the caller frees.  0 or -ENOMEM. */
int collection_path(char **ret, const Collection *c, const char *host);
/* Its line if its file is there as that says, of the recording @id (NULL: any) fetched with @options; borrowed; NULL:
 * it is to be fetched. */
const json_t *collection_find(const Collection *c, const char *host, const char *id,
                              const char *options);
/* @id: NULL: not known; @lacks: what the recording lacks; NULL: nothing.  0 or -errno. */
int collection_add(Collection *c, const char *host, const char *id, const char *options,
                   uint64_t n_bytes, int status, const char *lacks);

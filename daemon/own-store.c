/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/log.h"
#include "daemon/own-store.h"

/* Behind "PATH cannot be the store: ". */
static const char *const refusals[_STORE_E_N] = {
        [STORE_E_NO_PARENT] = "the directory above it is missing; make that, or give another",
        [STORE_E_LINK] = "it is a symbolic link; give the directory that it leads to",
        [STORE_E_NO_DIR] = "it is no directory; give another",
        [STORE_E_OWNER] = "it belongs to another user; chown it, or give another",
        [STORE_E_WRITABLE] = "others may write to it; chmod go-w it, or give another",
        [STORE_E_ENTRY] =
                "\"lock\", \"readers\" or \"ledger\" in it is no regular file, or \"sessions\" or "
                "\"symbols\" no directory, so ftraced did not make it; move that away, or "
                "give another",
        [STORE_E_READ_ONLY] = "its file system is read-only; remount it, read what is there with "
                              "`ftracectl --store`, or give another",
        [STORE_E_FULL] = "its file system is full; make room, or give another",
        [STORE_E_UNMAPPABLE] =
                "its file system has no shared mappings, into which the last page of "
                "a CPU is read (9p, some FUSE); give another",
};

int own_store_open(Store **ret, const char *path) {
        char text[STORE_OWNER_MAX];
        pid_t holder = 0;
        int r;

        r = store_open_for_writing(ret, path, &holder);
        if (r == STORE_E_LOCKED) {
                log_error("Another ftraced (%s) owns the store %s; talk to that one, or give "
                          "this one another with --store.",
                          store_owner_text(text, holder), path);
                return -EBUSY;
        }
        if (r > 0) {
                log_error("%s cannot be the store: %s with --store.", path, refusals[r]);
                return -EPERM;
        }
        if (r < 0)
                return log_error_errno(
                        r, "Cannot open the store %s: %m; give another with --store.", path);
        return 0;
}

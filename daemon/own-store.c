/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/daemon.h"

/*
 * What is in the store is for those whom its directory is for: a private daemon of root's and the
 * service, which has the group ftraced, may write to the same one in turn, and members read either's.
 * As the daemon's own group it goes to all that is made there, with nothing to be changed afterwards.
 */
static void take_group(const char *path) {
        struct stat st;

        if (geteuid() == 0 && lstat(path, &st) >= 0 && S_ISDIR(st.st_mode) && st.st_uid == 0 &&
            st.st_gid != getegid())
                (void) setegid(st.st_gid); /* the service may not, and has it already */
}

/* Behind "PATH cannot be the store: ". */
static const char *const refusals[_STORE_E_N] = {
        [STORE_E_NO_PARENT] = "the directory above it is missing; make that, or give another",
        [STORE_E_LINK] = "it is a symbolic link; give the directory that it leads to",
        [STORE_E_NO_DIR] = "it is no directory; give another",
        [STORE_E_OWNER] = "it belongs to another user; chown it, or give another",
        [STORE_E_WRITABLE] = "others may write to it; chmod go-w it, or give another",
        [STORE_E_ENTRY] = "\"lock\" in it is no regular file, or \"sessions\" or \"symbols\" no "
                          "directory, so ftraced did not make it; move that away, or give another",
        [STORE_E_READ_ONLY] = "its file system is read-only; remount it, read what is there with "
                              "\"ftracectl --store\", or give another",
        [STORE_E_FULL] = "its file system is full; make room, or give another",
        [STORE_E_UNMAPPABLE] =
                "its file system has no shared mappings, into which the last page of "
                "a CPU is read (9p, some FUSE); give another",
};

static int say_owned(const char *path, pid_t holder) {
        char text[STORE_OWNER_MAX];

        log_error("Another ftraced (%s) owns the store %s; talk to that one, or give this one "
                  "another with --store.",
                  store_owner_text(text, holder), path);
        return ORIGIN(-EBUSY);
}

/* The ledger's lock goes with its directory, or is elsewhere if $FTRACED_LEDGERS is another. */
int own_store_open_ledger(LedgerDir *ret, const char *path) {
        _cleanup_close_ int fd = dir_open(AT_FDCWD, path);
        pid_t holder = 0;

        if ((fd >= 0 && lock_look(fd, &holder) > 0) ||
            ledger_dir_open(ret, path, &holder) == LEDGER_DIR_E_HELD)
                return say_owned(path, holder);
        return 0;
}

int own_store_open(Store **ret, LedgerDir *ret_ledger, const char *path) {
        _cleanup_(store_freep) Store *s = NULL;
        pid_t holder = 0;
        int r;

        take_group(path);
        r = store_open_for_writing(&s, path, &holder);
        if (r == STORE_E_LOCKED)
                return say_owned(path, holder);
        if (r > 0) {
                log_error("%s cannot be the store: %s with --store.", path, refusals[r]);
                return ORIGIN(-EPERM);
        }
        if (r < 0)
                return log_error_errno(
                        r, "Cannot open the store %s: %m; give another with --store.", path);
        if (ledger_dir_open(ret_ledger, path, &holder) == LEDGER_DIR_E_HELD)
                return say_owned(path, holder); /* somebody has removed what was in the store */
        *ret = TAKE_PTR(s);
        return 0;
}

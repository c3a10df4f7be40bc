/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Store: the directory that holds all sessions (store/format.h)
 */

#include "store/session-dir.h"

typedef struct Store Store;

/* Why a directory cannot be a daemon's store.  Nothing was touched. */
enum {
        STORE_E_LOCKED = 1, /* another daemon owns it: *ret_holder is a pid that lives, or 0 */
        STORE_E_NO_PARENT,  /* the directory above it is missing */
        STORE_E_LINK,       /* it is a symbolic link */
        STORE_E_NO_DIR,     /* it is a file */
        STORE_E_OWNER,      /* it belongs to another user */
        STORE_E_WRITABLE,   /* its group or everybody may write to it */
        STORE_E_ENTRY, /* "lock" in it is no regular file, or "sessions" or "symbols" no directory */
        STORE_E_READ_ONLY,  /* its file system is read-only */
        STORE_E_FULL,       /* its file system has no room for what a new store needs */
        STORE_E_UNMAPPABLE, /* its file system has no shared writable mappings (9p, some FUSE) */
        _STORE_E_N,
};

/* Opens for reading.  @path is kept for messages.  -ENOENT if there is none. */
int store_open(Store **ret, const char *path);
/*
 * Checks the directory and what is in it, makes what is missing (not the directories above @path),
 * takes the lock, finishes removals that a crash interrupted.  @ret_holder may be NULL
 * and is set with STORE_E_LOCKED only.  0, STORE_E_*, -errno.
 */
int store_open_for_writing(Store **ret, const char *path, pid_t *ret_holder);
const char *store_path(const Store *s);
/* Returns what its file system has free for ordinary users; 0 if that cannot be told. */
uint64_t store_free_bytes(const Store *s);
/* Whether a daemon owns the store: 1 (*@ret_owner, which may be NULL, as @ret_holder above), 0, or -errno
 * if that cannot be told. */
int store_is_owned(const Store *s, pid_t *ret_owner);
/* "pid 812", or of 0 a few words: for between parentheses. */
#define STORE_OWNER_MAX 40
const char *store_owner_text(char text[static STORE_OWNER_MAX], pid_t owner);
int store_fd(const Store *s); /* borrowed, like the next two */
int store_sessions_fd(const Store *s);
int store_symbols_fd(const Store *s); /* -EBADF: there is none; another -errno: it cannot be read */

/* Adds the names of the sessions, and sorts all of @ret; entries that are no valid names or not directories are ignored. */
int store_list(const Store *s, Strv *ret);
/* The other entries of sessions/, which no daemon made, sorted. */
int store_list_foreign(const Store *s, Strv *ret);
int store_open_session(const Store *s, const char *name, SessionDir **ret); /* -ENOENT, -EINVAL */
/* Makes a directory, which is hidden until it has all that a session has, and settles; one that has not is removed
 * when the store is opened for writing again.  0, -EEXIST: there is one of that name; -EINVAL, other -errno. */
int store_make_session(Store *s, const char *name, SessionDir **ret);
int store_settle_session(Store *s, const char *name);
/* Removes the session, or what is to become it, but none of its symbols.  -ENOENT, -EINVAL, other -errno. */
int store_discard_session(Store *s, const char *name);
/*
 * The same in parts, for whoever has other things to do:
 *   - store_hide_session(): it is a session no more, and what it holds is gone after a crash, too;
 *     the caller frees *@ret_hidden, by which
 *   - store_clear_hidden() knows it: as tree_remove_until() (base/io.h), and in any thread;
 *     @freed_bytes: what the files that went took on disk is added; may be NULL
 *   - store_drop_symbols(): all but those @used
 */
int store_hide_session(Store *s, const char *name, char **ret_hidden);
int store_clear_hidden(const Store *s, const char *hidden, uint64_t until_ns,
                       uint64_t *freed_bytes);
int store_drop_symbols(Store *s, const Strv *used);
/* Adds what the session refers to.  0; STORE_E_UNKNOWN: it is beginning and has not named its
 * symbols yet, so that all have to be kept; -ENOMEM. */
enum { STORE_E_UNKNOWN = 1 };
int store_add_symbols_in_use(Strv *ret, const SessionMeta *m);
/* Returns what to do about an error of writing into a store: "; WORDS", or "". */
const char *store_way_out(int error);
Store *store_free(Store *s);
DEFINE_CLEANUP(Store *, store_free);

/*
 * STORE/lock is flock()ed for as long as its daemon lives, and has its pid.  Only the store's owner can open
 * it (0600).
 */
enum {
        LOCK_E_HELD = 1, /* by another process: *ret_holder */
};

/*
 * lock_take() - become the owner
 * @ret:        a descriptor that the caller owns; closing it lets go
 * @ret_holder: may be NULL; with LOCK_E_HELD the process that has it, 0 if that does not live any more
 *
 * Return: 0, LOCK_E_HELD, -errno (entry_open_file()'s for what is no regular file).
 */
int lock_take(int *ret, int store_fd, pid_t *ret_holder);
/* Whether somebody owns the store: 1 (*@ret_holder as above), 0, -errno: it cannot be told, to group members for one. */
int lock_look(int store_fd, pid_t *ret_holder);

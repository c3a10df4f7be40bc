/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ledger: what was changed in tracefs, and the values to put back
 *
 * The file "ledger" in a directory below /run (daemon/tracefs/ledger-dir.h), replaced as a whole before each batch of
 * changes is made, so that whoever dies when, the next daemon can undo them:
 *
 *      { "version": 1, "boot_id": "...", "tracefs": "/sys/kernel/tracing",
 *        "records": [ { "session": "slow-dns", "kind": "file", "file": "trace_clock",
 *                       "old": "local" },
 *                     { "session": "slow-dns", "kind": "instance",
 *                       "file": "instances/ftraced-slow-dns" },
 *                     { "session": "slow-dns", "kind": "line", "file": "set_ftrace_filter",
 *                       "old": "nf_log_packet:traceon:1" },
 *                     { "session": "", "kind": "tracer", "file": "current_tracer",
 *                       "old": "function", "set": "nop", "mark": 1764200000123456789 } ] }
 *
 * "file" is relative to tracefs; "old" is a value of daemon/tracefs/control.h, or of a line what is taken out of
 * a file whose other lines are left alone.  "set" is what it was made to say, and "mark" when, as far
 * as these are known: what somebody else has written since stays (daemon/tracefs/put-back.h).  The session "" owns
 * what all live sessions share.  A
 * "tracer" is somebody else's that was switched off.  A record may be there although its change was not made yet; undoing it
 * then finds the old value and writes nothing.  Another boot's ledger is dropped, since its
 * changes died with that kernel.  There is no file when there are no records.
 *
 * What can be told without it daemon/tracer/leftovers.h tells.
 *
 * ledger_undo() is the only way back, for a session that ends, an arming that fails, and a
 * daemon that died.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "daemon/tracefs/tracefs.h"

#define LEDGER_SHARED "" /* session of the records that the live sessions share */

/*
 * Session of the names in set_graph_function, each of which some session has brought there: a "file"
 * below LEDGER_ROOTS_DIR.  Nothing is put back for them by ledger_undo(), and an older daemon that does not
 * know of them finds no such file, and drops them.
 */
#define LEDGER_ROOTS "(roots)"
#define LEDGER_ROOTS_DIR "instances/(roots)/"

typedef enum LedgerKind {
        LEDGER_FILE,     /* a file said "old" */
        LEDGER_INSTANCE, /* a directory was not there */
        LEDGER_TRACER,   /* a current_tracer of somebody else (daemon/admission/admission.h) */
        LEDGER_LINE,     /* a command file did not have the line "old" */
        _LEDGER_KIND_N,
} LedgerKind;

typedef struct LedgerRecord {
        char *session, *file, *old;
        char *set;       /* what it was made to say, see PutBack; NULL: not known */
        uint64_t mark;   /* put_back_mark() after that; 0: not known */
        bool is_bounded; /* of a tracer: not all functions were its */
        LedgerKind kind;
        uint64_t hash; /* of session and file */
} LedgerRecord;

typedef struct Ledger Ledger;

/*
 * ledger_open()
 * @dir_fd:  where the file is; dup()ed; < 0: nowhere, and committing fails with this -errno
 * @root_fd: where proc/sys/kernel/random/boot_id is read
 *
 * A file that cannot be understood, whatever it is, is logged by name and kept as "ledger.bad": nothing is
 * guessed from it.  A file of another boot says nothing.
 */
int ledger_open(Ledger **ret, int dir_fd, int root_fd);
Ledger *ledger_free(Ledger *l);
DEFINE_CLEANUP(Ledger *, ledger_free);

/* One in memory alone: committing it does nothing. */
int ledger_new_dry(Ledger **ret);

size_t ledger_n(const Ledger *l);
const LedgerRecord *ledger_get(const Ledger *l, size_t i); /* in the order of being added */
bool ledger_has(const Ledger *l, const char *session, const char *file);
/* Whether a tracer in @dir ("" or "instances/x/") was switched on by a session of this ledger. */
bool ledger_covers(const Ledger *l, const char *dir);
/* Whether @file is a buffer's tracer: of the top level, or of an instance that was there before. */
bool ledger_is_tracer(const char *file);
/* The record of @kind for @file, whosever it is, or NULL. */
const LedgerRecord *ledger_find(const Ledger *l, LedgerKind kind, const char *file);
/* What the ledgers of other stores' daemons have of this boot, each record's session being that store's
 * path; in memory alone.  0 or -ENOMEM. */
int ledger_read_others(const Ledger *l, Ledger **ret);
bool ledger_other_lives(const Ledger *l, const char *store); /* whether that daemon is alive */
/* Sessions that have records, without LEDGER_SHARED; sorted. */
int ledger_get_sessions(const Ledger *l, Strv *ret);
/* Adds a record in memory, unless @session has one for @file (and line); old: NULL for an instance.
 */
int ledger_add(Ledger *l, const char *session, LedgerKind kind, const char *file, const char *old);
/*
 * ledger_claim() - @file is going to say @set
 * @now: what it says
 *
 * What somebody else has made it say since an earlier claim of @session that was not put back is what
 * will be put back, not what it said before that.
 * Return: 0 or -errno.
 */
int ledger_claim(Ledger *l, const Tracefs *fs, const char *session, LedgerKind kind,
                 const char *file, const char *now, const char *set);
/* The same, of all records of a file of the top level that is to be written once more. */
int ledger_claim_again(Ledger *l, const Tracefs *fs, const char *file);
/* Everything that was claimed has been written. */
void ledger_mark(Ledger *l, const Tracefs *fs);
/* Somebody else's line turned out to be there: it is not to be undone. */
void ledger_drop_line(Ledger *l, const char *session, const char *file, const char *line);
/* A file was put back by other means; the name in its record may be @file. */
void ledger_drop(Ledger *l, const char *session, const char *file);
void ledger_drop_all(Ledger *l, const char *session);
/* What is written into a command file to take the line of a LEDGER_LINE out; the caller frees; NULL
 * without memory. */
char *ledger_line_out(const LedgerRecord *e);
/* Makes the tracer in the file @path "nop", which is tried for a moment while somebody holds its
 * trace_pipe_raw.  0, -EBUSY: it is still held, or -errno. */
int ledger_switch_off(const Tracefs *fs, const char *path);
/* Makes the file say what memory says.  Before any change, always. */
int ledger_commit(Ledger *l, const char *tracefs_path);
/* The same of one that has only become shorter: that it is stale is told the log alone. */
void ledger_shorten(Ledger *l, const char *tracefs_path);
/* Whether the last commit failed: the file still holds what has been undone since.  That does no
 * harm to be undone once more; commit again. */
bool ledger_is_stale(const Ledger *l);
/* Whether there is one for its file: otherwise committing fails, and others' ledgers cannot be seen. */
bool ledger_has_place(const Ledger *l);
/* Whether somebody has removed the file. */
bool ledger_is_lost(const Ledger *l);
/* Paths for messages: of the file, and of "ledger.bad" if there is one; NULL: there is none, or no memory.  The
 * caller frees. */
char *ledger_path(const Ledger *l);
char *ledger_bad_path(const Ledger *l);
/* Path of the store whose ledger it is; NULL: it cannot be told.  The caller frees. */
char *ledger_store(const Ledger *l);
/* Where the ledger is if the last commit failed with @error, so that it was not tracefs; NULL: it did not,
 * or without memory.  The caller frees. */
char *ledger_failed_where(const Ledger *l, int error);

/*
 * ledger_undo() - put back what @session changed
 * @session:  its name, LEDGER_SHARED, or NULL for everything
 * @warnings: sentences about what could not be put back exactly are added
 * @ret_n:    changes undone; may be NULL
 *
 * In this order: recording off and function_graph off, files, latest first, instances, and
 * others' tracers if all that was put back and nobody has written them since.  What somebody else has
 * written since stays as it is, whatever it said before; with somebody's tracer on in the top-level buffer
 * nothing else of that is written (-EBUSY).  A tracer that had filters comes back only with one.  While a
 * function_graph cannot be switched off (-EBUSY: somebody holds its trace_pipe_raw) the
 * session's records stay, and so do the shared ones that differ while any function_graph is on anywhere:
 * an empty set_graph_function would then mean every function of the kernel.
 * Return: 0, or -errno of the first thing that failed; what failed stays in the ledger.  That the
 * disk refuses the shorter ledger is no failure: the kernel is put back, the ledger is stale.
 */
int ledger_undo(Ledger *l, const Tracefs *fs, const char *session, Strv *warnings, size_t *ret_n);

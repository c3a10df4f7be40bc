/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ledger: what was changed in tracefs, and the values to put back
 *
 * The file "ledger" in the store, replaced as a whole before each batch of
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
 *                       "old": "function" } ] }
 *
 * "file" is relative to tracefs; "old" is a value of daemon/knob.h, or of a line what is taken out of
 * a file whose other lines are left alone.  The session "" owns what all live sessions share.  A
 * "tracer" is somebody else's that was switched off.  A record may be there although its change was not made yet; undoing it
 * then finds the old value and writes nothing.  Another boot's ledger is dropped, since its
 * changes died with that kernel.  There is no file when there are no records.
 *
 * ledger_undo() is the only way back, for a session that ends, an arming that fails, and a
 * daemon that died.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "daemon/tracefs.h"

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
        LEDGER_TRACER,   /* a current_tracer of somebody else (daemon/override.h) */
        LEDGER_LINE,     /* a command file did not have the line "old" */
        _LEDGER_KIND_N,
} LedgerKind;

typedef struct LedgerRecord {
        char *session, *file, *old;
        LedgerKind kind;
        uint32_t hash; /* of session and file */
} LedgerRecord;

typedef struct Ledger Ledger;

/*
 * ledger_open()
 * @dir_fd:  where the file is; dup()ed
 * @root_fd: where proc/sys/kernel/random/boot_id is read
 *
 * A file that cannot be understood is kept as "ledger.bad" and -EBADMSG returned once: nothing
 * may be guessed from it.
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
/* Sessions that have records, without LEDGER_SHARED; sorted. */
int ledger_get_sessions(const Ledger *l, Strv *ret);
/* Adds a record in memory, unless @session has one for @file (and line); old: NULL for an instance.
 */
int ledger_add(Ledger *l, const char *session, LedgerKind kind, const char *file, const char *old);
/* Somebody else's line turned out to be there: it is not to be undone. */
void ledger_drop_line(Ledger *l, const char *session, const char *file, const char *line);
/* A file was put back by other means; the name in its record may be @file. */
void ledger_drop(Ledger *l, const char *session, const char *file);
void ledger_drop_all(Ledger *l, const char *session);
/* What is written into a command file to take the line of a LEDGER_LINE out; the caller frees; NULL
 * without memory. */
char *ledger_line_out(const LedgerRecord *e);
/* Makes the file say what memory says.  Before any change, always. */
int ledger_commit(Ledger *l, const char *tracefs_path);
/* Whether the last commit failed: the file still holds what has been undone since.  That does no
 * harm to be undone once more; commit again. */
bool ledger_is_stale(const Ledger *l);

/*
 * ledger_undo() - put back what @session changed
 * @session:  its name, LEDGER_SHARED, or NULL for everything
 * @warnings: sentences about what could not be put back exactly are added
 * @ret_n:    changes undone; may be NULL
 *
 * In this order: recording off and function_graph off, files, latest first, instances, and
 * others' tracers if all that was put back and nobody has set another one since.  While a
 * function_graph cannot be switched off (-EBUSY: somebody holds its trace_pipe_raw) the
 * session's records stay, and so do the shared ones that differ while any function_graph is on anywhere:
 * an empty set_graph_function would then mean every function of the kernel.
 * Return: 0, or -errno of the first thing that failed; what failed stays in the ledger.  That the
 * disk refuses the shorter ledger is no failure: the kernel is put back, the ledger is stale.
 */
int ledger_undo(Ledger *l, const Tracefs *fs, const char *session, Strv *warnings, size_t *ret_n);

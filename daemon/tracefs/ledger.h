/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ledger: what was changed in tracefs, and the values to put back
 *
 *      /run/ftraced/ledgers/%2Fvar%2Flib%2Fftraced/
 *              lock     of the daemon (store/store.h)
 *              ledger
 *
 * A directory for each store, named for its path; $FTRACED_LEDGERS takes the place of /run/ftraced/ledgers.  It
 * goes with the boot, as the changes do, and stays when the service stops (RuntimeDirectoryPreserve=).  A daemon
 * holds its lock as well as the store's, which goes with the store's content if somebody removes that.
 *
 * The file is replaced as a whole before each batch of changes is made, so that whoever dies when, the next daemon
 * can undo them:
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
 * a file whose other lines are left alone.  "set" is what it was made to say, and "mark" when, as far as these are
 * known: what somebody else has written since stays (daemon/tracefs/put-back.c).  The session "" owns what all live
 * sessions share.  A "tracer" is somebody else's that was switched off.  A record may be there although its change was
 * not made yet; undoing it then finds the old value and writes nothing.  Another boot's ledger is dropped, since its
 * changes died with that kernel.  There is no file when there are no records.
 *
 * What can be told without it daemon/tracer/leftovers.c tells.  ledger_undo() is the only way back, for a session that
 * ends, an arming that fails, and a daemon that died.
 */

#include "daemon/tracefs/tracefs.h"
#include "store/store.h"

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
        char *set;       /* all that it was made to say, joined with '\n'; NULL: not known */
        uint64_t mark;   /* put_back_mark() after that; 0: not known */
        bool is_bounded; /* of a tracer: not all functions were its */
        LedgerKind kind;
} LedgerRecord;

/* Others read it; this room's files alone write it. */
typedef struct Ledger {
        const Tracefs *fs;
        int dir_fd;  /* < 0: -errno, there is no place for a file, and others' cannot be seen */
        bool is_dry; /* it is only in memory, and none is wanted */
        char *boot_id;
        LedgerRecord *records; /* in the order of being added */
        size_t n;
        int error; /* of the last commit; < 0: the file says more than the records, which does no harm */
} Ledger;

typedef struct LedgerDir {
        int fd;     /* < 0: -errno, there can be none here */
        char *path; /* NULL, likewise */
        int lock_fd;
} LedgerDir;

#define LEDGER_DIR_INIT ((LedgerDir){ -EBADF, NULL, -EBADF })

const char *ledger_dir_root(void); /* "/run/ftraced/ledgers" */
/*
 * ledger_dir_open()
 * @store: path of the store, which need not be there
 *
 * Whoever cannot write there (who is not root) has none, which is no failure: nothing can be changed in the
 * kernel then (ledger_commit()).
 * Return: 0; LEDGER_DIR_E_HELD: the daemon *@ret_holder (0: not to be seen) is alive.
 */
enum { LEDGER_DIR_E_HELD = 1 };
int ledger_dir_open(LedgerDir *ret, const char *store, pid_t *ret_holder);
/* Leaves nothing but a ledger that has records. */
void ledger_dir_done(LedgerDir *d);

/*
 * ledger_open()
 * @dir_fd:  where the file is; dup()ed; < 0: nowhere, and committing fails with this -errno
 * @fs:      borrowed; need not be attached yet, but for root_fd, where the boot's id is read
 *
 * A file that cannot be understood, whatever it is, is logged by name and kept as "ledger.bad": nothing is
 * guessed from it.  A file of another boot says nothing.
 */
int ledger_open(Ledger **ret, int dir_fd, const Tracefs *fs);
/* One in memory alone: committing it does nothing.  @boot_id may be NULL. */
int ledger_new_dry(Ledger **ret, const Tracefs *fs, const char *boot_id);
Ledger *ledger_free(Ledger *l);
DEFINE_CLEANUP(Ledger *, ledger_free);

/* @session's record for this, until another one is added or removed; or NULL.  @old: of a line, which is told apart
 * from the other kinds. */
LedgerRecord *ledger_record_of(const Ledger *l, const char *session, LedgerKind kind,
                               const char *file, const char *old);
/* The record of @kind for @file, whosever it is, or NULL. */
const LedgerRecord *ledger_find(const Ledger *l, LedgerKind kind, const char *file);
/* True if a tracer in @dir ("" or "instances/x/") was switched on by a session of this ledger. */
bool ledger_covers(const Ledger *l, const char *dir);
/* Whether @file is a buffer's tracer: of the top level, or of an instance that was there before. */
bool ledger_is_tracer(const char *file);
/* What the ledgers of other stores' daemons have of this boot, each record's session being that store's
 * path; in memory alone.  0 or -ENOMEM. */
int ledger_read_others(const Ledger *l, Ledger **ret);
bool ledger_other_lives(const Ledger *l, const char *store); /* whether that daemon is alive */
/* Sessions that have records, without LEDGER_SHARED; sorted. */
int ledger_get_sessions(const Ledger *l, Strv *ret);

/* Adds a record in memory, unless @session has one for @file (and line); old: NULL for an instance. */
int ledger_add(Ledger *l, const char *session, LedgerKind kind, const char *file, const char *old);
/*
 * ledger_claim() - @file is going to say @set
 * @now: what it says
 *
 * What somebody else has made it say since an earlier claim of @session that was not put back is what
 * will be put back, not what it said before that.
 * Return: 0 or -errno.
 */
int ledger_claim(Ledger *l, const char *session, LedgerKind kind, const char *file, const char *now,
                 const char *set);
/* Everything that was claimed has been written. */
void ledger_mark(Ledger *l);
/* It is not to be undone: it was put back by other means, or turned out to be somebody else's.  @line: NULL: of a file;
 * the name in its record may be @file. */
void ledger_drop(Ledger *l, const char *session, const char *file, const char *line);
void ledger_drop_all(Ledger *l, const char *session);
/* Returns what is written into a command file to take the line of a LEDGER_LINE out; the caller frees; NULL
 * without memory. */
char *ledger_line_out(const LedgerRecord *e);
/* Makes the tracer in the file @path "nop", which is tried for a moment while somebody holds its
 * trace_pipe_raw.  0, -EBUSY: it is still held, or -errno. */
int ledger_switch_off(const Tracefs *fs, const char *path);
/* Makes the file say what memory says.  Before any change, always. */
int ledger_commit(Ledger *l);
/* The same of one that has only become shorter: that it is stale is told the log alone. */
void ledger_shorten(Ledger *l);
/* True if somebody has removed the file. */
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
 * @session:  its name, or LEDGER_SHARED
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
int ledger_undo(Ledger *l, const char *session, Strv *warnings, size_t *ret_n);

/* --- this room's ------------------------------------------------------------------------------ */

void ledger_remove_at(Ledger *l, size_t i);
/* ledger_claim() for all records of a file of the top level that is to be written once more. */
int ledger_claim_again(Ledger *l, const char *file);
/*
 * Whose the files of @session are is settled before it is undone, for whoever dies over writing one leaves a
 * mark that looks like somebody else's.  1: commit before anything is written; 0.
 */
int ledger_settle(Ledger *l, const char *session);

/*
 * Between "old" and "set" others may have written a file: they have reset their tracer, or set up another one.  What
 * they wrote is theirs and stays; only what still says what we made it say is put back.
 *
 * Where both are the same ("nop", "0", an empty list) the file's mark tells: the time of the last open
 * that truncated it, as shells, perf, and mostly trace-cmd do.  A write alone leaves the times of a file in tracefs as
 * they are (linux 6.12 fs/tracefs/inode.c has no setattr of its own, so fs/namei.c, handle_truncate() sets
 * them; the write functions of kernel/trace do not).  Events' files lose their inodes, and have no mark.
 */
#define PUT_BACK_THEIRS 1 /* somebody else has written it: it is to say what it says */
#define PUT_BACK_MARK_MAX ((uint64_t) INT64_MAX - 1)
/* No file's: it is known to be written by others. */
#define PUT_BACK_MARK_THEIRS ((uint64_t) INT64_MAX)

/* 0: there is none, it tells nothing.  Of a current_tracer: of all files of its buffer that set up a tracer. */
uint64_t put_back_mark(const Tracefs *fs, const char *file);
/*
 * put_back_value() - what the file of @e, which says @now, is to say when we have left it
 *
 * Words that others have added to a list of ours stay in it, beside those that were there before.  A
 * value that nobody but us would ask for is ours, even if somebody wrote it: they took back what they
 * had done.
 * Return: 0, PUT_BACK_THEIRS (*@ret is @now), or -ENOMEM.  The caller frees *@ret.
 */
int put_back_value(const Ledger *l, const LedgerRecord *e, const char *now, char **ret);
/* True if a tracer "function" or "function_graph" of the buffer with this current_tracer would be called for some
 * functions only; true for other tracers. */
bool put_back_is_bounded(const Tracefs *fs, const char *tracer_file, const char *tracer);

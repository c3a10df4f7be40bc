/* SPDX-License-Identifier: GPL-2.0-or-later */

#pragma once

/*
 * Terminal: results to stdout, talk to stderr
 *
 * stdout holds what was asked for and nothing else; a pager and colours only if
 * it is a terminal.  Talk is what a person likes to know and a program does
 * not: --quiet silences it.
 */

#include <jansson.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/unit.h"
#include "calls/function.h"
#include "calls/step.h"
#include "cli/options/options.h"
#include "meta/brief.h"
#include "meta/meta.h"

void talk(const Options *o, const char *format, ...) _printf_(2, 3);

/* Colours of stdout, where they are wanted. */
typedef enum Colour { COLOUR_GOOD, COLOUR_WARNING, COLOUR_BAD, COLOUR_BOLD } Colour;
bool terminal_has_colours(const Options *o);
/* Adds @text in that colour; a name like a word (base/buf.h). */
void terminal_add(Buf *out, const Options *o, Colour c, const char *text);
bool terminal_is_utf8(void);
/* How wide @fd is; 0: it is no terminal.  COLUMNS in the environment has the last word. */
size_t terminal_width(int fd);
/* The same of stdout, or what is behind its pager. */
size_t terminal_columns(void);
/* Folds the sentences in @out behind @from, which are not flushed yet, for stdout, if that is a terminal; @indent: as
 * buf_add_folded(). */
void terminal_fold(Buf *out, size_t from, size_t indent);
/*
 * Pager: between us and stdout from pager_open() to pager_close()
 *
 * Does nothing unless stdout is a terminal, --no-pager is absent and the
 * environment names no empty one (SYSTEMD_PAGER, PAGER; else less).
 * @n_lines: nothing either if so many fit the terminal; SIZE_MAX: unknown
 */
typedef struct Pager {
        pid_t pid; /* 0: none */
        int stdout_fd;
} Pager;

#define PAGER_INIT ((Pager){ .stdout_fd = -EBADF })
void pager_open(Pager *p, const Options *o, size_t n_lines);
void pager_close(Pager *p); /* waits until the reader has seen enough */
/* pager_close() after having written with the result @r: if there was a pager, -EPIPE only means
 * that its user has seen enough, and becomes 0. */
int pager_end(Pager *p, int r);
#define _cleanup_pager_ _cleanup_(pager_close)

/* Turns the result @r (0 or -errno) of writing to stdout into an exit status; a reader that has
 * left is not worth a word. */
int stdout_status(int r);
/* Flushes @out, which writes to stdout; an exit status. */
int stdout_end(Buf *out);
/* The same of sentences and tables: terminal_fold() first. */
int stdout_folded(Buf *out);
/* The same of what went through @p; @r: what it came to so far, 0 or -errno. */
int stdout_paged(Pager *p, Buf *out, int r);
/* JSON as json_dumps() makes it, of which a terminal may have all; the caller frees. */
char *terminal_json(const json_t *value, size_t flags);
/* A string of what need not be UTF-8: U+FFFD stands for what is not.  NULL: null. */
json_t *terminal_json_text(const char *s, size_t n);
/* The same of all of @s, and of each of @list. */
json_t *terminal_json_string(const char *s);
json_t *terminal_json_list(const Strv *list);
/* The text of @o's member; "": it has none. */
static inline const char *json_text(const json_t *o, const char *key) {
        return json_string_value(json_object_get(o, key)) ?: "";
}
/* Its number; 0: it has none, or a negative one. */
static inline uint64_t json_number(const json_t *o, const char *key) {
        return (uint64_t) MAX(json_integer_value(json_object_get(o, key)), (json_int_t) 0);
}
/* Prints @o as o->json wants it; an exit status.  Consumes @value; NULL: no memory. */
int stdout_json(const Options *o, json_t *value);

/*
 * Outfile: a file that is there whole or not at all
 *
 * A regular file is written beside the one that it replaces, as .ftraced-0123456789abcdef, and
 * renamed at the end; what a symbolic link points to is replaced, not the link, if the kernel follows it
 * for us (sysctl fs.protected_symlinks).  Anything else (a device, a pipe) is written as it stands.
 * Whatever we die of, nothing is left, for a sweeper is there.
 */

typedef struct Outfile {
        int fd;
        char *path;      /* where it shall be */
        char *temporary; /* where it is; NULL: in place */
        int sweeper_fd;
} Outfile;

#define OUTFILE_INIT ((Outfile){ .fd = -EBADF, .sweeper_fd = -EBADF })

/* @mode: of a new file, less the umask.  0 or -errno. */
int outfile_open(Outfile *ret, const char *path, mode_t mode);
/* The same, as @temporary until outfile_commit(), a new file on the file system of @path;
 * whoever chooses that sees to it that nothing is left. */
int outfile_open_as(Outfile *ret, const char *path, const char *temporary, mode_t mode);
/* All is written, and it takes no descriptor until outfile_commit().  0 or -errno. */
int outfile_close(Outfile *f);
int outfile_commit(Outfile *f);
/* Closes; what was not committed is gone. */
void outfile_done(Outfile *f);
#define _cleanup_outfile_ _cleanup_(outfile_done)

/*
 * sweeper_start() - a process that does nothing but wait for our end of a pipe to be closed, as it
 * is by SIGKILL too
 * @path: a temporary file, or a directory with what is in it, which it then removes; whoever has
 *        removed or renamed it before leaves it nothing to do
 *
 * Return: our end; -errno: nobody will.
 */
int sweeper_start(const char *path);

/*
 * Progress: a line on a terminal's standard error that says how far something is
 *
 * Written over itself a few times a second, and gone at the end; nothing at all where stderr is no
 * terminal, with --quiet, and of what takes less than PROGRESS_AFTER_NS.
 */

#define PROGRESS_AFTER_NS (500 * NSEC_PER_MSEC)
#define PROGRESS_EVERY_NS (100 * NSEC_PER_MSEC)
#define PROGRESS_STEPS 4096 /* between two looks at the clock */

typedef struct Progress {
        const char *what; /* "Verifying slow-dns"; borrowed */
        bool is_shown, is_written;
        uint64_t next_ns, n_steps;
} Progress;

void progress_begin(Progress *ret, const Options *o, const char *what);
/* The line; @total: 0: not known. */
void progress_write(Progress *p, uint64_t done, uint64_t total);
/* Of many small steps the one after @done of @total has come.  @p may be NULL. */
static inline void progress_step(Progress *p, uint64_t done, uint64_t total) {
        if (p && p->is_shown && p->n_steps++ % PROGRESS_STEPS == 0)
                progress_write(p, done, total);
}
/* Erases it. */
void progress_end(Progress *p);
#define _cleanup_progress_ _cleanup_(progress_end)

/*
 * Signals: Ctrl-C and its kin as something to read
 *
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked and arrive at a descriptor,
 * so that nothing is interrupted half-way and the kernel is always put back.
 */

/* The descriptor, non-blocking, which the caller owns; or -errno. */
int signals_open(void);
/* The next one; false if there is none now. */
bool signals_next(int fd, struct signalfd_siginfo *ret);
/* True if somebody wants us to end; reads all that there is. */
bool signals_want_end(int fd);
/* Signals do again what they usually do; what came until now is forgotten. */
void signals_close(int *fd);

/*
 * Table: rows that are drawn as text, or become a list of JSON objects
 *
 * A table that is printed both ways is described once, by the function that tells the cells of a row:
 *
 *      static void tell(Row r, const Thing *thing) {
 *              row_string(r, "NAME", "name", thing->name);
 *              row_count(r, "1>CALLS", "count", thing->n);
 *              row_time(r, "?>MAX", "max_ns", thing->max_ns);
 *              row_bool(r, "cut", thing->is_cut);
 *      }
 *
 *      table_begin(&t, o->json);
 *      for (...)
 *              tell(table_row(&t), &things[i]);
 *      return table_show(&t, o, NULL);
 *
 * A title of NULL: only JSON has it; a key of NULL: only the text.  Each row tells the same
 * columns.  Marks before a title: '>' aligned to the right, '~' may be cut, '?' may be left out, and
 * a digit: columns without one stand first, then those with 1 and so on, each in the order in which
 * they are told, which is that of JSON.
 *
 * Columns are as wide as their widest cell; widths count characters, not bytes, of UTF-8.  On a
 * terminal that is too narrow columns marked '~' are cut; then those marked '?' are left out, the last first; then
 * the widest that are not numbers go on below, line by line, so that no name is cut.  None gets narrower than
 * TABLE_COLUMN_MIN.
 */

#define TABLE_COLUMN_MIN 8

/* Of functions whose own time may be that of others (calls/function.h). */
typedef struct TableMarks {
        bool has_number, has_unknown;
} TableMarks;

typedef struct Table {
        Strv titles, cells; /* with their marks; row by row */
        size_t n_rows;
        size_t max_width; /* 0: as wide as it gets */
        TableMarks marks;
        json_t *list; /* NULL: it is drawn */
        int error;
} Table;

typedef struct Row {
        Table *table; /* NULL: none, of row_of_json() */
        json_t *json; /* an object; NULL: it is drawn, or there is no memory */
        bool is_text, is_rest;
} Row;

/* --- both ways -------------------------------------------------------------------------------- */

void table_begin(Table *t, JsonMode json);
Row table_row(Table *t);
/* A row below those, only in the text, with blanks but for the columns that are told. */
Row table_rest(Table *t);
/* Text through a pager, behind what is in @above, which writes to stdout (NULL: nothing), or the
 * list as JSON; an exit status. */
int table_show(Table *t, const Options *o, Buf *above);
/* A row of no table, whose object is the caller's. */
static inline Row row_of_json(void) {
        return (Row){ .json = json_object() };
}

void row_time(Row r, const char *title, const char *key, uint64_t ns); /* figure_round() */
/* "-" and null unless @is_known. */
void row_known_time(Row r, const char *title, const char *key, bool is_known, uint64_t ns);
void row_count(Row r, const char *title, const char *key, uint64_t n);
/* NULL: null, and a blank. */
void row_string(Row r, const char *title, const char *key, const char *s);
/* "nf_conntrack_in [nf_conntrack]", quoted where a terminal wants it, and its mark; in JSON "function", "module" (a
 * string or null) and "not_hooked_below" (a number; null: not known).  NULL: "(not recorded)"; all are null. */
void row_function(Row r, const char *title, const Function *f);
/* Only in JSON: "called_from", of a function that is called from somewhere (CallWay), and "code": "call",
 * or what lies between two that were recorded. */
void row_place(Row r, const Function *f);
/* "client", "client-812"; in JSON "task" and "pid".  @pid: negative: not known. */
void row_task(Row r, const char *title, const char *comm, int64_t pid);
void row_mean(Row r, const char *title, const char *key, double ns);   /* figure_mean() */
void row_change(Row r, const char *title, const char *key, double ns); /* figure_change() */
/* "12.5%"; in JSON 0.125. */
void row_share(Row r, const char *title, const char *key, double part, double all);
/* Only in the text, whatever it is. */
void row_cell(Row r, const char *title, const char *format, ...) _printf_(3, 4);
/* Only in JSON. */
void row_int(Row r, const char *key, int64_t n);
void row_known_int(Row r, const char *key, bool is_known, int64_t n); /* or null */
void row_real(Row r, const char *key, double d);                      /* NaN: null */
void row_bool(Row r, const char *key, bool is);
/* A function with its module; NULL: null. */
void row_label(Row r, const char *key, const Function *f);
/* @value is consumed; made unless r.is_text. */
void row_json(Row r, const char *key, json_t *value);
/* In JSON "what", and its "fields"; of NULL null. */
void row_object(Row r, const Object *o);
/* A number; beyond 63 bits it is a text in hex. */
json_t *terminal_json_value(ValueNumber n);

/* Two spaces between columns, none at the end of a line; 0 or -errno. */
int table_print(const Table *t, Buf *out, bool legend);
/* "  (+12)" to stand behind a function, or "". */
#define TABLE_MARK_MAX 20
char *table_mark(TableMarks *marks, char text[static TABLE_MARK_MAX], int32_t n_unhooked);
#define TABLE_MARK(marks, n) table_mark((marks), (char[TABLE_MARK_MAX]){}, (n))
/* A line for all that @marks had, to stand below. */
void table_explain(const TableMarks *marks, Buf *out);
void table_done(Table *t);
#define _cleanup_table_ _cleanup_(table_done)

/*
 * Summary: what is said of a session in a line
 *
 * Pure functions from metadata to words; strings that came from elsewhere are
 * made fit for a terminal (base/name.h).
 */

#define SUMMARY_MAX 256
#define SUMMARY_SILENCE_MAX 1024

/* "udp_sendmsg, udp_recvmsg", or "udp_sendmsg and 12 others" beyond @max characters.  What was
 * asked for where nothing is known yet. */
char *summary_roots(char text[static SUMMARY_MAX], const SessionMeta *m, size_t max);
char *summary_brief_roots(char text[static SUMMARY_MAX], const Brief *b, size_t max);
/* "2026-11-21 09:12:04", local time; "-" for 0. */
char *summary_time(char text[static SUMMARY_MAX], uint64_t realtime_ns);
/* "229,543"; "-" if it is not known. */
char *summary_events(char text[static UNIT_TEXT_MAX], const SessionMeta *m);
/* Whether its times are drawn as the numbers that they are: trace-cmd prints those of a clock that
 * does not count nanoseconds so.  The kernel's own drawing takes them for nanoseconds.  @m may be NULL,
 * of a text. */
bool summary_has_ticks(const SessionMeta *m);
/* "1234.567890", of that many digits behind the point, or "414492044876". */
char *summary_moment(char text[static SUMMARY_MAX], const SessionMeta *m, uint64_t ns,
                     unsigned n_digits);
/* The @i-th of its clock_steps: "2026-11-21 09:12:04, the clock was set forward by 1h 0min", by the new time. */
char *summary_clock_step(char text[static SUMMARY_MAX], const SessionMeta *m, size_t i);
/* The state's name; "degraded" of a live session that something is wrong with, "limited" of one that
 * a limit ended. */
const char *summary_state(const SessionMeta *m);
const char *summary_brief_state(const Brief *b);
/* What was not hooked, and so is part of its callers' time, and the command that records it (calls/function.h);
 * nothing if there is nothing to say. */
void summary_hooked(Buf *out, const SessionMeta *m);
/* Why there are no calls (meta/brief.h), fit for a terminal. */
char *summary_silence(char text[static SUMMARY_SILENCE_MAX], const SessionMeta *m);

bool summary_is_complete(const SessionMeta *m);
/* "nothing lost", "2,646 events lost", "12 events and 1 page lost" */
char *summary_loss(char text[static SUMMARY_MAX], const SessionMeta *m);
/* What a ring has dropped and since when there is data; empty if it dropped nothing. */
char *summary_dropped(char text[static SUMMARY_MAX], const SessionMeta *m);
/* "CPU 3: 2,646 events lost from 10:42:03.120 to 10:42:03.310: the kernel's buffer was full", local
 * time.  All CPUs are not named. */
char *summary_gap(char text[static SUMMARY_MAX], const SessionMeta *m, const Gap *gap);
/* A line for each CPU that lost something, and what would have helped, "CPU 3: 2,646 events lost (buffer full);
 * --buffer-size=32M would have held them."; then the first gaps.  Where a CPU has one, that one line has both. */
void summary_loss_lines(Buf *out, const SessionMeta *m);
/* One of @m->lacks, without a full stop. */
#define SUMMARY_LACK "of the recording that was fetched: %s"
/* The size of buffer that would have held what @c lost, a power of two; 0: none up to 1 GiB, or
 * it did not lose for want of room. */
uint64_t summary_better_buffer(const SessionMeta *m, const CpuAccount *c);

/* The same, each in memory of its own until the end of the block. */
#define SUMMARY_ROOTS(m, max) summary_roots((char[SUMMARY_MAX]){}, (m), (max))
#define SUMMARY_BRIEF_ROOTS(b, max) summary_brief_roots((char[SUMMARY_MAX]){}, (b), (max))
#define SUMMARY_TIME(realtime_ns) summary_time((char[SUMMARY_MAX]){}, (realtime_ns))
#define SUMMARY_LOSS(m) summary_loss((char[SUMMARY_MAX]){}, (m))
#define SUMMARY_MOMENT(m, ns, n_digits) summary_moment((char[SUMMARY_MAX]){}, (m), (ns), (n_digits))
#define SUMMARY_CLOCK_STEP(m, i) summary_clock_step((char[SUMMARY_MAX]){}, (m), (i))
#define SUMMARY_SILENCE(m) summary_silence((char[SUMMARY_SILENCE_MAX]){}, (m))
#define SUMMARY_EVENTS(m) summary_events((char[UNIT_TEXT_MAX]){}, (m))
#define SUMMARY_GAP(m, gap) summary_gap((char[SUMMARY_MAX]){}, (m), (gap))

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Control: one control file of tracefs
 *
 * Reads a control file into a plain value and writes such a value back, so
 * that "save, override, restore" is the same code for every file.  A file's
 * last name decides its kind:
 *
 *      value    the text without its newline           tracing_on, options/..., current_tracer
 *      line     the same, which may have spaces        filter (of an event)
 *      choice   the word in brackets                   trace_clock
 *      size     the text; "7 (expanded: 1408)" is 1408 buffer_size_kb
 *      mask     hex groups, leading zeros ignored      tracing_cpumask
 *      list     words joined with '\n', "" for none    set_graph_function, set_graph_notrace
 *      pids     a list; CONTROL_PIDS_ENDED names nobody    set_ftrace_pid
 *      event pids   a list                             set_event_pid
 *      filter   a list beside which "function:command" lines live, which are left alone
 *               (":mod:" lines are list words)         set_ftrace_filter, set_ftrace_notrace
 *      switch   "0" or "1"; a '*' behind it says that a trigger has a hand in it  events/.../enable
 *      event filter   an expression; "none"; CONTROL_FILTER_REFUSED while one that was refused is
 *               shown, which acts as none does         events/.../filter
 *
 * Paths are relative to the tracefs directory.  Everything is logged in the debug domain "control".
 */

#include "base/array.h"

#define CONTROL_MAX_BYTES (16U << 20)
/* Where options/function-fork is on, processes leave set_ftrace_pid as they end; when the last one
 * has gone the file is empty, which means no process, whereas "no pid" means every process
 * (linux 6.1 kernel/trace/ftrace.c, fpid_show(); seen on 6.1). */
#define CONTROL_PIDS_ENDED "(ended)"

/* Putting this back removes it. */
#define CONTROL_FILTER_REFUSED "(refused)"

/* Begins the last word of a list of which the kernel does not show all, and then says how many those are. */
#define CONTROL_UNSHOWN "...and "

/* What the file says; the caller frees.  0 or -errno. */
int control_read(int tracefs_fd, const char *path, char **ret);
/* Adds the words of a list. */
int control_read_list(int tracefs_fd, const char *path, Strv *ret);
/* The same of one of processes, and sorted by bytes; none if all have ended. */
int control_read_tasks(int tracefs_fd, const char *path, Strv *ret);
/* How many it has that are not shown. */
size_t control_n_unshown(const Strv *words);
/* True if two values of this file mean the same; of a list what is shown, and how many there are. */
bool control_equal(const char *path, const char *a, const char *b);

/*
 * True if the file may mean something else although it says @value: processes leave set_event_pid as
 * they end where options/event-fork is on, and one that all have left is shown like none, but means
 * nobody (linux 6.1 kernel/trace/trace_events.c, event_filter_pid_sched_process_exit(), p_start()).
 */
bool control_hides(const char *path, const char *value);
/*
 * control_write() - make the file say @value
 *
 * Lists: the file is opened with O_TRUNC and takes one word for each write(), because
 * set_graph_function reads one word from each (linux 6.1 kernel/trace/ftrace.c,
 * ftrace_graph_write()) and applies a word without white space only at close, where errors are
 * lost.  A refused word leaves the file with the others, so lists of roots may only be written
 * while no function_graph is on.  Lists of processes take all words in one write(), and are better
 * off with it: each waits for all CPUs (ftrace.c, pid_write(), synchronize_rcu()).
 *
 * Return: 0, or -errno; a short write is -EIO.
 */
int control_write(int tracefs_fd, const char *path, const char *value);
/*
 * Lists of functions, with each word of which the kernel compares all it has, written one after the other: how many words
 * they have together, and how many it has taken, which another thread may look at.  All else is zero.
 */
typedef struct ControlPace {
        size_t n_words;
        _Atomic size_t n_written;
        uint64_t begin_ns, took_ns; /* since the first */
} ControlPace;
/* @pace: NULL: it may take as long as it takes.  0, CONTROL_E_SLOW: some are written, and at that pace all would have
 * taken more than a minute; -errno. */
enum { CONTROL_E_SLOW = 1 };
int control_write_paced(int tracefs_fd, const char *path, const char *value, ControlPace *pace);
/* Adds words to a list without opening it with O_TRUNC. */
int control_append(int tracefs_fd, const char *path, const Strv *words);
/* Takes words out of a list; words that are not in it are fine. */
int control_remove(int tracefs_fd, const char *path, const Strv *words);
/*
 * control_prepare() - control_append() or control_remove() up to where it acts
 * @ret_fd: control_install() it, also after a failure: what was taken before cannot be given back;
 *          negative: there is nothing to install
 *
 * The kernel compares every name with a function's word while it is written, which takes long, and acts
 * at close (linux 6.1 kernel/trace/ftrace.c, ftrace_graph_write(), ftrace_graph_release()).
 */
int control_prepare(int tracefs_fd, const char *path, const Strv *words, bool removes, int *ret_fd);
int control_install(int fd);

/*
 * control_restore() - control_write() that does what can be done
 * @skipped: words of a list that the kernel no longer takes (a function of an unloaded module;
 *           its raw address, which the kernel shows and does not read) are added
 */
int control_restore(int tracefs_fd, const char *path, const char *value, Strv *skipped);

/* What control_write() writes for @value, lists joined with '\n'; the caller frees.  0 or -ENOMEM. */
int control_text(const char *path, const char *value, char **ret);
/* What the file shows when a list is empty, without its newline; "" for the other kinds. */
const char *control_shown_empty(const char *path);
/* True if its mode lets nobody write it: whoever has no CAP_DAC_OVERRIDE is refused, whatever it does
 * with what is written. */
bool control_is_read_only(int tracefs_fd, const char *path);
/* Kinds that hold lists; their values split at '\n'. */
bool control_is_list(const char *path);
/* True if a word of a list is no name: the address of a function that has gone with its module, or those unshown. */
static inline bool control_is_address(const char *word) {
        return startswith(word, "0x") || startswith(word, CONTROL_UNSHOWN);
}

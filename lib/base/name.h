/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What may be a name, and which was meant
 *
 * Names arrive from the socket and end in paths and in tracefs files, where
 * ':' starts a command, whitespace ends a word and '!' removes one.  Whatever
 * is not expressly allowed is refused.
 */

#include <sys/types.h>

#include "base/array.h"

#define SESSION_NAME_MAX 63   /* bytes */
#define FUNCTION_NAME_MAX 255 /* bytes; KSYM_NAME_LEN is 512 in 6.1, real names stay far below */

/* [A-Za-z0-9][A-Za-z0-9._-]{0,62}, and no "..": a file name and an instance name. */
bool session_name_is_valid(const char *s);

/* A kernel function or a glob over functions: [A-Za-z0-9_.$] and the glob characters * ? [ ] ^ -,
 * at least one character that is not a glob's. */
bool function_pattern_is_valid(const char *s);
bool function_pattern_is_glob(const char *s); /* has any of * ? [ */
bool function_name_is_valid(const char *s);   /* a pattern that is no glob */

/* Whether @function is the entry of the system call @name ("write": "__x64_sys_write"), and more directly than another
 * one, for which this noted *@best; SIZE_MAX at first. */
bool syscall_is_nearer(const char *function, const char *name, size_t *best);

/* A trace clock: [a-z0-9_-]{1,31}. */
bool clock_name_is_valid(const char *s);

/* The name of a task: 1 to COMM_MAX bytes, no control characters, no '"' and no backslash. */
#define COMM_MAX 15 /* TASK_COMM_LEN - 1, linux 6.1 include/linux/sched.h */
bool comm_is_valid(const char *s);

/* The path of a control group, from wherever: no "..", no control characters. */
#define CGROUP_PATH_MAX 1023
bool cgroup_path_is_valid(const char *s);

/* @s made fit for a message: what is not plain (base/buf.h) as \xNN, cut with "..." at the size.  Returns @text. */
#define NAME_QUOTE_MAX 96
char *name_quote(char text[static NAME_QUOTE_MAX], const char *s);
/* The same, in memory of its own until the end of the block. */
#define NAME_QUOTED(s) name_quote((char[NAME_QUOTE_MAX]){}, (s))

/*
 * CPUs: "0-3,8", as the kernel prints them (linux 6.1 lib/bitmap.c, "%*pbl") and people type them
 *
 * A range is "3" or "0-3", ascending, below CPU_RANGE_END; a list is ranges with commas between.
 */
#define CPU_RANGE_END 8192

bool cpu_range_is_valid(const char *s);
void cpu_range_parse(const char *s, unsigned *ret_first, unsigned *ret_last); /* of a valid one */
/* Takes the first range off *@list: 1; 0 at the end of the string or line; -EINVAL: there is no range. */
int cpu_list_next(const char **list, unsigned *ret_first, unsigned *ret_last);
bool cpu_list_has(const char *list, unsigned cpu); /* as far as the list is one */

/* Whether a kernel that says it is "6.12.117+deb12-amd64" (NULL is fine) came before MAJOR.MINOR or not. */
typedef enum Release {
        RELEASE_UNKNOWN, /* it does not begin with two numbers */
        RELEASE_BEFORE,
        RELEASE_SINCE,
} Release;

Release release_compare(const char *release, unsigned major, unsigned minor);

/*
 * Typing errors between @a and @b: letters added, left out, changed, or two neighbours swapped
 * (Damerau and Levenshtein); more than @limit, or words beyond FUNCTION_NAME_MAX, are limit + 1.
 */
size_t typo_distance(const char *a, const char *b, size_t limit);
/* How far from @word one may be that was meant by it. */
size_t typo_limit(const char *word);
/* The one of @n words that may have been meant by @word: the nearest, or the shortest of which it is the beginning,
 * three letters at least; NULL: none. */
const char *typo_nearest(const char *word, const char *const *words, size_t n);

#define USER_TEXT_MAX 48 /* with the 0 byte; useradd(8): names have 32 bytes at most */

/* Into @ret, which is returned: "alice", or "uid 1000" of who is not among the first 4,096 of /etc/passwd: who asks a
 * directory over a network waits for it. */
const char *format_user(char ret[USER_TEXT_MAX], uid_t uid);
#define FORMAT_USER(uid) format_user((char[USER_TEXT_MAX]){}, (uid))

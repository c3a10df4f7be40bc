/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tracefs: the directory, and what this kernel can do in it
 *
 * All of the controller reaches tracefs through one directory descriptor, so
 * that a mount moved or covered later changes nothing.  `root_fd` is "/", or
 * what a test puts in its place: /proc and /sys are read relative to it.
 */

#include <limits.h>

#include "base/array.h"

#define TRACEFS_DEFAULT_PATH "/sys/kernel/tracing"

typedef struct Tracefs {
        int fd;      /* the directory, or -EBADF */
        char *path;  /* for messages; NULL while nothing is found */
        int root_fd; /* "/" */
        int error;   /* why fd is not open: -ENOENT (not mounted), -ENODATA (mounted, and empty, as
                      * since a boot in sandbox), -EPERM (locked down later), -EACCES */
        bool is_real; /* the kernel's: times of files tell who wrote them (daemon/tracefs/put-back.c) */
} Tracefs;

/*
 * tracefs_attach() - find and open it; may be repeated after a failure
 * @path: where it is; NULL: where it is mounted
 *
 * Nothing is mounted.  Opening is proved by opening current_tracer, because sandbox refuses
 * files, not the directory (linux 6.1 fs/tracefs/inode.c and kernel/trace/trace.c,
 * tracing_check_open_get_tr()); a kernel that boots locked down makes none (tracing_init_dentry()).
 * Return: 0, or -errno, which is also kept in fs->error.
 */
int tracefs_attach(Tracefs *fs, const char *path);
void tracefs_detach(Tracefs *fs);

/* A path below it, until the end of the block; parts of it are names of instances, sessions and events. */
const char *tracefs_path(char ret[static PATH_MAX], const char *format, ...) _printf_(2, 3);
#define TRACEFS_PATH(...) tracefs_path((char[PATH_MAX]){}, __VA_ARGS__)
/* Opens a file of it, O_CLOEXEC; a descriptor or -errno.  @...: as TRACEFS_PATH() has it; where it is called is where an error
 * began (base/origin.h). */
int tracefs_open(const Tracefs *fs, int flags, const char *path);
#define tracefs_open(fs, flags, ...) ORIGIN((tracefs_open) (fs, flags, TRACEFS_PATH(__VA_ARGS__)))
/* Empties the buffer of @dir ("" or "instances/x/"). */
int tracefs_empty(const Tracefs *fs, const char *dir);
/* True if this kernel's release is MAJOR.MINOR or later; false if it cannot be told. */
bool tracefs_kernel_is_since(const Tracefs *fs, unsigned major, unsigned minor);
/* Names in instances/, sorted. */
int tracefs_get_instances(const Tracefs *fs, Strv *ret);
/* Adds the ids of all threads of process @pid (decimal).  -ENOENT if there is no such process. */
int tracefs_get_threads(const Tracefs *fs, const char *pid, Strv *ret);
/* Possible CPUs, ascending, from per_cpu/; the caller frees.  -ENOENT if there is none. */
int tracefs_get_cpus(const Tracefs *fs, uint32_t **ret, size_t *ret_n);
/* A mask of those of the first @n CPUs that are in @ranges (base/name.h), as the kernel writes it, "f,ffffffff"; no ranges:
 * of all.  The caller frees; NULL without memory. */
char *tracefs_make_mask(uint32_t n, const Strv *ranges);
/* What per_cpu/cpuN/stats says (linux 6.1 kernel/trace/trace.c, tracing_stats_read()); of what it does not say *@ret
 * stays as it is. */
typedef enum TracefsStat {
        STAT_OVERRUN,
        STAT_COMMIT_OVERRUN,
        STAT_DROPPED,
        STAT_READ,
        STAT_ENTRIES, /* in the buffer */
        STAT_NOW,     /* the trace clock: in ns if it is in seconds there, or as it is */
        _STAT_N,
} TracefsStat;
int tracefs_read_stats(const Tracefs *fs, const char *dir, uint32_t cpu,
                       uint64_t ret[static _STAT_N]);
/* Of all CPUs; what none says is 0. */
int tracefs_sum_stats(const Tracefs *fs, const char *dir, uint64_t ret[static _STAT_N]);
/* That came into the buffer of @dir so far, wherever they are now; 0 if it cannot be told. */
uint64_t tracefs_count_events(const Tracefs *fs, const char *dir);
/* Adds the words of a file of it, between any of @separators. */
int tracefs_read_words(const Tracefs *fs, const char *path, const char *separators, Strv *ret);
/* Whether available_tracers below @dir ("" or "instances/x/") lists @tracer; -errno. */
int tracefs_has_tracer(const Tracefs *fs, const char *dir, const char *tracer);
/* How the pages of an instance are laid out; of the top-level buffer ("") where instances do not say (linux before 6.8).
 * The caller frees.  0 or -errno. */
int tracefs_read_header_page(const Tracefs *fs, const char *dir, char **ret, size_t *ret_n);
/* The size of a page, header and data. */
int tracefs_read_page_bytes(const Tracefs *fs, const char *dir, uint32_t *ret);
/* Directories ("" or "instances/x/") whose current_tracer is @tracer; NULL: any but nop. */
int tracefs_find_users(const Tracefs *fs, const char *tracer, Strv *ret);
int tracefs_find_graph_users(const Tracefs *fs, Strv *ret); /* function_graph */
/* "trace-cmd (pid 812)" for each other process that has a trace_pipe or trace_pipe_raw of @dir
 * open, as far as /proc tells. */
int tracefs_find_pipe_holders(const Tracefs *fs, const char *dir, Strv *ret);
/* "/sys/kernel/tracing/instances/x" for "instances/x/": for messages.  The caller frees. */
char *tracefs_where(const Tracefs *fs, const char *dir);

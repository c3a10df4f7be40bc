/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Black box: the tracing instance whose buffer survives a warm reboot
 *
 * The kernel's command line makes it, in memory that is set aside, and nobody can make or remove one later:
 *
 *      reserve_mem=16M:4096:trace trace_instance=boot_mapped^traceoff@trace
 *
 * What is in it after a reboot are the pages of the kernel before, with that kernel's addresses; text that the
 * kernel prints of them may be translated, trace_pipe_raw is not.  Its size is the memory's, for each possible
 * CPU the same part; buffer_size_kb refuses to be written (-EBUSY).  A kernel that finds there what it does not
 * understand begins with an empty buffer.
 * Source: linux 6.12 Documentation/trace/debugging.rst, kernel/trace/trace.c (enable_instances()),
 * kernel/trace/ring_buffer.c (rb_range_meta_init()).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "daemon/tracefs/tracefs.h"
#include "wire/refusal.h"

typedef struct BlackBox {
        char *name;          /* of the instance */
        uint64_t cpu_bytes;  /* of its buffer, for each CPU */
        uint32_t page_bytes; /* sub-buffer size */
        uint32_t *cpus;      /* possible ones, ascending */
        uint64_t *n_events;  /* in the buffer of each */
        size_t n_cpus;
} BlackBox;

/*
 * black_box_find() - the first that the command line names and that is there
 * @ret: black_box_done() it
 *
 * A copy that the kernel made of one ("trace_instance=backup=boot_mapped") is none.  Reads only.
 * Return: 0, BLACK_BOX_E_NONE, -errno.
 */
enum { BLACK_BOX_E_NONE = 1 };
int black_box_find(const Tracefs *fs, BlackBox *ret);
void black_box_done(BlackBox *b);
#define _cleanup_black_box_ _cleanup_(black_box_done)
uint64_t black_box_n_events(const BlackBox *b); /* of all CPUs */
/* Its trace_pipe_raw, not blocking; the caller owns it; -errno. */
int black_box_open_raw(const BlackBox *b, const Tracefs *fs, uint32_t cpu);

/*
 * black_box_admit() - whether it may be recorded into
 * @ours: directories ("instances/x/") of live sessions
 *
 * Not while somebody records there, nor, without @force, while it holds what nobody has rescued.
 * Return: 0, REFUSED, -errno.
 */
int black_box_admit(const Tracefs *fs, const Strv *ours, bool force, Refusal *refusal);

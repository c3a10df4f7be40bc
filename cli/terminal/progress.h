/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Progress: a line on a terminal's standard error that says how far something is
 *
 * Written over itself a few times a second, and gone at the end; nothing at all where stderr is no
 * terminal, with --quiet, and of what takes less than PROGRESS_AFTER_NS.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "cli/options/options.h"

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
/* "Verifying slow-dns: 42 % [#####.......]", of at most @columns; returns @text. */
#define PROGRESS_TEXT_MAX 160
char *progress_format(char text[static PROGRESS_TEXT_MAX], const char *what, uint64_t done,
                      uint64_t total, size_t columns);

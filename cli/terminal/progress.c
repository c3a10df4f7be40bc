/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The clock is looked at once for thousands of steps, and the line written when it is due. */

#include "base/io.h"
#include "cli/terminal/terminal.h"

void progress_begin(Progress *ret, const Options *o, const char *what) {
        *ret = (Progress){ .what = what,
                           .is_shown = isatty(STDERR_FILENO) && !o->quiet,
                           .next_ns = now_ns(CLOCK_MONOTONIC) + PROGRESS_AFTER_NS };
}

void progress_write(Progress *p, uint64_t done, uint64_t total) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (!p->is_shown || now < p->next_ns)
                return;
        p->next_ns = now + PROGRESS_EVERY_NS;
        if (total == 0)
                (void) fprintf(stderr, "\r\033[K%s: %s", p->what, FORMAT_COUNT(done));
        else
                (void) fprintf(stderr, "\r\033[K%s: %u %%", p->what,
                               (unsigned) ((double) MIN(done, total) * 100 / (double) total));
        p->is_written = true;
}

void progress_end(Progress *p) {
        if (p->is_written)
                (void) fprintf(stderr, "\r\033[K");
        p->is_written = p->is_shown = false;
}

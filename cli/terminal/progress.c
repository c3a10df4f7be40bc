/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The clock is looked at once for thousands of steps, and the line written when it is due. */

#include <sys/ioctl.h>

#include "base/io.h"
#include "base/unit.h"
#include "cli/terminal/terminal.h"

#define BAR_MAX 30

void progress_begin(Progress *ret, const Options *o, const char *what) {
        *ret = (Progress){ .what = what,
                           .is_shown = isatty(STDERR_FILENO) && !o->quiet,
                           .next_ns = now_ns(CLOCK_MONOTONIC) + PROGRESS_AFTER_NS };
}

char *progress_format(char text[static PROGRESS_TEXT_MAX], const char *what, uint64_t done,
                      uint64_t total, size_t columns) {
        unsigned percent, n_bar;
        int n;

        columns = MIN(columns, (size_t) PROGRESS_TEXT_MAX - 1);
        if (total == 0)
                n = snprintf(text, PROGRESS_TEXT_MAX, "%s: %s", what, FORMAT_COUNT(done));
        else {
                done = MIN(done, total);
                percent = (unsigned) ((double) done * 100 / (double) total);
                n = snprintf(text, PROGRESS_TEXT_MAX, "%s: %u %%", what, percent);
                n_bar = (size_t) n + 4 < columns
                                ? (unsigned) MIN(columns - (size_t) n - 4, (size_t) BAR_MAX)
                                : 0;
                if (n > 0 && n_bar > 8) {
                        unsigned n_done = n_bar * percent / 100;

                        n += snprintf(text + n, PROGRESS_TEXT_MAX - (size_t) n, " [%.*s%.*s]",
                                      (int) n_done, "##############################",
                                      (int) (n_bar - n_done), "..............................");
                }
        }
        if (n > 0 && (size_t) n > columns)
                text[columns] = 0;
        return text;
}

void progress_write(Progress *p, uint64_t done, uint64_t total) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        char text[PROGRESS_TEXT_MAX];
        struct winsize w = {};

        if (!p->is_shown || now < p->next_ns)
                return;
        p->next_ns = now + PROGRESS_EVERY_NS;
        (void) ioctl(STDERR_FILENO, TIOCGWINSZ, &w);
        /* A line that is full would wrap. */
        (void) fprintf(
                stderr, "\r\033[K%s",
                progress_format(text, p->what, done, total, w.ws_col > 1 ? w.ws_col - 1U : 79));
        p->is_written = true;
}

void progress_end(Progress *p) {
        if (p->is_written)
                (void) fprintf(stderr, "\r\033[K");
        p->is_written = p->is_shown = false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A reader goes on behind what is damaged, so whoever shows the rest must say what is missing. */

#include <stdio.h>

#include "cli/damage.h"
#include "cli/sentence.h"

static int describe_cpu(Strv *ret, uint32_t cpu, const CursorCount *c, bool live) {
        const struct {
                uint64_t n;
                const char *one, *many, *what;
        } checks[] = {
                { c->n_segments_missing, "segment", "segments", "missing from the sequence" },
                { c->n_segments_damaged, "segment", "segments", "with a damaged header, skipped" },
                { live ? 0 : c->n_unclosed, "segment", "segments", "never closed by the daemon" },
                { live ? 0 : c->n_torn_bytes, "byte", "bytes", "behind the last whole page" },
                { c->n_pages_torn, "page", "pages", "with an impossible length, skipped" },
                { c->n_pages_empty, "page", "pages", "never written" },
                { c->n_pages_damaged, "page", "pages", "damaged inside, skipped from there" },
                { c->n_pages_backwards, "page", "pages", "older than the page before" },
                { c->n_records_short, "record", "records", "too short for the format" },
        };
        char where[32];

        (void) snprintf(where, sizeof(where), "CPU %u: ", cpu);
        for (size_t i = 0; i < ELEMENTSOF(checks); i++) {
                int r = sentence_add_count(ret, where, checks[i].n, checks[i].one, checks[i].many,
                                           checks[i].what);

                if (r < 0)
                        return r;
        }
        return 0;
}

int damage_describe(const Stream *stream, bool live, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < stream_n_cpus(stream); i++) {
                const Cursor *cursor = stream_cursor(stream, i);
                CursorCount c;

                cursor_count(cursor, &c);
                r = describe_cpu(ret, cursor_cpu(cursor), &c, live);
        }
        return r;
}

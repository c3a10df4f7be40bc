/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Newest first is what a person looks for, so that is the order: by start, then by name. */

#include <inttypes.h>

#include "base/unit.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

#define LEGEND_LINES 5    /* with an empty one, as wide as most terminals are */
#define N_ON_TERMINAL 100 /* unless said otherwise */

/* "2,646", "12 + 1 pages", "1 gap": what is lost without being counted is not nothing. */
static void add_lost(Row r, const Brief *b) {
        if (b->unreadable)
                row_cell(r, ">LOST", "-");
        else if (b->events_lost == 0 && b->pages_lost == 0 && b->n_gaps > 0)
                row_cell(r, ">LOST", "%" PRIu64 " gap%s", b->n_gaps, b->n_gaps == 1 ? "" : "s");
        else if (b->pages_lost > 0)
                row_cell(r, ">LOST", "%s + %" PRIu64 " pages", FORMAT_COUNT(b->events_lost),
                         b->pages_lost);
        else
                row_cell(r, ">LOST", "%s", FORMAT_COUNT(b->events_lost));
}

static void add_row(Row r, const Brief *b) {
        row_cell(r, "NAME", "%s%s", b->name, b->pinned ? " *" : "");
        row_cell(r, "STATE", "%s", summary_brief_state(b));
        row_cell(r, "?~ROOTS", "%s", SUMMARY_BRIEF_ROOTS(b, 32));
        row_cell(r, "STARTED", "%s", SUMMARY_TIME(b->start_ns));
        row_cell(r, "?>LENGTH", "%s", b->start_ns == 0 ? "-" : FORMAT_DURATION(b->length_ns));
        row_cell(r, "?>EVENTS", "%s",
                 b->unreadable || (b->n_events == 0 && b->n_bytes > 0) ? "-"
                                                                       : FORMAT_COUNT(b->n_events));
        row_cell(r, "?>SIZE", "%s", b->unreadable ? "-" : FORMAT_BYTES(b->n_bytes));
        row_cell(r, "?>ON DISK", "%s",
                 b->disk_bytes == UINT64_MAX ? "-" : FORMAT_BYTES(b->disk_bytes));
        add_lost(r, b);
}

/* What is still to begin is newer than all. */
static uint64_t beginning_of(const Brief *b) {
        return b->start_ns == 0 && session_state_is_live(b->state) ? UINT64_MAX : b->start_ns;
}

static int newest_first(const void *a, const void *b) {
        const Brief *x = a, *y = b;

        return CMP(beginning_of(y), beginning_of(x)) ?: strcmp(x->name, y->name);
}

/* A table of all that can be understood; the rest is said. */
static int add_rows(Table *t, json_t *briefs) {
        size_t i, n = 0, n_max = json_array_size(briefs);
        Brief *rows = calloc(n_max + 1, sizeof(*rows));
        int r = rows ? 0 : -ENOMEM;
        json_t *brief;

        json_array_foreach (briefs, i, brief) {
                const char *name = json_string_value(json_object_get(brief, "name"));
                const char *field = "";

                if (r < 0)
                        break;
                r = brief_from_json(&rows[n], brief, &field);
                if (r == 0)
                        n++;
                else if (r > 0)
                        log_warning("session \"%s\" is described in a way that is not valid "
                                    "(member \"%s\").",
                                    name ?: "", field);
        }
        SORT(rows, n, newest_first);
        for (i = 0; i < n; i++) {
                if (r >= 0)
                        add_row(table_row(t), &rows[i]);
                brief_done(&rows[i]);
        }
        free(rows);
        return MIN(r, 0);
}

/* The last lines: what is not shown, and what goes next. */
static void add_legend(Buf *out, const json_t *reply, size_t n_rows) {
        json_int_t n = json_integer_value(json_object_get(reply, "total"));
        bool is_part = n > 0 && n_rows < (size_t) n,
             has_outlook = json_object_get(reply, "retention");

        if (is_part || has_outlook)
                buf_adds(out, "\n");
        if (has_outlook)
                retention_add_line(out, reply, "");
        if (is_part)
                buf_printf(out,
                           "The newest %s of %s sessions; all of them: ftracectl list -n all\n",
                           FORMAT_COUNT(n_rows), FORMAT_COUNT((uint64_t) n));
}

int verb_list(const Options *o) {
        _cleanup_table_ Table t = {};
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *reply = NULL;
        /* Whoever reads a table on a terminal wants the newest, and is told of the others; programs that read one
         * want it whole, 0. */
        bool is_looked_at = o->json == JSON_OFF && !o->no_legend && isatty(STDOUT_FILENO);
        uint64_t n_newest = o->limit == UINT64_MAX ? 0 : o->limit ?: is_looked_at ? N_ON_TERMINAL : 0;
        int status = source_list(&reply, o, n_newest, o->json == JSON_OFF), r;
        json_t *briefs, *sessions = json_object_get(reply, "sessions");

        if (status != STATUS_OK && status != STATUS_INCOMPLETE)
                return status;
        if (o->json != JSON_OFF) {
                retention_mark(sessions, reply);
                return stdout_json(o, json_incref(sessions)) ?: status;
        }
        briefs = json_object_get(reply, "briefs");
        if (json_array_size(briefs) == 0 && status == STATUS_OK) {
                talk(o, "No sessions. Record with: ftracectl run FUNCTION -- COMMAND");
                return STATUS_OK;
        }
        table_begin(&t, JSON_OFF);
        r = add_rows(&t, briefs);
        pager_open(&pager, o, t.n_rows + (o->no_legend ? 0 : 1 + LEGEND_LINES));
        if (r == 0)
                r = table_print(&t, &out, !o->no_legend);
        if (!o->no_legend)
                add_legend(&out, reply, json_array_size(briefs));
        if (r == 0)
                r = buf_flush(&out);
        return stdout_status(pager_end(&pager, r)) ?: status;
}

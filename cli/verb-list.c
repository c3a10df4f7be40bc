/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Newest first is what a person looks for, so that is the order: by start, then by name. */

#include <inttypes.h>

#include "base/log.h"
#include "base/unit.h"
#include "cli/source.h"
#include "cli/status.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verb.h"

/* @disk_bytes: UINT64_MAX: not known */
static void add_row(Table *t, const SessionMeta *m, uint64_t disk_bytes) {
        char roots[SUMMARY_MAX], started[SUMMARY_MAX], lost[UNIT_TEXT_MAX];
        char length[UNIT_TEXT_MAX], events[UNIT_TEXT_MAX], size[UNIT_TEXT_MAX];
        uint64_t n_pages_lost = session_meta_pages_lost(m);

        table_add(t, "%s%s", m->name, m->pinned ? " *" : "");
        table_add(t, "%s", summary_state(m));
        table_add(t, "%s", summary_roots(roots, m, 32));
        table_add(t, "%s", summary_time(started, m->start.realtime_ns));
        table_add(t, "%s", format_duration(length, session_meta_length_ns(m)));
        table_add(t, "%s", summary_events(events, m));
        table_add(t, "%s", format_bytes(size, session_meta_n_bytes(m)));
        table_add(t, "%s", disk_bytes == UINT64_MAX ? "-" : format_bytes(size, disk_bytes));
        format_count(lost, session_meta_events_lost(m));
        if (n_pages_lost > 0)
                table_add(t, "%s + %" PRIu64 " pages", lost, n_pages_lost);
        else
                table_add(t, "%s", lost);
}

typedef struct Row {
        SessionMeta *meta;
        uint64_t disk_bytes;
} Row;

static int newest_first(const void *a, const void *b) {
        const SessionMeta *x = ((const Row *) a)->meta, *y = ((const Row *) b)->meta;

        if (x->start.realtime_ns != y->start.realtime_ns)
                return x->start.realtime_ns < y->start.realtime_ns ? 1 : -1;
        return strcmp(x->name, y->name);
}

/* A table of all that can be understood; the rest is said. */
static int add_rows(Table *t, json_t *sessions) {
        size_t i, n = 0, n_max = json_array_size(sessions);
        Row *rows = calloc(n_max + 1, sizeof(*rows));
        json_t *session;
        int r = rows ? 0 : -ENOMEM;

        json_array_foreach (sessions, i, session) {
                const char *name = json_string_value(json_object_get(session, "name"));
                json_t *disk_bytes = json_object_get(session, "disk_bytes");
                const char *field = "";

                if (r < 0)
                        break;
                rows[n].disk_bytes = json_is_integer(disk_bytes)
                                             ? (uint64_t) json_integer_value(disk_bytes)
                                             : UINT64_MAX;
                r = session_meta_from_json(&rows[n].meta, session, &field);
                if (r == 0)
                        n++;
                else if (r > 0)
                        log_warning("session \"%s\" is described in a way that is not valid "
                                    "(member \"%s\").",
                                    name ?: "", field);
        }
        if (r >= 0 && n > 0)
                qsort(rows, n, sizeof(*rows), newest_first);
        for (i = 0; i < n; i++) {
                if (r >= 0)
                        add_row(t, rows[i].meta, rows[i].disk_bytes);
                session_meta_free(rows[i].meta);
        }
        free(rows);
        return MIN(r, 0);
}

int verb_list(const Options *o) {
        _cleanup_table_ Table t = {};
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *sessions = NULL;
        int r, status;

        status = source_list(&sessions, o);
        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(sessions));
        if (json_array_size(sessions) == 0) {
                talk(o, "No sessions. Record with: ftracectl run FUNCTION -- COMMAND");
                return STATUS_OK;
        }
        table_init(&t, "NAME|STATE|ROOTS|STARTED|>LENGTH|>EVENTS|>SIZE|>ON DISK|>LOST");
        r = add_rows(&t, sessions);
        pager_open(&pager, o, table_n_rows(&t) + !o->no_legend);
        if (r == 0)
                r = table_print(&t, &out, !o->no_legend);
        if (r == 0)
                r = buf_flush(&out);
        return stdout_status(pager_end(&pager, r));
}

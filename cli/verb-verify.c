/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whether a recording can be relied on: what it lacks is named, and makes the exit status 6. */

#include <inttypes.h>

#include "base/log.h"
#include "base/unit.h"
#include "cli/source.h"
#include "cli/status.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "cli/verify.h"

static json_t *result_json(const SessionMeta *m, const VerifyResult *v) {
        json_t *problems = json_array();

        for (size_t i = 0; i < v->problems.n; i++)
                (void) json_array_append_new(problems, json_string(v->problems.items[i]));
        return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "name", m->name,
                         "complete", v->complete, "trees", (json_int_t) v->census.n_trees,
                         "trees_complete", (json_int_t) v->census.n_trees_complete, "entries",
                         (json_int_t) v->census.n_entries, "exits", (json_int_t) v->census.n_exits,
                         "events_lost", (json_int_t) session_meta_events_lost(m), "pages_lost",
                         (json_int_t) session_meta_pages_lost(m), "pages_dropped",
                         (json_int_t) session_meta_pages_dropped(m), "gaps", gaps_to_json(&m->gaps),
                         "problems", problems);
}

static void describe(Buf *out, const SessionMeta *m, const VerifyResult *v) {
        char trees[UNIT_TEXT_MAX], entries[UNIT_TEXT_MAX], exits[UNIT_TEXT_MAX];
        char dropped[SUMMARY_MAX];

        buf_printf(out, "%s: %s, %s trees, %s entries, %s exits.\n", m->name,
                   v->complete ? "complete" : "incomplete", format_count(trees, v->census.n_trees),
                   format_count(entries, v->census.n_entries),
                   format_count(exits, v->census.n_exits));
        if (*summary_dropped(dropped, m))
                buf_printf(out, "  %s.\n", dropped);
        for (size_t i = 0; i < v->problems.n; i++)
                buf_printf(out, "  %s.\n", v->problems.items[i]);
}

int verb_verify(const Options *o) {
        _cleanup_(source_freep) Source *s = NULL;
        _cleanup_verify_result_ VerifyResult v = {};
        _cleanup_buf_ Buf out = BUF_TO_FD(STDOUT_FILENO);
        int r, status;

        status = source_open(&s, o, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        r = verify_session(s->dir, s->meta, &v);
        if (r < 0) {
                log_error_errno(r, "Failed to verify session \"%s\": %m", s->meta->name);
                return STATUS_FAILED;
        }
        if (o->json != JSON_OFF)
                status = stdout_json(o, result_json(s->meta, &v));
        else {
                describe(&out, s->meta, &v);
                status = stdout_end(&out);
        }
        return status ?: v.complete ? STATUS_OK : STATUS_INCOMPLETE;
}

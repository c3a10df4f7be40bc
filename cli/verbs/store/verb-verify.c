/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whether a recording can be relied on: what it lacks is named, and makes the exit status 6. */

#include "base/unit.h"
#include "cli/files/verify.h"
#include "cli/options/verb.h"
#include "cli/source/source.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"

static json_t *result_json(const SessionMeta *m, const VerifyResult *v) {
        return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
                         "name", m->name, "complete", v->complete, "hooked",
                         (json_int_t) m->n_hooked, "known", (json_int_t) m->n_known, "trees",
                         (json_int_t) v->census.n_trees, "trees_complete",
                         (json_int_t) v->census.n_trees_complete, "entries",
                         (json_int_t) v->census.n_entries, "exits", (json_int_t) v->census.n_exits,
                         "events_lost", (json_int_t) session_meta_events_lost(m), "pages_lost",
                         (json_int_t) session_meta_pages_lost(m), "pages_dropped",
                         (json_int_t) session_meta_pages_dropped(m), "gaps",
                         json_list_new(&gap_table, &m->gaps), "problems",
                         terminal_json_list(&v->problems), "notes", terminal_json_list(&v->notes));
}

static void describe(Buf *out, const SessionMeta *m, const VerifyResult *v) {
        char dropped[SUMMARY_MAX];

        buf_printf(out, "%s: %s", m->name, v->complete ? "complete" : "incomplete");
        if (v->complete)
                unhooked_describe_scope(out, m);
        buf_adds(out, ", ");
        if (m->roots.n > 0) /* a file does not say which they were */
                buf_printf(out, "%s trees, ", FORMAT_COUNT(v->census.n_trees));
        buf_printf(out, "%s entries, %s exits.\n", FORMAT_COUNT(v->census.n_entries),
                   FORMAT_COUNT(v->census.n_exits));
        if (*summary_dropped(dropped, m))
                buf_printf(out, "  %s.\n", dropped);
        for (size_t i = 0; i < v->problems.n; i++)
                buf_printf(out, "  %s.\n", v->problems.items[i]);
        for (size_t i = 0; i < v->notes.n; i++)
                buf_printf(out, "  Note: %s.\n", v->notes.items[i]);
}

static json_t *deep_json(const VerifyBlocks *c) {
        return json_pack("{s:I, s:I, s:I, s:I, s:I}", "segments", (json_int_t) c->n_segments,
                         "segments_sealed", (json_int_t) c->n_sealed, "blocks",
                         (json_int_t) c->n_blocks, "blocks_good", (json_int_t) c->n_blocks_good,
                         "pages", (json_int_t) c->n_pages);
}

static void describe_deep(Buf *out, const VerifyBlocks *c) {
        buf_printf(out, "  %s of %s blocks decode to the %s pages that they were made of.\n",
                   FORMAT_COUNT(c->n_blocks_good), FORMAT_COUNT(c->n_blocks),
                   FORMAT_COUNT(c->n_pages));
        if (c->n_segments > c->n_sealed)
                buf_printf(out, "  %s of %s files are not sealed and have no checksums.\n",
                           FORMAT_COUNT(c->n_segments - c->n_sealed), FORMAT_COUNT(c->n_segments));
}

/* Adds what the deeper look has found, and the other has not. */
static int verify_deep(const SessionDir *dir, Progress *progress, VerifyResult *v,
                       VerifyBlocks *c) {
        int r = verify_blocks(dir, progress, c);

        for (size_t i = 0; r >= 0 && i < c->damages.n; i++)
                r = strv_add_new(&v->problems, c->damages.items[i]);
        v->complete = v->complete && c->damages.n == 0;
        return r;
}

int verb_verify(const Options *o) {
        _cleanup_(source_freep) Source *s = NULL;
        _cleanup_verify_result_ VerifyResult v = {};
        _cleanup_verify_blocks_ VerifyBlocks deep = {};
        Progress progress;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_t *json;
        int status = source_open(&s, o, o->words.items[0]), r;

        if (status != STATUS_OK)
                return status;
        progress_begin(&progress, o, "Verifying");
        r = verify_session(s->dir, s->meta, &progress, &v);
        if (r >= 0 && o->deep)
                r = verify_deep(s->dir, &progress, &v, &deep);
        progress_end(&progress);
        if (r < 0)
                return failed_errno(r, "Failed to verify session \"%s\": %m", s->meta->name);
        if (o->json != JSON_OFF) {
                json = result_json(s->meta, &v);
                if (json && o->deep)
                        (void) json_object_set_new(json, "deep", deep_json(&deep));
                status = stdout_json(o, json);
        } else {
                describe(&out, s->meta, &v);
                if (o->deep)
                        describe_deep(&out, &deep);
                status = stdout_end(&out);
        }
        return status ?: v.complete ? STATUS_OK : STATUS_INCOMPLETE;
}

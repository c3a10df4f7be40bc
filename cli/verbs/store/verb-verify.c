/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whether a recording can be relied on: what it lacks is named, and makes the exit status 6.  Of a text there are
 * only lines to go by: how many there are of each kind, and which do not fit.
 */

#include <inttypes.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/files/files.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

/* --- texts ------------------------------------------------------------------------------------ */

/* What is counted of a text: its key in JSON, and its name in the table; and keys of remarks, and whether a
 * recording that has one lacks something. */
#define COUNT(member) offsetof(TextCount, member)
static const struct {
        const char *key, *name;
        size_t offset;
} counts[] = {
        { "lines", "lines", COUNT(n_lines) },
        { "bytes", "bytes", COUNT(n_bytes) },
        { "open", "calls that open a brace", COUNT(n_open) },
        { "leaf", "calls in one line", COUNT(n_leaf) },
        { "close", "returns", COUNT(n_close) },
        { "comments", "events of other kinds", COUNT(n_comments) },
        { "switches", "changes of tasks", COUNT(n_switches) },
        { "markers", "markers of interrupts", COUNT(n_markers) },
        { "headers", "headings", COUNT(n_headers) },
        { "overruns", "overruns", COUNT(n_overruns) },
        { "events_lost", "events lost", COUNT(n_lost) },
        { "traces", "traces", COUNT(n_traces) },
        { "lines_elsewhere", "lines of traces that were not read", COUNT(n_elsewhere) },
        { "roots", "outermost calls", COUNT(n_roots) },
        { "calls_cut", "calls cut off by the end, or a gap", COUNT(n_cut_calls) },
};
static const struct {
        const char *key;
        bool is_lack;
} remarks[TEXT_N_REMARKS] = {
        [TEXT_NOT_TRACE] = { "not_trace", false },
        [TEXT_DAMAGED] = { "damaged", true },
        [TEXT_SIBLING] = { "late_returns", false },
        [TEXT_RETURN_CUT] = { "returns_cut", false },
        [TEXT_RETURN_UNMATCHED] = { "returns_unmatched", true },
        [TEXT_CALL_UNMATCHED] = { "calls_unmatched", true },
        [TEXT_LEVEL_MISSING] = { "levels_missing", true },
        [TEXT_TASK_MISSED] = { "task_changes_missed", false },
        [TEXT_TIME_IMPOSSIBLE] = { "times_impossible", true },
        [TEXT_COLUMNS_CHANGED] = { "columns_changed", false },
        [TEXT_LOSS] = { "losses", true },
        [TEXT_GAP] = { "gaps", true },
        [TEXT_ANOTHER] = { "other_traces", false },
};

static bool is_complete(const TextCount *c) {
        for (size_t i = 0; i < TEXT_N_REMARKS; i++)
                if (remarks[i].is_lack && c->n_remarks[i] > 0)
                        return false;
        return true;
}

static void tell_count(Table *t, json_t *json, const char *key, const char *name, uint64_t n) {
        (void) json_object_set_new(json, key, json_integer((json_int_t) n));
        if (n > 0) {
                Row r = table_row(t);

                row_cell(r, ">COUNT", "%s", FORMAT_COUNT(n));
                row_cell(r, "WHAT", "%s", name);
        }
}

static void tell_notes(Buf *out, json_t *list, const TextSource *s) {
        size_t n;
        const TextNote *notes = text_trace_notes(s->trace, &n);

        for (size_t i = 0; i < n; i++) {
                (void) json_array_append_new(list, json_pack("{s:I, s:s, s:s}", "line",
                                                             (json_int_t) notes[i].line, "kind",
                                                             remarks[notes[i].remark].key, "text",
                                                             NAME_QUOTED(notes[i].text)));
                buf_printf(out, "%s:%" PRIu64 ": %s: %s\n", s->name, notes[i].line,
                           text_remark_name(notes[i].remark), NAME_QUOTED(notes[i].text));
        }
}

static int tell_text(const Options *o, const TextSource *s) {
        const TextCount *c = text_trace_count(s->trace);
        json_auto_t *json = json_pack("{s:s, s:b}", "name", s->name, "complete", is_complete(c));
        json_t *list = json_array();
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO), notes = BUF_INIT;
        _cleanup_table_ Table t = {};
        uint64_t n_remarks = 0;

        table_begin(&t, JSON_OFF);
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                tell_count(
                        &t, json, counts[i].key, counts[i].name,
                        *(const uint64_t *) (const void *) ((const char *) c + counts[i].offset));
        tell_count(&t, json, "functions", "functions", text_trace_n_functions(s->trace));
        tell_count(&t, json, "max_depth", "deepest level", (uint64_t) c->max_depth);
        for (size_t i = 0; i < TEXT_N_REMARKS; i++) {
                (void) json_object_set_new(json, remarks[i].key,
                                           json_integer((json_int_t) c->n_remarks[i]));
                n_remarks += c->n_remarks[i];
        }
        tell_notes(&notes, list, s);
        n_remarks -= json_array_size(list);
        (void) json_object_set_new(json, "anomalies", list);
        (void) json_object_set_new(
                json, "format",
                json_string(text_kind_form(text_trace_layout(s->trace)->kind)->key));
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(json));
        buf_printf(&out, "%s: %s.\n", s->name, is_complete(c) ? "complete" : "incomplete");
        if (table_print(&t, &out, !o->no_legend) < 0)
                out.error = out.error ?: -ENOMEM;
        buf_add(&out, notes.data, notes.n_data);
        if (n_remarks > 0)
                buf_printf(&out, "And %" PRIu64 " lines more.\n", n_remarks);
        return stdout_folded(&out);
}

static int verify_text(Reading *reading, const Options *o) {
        const TextSource *s = &reading->text;
        Step step;
        int r;

        text_trace_keep_going(s->trace, true);
        do
                r = reading_next(reading, &step);
        while (r > 0);
        if (r < 0)
                return -r;
        return tell_text(o, s)
                       ?: is_complete(text_trace_count(s->trace)) ? STATUS_OK
                                                                  : STATUS_INCOMPLETE;
}

/* --- recordings ------------------------------------------------------------------------------- */

static json_t *result_json(const SessionMeta *m, const VerifyResult *v) {
        return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
                         "name", m->name, "complete", v->complete, "hooked",
                         (json_int_t) m->n_hooked, "known", (json_int_t) m->n_known, "trees",
                         (json_int_t) v->census.n_trees, "trees_complete",
                         (json_int_t) v->census.n_trees_complete, "entries",
                         (json_int_t) v->census.n_entries, "exits", (json_int_t) v->census.n_exits,
                         "events_lost", (json_int_t) session_meta_events_lost(m), "pages_lost",
                         (json_int_t) session_meta_total(m).pages_lost, "pages_dropped",
                         (json_int_t) session_meta_total(m).pages_dropped, "gaps",
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

static int verify_source(const Source *s, const Options *o) {
        _cleanup_verify_result_ VerifyResult v = {};
        _cleanup_verify_blocks_ VerifyBlocks deep = {};
        Progress progress;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_t *json;
        int r, status;

        progress_begin(&progress, o, "Verifying");
        r = verify_session(s->dir, s->meta, &progress, &v);
        if (r >= 0 && o->deep)
                r = verify_blocks(s->dir, &progress, &deep);
        for (size_t i = 0; r >= 0 && i < deep.damages.n; i++)
                r = strv_add_new(&v.problems, deep.damages.items[i]);
        v.complete = v.complete && deep.damages.n == 0;
        progress_end(&progress);
        if (r < 0)
                return failed_errno(r, "Failed to verify session \"%s\": %m", s->meta->name);
        if (o->json != JSON_OFF) {
                json = result_json(s->meta, &v);
                if (json && o->deep)
                        (void) json_object_set_new(
                                json, "deep",
                                json_pack("{s:I, s:I, s:I, s:I, s:I}", "segments",
                                          (json_int_t) deep.n_segments, "segments_sealed",
                                          (json_int_t) deep.n_sealed, "blocks",
                                          (json_int_t) deep.n_blocks, "blocks_good",
                                          (json_int_t) deep.n_blocks_good, "pages",
                                          (json_int_t) deep.n_pages));
                status = stdout_json(o, json);
        } else {
                describe(&out, s->meta, &v);
                if (o->deep)
                        buf_printf(&out,
                                   "  %s of %s blocks decode to the %s pages that they were made "
                                   "of.\n",
                                   FORMAT_COUNT(deep.n_blocks_good), FORMAT_COUNT(deep.n_blocks),
                                   FORMAT_COUNT(deep.n_pages));
                if (deep.n_segments > deep.n_sealed)
                        buf_printf(&out, "  %s of %s files are not sealed and have no checksums.\n",
                                   FORMAT_COUNT(deep.n_segments - deep.n_sealed),
                                   FORMAT_COUNT(deep.n_segments));
                status = stdout_folded(&out);
        }
        return status ?: v.complete ? STATUS_OK : STATUS_INCOMPLETE;
}

int verb_verify(const Options *o) {
        _cleanup_reading_ Reading reading = {};
        int status = reading_find(&reading, o, o->words.items[0]);

        if (status != STATUS_OK)
                return status;
        return reading.text.trace ? verify_text(&reading, o) : verify_source(reading.source, o);
}

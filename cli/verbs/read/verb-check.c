/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What there is of each kind, and what does not fit: of a text by its lines, of a session by its
 * records. */

#include <inttypes.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/files/verify.h"
#include "cli/options/verb.h"
#include "cli/source/reading.h"
#include "cli/source/source.h"
#include "cli/source/text-source.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"

typedef struct Kind {
        const char *key; /* in JSON */
        const char *name;
        uint64_t n;
} Kind;

/* Keys of remarks, and whether a recording that has one lacks something. */
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
        [TEXT_ANOTHER] = { "other_traces", false },
};

static bool is_complete(const TextCount *c) {
        for (size_t i = 0; i < TEXT_N_REMARKS; i++)
                if (remarks[i].is_lack && c->n_remarks[i] > 0)
                        return false;
        return true;
}

#define N_KINDS_MAX 24

static size_t text_kinds(Kind kinds[static N_KINDS_MAX], const TextTrace *t) {
        const TextCount *c = text_trace_count(t);
        const Kind all[] = {
                { "lines", "lines", c->n_lines },
                { "bytes", "bytes", c->n_bytes },
                { "open", "calls that open a brace", c->n_open },
                { "leaf", "calls in one line", c->n_leaf },
                { "close", "returns", c->n_close },
                { "comments", "events of other kinds", c->n_comments },
                { "switches", "changes of tasks", c->n_switches },
                { "markers", "markers of interrupts", c->n_markers },
                { "headers", "headings", c->n_headers },
                { "overruns", "overruns", c->n_overruns },
                { "events_lost", "events lost", c->n_lost },
                { "traces", "traces", c->n_traces },
                { "lines_elsewhere", "lines of traces that were not read", c->n_elsewhere },
                { "roots", "outermost calls", c->n_roots },
                { "calls_cut", "calls cut off by the end", c->n_cut_calls },
                { "functions", "functions", text_trace_n_functions(t) },
                { "max_depth", "deepest level", (uint64_t) c->max_depth },
        };

        memcpy(kinds, all, sizeof(all));
        return ELEMENTSOF(all);
}

/* Of what the filters leave. */
static size_t step_kinds(Kind *kinds, const Census *c) {
        const Kind all[] = {
                { "entries", "calls", c->n_entries },
                { "exits", "returns", c->n_exits },
                { "others", "events of other kinds", c->n_others },
                { "trees", "trees", c->n_trees },
                { "trees_complete", "trees that have an end", c->n_trees_complete },
                { "returns_cut", "returns of calls before the beginning", c->n_cut_exits },
                { "calls_cut", "calls cut off by the end", c->n_cut_entries },
                { "returns_unmatched", "returns without their calls", c->n_unmatched_exits },
                { "calls_unmatched", "calls without their returns", c->n_unmatched_entries },
                { "losses", "places where events are missing", c->n_gaps },
        };

        memcpy(kinds, all, sizeof(all));
        return ELEMENTSOF(all);
}

static size_t record_kinds(Kind kinds[static N_KINDS_MAX], const VerifyResult *v,
                           const SessionMeta *m) {
        const CursorCount *count = &v->count;
        const Kind before[] = {
                { "segments", "segments", count->n_segments },
                { "pages", "pages", count->n_pages },
                { "records", "records", count->n_records },
        };
        const Kind behind[] = {
                { "events_lost", "events lost", session_meta_events_lost(m) },
                { "pages_lost", "pages lost", session_meta_pages_lost(m) },
                { "records_short", "records that are too short", count->n_records_short },
                { "pages_damaged", "pages that are damaged",
                  count->n_pages_torn + count->n_pages_damaged + count->n_pages_lost },
                { "pages_backwards", "pages that go back in time", count->n_pages_backwards },
        };
        size_t n = ELEMENTSOF(before);

        memcpy(kinds, before, sizeof(before));
        n += step_kinds(kinds + n, &v->census);
        memcpy(kinds + n, behind, sizeof(behind));
        return n + ELEMENTSOF(behind);
}

static json_t *kinds_json(const char *name, bool complete, const Kind *kinds, size_t n) {
        json_t *o = json_pack("{s:s, s:b}", "name", name, "complete", complete);

        for (size_t i = 0; i < n; i++)
                (void) json_object_set_new(o, kinds[i].key, json_integer((json_int_t) kinds[i].n));
        return o;
}

static void print_kinds(Buf *out, const Options *o, const char *name, bool complete,
                        const Kind *kinds, size_t n) {
        _cleanup_table_ Table t = {};

        buf_printf(out, "%s: %s.\n", name, complete ? "complete" : "incomplete");
        table_init(&t, ">COUNT|WHAT");
        for (size_t i = 0; i < n; i++)
                if (kinds[i].n > 0) {
                        table_add(&t, "%s", FORMAT_COUNT(kinds[i].n));
                        table_add(&t, "%s", kinds[i].name);
                }
        if (table_print(&t, out, !o->no_legend) < 0)
                out->error = out->error ?: -ENOMEM;
}

static json_t *text_json(const TextSource *s, const Kind *kinds, size_t n_kinds) {
        const TextCount *c = text_trace_count(s->trace);
        json_t *o = kinds_json(s->name, is_complete(c), kinds, n_kinds), *list = json_array();
        size_t n;
        const TextNote *notes = text_trace_notes(s->trace, &n);

        for (size_t i = 0; i < TEXT_N_REMARKS; i++)
                (void) json_object_set_new(o, remarks[i].key,
                                           json_integer((json_int_t) c->n_remarks[i]));
        for (size_t i = 0; i < n; i++) {
                (void) json_array_append_new(list, json_pack("{s:I, s:s, s:s}", "line",
                                                             (json_int_t) notes[i].line, "kind",
                                                             remarks[notes[i].remark].key, "text",
                                                             NAME_QUOTED(notes[i].text)));
        }
        (void) json_object_set_new(o, "anomalies", list);
        (void) json_object_set_new(
                o, "format", json_string(text_kind_form(text_trace_layout(s->trace)->kind)->key));
        return o;
}

static void print_notes(Buf *out, const TextSource *s) {
        const TextCount *c = text_trace_count(s->trace);
        uint64_t n_all = 0, n_noted = 0;
        size_t n;
        const TextNote *notes = text_trace_notes(s->trace, &n);

        for (size_t i = 0; i < n; i++, n_noted++)
                buf_printf(out, "%s:%" PRIu64 ": %s: %s\n", s->name, notes[i].line,
                           text_remark_name(notes[i].remark), NAME_QUOTED(notes[i].text));
        for (size_t i = 0; i < TEXT_N_REMARKS; i++)
                n_all += c->n_remarks[i];
        if (n_all > n_noted)
                buf_printf(out, "And %" PRIu64 " lines more.\n", n_all - n_noted);
}

static int check_text(Reading *reading, const Options *o) {
        const TextSource *s = &reading->text;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        Kind kinds[N_KINDS_MAX];
        bool complete;
        size_t n;
        Step step;
        int r, status;

        text_trace_keep_going(s->trace, true);
        do
                r = reading_next(reading, &step);
        while (r > 0);
        if (r < 0)
                return -r;
        complete = is_complete(text_trace_count(s->trace));
        n = text_kinds(kinds, s->trace);
        if (o->json != JSON_OFF)
                status = stdout_json(o, text_json(s, kinds, n));
        else {
                print_kinds(&out, o, s->name, complete, kinds, n);
                print_notes(&out, s);
                status = stdout_end(&out);
        }
        return status ?: complete ? STATUS_OK : STATUS_INCOMPLETE;
}

static int check_session(const Source *s, const Options *o) {
        _cleanup_verify_result_ VerifyResult v = {};
        Progress progress;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        Kind kinds[N_KINDS_MAX];
        json_t *json;
        size_t n;
        int r, status;

        progress_begin(&progress, o, "Counting");
        r = verify_session(s->dir, s->meta, &progress, &v);
        progress_end(&progress);
        if (r < 0)
                return failed_errno(r, "Failed to check session \"%s\": %m", s->meta->name);
        n = record_kinds(kinds, &v, s->meta);
        if (o->json != JSON_OFF) {
                json = kinds_json(s->meta->name, v.complete, kinds, n);
                (void) json_object_set_new(json, "problems", terminal_json_list(&v.problems));
                status = stdout_json(o, json);
        } else {
                print_kinds(&out, o, s->meta->name, v.complete, kinds, n);
                for (size_t i = 0; i < v.problems.n; i++)
                        buf_printf(&out, "%s.\n", v.problems.items[i]);
                status = stdout_end(&out);
        }
        return status ?: v.complete ? STATUS_OK : STATUS_INCOMPLETE;
}

static int count_steps(Census *c, Reading *reading) {
        const SessionMeta *m = reading->source ? reading->source->meta : NULL;
        Step step;
        int n = 0, r = 0;

        c->only_exits = m && m->spec.slower_ns > 0;
        while (r >= 0 && (n = reading_next(reading, &step)) > 0)
                r = census_step(c, &step);
        if (r < 0)
                return failed_errno(r, "Failed to count calls: %m");
        if (n < 0)
                return -n;
        census_finish(c);
        return STATUS_OK;
}

static int check_part(const Options *o) {
        const char *word = o->words.items[0];
        _cleanup_reading_ Reading reading = {};
        _cleanup_census_ Census c = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        int status = reading_open(&reading, o, word, READING_FOR_DRAWING), finish;
        Kind kinds[N_KINDS_MAX];
        bool complete;
        size_t n;

        if (status == STATUS_OK)
                status = count_steps(&c, &reading);
        if (status != STATUS_OK)
                return status;
        finish = reading_finish(&reading, o);
        complete = finish == STATUS_OK && c.n_gaps == 0 &&
                   c.n_unmatched_exits + c.n_unmatched_entries == 0;
        n = step_kinds(kinds, &c);
        if (o->json != JSON_OFF)
                status = stdout_json(o, kinds_json(word, complete, kinds, n));
        else {
                print_kinds(&out, o, word, complete, kinds, n);
                status = stdout_end(&out);
        }
        if (status == STATUS_OK)
                status = finish;
        return status == STATUS_OK && !complete ? STATUS_INCOMPLETE : status;
}

static bool is_filtered(const Options *o, int *ret_status) {
        _cleanup_filtering_ Filtering f = {};

        *ret_status = filtering_init(&f, o);
        return !filtering_is_empty(&f);
}

int verb_check(const Options *o) {
        _cleanup_reading_ Reading reading = {};
        int status;

        if (is_filtered(o, &status) && status == STATUS_OK)
                return check_part(o);
        if (status == STATUS_OK)
                status = reading_find(&reading, o, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        return reading.text.trace ? check_text(&reading, o) : check_session(reading.source, o);
}

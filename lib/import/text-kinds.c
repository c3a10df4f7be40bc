/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Which kind of text a line is of, and where another trace begins
 *
 * Until the first call is found, every line is tried as each kind of text.
 */

#include "import/text-private.h"

/* --- several traces ---------------------------------------------------------------------------- */

/* Whatever is open now has lost its end to the end. */
static void count_cut(TextTrace *t) {
        for (size_t i = 0; i < t->stacks.n; i++)
                t->count.n_cut_calls += t->stacks.items[i].n;
}

void text_finish(TextTrace *t) {
        count_cut(t);
        t->read = t->count;
        t->rest = t->change;
        t->is_done = true;
}

/* What was counted and remarked of traces that nobody wants. */
static void forget(TextTrace *t) {
        size_t n = 0;

        t->count = (TextCount){ .n_lines = t->count.n_lines,
                                .n_bytes = t->count.n_bytes,
                                .n_elsewhere = t->count.n_lines - 1,
                                .n_traces = t->count.n_traces,
                                .n_remarks[TEXT_ANOTHER] = t->count.n_remarks[TEXT_ANOTHER] };
        for (size_t i = 0; i < t->n_notes; i++)
                if (t->notes[i].remark == TEXT_ANOTHER)
                        t->notes[n++] = t->notes[i];
        t->n_notes = n;
        n = t->n_noted[TEXT_ANOTHER];
        memset(t->n_noted, 0, sizeof(t->n_noted));
        t->n_noted[TEXT_ANOTHER] = (uint32_t) n;
}

/* Another trace begins with @line, of which nothing is known yet. */
static int begin_another(TextTrace *t, const Line *line) {
        bool was_wanted = text_is_wanted(t);
        int r = text_note(t, TEXT_ANOTHER, line->number, line->text, line->n_text);

        if (r < 0)
                return r;
        if (t->wanted == TEXT_TRACE_ALL) {
                count_cut(t);
                t->is_joint = true;
        }
        if (t->wanted != TEXT_TRACE_ALL && was_wanted)
                text_finish(t);
        t->nth++;
        t->count.n_elsewhere += was_wanted && !text_is_wanted(t);
        if (!was_wanted && text_is_wanted(t))
                forget(t);
        stacks_done(&t->stacks);
        t->layout = (TextLayout){ .heading = t->heading };
        t->has_layout = t->is_bare = t->irq_begin = t->after_rule = t->after_talk = false;
        t->after_command = false;
        t->change.n = t->marker.n = 0;
        t->latest_ns = t->n_joined = t->n_marked = 0;
        t->width = 0;
        if (!t->has_shown)
                t->heading[t->n_heading = 0] = 0;
        for (size_t i = 0; i < t->n_cpus; i++) {
                t->cpus[i].known = t->cpus[i].has_step = false;
                t->cpus[i].last_ns = 0;
        }
        return 0;
}

/* A tracer's own words at its beginning; the last ones are trace-cmd's. */
static bool is_banner(const Line *line) {
        static const char *const banners[] = { "# tracer: ", "Tracing \"", "cpus=" };

        for (size_t i = 0; i < ELEMENTSOF(banners); i++)
                if (line->n_text > strlen(banners[i]) &&
                    memcmp(line->text, banners[i], strlen(banners[i])) == 0)
                        return true;
        return false;
}

/* --- lines ------------------------------------------------------------------------------------- */

void text_find_foreign(TextTrace *t, const Line *line) {
        if (t->foreign || t->count.n_traces > 0)
                return;
        t->foreign = foreign_text_find(line->text, line->n_text);
        t->n_foreign_line = line->number;
}

static TextProbe probe_line(TextTrace *t, TextKind kind, const Line *line) {
        TextLine l;

        t->kinds[kind]->parse(t, line, &l);
        return t->kinds[kind]->probe(t, line, &l);
}

/* Whether a line that is no call has some of one. */
static bool has_part(TextKind kind, const TextLine *l) {
        const GraphColumns *c = &l->columns;

        return kind == TEXT_GRAPH ? c->abstime || c->cpu || c->proc || c->duration
                                  : l->kind == LINE_DAMAGED;
}

TextShape text_shape(TextTrace *t, TextKind kind, const Line *line) {
        TextLine l;

        if (t->has_layout && kind != t->layout.kind)
                return TEXT_SHAPE_NONE;
        t->kinds[kind]->parse(t, line, &l);
        if (l.kind == LINE_NONE || l.kind == LINE_DAMAGED)
                return has_part(kind, &l) ? TEXT_SHAPE_HALF : TEXT_SHAPE_NONE;
        /* Without all columns it may be the end of one. */
        if (kind == TEXT_GRAPH && l.kind >= LINE_EVENT && t->has_layout &&
            !graph_columns_equal(&l.columns, &t->layout.columns))
                return TEXT_SHAPE_HALF;
        return TEXT_SHAPE_WHOLE;
}

static int take_as(TextTrace *t, TextKind kind, const Line *line, Step *ret) {
        TextLine l;

        if (line->number == t->n_joined)
                return 0;
        t->kinds[kind]->parse(t, line, &l);
        if (kind == TEXT_GRAPH)
                t->is_below_rule = TAKE(t->after_rule, false);
        if (l.kind == LINE_NONE)
                return text_note(t, TEXT_NOT_TRACE, line->number, line->text, line->n_text);
        if (l.kind == LINE_DAMAGED)
                return text_damaged(t, line, l.problem);
        return t->kinds[kind]->next(t, line, &l, ret);
}

/* As what @line is taken while nobody knows what kind of text this is. */
static int first_line(TextTrace *t, const Line *line, Step *ret) {
        int r;

        for (TextKind i = 0; i < TEXT_N_KINDS; i++) {
                TextProbe probe = probe_line(t, i, line);

                if (probe == TEXT_PROBE_HEADING) {
                        r = take_as(t, i, line, ret);
                        return MIN(r, 0);
                }
                if (probe == TEXT_PROBE_TORN)
                        return text_note(t, TEXT_NOT_TRACE, line->number, line->text, line->n_text);
                if (probe == TEXT_PROBE_FOREIGN) {
                        if (text_shape(t, i, line) == TEXT_SHAPE_HALF)
                                break; /* its own, although it is damaged */
                        continue;
                }
                t->layout.kind = i;
                t->has_layout = true;
                t->count.n_traces++;
                if (text_is_wanted(t) && !t->has_shown) {
                        t->shown = t->layout;
                        t->has_shown = true;
                }
                break;
        }
        r = take_as(t, t->layout.kind, line, ret);
        if (r != TEXT_TRY && !t->has_layout)
                text_find_foreign(t, line); /* another tracer's heading */
        return r;
}

bool text_is_of_another_kind(TextTrace *t, const Line *line) {
        const TextLayout layout = t->layout;
        bool has_layout = t->has_layout, found = false;

        t->has_layout = false;
        for (TextKind i = 0; i < TEXT_N_KINDS && !found; i++)
                found = i != layout.kind && probe_line(t, i, line) == TEXT_PROBE_CALL;
        t->has_layout = has_layout;
        t->layout = layout;
        return found;
}

int text_take_line(TextTrace *t, const Line *line, Step *ret) {
        int r;

        if (_unlikely_(line->n_text > 0 && memchr("#Tc", line->text[0], 3) && t->has_layout &&
                       is_banner(line))) {
                r = begin_another(t, line);
                if (r < 0)
                        return r;
        }
        return _likely_(t->has_layout) ? take_as(t, t->layout.kind, line, ret)
                                       : first_line(t, line, ret);
}

int text_another(TextTrace *t, const Line *line, Step *ret) {
        int r = begin_another(t, line);

        return r < 0 ? r : text_take_line(t, line, ret);
}

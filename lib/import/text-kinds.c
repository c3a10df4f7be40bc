/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Which kind of text a line is of, and where another trace begins
 *
 * Until the first call is found, every line is tried as each kind of text.  A line that its kind does not know is tried
 * as what it may be in an envelope, then as another kind of text.  What none of these is, is skipped, and said to be;
 * what would be one if it were decoded, or had not been broken, is damaged.
 */

#include "import/text-private.h"

#define BROKEN_MIN 40 /* nobody's window is narrower */

/* --- what a text without calls is -------------------------------------------------------------- */

/*
 * The most telling marks of each kind.  Nobody asks of a text that has calls, so that a mark may be weak if it is not
 * one of a kind that stands before it.
 *
 * A pattern (scan_read()) begins behind the line's blanks, and need not reach its end.
 */
#define LOOKED_AT ((size_t) 512) /* bytes of a line */

static const struct {
        ForeignText text;
        const char *patterns[13];
} foreign_kinds[] = {
        { {}, { "# tracer: function_graph" } },
        { { "the text of funcgraph events", "neither a drawn call nor \"func=\" and \"depth=\" is "
                                            "behind their names; print them with "
                                            "\"trace-cmd report\"" },
          { "*funcgraph_e" } },
        { { "what retsnoop prints",
            "that is not read; record with \"ftracectl run\" or trace-cmd" },
          { "*TID/PID 9/9 (", "FUNCTION CALL* RESULT * DURATION", "\xe2\x86\x92 &$",
            "\xe2\x86\x94 & *[*] *9.9us" } },
        { { "what bpfsnoop prints",
            "that is not read; record with \"ftracectl run\" or trace-cmd" },
          { "*cpu=9 process=(9:" } },
        { { "what funcslower prints",
            "each line is a slow call by itself, without what it called; record with "
            "\"ftracectl run --slower=\"" },
          { "Tracing function calls slower than ", "*COMM *PID *LAT(" } },
        { { "the text of the function tracer",
            "it says when a function begins and not when it ends, so that there are no calls with "
            "durations in it; record with function_graph" },
          { "# tracer: function^$", "*: * <-~", "*: function: *&", "* [9] *9.9: ~^$" } },
        { { "the text of uftrace",
            "that is not read; record the kernel with \"ftracectl run\", trace-cmd or perf "
            "ftrace" },
          { "*[^9] | ", "# *DURATION* FUNCTION$", "# *TIMESTAMP* FUNCTION$", "# *TID* FUNCTION$",
            "# Function Call Graph for ", "*= FUNCTION CALL GRAPH =", "# TOTAL TIME ",
            "Total time *Self time ", "uftrace file header:", "[*] ==> *: ip (", "[*] <== *: ip (",
            "*: [e*] * depth: " } },
        { { "what \"perf trace\" prints",
            "these are system calls, and not what the kernel calls for them" },
          { "9.9 (^9.9 ms): " } },
        { { "what \"perf script\" prints", "these are samples and events, and not calls" },
          { "* 9 [9] ^9.9: " } },
        { { "what \"perf report\" prints", "these are samples, and not calls" },
          { "# Overhead ", "# Samples: " } },
        { { "a text of events", "none of them is a call (funcgraph_entry or funcgraph_exit)" },
          { "*-9 *9.9:^&:" } },
        { { "a histogram", "the calls that it counts are not in it" },
          { "* : count * distribution", "*DURATION *COUNT *GRAPH" } },
        { { "what bpftrace prints", "the calls that it counts, or speaks of, are not in it" },
          { "Attaching 9 probe", "@*[" } },
        { { "the trace of OP-TEE's functions", "its calls have no returns of their own" },
          { "*| ^9 | *()" } },
        { { "what strace or ltrace prints",
            "these are calls of the kernel or of libraries, and not what they call" },
          { "*(*) ^= 9", "*(*) ^= -", "*(*) ^= ?", "*<unfinished ...>$" } },
        { { "a flame graph's folded stacks", "these are sums, without the calls" }, { "&;* 9$" } },
        { { "a kernel's report with a call trace",
            "a stack at one moment has no calls with durations" },
          { "*Call Trace:", "*Call trace:", "*Backtrace:" } },
        { { "the text of another tracer than function_graph",
            "it has no calls with durations; a latency tracer draws them with the option "
            "display-graph" },
          { "# tracer: " } },
};

const ForeignText *foreign_text_find(const char *text, size_t n_text) {
        Scan s = { text, text + MIN(n_text, LOOKED_AT) };

        (void) scan_blanks(&s);
        for (size_t i = 0; i < ELEMENTSOF(foreign_kinds); i++)
                for (const char *const *p = foreign_kinds[i].patterns; *p; p++)
                        if (scan_like(&(Scan){ s.p, s.end }, *p))
                                return i > 0 ? &foreign_kinds[i].text : NULL;
        return NULL;
}

/* --- several traces ---------------------------------------------------------------------------- */

void text_finish(TextTrace *t) {
        text_cut_open(t);
        t->read = t->count;
        t->rest = t->change;
        t->is_done = true;
}

/* Another trace begins with @line, of which nothing is known yet. */
static int begin_another(TextTrace *t, const Line *line) {
        bool was_wanted = text_is_wanted(t);
        int r = text_note(t, TEXT_ANOTHER, line->number, line->text, line->n_text);

        if (r < 0)
                return r;
        if (t->wanted == TEXT_TRACE_ALL) {
                text_cut_open(t);
                t->is_joint = true;
        }
        t->cut = t->wanted == TEXT_TRACE_ALL ? &text_joint : NULL;
        if (t->wanted != TEXT_TRACE_ALL && was_wanted)
                text_finish(t);
        t->nth++;
        t->count.n_elsewhere += was_wanted && !text_is_wanted(t);
        /* What was counted is of traces that nobody wants; of their remarks only TEXT_ANOTHER was noted. */
        if (!was_wanted && text_is_wanted(t))
                t->count =
                        (TextCount){ .n_lines = t->count.n_lines,
                                     .n_bytes = t->count.n_bytes,
                                     .n_elsewhere = t->count.n_lines - 1,
                                     .n_traces = t->count.n_traces,
                                     .n_remarks[TEXT_ANOTHER] = t->count.n_remarks[TEXT_ANOTHER] };
        stacks_done(&t->stacks);
        t->layout = (TextLayout){ .heading = t->heading };
        t->has_layout = t->is_bare = t->irq_begin = t->after_rule = t->after_talk = false;
        t->after_command = t->after_gap = t->is_dense = t->is_numbered = t->has_remarks = false;
        t->n_last_line = 0;
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
        Scan s = scan_of(line);

        return (scan_text(&s, "# tracer: ") || scan_text(&s, "Tracing \"") ||
                scan_text(&s, "cpus=")) &&
               s.p < s.end;
}

/* --- lines ------------------------------------------------------------------------------------- */

/* What a line of no kind tells of a text that is no trace. */
static void find_foreign(TextTrace *t, const Line *line) {
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

typedef enum TextShape {
        TEXT_SHAPE_NONE,
        TEXT_SHAPE_HALF, /* less than a call, but some of one */
        TEXT_SHAPE_WHOLE,
} TextShape;

/* Whether @line is one of this kind of text, or the beginning of one that was broken.  Once the kind
 * is known, nothing is of another. */
static TextShape shape_of(TextTrace *t, TextKind kind, const Line *line) {
        TextLine l;

        if (t->has_layout && kind != t->layout.kind)
                return TEXT_SHAPE_NONE;
        t->kinds[kind]->parse(t, line, &l);
        if (l.kind == LINE_NONE || l.kind == LINE_DAMAGED) {
                const GraphColumns *c = &l.columns;
                bool has_part = kind == TEXT_GRAPH ? c->abstime || c->cpu || c->proc || c->duration
                                                   : l.kind == LINE_DAMAGED;

                return has_part ? TEXT_SHAPE_HALF : TEXT_SHAPE_NONE;
        }
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
                        if (shape_of(t, i, line) == TEXT_SHAPE_HALF)
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
                find_foreign(t, line); /* another tracer's heading */
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

/* --- lines that are of no trace as they stand -------------------------------------------------- */

/* In trials a line that is no good makes TEXT_TRY, and is not remarked. */
static int guess(TextTrace *t, const Line *line, Step *ret) {
        int r = TEXT_TRY;
        Line inner;

        for (int weak = 0; weak < 2 && r == TEXT_TRY; weak++)
                if (envelope_guess(&t->envelope, weak, line, &inner) && inner.n_text > 0)
                        r = text_take_line(t, &inner, ret);
        t->envelope.is_prefixed |= r != TEXT_TRY && t->envelope.has_prefix;
        return r;
}

/* --- what is refused by its name --------------------------------------------------------------- */

/* Returns what @line, which is of no trace, was written in, if that hides a trace's line; NULL. */
static const ForeignText *find_coding(TextTrace *t, const Line *line) {
        Line inner;
        TextLine l;
        const ForeignText *coding = envelope_decode(&t->envelope, line, &inner);

        for (TextKind kind = 0; coding && kind < TEXT_N_KINDS; kind++) {
                t->kinds[kind]->parse(t, &inner, &l);
                if (l.kind >= LINE_RULE)
                        return coding;
        }
        return NULL;
}

/* What follows @line is no line by itself, and both together are one. */
static bool is_broken(TextTrace *t, const Line *line) {
        char room[512];
        TextLine l;
        Line next;

        if (!envelope_peek(&t->envelope, line, &next) ||
            line->n_text + 1 + next.n_text > sizeof(room))
                return false;
        for (TextKind kind = 0; kind < TEXT_N_KINDS; kind++) {
                if (shape_of(t, kind, line) != TEXT_SHAPE_HALF ||
                    shape_of(t, kind, &next) == TEXT_SHAPE_WHOLE)
                        continue;
                memcpy(room, line->text, line->n_text);
                for (size_t n_blanks = 0; n_blanks < 2; n_blanks++) {
                        Line whole = { .text = room, .n_text = line->n_text + n_blanks };

                        room[line->n_text] = ' ';
                        memcpy(room + whole.n_text, next.text, next.n_text);
                        whole.n_text += next.n_text;
                        t->kinds[kind]->parse(t, &whole, &l);
                        if (l.kind >= LINE_EVENT)
                                return true;
                }
        }
        return false;
}

bool text_is_cut(TextTrace *t, const Line *line) {
        Line rest, next;
        Scan s;

        if (!t->has_layout || line->n_text < BROKEN_MIN ||
            !envelope_peek(&t->envelope, line, &rest) ||
            shape_of(t, t->layout.kind, &rest) != TEXT_SHAPE_NONE)
                return false;
        s = scan_of(line);
        s.p = s.end - 1;
        if (!scan_like(&s, "&"))
                return false;
        s = scan_of(&rest);
        return scan_like(&s, "&$") && envelope_peek(&t->envelope, &rest, &next) &&
               shape_of(t, t->layout.kind, &next) != TEXT_SHAPE_NONE;
}

/* --- what is skipped --------------------------------------------------------------------------- */

static int damaged_by_coding(TextTrace *t, const Line *line, const ForeignText *coding) {
        char problem[80];

        if (!t->foreign && t->count.n_traces == 0) {
                t->foreign = coding;
                t->n_foreign_line = line->number;
        }
        (void) snprintf(problem, sizeof(problem), "it is %s: %s", coding->name, coding->reason);
        return text_damaged(t, line, problem);
}

/* Nothing helps. */
static int skip(TextTrace *t, const Line *line, Step *ret) {
        const ForeignText *coding;
        const Line *inner;
        Line room;

        t->is_trial = false;
        (void) envelope_guess(&t->envelope, false, line, &room);
        if (line->is_binary && room.n_text == 0)
                return text_note(t, TEXT_NOT_TRACE, line->number, "", 0);
        if (line->is_binary)
                return text_damaged(t, line, TEXT_IS_BINARY);
        coding = find_coding(t, line);
        if (coding)
                return damaged_by_coding(t, line, coding);
        if (is_broken(t, &room))
                return text_damaged(t, line, TEXT_IS_BROKEN);
        find_foreign(t, &room);
        inner = envelope_open(&t->envelope, line, &room);
        if (inner->n_text > 0) {
                t->after_talk = true;
                t->after_command =
                        t->has_layout && (t->after_command || envelope_is_command(inner));
        }
        return text_take_line(t, inner, ret);
}

int text_unwrap(TextTrace *t, const Line *line, Step *ret) {
        int r = TEXT_TRY;

        t->is_trial = true;
        if (line->n_text > 0) {
                r = guess(t, line, ret);
                if (r == TEXT_TRY && t->has_layout && text_is_of_another_kind(t, line))
                        r = text_another(t, line, ret);
        }
        if (r == TEXT_TRY)
                r = skip(t, line, ret);
        t->is_trial = false;
        return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lines come in, steps go out, one at a time.  Until the first call is found,
 * every line is tried as each kind of text; what the lines before it make is kept
 * in `pending`, so that the layout is known before the first step is handed out.
 * The stacks are there to find whose return a bare brace is, and to remark what
 * does not fit together.
 */

#include "import/text-trace-private.h"

static const struct {
        TextForm form;
        TextProbe (*probe)(TextTrace *t, const Line *line);
        TextShape (*shape)(TextTrace *t, const Line *line);
        int (*next)(TextTrace *t, const Line *line, Step *ret);
} kinds[TEXT_N_KINDS] = {
        /* Of two that would take a line the first one has it. */
        [TEXT_GRAPH] = { .form = { .name = "function_graph",
                                   .key = "graph",
                                   .format = "graph",
                                   .has_columns = true },
                         .probe = graph_text_probe,
                         .shape = graph_text_shape,
                         .next = graph_text_next },
        [TEXT_EVENTS] = { .form = { .name = "trace-cmd report",
                                    .key = "events",
                                    .format = "graph",
                                    .has_columns = true },
                          .probe = event_text_probe,
                          .shape = event_text_shape,
                          .next = event_text_next },
        [TEXT_UFTRACE] = { .form = { .name = "uftrace replay",
                                     .key = "uftrace",
                                     .format = "graph",
                                     .has_columns = true },
                           .probe = uftrace_text_probe,
                           .shape = uftrace_text_shape,
                           .next = uftrace_text_next },
        [TEXT_INDENT] = { .form = { .name = "SystemTap's thread_indent()",
                                    .key = "indent",
                                    .format = "indent" },
                          .probe = indent_text_probe,
                          .shape = indent_text_shape,
                          .next = indent_text_next },
};

const TextForm *text_kind_form(TextKind kind) {
        return &kinds[kind].form;
}

const char *text_remark_name(TextRemark remark) {
        static const char *const names[TEXT_N_REMARKS] = {
                [TEXT_NOT_TRACE] = "not of a trace",
                [TEXT_DAMAGED] = "damaged",
                [TEXT_SIBLING] = "call before a late return",
                [TEXT_RETURN_CUT] = "return of a call before the beginning",
                [TEXT_RETURN_UNMATCHED] = "return without its call",
                [TEXT_CALL_UNMATCHED] = "call without its return",
                [TEXT_LEVEL_MISSING] = "level missing above a call",
                [TEXT_TASK_MISSED] = "change from a task that did not run",
                [TEXT_TIME_IMPOSSIBLE] = "shorter than what it called",
                [TEXT_COLUMNS_CHANGED] = "other columns than before",
                [TEXT_LOSS] = "loss",
                [TEXT_ELISION] = "lines left out",
                [TEXT_ANOTHER] = "another trace",
        };

        return names[remark];
}

static bool is_wanted(const TextTrace *t) {
        return t->wanted == TEXT_TRACE_ALL || t->nth == t->wanted;
}

int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text) {
        TextNote *note, *p;

        if (t->is_trial && remark == TEXT_NOT_TRACE)
                return TEXT_TRY;
        if (!is_wanted(t) && remark != TEXT_ANOTHER)
                return 0;
        t->count.n_remarks[remark]++;
        if (t->n_noted[remark] == TEXT_NOTES_MAX)
                return 0;
        p = realloc(t->notes, (t->n_notes + 1) * sizeof(*p));
        if (!p)
                return -ENOMEM;
        t->notes = p;
        note = &t->notes[t->n_notes++];
        *note = (TextNote){ .remark = remark, .line = line };
        memcpy(note->text, text, MIN(n_text, sizeof(note->text) - 1));
        t->n_noted[remark]++;
        return 0;
}

int text_damaged(TextTrace *t, const Line *line, const char *problem) {
        int r;

        if (t->is_trial)
                return TEXT_TRY;
        if (line->is_last)
                problem = "the text ends in the middle of it";
        r = text_note(t, TEXT_DAMAGED, line->number, problem, strlen(problem));
        return r < 0 ? r : t->stops_at_damage && is_wanted(t) ? TEXT_TRACE_E_DAMAGED : 0;
}

int text_note_frame(TextTrace *t, const Frame *frame) {
        return text_note(t, TEXT_CALL_UNMATCHED, frame->n_line, frame->function->label,
                         frame->function->n_label);
}

int text_note_return(TextTrace *t, const Stack *stack, const Frame *frame, const Step *step,
                     uint64_t line) {
        TextRemark remark = step->depth < stack->floor ? TEXT_RETURN_CUT : TEXT_RETURN_UNMATCHED;

        if (frame) {
                uint64_t duration_ns = step_duration_ns(step);

                if (step->said->untimed || frame->below_ns <= duration_ns)
                        return 0;
                remark = TEXT_TIME_IMPOSSIBLE;
                line = frame->n_line;
        }
        return text_note(t, remark, line, step->function->label, step->function->n_label);
}

int text_push(Stack *stack, const Step *step, uint64_t line) {
        Frame *frame = stack_push(stack, step->function, step->depth);

        if (!frame)
                return -ENOMEM;
        frame->start_ns = step->timestamp_ns;
        frame->n_line = line;
        return 0;
}

/* --- several traces ---------------------------------------------------------------------------- */

/* Whatever is open now has lost its end to the end. */
static void count_cut(TextTrace *t) {
        for (size_t i = 0; i < stacks_n(t->stacks); i++)
                t->count.n_cut_calls += stacks_at(t->stacks, i)->n;
}

static void finish(TextTrace *t) {
        count_cut(t);
        t->read = t->count;
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

int text_another(TextTrace *t, const Line *line) {
        bool was_wanted = is_wanted(t);
        Stacks *stacks;
        int r;

        r = text_note(t, TEXT_ANOTHER, line->number, line->text, line->n_text);
        if (r >= 0)
                r = stacks_new(&stacks);
        if (r < 0)
                return r;
        if (t->wanted == TEXT_TRACE_ALL)
                count_cut(t);
        else if (was_wanted)
                finish(t);
        t->nth++;
        t->count.n_elsewhere += was_wanted && !is_wanted(t);
        if (!was_wanted && is_wanted(t))
                forget(t);
        stacks_free(t->stacks);
        t->stacks = stacks;
        t->layout = (TextLayout){ .heading = t->heading };
        t->has_layout = t->is_bare = t->irq_begin = t->after_rule = t->after_talk = false;
        t->n_change = 0;
        t->latest_ns = t->n_joined = 0;
        t->fields = (UftraceFields){};
        t->is_cut = false;
        if (!t->has_shown)
                t->heading[t->n_heading = 0] = 0;
        for (size_t i = 0; i < t->n_cpus; i++) {
                t->cpus[i].known = false;
                t->cpus[i].last_ns = 0;
        }
        return 0;
}

/* A tracer's own words at its beginning; the last ones are trace-cmd's, uftrace's. */
static bool is_banner(const Line *line) {
        static const char *const banners[] = { "# tracer: ",  "Tracing \"",       "cpus=",
                                               "# DURATION ", "#     TIMESTAMP ", "# TIMESTAMP " };

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

/* As what @line is taken while nobody knows what kind of text this is. */
static int first_line(TextTrace *t, const Line *line, Step *ret) {
        int r;

        for (TextKind i = 0; i < TEXT_N_KINDS; i++) {
                TextProbe probe = kinds[i].probe(t, line);

                if (probe == TEXT_PROBE_HEADING) {
                        r = kinds[i].next(t, line, ret);
                        return MIN(r, 0);
                }
                if (probe == TEXT_PROBE_FOREIGN)
                        continue;
                t->layout.kind = i;
                t->has_layout = true;
                t->count.n_traces++;
                if (is_wanted(t) && !t->has_shown) {
                        t->shown = t->layout;
                        t->has_shown = true;
                }
                break;
        }
        r = kinds[t->layout.kind].next(t, line, ret);
        if (r != TEXT_TRY && !t->has_layout)
                text_find_foreign(t, line); /* another tracer's heading */
        return r;
}

TextShape text_shape(TextTrace *t, TextKind kind, const Line *line) {
        return !t->has_layout || kind == t->layout.kind ? kinds[kind].shape(t, line)
                                                        : TEXT_SHAPE_NONE;
}

bool text_is_of_another_kind(TextTrace *t, const Line *line) {
        const TextLayout layout = t->layout;
        bool found = false;

        t->has_layout = false;
        for (TextKind i = 0; i < TEXT_N_KINDS && !found; i++)
                found = i != layout.kind && kinds[i].probe(t, line) == TEXT_PROBE_CALL;
        t->has_layout = true;
        t->layout = layout;
        return found;
}

int text_take_line(TextTrace *t, const Line *line, Step *ret) {
        int r;

        if (_unlikely_(line->n_text > 0 && memchr("#Tc", line->text[0], 3) && t->has_layout &&
                       is_banner(line))) {
                r = text_another(t, line);
                if (r < 0)
                        return r;
        }
        return _likely_(t->has_layout) ? kinds[t->layout.kind].next(t, line, ret)
                                       : first_line(t, line, ret);
}

static int next_line(TextTrace *t, const Line *line, Step *ret) {
        const Line *inner = line;
        int r = TEXT_TRY;
        Line room;

        if (_unlikely_(line->is_rest))
                return 0;
        t->n_line = line->number;
        t->count.n_lines++;
        t->count.n_elsewhere += !is_wanted(t);
        if (_unlikely_(line->is_long))
                return text_damaged(t, line, "it is longer than 65,536 bytes");
        if (_likely_(!line->is_binary)) {
                t->is_trial = true;
                inner = envelope_open(t->envelope, line, &room);
                r = text_take_line(t, inner, ret);
                t->is_trial = false;
        }
        if (_unlikely_(r == TEXT_TRY))
                return text_unwrap(t, line, ret);
        return _likely_(inner->n_more == 0) || r < 0 ? r : text_skip(t, inner->n_more) ?: r;
}

int text_skip(TextTrace *t, unsigned n) {
        for (; n > 0; n--) {
                Line line;
                int r = lines_next(t->lines, &line);

                if (r <= 0)
                        return r;
                t->count.n_lines++;
                t->count.n_elsewhere += !is_wanted(t);
        }
        return 0;
}

/* What cannot be a trace at all, without an end. */
static bool is_hopeless(TextTrace *t, const Line *line) {
        if (line->is_binary || line->is_long || line->is_rest)
                t->n_binary_bytes += MAX(line->n_text, (size_t) 1024);
        return !t->has_layout && t->n_binary_bytes > TEXT_TRACE_BINARY_BYTES;
}

/* Of the rest only this is counted. */
static void count_rest(TextTrace *t) {
        t->read.n_lines = t->count.n_lines;
        t->read.n_bytes = t->count.n_bytes;
        t->read.n_elsewhere = t->count.n_elsewhere;
        t->read.n_traces = t->count.n_traces;
        t->read.n_remarks[TEXT_ANOTHER] = t->count.n_remarks[TEXT_ANOTHER];
        t->count = t->read;
}

/* The next step of the lines, without those that are pending. */
static int read_step(TextTrace *t, Step *ret) {
        for (;;) {
                Line line;
                int r = lines_next(t->lines, &line);

                if (r <= 0)
                        return r;
                r = next_line(t, &line, ret);
                t->count.n_bytes = lines_n_bytes(t->lines);
                if (_unlikely_(t->is_done))
                        count_rest(t);
                if (r < 0 || (r > 0 && _likely_(is_wanted(t)))) {
                        t->after_talk = false;
                        return r;
                }
                if (_unlikely_(r > 0))
                        t->after_talk = false;
                if (_unlikely_(is_hopeless(t, &line)))
                        return 0;
        }
}

static int find_layout(TextTrace *t) {
        while (!t->has_shown) {
                int r;

                if (t->n_pending == N_PENDING) {
                        t->layout.columns =
                                (GraphColumns){ .cpu = true, .duration = true, .n_cpu_digits = 1 };
                        t->shown = t->layout;
                        t->has_layout = t->has_shown = true;
                        return 0;
                }
                r = read_step(t, &t->pending[t->n_pending]);
                if (r < 0 || (r == 0 && t->has_shown))
                        return r;
                if (r == 0)
                        return t->count.n_traces > 0 ? TEXT_TRACE_E_FEWER : TEXT_TRACE_E_FOREIGN;
                t->n_pending++;
        }
        return 0;
}

int text_trace_next(TextTrace *t, Step *ret) {
        int r;

        if (_unlikely_(t->i_pending < t->n_pending)) {
                *ret = t->pending[t->i_pending++];
                return 1;
        }
        r = read_step(t, ret);
        if (r == 0 && !t->is_done)
                finish(t);
        return r;
}

int text_trace_take_nth_fd(TextTrace **ret, int fd, uint64_t nth) {
        _cleanup_(text_trace_freep) TextTrace *t = calloc(1, sizeof(*t));
        int r;

        if (!t) {
                (void) close(fd);
                return -ENOMEM;
        }
        t->nth = 1;
        t->wanted = nth;
        t->layout.heading = t->heading;
        r = lines_take_fd(&t->lines, fd);
        if (r >= 0)
                r = envelope_new(&t->envelope);
        if (r >= 0)
                r = labels_new(&t->labels);
        if (r >= 0)
                r = stacks_new(&t->stacks);
        if (r >= 0)
                r = find_layout(t);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(t);
        return r;
}

int text_trace_take_fd(TextTrace **ret, int fd) {
        return text_trace_take_nth_fd(ret, fd, 1);
}

void text_trace_keep_going(TextTrace *t, bool keep_going) {
        t->stops_at_damage = !keep_going;
}

const TextLayout *text_trace_layout(const TextTrace *t) {
        return t->has_shown ? &t->shown : &t->layout;
}

const TextCount *text_trace_count(const TextTrace *t) {
        return &t->count;
}

const char *text_trace_envelope(const TextTrace *t) {
        return envelope_name(t->envelope);
}

uint64_t text_trace_line(const TextTrace *t) {
        return t->n_line;
}

size_t text_trace_n_functions(const TextTrace *t) {
        return labels_n(t->labels);
}

const ForeignText *text_trace_foreign(const TextTrace *t, uint64_t *ret_line) {
        if (t->foreign)
                *ret_line = t->n_foreign_line;
        return t->foreign;
}

const TextNote *text_trace_notes(const TextTrace *t, size_t *ret_n) {
        *ret_n = t->n_notes;
        return t->notes;
}

TextTrace *text_trace_free(TextTrace *t) {
        if (!t)
                return NULL;
        lines_free(t->lines);
        envelope_free(t->envelope);
        labels_free(t->labels);
        stacks_free(t->stacks);
        free(t->cpus);
        free(t->notes);
        free(t);
        return NULL;
}

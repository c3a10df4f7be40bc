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
        bool (*probe)(TextTrace *t, const Line *line);
        int (*next)(TextTrace *t, const Line *line, Step *ret);
} kinds[TEXT_N_KINDS] = {
        /* Of two that would take a line the first one has it. */
        [TEXT_GRAPH] = { .form = { .name = "function_graph",
                                   .key = "graph",
                                   .format = "graph",
                                   .has_columns = true },
                         .probe = graph_text_probe,
                         .next = graph_text_next },
        [TEXT_INDENT] = { .form = { .name = "SystemTap's thread_indent()",
                                    .key = "indent",
                                    .format = "indent" },
                          .probe = indent_text_probe,
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
        };

        return names[remark];
}

int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text) {
        TextNote *note, *p;

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

        if (line->is_last)
                problem = "the text ends in the middle of it";
        r = text_note(t, TEXT_DAMAGED, line->number, problem, strlen(problem));
        return r < 0 ? r : t->stops_at_damage ? TEXT_TRACE_E_DAMAGED : 0;
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

/* As what @line is taken while nobody knows what kind of text this is. */
static int first_line(TextTrace *t, const Line *line, Step *ret) {
        for (TextKind i = 0; i < TEXT_N_KINDS; i++)
                if (kinds[i].probe(t, line)) {
                        t->layout.kind = i;
                        t->has_layout = true;
                        break;
                }
        return kinds[t->layout.kind].next(t, line, ret);
}

static int next_line(TextTrace *t, const Line *line, Step *ret) {
        if (_unlikely_(line->is_rest))
                return 0;
        t->n_line = line->number;
        t->count.n_lines++;
        if (_unlikely_(line->is_long))
                return text_damaged(t, line, "it is longer than 65,536 bytes");
        if (_unlikely_(line->is_binary))
                return text_damaged(t, line, "it holds bytes that are not text");
        if (_unlikely_(!t->has_layout))
                return first_line(t, line, ret);
        return kinds[t->layout.kind].next(t, line, ret);
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
                if (r != 0)
                        return r;
                if (!t->has_layout && t->count.n_bytes > TEXT_TRACE_SEARCH_BYTES)
                        return 0;
        }
}

static int find_layout(TextTrace *t) {
        while (!t->has_layout) {
                int r;

                if (t->n_pending == N_PENDING) {
                        t->layout.columns =
                                (GraphColumns){ .cpu = true, .duration = true, .n_cpu_digits = 1 };
                        t->has_layout = true;
                        return 0;
                }
                r = read_step(t, &t->pending[t->n_pending]);
                if (r <= 0)
                        return r < 0 ? r : t->has_layout ? 0 : TEXT_TRACE_E_FOREIGN;
                t->n_pending++;
        }
        return 0;
}

/* Whatever is open now has lost its end to the end. */
static void count_cut(TextTrace *t) {
        t->count.n_cut_calls = 0;
        for (size_t i = 0; i < stacks_n(t->stacks); i++)
                t->count.n_cut_calls += stacks_at(t->stacks, i)->n;
}

int text_trace_next(TextTrace *t, Step *ret) {
        int r;

        if (_unlikely_(t->i_pending < t->n_pending)) {
                *ret = t->pending[t->i_pending++];
                return 1;
        }
        r = read_step(t, ret);
        if (r == 0)
                count_cut(t);
        return r;
}

int text_trace_take_fd(TextTrace **ret, int fd) {
        _cleanup_(text_trace_freep) TextTrace *t = calloc(1, sizeof(*t));
        int r;

        if (!t) {
                (void) close(fd);
                return -ENOMEM;
        }
        r = lines_take_fd(&t->lines, fd);
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

void text_trace_keep_going(TextTrace *t, bool keep_going) {
        t->stops_at_damage = !keep_going;
}

const TextLayout *text_trace_layout(const TextTrace *t) {
        return &t->layout;
}

const TextCount *text_trace_count(const TextTrace *t) {
        return &t->count;
}

uint64_t text_trace_line(const TextTrace *t) {
        return t->n_line;
}

size_t text_trace_n_functions(const TextTrace *t) {
        return labels_n(t->labels);
}

const TextNote *text_trace_notes(const TextTrace *t, size_t *ret_n) {
        *ret_n = t->n_notes;
        return t->notes;
}

TextTrace *text_trace_free(TextTrace *t) {
        if (!t)
                return NULL;
        lines_free(t->lines);
        labels_free(t->labels);
        stacks_free(t->stacks);
        free(t->cpus);
        free(t->notes);
        free(t);
        return NULL;
}

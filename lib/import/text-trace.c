/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lines come in, steps go out, one at a time.  What the lines before the first call make is kept
 * in `pending`, so that the layout is known before the first step is handed out.
 * The stacks are there to find whose return a bare brace is, and to remark what
 * does not fit together.
 */

#include "import/text-private.h"

/* Of two kinds that would take a line the first one has it. */
static const TextKindOps *const kinds[TEXT_N_KINDS] = {
        [TEXT_GRAPH] = &graph_text,
        [TEXT_EVENTS] = &event_text,
        [TEXT_INDENT] = &indent_text,
};

const TextForm *text_kind_form(TextKind kind) {
        return &kinds[kind]->form;
}

static int next_line(TextTrace *t, const Line *line, Step *ret) {
        const Line *inner = line;
        int r = TEXT_TRY;
        Line room;

        if (_unlikely_(line->is_rest))
                return 0;
        t->count.n_lines++;
        t->count.n_elsewhere += !text_is_wanted(t);
        if (_unlikely_(line->is_long))
                return text_damaged(t, line, "it is longer than 65,536 bytes");
        if (_likely_(!line->is_binary)) {
                t->is_trial = true;
                inner = envelope_open(&t->envelope, line, &room);
                if (_unlikely_(inner->is_binary ||
                               (inner->n_text >= t->width && text_is_cut(t, inner)))) {
                        t->is_trial = false;
                        return text_damaged(t, line,
                                            inner->is_binary ? TEXT_IS_BINARY : TEXT_IS_BROKEN);
                }
                r = text_take_line(t, inner, ret);
                t->is_trial = false;
        }
        if (_unlikely_(r == TEXT_TRY))
                return text_unwrap(t, line, ret);
        t->width = MAX(t->width, inner->n_text);
        return r;
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

/* Puts a step of another trace behind those of the traces before it. */
static void join_times(TextTrace *t, Step *step) {
        bool has_end = step->kind == STEP_LEAF || step->kind == STEP_LEAVE;

        if (t->keeps_times)
                return;
        if (TAKE(t->is_joint, false))
                t->shift_ns = t->end_ns - step->timestamp_ns;
        step->timestamp_ns += t->shift_ns;
        t->end_ns = text_time(MAX(t->end_ns, step->timestamp_ns));
        if (!has_end)
                return;
        step->calltime += t->shift_ns;
        step->rettime += t->shift_ns;
        if (step->rettime >= step->calltime)
                t->end_ns = text_time(MAX(t->end_ns, step->rettime));
}

/* The next step of the lines, without those that are pending. */
static int read_step(TextTrace *t, Step *ret) {
        if (_unlikely_(TAKE(t->has_held, false))) {
                *ret = t->held;
                return 1;
        }
        for (;;) {
                Line line;
                int r = lines_next(&t->lines, &line);

                if (r <= 0)
                        return r;
                r = next_line(t, &line, ret);
                t->count.n_bytes = t->lines.n_bytes;
                if (_unlikely_(t->is_done))
                        count_rest(t);
                if (r < 0 || (r > 0 && _likely_(text_is_wanted(t)))) {
                        /* Others than leaves and returns have no end. */
                        t->count.n_timed += r > 0 &&
                                            (ret->kind == STEP_LEAF || ret->kind == STEP_LEAVE) &&
                                            (!ret->said->untimed || step_duration_ns(ret) > 0);
                        if (_unlikely_(r > 0 && t->wanted == TEXT_TRACE_ALL))
                                join_times(t, ret);
                        t->after_talk = false;
                        if (_unlikely_(r > 0 && t->cut)) {
                                t->held = *ret;
                                t->has_held = true;
                                *ret = (Step){ .kind = STEP_LOST,
                                               .cpu = t->held.cpu,
                                               .pid = t->held.pid,
                                               .timestamp_ns = t->held.timestamp_ns,
                                               .comm = t->held.comm,
                                               .said = TAKE(t->cut, NULL) };
                        }
                        return r;
                }
                if (_unlikely_(r > 0))
                        t->after_talk = false;
                if (_unlikely_(line.is_binary || line.is_long || line.is_rest))
                        t->n_binary_bytes += MAX(line.n_text, (size_t) 1024);
                /* What cannot be a trace at all, without an end. */
                if (_unlikely_(!t->has_layout && t->n_binary_bytes > TEXT_TRACE_BINARY_BYTES))
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
                text_finish(t);
        return r;
}

int text_trace_take_fd(TextTrace **ret, int fd, uint64_t nth) {
        _cleanup_(text_trace_freep) TextTrace *t = calloc(1, sizeof(*t));
        int r;

        if (!t) {
                (void) close(fd);
                return -ENOMEM;
        }
        t->nth = 1;
        t->wanted = nth;
        t->kinds = kinds;
        t->layout.heading = t->heading;
        r = lines_init_take_fd(&t->lines, fd);
        if (r >= 0)
                r = find_layout(t);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(t);
        return r;
}

void text_trace_keep_times(TextTrace *t, bool keep_times) {
        t->keeps_times = keep_times;
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

const char *text_trace_rest(const TextTrace *t, size_t *ret_n) {
        *ret_n = t->rest.n;
        return t->rest.text;
}

const char *text_trace_envelope(const TextTrace *t) {
        return t->is_numbered            ? "a list, whose numbers are in place of the CPUs"
               : t->envelope.is_prefixed ? "quoted, or a log's"
                                         : NULL;
}

size_t text_trace_n_functions(const TextTrace *t) {
        return t->labels.functions.n;
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
        lines_done(&t->lines);
        labels_done(&t->labels);
        stacks_done(&t->stacks);
        free(t->cpus);
        free(t->notes);
        return mfree(t);
}

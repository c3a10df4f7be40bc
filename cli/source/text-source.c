/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whatever the text, its good lines are read; what was wrong is said at the end, with its place. */

#include "base/io.h"
#include "base/unit.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

#define N_DAMAGES_SAID 8
#define N_TRACES_SAID 4

static bool begins_as_utf16(int fd) {
        char begin[2];

        return pread_up_to(fd, begin, sizeof(begin), 0) == sizeof(begin) &&
               (memcmp(begin, "\xff\xfe", 2) == 0 || memcmp(begin, "\xfe\xff", 2) == 0);
}

static void say_damage(const TextSource *s) {
        uint64_t n_damaged = text_trace_count(s->trace)->n_remarks[TEXT_DAMAGED], n_said = 0;
        size_t n;
        const TextNote *notes = text_trace_notes(s->trace, &n);

        for (size_t i = 0; i < n && n_said < N_DAMAGES_SAID; i++)
                if (notes[i].remark == TEXT_DAMAGED) {
                        log_error("%s:%llu: %s.", s->name, (unsigned long long) notes[i].line,
                                  notes[i].text);
                        n_said++;
                }
        if (n_damaged > n_said)
                log_error("%s: %s lines more are damaged.", s->name,
                          FORMAT_COUNT(n_damaged - n_said));
}

/* There are not so many as --nth-trace says. */
static int no_such_trace(const TextSource *s, const Options *o) {
        unsigned long long n = (unsigned long long) text_trace_count(s->trace)->n_traces;

        if (n == 1)
                log_error("--nth-trace=%d: there is only one trace in %s.", o->nth_trace, s->name);
        else
                log_error("--nth-trace=%d: there are only %llu traces in %s.", o->nth_trace, n,
                          s->name);
        return STATUS_NOT_FOUND;
}

#define KINDS_TEXT_MAX 256

/* "function_graph, trace-cmd report or SystemTap's thread_indent()" */
static const char *kinds_read(char text[static KINDS_TEXT_MAX]) {
        size_t n = 0;

        for (TextKind i = 0; i < TEXT_N_KINDS && n < KINDS_TEXT_MAX; i++)
                n += (size_t) snprintf(text + n, KINDS_TEXT_MAX - n, "%s%s",
                                       i == 0                  ? ""
                                       : i == TEXT_N_KINDS - 1 ? " or "
                                                               : ", ",
                                       text_kind_form(i)->name);
        return text;
}

static int no_trace(const TextSource *s) {
        const TextCount *c = text_trace_count(s->trace);
        const ForeignText *foreign;
        char kinds[KINDS_TEXT_MAX];
        uint64_t line;

        foreign = text_trace_foreign(s->trace, &line);
        if (c->n_remarks[TEXT_DAMAGED] == 1)
                say_damage(s);
        if (c->n_bytes == 0)
                log_error("%s is empty.", s->name);
        else if (s->is_utf16)
                log_error("%s is in UTF-16, which is not read: \"iconv -f UTF-16 -t UTF-8\" makes "
                          "text of it.",
                          s->name);
        else if (foreign)
                log_error("there is no trace in %s: line %llu looks like %s: %s.", s->name,
                          (unsigned long long) line, foreign->name, foreign->reason);
        else
                log_error("there is no trace in %s: none of its first %s lines is one of %s.",
                          s->name, FORMAT_COUNT(c->n_lines), kinds_read(kinds));
        return STATUS_FAILED;
}

int text_source_take_fd(TextSource *ret, const Options *o, const char *word, int fd) {
        bool is_input = streq(word, "-");
        _cleanup_text_source_ TextSource s = { .name = is_input ? "standard input" : word,
                                               .is_utf16 = !is_input && begins_as_utf16(fd) };
        int r;

        *ret = (TextSource){};
        if (o->buffer) {
                close(fd);
                return failed(
                        STATUS_USAGE,
                        "--buffer: \"%s\" is a text, and only a trace.dat has several buffers.",
                        word);
        }
        r = text_trace_take_fd(&s.trace, fd,
                               o->nth_trace == NTH_TRACE_ALL ? TEXT_TRACE_ALL
                                                             : MAX(o->nth_trace, 1));
        if (r == TEXT_TRACE_E_FEWER)
                return no_such_trace(&s, o);
        if (r == TEXT_TRACE_E_FOREIGN)
                return no_trace(&s);
        if (r < 0)
                return failed_errno(r, "Failed to read \"%s\": %m", s.name);
        text_trace_keep_going(s.trace, o->keep_going);
        *ret = TAKE(s, (TextSource){});
        return STATUS_OK;
}

RenderContext text_source_layout(const TextSource *s, const Options *o, DrawingOptions *d) {
        const TextLayout *l = text_trace_layout(s->trace);
        const TextForm *form = text_kind_form(l->kind);
        RenderOptions *render = &d->render, as_it_was = RENDER_OPTIONS_DEFAULT;
        uint32_t n_cpus = 1;

        d->format = d->format ?: form->format;
        render->header = render->header && (l->has_header || !form->has_columns);
        as_it_was.header = render->header;
        as_it_was.retval = render->retval;
        as_it_was.colour = render->colour;
        as_it_was.abstime = render->abstime = l->columns.abstime;
        as_it_was.cpu = render->cpu = l->columns.cpu;
        as_it_was.proc = render->proc = !form->has_columns || l->columns.proc;
        as_it_was.duration = render->duration = !form->has_columns || l->columns.duration;
        for (size_t i = 0; i < o->render.n; i++)
                (void) render_option_set(render, o->render.items[i]);
        /* What no option changes is drawn as it stands in the text. */
        render->verbatim =
                !o->analysis.lines && streq(d->format, form->format) &&
                (l->kind == TEXT_INDENT ||
                 (l->kind == TEXT_GRAPH && memcmp(render, &as_it_was, sizeof(as_it_was)) == 0));
        /* As many CPUs as make the column so wide. */
        for (uint32_t i = 1; i < l->columns.n_cpu_digits; i++)
                n_cpus *= 10;
        return (RenderContext){
                .options = *render,
                .n_possible_cpus = n_cpus > 1 ? n_cpus + 1 : 1,
                .heading = l->kind == TEXT_GRAPH && render->verbatim ? l->heading : NULL,
        };
}

int text_source_next(TextSource *s, Step *ret) {
        int r = text_trace_next(s->trace, ret);

        if (r < 0)
                return -failed_errno(r, "Failed to read \"%s\": %m", s->name);
        if (r == TEXT_TRACE_E_DAMAGED) {
                say_damage(s);
                return -failed(STATUS_FAILED, "%s: --keep-going reads what is not damaged.",
                               s->name);
        }
        if (_unlikely_(r > 0 && ret->kind == STEP_LOST && ret->n_lost == 0 && !ret->said))
                s->n_uncounted++;
        return r;
}

static void add_skipped(const TextSource *s, Buf *out) {
        uint64_t n_skipped = text_trace_count(s->trace)->n_remarks[TEXT_NOT_TRACE];
        const TextNote *notes, *first = NULL;
        size_t n;

        if (n_skipped == 0)
                return;
        notes = text_trace_notes(s->trace, &n);
        /* An empty one says nothing. */
        for (size_t i = 0; i < n; i++)
                if (notes[i].remark == TEXT_NOT_TRACE &&
                    (!first || (!first->text[0] && notes[i].text[0])))
                        first = &notes[i];
        if (n_skipped == 1)
                buf_adds(out, "; 1 is not of a trace, and was skipped");
        else
                buf_printf(out, "; %s lines are not of a trace, and were skipped",
                           FORMAT_COUNT(n_skipped));
        if (first && first->text[0])
                buf_printf(out, "%sline %llu: \"%s\"", n_skipped == 1 ? ", " : ", the first is ",
                           (unsigned long long) first->line, NAME_QUOTED(first->text));
}

/* Where the traces begin that were not read, or what --nth-trace makes of them. */
static void add_traces(const TextSource *s, const Options *o, Buf *out) {
        const TextCount *c = text_trace_count(s->trace);
        unsigned long long n_traces = (unsigned long long) c->n_traces;
        unsigned nth = (unsigned) MAX(o->nth_trace, 1), shown = 0, i_trace = 1;
        const TextNote *notes;
        size_t n;

        if (n_traces < 2)
                return;
        if (o->nth_trace == NTH_TRACE_ALL) {
                buf_printf(out, "; all its %llu traces as if they were one", n_traces);
                return;
        }
        buf_printf(out, "; it has %llu traces, and this is number %u (--nth-trace)", n_traces, nth);
        notes = text_trace_notes(s->trace, &n);
        for (size_t i = 0; i < n && shown < N_TRACES_SAID; i++) {
                if (notes[i].remark != TEXT_ANOTHER || ++i_trace == nth)
                        continue;
                buf_printf(out, "%s number %u begins at line %llu", shown++ > 0 ? "," : ":",
                           i_trace, (unsigned long long) notes[i].line);
        }
}

/* One line: what it is, how much of it was read, what was not and why. */
static void say_what_was_read(const TextSource *s, const Options *o) {
        const TextForm *form = text_kind_form(text_trace_layout(s->trace)->kind);
        const char *envelope = text_trace_envelope(s->trace);
        const TextCount *c = text_trace_count(s->trace);
        uint64_t n_lines = c->n_lines - c->n_elsewhere - c->n_remarks[TEXT_NOT_TRACE] -
                           c->n_remarks[TEXT_DAMAGED];
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_free_ char *text = NULL;

        buf_printf(&out, "%s: %s%s%s%s, %s of %s lines", s->name, form->name, envelope ? " (" : "",
                   envelope ?: "", envelope ? ")" : "", FORMAT_COUNT(n_lines),
                   FORMAT_COUNT(c->n_lines));
        add_skipped(s, &out);
        add_traces(s, o, &out);
        if (buf_take_string(&out, &text) == 0)
                talk(o, "%s.", text);
}

void text_source_say_untimed(const TextSource *s) {
        const TextLayout *l = text_trace_layout(s->trace);
        const TextCount *c = text_trace_count(s->trace);

        if (c->n_leaf + c->n_close == 0)
                return;
        if (c->n_timed == 0)
                log_warning("%s has no durations (as with the option nofuncgraph-duration): calls "
                            "are counted, but all times are 0.",
                            s->name);
        else if (text_kind_form(l->kind)->has_columns && !l->columns.duration)
                log_warning("%s has no durations: they are taken from the times of day, and calls "
                            "in one line have none.",
                            s->name);
}

int text_source_finish(const TextSource *s, const Options *o) {
        const TextCount *c = text_trace_count(s->trace);
        char more[UNIT_TEXT_MAX + 48] = "";

        say_what_was_read(s, o);
        if (c->n_lost > 0 && s->n_uncounted > 0)
                (void) snprintf(more, sizeof(more), ", and some more in %s place%s",
                                FORMAT_COUNT(s->n_uncounted), s->n_uncounted == 1 ? "" : "s");
        if (c->n_losses > 0 && c->n_lost > 0)
                log_warning("%s: the tracer had lost %s events%s.", s->name,
                            FORMAT_COUNT(c->n_lost), more);
        else if (c->n_losses > 0)
                log_warning("%s: the tracer had lost events.", s->name);
        if (c->n_remarks[TEXT_GAP] > 0)
                log_warning("%s: foreign lines interrupt the trace in %s place%s; some of it may "
                            "be missing there, and calls that were open are cut.",
                            s->name, FORMAT_COUNT(c->n_remarks[TEXT_GAP]),
                            c->n_remarks[TEXT_GAP] == 1 ? "" : "s");
        say_damage(s);
        return c->n_remarks[TEXT_DAMAGED] > 0                  ? STATUS_FAILED
               : c->n_losses > 0 || c->n_remarks[TEXT_GAP] > 0 ? STATUS_INCOMPLETE
                                                               : STATUS_OK;
}

void text_source_done(TextSource *s) {
        text_trace_free(s->trace);
        *s = (TextSource){};
}

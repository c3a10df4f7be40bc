/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables, of formats and of the options they share, and the format that is a page long. */

#include <stddef.h>

#include "calls/stacks.h"
#include "render/renderer.h"

const Renderer *const renderers[] = {
        &renderer_kernel,
        &renderer_indent,
        NULL,
};

const Renderer *renderer_find(const char *name) {
        if (!name)
                return renderers[0];
        for (const Renderer *const *p = renderers; *p; p++)
                if (streq((*p)->name, name))
                        return *p;
        return NULL;
}

static const struct {
        const char *name;
        size_t offset;
} options[] = {
        { "cpu", offsetof(RenderOptions, cpu) },
        { "duration", offsetof(RenderOptions, duration) },
        { "overhead", offsetof(RenderOptions, overhead) },
        { "proc", offsetof(RenderOptions, proc) },
        { "abstime", offsetof(RenderOptions, abstime) },
        { "tail", offsetof(RenderOptions, tail) },
        { "overrun", offsetof(RenderOptions, overrun) },
        { "irqs", offsetof(RenderOptions, irqs) },
        { "notes", offsetof(RenderOptions, notes) },
        { "args", offsetof(RenderOptions, args) },
        { "retval", offsetof(RenderOptions, retval) },
        { "retval-hex", offsetof(RenderOptions, retval_hex) },
        { "header", offsetof(RenderOptions, header) },
};

int render_option_set(RenderOptions *o, const char *word) {
        const char *rest = startswith(word, "no");
        bool value = !rest;

        rest = rest ?: word;
        rest = startswith(rest, "funcgraph-") ?: rest;
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (streq(rest, options[i].name)) {
                        *(bool *) ((char *) o + options[i].offset) = value;
                        return 0;
                }
        return RENDER_E_UNKNOWN;
}

/* --- indent ----------------------------------------------------------------------------------- */

/*
 * As SystemTap scripts draw that print thread_indent():
 *
 *         117 client(16140):      -> udp_sendmsg
 *         121 client(16140):      <- udp_sendmsg
 *
 * Microseconds since the task's outermost call, the task, a blank for each level.
 * A leaf is two lines, one right after the other.  The outermost level of a task is the lowest that
 * has been seen of it, since depth in a recording need not begin at 0.
 *
 * Source: SystemTap 4.8, tapset/indent.stp, and "%s -> %s\n" of the usual script.
 */

#define USEC_COLUMNS 6
#define LINE_REST_BYTES 64 /* but names, blanks and what a text says */

typedef struct Indent {
        RenderOptions options;
        Buf *out;
        Stacks stacks; /* of which only base_ns and floor are used */
        char comm[32]; /* of the last line */
        int32_t pid;
        Buf task;      /* of them; empty: there was no line yet */
        uint64_t usec; /* of the last line, too */
        char column[DECIMAL_BYTES];
        size_t n_column; /* 0: there was none */
} Indent;

/* "client(16140):" */
static _cold_ void make_task(Indent *d, const char *comm, int32_t pid) {
        (void) snprintf(d->comm, sizeof(d->comm), "%s", comm);
        d->pid = pid;
        d->task.n_data = 0;
        buf_add_plain(&d->task, comm, strlen(comm), PLAIN_WORD);
        buf_printf(&d->task, "(%d):", MAX(pid, 0));
}

/* Mostly no more than its last digit is another than the last line's. */
static inline char *append_time(Indent *d, char *p, uint64_t since_ns) {
        uint64_t usec = since_ns / 1000, more = usec - d->usec;

        if (_likely_(d->n_column > 0 && more <= (uint64_t) ('9' - d->column[d->n_column - 1])))
                d->column[d->n_column - 1] += (char) more;
        else
                d->n_column =
                        (size_t) (append_column(d->column, usec, USEC_COLUMNS, ' ') - d->column);
        d->usec = usec;
        memcpy(p, d->column, DECIMAL_BYTES);
        return p + d->n_column;
}

/* @end_ns: UINT64_MAX, or when it ends what begins: if its two lines are alike, the second is drawn as well.  Whether it is. */
static bool draw_line(Indent *d, const Step *step, const char *arrow, uint64_t since_ns,
                      uint64_t end_ns, int32_t depth) {
        const char *comm = step->comm ?: "<...>", *note = "";
        const CallWay *way = *arrow == '-' ? step->way : NULL;
        const StepText *said = step->said && step->said->is_indented ? step->said : NULL;
        const Function *f = step->function;
        char text[UNHOOKED_TEXT_MAX], *p, *from, *rest, *at_arrow;
        size_t n_rest, n_line;

        /* A name that does not fit is none of the last line's. */
        if (_unlikely_(d->task.n_data == 0 || d->pid != step->pid ||
                       strncmp(d->comm, comm, sizeof(d->comm)) != 0))
                make_task(d, comm, step->pid);
        if (_unlikely_(f->n_unhooked > 0) && !said && d->options.notes && *arrow == '-')
                note = unhooked_note(text, f->n_unhooked);
        n_line = LINE_REST_BYTES + d->task.n_data + (size_t) depth + f->n_label + strlen(note) +
                 (way ? way->n_text : 0) + (said ? said->n_args : 0);
        from = p = buf_reserve(d->out, 2 * n_line);
        if (!p || d->task.error < 0) {
                d->out->error = d->out->error ?: d->task.error;
                return false;
        }
        rest = p = append_time(d, p, since_ns);
        *p++ = ' ';
        p = append(p, d->task.data, d->task.n_data);
        at_arrow = p = append_chars(p, ' ', (size_t) depth + 1);
        p = append(p, arrow, 2);
        *p++ = ' ';
        p = append_slack(p, f->label, f->n_label);
        if (said && said->n_args > 0)
                p = append(p, said->args, said->n_args);
        if (_unlikely_(way || *note)) {
                p = APPEND(p, " /*");
                if (way)
                        p = append(APPEND(p, " <-"), way->text, way->n_text);
                if (*note)
                        p = append(APPEND(p, " "), note, strlen(note));
                p = APPEND(p, " */");
        }
        *p++ = '\n';
        n_rest = (size_t) (p - rest);
        end_ns = way || *note || said ? UINT64_MAX : end_ns;
        if (end_ns != UINT64_MAX) {
                p = append_time(d, p, end_ns);
                p = append(p, rest, n_rest);
                memcpy(p - n_rest + (at_arrow - rest), "<-", 2);
        }
        buf_advance(d->out, (size_t) (p - from), !step->said); /* names are words */
        return end_ns != UINT64_MAX;
}

static void indent_step(void *userdata, const Step *step) {
        uint64_t begin_ns, end_ns;
        Indent *d = userdata;
        Stack *stack;

        if (!step_is_call(step))
                return;
        if (step->said && step->said->text && d->options.verbatim) {
                buf_add(d->out, step->said->text, step->said->n_text);
                buf_add(d->out, "\n", 1);
                return;
        }
        stack = stacks_get(&d->stacks, step);
        if (!stack) {
                d->out->error = d->out->error ?: -ENOMEM;
                return;
        }
        begin_ns = end_ns = step->timestamp_ns;
        if (step->kind == STEP_LEAF)
                end_ns += step_duration_ns(step);
        if (step->depth <= stack->floor) {
                stack->floor = step->depth;
                if (step->kind != STEP_LEAVE || stack->base_ns == 0)
                        stack->base_ns = begin_ns;
        }
        begin_ns -= MIN(begin_ns, stack->base_ns);
        end_ns -= MIN(end_ns, stack->base_ns);
        if (step->kind != STEP_LEAVE &&
            draw_line(d, step, "->", begin_ns, step->kind == STEP_LEAF ? end_ns : UINT64_MAX,
                      step->depth - stack->floor))
                return;
        if (step->kind != STEP_ENTER)
                draw_line(d, step, "<-", end_ns, UINT64_MAX, step->depth - stack->floor);
}

static void indent_free(void *userdata) {
        Indent *d = userdata;

        if (!d)
                return;
        stacks_done(&d->stacks);
        buf_done(&d->task);
        free(d);
}

static int indent_new(void **ret, const RenderContext *context, Buf *out) {
        Indent *d = NEW(Indent, .options = context->options, .out = out, .task = BUF_INIT);

        *ret = d;
        return d ? 0 : -ENOMEM;
}

const Renderer renderer_indent = {
        .name = "indent",
        .summary = "calls and returns as SystemTap's thread_indent() scripts have them",
        .new = indent_new,
        .step = indent_step,
        .free = indent_free,
};

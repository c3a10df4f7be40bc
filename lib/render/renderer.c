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

typedef struct Indent {
        RenderOptions options;
        Buf *out;
        Stacks stacks; /* of which only base_ns and floor are used */
} Indent;

static void draw_line(Indent *d, const Step *step, const char *arrow, uint64_t since_ns,
                      int32_t depth) {
        const char *comm = step->comm ?: "<...>";

        buf_printf(d->out, "%*llu ", USEC_COLUMNS, (unsigned long long) (since_ns / 1000));
        buf_add_plain(d->out, comm, strlen(comm), PLAIN_WORD);
        buf_printf(d->out, "(%d):", MAX(step->pid, 0));
        buf_pad(d->out, (size_t) depth + 1, ' ');
        buf_printf(d->out, "%s ", arrow);
        buf_add(d->out, step->function->label, step->function->n_label);
        if (step->said && step->said->is_indented)
                buf_add(d->out, step->said->args, step->said->n_args);
        else if (_unlikely_(step->function->n_unhooked > 0) && d->options.notes && *arrow == '-')
                buf_printf(d->out, " /* %s */", UNHOOKED_NOTE(step->function->n_unhooked));
        buf_add(d->out, "\n", 1);
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
        if (step->kind != STEP_LEAVE)
                draw_line(d, step, "->", begin_ns, step->depth - stack->floor);
        if (step->kind != STEP_ENTER)
                draw_line(d, step, "<-", end_ns, step->depth - stack->floor);
}

static void indent_free(void *userdata) {
        Indent *d = userdata;

        if (!d)
                return;
        stacks_done(&d->stacks);
        free(d);
}

static int indent_new(void **ret, const RenderContext *context, Buf *out) {
        Indent *d = NEW(Indent, .options = context->options, .out = out);

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

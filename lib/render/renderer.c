/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables: of formats and of the options they share. */

#include <stddef.h>

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

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One place, so that the same time looks the same in every table. */

#include "base/name.h"
#include "base/unit.h"
#include "cli/figures.h"

char *figure_exact(char text[static FIGURE_MAX], uint64_t ns) {
        if (ns < NSEC_PER_MSEC)
                (void) snprintf(text, FIGURE_MAX, "%.3f us", (double) ns / NSEC_PER_USEC);
        else if (ns < NSEC_PER_SEC)
                (void) snprintf(text, FIGURE_MAX, "%.3f ms", (double) ns / NSEC_PER_MSEC);
        else
                (void) snprintf(text, FIGURE_MAX, "%.3f s", (double) ns / NSEC_PER_SEC);
        return text;
}

char *figure_round(char text[static FIGURE_MAX], uint64_t ns) {
        static const struct {
                uint64_t ns;
                const char *name;
        } units[] = { { NSEC_PER_SEC, "s" }, { NSEC_PER_MSEC, "ms" }, { NSEC_PER_USEC, "us" } };
        size_t i = 0;
        double v;

        while (i < ELEMENTSOF(units) - 1 && ns < units[i].ns)
                i++;
        v = (double) ns / (double) units[i].ns;
        (void) snprintf(text, FIGURE_MAX, "%.*f %s", v < 9.995 ? 2 : 1, v, units[i].name);
        return text;
}

void figure_add(Table *t, uint64_t ns) {
        char text[FIGURE_MAX];

        table_add(t, "%s", figure_exact(text, ns));
}

void figure_add_function(Table *t, const Function *function) {
        char quoted[NAME_QUOTE_MAX];

        table_add(t, "%s", name_quote(quoted, function->label));
}

void figure_function_json(json_t *object, const Function *f) {
        (void) json_object_set_new(object, "function", json_stringn(f->label, f->n_name));
        (void) json_object_set_new(
                object, "module",
                f->n_label > f->n_name + 3
                        ? json_stringn(f->label + f->n_name + 2, f->n_label - f->n_name - 3)
                        : json_null());
}

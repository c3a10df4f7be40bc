/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One place, so that the same thing looks the same in every table. */

#include "base/name.h"
#include "cli/terminal/figures.h"

void figure_add(Table *t, uint64_t ns) {
        table_add(t, "%s", FIGURE_EXACT(ns));
}

void figure_add_function(Table *t, const Function *function) {
        table_add(t, "%s", NAME_QUOTED(function->label));
}

void figure_function_json(json_t *object, const Function *f) {
        (void) json_object_set_new(object, "function", json_stringn(f->label, f->n_name));
        (void) json_object_set_new(
                object, "module",
                f->n_label > f->n_name + 3
                        ? json_stringn(f->label + f->n_name + 2, f->n_label - f->n_name - 3)
                        : json_null());
}

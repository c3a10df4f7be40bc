/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Steps made by hand, for what is fed with them. */

#include "calls/step.h"

/* Behind a label: FUNCTION_SLACK. */
#define SLACK "\0_______________________________"

static const Function step_root = {
        .address = 1, .label = "root" SLACK, .n_label = 4, .n_name = 4
};
static const Function step_child = {
        .address = 2, .label = "child" SLACK, .n_label = 5, .n_name = 5, .root = -1
};
static const Function step_irq = { .address = 4,
                                   .label = "tick" SLACK,
                                   .n_label = 4,
                                   .n_name = 4,
                                   .root = -1,
                                   .is_irq_entry = true };
static const Function step_module = {
        .address = 3, .label = "leaf [mod]" SLACK, .n_label = 10, .n_name = 4, .root = -1
};

/* Of task 17 on CPU 0, at 1 s. */
static inline Step step_of(StepKind kind, const Function *function, int32_t depth) {
        return (Step){
                .kind = kind,
                .pid = 17,
                .comm = "client",
                .depth = depth,
                .function = function,
                .timestamp_ns = 1000000000,
        };
}

static inline Step step_enter(const Function *function, int32_t depth) {
        return step_of(STEP_ENTER, function, depth);
}

static inline Step step_leaf(const Function *function, int32_t depth, uint64_t duration_ns) {
        Step s = step_of(STEP_LEAF, function, depth);

        s.rettime = duration_ns;
        return s;
}

static inline Step step_leave(const Function *function, int32_t depth, uint64_t duration_ns) {
        Step s = step_of(STEP_LEAVE, function, depth);

        s.rettime = duration_ns;
        return s;
}

static inline Function function_named(const char *label) {
        return (Function){ .label = label,
                           .n_label = (uint32_t) strlen(label),
                           .n_name = (uint32_t) strcspn(label, " ") };
}

/* "dport=53, file=/log/x", whose values of digits are numbers; for free(). */
static inline Object *object_made(const char *text) {
        size_t n_text = strlen(text);
        Object *o = calloc(1, sizeof(*o) + 8 * sizeof(*o->fields) + n_text + 1);
        const char *p = text;

        for (; *p; p += strspn(p, ", ")) {
                ObjectField *f = &o->fields[o->n++];

                f->name = (uint32_t) (p - text);
                f->n_name = (uint32_t) strcspn(p, "=");
                f->value = f->name + f->n_name + 1;
                f->n_value = (uint32_t) strcspn(text + f->value, ",");
                f->is_number = strspn(text + f->value, "0123456789") == f->n_value;
                f->number.magnitude = f->is_number ? strtoull(text + f->value, NULL, 10) : 0;
                p = text + f->value + f->n_value;
        }
        o->n_text = (uint32_t) n_text;
        strcpy((char *) object_text(o), text);
        return o;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The step, what a text says of it, its arguments, and then the strings, one behind the other. */

#include "calls/step-copy.h"

static const char *put(char **at, const char *s, size_t n) {
        char *copy = *at;

        if (!s)
                return NULL;
        memcpy(copy, s, n);
        copy[n] = 0;
        *at += n + 1;
        return copy;
}

static size_t length(const char *s) {
        return s ? strlen(s) : 0;
}

void *step_copy(const Step *step, size_t n_before, Step **ret_step) {
        const StepText *said = step->said;
        size_t n_comm = length(step->comm), n_text = length(step->text);
        size_t n_args = step->n_args * sizeof(*step->args);
        size_t n_said = said ? sizeof(*said) : 0;
        size_t n_strings = n_comm + 1 + n_text + 1;
        char *block, *at;
        StepText *text = NULL;
        Step *copy;

        if (said)
                n_strings += (size_t) said->n_args + said->n_note + said->n_latency +
                             said->n_change + said->n_begin_marker + said->n_end_marker +
                             said->n_text + said->n_duration + 8;
        n_before = (n_before + 15) / 16 * 16;
        block = malloc(n_before + sizeof(*copy) + n_said + n_args + n_strings);
        if (!block)
                return NULL;
        copy = (void *) (block + n_before);
        *copy = *step;
        at = (char *) (copy + 1);
        if (said) {
                text = (void *) at;
                at += sizeof(*text);
                *text = *said;
                copy->said = text;
        }
        if (n_args > 0) {
                copy->args = memcpy(at, step->args, n_args);
                at += n_args;
        }
        copy->comm = put(&at, step->comm, n_comm);
        copy->text = put(&at, step->text, n_text);
        if (said) {
                text->args = put(&at, said->args, said->n_args);
                text->note = put(&at, said->note, said->n_note);
                text->duration = put(&at, said->duration, said->n_duration);
                text->latency = put(&at, said->latency, said->n_latency);
                text->change = put(&at, said->change, said->n_change);
                text->begin_marker = put(&at, said->begin_marker, said->n_begin_marker);
                text->end_marker = put(&at, said->end_marker, said->n_end_marker);
                text->text = put(&at, said->text, said->n_text);
        }
        *ret_step = copy;
        return block;
}

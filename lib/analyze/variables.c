/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names are few and met again and again: each is looked up by a hash of its place and its text. */

#include <errno.h>
#include <string.h>

#include "analyze/variables.h"
#include "base/array.h"

#define RETURNED "ret"
#define OF_ROOTS 64 /* are kept free for outermost calls, which are met at any time */

/* Its index, or -ENOMEM, or VARIABLES_MAX: there are too many. */
static int find(Variables *v, uint32_t node, bool is_root, const char *name, size_t n_name) {
        uint64_t key = hash_bytes(hash_mix(node + UINT64_C(1)), name, n_name);
        const HashSlot *slot;
        char *copy;

        hash_each (slot, &v->by_name, key) {
                const Variable *known = &v->items[slot->value - 1];

                if (known->node == node && strncmp(known->name, name, n_name) == 0 &&
                    known->name[n_name] == 0)
                        return (int) (slot->value - 1);
        }
        if (v->n >= VARIABLES_MAX - (is_root ? 0 : OF_ROOTS))
                return VARIABLES_MAX;
        copy = strndup(name, n_name);
        if (!copy || !ARRAY_GROW(v->items, v->n) || hash_add(&v->by_name, key, v->n + 1) < 0) {
                free(copy);
                return -ENOMEM;
        }
        v->items[v->n] = (Variable){ .node = node, .name = copy };
        return (int) v->n++;
}

static int note(Variables *v, VariableValues *to, uint32_t node, bool is_root, const char *name,
                size_t n_name, ValueNumber value) {
        int i;

        if (!is_root && (value.magnitude >= VARIABLE_NUMBER_MAX || to->n >= VARIABLES_VALUES_MAX))
                return 0;
        i = find(v, node, is_root, name, n_name);
        if (i < 0 || i == VARIABLES_MAX)
                return MIN(i, 0);
        if (!ARRAY_ROOM(to->items, to->n_room, to->n + 1))
                return -ENOMEM;
        to->items[to->n++] = (VariableValue){ (uint32_t) i, value.is_negative, value.magnitude };
        return 0;
}

int variables_note(Variables *v, VariableValues *to, uint32_t node, bool is_root, const char *args,
                   const uint64_t *retval) {
        const char *name;
        ValueNumber value;
        size_t n_name;
        int r = 0;

        while (args && r >= 0 && arguments_next(&args, &name, &n_name, &value))
                r = note(v, to, node, is_root, name, n_name, value);
        if (retval && r >= 0)
                r = note(v, to, node, is_root, RETURNED, strlen(RETURNED), retval_number(*retval));
        return r;
}

void variables_done(Variables *v) {
        for (size_t i = 0; i < v->n; i++)
                free(v->items[i].name);
        free(v->items);
        hash_done(&v->by_name);
}

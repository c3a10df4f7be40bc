/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is asked of the black box before anything is armed in it. */

#include "daemon/tracer/controller-private.h"

int controller_find_black_box(Controller *c, BlackBox *ret) {
        int r = controller_attach(c);

        return r < 0 ? r : black_box_find(&c->fs, ret);
}

int controller_open_black_box(const Controller *c, const BlackBox *b, uint32_t cpu) {
        return black_box_open_raw(b, &c->fs, cpu);
}

int controller_clear_black_box(Controller *c, const BlackBox *b) {
        Instance *i;
        int r = instance_new_kept(&i, &c->fs, b->name);

        if (r < 0)
                return r;
        r = instance_clear(i);
        (void) instance_free(i);
        return r;
}

bool controller_note_in_memory(Controller *c, SessionMeta *m) {
        _cleanup_black_box_ BlackBox b = {};
        bool is_new = false;

        if (black_box_find(&c->fs, &b) != 0)
                return false;
        for (size_t i = 0; i < m->n_cpus; i++)
                for (size_t k = 0; k < b.n_cpus && m->cpus[i].in_memory == 0; k++)
                        if (b.cpus[k] == m->cpus[i].cpu && b.n_events[k] > 0) {
                                m->cpus[i].in_memory = b.n_events[k];
                                is_new = true;
                        }
        return is_new;
}

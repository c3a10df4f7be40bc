/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is asked of the black box before anything is armed in it. */

#include "daemon/tracer/controller-private.h"

int controller_find_black_box(Controller *c, BlackBox *ret) {
        (void) controller_attach(c);
        return black_box_find(&c->fs, ret);
}

int controller_open_black_box(const Controller *c, const BlackBox *b, uint32_t cpu) {
        return black_box_open_raw(b, &c->fs, cpu);
}

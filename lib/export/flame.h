/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Flame: a call tree as a picture, SVG with what makes it answer
 *
 * A frame is a node of the tree, as wide as its total; what of it is not below a narrower frame is
 * its own time.  It shows total, self and count when pointed at, fills the width when clicked, and
 * can be searched.  Frames have the exact figures as attributes:
 *
 *      <g class="f" data-x data-w data-s data-n data-l>   [ns], [ns], self [ns], calls, level
 *
 * "#search=TEXT" and "#zoom=FUNCTION" at the end of an address do so from the beginning.
 */

#include <stdbool.h>

#include "analyze/call-tree.h"
#include "base/buf.h"

typedef struct Flame {
        const char *title;
        CallTree *tree;
        CallTree *before; /* compared with this; NULL: with none */
        const char *before_title;
        bool has_script; /* in it, for a file of its own */
} Flame;

/* The <svg> element.  0 or -ENOMEM. */
int flame_write(Buf *out, const Flame *flame);
/* What makes it answer: a script that has neither "</" nor "]]>" in it. */
extern const char flame_script[];
extern const char flame_style[];

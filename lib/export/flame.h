/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Flame: a call tree as a picture, SVG with what makes it answer
 *
 * A frame is a node of the tree, as wide as its total; what of it is not below a narrower frame is
 * its own time, and what of that it waited has a colour of its own, at its right end.  It shows total,
 * self and count when pointed at, fills the width when clicked, and can be searched; if anything waited,
 * the time that was run, or waited, can be drawn alone.  Arrow keys go from frame to frame, Enter zooms,
 * Escape shows all.  Frames have the exact figures as attributes:
 *
 *      <g class="f" data-x data-w data-s data-n data-l>   [ns], [ns], self [ns], calls, level
 *      data-b data-t                                      waited itself, and with what is below; if any
 *
 * "#search=TEXT" and "#zoom=FUNCTION" at the end of an address do so from the beginning.
 */

#include <stdbool.h>

#include "analyze/call-tree.h"
#include "base/buf.h"

typedef struct Flame {
        const char *title; /* of a file, which has a script, too; NULL: a page has both */
        CallTree *tree;
        CallTree *before; /* compared with this; NULL: with none */
        const char *before_title;
        size_t max_frames; /* the widest are drawn; 0: as many as a browser takes */
} Flame;

/* The <svg> element.  0 or -ENOMEM. */
int flame_write(Buf *out, const Flame *flame);

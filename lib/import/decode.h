/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Decode: encodings of a line of text undone
 *
 * What is left is ASCII where a tracer's line is: blanks of other widths become blanks, a micro sign
 * an "u", a drawn bar a bar.  Each takes a line and writes at most LINES_MAX_BYTES, cutting the
 * rest; the room may be where the line is, for no result is longer than what it is made of, but for
 * tabs.
 */

#include "import/lines.h"
#include "import/scan.h"

/* quoted-printable, RFC 2045: "=3D".  Appends to @room, which has @n_room bytes and *@n in use.
 * Whether the line goes on in the next one. */
bool decode_qp(const Scan *s, char *room, size_t n_room, size_t *n);
bool decode_is_qp(const Scan *s);
/* Entities, and the tags of which web pages make lines of code. */
size_t decode_html(Scan s, char *room);
bool decode_is_html(const Scan *s);
/* Blanks and signs of UTF-8 and Latin-1, tabs, and what a terminal makes colours of. */
size_t decode_odd(Scan s, char *room);
bool decode_is_odd(const Scan *s);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Scripts: what runs in a browser, as text
 *
 * Each is the file of that name in this folder, with '.' for '_'.  They ask the picture for its figures,
 * and make no markup of names.  None has "</" or "]]>" in it, so that it can stand in SVG and HTML.
 */

extern const char heat_css[];
extern const char heat_js[];

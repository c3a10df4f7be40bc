/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Scripts: what runs in a browser, as text
 *
 * Each is the file of that name in this folder, with '.' for '_'.  They ask the picture for its figures,
 * and make no markup of names.  None has "</" or "]]>" in it, so that it can stand in SVG and HTML.
 */

extern const char flame_css[], flame_js[];
extern const char heat_css[], heat_js[];
/* The page's script is flame_js, heat_js and page_js, one behind the other: their SHA-256, in base64. */
extern const char page_css[], page_js[], page_sha256[];
/* Colours, light and dark, for all of them. */
extern const char theme_css[];

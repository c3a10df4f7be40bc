/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Escape: names made fit for the languages of exports
 *
 * A task may call itself what it likes (prctl(2), PR_SET_NAME), any bytes but NUL.  What is not
 * UTF-8 becomes U+FFFD in all of them, so that a file is text whatever was recorded.  What is UTF-8
 * and may not reach a terminal (base/buf.h) is escaped where the language can, else replaced.
 */

#include "base/buf.h"

/* What stands between the quotes of a JSON string.  '<', '>' and '&' are escaped too, so that JSON
 * may stand in an HTML script as it is. */
void escape_json(Buf *out, const char *s, size_t n);
/* Whether a spreadsheet would take a cell of it for a formula, and run that. */
static inline bool escape_is_formula(const char *s, size_t n) {
        return n > 0 && memchr("=+-@\t\n\r", s[0], 7);
}
/* A field of a CSV (RFC 4180), in quotes where it needs them; behind a ' what would be a formula. */
void escape_csv(Buf *out, const char *s, size_t n);
/* Text or an attribute's value of XML, SVG and HTML. */
void escape_xml(Buf *out, const char *s, size_t n);
/* A frame of a folded stack, which has no escapes: ';' is ':', a control character '?'. */
void escape_folded(Buf *out, const char *s, size_t n);

/* Any text as UTF-8, of which a terminal may not have all. */
void escape_utf8(Buf *out, const char *s, size_t n);

/* Numbers in decimal. */
void escape_u64(Buf *out, uint64_t n);
void escape_i64(Buf *out, int64_t n);

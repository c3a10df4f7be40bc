/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Fields of Protocol Buffers
 *
 * A message inside another one is made in a Buf of its own first, since its length comes before it.
 * Source: protobuf.dev, "Encoding".
 */

#include "base/buf.h"

/* uint32, uint64, bool, enum; int64 cast. */
void proto_u64(Buf *b, unsigned field, uint64_t v);
void proto_fixed64(Buf *b, unsigned field, uint64_t v);
/* string, bytes; a string must be UTF-8. */
void proto_bytes(Buf *b, unsigned field, const void *data, size_t n);
/* A string of any bytes: what is no UTF-8 is escaped. */
void proto_string(Buf *b, unsigned field, const char *s, size_t n);
/* A message, or what is packed; @message is empty afterwards, and its error @b's. */
void proto_message(Buf *b, unsigned field, Buf *message);

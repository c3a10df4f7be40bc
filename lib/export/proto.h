/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Proto: fields of Protocol Buffers, appended to a Buf
 *
 * A message inside another one is made in a Buf of its own first, since its length comes before it.
 *
 * Source: protobuf.dev, "Encoding".
 */

#include "base/buf.h"

static inline void proto_varint(Buf *b, uint64_t v) {
        char bytes[10];
        size_t n = 0;

        for (; v >= 0x80; v >>= 7)
                bytes[n++] = (char) (v | 0x80);
        bytes[n++] = (char) v;
        buf_add(b, bytes, n);
}

/* uint32, uint64, bool, enum; int64 cast. */
static inline void proto_u64(Buf *b, unsigned field, uint64_t v) {
        proto_varint(b, field << 3);
        proto_varint(b, v);
}

static inline void proto_fixed64(Buf *b, unsigned field, uint64_t v) {
        char bytes[8];

        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (char) (v >> 8 * i);
        proto_varint(b, field << 3 | 1);
        buf_add(b, bytes, sizeof(bytes));
}

/* string, bytes; a string must be UTF-8. */
static inline void proto_bytes(Buf *b, unsigned field, const void *data, size_t n) {
        proto_varint(b, field << 3 | 2);
        proto_varint(b, n);
        buf_add(b, data, n);
}

/* A message; @message is empty afterwards, and its error @b's. */
static inline void proto_message(Buf *b, unsigned field, Buf *message) {
        proto_bytes(b, field, message->data, message->n_data);
        b->error = b->error ?: message->error;
        message->n_data = 0;
}

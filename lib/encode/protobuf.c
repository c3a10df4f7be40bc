/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <endian.h>

#include "encode/escape.h"
#include "encode/protobuf.h"

void proto_u64(Buf *b, unsigned field, uint64_t v) {
        buf_add_varint(b, field << 3);
        buf_add_varint(b, v);
}

void proto_fixed64(Buf *b, unsigned field, uint64_t v) {
        v = htole64(v);
        buf_add_varint(b, field << 3 | 1);
        buf_add(b, &v, sizeof(v));
}

void proto_bytes(Buf *b, unsigned field, const void *data, size_t n) {
        buf_add_varint(b, field << 3 | 2);
        buf_add_varint(b, n);
        buf_add(b, data, n);
}

void proto_string(Buf *b, unsigned field, const char *s, size_t n) {
        _cleanup_buf_ Buf text = BUF_INIT;

        escape_utf8(&text, s, n);
        proto_message(b, field, &text);
}

void proto_message(Buf *b, unsigned field, Buf *message) {
        proto_bytes(b, field, message->data, message->n_data);
        b->error = b->error ?: message->error;
        message->n_data = 0;
}

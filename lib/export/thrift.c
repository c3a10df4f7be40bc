/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>

#include "export/thrift.h"

enum { TYPE_TRUE = 1, TYPE_FALSE = 2, TYPE_I8 = 3, TYPE_I64 = 6, TYPE_LIST = 9 };

void thrift_zigzag(Buf *out, int64_t v) {
        buf_add_varint(out, (uint64_t) v << 1 ^ (uint64_t) (v >> 63));
}

static void add_byte(Buf *out, unsigned v) {
        uint8_t byte = (uint8_t) v;

        buf_add(out, &byte, 1);
}

static void add_field(Thrift *t, int16_t field, unsigned type) {
        int16_t *last;

        if (field == 0)
                return;
        last = &t->last[t->level - 1];
        if (field - *last <= 15)
                add_byte(t->out, (unsigned) (field - *last) << 4 | type);
        else {
                add_byte(t->out, type);
                thrift_zigzag(t->out, field);
        }
        *last = field;
}

void thrift_begin(Thrift *t, int16_t field) {
        assert(t->level < THRIFT_LEVELS_MAX);
        add_field(t, field, THRIFT_STRUCT);
        t->last[t->level++] = 0;
}

void thrift_end(Thrift *t) {
        add_byte(t->out, 0);
        t->level--;
}

void thrift_bool(Thrift *t, int16_t field, bool v) {
        add_field(t, field, v ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_i8(Thrift *t, int16_t field, int8_t v) {
        add_field(t, field, TYPE_I8);
        add_byte(t->out, (uint8_t) v);
}

void thrift_i32(Thrift *t, int16_t field, int32_t v) {
        add_field(t, field, THRIFT_I32);
        thrift_zigzag(t->out, v);
}

void thrift_i64(Thrift *t, int16_t field, int64_t v) {
        add_field(t, field, TYPE_I64);
        thrift_zigzag(t->out, v);
}

void thrift_binary(Thrift *t, int16_t field, const void *data, size_t n) {
        add_field(t, field, THRIFT_BINARY);
        buf_add_varint(t->out, n);
        buf_add(t->out, data, n);
}

void thrift_list(Thrift *t, int16_t field, ThriftType type, size_t n) {
        add_field(t, field, TYPE_LIST);
        add_byte(t->out, n < 15 ? (unsigned) n << 4 | type : 0xf0 | type);
        if (n >= 15)
                buf_add_varint(t->out, n);
}

void thrift_empty(Thrift *t, int16_t field) {
        thrift_begin(t, field);
        thrift_end(t);
}

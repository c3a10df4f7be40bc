/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Records: the events in one page's payload
 *
 * A payload is a run of records, each begun by a 32-bit word: type_len (5 bits) and time_delta
 * (27 bits, ns since the record before it):
 *
 *      type_len   what follows
 *      1..28      data, 4 * type_len bytes
 *      0          u32 length (this word included), data
 *      29         padding: with delta 0 up to the page's end, else u32 length and so many bytes
 *      30         time extend: u32, the delta's upper bits (<< 27)
 *      31         absolute time: u32 upper bits; 59 bits of the time together
 *
 * type_len is the word's low bits on little-endian machines and its high bits on big-endian ones.
 *
 * Source: linux 6.1 include/linux/ring_buffer.h, struct ring_buffer_event, and
 * kernel/trace/ring_buffer.c, rb_event_length(), rb_update_read_stamp(), rb_fix_abs_ts().
 */

#include "base/bytes.h"

#define RECORD_SHORT_BYTES_MAX 112 /* of data, where type_len says how much that is */

typedef struct Record {
        uint64_t timestamp_ns;
        const uint8_t *data; /* into the page, aligned to 4 bytes at most */
        uint32_t n_data;
        bool swap; /* its numbers have another byte order than this machine */
} Record;

/* Position in a payload; plain data, valid as long as the payload is. */
typedef struct Records {
        const uint8_t *next, *end;
        uint64_t timestamp_ns; /* of the last record */
        bool big_endian;
        bool is_foreign;     /* big endian, or this machine is */
        const char *problem; /* after RECORDS_E_DAMAGED: what was wrong, a constant */
} Records;

enum {
        RECORDS_E_END = 1,
        RECORDS_E_DAMAGED = 2, /* a length points beyond the payload: the rest of it is lost */
};

/* @timestamp_ns: the page header's. */
void records_init(Records *ret, const void *payload, size_t n, uint64_t timestamp_ns,
                  bool big_endian);

/* records_next() for whatever is not a short record in this machine's own byte order. */
int records_next_unusual(Records *w, Record *ret);

/* The next record that holds data.  0, RECORDS_E_*; stays there. */
static _always_inline_ int records_next(Records *w, Record *ret) {
        size_t n_left = (size_t) (w->end - w->next);
        uint32_t head, n;

        if (_likely_(n_left >= 4 && !w->is_foreign)) {
                head = load_u32(w->next, false);
                n = (head & 31) * 4;
                /* Types 1 to 28 by one comparison: type 0 wraps round. */
                if (_likely_((head & 31) - 1 < 28 && n <= n_left - 4)) {
                        w->timestamp_ns += head >> 5;
                        *ret = (Record){ w->timestamp_ns, w->next + 4, n, false };
                        w->next += 4 + n;
                        return 0;
                }
        }
        return records_next_unusual(w, ret);
}

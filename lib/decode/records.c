/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One pass over a payload that trusts no length in it: whatever a record claims is compared with
 * what is left before it is believed, and the first contradiction ends the page.  Nothing is
 * copied; time records and padding are consumed on the way to the next record with data.
 */

#include "decode/records.h"

#define HEAD_BYTES 4U
#define DELTA_BITS 27
#define DELTA_MASK ((1U << DELTA_BITS) - 1)
#define ABSOLUTE_MASK ((UINT64_C(1) << 59) - 1)

enum {
        TYPE_LONG = 0,
        TYPE_DATA_MAX = 28,
        TYPE_PADDING = 29,
        TYPE_TIME_EXTEND = 30,
        TYPE_TIME_STAMP = 31,
};

void records_init(Records *ret, const void *payload, size_t n, uint64_t timestamp_ns,
                  bool big_endian) {
        *ret = (Records){
                .next = payload,
                .end = (const uint8_t *) payload + n,
                .timestamp_ns = timestamp_ns,
                .big_endian = big_endian,
                .is_foreign = big_endian || needs_swap(false),
        };
}

static int damaged(Records *w, const char *problem) {
        w->problem = problem;
        w->next = w->end;
        return RECORDS_E_DAMAGED;
}

/* An absolute time has 59 bits; the rest is that of the time before it, which it never precedes
 * (linux 6.1 ring_buffer.c, rb_fix_abs_ts()). */
static uint64_t absolute_time(uint64_t before, uint64_t stamp) {
        if (before & ~ABSOLUTE_MASK) {
                stamp |= before & ~ABSOLUTE_MASK;
                if (stamp < before)
                        stamp += ABSOLUTE_MASK + 1;
        }
        return stamp;
}

int records_next_unusual(Records *w, Record *ret) {
        const bool swap = needs_swap(w->big_endian);

        for (;;) {
                size_t n_left = (size_t) (w->end - w->next);
                uint32_t head, type, delta, n;

                if (n_left < HEAD_BYTES) {
                        if (n_left == 0)
                                return w->problem ? RECORDS_E_DAMAGED : RECORDS_E_END;
                        return damaged(w, "the payload ends inside a record's first word");
                }
                head = load_u32(w->next, swap);
                type = w->big_endian ? head >> DELTA_BITS : head & 31;
                delta = w->big_endian ? head & DELTA_MASK : head >> 5;

                if (_likely_(type >= 1 && type <= TYPE_DATA_MAX)) {
                        n = type * 4;
                        if (n > n_left - HEAD_BYTES)
                                return damaged(w, "a record reaches beyond the payload");
                        w->timestamp_ns += delta;
                        *ret = (Record){ w->timestamp_ns, w->next + HEAD_BYTES, n, swap };
                        w->next += HEAD_BYTES + n;
                        return 0;
                }
                if (type == TYPE_PADDING && delta == 0) {
                        w->next = w->end;
                        return RECORDS_E_END;
                }
                if (n_left < HEAD_BYTES + 4)
                        return damaged(w, "the payload ends inside a record's length");
                n = load_u32(w->next + HEAD_BYTES, swap);

                switch (type) {
                case TYPE_LONG:
                        /* Lengths are multiples of 4 (rb_calculate_event_length()). */
                        if (n < 4 || n > n_left - HEAD_BYTES || n % 4 != 0)
                                return damaged(w, "a long record's length is impossible");
                        w->timestamp_ns += delta;
                        *ret = (Record){ w->timestamp_ns, w->next + HEAD_BYTES + 4, n - 4, swap };
                        w->next += HEAD_BYTES + n;
                        return 0;
                case TYPE_PADDING:
                        /* A record that was discarded after later ones had been dated from it; a
                         * delta of 1 stands for 0 (rb_event_discard()). */
                        if (n < 4 || n > n_left - HEAD_BYTES || n % 4 != 0)
                                return damaged(w, "a discarded record's length is impossible");
                        if (delta != 1)
                                w->timestamp_ns += delta;
                        w->next += HEAD_BYTES + n;
                        break;
                case TYPE_TIME_EXTEND:
                        w->timestamp_ns += ((uint64_t) n << DELTA_BITS) + delta;
                        w->next += HEAD_BYTES + 4;
                        break;
                case TYPE_TIME_STAMP:
                        w->timestamp_ns = absolute_time(w->timestamp_ns,
                                                        (((uint64_t) n << DELTA_BITS) + delta) &
                                                                ABSOLUTE_MASK);
                        w->next += HEAD_BYTES + 4;
                        break;
                }
        }
}

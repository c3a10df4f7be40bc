/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments become numbers of this machine on the way, records of others stay as they are. */

#include "base/grow.h"
#include "decode/payload.h"

int payloads_keep(Payloads *p, const Formats *formats, Event *event) {
        size_t n = event->kind == EVENT_ENTRY ? event->n_args * sizeof(uint64_t) : event->n_bytes;
        bool swap = formats->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        const uint8_t *from = event->payload;
        uint64_t *words;

        p->at ^= 1;
        if (!ARRAY_ROOM(p->kept[p->at], p->n_room[p->at], n / sizeof(*words) + 1))
                return -ENOMEM;
        words = p->kept[p->at];
        if (event->kind == EVENT_ENTRY)
                for (uint32_t i = 0; i < event->n_args; i++)
                        words[i] = load_u64(from + i * sizeof(uint64_t), swap);
        else {
                memcpy(words, from, n);
                ((char *) words)[n] = 0;
        }
        event->payload = words;
        return 0;
}

void payloads_done(Payloads *p) {
        free(p->kept[0]);
        free(p->kept[1]);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Two words are read and nothing is believed: the length is compared with the page before it is
 * used, and the count of missed events is taken only from where it fits.  A page whose two words
 * are zero is looked through to its end, because only a page that was never written is all zero.
 */

#include "base/bytes.h"
#include "store/page.h"

/* linux 6.1 kernel/trace/ring_buffer.c */
#define COMMIT_MISSED_EVENTS (UINT64_C(1) << 31)
#define COMMIT_MISSED_STORED (UINT64_C(1) << 30)

/* All bytes are the first one, and that is zero. */
static bool is_zero(const uint8_t *p, size_t n) {
        return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

int page_parse(PageInfo *ret, const void *data, size_t n_data, bool swap) {
        const uint8_t *p = data;
        size_t n_room = n_data - PAGE_HEADER_BYTES;
        uint64_t timestamp = load_u64(p, swap), commit = load_u64(p + 8, swap);
        uint64_t n_payload = commit & PAGE_LENGTH_MASK;
        uint64_t n_missed = 0;

        if (timestamp == 0 && commit == 0)
                return is_zero(p + PAGE_HEADER_BYTES, n_room) ? PAGE_E_EMPTY : PAGE_E_TORN;
        if (n_payload > n_room)
                return PAGE_E_TORN;
        if ((commit & COMMIT_MISSED_EVENTS) && (commit & COMMIT_MISSED_STORED) &&
            n_room - n_payload >= sizeof(n_missed))
                n_missed = load_u64(p + PAGE_HEADER_BYTES + n_payload, swap);
        *ret = (PageInfo){
                .timestamp = timestamp,
                .n_payload = (uint32_t) n_payload,
                .missed = commit & COMMIT_MISSED_EVENTS,
                .n_missed = n_missed,
        };
        return 0;
}

void page_forget_missed(void *data) {
        uint64_t commit = load_u64((const uint8_t *) data + 8, false);

        commit &= ~(COMMIT_MISSED_EVENTS | COMMIT_MISSED_STORED);
        memcpy((uint8_t *) data + 8, &commit, sizeof(commit));
}

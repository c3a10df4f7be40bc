/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever is in a page: the walk stays inside it, moves on with every record,
 * ends, and decoding reads nothing beyond a record.  The quick way of decoding says what the
 * general one says.
 *
 * Input: one byte (bit 0 big endian, bits 1..2 the kernel's layout), u64 timestamp, payload.
 */

#include "decode/formats.h"
#include "decode/records.h"
#include "fuzz.h"

#define COMMON .type = { 0, 2 }, .flags = { 2, 1 }, .preempt_count = { 3, 1 }, .pid = { 4, 4, true }
#define EXIT_40                                                                                    \
        .func = { 8, 8 }, .depth = { 16, 4, true }, .overrun = { 20, 4 }, .calltime = { 24, 8 },   \
        .rettime = { 32, 8 }, .n_bytes = 40

/* 6.1 and Debian's 6.12, 6.12 with return values, 7.2. */
static const Formats layouts[] = {
        { COMMON, .entry_id = 11, .exit_id = 10,
          .entry = { .func = { 8, 8 }, .depth = { 16, 4, true }, .n_bytes = 20 },
          .exit = { EXIT_40 } },
        { COMMON, .entry_id = 11, .exit_id = 10,
          .entry = { .func = { 8, 8 }, .depth = { 16, 4, true }, .n_bytes = 20 },
          .exit = { .func = { 8, 8 },
                    .retval = { 16, 8 },
                    .depth = { 24, 4, true },
                    .overrun = { 28, 4 },
                    .calltime = { 32, 8 },
                    .rettime = { 40, 8 },
                    .n_bytes = 48 } },
        { COMMON, .entry_id = 11, .exit_id = 10,
          .entry = { .func = { 8, 8 }, .depth = { 16, 8 }, .n_bytes = 24 }, .exit = { EXIT_40 } },
};

static bool is_same(const Event *a, const Event *b) {
        if (a->kind != b->kind || a->id != b->id || a->timestamp_ns != b->timestamp_ns ||
            a->n_bytes != b->n_bytes)
                return false;
        if (a->kind == EVENT_SHORT)
                return true;
        return a->flags == b->flags && a->preempt_count == b->preempt_count && a->pid == b->pid &&
               a->depth == b->depth && a->func == b->func && a->calltime == b->calltime &&
               a->rettime == b->rettime && a->overrun == b->overrun;
}

static void decode(const Formats *f, const Record *record) {
        _cleanup_free_ uint8_t *copy = fuzz_copy(record->data, record->n_data);
        Record alone = *record;
        Event e = {}, slow = {};

        alone.data = copy;
        formats_decode(f, &alone, &e);
        formats_decode_any(f, &alone, &slow);
        FUZZ_CHECK(is_same(&e, &slow));
        FUZZ_CHECK(e.depth >= 0 && e.depth <= EVENT_DEPTH_MAX);
        FUZZ_CHECK(e.n_bytes == record->n_data);
        FUZZ_CHECK(e.timestamp_ns == record->timestamp_ns);
        if (e.kind == EVENT_ENTRY)
                FUZZ_CHECK(e.id == f->entry_id && record->n_data >= f->entry.n_bytes);
        if (e.kind == EVENT_EXIT)
                FUZZ_CHECK(e.id == f->exit_id && record->n_data >= f->exit.n_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ uint8_t *payload = NULL;
        const uint8_t *last;
        uint64_t timestamp_ns;
        Formats formats;
        Records walk;
        Record record;
        size_t n;
        int r;

        if (size < 9)
                return 0;
        formats = layouts[(data[0] >> 1) % ELEMENTSOF(layouts)];
        formats.big_endian = data[0] & 1;
        formats_prepare(&formats);
        memcpy(&timestamp_ns, data + 1, sizeof(timestamp_ns));
        n = size - 9;
        payload = fuzz_copy(data + 9, n);

        records_init(&walk, payload, n, timestamp_ns, formats.big_endian);
        last = payload;
        while ((r = records_next(&walk, &record)) == 0) {
                FUZZ_CHECK(record.data > last && record.data <= payload + n);
                FUZZ_CHECK(record.n_data <= (size_t) (payload + n - record.data));
                FUZZ_CHECK(walk.next == record.data + record.n_data);
                last = record.data + record.n_data - (record.n_data > 0);
                decode(&formats, &record);
        }
        FUZZ_CHECK(r == RECORDS_E_END || r == RECORDS_E_DAMAGED);
        FUZZ_CHECK((r == RECORDS_E_DAMAGED) == (walk.problem != NULL));
        FUZZ_CHECK(records_next(&walk, &record) == r);
        return 0;
}

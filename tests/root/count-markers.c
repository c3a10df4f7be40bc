/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * count-markers: what tests/workload/markers wrote, as a recording has it
 *
 *      count-markers SESSION-DIRECTORY
 *
 * Prints "N markers, N missing, N double" where the last number seen says how many there should be
 * at least.  It walks the records of every page: looking for the text alone would find marks that
 * an earlier use of a page has left behind its payload.
 */

#include <fcntl.h>

#include "base/cleanup.h"
#include "decode/records.h"
#include "pages/page-source.h"
#include "store/page.h"
#include "store/session-dir.h"

#define TRACE_PRINT 5    /* linux 6.1 kernel/trace/trace.h, enum trace_type */
#define PRINT_TEXT_AT 16 /* kernel/trace/trace_entries.h, FTRACE_ENTRY(print): 8 common, ip */
#define MARKERS_MAX (1U << 26)

typedef struct Seen {
        unsigned char *n;
        unsigned end;
} Seen;

static void count_record(Seen *seen, const Record *record) {
        char text[32] = "";
        unsigned i;

        if (record->n_data <= PRINT_TEXT_AT || load_u16(record->data, record->swap) != TRACE_PRINT)
                return;
        memcpy(text, record->data + PRINT_TEXT_AT,
               MIN(sizeof(text) - 1, record->n_data - PRINT_TEXT_AT));
        if (sscanf(text, "marker %u", &i) != 1 || i >= MARKERS_MAX)
                return;
        if (seen->n[i] < 255)
                seen->n[i]++;
        seen->end = MAX(seen->end, i + 1);
}

static int count_page(Seen *seen, const uint8_t *page, size_t page_bytes) {
        PageInfo info;
        Records records;
        Record record;
        int r;

        if (page_parse(&info, page, page_bytes, false) != 0)
                return 1;
        records_init(&records, page + PAGE_HEADER_BYTES, info.n_payload, info.timestamp, false);
        while ((r = records_next(&records, &record)) == 0)
                count_record(seen, &record);
        return r == RECORDS_E_END ? 0 : r;
}

static int count_segment(Seen *seen, const SessionDir *dir, uint32_t cpu, uint64_t sequence) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int r;

        r = page_source_open(&s, dir, cpu, sequence, NULL);
        for (uint64_t i = 0; r == 0 && i < s->n_pages; i++) {
                const void *page;
                uint64_t n;

                r = page_source_read(s, i, &page, &n);
                if (r == 0)
                        r = count_page(seen, page, s->page_bytes);
        }
        return r;
}

int main(int argc, char *argv[]) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_free_ unsigned char *n = calloc(MARKERS_MAX, 1);
        _cleanup_free_ uint32_t *cpus = NULL;
        Seen seen = { .n = n };
        size_t n_cpus;
        unsigned n_once = 0, n_missing = 0, n_double = 0;

        if (argc != 2 || !n ||
            session_dir_take_fds(&dir, open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC), -EBADF) <
                    0 ||
            session_dir_list_cpus(dir, &cpus, &n_cpus) < 0) {
                fprintf(stderr, "usage: count-markers SESSION-DIRECTORY\n");
                return 1;
        }
        for (size_t i = 0; i < n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n_sequences;

                if (session_dir_list_segments(dir, cpus[i], &sequences, &n_sequences) < 0)
                        return 1;
                for (size_t k = 0; k < n_sequences; k++) {
                        int r = count_segment(&seen, dir, cpus[i], sequences[k]);

                        if (r != 0) {
                                fprintf(stderr, "cpu%u, segment %llu: %s\n", cpus[i],
                                        (unsigned long long) sequences[k],
                                        r > 0 ? "damaged" : strerror(-r));
                                return 1;
                        }
                }
        }
        for (unsigned i = 0; i < seen.end; i++) {
                n_once += n[i] == 1;
                n_missing += n[i] == 0;
                n_double += n[i] > 1;
        }
        printf("%u markers, %u missing, %u double\n", n_once, n_missing, n_double);
        return 0;
}

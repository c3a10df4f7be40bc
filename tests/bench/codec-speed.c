/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How small and how fast the codec is on a session's raw segments: codec-speed SESSION-DIR.
 * CPU time of one thread; the pages are in memory.  An event is a record of funcgraph_entry or
 * funcgraph_exit.  What is decoded is compared.
 */

#include <glob.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/io.h"
#include "codec/block.h"
#include "decode/formats.h"
#include "store/page.h"
#include "tests/unit/segment-map.h"

#define RUNS 3

typedef struct Total {
        uint64_t n_raw, n_events, n_ours, n_zstd[2];
        double encode, decode, zstd[2]; /* seconds */
} Total;

static double cpu_seconds(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static int read_tracing(const char *session, const char *name, char **ret, size_t *ret_n) {
        char path[4096];

        (void) snprintf(path, sizeof(path), "%s/tracing/events/%s", session, name);
        return file_read(AT_FDCWD, path, ret, ret_n, 1 << 20);
}

static uint64_t count_events(const Formats *f, const uint8_t *pages, size_t n_pages) {
        uint64_t n = 0;

        for (size_t i = 0; i < n_pages; i++) {
                const uint8_t *page = pages + i * f->page_bytes;
                PageInfo info;
                Records walk;
                Record record;

                if (page_parse(&info, page, f->page_bytes, false) != 0)
                        continue;
                records_init(&walk, page + PAGE_HEADER_BYTES, info.n_payload, info.timestamp,
                             f->big_endian);
                while (records_next(&walk, &record) == 0) {
                        Event e;

                        formats_decode(f, &record, &e);
                        n += e.kind == EVENT_ENTRY || e.kind == EVENT_EXIT;
                }
        }
        return n;
}

static int measure_block(BlockCodec *c, const uint8_t *pages, size_t n_pages, size_t n_raw,
                         Total *total) {
        static const int levels[2] = { 1, 3 };
        _cleanup_free_ uint8_t *again = malloc(n_raw);
        double encode = 0, decode = 0, start;
        _cleanup_buf_ Buf out = BUF_INIT;
        int r;

        for (int run = 0; run < RUNS && again; run++) {
                out.n_data = 0;
                start = cpu_seconds();
                r = block_encode(c, pages, n_pages, &out);
                start = cpu_seconds() - start;
                if (r < 0)
                        return r;
                encode = run == 0 ? start : MIN(start, encode);
                start = cpu_seconds();
                r = block_decode(c, out.data, out.n_data, again, n_pages);
                start = cpu_seconds() - start;
                decode = run == 0 ? start : MIN(start, decode);
                if (r != 0 || memcmp(again, pages, n_raw) != 0)
                        return -EBADMSG;
        }
        total->encode += encode;
        total->decode += decode;
        total->n_ours += out.n_data;
        total->n_raw += n_raw;
        for (int i = 0; i < 2; i++) {
                if (!buf_reserve(&out, ZSTD_compressBound(n_raw)))
                        return out.error;
                start = cpu_seconds();
                total->n_zstd[i] += ZSTD_compress(out.data, out.n_room, pages, n_raw, levels[i]);
                total->zstd[i] += cpu_seconds() - start;
        }
        return 0;
}

static int measure_segment(const char *path, BlockCodec *c, const Formats *f, Total *total) {
        _cleanup_(segment_freep) Segment *s = NULL;
        size_t n_block = MAX(BLOCK_BYTES_MAX / f->page_bytes, (size_t) 1);
        int r = segment_take_fd(&s, open(path, O_RDONLY | O_CLOEXEC));

        if (r != 0)
                return r < 0 ? r : -EBADMSG;
        if (s->header.page_bytes != f->page_bytes)
                return -EINVAL;
        for (uint64_t i = 0; i < s->header.n_pages; i += n_block) {
                size_t n = (size_t) MIN(s->header.n_pages - i, (uint64_t) n_block);
                const uint8_t *pages = segment_page(s, i);

                total->n_events += count_events(f, pages, n);
                r = measure_block(c, pages, n, n * f->page_bytes, total);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void print(const Total *t) {
        double events = (double) t->n_events, mb = (double) t->n_raw / 1e6;

        printf("%.1f MB of pages, %.0f events\n", mb, events);
        printf("%-10s %6.2f bytes an event\n", "raw", (double) t->n_raw / events);
        printf("%-10s %6.2f bytes an event   encode %6.0f MB/s   decode %6.0f MB/s\n", "block",
               (double) t->n_ours / events, mb / t->encode, mb / t->decode);
        printf("%-10s %6.2f bytes an event   encode %6.0f MB/s\n", "zstd -1",
               (double) t->n_zstd[0] / events, mb / t->zstd[0]);
        printf("%-10s %6.2f bytes an event   encode %6.0f MB/s\n", "zstd -3",
               (double) t->n_zstd[1] / events, mb / t->zstd[1]);
}

int main(int argc, char **argv) {
        static const char *const names[] = { "header_page", "ftrace/funcgraph_entry/format",
                                             "ftrace/funcgraph_exit/format" };
        _cleanup_(block_codec_freep) BlockCodec *c = NULL;
        char *texts[ELEMENTSOF(names)] = {};
        const char *problem = "";
        glob_t segments = {};
        char pattern[4096];
        Total total = {};
        Formats f;
        int r = 0;

        if (argc < 2) {
                fprintf(stderr, "usage: codec-speed SESSION-DIR [LEVEL]\n");
                return EXIT_FAILURE;
        }
        for (size_t i = 0; i < ELEMENTSOF(names) && r >= 0; i++)
                r = read_tracing(argv[1], names[i], &texts[i], NULL);
        if (r >= 0)
                r = formats_parse(&f, texts[0], texts[1], texts[2], false, &problem);
        if (r == 0)
                r = block_codec_new(&c, f.page_bytes, false);
        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                if (r == 0 && i > 0)
                        r = block_codec_add_format(c, texts[i], strlen(texts[i]));
                free(texts[i]);
        }
        (void) snprintf(pattern, sizeof(pattern), "%s/cpu*/*.seg", argv[1]);
        if (r == 0 && glob(pattern, 0, NULL, &segments) != 0)
                r = -ENOENT;
        for (size_t i = 0; i < segments.gl_pathc && r == 0; i++)
                r = measure_segment(segments.gl_pathv[i], c, &f, &total);
        globfree(&segments);
        if (r != 0) {
                fprintf(stderr, "codec-speed: %s: %s %s\n", argv[1], strerror(-MIN(r, 0)), problem);
                return EXIT_FAILURE;
        }
        print(&total);
        return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * From front to back, a block of pages in memory at a time: read, checksum, encode, write.  The index
 * gathers meanwhile and goes to the end, so the output is written once and never gone back to.
 */

#include "base/bytes.h"
#include "base/io.h"
#include "codec/block.h"
#include "codec/sealed-reader.h"
#include "codec/sealed-writer.h"
#include "store/page.h"
#include "store/segment.h"

typedef struct SealedWriter {
        const SealedSource *source;
        int out_fd;
        SegmentHeader segment;
        bool swap;
        uint32_t block_pages; /* of a full block */
        BlockCodec *codec;
        uint8_t *pages;
        Buf body, index;
        uint64_t offset; /* in the output */
} SealedWriter;

static void writer_done(SealedWriter *w) {
        block_codec_free(w->codec);
        free(w->pages);
        buf_done(&w->body);
        buf_done(&w->index);
}

static int put(SealedWriter *w, const void *data, size_t n) {
        int r = write_full(w->out_fd, data, n);

        if (r >= 0)
                w->offset += n;
        return r;
}

/* Whatever of it does not fit would be lost by sealing: such a segment stays as it is. */
static int check_source(SealedWriter *w) {
        off_t n_file = lseek(w->source->fd, 0, SEEK_END);
        int r = segment_read_header(w->source->fd, &w->segment);
        const SegmentHeader *h = &w->segment;

        if (n_file < 0)
                return ORIGIN(-errno);
        if (r < 0)
                return r;
        if (r > 0 || h->state != SEGMENT_STATE_CLOSED || n_file < SEGMENT_HEADER_BYTES ||
            ((uint64_t) n_file - SEGMENT_HEADER_BYTES) % h->page_bytes != 0 ||
            ((uint64_t) n_file - SEGMENT_HEADER_BYTES) / h->page_bytes != h->n_pages)
                return SEALED_WRITE_E_UNFIT;
        /* Nothing of ours has holes; whatever made them, it would be blown up. */
        if (fd_next_hole(w->source->fd, SEGMENT_HEADER_BYTES, (uint64_t) n_file) <
            (uint64_t) n_file)
                return SEALED_WRITE_E_UNFIT;
        return 0;
}

static int prepare(SealedWriter *w) {
        const SealedSource *s = w->source;
        uint32_t page_bytes = w->segment.page_bytes, n_block = SEALED_BLOCK_RAW_MAX;
        size_t at = 0;
        int r;

        w->swap = needs_swap(s->big_endian);
        if (s->block_bytes > 0 && s->block_bytes < n_block)
                n_block = s->block_bytes;
        w->block_pages = MAX(n_block / page_bytes, 1U);
        w->pages = malloc((size_t) w->block_pages * page_bytes);
        if (!w->pages)
                return -ENOMEM;
        r = block_codec_new(&w->codec, page_bytes, w->swap);
        while (r >= 0 && at < s->n_formats) {
                size_t n = strnlen(s->formats + at, s->n_formats - at);

                r = block_codec_add_format(w->codec, s->formats + at, n);
                at += n + 1;
        }
        return r;
}

static int put_header(SealedWriter *w) {
        SealedHeader h = {
                .page_bytes = w->segment.page_bytes,
                .cpu = w->segment.cpu,
                .sequence = w->segment.sequence,
                .previous = w->segment.previous,
                .n_pages = w->segment.n_pages,
                .flags = w->source->big_endian ? SEALED_FLAG_BIG_ENDIAN : 0,
        };

        memcpy(h.session_id, w->segment.session_id, sizeof(h.session_id));
        sealed_header_format(&h);
        return put(w, &h, sizeof(h));
}

/* Times and losses from the pages' own headers; a page whose header cannot be read has none. */
static void look_at_pages(const SealedWriter *w, SealedBlock *b) {
        bool is_first = true;

        for (uint32_t i = 0; i < b->n_pages; i++) {
                PageInfo info;

                if (page_parse(&info, w->pages + (size_t) i * b->page_bytes, b->page_bytes,
                               w->swap) != 0)
                        continue;
                if (TAKE(is_first, false))
                        b->first_ns = info.timestamp;
                b->last_ns = info.timestamp;
                if (info.missed)
                        b->flags |= SEALED_FLAG_MISSED;
                b->n_missed += info.n_missed;
        }
}

static int put_block(SealedWriter *w, uint32_t number, uint64_t first_page, uint32_t n_pages) {
        SealedBlock b = {
                .flags = w->source->big_endian ? SEALED_FLAG_BIG_ENDIAN : 0,
                .page_bytes = w->segment.page_bytes,
                .cpu = w->segment.cpu,
                .sequence = w->segment.sequence,
                .block = number,
                .n_pages = n_pages,
                .first_page = first_page,
                .n_raw = n_pages * w->segment.page_bytes,
        };
        SealedEntry e;
        ssize_t n = pread_up_to(w->source->fd, w->pages, b.n_raw,
                                SEGMENT_HEADER_BYTES + first_page * b.page_bytes);
        int r;

        if (n < 0)
                return (int) n;
        if ((size_t) n < b.n_raw)
                return SEALED_WRITE_E_UNFIT;
        memcpy(b.session_id, w->segment.session_id, sizeof(b.session_id));
        look_at_pages(w, &b);
        b.raw_checksum = sealed_checksum(w->pages, b.n_raw);
        w->body.n_data = 0;
        r = block_encode(w->codec, w->pages, n_pages, &w->body);
        if (r < 0)
                return r;
        if (w->body.n_data > SEALED_BLOCK_BODY_MAX)
                return ORIGIN(-EFBIG);
        b.n_body = (uint32_t) w->body.n_data;
        b.body_checksum = sealed_checksum(w->body.data, w->body.n_data);
        e = sealed_entry_of(&b, w->offset);
        sealed_entry_format(&e);
        buf_add(&w->index, &e, sizeof(e));
        sealed_block_format(&b);
        return put(w, &b, sizeof(b)) ?: put(w, w->body.data, w->body.n_data);
}

static int put_index(SealedWriter *w, uint32_t n_blocks) {
        SealedFooter f = {
                .index_offset = w->offset,
                .n_pages = w->segment.n_pages,
                .n_blocks = n_blocks,
        };

        if (w->index.error < 0)
                return w->index.error;
        sealed_footer_format(&f, (const void *) w->index.data);
        return put(w, w->index.data, w->index.n_data) ?: put(w, &f, sizeof(f));
}

int sealed_write(int out_fd, const SealedSource *source, SealedSize *ret) {
        _cleanup_(writer_done) SealedWriter w = {
                .source = source, .out_fd = out_fd, .body = BUF_INIT, .index = BUF_INIT
        };
        uint32_t n_blocks = 0;
        int r = check_source(&w) ?: prepare(&w) ?: put_header(&w);

        for (uint64_t page = 0; r == 0 && page < w.segment.n_pages; n_blocks++) {
                uint32_t n = (uint32_t) MIN(w.block_pages, w.segment.n_pages - page);

                r = put_block(&w, n_blocks, page, n);
                page += n;
        }
        r = r ?: put_index(&w, n_blocks);
        if (r != 0)
                return r;
        *ret = (SealedSize){ .n_pages = w.segment.n_pages,
                             .n_blocks = n_blocks,
                             .n_bytes = w.offset };
        return 0;
}

int sealed_write_check(int out_fd, const SealedSize *size) {
        _cleanup_(sealed_reader_freep) SealedReader *reader = NULL;
        SealedCheck check = {};
        Damages damages = {};
        int r = sealed_reader_take_fd(&reader, out_fd, &damages);

        if (r == 0)
                r = sealed_reader_check(reader, &check);
        if (r != 0)
                return r < 0 ? r : SEALED_WRITE_E_DIFFERS;
        return reader->n_pages == size->n_pages && check.n_good == size->n_blocks &&
                               damages.n_all == 0
                       ? 0
                       : SEALED_WRITE_E_DIFFERS;
}

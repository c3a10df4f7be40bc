/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where the blocks are is told by the index at the file's end, or found by walking from header to
 * header.  A walk that comes upon something else looks for the next magic whose header has a good
 * checksum and belongs to this segment and behind the last one; gaps in the blocks' numbers then
 * say what is missing.
 *
 * What is looked through is no more than what the header's pages can take, and no hole, of which a
 * file that claims 900 GB is made.
 *
 * The file is read, not mapped: a block is copied by decoding anyway, and a file that somebody cuts
 * meanwhile is a short read instead of SIGBUS.
 */

#include "base/array.h"
#include "base/bytes.h"
#include "base/io.h"
#include "codec/block.h"
#include "codec/sealed-reader.h"

#define SEARCH_BYTES ((size_t) 64 << 10)

static int add_found(SealedReader *r, SealedEntry entry, uint32_t number) {
        return ARRAY_ADD(r->found, r->n_found, (SealedFound){ entry, number, false }) ? 0 : -ENOMEM;
}

/* --- finding the blocks ----------------------------------------------------------------------- */

static bool belongs(const SealedReader *r, const SealedBlock *b) {
        const SealedHeader *h = &r->identity;

        return b->page_bytes == h->page_bytes && b->cpu == h->cpu && b->sequence == h->sequence &&
               memcmp(b->session_id, h->session_id, sizeof(b->session_id)) == 0 &&
               ((b->flags ^ h->flags) & SEALED_FLAG_BIG_ENDIAN) == 0;
}

/* Without a header the first block says whose they are. */
static void identify_by(SealedReader *r, const SealedBlock *b) {
        r->identity = (SealedHeader){
                .page_bytes = b->page_bytes,
                .cpu = b->cpu,
                .sequence = b->sequence,
                .flags = b->flags & SEALED_FLAG_BIG_ENDIAN,
        };
        memcpy(r->identity.session_id, b->session_id, sizeof(b->session_id));
        r->has_identity = true;
}

SealedEntry sealed_entry_of(const SealedBlock *b, uint64_t offset) {
        return (SealedEntry){
                .offset = offset,
                .first_page = b->first_page,
                .first_ns = b->first_ns,
                .last_ns = b->last_ns,
                .n_missed = b->n_missed,
                .n_pages = b->n_pages,
                .n_body = b->n_body,
                .flags = b->flags,
        };
}

/* The header of a block at @offset: 0, SEGMENT_E_DAMAGED, -errno. */
static int read_block_header(const SealedReader *r, uint64_t offset, SealedBlock *ret) {
        uint8_t data[SEALED_BLOCK_HEADER_BYTES];
        ssize_t n = pread_up_to(r->fd, data, sizeof(data), offset);

        return n < 0 ? (int) n : sealed_block_parse(ret, data, (size_t) n);
}

/* 0: a block of this segment begins at @offset; SEGMENT_E_DAMAGED; -errno. */
static int look_at(SealedReader *r, uint64_t offset, SealedBlock *ret) {
        const SealedFound *last = r->n_found > 0 ? &r->found[r->n_found - 1] : NULL;
        SealedBlock b;
        int k = read_block_header(r, offset, &b);

        if (k != 0)
                return k;
        if (r->has_identity && !belongs(r, &b))
                return SEGMENT_E_DAMAGED;
        if (last && (b.block <= last->number ||
                     b.first_page < last->entry.first_page + last->entry.n_pages))
                return SEGMENT_E_DAMAGED;
        if (r->has_header && b.first_page + b.n_pages > r->n_pages)
                return SEGMENT_E_DAMAGED;
        *ret = b;
        return 0;
}

/* The largest that a segment of the header's pages can be: each in a block of its own, which has
 * become larger by being packed. */
static uint64_t file_bytes_max(const SealedHeader *h) {
        uint64_t n_page = 2 * (uint64_t) h->page_bytes + SEALED_BLOCK_HEADER_BYTES +
                          sizeof(SealedEntry),
                 n;

        return __builtin_mul_overflow(h->n_pages, n_page, &n)
                       ? UINT64_MAX
                       : n + MIN(UINT64_MAX - n, SEALED_HEADER_BYTES + sizeof(SealedFooter));
}

/* Moves *@offset to the next block's header, or to the file's end. */
static int search(SealedReader *r, uint64_t *offset, SealedBlock *ret, bool *ret_found) {
        _cleanup_free_ uint8_t *data = malloc(SEARCH_BYTES);
        const size_t n_magic = strlen(SEALED_BLOCK_MAGIC);

        if (!data)
                return -ENOMEM;
        *ret_found = false;
        for (;;) {
                const uint8_t *at = data;
                ssize_t n;

                *offset += fd_hole_bytes(r->fd, *offset, r->n_file);
                if (*offset >= r->n_file)
                        return 0;
                n = pread_up_to(r->fd, data, MIN(SEARCH_BYTES, r->n_file - *offset), *offset);
                if (n < 0)
                        return (int) n;
                while ((at = memmem(at, (size_t) (data + n - at), SEALED_BLOCK_MAGIC, n_magic))) {
                        uint64_t where = *offset + (uint64_t) (at - data);
                        int k = look_at(r, where, ret);

                        if (k < 0)
                                return k;
                        if (k == 0) {
                                *offset = where;
                                *ret_found = true;
                                return 0;
                        }
                        at++;
                }
                if ((size_t) n < SEARCH_BYTES)
                        return 0;
                *offset += SEARCH_BYTES - n_magic + 1;
        }
}

static int scan(SealedReader *r) {
        uint64_t offset = SEALED_HEADER_BYTES;

        for (;;) {
                bool found = true;
                SealedBlock b;
                int k = look_at(r, offset, &b);

                if (k == SEGMENT_E_DAMAGED)
                        k = search(r, &offset, &b, &found);
                if (k < 0)
                        return k;
                if (!found || offset >= r->n_file)
                        return 0;
                if (!r->has_identity)
                        identify_by(r, &b);
                k = add_found(r, sealed_entry_of(&b, offset), b.block);
                if (k < 0)
                        return k;
                offset += SEALED_BLOCK_HEADER_BYTES + b.n_body;
        }
}

/* @n_blocks 0: all from @block on. */
static void note_blocks(const SealedReader *r, uint32_t block, uint32_t n_blocks, uint64_t n_pages,
                        const char *what) {
        damages_add(r->damages, (Damage){ .part = DAMAGE_BLOCK,
                                          .block = block,
                                          .n_blocks = n_blocks,
                                          .n_pages = n_pages,
                                          .what = what });
}

/* Says which numbers and pages the scan did not come upon. */
static void note_gaps(const SealedReader *r) {
        uint64_t page = 0;
        uint32_t number = 0;

        for (size_t i = 0; i < r->n_found; i++) {
                const SealedFound *f = &r->found[i];

                if (f->number > number || f->entry.first_page > page)
                        note_blocks(r, number, MAX(f->number - number, 1U),
                                    f->entry.first_page - page, "the header is damaged");
                number = f->number + 1;
                page = f->entry.first_page + f->entry.n_pages;
        }
        if (page < r->n_pages)
                note_blocks(r, number, 0, r->n_pages - page, "cut off, or the headers are damaged");
}

/* 0, SEGMENT_E_DAMAGED, -errno. */
static int read_index(SealedReader *r) {
        _cleanup_free_ SealedEntry *entries = NULL;
        uint8_t data[sizeof(SealedFooter)];
        SealedFooter footer;
        size_t n_entries;
        ssize_t n;
        int k;

        if (r->n_file < SEALED_HEADER_BYTES + sizeof(footer))
                return SEGMENT_E_DAMAGED;
        n = pread_up_to(r->fd, data, sizeof(data), r->n_file - sizeof(data));
        if (n < 0)
                return (int) n;
        if (sealed_footer_parse(&footer, data, (size_t) n, r->n_file) != 0)
                return SEGMENT_E_DAMAGED;
        if ((r->has_header && footer.n_blocks > r->n_pages) ||
            fd_next_hole(r->fd, footer.index_offset, r->n_file) < r->n_file)
                return SEGMENT_E_DAMAGED;
        n_entries = footer.n_blocks * sizeof(*entries);
        entries = malloc(n_entries ?: 1);
        if (!entries)
                return -ENOMEM;
        n = pread_up_to(r->fd, entries, n_entries, footer.index_offset);
        if (n < 0)
                return (int) n;
        if (sealed_index_parse(entries, (size_t) n, &footer) != 0)
                return SEGMENT_E_DAMAGED;
        if (r->has_header && footer.n_pages != r->n_pages)
                return SEGMENT_E_DAMAGED;
        for (uint32_t i = 0; i < footer.n_blocks; i++) {
                k = add_found(r, entries[i], i);
                if (k < 0)
                        return k;
        }
        if (!r->has_header)
                r->n_pages = footer.n_pages;
        return 0;
}

/* The identity from the first block that still has its header. */
static int identify_by_index(SealedReader *r) {
        for (size_t i = 0; i < r->n_found; i++) {
                SealedBlock b;
                int k = read_block_header(r, r->found[i].entry.offset, &b);

                if (k == 0)
                        identify_by(r, &b);
                if (k <= 0)
                        return k;
        }
        return 0;
}

/* 0, SEGMENT_E_DAMAGED (nobody says whose they are), -errno. */
static int find_blocks(SealedReader *r) {
        const uint64_t n_max = r->has_header ? file_bytes_max(&r->identity) : UINT64_MAX;
        int k = r->n_file > n_max ? SEGMENT_E_DAMAGED : read_index(r);
        const bool has_index = k == 0;

        if (has_index && !r->has_identity)
                k = identify_by_index(r);
        if (!has_index && k >= 0) {
                r->n_found = 0;
                r->n_file = MIN(r->n_file, n_max);
                k = scan(r);
        }
        if (k < 0)
                return k;
        if (!r->has_identity)
                return SEGMENT_E_DAMAGED;
        if (!r->has_header)
                damages_add(r->damages, (Damage){ .part = DAMAGE_HEADER,
                                                  .what = "damaged; the blocks say the same" });
        if (has_index)
                return 0;
        if (!r->has_header) {
                const SealedEntry *last = &r->found[r->n_found - 1].entry;

                r->n_pages = last->first_page + last->n_pages;
        }
        damages_add(r->damages, (Damage){ .part = DAMAGE_INDEX,
                                          .what = "damaged; the blocks were found without it" });
        note_gaps(r);
        return 0;
}

/* --- reading a block -------------------------------------------------------------------------- */

/* A PieceUnpack. */
static int load(const void *source, Piece *p, void **scratch) {
        const SealedReader *r = source;
        const SealedEntry *e = &r->found[p->i].entry;
        BlockCodec **codec = (BlockCodec **) scratch;
        size_t n_block = SEALED_BLOCK_HEADER_BYTES + (size_t) e->n_body;
        const uint8_t *body;
        SealedEntry said;
        SealedBlock b;
        ssize_t n;
        size_t n_raw = (size_t) e->n_pages * r->identity.page_bytes;
        int k;

        p->problem = "the header contradicts the index or the file's";
        if (n_raw > SEALED_BLOCK_RAW_MAX)
                return 1;
        if (!ARRAY_ROOM(p->plain, p->n_plain_room, n_raw) ||
            !ARRAY_ROOM(p->packed, p->n_packed_room, n_block))
                return -ENOMEM;
        k = *codec ? 0
                   : block_codec_new(codec, r->identity.page_bytes,
                                     needs_swap(r->identity.flags & SEALED_FLAG_BIG_ENDIAN));
        if (k < 0)
                return k;
        n = pread_up_to(r->fd, p->packed, n_block, e->offset);
        if (n < 0)
                return (int) n;
        p->problem = "the file ends within it";
        if ((size_t) n < n_block)
                return 1;
        p->problem = "the header is damaged";
        if (sealed_block_parse(&b, p->packed, n_block) != 0)
                return 1;
        p->problem = "the header contradicts the index or the file's";
        said = sealed_entry_of(&b, e->offset);
        said.zero = e->zero; /* nobody's */
        if (!belongs(r, &b) || memcmp(&said, e, sizeof(said)) != 0)
                return 1;
        body = p->packed + SEALED_BLOCK_HEADER_BYTES;
        p->problem = "the body does not match its checksum";
        if (sealed_checksum(body, b.n_body) != b.body_checksum)
                return 1;
        p->problem = "the body cannot be decoded";
        k = block_decode(*codec, body, b.n_body, p->plain, b.n_pages);
        if (k != 0)
                return k;
        p->problem = "the pages do not match the checksum that was taken before sealing";
        /* Which is of the same kind as the block's own, and that was held against the pages. */
        return block_sum(body) == b.raw_checksum ? 0 : 1;
}

static void free_codec(void *scratch) {
        block_codec_free(scratch);
}

int sealed_reader_take_fd(SealedReader **ret, int fd, Damages *damages) {
        _cleanup_(sealed_reader_freep) SealedReader *r = NULL;
        _cleanup_close_ int owned = fd;
        off_t n_file = lseek(owned, 0, SEEK_END);
        int k;

        if (n_file < 0)
                return ORIGIN(-errno);
        r = NEW(SealedReader, .fd = TAKE_FD(owned), .n_file = (uint64_t) n_file, .damages = damages,
                .decoded = { .unpack = load, .free_scratch = free_codec });
        if (!r)
                return -ENOMEM;
        r->decoded.source = r;
        k = sealed_header_read(&r->identity, r->fd);
        if (k == SEGMENT_E_NEWER)
                damages_add(damages,
                            (Damage){ .part = DAMAGE_NEWER, .block = r->identity.version });
        if (k < 0 || k == SEGMENT_E_NEWER)
                return k;
        r->has_identity = r->has_header = k == 0;
        if (r->has_header)
                r->n_pages = r->identity.n_pages;
        k = find_blocks(r);
        if (k != 0)
                return k;
        r->decoded.n = r->n_found;
        *ret = TAKE_PTR(r);
        return 0;
}

int sealed_reader_block(SealedReader *r, size_t i, const void **ret) {
        SealedFound *f = &r->found[i];
        const Piece *p;
        int k;

        if (f->is_damaged)
                return SEGMENT_E_DAMAGED;
        k = pieces_get(&r->decoded, i, &p);
        if (k > 0) {
                f->is_damaged = true;
                note_blocks(r, f->number, 1, f->entry.n_pages, p->problem);
                return SEGMENT_E_DAMAGED;
        }
        if (k == 0)
                *ret = p->plain;
        return k;
}

int sealed_reader_check(SealedReader *r, SealedCheck *ret) {
        *ret = (SealedCheck){ .n_blocks = r->n_found };
        for (size_t i = 0; i < r->n_found; i++) {
                const void *pages;
                int k = sealed_reader_block(r, i, &pages);

                if (k < 0)
                        return k;
                if (k > 0)
                        continue;
                ret->n_good++;
                ret->n_pages += r->found[i].entry.n_pages;
        }
        return 0;
}

SealedReader *sealed_reader_free(SealedReader *r) {
        if (!r)
                return NULL;
        pieces_done(&r->decoded);
        safe_close(r->fd);
        free(r->found);
        return mfree(r);
}

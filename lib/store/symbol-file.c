/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Named by their content, so a file that is there is the right one: entry_replace() renames it into
 * place only when it is whole.  A reader trusts nothing: the size is bounded before memory is
 * taken, and what comes out must have the hash that it was asked for, or of what is in parts the checksum that the
 * index has, which has one itself.
 */

#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "store/entry.h"
#include "store/format.h"
#include "store/sealed.h"
#include "store/symbol-file.h"

#define COMPRESSION_LEVEL 3
#define NAME_CHARS (SYMBOL_HASH_CHARS + sizeof(".zst"))

/* --- parts ------------------------------------------------------------------------------------ */

#define DIGITS 16
#define LINE_BYTES_MIN 5 /* "0 T a" */
typedef uint64_t Digits __attribute__((vector_size(DIGITS)));
#define BYTES_OF(x) (UINT64_C(0x0101010101010101) * (x))

/* All at once, of 200,000 lines; false: one is none, or a capital letter. */
static inline bool parse_digits(const char *p, uint64_t *ret) {
        const bool swap = needs_swap(false);
        Digits v = { load_u64(p, swap), load_u64(p + DIGITS / 2, swap) }, letter, x;

        letter = v >> 6 & BYTES_OF(1);
        x = (v & BYTES_OF(0x0f)) + (letter << 3) + letter;
        letter = (x + BYTES_OF(0x80 - 10)) >> 7 & BYTES_OF(1);
        v ^= x + BYTES_OF('0') + letter * ('a' - '9' - 1); /* 0 if they are those of x */
        v |= x & BYTES_OF(0xf0);
        x = (x << 4 | x >> 8) & UINT64_C(0x00ff00ff00ff00ff);
        x = (x << 8 | x >> 16) & UINT64_C(0x0000ffff0000ffff);
        x = (x << 16 | x >> 32) & UINT32_MAX;
        *ret = x[0] << 32 | x[1];
        return (v[0] | v[1]) == 0;
}

const char *symbol_line_next(const char *line, const char *end, uint64_t *ret_address,
                             const char **ret_name) {
        const char *p = line + DIGITS, *newline;
        uint64_t address;

        if (end - line <= DIGITS || !parse_digits(line, &address)) {
                p = line + strspn(line, "0123456789abcdefABCDEF");
                address = strtoull(line, NULL, 16);
        }
        *ret_name = NULL;
        if (p > line && p - line <= DIGITS && p[0] == ' ' && p[1] > ' ' && p[2] == ' ' &&
            (uint8_t) p[3] > ' ') {
                *ret_address = address;
                *ret_name = line = p + 3;
        }
        newline = line < end ? memchr(line, '\n', (size_t) (end - line)) : NULL;
        return newline ? newline + 1 : end;
}

static int split(SymbolParts *p, const char *text, size_t n_text, size_t part_bytes) {
        const size_t n = strlen(SYMBOL_IRQENTRY);
        const char *line = text, *end = n_text > 0 ? text + n_text : text, *name; /* may be NULL */
        uint64_t address;

        while (line < end) {
                const char *begin = line;
                SymbolPart part = { .low = UINT64_MAX, .text = (size_t) (begin - text) };

                while (line < end && (size_t) (line - begin) < part_bytes) {
                        line = symbol_line_next(line, end, &address, &name);
                        if (!name)
                                continue;
                        part.low = MIN(part.low, address);
                        part.high = MAX(part.high, address);
                        part.n_symbols++;
                        if ((size_t) (end - name) > n && memcmp(name, SYMBOL_IRQENTRY, n) == 0)
                                part.has_irqentry = 1;
                }
                part.n_text = (uint32_t) (line - begin);
                p->n_symbols += part.n_symbols;
                if (!ARRAY_ADD(p->items, p->n, part))
                        return -ENOMEM;
        }
        return 0;
}

int symbol_parts_split(SymbolParts *ret, char *text, size_t n_text, size_t part_bytes) {
        _cleanup_symbol_parts_ SymbolParts p = { .text = text, .n_text = n_text };
        int r = n_text >= INT32_MAX ? ORIGIN(-EFBIG) : split(&p, text, n_text, part_bytes);

        if (r >= 0)
                *ret = TAKE(p, (SymbolParts){});
        return r;
}

void symbol_parts_done(SymbolParts *p) {
        free(p->text);
        free(p->items);
        free(p->packed);
        ZSTD_freeDCtx(p->unpacker);
}

/* --- files ------------------------------------------------------------------------------------ */

typedef struct Index {
        uint32_t magic, n_bytes; /* of a frame that zstd skips; behind these */
        uint64_t checksum;       /* of all behind this */
        char hash[SYMBOL_HASH_CHARS];
} Index; /* store/format.h; then the parts, up to SymbolPart's n_text */

#define INDEX_MAGIC 0x184d2a53U
#define FRAMES_MAX (2 * SYMBOL_FILE_MAX / SYMBOL_PART_BYTES)
#define PART_BYTES offsetof(SymbolPart, n_text)
#define PART_WIDTHS "88844"

static void hash_text(const char *text, size_t n, char ret[static SYMBOL_HASH_CHARS + 1]) {
        XXH128_canonical_t digest;

        XXH128_canonicalFromHash(&digest, XXH3_128bits(text, n));
        for (size_t i = 0; i < sizeof(digest.digest); i++)
                (void) snprintf(ret + 2 * i, 3, "%02x", digest.digest[i]);
}

static void format_name(char ret[static NAME_CHARS], const char *hash) {
        (void) snprintf(ret, NAME_CHARS, "%s.zst", hash);
}

static void add_index(Buf *b, const SymbolParts *p, const char *hash) {
        size_t n = sizeof(Index) + p->n * PART_BYTES, begin = offsetof(Index, hash);
        Index index = { htole32(INDEX_MAGIC), htole32((uint32_t) n - 8), 0, "" };
        char *to = buf_reserve(b, n), *at = to + sizeof(index);

        if (!to)
                return;
        memcpy(index.hash, hash, sizeof(index.hash));
        memcpy(to, &index, sizeof(index));
        for (size_t i = 0; i < p->n; i++, at += PART_BYTES) {
                memcpy(at, &p->items[i], PART_BYTES);
                segment_swap(at, PART_WIDTHS);
        }
        index.checksum = htole64(sealed_checksum(to + begin, n - begin));
        memcpy(to, &index, sizeof(index));
        buf_advance(b, n, false);
}

int symbol_file_pack(Buf *b, const char *text, size_t n, const char *hash, size_t part_bytes) {
        _cleanup_symbol_parts_ SymbolParts p = {};
        int r = n > 0 && text[n - 1] == '\n' ? split(&p, text, n, part_bytes) : 0;
        bool has_index = p.n > 1 && p.items[0].n_symbols > 0; /* it is kallsyms */

        for (size_t i = 0; r >= 0 && i < (has_index ? p.n : 1); i++) {
                size_t n_text = has_index ? p.items[i].n_text : n, n_packed,
                       n_room = ZSTD_compressBound(n_text);
                char *to = buf_reserve(b, n_room);

                if (!to)
                        return b->error;
                n_packed = ZSTD_compress(to, n_room, text, n_text, COMPRESSION_LEVEL);
                if (ZSTD_isError(n_packed))
                        return -ENOMEM; /* with that room its only failure */
                buf_advance(b, n_packed, false);
                if (has_index)
                        p.items[i].checksum = sealed_checksum(text, n_text);
                text += n_text;
        }
        if (r >= 0 && has_index)
                add_index(b, &p, hash);
        return r < 0 ? r : b->error;
}

int symbol_file_store(int symbols_fd, const char *text, size_t n,
                      char ret_hash[static SYMBOL_HASH_CHARS + 1]) {
        char hash[SYMBOL_HASH_CHARS + 1], name[NAME_CHARS];
        _cleanup_buf_ Buf packed = BUF_INIT;
        struct stat st;

        if (n > SYMBOL_FILE_MAX)
                return ORIGIN(-EFBIG);
        hash_text(text, n, hash);
        format_name(name, hash);
        if (fstatat(symbols_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)) {
                int r = symbol_file_pack(&packed, text, n, hash, SYMBOL_PART_BYTES)
                                ?: entry_replace(symbols_fd, name, packed.data, packed.n_data,
                                                 true);

                if (r < 0)
                        return r;
        }
        memcpy(ret_hash, hash, sizeof(hash));
        return 0;
}

int symbol_file_open(int symbols_fd, const char *hash) {
        char name[NAME_CHARS];

        if (!symbol_hash_is_valid(hash))
                return ORIGIN(-EINVAL);
        format_name(name, hash);
        return entry_open_file(symbols_fd, name, O_RDWR);
}

/* Their places alone; one that zstd skips has no text. */
static int list_frames(SymbolParts *p, const char *packed, size_t n_packed) {
        size_t at = 0;

        do {
                unsigned long long n = ZSTD_getFrameContentSize(packed + at, n_packed - at);
                size_t n_frame = ZSTD_findFrameCompressedSize(packed + at, n_packed - at);

                if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR)
                        return ORIGIN(-EBADMSG);
                if (n > SYMBOL_FILE_MAX - p->n_text)
                        return ORIGIN(-EFBIG);
                if (ZSTD_isError(n_frame) || p->n == FRAMES_MAX)
                        return ORIGIN(-EBADMSG);
                if (!ARRAY_ADD(p->items, p->n,
                               (SymbolPart){ .text = p->n_text,
                                             .n_text = (uint32_t) n,
                                             .packed = at,
                                             .n_packed = n_frame }))
                        return -ENOMEM;
                p->n_text += n;
                at += n_frame;
        } while (at < n_packed);
        return 0;
}

/* False: the last frame is no index that can be believed. */
static bool read_index(SymbolParts *p, const char *packed, const char *hash) {
        const SymbolPart *last = &p->items[--p->n];
        const char *at = packed + last->packed;
        size_t begin = offsetof(Index, hash);
        Index index;

        if (last->n_packed != sizeof(index) + p->n * PART_BYTES)
                return false;
        memcpy(&index, at, sizeof(index));
        if (le32toh(index.magic) != INDEX_MAGIC ||
            le64toh(index.checksum) != sealed_checksum(at + begin, last->n_packed - begin) ||
            memcmp(index.hash, hash, sizeof(index.hash)) != 0)
                return false;
        at += sizeof(index);
        for (size_t i = 0; i < p->n; i++, at += PART_BYTES) {
                SymbolPart *part = memcpy(&p->items[i], at, PART_BYTES);

                segment_swap(part, PART_WIDTHS);
                if (part->n_symbols > part->n_text / LINE_BYTES_MIN)
                        return false;
                p->n_symbols += part->n_symbols;
        }
        return true;
}

static int unpack(const char *packed, size_t n_packed, size_t n_text, const char *hash,
                  char **ret) {
        char found[SYMBOL_HASH_CHARS + 1];
        _cleanup_free_ char *text = malloc_huge(n_text + 1);

        if (!text)
                return -ENOMEM;
        if (ZSTD_decompress(text, n_text, packed, n_packed) != n_text)
                return ORIGIN(-EBADMSG);
        hash_text(text, n_text, found);
        if (!streq(found, hash))
                return ORIGIN(-EBADMSG);
        text[n_text] = 0;
        *ret = TAKE_PTR(text);
        return 0;
}

int symbol_parts_open(SymbolParts *ret, char *packed, size_t n_packed, const char *hash) {
        _cleanup_symbol_parts_ SymbolParts p = { .packed = packed };
        int r = list_frames(&p, packed, n_packed);
        char *text;

        if (r < 0)
                return r;
        if (!read_index(&p, packed, hash))
                return unpack(packed, n_packed, p.n_text, hash, &text)
                               ?: symbol_parts_split(ret, text, p.n_text, SYMBOL_PART_BYTES);
        p.text = calloc(1, p.n_text + 1);
        p.unpacker = ZSTD_createDCtx();
        if (!p.text || !p.unpacker)
                return -ENOMEM;
        *ret = TAKE(p, (SymbolParts){});
        return 0;
}

int symbol_parts_unpack(const SymbolParts *p, size_t i) {
        const SymbolPart *part = &p->items[i];
        char *to = p->text + part->text;

        if (ZSTD_decompressDCtx(p->unpacker, to, part->n_text, p->packed + part->packed,
                                part->n_packed) != part->n_text ||
            sealed_checksum(to, part->n_text) != part->checksum)
                return ORIGIN(-EBADMSG);
        return 0;
}

static int read_packed(int symbols_fd, const char *hash, char **ret, size_t *ret_n) {
        char name[NAME_CHARS];

        if (!symbol_hash_is_valid(hash))
                return ORIGIN(-EINVAL);
        format_name(name, hash);
        return entry_read(symbols_fd, name, ret, ret_n, ZSTD_compressBound(SYMBOL_FILE_MAX));
}

int symbol_file_load(int symbols_fd, const char *hash, char **ret, size_t *ret_n) {
        _cleanup_free_ char *packed = NULL;
        _cleanup_symbol_parts_ SymbolParts p = {};
        size_t n;
        int r = read_packed(symbols_fd, hash, &packed, &n) ?: list_frames(&p, packed, n)
                        ?: unpack(packed, n, p.n_text, hash, ret);

        if (r >= 0 && ret_n)
                *ret_n = p.n_text;
        return r;
}

int symbol_file_load_parts(int symbols_fd, const char *hash, SymbolParts *ret) {
        char *packed;
        size_t n;

        return read_packed(symbols_fd, hash, &packed, &n)
                       ?: symbol_parts_open(ret, packed, n, hash);
}

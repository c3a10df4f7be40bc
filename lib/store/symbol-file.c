/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Named by their content, so a file that is there is the right one: entry_replace() renames it into
 * place only when it is whole.  A reader trusts nothing: the size is bounded before memory is
 * taken, and what comes out must have the hash that it was asked for.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/array.h"
#include "store/entry.h"
#include "store/format.h"
#include "store/symbol-file.h"

#define COMPRESSION_LEVEL 3
#define NAME_CHARS (SYMBOL_HASH_CHARS + sizeof(".zst"))

static void hash_text(const char *text, size_t n, char ret[static SYMBOL_HASH_CHARS + 1]) {
        XXH128_canonical_t digest;

        XXH128_canonicalFromHash(&digest, XXH3_128bits(text, n));
        for (size_t i = 0; i < sizeof(digest.digest); i++)
                (void) snprintf(ret + 2 * i, 3, "%02x", digest.digest[i]);
}

static void format_name(char ret[static NAME_CHARS], const char *hash) {
        (void) snprintf(ret, NAME_CHARS, "%s.zst", hash);
}

int symbol_file_store(int symbols_fd, const char *text, size_t n,
                      char ret_hash[static SYMBOL_HASH_CHARS + 1]) {
        char hash[SYMBOL_HASH_CHARS + 1], name[NAME_CHARS];
        _cleanup_free_ char *packed = NULL;
        size_t n_room, n_packed;
        struct stat st;
        int r;

        if (n > SYMBOL_FILE_MAX)
                return ORIGIN(-EFBIG);
        hash_text(text, n, hash);
        format_name(name, hash);
        if (fstatat(symbols_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)) {
                n_room = ZSTD_compressBound(n);
                packed = malloc(n_room);
                if (!packed)
                        return -ENOMEM;
                n_packed = ZSTD_compress(packed, n_room, text, n, COMPRESSION_LEVEL);
                if (ZSTD_isError(n_packed))
                        return -ENOMEM; /* with that room its only failure */
                r = entry_replace(symbols_fd, name, packed, n_packed, true);
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

int symbol_file_load(int symbols_fd, const char *hash, char **ret, size_t *ret_n) {
        char name[NAME_CHARS], found[SYMBOL_HASH_CHARS + 1];
        _cleanup_free_ char *packed = NULL, *text = NULL;
        unsigned long long n_text;
        size_t n_packed, n;
        int r;

        if (!symbol_hash_is_valid(hash))
                return ORIGIN(-EINVAL);
        format_name(name, hash);
        r = entry_read(symbols_fd, name, &packed, &n_packed, ZSTD_compressBound(SYMBOL_FILE_MAX));
        if (r < 0)
                return r;
        n_text = ZSTD_getFrameContentSize(packed, n_packed);
        if (n_text == ZSTD_CONTENTSIZE_UNKNOWN || n_text == ZSTD_CONTENTSIZE_ERROR)
                return ORIGIN(-EBADMSG);
        if (n_text > SYMBOL_FILE_MAX)
                return ORIGIN(-EFBIG);
        text = malloc_huge(n_text + 1);
        if (!text)
                return -ENOMEM;
        n = ZSTD_decompress(text, n_text, packed, n_packed);
        if (ZSTD_isError(n) || n != n_text)
                return ORIGIN(-EBADMSG);
        hash_text(text, n, found);
        if (!streq(found, hash))
                return ORIGIN(-EBADMSG);
        text[n] = 0;
        *ret = TAKE_PTR(text);
        if (ret_n)
                *ret_n = n;
        return 0;
}

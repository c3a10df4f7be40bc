/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/buf.h"
#include "scratch.h"
#include "store/symbol-file.h"

#define TEXT "ffffffff81000000 T _stext\nffffffff81000000 T _text\n"

static int dir_fd = -EBADF;
static const char *synced; /* while there was no file of this name */

int fsync(int fd) {
        char path[PATH_MAX] = "", link[32];

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%i", fd);
        ck_assert_int_gt(readlink(link, path, sizeof(path) - 1), 0);
        if (synced && strstr(path, synced) && faccessat(dir_fd, synced, F_OK, 0) < 0)
                synced = NULL;
        return 0;
}

SCRATCH_TEST(text_comes_back_under_its_hash) {
        _cleanup_free_ char *text = NULL;
        char hash[SYMBOL_HASH_CHARS + 1], again[SYMBOL_HASH_CHARS + 1];
        size_t n;

        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT), hash), 0);
        ck_assert_uint_eq(strspn(hash, "0123456789abcdef"), SYMBOL_HASH_CHARS);
        ck_assert_int_eq(symbol_file_load(s->fd, hash, &text, &n), 0);
        ck_assert_uint_eq(n, strlen(TEXT));
        ck_assert_str_eq(text, TEXT);
        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT), again), 0);
        ck_assert_str_eq(hash, again);
        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT) - 1, again), 0);
        ck_assert_str_ne(hash, again);
}

SCRATCH_TEST(the_hash_is_xxh3_128_of_the_text) {
        _cleanup_free_ char *text = NULL;
        char hash[SYMBOL_HASH_CHARS + 1];
        size_t n;

        /* xxhsum -H2 of no bytes at all. */
        ck_assert_int_eq(symbol_file_store(s->fd, "", 0, hash), 0);
        ck_assert_str_eq(hash, "99aa06d3014798d86001c324468d497f");
        ck_assert_int_eq(symbol_file_load(s->fd, hash, &text, &n), 0);
        ck_assert_uint_eq(n, 0);
        ck_assert_str_eq(text, "");
}

SCRATCH_TEST(a_file_that_is_there_is_kept_and_what_is_none_is_replaced) {
        char hash[SYMBOL_HASH_CHARS + 1], name[64];
        struct stat before, after;

        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT), hash), 0);
        (void) snprintf(name, sizeof(name), "%s.zst", hash);
        ck_assert_int_eq(fstatat(s->fd, name, &before, AT_SYMLINK_NOFOLLOW), 0);
        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT), hash), 0);
        ck_assert_int_eq(fstatat(s->fd, name, &after, AT_SYMLINK_NOFOLLOW), 0);
        ck_assert_uint_eq(before.st_ino, after.st_ino);

        ck_assert_int_eq(unlinkat(s->fd, name, 0), 0);
        ck_assert_int_eq(symlinkat("/etc/passwd", s->fd, name), 0);
        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT), hash), 0);
        ck_assert_int_eq(fstatat(s->fd, name, &after, AT_SYMLINK_NOFOLLOW), 0);
        ck_assert(S_ISREG(after.st_mode));
}

SCRATCH_TEST(no_damage_goes_unnoticed) {
        _cleanup_free_ char *packed = NULL;
        char hash[SYMBOL_HASH_CHARS + 1], name[64];
        size_t n_packed;

        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT), hash), 0);
        (void) snprintf(name, sizeof(name), "%s.zst", hash);
        ck_assert_int_eq(file_read(s->fd, name, &packed, &n_packed, 1 << 20), 0);
        for (size_t i = 0; i < n_packed; i++) {
                char *text = NULL;

                scratch_write(s->fd, name, packed, i);
                ck_assert_int_eq(symbol_file_load(s->fd, hash, &text, NULL), -EBADMSG);
                ck_assert_ptr_null(text);
        }
        for (size_t i = 0; i < n_packed; i++) {
                _cleanup_free_ char *text = NULL;
                int r;

                packed[i] ^= 0x15;
                scratch_write(s->fd, name, packed, n_packed);
                packed[i] ^= 0x15;
                r = symbol_file_load(s->fd, hash, &text, NULL);
                if (r >= 0) /* a bit that means nothing */
                        ck_assert_str_eq(text, TEXT);
                else
                        ck_assert(r == -EBADMSG || r == -EFBIG);
        }
}

SCRATCH_TEST(the_right_content_under_the_wrong_name_is_refused) {
        char hash[SYMBOL_HASH_CHARS + 1], name[64], other[64], *text;

        ck_assert_int_eq(symbol_file_store(s->fd, TEXT, strlen(TEXT), hash), 0);
        (void) snprintf(name, sizeof(name), "%s.zst", hash);
        hash[0] = hash[0] == '0' ? '1' : '0';
        (void) snprintf(other, sizeof(other), "%s.zst", hash);
        ck_assert_int_eq(symbol_file_load(s->fd, hash, &text, NULL), -ENOENT);
        ck_assert_int_eq(renameat(s->fd, name, s->fd, other), 0);
        ck_assert_int_eq(symbol_file_load(s->fd, hash, &text, NULL), -EBADMSG);
}

SCRATCH_TEST(a_hash_is_no_path) {
        static const char *const bad[] = { "", "x", "../../../../../../../../etc/passwd",
                                           "99AA06D3014798D86001C324468D497F",
                                           "99aa06d3014798d86001c324468d497f0" };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                char *text;

                ck_assert_int_eq(symbol_file_load(s->fd, bad[i], &text, NULL), -EINVAL);
        }
}

TEST(a_bomb_is_refused_before_memory_is_taken) {
        /* zstd frame: magic, descriptor with an 8 byte content size of 2^40 */
        static const unsigned char bomb[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0,
                                              0,    0,    1,    0,    0,    0, 0, 0 };
        static const char hash[] = "00000000000000000000000000000000";
        _cleanup_scratch_ Scratch s = SCRATCH;
        char *text;

        scratch_write(s.fd, "00000000000000000000000000000000.zst", bomb, sizeof(bomb));
        ck_assert_int_eq(symbol_file_load(s.fd, hash, &text, NULL), -EFBIG);
}

/* Nobody writes what is there again: half of it, after a crash, were for good. */
SCRATCH_TEST(it_is_on_the_disk_before_it_has_its_name) {
        char hash[SYMBOL_HASH_CHARS + 1];

        dir_fd = s->fd;
        synced = "99aa06d3014798d86001c324468d497f.zst";
        ck_assert_int_eq(symbol_file_store(s->fd, "", 0, hash), 0);
        ck_assert_ptr_null(synced);
}

/* --- parts -------------------------------------------------------------------------------------- */

#define HASH "0123456789abcdef0123456789abcdef"

/* Kallsyms of @n functions; the caller frees it. */
static char *lines(unsigned n) {
        char *text = malloc(n * 32 + 1), *p = text;

        *p = 0;
        for (unsigned i = 0; i < n; i++)
                p += sprintf(p, "ffffffff81%06x t f%u\n", i * 16, i);
        return text;
}

SCRATCH_TEST(kallsyms_is_in_parts_that_are_one_text_to_zstd) {
        _cleanup_symbol_parts_ SymbolParts p = {};
        _cleanup_free_ char *text = lines(5000), *all = NULL;
        size_t n = strlen(text), n_all, at = 0;
        char hash[SYMBOL_HASH_CHARS + 1];

        ck_assert_int_eq(symbol_file_store(s->fd, text, n, hash), 0);
        ck_assert_int_eq(symbol_file_load(s->fd, hash, &all, &n_all), 0);
        ck_assert_uint_eq(n_all, n);
        ck_assert_str_eq(all, text);
        ck_assert_int_eq(symbol_file_load_parts(s->fd, hash, &p), 0);
        ck_assert_ptr_nonnull(p.packed);
        ck_assert_uint_eq(p.n, n / SYMBOL_PART_BYTES + 1);
        ck_assert_uint_eq(p.n_symbols, 5000);
        for (size_t i = 0; i < p.n; at += p.items[i++].n_text) {
                ck_assert_int_eq(p.text[at], 0);
                ck_assert_int_eq(symbol_parts_unpack(&p, i), 0);
                ck_assert_uint_eq(p.items[i].low, strtoull(text + at, NULL, 16));
                ck_assert_uint_eq(p.items[i].high,
                                  p.items[i].low + 16 * (p.items[i].n_symbols - 1));
        }
        ck_assert_str_eq(p.text, text);
}

/* What is no kallsyms, or does not end with a line, is one frame, as all files were. */
SCRATCH_TEST(other_texts_are_not_in_parts) {
        for (unsigned i = 0; i < 3; i++) {
                _cleanup_symbol_parts_ SymbolParts p = {};
                _cleanup_free_ char *text = lines(5000);
                char hash[SYMBOL_HASH_CHARS + 1];
                size_t n = strlen(text) - (i == 0);

                if (i == 1)
                        memset(text, 'x', n - 1);
                if (i == 2)
                        n = (size_t) (stpcpy(text, "ffffffff81000000 T only\n") - text);
                ck_assert_int_eq(symbol_file_store(s->fd, text, n, hash), 0);
                ck_assert_int_eq(symbol_file_load_parts(s->fd, hash, &p), 0);
                ck_assert_ptr_null(p.packed);
                ck_assert_uint_eq(p.n_text, n);
                ck_assert_mem_eq(p.text, text, n);
        }
}

static int open_copy(SymbolParts *ret, const Buf *b, size_t n, const char *hash) {
        return symbol_parts_open(ret, memcpy(malloc(b->n_data + 1), b->data, n), n, hash);
}

TEST(no_damage_of_parts_goes_unnoticed) {
        _cleanup_symbol_parts_ SymbolParts sound = {};
        _cleanup_free_ char *text = lines(20);
        _cleanup_buf_ Buf b = BUF_INIT;
        size_t n = strlen(text), n_told = 0;

        ck_assert_int_eq(symbol_file_pack(&b, text, n, HASH, 64), 0);
        ck_assert_int_eq(open_copy(&sound, &b, b.n_data, HASH), 0);
        for (size_t i = 0; i < b.n_data; i++) {
                _cleanup_symbol_parts_ SymbolParts p = {}, cut = {};

                ck_assert_int_lt(open_copy(&cut, &b, i, HASH), 0);
                b.data[i] ^= 0x15;
                /* With a wrong index the whole is read, which has another hash. */
                n_told += open_copy(&p, &b, b.n_data, HASH) < 0;
                b.data[i] ^= 0x15;
                for (size_t k = 0; k < p.n; k++) {
                        SymbolPart *part = &p.items[k];
                        int r = symbol_parts_unpack(&p, k);

                        /* A wrong length of one moves the next. */
                        ck_assert(r == -EBADMSG ||
                                  memcmp(p.text + part->text, text + sound.items[k].text,
                                         part->n_text) == 0);
                        n_told += r < 0;
                }
        }
        ck_assert_uint_ge(n_told, b.n_data - b.n_data / 8); /* some bits mean nothing */
}

TEST(an_index_of_another_file_is_not_believed) {
        _cleanup_symbol_parts_ SymbolParts p = {};
        _cleanup_free_ char *text = lines(20);
        _cleanup_buf_ Buf b = BUF_INIT;

        ck_assert_int_eq(symbol_file_pack(&b, text, strlen(text), HASH, 64), 0);
        ck_assert_int_eq(open_copy(&p, &b, b.n_data, "0" HASH), -EBADMSG);
        ck_assert_int_eq(open_copy(&p, &b, b.n_data, HASH), 0);
}

SCRATCH_TEST(without_its_index_a_file_is_read_whole) {
        _cleanup_symbol_parts_ SymbolParts p = {};
        _cleanup_free_ char *text = lines(5000), *packed = NULL;
        char hash[SYMBOL_HASH_CHARS + 1], name[64];
        size_t n = strlen(text), n_packed;

        ck_assert_int_eq(symbol_file_store(s->fd, text, n, hash), 0);
        (void) snprintf(name, sizeof(name), "%s.zst", hash);
        ck_assert_int_eq(file_read(s->fd, name, &packed, &n_packed, 1 << 20), 0);
        packed[n_packed - 1] ^= 1;
        ck_assert_int_eq(symbol_parts_open(&p, TAKE_PTR(packed), n_packed, hash), 0);
        ck_assert_ptr_null(p.packed);
        ck_assert_str_eq(p.text, text);
        ck_assert_uint_eq(p.n_symbols, 5000);
}

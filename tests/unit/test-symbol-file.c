/* SPDX-License-Identifier: GPL-2.0-or-later */

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

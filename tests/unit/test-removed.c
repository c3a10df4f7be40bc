/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "retention/removed.h"
#include "tests/unit/scratch.h"

static Scratch scratch;

static int note(const char *name, const char *id, const char *why) {
        return removed_note(scratch.fd, &(Removed){ .realtime_ns = 5,
                                                    .n_bytes = 2048,
                                                    .name = (char *) name,
                                                    .id = (char *) id,
                                                    .why = (char *) why });
}

TEST(the_last_one_of_a_name_or_an_id_is_found) {
        _cleanup_removed_ Removed a = {}, b = {}, none = {};
        _cleanup_free_ char *text = NULL;

        scratch = scratch_new();
        ck_assert_int_eq(removed_find(&none, scratch.fd, "r1"), 0);
        ck_assert_int_eq(note("r1", "0123456789abcdef", "one"), 0);
        ck_assert_int_eq(note("r2", NULL, "too many\nlines"), 0);
        ck_assert_int_eq(note("r1", "0000000000000001", "two words"), 0);
        ck_assert_int_eq(removed_find(&a, scratch.fd, "r1"), 1);
        ck_assert_str_eq(a.why, "two words");
        ck_assert_int_eq(removed_find(&b, scratch.fd, "0123456789abcdef"), 1);
        ck_assert_str_eq(b.why, "one");
        ck_assert_int_eq(removed_find(&none, scratch.fd, "r"), 0);
        ck_assert_int_eq(removed_find(&none, scratch.fd, "1"), 0);
        ck_assert_int_eq(removed_find(&none, scratch.fd, "lines"), 0);
        ck_assert_int_eq(removed_describe(&text, &a), 0);
        ck_assert_ptr_nonnull(strstr(text, "session \"r1\" (2K) was removed on "));
        scratch_done(&scratch);
}

TEST(it_stays_small_and_knows_the_newest) {
        char name[16];
        struct stat st;

        scratch = scratch_new();
        for (int i = 0; i < 9000; i++) {
                (void) snprintf(name, sizeof(name), "r%d", i);
                ck_assert_int_eq(note(name, "0123456789abcdef", "there was no room"), 0);
        }
        ck_assert_int_eq(fstatat(scratch.fd, "removed", &st, 0), 0);
        ck_assert_int_le(st.st_size, REMOVED_BYTES_MAX);
        for (int i = 7500; i < 9000; i += 100) {
                _cleanup_removed_ Removed r = {};

                (void) snprintf(name, sizeof(name), "r%d", i);
                ck_assert_int_eq(removed_find(&r, scratch.fd, name), 1);
        }
        scratch_done(&scratch);
}

TEST(what_is_no_such_file_is_left_alone) {
        static const char foreign[] = "x\n\n1 2 r1\n1 2 ../r1 - y\n-1 2 r1 - z\n";
        _cleanup_removed_ Removed r = {};

        scratch = scratch_new();
        ck_assert_int_eq(symlinkat("elsewhere", scratch.fd, "removed"), 0);
        ck_assert_int_lt(note("r1", NULL, "x"), 0);
        ck_assert_int_eq(faccessat(scratch.fd, "elsewhere", F_OK, 0), -1);
        ck_assert_int_eq(unlinkat(scratch.fd, "removed", 0), 0);
        ck_assert_int_eq(mkfifoat(scratch.fd, "removed", 0600), 0);
        ck_assert_int_lt(note("r1", NULL, "x"), 0);
        ck_assert_int_eq(unlinkat(scratch.fd, "removed", 0), 0);
        scratch_write(scratch.fd, "removed", foreign, strlen(foreign));
        ck_assert_int_eq(removed_find(&r, scratch.fd, "r1"), 0);
        scratch_done(&scratch);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A directory stands for /: below proc/ are processes, each with a root directory of its own. */

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "daemon/watch/watch.h"
#include "scratch.h"
#include "spaces/spaces.h"

/* This program's own file, which has a build ID or not, as PROGRAM sees it. */
static void put_program(const Scratch *s, const char *path) {
        _cleanup_free_ char *self = NULL;
        size_t n;

        scratch_put(s, path, "");
        ck_assert_int_eq(file_read(AT_FDCWD, "/proc/self/exe", &self, &n, (size_t) 1 << 30), 0);
        scratch_write(s->fd, path, self, n);
}

static void put_maps(const Scratch *s, const char *pid, const char *maps) {
        char path[64];

        (void) snprintf(path, sizeof(path), "proc/%s/maps", pid);
        scratch_put(s, path, maps);
}

static char *look(const Scratch *s, uid_t only) {
        _cleanup_buf_ Buf out = BUF_INIT;

        ck_assert_int_eq(maps_look(s->fd, only, &out), 0);
        return TEXT_OF(out);
}

SCRATCH_TEST(only_code_of_files_is_told) {
        _cleanup_free_ char *text = NULL;

        put_maps(s, "7",
                 "555555554000-555555555000 r--p 00000000 08:01 12                 /bin/a\n"
                 "555555555000-555555556000 r-xp 00001000 08:01 12                 /bin/a b "
                 "(deleted)\n"
                 "555555556000-555555557000 rw-p 00002000 08:01 12                 /bin/a\n"
                 "7ffff7000000-7ffff7001000 r-xp 00000000 00:00 0 \n"
                 "7ffff7fc8000-7ffff7fca000 r-xp 00000000 00:00 0                  [vdso]\n"
                 "7ffff7fd0000-7ffff7fd1000 r-xp 00000000 08:01 13                 /bin/x [vdso]\n"
                 "no line\n"
                 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]");
        put_maps(s, "8", "");
        put_maps(s, "9", "1000-2000 rw-p 00000000 08:01 12 /bin/a\n");
        text = look(s, (uid_t) -1);
        ck_assert_str_eq(text, "process 7\n"
                               "map 555555555000-555555556000 1000 8:1 12 - /bin/a b (deleted)\n"
                               "map 7ffff7fc8000-7ffff7fca000 0 0:0 0 - [vdso]\n"
                               "map 7ffff7fd0000-7ffff7fd1000 0 8:1 13 - /bin/x [vdso]\n"
                               "end\n");
}

/* What they are called in "status" does not count: a setuid program has its caller's real uid. */
SCRATCH_TEST(processes_whose_maps_a_user_may_not_read_are_not_told) {
        const uid_t own = geteuid();
        _cleanup_free_ char *text = NULL, *of_another = NULL;

        put_maps(s, "8", "1000-2000 r-xp 0 08:01 12 /bin/b\n");
        scratch_put(s, "proc/8/status", "Name:\tx\nUid:\t4711\t0\t0\t0\n");
        text = look(s, own);
        ck_assert_str_eq(text, "process 8\nmap 1000-2000 0 8:1 12 - /bin/b\nend\n");
        of_another = look(s, 4711);
        ck_assert_str_eq(of_another, "end\n");
}

TEST(an_answer_ends_with_a_line_not_with_a_name) {
        static const struct {
                const char *text;
                bool is_whole, is_partial;
        } answers[] = {
                { "", false, false },
                { "end\n", true, false },
                { "end", false, false },
                { "process 7\nmap 1000-2000 0 8:1 12 - /bin/x end\n", false, false },
                { "map 1000-2000 0 8:1 12 - /bin/end\nend\n", true, false },
                { "map 1000-2000 0 8:1 12 - /bin/partial\n", false, false },
                { "map 1000-2000 0 8:1 12 - /bin/a\npartial\n", false, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(answers); i++) {
                _cleanup_buf_ Buf b = BUF_INIT;

                buf_adds(&b, answers[i].text);
                ck_assert_msg(maps_are_whole(&b) == answers[i].is_whole, "%s", answers[i].text);
                ck_assert_msg(maps_are_partial(&b) == answers[i].is_partial, "%s", answers[i].text);
        }
}

/* Nor does the last one pass the bound by all it has. */
SCRATCH_TEST(no_more_than_the_bound_is_told) {
        _cleanup_buf_ Buf maps = BUF_INIT, out = BUF_INIT;
        _cleanup_free_ char *many = NULL;
        char name[1001] = "";

        memset(name, 'x', sizeof(name) - 1);
        for (unsigned i = 1; i <= 3800; i++)
                buf_printf(&maps, "%x000-%x000 r-xp 0 08:01 12 /%s\n", i, i + 1, name);
        many = TEXT_OF(maps);
        put_maps(s, "7", many);
        put_maps(s, "8", many);
        put_maps(s, "9", many);
        ck_assert_int_eq(maps_look(s->fd, (uid_t) -1, &out), 0);
        ck_assert_uint_gt(out.n_data, MAPS_BYTES_MAX);
        ck_assert_uint_lt(out.n_data, MAPS_BYTES_MAX + 2 * sizeof(name));
        ck_assert(maps_are_whole(&out));
}

/* As the process sees it, below its own root directory, whatever links are there. */
SCRATCH_TEST(a_build_id_is_of_the_file_that_is_mapped) {
        _cleanup_free_ char *text = NULL, *wanted = NULL;
        char maps[512];
        struct stat st;

        put_program(s, "proc/7/root/bin/a");
        scratch_put(s, "proc/8/root/bin/empty", "");
        scratch_put(s, "proc/9/root/bin/empty", "");
        ck_assert_int_eq(symlinkat("../../../../proc/7/root/bin/a", s->fd, "proc/9/root/bin/a"), 0);
        ck_assert_int_eq(fstatat(s->fd, "proc/7/root/bin/a", &st, 0), 0);
        (void) snprintf(maps, sizeof(maps), "1000-2000 r-xp 00000000 %02x:%02x %llu /bin/a\n",
                        major(st.st_dev), minor(st.st_dev), (unsigned long long) st.st_ino);
        put_maps(s, "9", maps);
        text = look(s, (uid_t) -1);
        ck_assert_ptr_nonnull(strstr(text, " - /bin/a\n"));
        free(TAKE_PTR(text));
        put_maps(s, "7", maps);
        text = look(s, (uid_t) -1);
        ck_assert_int_ge(asprintf(&wanted, "process 7\nmap 1000-2000 0 %u:%u %llu ",
                                  major(st.st_dev), minor(st.st_dev),
                                  (unsigned long long) st.st_ino),
                         0);
        ck_assert_ptr_nonnull(strstr(text, wanted));
}

SCRATCH_TEST(who_has_mapped_very_much_does_not_hide_others) {
        _cleanup_buf_ Buf maps = BUF_INIT;
        _cleanup_free_ char *many = NULL, *text = NULL;

        for (unsigned i = 1; i <= 5000; i++)
                buf_printf(&maps, "%x000-%x000 r-xp 0 08:01 12 /bin/a\n", i, i + 1);
        many = TEXT_OF(maps);
        put_maps(s, "7", many);
        put_maps(s, "8", "1000-2000 r-xp 0 08:01 12 /bin/b\n");
        text = look(s, (uid_t) -1);
        ck_assert_ptr_nonnull(strstr(text, "map 1000000-1001000 "));
        ck_assert_ptr_null(strstr(text, "map 1001000-1002000 "));
        ck_assert_ptr_nonnull(strstr(text, " /bin/b\n"));
        ck_assert_str_eq(text + strlen(text) - strlen(MAPS_PARTIAL "end\n"), MAPS_PARTIAL "end\n");
}

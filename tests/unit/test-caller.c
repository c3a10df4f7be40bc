/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/admission/admission.h"
#include "fake-kernel.h"

/*
 * Of the host:      1 init, 50 the daemon's caller without a container, 900 what starts containers
 * Of a container:   100 (1 there), 101 (2), 102 (7), which has a container of its own, 110 (9; 1)
 * Come in later:    120 (20), whose parent is 900, and its child 121 (21)
 * Of another one:   200 (1), 201 (7), 202 (30)
 */
static FakeKernel *new_world(void) {
        static const struct {
                const char *pid, *parent, *numbers;
        } all[] = {
                { "1", "0", "1" },
                { "50", "1", "50" },
                { "900", "1", "900" },
                { "100", "900", "100\t1" },
                { "101", "100", "101\t2" },
                { "102", "101", "102\t7" },
                { "110", "102", "110\t9\t1" },
                { "120", "900", "120\t20" },
                { "121", "120", "121\t21" },
                { "200", "900", "200\t1" },
                { "201", "200", "201\t7" },
                { "202", "201", "202\t30" },
        };
        FakeKernel *k = fake_kernel_new(false);

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                _cleanup_free_ char *path = NULL, *text = NULL;

                ck_assert_int_gt(asprintf(&path, "proc/%s/status", all[i].pid), 0);
                ck_assert_int_gt(asprintf(&text,
                                          "Name:\tx\\nNSpid: 3\nTgid:\t%s\nPPid:\t%s\n"
                                          "NStgid:\t%s\nNSpid:\t%s\nNSpgid:\t1\n",
                                          all[i].pid, all[i].parent, all[i].numbers,
                                          all[i].numbers),
                                 0);
                fake_put_root(k, path, text);
        }
        return k;
}

/* What @list, words, becomes in @caller's mouth; the caller frees.  NULL: refused. */
static char *say(FakeKernel *k, pid_t caller, const char *list, bool are_groups) {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_strv_ Strv words = {};
        _cleanup_free_ char *proc = NULL;
        int r;

        ck_assert_int_ge(strv_split(&words, list, " "), 0);
        ck_assert_int_gt(asprintf(&proc, "/proc/self/fd/%i/proc", k->root_fd), 0);
        r = caller_translate(proc, caller, are_groups ? NULL : &words, are_groups ? &words : NULL,
                             &refusal);
        ck_assert(r == 0 || r == REFUSED);
        ck_assert(r == 0 || refusal.kind == REFUSAL_INVALID_SPEC);
        return r == 0 ? strv_join(&words, " ") : NULL;
}

TEST(a_number_is_looked_up_where_its_caller_counts) {
        static const struct {
                pid_t caller;
                const char *said, *meant; /* NULL: refused */
        } cases[] = {
                { 50, "1 7 4000", "1 7 4000" }, /* as it is: whether it is there is asked later */
                { 101, "1", "100" },
                { 101, "7 2 7", "102 101 102" },
                { 101, "9", "110" },
                { 101, "4000", NULL },
                { 101, "7 30", NULL }, /* one of them is another container's */
                { 101, "20", NULL },   /* that came in by another way */
                { 110, "1", "110" },
                { 110, "9", NULL },
                { 121, "20 21", "120 121" },
                { 121, "1", NULL },
                { 202, "7", "201" },
                { 4000, "1", NULL }, /* it has gone, or is not seen */
        };
        _cleanup_fake_kernel_ FakeKernel *k = new_world();

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *meant = say(k, cases[i].caller, cases[i].said, false);

                ck_assert_msg(streq(meant ?: "refused", cases[i].meant ?: "refused"),
                              "%i says %s: %s", (int) cases[i].caller, cases[i].said,
                              meant ?: "refused");
        }
}

TEST(what_no_kernel_writes_names_nobody) {
        static const char *const texts[] = {
                "",
                "NSpid:\t101\t2\n",
                "PPid:\t1\nNSpid:",
                "\nPPid:\tx\nNSpid:\t101\t2\n",
                "\nPPid:\t101\nNSpid:\t101\t2\n", /* its own parent */
                "\nPPid:\t1\nNSpid:\t101\t99999999999999999999999\n",
        };
        _cleanup_fake_kernel_ FakeKernel *k = new_world();

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_free_ char *meant = NULL;

                fake_put_root(k, "proc/101/status", texts[i]);
                meant = say(k, 101, "2", false);
                ck_assert_msg(!meant || streq(meant, i == 2 ? "2" : "101"), "%zu: %s", i, meant);
        }
}

TEST(a_group_is_looked_up_below_its_callers_mount) {
        static const struct {
                const char *mounts, *said, *meant;
        } cases[] = {
                { "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/a /sys/fs/cgroup/b c",
                  "/a /sys/fs/cgroup/b c" },
                { "30 1 0:26 /box /sys/fs/cgroup rw shared:3 - cgroup2 cgroup2 rw\n",
                  "/a /sys/fs/cgroup/b c / /sys/fs/cgroupx",
                  "/box/a /box/b /box/c /box/ /box/sys/fs/cgroupx" },
                { "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                  "31 30 0:26 /x\\134x2d\\040y /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n"
                  "32 30 0:26 /z /sys/fs/cgroup/z ro - cgroup2 cgroup2 rw\n",
                  "a", "/x\\x2d y/a" },
                { "30 1 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "a", NULL },
                { "30 1 0:26 /b\\012 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "a", NULL },
                { "30 1 0:26\n30 1 0:26 /box\n\n30 1\n", "a", "a" },
                { "", "a", "a" },
        };
        _cleanup_fake_kernel_ FakeKernel *k = new_world();

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *meant = NULL;

                fake_put_root(k, "proc/101/mountinfo", cases[i].mounts);
                meant = say(k, 101, cases[i].said, true);
                ck_assert_msg(streq(meant ?: "refused", cases[i].meant ?: "refused"), "%zu: %s", i,
                              meant ?: "refused");
        }
        ck_assert_ptr_null(say(k, 102, "a", true)); /* no file */
}

/* The kernel compares the numbers of the first namespace, whoever writes them. */
TEST(a_daemon_in_a_container_does_not_take_its_numbers_for_the_kernels) {
        _cleanup_fake_kernel_ FakeKernel *k = new_world();

        fake_put_root(k, "proc/50/task/50/comm", "x\n");
        for (int in_container = 0; in_container < 2; in_container++) {
                _cleanup_strv_ Strv threads = {}, warnings = {};
                _cleanup_refusal_ Refusal refusal = {};
                _cleanup_spec_ Spec spec = SPEC_INIT;
                Tracefs fs = { .fd = k->tracefs_fd,
                               .root_fd = k->root_fd,
                               .is_real = in_container };

                fake_put_root(k, "proc/self/ns/pid", "");
                ck_assert_int_eq(admit_processes(&fs, &spec, &threads, &warnings, &refusal), 0);
                ck_assert_int_eq(strv_add(&spec.pids, "50"), 0);
                ck_assert_int_eq(admit_processes(&fs, &spec, &threads, &warnings, &refusal),
                                 in_container ? REFUSED : 0);
                if (in_container)
                        ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), "in a container"));
        }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A ledger that is lost: what is put back all the same, and what is named. */

#include "tests/unit/fake-kernel.h"

/* As a killed daemon leaves it. */
static void leave(Controller *c) {
        controller_leave(c);
        controller_free(c);
}

static void lose(FakeKernel *k, Controller *c) {
        leave(c);
        ck_assert_int_eq(unlinkat(k->ledger_fd, "ledger", 0), 0);
}

TEST(what_carries_our_name_is_put_back_without_a_ledger) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
        SessionMeta *m = fake_session("x", "udp_*");
        _cleanup_free_ char *before = fake_dump(k);
        Controller *c = fake_controller(k);
        _cleanup_strv_ Strv left = {};
        Tracer *t;

        m->spec.depth = 5;
        t = fake_start(c, m, false);
        ck_assert_int_eq(tracer_set_recording(t, true), 0);
        lose(k, c);
        c = fake_controller(k);
        fake_expect_all(k, before);
        ck_assert_uint_gt(controller_n_restored(c), 0);
        ck_assert_int_eq(controller_find_left(c, &left), 0);
        ck_assert_uint_eq(left.n, 0);
        controller_free(c);
}

TEST(what_nobody_can_be_named_for_is_named_with_a_command) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(false);
        SessionMeta *m = fake_session("x", "udp_*");
        _cleanup_free_ char *armed = NULL, *commands = NULL;
        Controller *c = fake_controller(k);
        _cleanup_strv_ Strv left = {}, values = {};

        m->spec.depth = 5;
        (void) fake_start(c, m, false);
        fake_put(k, "set_event", "net:net_dev_queue\n");
        fake_put(k, "set_event_pid", "163\n");
        armed = fake_dump(k);
        lose(k, c);
        c = fake_controller(k);
        fake_expect_all(k, armed);
        ck_assert_int_eq(controller_find_left(c, &left), 0);
        ck_assert_uint_eq(left.n, 1);
        ck_assert_ptr_nonnull(strstr(left.items[0], "echo nop > "));
        ck_assert_int_eq(controller_find_values(c, &values), 0);
        commands = strv_join(&values, "; ");
        ck_assert_ptr_nonnull(strstr(commands, "/set_graph_function"));
        ck_assert_ptr_nonnull(strstr(commands, "echo 0 > "));
        ck_assert_ptr_nonnull(strstr(commands, "/set_event;"));
        ck_assert_ptr_nonnull(strstr(commands, "/set_event_pid"));
        controller_free(c);
}

TEST(without_a_place_for_a_ledger_what_carries_our_name_stays) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
        SessionMeta *m = fake_session("x", "udp_*");
        _cleanup_free_ char *armed = NULL;
        Controller *c = fake_controller(k);

        m->spec.depth = 5;
        (void) fake_start(c, m, false);
        armed = fake_dump(k);
        lose(k, c);
        controller_free(fake_controller_at(k, -EACCES));
        fake_expect_all(k, armed);
        controller_free(fake_controller(k));
}

static void place_ledgers(const Scratch *s) {
        char run[PATH_MAX + 8];

        (void) snprintf(run, sizeof(run), "%.4000s/run", s->path);
        ck_assert_int_eq(setenv("FTRACED_LEDGERS", run, 1), 0);
}

TEST(a_ledger_is_had_whose_directory_goes_with_its_last_owner) {
        Scratch s = scratch_new();
        LedgerDir d = LEDGER_DIR_INIT;
        char c;
        pid_t child, holder;
        int fds[2];

        place_ledgers(&s);
        ck_assert_int_eq(pipe(fds), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                if (ledger_dir_open(&d, s.path, &holder) != 0 || write(fds[1], "", 1) != 1)
                        _exit(1);
                (void) usleep(35000); /* lock_take() waits for longer */
                ledger_dir_done(&d);
                _exit(0);
        }
        ck_assert_int_eq(read(fds[0], &c, 1), 1);
        ck_assert_int_eq(ledger_dir_open(&d, s.path, &holder), 0);
        ck_assert_int_ge(d.fd, 0);
        ck_assert_int_ge(faccessat(AT_FDCWD, d.path, F_OK, 0), 0);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        ledger_dir_done(&d);
        close(fds[0]);
        close(fds[1]);
        (void) unsetenv("FTRACED_LEDGERS");
        scratch_done(&s);
}

TEST(a_store_whose_disk_has_gone_is_found_by_all_its_names) {
        static const char *const names[] = { "disk/store", "disk//store///", "link/store",
                                             "link/../disk/store" };
        _cleanup_scratch_ Scratch s = SCRATCH;
        char first[PATH_MAX] = "", path[PATH_MAX + 32];

        place_ledgers(&s);
        ck_assert_int_eq(mkdirat(s.fd, "disk", 0700), 0);
        ck_assert_int_eq(symlinkat("disk", s.fd, "link"), 0);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                LedgerDir d = LEDGER_DIR_INIT;
                pid_t holder;

                (void) snprintf(path, sizeof(path), "%.4000s/%s", s.path, names[i]);
                ck_assert_int_eq(ledger_dir_open(&d, path, &holder), 0);
                ck_assert_int_ge(d.fd, 0);
                if (i == 0)
                        (void) snprintf(first, sizeof(first), "%.4000s", d.path);
                ck_assert_str_eq(d.path, first);
                ck_assert_ptr_nonnull(strstr(d.path, "%2Fdisk%2Fstore"));
                ledger_dir_done(&d);
        }
        (void) unsetenv("FTRACED_LEDGERS");
}

TEST(an_instance_of_another_stores_daemon_is_left_alone) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);
        SessionMeta *m = fake_session("x", "udp_*");
        LedgerDir one = LEDGER_DIR_INIT, two = LEDGER_DIR_INIT;
        _cleanup_free_ char *armed = NULL;
        _cleanup_strv_ Strv left = {};
        _cleanup_scratch_ Scratch s = SCRATCH;
        char store[PATH_MAX];
        Controller *c, *d;
        pid_t holder;

        (void) snprintf(store, sizeof(store), "%.4000s/tracefs", k->scratch.path);
        place_ledgers(&s);
        ck_assert_int_eq(ledger_dir_open(&one, s.path, &holder), 0);
        ck_assert_int_eq(ledger_dir_open(&two, s.path, &holder), LEDGER_DIR_E_HELD);
        ck_assert_int_eq(ledger_dir_open(&two, store, &holder), 0);
        c = fake_controller_at(k, one.fd);
        m->spec.depth = 5;
        (void) fake_start(c, m, false);
        armed = fake_dump(k);
        leave(c);

        d = fake_controller_at(k, two.fd);
        fake_expect_all(k, armed);
        ck_assert_int_eq(controller_find_left(d, &left), 0);
        ck_assert_uint_eq(left.n, 0); /* as long as that lives */
        one.lock_fd = safe_close(one.lock_fd);
        ck_assert_int_eq(controller_find_left(d, &left), 0);
        ck_assert_uint_eq(left.n, 1);
        ck_assert_ptr_nonnull(strstr(left.items[0], "ftraced --restore --store="));
        ck_assert_ptr_nonnull(strstr(left.items[0], s.path));
        controller_free(d);

        c = fake_controller_at(k, one.fd);
        ck_assert_uint_gt(controller_n_restored(c), 0);
        controller_free(c);
        ledger_dir_done(&one);
        ledger_dir_done(&two);
        (void) unsetenv("FTRACED_LEDGERS");
}

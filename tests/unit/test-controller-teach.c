/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is learned of what others recorded, and of whom it is not. */

#include "base/io.h"
#include "daemon/lean/lean.h"
#include "daemon/tracer/controller.h"
#include "fake-kernel.h"

#define RELEASE "6.12.117+deb12-amd64"

typedef struct Fixture {
        FakeKernel *k;
        Controller *c;
        Strv roots;
        LeanCache seen;
        ControllerTaught taught;
        Refusal refusal;
} Fixture;

static void set_up(Fixture *f) {
        *f = (Fixture){ .k = fake_kernel_new(false), .seen = { .n_calls = 60 } };
        fake_put_root(f->k, "proc/sys/kernel/osrelease", RELEASE "\n");
        f->c = fake_controller(f->k);
        ck_assert_int_ge(strv_add(&f->roots, "udp_sendmsg"), 0);
        ck_assert_int_ge(lean_cache_add(&f->seen, "kfree", NULL, 0), 0);
        ck_assert_int_ge(lean_cache_add(&f->seen, "udp_sendmsg", NULL, 0), 0);
        ck_assert_int_ge(lean_cache_add(&f->seen, "of_another_build", NULL, 0), 0);
        lean_cache_sort(&f->seen);
}

static void forget_answer(Fixture *f) {
        controller_taught_done(&f->taught);
        f->taught = (ControllerTaught){};
        refusal_done(&f->refusal);
        f->refusal = (Refusal){};
}

static int teach(Fixture *f, const char *kernel, bool force) {
        forget_answer(f);
        return controller_teach(f->c, &f->roots, kernel, force, &f->seen, &f->taught, &f->refusal);
}

static void tear_down(Fixture *f) {
        forget_answer(f);
        strv_done(&f->roots);
        lean_cache_done(&f->seen);
        (void) controller_free(f->c);
        fake_kernel_free(f->k);
}

START_TEST(what_was_seen_elsewhere_is_added_to_what_is_known)
        {
                Fixture f;

                set_up(&f);
                ck_assert_int_eq(teach(&f, RELEASE, false), 0);
                ck_assert_uint_eq(f.taught.n_functions, 2);
                ck_assert_uint_eq(f.taught.n_known, 2);
                ck_assert_uint_eq(f.taught.n_known_calls, 60);
                ck_assert_int_eq(teach(&f, RELEASE, false), 0);
                ck_assert_uint_eq(f.taught.n_known, 2);
                ck_assert_uint_eq(f.taught.n_known_calls, 120);
                tear_down(&f);
        }
END_TEST

START_TEST(another_kernel_teaches_nothing_and_both_are_named)
        {
                Fixture f;

                set_up(&f);
                for (int force = 0; force < 2; force++) {
                        ck_assert_int_eq(teach(&f, "6.1.0-42-amd64", force), REFUSED);
                        ck_assert_int_eq((int) f.refusal.kind, REFUSAL_OTHER_KERNEL);
                        ck_assert_ptr_nonnull(
                                strstr(refusal_message(&f.refusal), "6.1.0-42-amd64"));
                        ck_assert_ptr_nonnull(strstr(refusal_message(&f.refusal), RELEASE));
                }
                ck_assert_int_eq(teach(&f, "x\n\033[2J", false), REFUSED);
                ck_assert_ptr_null(strchr(refusal_message(&f.refusal), '\033'));
                tear_down(&f);
        }
END_TEST

START_TEST(a_kernel_that_is_not_known_takes_force)
        {
                Fixture f;

                set_up(&f);
                ck_assert_int_eq(teach(&f, NULL, false), REFUSED);
                ck_assert_int_eq((int) f.refusal.kind, REFUSAL_OTHER_KERNEL);
                ck_assert_int_eq(teach(&f, NULL, true), 0);
                ck_assert_uint_eq(f.taught.n_known, 2);
                tear_down(&f);
        }
END_TEST

START_TEST(roots_that_are_not_here_are_left_out_unless_there_is_no_other)
        {
                Fixture f;

                set_up(&f);
                ck_assert_int_ge(strv_add(&f.roots, "udpv7_sendmsg"), 0);
                ck_assert_int_eq(teach(&f, RELEASE, false), 0);
                ck_assert_uint_eq(f.taught.roots.n, 1);
                ck_assert_uint_eq(f.taught.missing.n, 1);
                ck_assert_str_eq(f.taught.missing.items[0], "udpv7_sendmsg");
                strv_done(&f.roots);
                ck_assert_int_ge(strv_add(&f.roots, "udpv7_sendmsg"), 0);
                ck_assert_int_eq(teach(&f, RELEASE, false), REFUSED);
                ck_assert_int_eq((int) f.refusal.kind, REFUSAL_FUNCTION_NOT_FOUND);
                tear_down(&f);
        }
END_TEST

UNIT_SUITE("controller-teach", what_was_seen_elsewhere_is_added_to_what_is_known,
           another_kernel_teaches_nothing_and_both_are_named,
           a_kernel_that_is_not_known_takes_force,
           roots_that_are_not_here_are_left_out_unless_there_is_no_other)

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <pthread.h>

#include "base/cleanup.h"
#include "base/origin.h"
#include "tests/unit/unit.h"

static int line_of_failure;

static int fail_with(int error) {
        line_of_failure = __LINE__ + 1;
        return ORIGIN(-error);
}

static int forward(int error) {
        int r = fail_with(error);

        return r < 0 ? r : 0;
}

TEST(an_error_is_found_where_it_began) {
        Origin o;

        origin_forget();
        ck_assert_int_eq(forward(EXDEV), -EXDEV);
        ck_assert(origin_find(&o, -EXDEV));
        ck_assert_int_eq(o.line, line_of_failure);
        ck_assert_str_eq(o.file, "tests/unit/test-origin.c");
        ck_assert_str_eq(o.function, "fail_with");
        ck_assert(origin_find(&o, EXDEV));
}

TEST(what_was_met_while_cleaning_up_does_not_hide_it) {
        Origin o;

        origin_forget();
        (void) forward(EXDEV);
        for (int i = 0; i < ORIGIN_N - 1; i++)
                (void) ORIGIN(-ENOENT);
        ck_assert(origin_find(&o, -EXDEV));
        ck_assert_str_eq(o.function, "fail_with");
        (void) ORIGIN(-ENOENT);
        ck_assert(!origin_find(&o, -EXDEV));
}

TEST(of_one_number_the_newest_counts) {
        Origin o;

        origin_forget();
        (void) forward(EXDEV);
        (void) ORIGIN_STEP(-EXDEV, "second");
        ck_assert(origin_find(&o, -EXDEV));
        ck_assert_str_eq(o.step, "second");
}

TEST(nothing_is_told_of_what_nobody_noted_or_of_other_work) {
        Origin o;

        origin_forget();
        ck_assert(!origin_find(&o, -EXDEV));
        ck_assert(!origin_find(&o, 0));
        ck_assert_int_eq(ORIGIN(0), 0);
        ck_assert_int_eq(ORIGIN(7), 7);
        ck_assert(!origin_find(&o, 7));
        (void) forward(EXDEV);
        ck_assert(!origin_find(&o, -ENOENT));
        origin_forget();
        ck_assert(!origin_find(&o, -EXDEV));
        ck_assert_str_eq(origin_text(-EXDEV), strerror(EXDEV));
}

static void *fail_elsewhere(void *userdata) {
        Origin *ret = userdata;

        ck_assert(!origin_find(ret, -EXDEV));
        (void) forward(ENODEV);
        ck_assert(origin_find(ret, -ENODEV));
        return NULL;
}

TEST(each_thread_has_its_own) {
        Origin o = {}, other = {};
        pthread_t thread;

        origin_forget();
        (void) forward(EXDEV);
        ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, &other), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert(origin_find(&o, -EXDEV));
        ck_assert(!origin_find(&o, -ENODEV));
        ck_assert_str_eq(other.function, "fail_with");
}

TEST(people_are_told_the_step_and_whoever_debugs_the_place) {
        char wanted[ORIGIN_TEXT_MAX];

        (void) unsetenv("FTRACED_DEBUG");
        origin_forget();
        (void) forward(EXDEV);
        ck_assert_str_eq(origin_text(-EXDEV), strerror(EXDEV));
        (void) ORIGIN_STEP(-ENODEV, "close_range");
        (void) snprintf(wanted, sizeof(wanted), "close_range: %s", strerror(ENODEV));
        ck_assert_str_eq(origin_text(-ENODEV), wanted);

        ck_assert_int_eq(setenv("FTRACED_DEBUG", "origin", 1), 0);
        (void) snprintf(wanted, sizeof(wanted), "%s [tests/unit/test-origin.c:%i, fail_with()]",
                        strerror(EXDEV), line_of_failure);
        ck_assert_str_eq(origin_text(EXDEV), wanted);
        ck_assert_str_eq(origin_text(-EPERM), strerror(EPERM));
}

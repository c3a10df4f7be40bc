/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/now.h"
#include "daemon/process/idle.h"
#include "tests/unit/unit.h"

#define IDLE_US 50000

typedef struct World {
        sd_event *event;
        bool is_busy;
        unsigned n_left; /* times that it is reached before the loop ends */
        uint64_t reached_ns;
} World;

static bool ask(void *userdata) {
        return !((World *) userdata)->is_busy;
}

static void reached(void *userdata) {
        World *w = userdata;

        w->reached_ns = now_ns(CLOCK_MONOTONIC);
        if (--w->n_left == 0)
                (void) sd_event_exit(w->event, 0);
}

static int become_free(sd_event_source *source, uint64_t usec, void *userdata) {
        ((World *) userdata)->is_busy = false;
        return 0;
}

static int give_up(sd_event_source *source, uint64_t usec, void *userdata) {
        return sd_event_exit(((World *) userdata)->event, 1);
}

/* How long it took [us] to be reached @n times when it was busy for the first @busy_us; 0: it was not reached. */
static uint64_t run(unsigned n, uint64_t busy_us, uint64_t give_up_us) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        World w = { .is_busy = busy_us > 0, .n_left = n };
        Idle idle = { IDLE_US, ask, reached, &w };

        ck_assert_int_ge(sd_event_new(&w.event), 0);
        ck_assert_int_eq(idle_init(&idle, w.event), 0);
        if (busy_us > 0)
                ck_assert_int_ge(sd_event_add_time_relative(w.event, NULL, CLOCK_MONOTONIC, busy_us,
                                                            1, become_free, &w),
                                 0);
        ck_assert_int_ge(sd_event_add_time_relative(w.event, NULL, CLOCK_MONOTONIC, give_up_us, 1,
                                                    give_up, &w),
                         0);
        (void) sd_event_loop(w.event);
        idle_done(&idle);
        sd_event_unref(w.event);
        return w.reached_ns > 0 ? (w.reached_ns - since_ns) / NSEC_PER_USEC : 0;
}

START_TEST(without_work_it_is_reached_after_the_time)
        { ck_assert_uint_ge(run(1, 0, 100 * USEC_PER_SEC), IDLE_US); }
END_TEST

START_TEST(the_time_begins_when_the_work_ends)
        {
                ck_assert_uint_ge(run(1, 30000, 100 * USEC_PER_SEC), 30000 + IDLE_US);
                ck_assert_uint_ge(run(1, 120000, 100 * USEC_PER_SEC), 120000 + IDLE_US);
        }
END_TEST

START_TEST(while_there_is_work_it_is_not_reached)
        { ck_assert_uint_eq(run(1, 10 * USEC_PER_SEC, 200000), 0); }
END_TEST

/* The daemon puts back again and again what it could not (daemon.c). */
START_TEST(as_long_as_there_is_none_it_is_reached_again)
        { ck_assert_uint_ge(run(3, 0, 100 * USEC_PER_SEC), 3 * IDLE_US); }
END_TEST

UNIT_SUITE("idle", without_work_it_is_reached_after_the_time, the_time_begins_when_the_work_ends,
           while_there_is_work_it_is_not_reached, as_long_as_there_is_none_it_is_reached_again)

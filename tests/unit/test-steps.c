/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "player.h"

static const Layout *const layout = &layouts[LAYOUT_6_12];

/* All steps in short: "{" enters, "." is a leaf, "}" leaves, "!N" a loss, "?" another event, and
 * the function's first letter. */
static char *in_short(Player *p) {
        static char text[1024];
        char *t = text;
        Step s;

        *t = 0;
        while (steps_next(&p->steps, STREAM_NO_LIMIT, &s) == 1) {
                *t++ = "{.}!?"[s.kind];
                if (s.kind == STEP_LOST)
                        t += sprintf(t, "%llu", (unsigned long long) s.n_lost);
                else if (s.function)
                        *t++ = s.function->label[0];
                *t = 0;
        }
        return text;
}

/* Plays @n pages of CPU 0. */
static char *play(const Page *pages, size_t n, StepsKeep keep) {
        RECORDING(r, layout);
        _cleanup_player_ Player p;

        recording_add(&r, 0, 0, pages, n);
        player_init(&p, &r, layout, "17 client\n", keep);
        return in_short(&p);
}

RECORDING_TEST(an_exit_right_after_its_entry_makes_a_leaf, layout) {
        _cleanup_player_ Player p;
        Page page = {};
        Step s;

        page_begin(&page, layout, 100);
        page_enter(&page, 100, 17, F_LEAF, 1);
        page_leave(&page, 180, 17, F_LEAF, 1, 50);
        recording_add(r, 0, 0, &page, 1);
        player_init(&p, r, layout, "17 client\n", STEPS_ALL);
        ck_assert_int_eq(steps_next(&p.steps, STREAM_NO_LIMIT, &s), 1);
        ck_assert_int_eq(s.kind, STEP_LEAF);
        ck_assert_uint_eq(s.timestamp_ns, 100);
        ck_assert_uint_eq(step_duration_ns(&s), 50);
        ck_assert_str_eq(s.comm, "client");
        ck_assert_str_eq(s.function->label, "kfree");
        ck_assert_int_eq(steps_next(&p.steps, STREAM_NO_LIMIT, &s), 0);
}

TEST(another_task_or_function_or_event_in_between_makes_none) {
        const uint8_t other[8] = { 99 };
        Page p = {};

        page_begin(&p, layout, 100);
        page_enter(&p, 100, 17, F_LEAF, 0);
        page_leave(&p, 110, 18, F_LEAF, 0, 5);
        page_enter(&p, 120, 17, F_LEAF, 0);
        page_leave(&p, 130, 17, F_CHILD, 0, 5);
        page_enter(&p, 140, 17, F_LEAF, 0);
        page_record(&p, 150, other, sizeof(other));
        page_leave(&p, 160, 17, F_LEAF, 0, 5);
        ck_assert_str_eq(play(&p, 1, STEPS_ALL), "{k}k{k}i{k?}k");
}

TEST(a_leaf_may_span_two_pages_but_not_a_loss) {
        for (int lost = 0; lost < 2; lost++) {
                Page p[2] = {};

                page_begin(&p[0], layout, 100);
                page_enter(&p[0], 100, 17, F_LEAF, 0);
                page_begin(&p[1], layout, 110);
                page_leave(&p[1], 110, 17, F_LEAF, 0, 5);
                if (lost)
                        page_set_missed(&p[1], 6);
                ck_assert_str_eq(play(p, 2, STEPS_ALL), lost ? "{k!6}k" : ".k");
        }
}

RECORDING_TEST(other_cpus_do_not_break_a_leaf, layout) {
        _cleanup_player_ Player player;
        Page p[2] = {};

        page_begin(&p[0], layout, 100);
        page_enter(&p[0], 100, 17, F_LEAF, 0);
        page_leave(&p[0], 200, 17, F_LEAF, 0, 5);
        page_begin(&p[1], layout, 150);
        page_enter(&p[1], 150, 18, F_ROOT, 0);
        page_enter(&p[1], 250, 18, F_CHILD, 1);
        recording_add(r, 0, 0, &p[0], 1);
        recording_add(r, 1, 0, &p[1], 1);
        player_init(&player, r, layout, "17 client\n", STEPS_ALL);
        ck_assert_str_eq(in_short(&player), ".k{u{i");
}

TEST(a_neighbours_trees_can_be_left_out) {
        Page p = {};

        page_begin(&p, layout, 100);
        page_leave(&p, 100, 17, F_ROOT, 0, 50); /* begun before us */
        page_enter(&p, 110, 17, F_CHILD, 0);    /* the neighbour's */
        page_leave(&p, 115, 17, F_LEAF, 1, 5);
        page_leave(&p, 120, 17, F_CHILD, 0, 5);
        page_enter(&p, 130, 17, F_CHILD, 0); /* its caller, hooked by somebody */
        page_enter(&p, 140, 17, F_ROOT, 1);
        page_enter(&p, 150, 17, F_LEAF, 2);
        page_leave(&p, 160, 17, F_LEAF, 2, 5);
        page_enter(&p, 165, 18, F_LEAF, 0); /* another task's */
        page_leave(&p, 170, 17, F_ROOT, 1, 5);
        page_leave(&p, 180, 17, F_CHILD, 0, 5);
        ck_assert_str_eq(play(&p, 1, STEPS_IN_TREES), "{u.k}u");
        ck_assert_str_eq(play(&p, 1, STEPS_ALL), "}u{i}k}i{i{u.k{k}u}i");
}

TEST(ends_alone_can_be_cut_down_to_those_of_the_roots) {
        Page p = {};

        page_begin(&p, layout, 100);
        page_leave(&p, 100, 17, F_CHILD, 1, 50);
        page_leave(&p, 110, 17, F_ROOT, 0, 90);
        page_leave(&p, 120, 18, F_LEAF, 0, 60); /* the neighbour's */
        page_leave(&p, 130, 18, F_ROOT, 3, 70);
        ck_assert_str_eq(play(&p, 1, STEPS_OF_ROOTS), "}u}u");
        ck_assert_str_eq(play(&p, 1, STEPS_ALL), "}i}u}k}u");
}

RECORDING_TEST(a_neighbour_that_comes_later_is_left_out_from_then_on, layout) {
        _cleanup_player_ Player p;
        Page page = {};
        Step s;

        page_begin(&page, layout, 100);
        page_enter(&page, 100, 17, F_ROOT, 0);
        page_enter(&page, 110, 18, F_CHILD, 0);
        page_enter(&page, 120, 17, F_CHILD, 1); /* in a tree that began before */
        page_leave(&page, 130, 18, F_CHILD, 0, 5);
        page_leave(&page, 140, 17, F_LEAF, 2, 5); /* only the neighbour hooks it */
        page_leave(&page, 150, 17, F_CHILD, 1, 5);
        page_leave(&page, 160, 17, F_ROOT, 0, 5);
        recording_add(r, 0, 0, &page, 1);
        player_init(&p, r, layout, "17 client\n", STEPS_ALL);
        p.steps.watches_trees = true;
        ck_assert_int_eq(steps_next(&p.steps, 110, &s), 1);
        ck_assert_int_eq(steps_next(&p.steps, 110, &s), 1);
        ck_assert_int_eq(s.pid, 18);
        steps_set_keep(&p.steps, STEPS_IN_TREES);
        ck_assert_str_eq(in_short(&p), "{i}i}u");
}

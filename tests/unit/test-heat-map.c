/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/heat-map.h"
#include "base/unit.h"
#include "fed.h"

typedef struct Fed {
        Pairing *pairing;
        HeatMap *map;
} Fed;

static Fed fed(NameSet *names) {
        Fed f = { .pairing = fed_pairing() };

        ck_assert_int_eq(heat_map_new(&f.map, f.pairing, names, true), 0);
        return f;
}

static void fed_done(Fed *f) {
        heat_map_free(f->map);
        pairing_free(f->pairing);
}

static void leaf(Fed *f, const Function *function, uint64_t at_ns, uint64_t duration_ns) {
        feed_at(f->pairing, step_leaf(function, 0, duration_ns), at_ns);
}

/* Of all calls, if @root is NULL. */
static const HeatGrid *grid_of(Fed *f, const Function *root) {
        const HeatGrid *const *grids;
        size_t n, i = 0;

        if (!root)
                return heat_map_all(f->map);
        grids = heat_map_grids(f->map, &n);
        while (i < n && grids[i]->root != root)
                i++;
        ck_assert_uint_lt(i, n);
        return grids[i];
}

static HeatView view(Fed *f, const Function *root, size_t max_columns) {
        HeatView v;

        ck_assert_int_eq(heat_view_new(&v, f->map, grid_of(f, root), max_columns), 0);
        return v;
}

static uint64_t sum_of_row(const HeatView *v, size_t row) {
        uint64_t n = 0;

        for (size_t i = 0; i < v->n_columns; i++)
                n += heat_view_at(v, row, i)->n;
        return n;
}

/* Of each range, for any number of columns. */
static void assert_equals_histogram(Fed *f, const Function *root, const HeatGrid *g) {
        static const size_t columns[] = { 1, 7, 80, 1000, SIZE_MAX / 2 };
        Range ranges[HEAT_MAP_ROWS];
        size_t n = heat_grid_ranges(ranges, g);

        for (size_t i = 0; i < ELEMENTSOF(columns); i++) {
                _cleanup_heat_view_ HeatView v = view(f, root, columns[i]);

                ck_assert_uint_eq(v.n, g->quantiles.n);
                ck_assert_uint_eq(v.n_rows, n);
                ck_assert_uint_le(v.n_columns, MIN(columns[i], (size_t) HEAT_MAP_COLUMNS_MAX));
                for (size_t row = 0; row < n; row++) {
                        ck_assert_uint_eq(heat_view_from_ns(&v, row), ranges[row].from_ns);
                        ck_assert_uint_eq(heat_view_to_ns(&v, row), ranges[row].to_ns);
                        ck_assert_uint_eq(sum_of_row(&v, row), ranges[row].n);
                }
        }
}

static uint64_t next_random(uint64_t *x) {
        *x ^= *x << 13;
        *x ^= *x >> 7;
        *x ^= *x << 17;
        return *x;
}

TEST(rows_add_up_to_the_histogram_of_each_root) {
        uint64_t random = (uint64_t) getpid() * 7919 + 1;

        for (int round = 0; round < 20; round++) {
                _cleanup_fed_ Fed f = fed(NULL);
                uint64_t at_ns = next_random(&random) % NSEC_PER_SEC;
                unsigned wide = (unsigned) (next_random(&random) % 40);
                const HeatGrid *const *rows;
                size_t n;

                for (int i = 0; i < 3000; i++) {
                        uint64_t ns = next_random(&random) >> (24 + next_random(&random) % 40);

                        at_ns += next_random(&random) >> (63 - wide);
                        leaf(&f, i % 3 ? &step_root : &step_child, at_ns, ns);
                }
                ck_assert_int_eq(pairing_finish(f.pairing), 0);
                rows = heat_map_grids(f.map, &n);
                ck_assert_msg(n == 2, "seed %d, round %d", getpid(), round);
                for (size_t i = 0; i < n; i++)
                        assert_equals_histogram(&f, rows[i]->root, rows[i]);
                assert_equals_histogram(&f, NULL, heat_map_all(f.map));
        }
}

TEST(doubling_ranges_hold_exactly_what_they_say) {
        static const uint64_t wanted[] = { 28, 128, 256, 512, 100 };
        _cleanup_fed_ Fed f = fed(NULL);
        Range ranges[HEAT_MAP_ROWS];

        ck_assert_uint_eq(heat_grid_ranges(ranges, heat_map_all(f.map)), 0);
        for (uint64_t ns = 100; ns < 1124; ns++)
                leaf(&f, &step_root, ns * 10000, ns);
        ck_assert_uint_eq(heat_grid_ranges(ranges, heat_map_all(f.map)), ELEMENTSOF(wanted));
        ck_assert_uint_eq(ranges[0].from_ns, 64);
        for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                ck_assert_uint_eq(ranges[i].n, wanted[i]);
}

TEST(columns_double_until_all_fit_and_each_call_stays_in_its_own) {
        uint64_t length_ns;

        for (length_ns = 1; length_ns < UINT64_C(1) << 50; length_ns *= 37) {
                _cleanup_fed_ Fed f = fed(NULL);
                _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
                uint64_t begin_ns = 12345, at_ns[64], seen = 0;

                for (size_t i = 0; i < ELEMENTSOF(at_ns); i++) {
                        at_ns[i] = begin_ns + length_ns / ELEMENTSOF(at_ns) * i;
                        leaf(&f, &step_root, at_ns[i], 100);
                }
                ck_assert_int_eq(pairing_finish(f.pairing), 0);
                v = view(&f, NULL, HEAT_MAP_COLUMNS_MAX);
                ck_assert_uint_le(v.n_columns, HEAT_MAP_COLUMNS_MAX);
                ck_assert_uint_eq(v.column_ns & (v.column_ns - 1), 0);
                ck_assert_uint_eq(v.begin_ns % v.column_ns, 0);
                for (size_t c = 0; c < v.n_columns; c++) {
                        uint64_t n = 0;

                        for (size_t i = 0; i < ELEMENTSOF(at_ns); i++)
                                n += at_ns[i] >= heat_view_time_ns(&v, c) &&
                                     at_ns[i] < heat_view_time_ns(&v, c + 1);
                        ck_assert_uint_eq(heat_view_at(&v, 0, c)->n, n);
                        seen += n;
                }
                ck_assert_uint_eq(seen, ELEMENTSOF(at_ns));
                /* No wider than they must be. */
                if (v.column_ns > 1)
                        ck_assert_uint_gt(v.n_columns, HEAT_MAP_COLUMNS_MAX / 2);
        }
}

FED_TEST(calls_that_come_late_have_an_earlier_column, NULL) {
        _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;

        leaf(f, &step_root, 5000000, 100);
        leaf(f, &step_root, 1000, 100);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        v = view(f, NULL, 10);
        ck_assert_uint_le(v.begin_ns, 1000);
        ck_assert_uint_eq(heat_view_at(&v, 0, 0)->n, 1);
        ck_assert_uint_eq(heat_view_at(&v, 0, v.n_columns - 1)->n, 1);
}

FED_TEST(one_call_is_one_cell_in_its_range, NULL) {
        _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
        uint64_t from_ns, to_ns;

        leaf(f, &step_root, 1000, 100);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        v = view(f, &step_root, 80);
        ck_assert_uint_eq(v.n_columns * v.n_rows, 1);
        ck_assert_uint_eq(heat_view_from_ns(&v, 0), 64);
        ck_assert_uint_eq(heat_view_to_ns(&v, 0), 128);
        ck_assert_uint_eq(heat_view_time_ns(&v, 0), 1000);
        heat_view_window(&v, (HeatArea){}, &from_ns, &to_ns);
        ck_assert_uint_eq(from_ns, 1000);
        ck_assert_uint_ge(to_ns, 1100);
}

FED_TEST(a_window_has_the_record_of_the_last_end, NULL) {
        _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
        uint64_t from_ns, to_ns;

        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        feed_at(f->pairing, step_leaf(&step_child, 1, 10), 1100);
        feed_at(f->pairing, step_leave(&step_root, 0, 500), 77777);
        leaf(f, &step_root, 1000000000, 100);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        v = view(f, NULL, SIZE_MAX);
        heat_view_window(&v, (HeatArea){ .last_row = v.n_rows - 1 }, &from_ns, &to_ns);
        ck_assert_uint_le(from_ns, 1000);
        ck_assert_uint_eq(to_ns, MAX(UINT64_C(77777), heat_view_time_ns(&v, 1) - 1));
}

FED_TEST(calls_that_were_cut_are_in_no_cell_and_none_is_an_empty_view, NULL) {
        HeatView v;

        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        feed_at(f->pairing, step_leaf(&step_child, 1, 10), 1100);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_uint_eq(heat_map_all(f->map)->n_cells, 0);
        ck_assert_uint_eq(heat_map_all(f->map)->quantiles.n, 0);
        ck_assert_uint_eq(heat_map_all(f->map)->n_cut, 1);
        v = view(f, NULL, 80);
        ck_assert_uint_eq(v.n_columns + v.n_rows, 0);
}

TEST(calls_of_a_name_are_found_below_their_roots) {
        char *items[] = { (char *) "child" };
        const Strv patterns = { .items = items, .n = 1 };
        _cleanup_(name_set_done) NameSet names = { .patterns = &patterns };
        _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
        _cleanup_fed_ Fed f = {};

        f = fed(&names);
        feed_at(f.pairing, step_enter(&step_root, 0), 1000);
        feed_at(f.pairing, step_leaf(&step_child, 1, 10), 1100);
        feed_at(f.pairing, step_leaf(&step_child, 1, 1000), 1200);
        feed_at(f.pairing, step_leave(&step_root, 0, 5000), 7000);
        leaf(&f, &step_child, 9000, 3);
        ck_assert_int_eq(pairing_finish(f.pairing), 0);
        assert_equals_histogram(&f, NULL, heat_map_all(f.map));
        ck_assert_uint_eq(heat_map_all(f.map)->quantiles.n, 3);
        v = view(&f, &step_root, 1);
        ck_assert_uint_eq(v.n, 2);
}

FED_TEST(times_at_both_ends_of_what_a_clock_has_do_not_run_over, NULL) {
        static const size_t columns[] = { 1, 3, 1000, SIZE_MAX };

        leaf(f, &step_root, 0, 0);
        leaf(f, &step_root, UINT64_MAX, PAIRING_NS_MAX / 2);
        leaf(f, &step_root, UINT64_MAX - 1, 1);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        for (size_t i = 0; i < ELEMENTSOF(columns); i++) {
                _cleanup_heat_view_ HeatView v = view(f, NULL, columns[i]);
                uint64_t from_ns, to_ns;

                ck_assert_uint_eq(v.n, 3);
                ck_assert_uint_eq(heat_view_time_ns(&v, 0), 0);
                for (size_t c = 0; c < v.n_columns; c++)
                        ck_assert_uint_lt(heat_view_time_ns(&v, c), heat_view_time_ns(&v, c + 1));
                heat_view_window(&v, (HeatArea){ 0, v.n_columns - 1, 0, v.n_rows - 1 }, &from_ns,
                                 &to_ns);
                ck_assert_uint_eq(from_ns, 0);
                ck_assert_uint_eq(to_ns, UINT64_MAX);
        }
}

TEST(a_scale_has_every_count_and_uses_the_strongest_shade) {
        static const uint64_t most[] = { 1, 2, 3, 10, 1000, 123456789, UINT64_MAX };

        for (size_t i = 0; i < ELEMENTSOF(most); i++)
                for (unsigned levels = 4; levels < 13; levels += 3) {
                        HeatScale s = heat_scale(most[i], levels);
                        ck_assert_uint_eq(heat_scale_level(&s, 0), 0);
                        ck_assert_uint_eq(heat_scale_level(&s, 1), levels - s.n_used + 1);
                        ck_assert_uint_eq(heat_scale_level(&s, most[i]), levels);
                        for (unsigned l = levels - s.n_used + 1; l <= levels; l++) {
                                uint64_t from = heat_scale_from(&s, l);

                                ck_assert_uint_eq(heat_scale_level(&s, from), l);
                                ck_assert_uint_eq(heat_scale_level(&s, from - 1),
                                                  from == 1 ? 0 : l - 1);
                        }
                }
}

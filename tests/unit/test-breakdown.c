/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/breakdown.h"
#include "fed.h"

static const Function schedule = { .label = "schedule" SLACK, .n_label = 8, .n_name = 8 };
static const Function schedule_timeout = { .label = "schedule_timeout" SLACK,
                                           .n_label = 16,
                                           .n_name = 16 };

/* Of the breakdown that was made last. */
static Pairing *pairing;

static Breakdown *breakdown_by(BreakdownBy by) {
        Breakdown *p;

        pairing_free(pairing);
        pairing = fed_pairing();
        ck_assert_int_eq(breakdown_new(&p, by, pairing), 0);
        return p;
}

static const BreakdownRow *row_of(Breakdown *p, const char *name) {
        const BreakdownRow *const *rows;
        size_t n;

        rows = breakdown_rows(p, &n);
        for (size_t i = 0; i < n; i++)
                if (rows[i]->name && strlen(name) == rows[i]->n_name &&
                    memcmp(rows[i]->name, name, rows[i]->n_name) == 0)
                        return rows[i];
        ck_abort_msg("no row %s", name);
}

TEST(what_is_cut_off_has_lower_bounds) {
        _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(BREAKDOWN_BY_FUNCTION);
        Step late = step_leaf(&step_module, 2, 30);

        /* The call of the first one is before the beginning. */
        FEED(pairing, step_leave(&step_child, 1, 100), step_enter(&step_root, 0),
             step_enter(&step_child, 1));
        late.timestamp_ns += 500;
        FEED(pairing, late);
        ck_assert_int_eq(pairing_finish(pairing), 0);
        ck_assert_uint_eq(row_of(p, "child")->n, 2);
        ck_assert_uint_eq(row_of(p, "child")->n_cut, 1);
        ck_assert_uint_eq(row_of(p, "child")->total_ns, 630);
        ck_assert_uint_eq(row_of(p, "root")->n_cut, 1);
        ck_assert_uint_eq(row_of(p, "root")->total_ns, 530);
        ck_assert_uint_eq(row_of(p, "root")->quantiles.n, 0);
}

TEST(a_wait_counts_where_it_is_innermost) {
        _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(BREAKDOWN_BY_FUNCTION);

        FEED(pairing, step_enter(&step_root, 0), step_enter(&schedule_timeout, 1),
             step_leaf(&schedule, 2, 90), step_leave(&schedule_timeout, 1, 100),
             step_leave(&step_root, 0, 150));
        ck_assert_uint_eq(row_of(p, "schedule")->self_blocked_ns, 90);
        ck_assert_uint_eq(row_of(p, "schedule_timeout")->self_blocked_ns, 0);
        ck_assert_uint_eq(row_of(p, "root")->blocked_ns, 90);
}

TEST(roots_tasks_and_cpus_are_counted_by_trees) {
        for (BreakdownBy by = BREAKDOWN_BY_TASK; by <= BREAKDOWN_BY_ROOT; by++) {
                _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(by);
                const BreakdownRow *const *rows;
                size_t n;

                for (int i = 0; i < 2; i++) {
                        FEED(pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 30),
                             step_leave(&step_root, 0, 100));
                }
                ck_assert_int_eq(pairing_finish(pairing), 0);
                rows = breakdown_rows(p, &n);
                ck_assert_uint_eq(n, 1);
                ck_assert_uint_eq(rows[0]->n, by == BREAKDOWN_BY_ROOT ? 2 : 4);
                ck_assert_uint_eq(rows[0]->total_ns, 200);
                ck_assert_uint_eq(rows[0]->self_ns, 200);
                ck_assert_uint_eq(rows[0]->quantiles.n, 2);
                ck_assert_uint_eq(rows[0]->quantiles.max, 100);
        }
}

TEST(trees_count_by_who_called_whichever_root) {
        static char text[] = "callers: sys_a < b";
        static const Callers of_root = { .root = &step_root, .text = text },
                             of_child = { .root = &step_child, .text = text };
        _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(BREAKDOWN_BY_CALLER);

        FEED(pairing, step_enter(&step_root, 0), (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_root },
             step_leaf(&step_module, 1, 30), step_leave(&step_root, 0, 100));
        /* A stack of another function is not its own. */
        FEED(pairing, step_enter(&step_child, 0), (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_child },
             (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_root }, step_leave(&step_child, 0, 50));
        FEED(pairing, step_enter(&step_root, 0), (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_child },
             step_leave(&step_root, 0, 7));
        ck_assert_int_eq(pairing_finish(pairing), 0);
        ck_assert_uint_eq(row_of(p, "sys_a < b")->n, 2);
        ck_assert_uint_eq(row_of(p, "sys_a < b")->total_ns, 150);
        ck_assert_uint_eq(row_of(p, "(not known)")->n, 1);
        ck_assert_uint_eq(row_of(p, "(not known)")->total_ns, 7);
}

static Step with_object(Step s, const Object *o) {
        s.object = o;
        return s;
}

TEST(calls_count_by_the_nearest_object) {
        _cleanup_free_ Object *a = object_made("dport=53, file=/a"),
                              *b = object_made("dport=53, file=/b");
        _cleanup_(breakdown_freep) Breakdown *p = NULL;
        const BreakdownRow *row;

        for (int of_field = 0; of_field < 2; of_field++) {
                breakdown_free(p);
                p = breakdown_by(BREAKDOWN_BY_WHAT);
                if (of_field)
                        breakdown_set_field(p, "file");
                FEED(pairing, with_object(step_enter(&step_root, 0), a),
                     step_leaf(&step_child, 1, 10), with_object(step_leaf(&step_module, 1, 30), b),
                     step_leave(&step_root, 0, 100));
                /* A recursion with the same one, and what has none. */
                FEED(pairing, with_object(step_enter(&step_root, 0), a),
                     with_object(step_leaf(&step_root, 1, 5), a), step_leave(&step_root, 0, 20),
                     step_leaf(&step_root, 0, 7));
                ck_assert_int_eq(pairing_finish(pairing), 0);
                row = row_of(p, of_field ? "/a" : "dport=53, file=/a");
                ck_assert_uint_eq(row->n, 3);
                ck_assert_uint_eq(row->total_ns, 120);
                ck_assert_uint_eq(row->self_ns, 90);
                ck_assert_uint_eq(row->quantiles.n, 3);
                row = row_of(p, of_field ? "/b" : "dport=53, file=/b");
                ck_assert_uint_eq(row->n, 1);
                ck_assert_uint_eq(row->total_ns, 30);
                ck_assert_uint_eq(row->self_ns, 30);
                ck_assert_uint_eq(row_of(p, "(not known)")->total_ns, 7);
        }
        breakdown_free(p);
        p = breakdown_by(BREAKDOWN_BY_WHAT);
        breakdown_set_field(p, "dport");
        FEED(pairing, with_object(step_leaf(&step_root, 0, 7), a),
             with_object(step_leaf(&step_root, 0, 7), b));
        ck_assert_int_eq(pairing_finish(pairing), 0);
        ck_assert_uint_eq(row_of(p, "53")->n, 2);
}

TEST(objects_beyond_a_bound_are_counted_together) {
        _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(BREAKDOWN_BY_WHAT);
        size_t n;

        for (unsigned i = 0; i < BREAKDOWN_OBJECTS_MAX + 10; i++) {
                _cleanup_free_ Object *o = NULL;
                char text[32];

                (void) snprintf(text, sizeof(text), "n=%u", i);
                o = object_made(text);
                FEED(pairing, with_object(step_leaf(&step_root, 0, 7), o));
        }
        ck_assert_int_eq(pairing_finish(pairing), 0);
        (void) breakdown_rows(p, &n);
        ck_assert_uint_eq(n, BREAKDOWN_OBJECTS_MAX + 1);
        ck_assert_uint_eq(row_of(p, "(others)")->n, 10);
        ck_assert_uint_eq(row_of(p, "n=5")->n, 1);
}

TEST(a_return_before_its_call_took_no_time) {
        _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(BREAKDOWN_BY_FUNCTION);
        Step s = step_leaf(&step_root, 0, 0);

        s.calltime = 1;
        FEED(pairing, s);
        ck_assert_uint_eq(row_of(p, "root")->total_ns, 0);
}

/* Two of one place, and one of none. */
static const char *place_of(void *userdata, const Function *f, size_t *ret_n) {
        unsigned *n_asked = userdata;

        (*n_asked)++;
        *ret_n = 3;
        return f == &step_module ? "mm/x" : "net/x";
}

TEST(places_add_up_and_each_function_is_asked_for_once) {
        _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(BREAKDOWN_BY_DIR);
        unsigned n_asked = 0;

        breakdown_set_place(p, place_of, &n_asked);
        for (int i = 0; i < 100; i++)
                FEED(pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 30),
                     step_leaf(&step_module, 1, 5), step_leave(&step_root, 0, 100));
        ck_assert_uint_eq(row_of(p, "net")->self_ns, 9500);
        ck_assert_uint_eq(row_of(p, "net")->total_ns,
                          10000); /* what is below another one counts once */
        ck_assert_uint_eq(row_of(p, "net")->n, 200);
        ck_assert_uint_eq(row_of(p, "mm/")->self_ns, 500);
        ck_assert_uint_le(n_asked, 6);
}

TEST(rows_come_with_the_most_self_time_first) {
        _cleanup_(breakdown_freep) Breakdown *p = breakdown_by(BREAKDOWN_BY_MODULE);
        const BreakdownRow *const *rows;
        size_t n;

        FEED(pairing, step_leaf(&step_root, 0, 5), step_leaf(&step_module, 0, 50));
        rows = breakdown_rows(p, &n);
        ck_assert_uint_eq(n, 2);
        ck_assert_mem_eq(rows[0]->name, "mod", rows[0]->n_name);
        ck_assert_mem_eq(rows[1]->name, "[kernel]", rows[1]->n_name);
}

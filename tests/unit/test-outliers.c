/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>

#include "causes/outliers.h"
#include "causes/why.h"
#include "fed.h"

typedef struct Fed {
        Pairing *pairing;
        Outliers *outliers;
} Fed;

static Fed fed(size_t n_wanted) {
        Fed f = { .pairing = fed_pairing() };

        ck_assert_int_eq(outliers_new(&f.outliers, f.pairing, n_wanted), 0);
        return f;
}

static void fed_done(Fed *f) {
        outliers_free(f->outliers);
        pairing_free(f->pairing);
}

/* A call of @root that takes @ns, of which @below is @child's. */
static void feed(Fed *f, const Function *root, uint64_t ns, const Function *child, uint64_t below) {
        FEED(f->pairing, step_enter(root, 0), step_leaf(child, 1, below), step_leave(root, 0, ns));
}

static void finish(Fed *f) {
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_int_eq(outliers_finish(f->outliers), 0);
}

TEST(the_slowest_come_first) {
        static const uint64_t wanted[] = { 999, 998, 997 };
        _cleanup_fed_ Fed f = fed(ELEMENTSOF(wanted));

        for (uint64_t i = 0; i < 1000; i++)
                feed(&f, &step_root, i * 37 % 1000, &step_child, 0);
        finish(&f);
        ck_assert_uint_eq(f.outliers->n, ELEMENTSOF(wanted));
        for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                ck_assert_uint_eq(f.outliers->slowest[i]->duration_ns, wanted[i]);
}

TEST(of_equals_the_first_are_kept_and_one_alone_has_nothing_to_be_compared_with) {
        _cleanup_fed_ Fed f = fed(2), one = fed(10);

        for (int i = 0; i < 10; i++)
                feed(&f, &step_root, 100, &step_child, 10);
        finish(&f);
        ck_assert_uint_eq(f.outliers->slowest[0]->number, 1);
        ck_assert_uint_eq(f.outliers->slowest[1]->number, 2);
        feed(&one, &step_root, 100, &step_child, 10);
        finish(&one);
        ck_assert_uint_eq(one.outliers->n, 1);
        ck_assert_ptr_null(outliers_usual(one.outliers, one.outliers->slowest[0]));
}

FED_TEST(a_usual_call_is_near_the_median, 1) {
        const Invocation *usual;

        for (uint64_t i = 0; i < 10000; i++)
                feed(f, &step_root, 1000 + i * 7919 % 10000, &step_child, 10);
        finish(f);
        usual = outliers_usual(f->outliers, f->outliers->slowest[0]);
        ck_assert_ptr_nonnull(usual);
        ck_assert(usual->duration_ns > 5000 && usual->duration_ns < 7000);
}

FED_TEST(each_root_has_its_own_median, 1) {
        const Invocation *slow;

        for (int i = 0; i < 9; i++) {
                feed(f, &step_root, 100, &step_child, 10);
                feed(f, &step_child, 500, &step_module, 10);
        }
        feed(f, &step_root, 9000, &step_child, 10);
        finish(f);
        slow = f->outliers->slowest[0];
        ck_assert_uint_eq(slow->duration_ns, 9000);
        ck_assert_uint_eq(quantiles_at(outliers_quantiles(f->outliers, slow), 500), 100);
        ck_assert_uint_eq(outliers_usual(f->outliers, slow)->duration_ns, 100);
}

TEST(idle_calls_are_left_out_unless_each_root_has_some) {
        const Function recv = function_named("udp_recvmsg"), schedule = function_named("schedule");

        for (int is_alone = 0; is_alone < 2; is_alone++) {
                _cleanup_fed_ Fed f = fed(3);
                _cleanup_buf_ Buf text = BUF_INIT;
                const Invocation *first;

                f.outliers->idle.is_wanted = true;
                for (uint64_t i = 0; i < 40; i++) {
                        feed(&f, &recv, 9000 + i, &schedule, 4501 + i);
                        feed(&f, &recv, 100 + i / 20, &step_child, 10);
                        if (!is_alone)
                                feed(&f, &step_root, 50, &step_child, 10);
                }
                finish(&f);
                first = f.outliers->slowest[0];
                ck_assert_uint_eq(f.outliers->n, 3);
                ck_assert_uint_eq(first->duration_ns, is_alone ? 9039 : 101);
                ck_assert_uint_eq(f.outliers->slowest[2]->duration_ns, is_alone ? 9037 : 101);
                ck_assert_uint_eq(outliers_quantiles(f.outliers, first)->n, is_alone ? 80 : 40);
                ck_assert_uint_lt(outliers_usual(f.outliers, first)->duration_ns,
                                  is_alone ? 9040 : 102);
                idle_describe(&text, &f.outliers->idle);
                ck_assert_int_eq(text.n_data > 0, !is_alone);
        }
}

FED_TEST(differences_add_up_and_the_greatest_is_first, 1) {
        _cleanup_(why_freep) Why *w = NULL;
        const Invocation *slow, *usual;
        double sum = 0;

        for (int i = 0; i < 9; i++)
                feed(f, &step_root, 100, &step_child, 10);
        feed(f, &step_root, 5000, &step_module, 4700);
        finish(f);
        slow = f->outliers->slowest[0];
        usual = outliers_usual(f->outliers, slow);
        ck_assert_int_eq(why_new_of_two(&w, slow->tree, usual->tree), 0);
        ck_assert_uint_eq(w->n_causes, 3);
        ck_assert_ptr_eq(w->causes[0].node->function, &step_module);
        ck_assert_int_eq(w->causes[0].kind, WHY_ONLY);
        ck_assert_ptr_eq(w->causes[2].node->function, &step_child);
        ck_assert_int_eq(w->causes[2].kind, WHY_NEVER);
        ck_assert(isnan(w->causes[0].p));
        for (size_t i = 0; i < w->n_causes; i++)
                sum += w->causes[i].change_ns;
        ck_assert_double_eq_tol(sum, 4900, 1e-6);
        ck_assert_double_eq_tol(w->difference_ns, 4900, 1e-6);
}

/* As long as they are in the recording, in which nothing overlaps. */
static void feed_in_time(Fed *f, uint64_t at_ns, int n_below) {
        Step end = step_leave(&step_root, 0, 100 + 1000 * (uint64_t) n_below);

        feed_at(f->pairing, step_enter(&step_root, 0), at_ns);
        for (int i = 0; i < n_below; i++) {
                Step leaf = step_leaf(&step_child, 1, 10 + (uint64_t) i);

                leaf.calltime = at_ns + 50 + 1000 * (uint64_t) i;
                leaf.rettime += leaf.calltime;
                feed_at(f->pairing, leaf, leaf.calltime);
        }
        end.calltime = at_ns;
        end.rettime += at_ns;
        feed_at(f->pairing, end, end.rettime);
}

TEST(the_slowest_keep_their_longest_spans_each_within_its_caller) {
        _cleanup_fed_ Fed f = fed(2);
        const Invocation *usual;

        outliers_keep_spans(f.outliers, f.pairing, 7);
        for (int i = 0; i < 50; i++)
                feed_in_time(&f, 1000000 * (uint64_t) (i + 1), i * 13 % 50);
        finish(&f);
        usual = outliers_usual(f.outliers, f.outliers->slowest[0]);
        ck_assert_uint_eq(usual->n_spans, 3);
        ck_assert_uint_eq(usual->spans[0].end_ns - usual->spans[0].begin_ns, usual->duration_ns);
        ck_assert_uint_eq(usual->n_spans + usual->n_spans_left_out,
                          call_tree_root(usual->tree)->n_below);
        for (size_t i = 0; i < f.outliers->n; i++) {
                const Invocation *v = f.outliers->slowest[i];
                uint64_t n_below = 49 - i, sum = 0;

                ck_assert_uint_eq(v->n_spans, 7);
                ck_assert_uint_eq(v->n_spans + v->n_spans_left_out, n_below + 1);
                ck_assert_ptr_eq(v->spans[0].function, &step_root);
                ck_assert_uint_eq(v->spans[0].end_ns - v->spans[0].begin_ns, v->duration_ns);
                for (size_t k = 1; k < v->n_spans; k++) {
                        const InvocationSpan *s = &v->spans[k];

                        ck_assert_int_eq(s->level, 1);
                        ck_assert_uint_ge(s->begin_ns, v->spans[k - 1].begin_ns);
                        ck_assert_uint_le(s->end_ns, v->spans[0].end_ns);
                        sum += s->end_ns - s->begin_ns;
                }
                /* The longest 6 of 10, 11, ... */
                ck_assert_uint_eq(sum, 6 * (10 + n_below) - 21);
        }
}

FED_TEST(a_time_off_the_cpu_is_a_span_that_says_who_ended_it, 1) {
        const Invocation *v;
        Step s = step_of(STEP_OTHER, NULL, 0);

        outliers_keep_spans(f->outliers, f->pairing, 10);
        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        s.text = "sched_switch: prev_comm=client prev_pid=17 prev_prio=120 prev_state=S ==> "
                 "next_comm=server next_pid=18 next_prio=120";
        feed_at(f->pairing, s, 1200);
        s.text = "sched_waking: comm=client pid=17 prio=120 target_cpu=000";
        s.pid = 18;
        s.comm = "server";
        feed_at(f->pairing, s, 1500);
        s.text = "sched_switch: prev_comm=server prev_pid=18 prev_prio=120 prev_state=S ==> "
                 "next_comm=client next_pid=17 next_prio=120";
        feed_at(f->pairing, s, 1800);
        feed_at(f->pairing, step_leave(&step_root, 0, 1000), 2000);
        finish(f);
        v = f->outliers->slowest[0];
        ck_assert_uint_eq(v->n_spans, 2);
        ck_assert_ptr_null(v->spans[1].function);
        ck_assert_int_eq(v->spans[1].level, 1);
        ck_assert_uint_eq(v->spans[1].begin_ns, 1200);
        ck_assert_uint_eq(v->spans[1].end_ns, 1800);
        ck_assert_int_eq(v->spans[1].waker.pid, 18);
        ck_assert(v->spans[1].is_woken && !v->spans[1].is_forced);
}

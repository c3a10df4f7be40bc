/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>

#include "causes/why.h"
#include "fed.h"

#define NAMED(n, s)                                                                                \
        {                                                                                          \
                .address = 100 + (n), .label = s SLACK, .n_label = sizeof(s) - 1,                  \
                .n_name = sizeof(s) - 1, .prototype = &one_argument                                \
        }

static const Prototype one_argument = { .params = { { .name = "len", .kind = PARAM_HEX } },
                                        .n_params = 1,
                                        .n_text = 3 };

static const Function functions[] = { NAMED(0, "send"), NAMED(1, "copy"),  NAMED(2, "route"),
                                      NAMED(3, "lock"), NAMED(4, "queue"), NAMED(5, "flush") };

typedef struct Fed {
        Pairing *pairings[2];
        Anatomy *anatomy;
        uint64_t now_ns, random;
} Fed;

static Fed fed(void) {
        Fed f = { .random = 1 };

        ck_assert_int_eq(anatomy_new(&f.anatomy), 0);
        for (size_t i = 0; i < 2; i++) {
                f.pairings[i] = fed_pairing();
                ck_assert_int_eq(anatomy_add_source(f.anatomy, f.pairings[i]), 0);
        }
        return f;
}

static void fed_done(Fed *f) {
        anatomy_free(f->anatomy);
        pairing_free(f->pairings[0]);
        pairing_free(f->pairings[1]);
}

static uint64_t draw(Fed *f, uint64_t below) {
        f->random = f->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (f->random >> 33) % below;
}

/* What one call is like: who is called how often, and what each call takes by itself. */
typedef struct Shape {
        uint64_t times[ELEMENTSOF(functions)], own_ns[ELEMENTSOF(functions)];
        uint32_t cpu;
        uint64_t len[ELEMENTSOF(functions)], error;
        const Callers *callers;
        const Object *object; /* of which */
        size_t object_of;
} Shape;

static void step(Fed *f, unsigned source, Step s, const Shape *shape) {
        s.timestamp_ns = f->now_ns;
        s.cpu = shape->cpu;
        ck_assert_int_eq(pairing_step(f->pairings[source], &s), 0);
}

/* send calls copy and route; route calls lock and queue; queue calls flush. */
static uint64_t call(Fed *f, unsigned source, const Shape *shape, size_t which, int32_t depth) {
        static const size_t callees[][3] = {
                [0] = { 1, 2 }, [2] = { 3, 4 }, [4] = { 5 }, [5] = {}
        };
        uint64_t took = shape->own_ns[which];
        Step enter = step_enter(&functions[which], depth), leave;

        enter.args = &shape->len[which];
        enter.n_args = 1;
        enter.object = which == shape->object_of ? shape->object : NULL;
        step(f, source, enter, shape);
        if (depth == 0 && shape->callers)
                step(f, source, (Step){ .kind = STEP_OTHER, .pid = 17, .callers = shape->callers },
                     shape);
        f->now_ns += shape->own_ns[which];
        for (size_t i = 0; which < ELEMENTSOF(callees) && callees[which][i]; i++)
                for (uint64_t n = 0; n < shape->times[callees[which][i]]; n++)
                        took += call(f, source, shape, callees[which][i], depth + 1);
        leave = step_leave(&functions[which], depth, took);
        leave.has_retval = true;
        leave.retval = shape->error;
        step(f, source, leave, shape);
        return took;
}

static void feed(Fed *f, unsigned source, const Shape *shape) {
        (void) call(f, source, shape, 0, 0);
        f->now_ns += 1000;
}

/* An ordinary one. */
static Shape ordinary(Fed *f) {
        Shape s = { .cpu = (uint32_t) draw(f, 4) };

        for (size_t i = 0; i < ELEMENTSOF(functions); i++) {
                s.times[i] = 1;
                s.own_ns[i] = 800 + draw(f, 400);
                s.len[i] = 1 + draw(f, 1400);
        }
        return s;
}

/* Explains what was fed; the causes add up. */
static Why *explain(Fed *f, CohortsSpec spec) {
        CohortsRoot *roots;
        double sum = 0;
        size_t n_roots;
        Why *w;

        for (size_t i = 0; i < 2; i++)
                ck_assert_int_eq(pairing_finish(f->pairings[i]), 0);
        ck_assert_int_eq(cohorts_roots(&roots, &n_roots, f->anatomy), 0);
        ck_assert_uint_ge(n_roots, 1);
        ck_assert_int_eq(why_new(&w, f->anatomy, &roots[0], &spec), 0);
        free(roots);
        for (size_t i = 0; i < w->n_causes; i++)
                sum += w->causes[i].change_ns;
        ck_assert_double_le(fabs(sum - w->difference_ns), 1e-6 * (1 + fabs(w->difference_ns)));
        return w;
}

/* Makes the @i-th call other than ordinary. */
typedef void (*Change)(Fed *f, int i, Shape *s);

/* Of @n calls, each in turn; by their source those of the second half are of the second one. */
static Why *explain_calls(Fed *f, int n, Change change, CohortsBy by) {
        for (int i = 0; i < n; i++) {
                Shape s = ordinary(f);

                if (change)
                        change(f, i, &s);
                feed(f, by == COHORTS_BY_SOURCE && i >= n / 2, &s);
        }
        return explain(f, (CohortsSpec){ .by = by });
}

static bool says(const Why *w, const char *words) {
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_free_ char *text = NULL;
        bool has;

        why_sentence(&out, w);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        has = strstr(text, words) != NULL;
        if (!has)
                fprintf(stderr, "%s\n", text);
        return has;
}

/* --- causes ----------------------------------------------------------------------------------- */

static bool is_slow(int i) {
        return i % 100 == 50;
}

static void queue_takes_longer(Fed *f, int i, Shape *s) {
        s->own_ns[4] += is_slow(i) ? 20000 : 0;
}

static void queue_is_called_in_a_loop(Fed *f, int i, Shape *s) {
        s->times[4] = is_slow(i) ? 12 : 1;
}

static void only_slow_calls_queue(Fed *f, int i, Shape *s) {
        s->times[4] = is_slow(i);
        s->own_ns[5] = 9000;
}

static void copying_is_slow_on_one_cpu(Fed *f, int i, Shape *s) {
        s->own_ns[1] += s->cpu == 2 ? 5000 : 0;
}

static void locks_take_longer_later(Fed *f, int i, Shape *s) {
        s->own_ns[3] += i >= 500 ? 300 : 0;
}

static void what_fails_does_not_queue(Fed *f, int i, Shape *s) {
        s->error = i % 20 == 3 ? (uint64_t) -90 : 0;
        s->times[4] = i % 20 != 3;
}

TEST(what_was_made_slow_is_named) {
        static const struct {
                Change change;
                CohortsBy by;
                size_t n_slow;
                WhyKind kind;
                size_t function, hottest;
                const char *says, *also;
        } cases[] = {
                { queue_takes_longer, COHORTS_BY_SLOWEST, 10, WHY_RUNNING, 4, 4,
                  "send: the slowest 1 % take ", " of that is own time of queue (called by route): " },
                { queue_is_called_in_a_loop, COHORTS_BY_SLOWEST, 10, WHY_CALLS, 4, 4,
                  "more calls of queue below route: 12 instead of 1", "" },
                { only_slow_calls_queue, COHORTS_BY_SLOWEST, 10, WHY_ONLY, 4, 5,
                  "queue below route, which the usual ones do not have, mostly flush", "" },
                { copying_is_slow_on_one_cpu, COHORTS_BY_SLOWEST, 254, WHY_RUNNING, 1, 1,
                  "durations have two humps, and the upper 25 % take ", "own time of copy (called by send): " },
                { locks_take_longer_later, COHORTS_BY_SOURCE, 500, WHY_RUNNING, 3, 3, "", "" },
                { what_fails_does_not_queue, COHORTS_BY_FAILURE, 50, WHY_NEVER, 4, 4,
                  "send returned -90 (EMSGSIZE) in 50 of 1000 calls, and so did lock below route "
                  "in 100 % of them: these take ",
                  "queue below route, which only the usual ones have" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w = explain_calls(&f, 1000, cases[i].change, cases[i].by);

                ck_assert_uint_eq(w->n_slow, cases[i].n_slow);
                ck_assert_ptr_nonnull(w->cause);
                ck_assert_ptr_null(w->factor);
                ck_assert(w->is_no_chance);
                ck_assert_int_eq(w->cause->kind, cases[i].kind);
                ck_assert_ptr_eq(w->cause->node->function, &functions[cases[i].function]);
                if (cases[i].hottest != cases[i].function)
                        ck_assert_ptr_eq(w->cause->hottest->function, &functions[cases[i].hottest]);
                ck_assert(says(w, cases[i].says) && says(w, cases[i].also));
        }
}

static void half_of_all_queue_long(Fed *f, int i, Shape *s) {
        (void) f;
        s->own_ns[4] *= i % 2 ? 60 : 1;
}
FED_TEST(two_humps_are_told_as_two) {
        _cleanup_(why_freep) Why *w =
                explain_calls(f, 400, half_of_all_queue_long, COHORTS_BY_SLOWEST);

        ck_assert_int_eq(w->spec.by, COHORTS_BY_HUMP);
        ck_assert_uint_eq(w->n_slow, 200);
        ck_assert_uint_eq(w->n_usual, 200);
        ck_assert(!w->spec.has_several);
        ck_assert(says(w, "send: durations have two humps, and the upper 50 % take "));
        ck_assert(says(w, "all of that is own time of queue (called by route)"));
}

static void some_queue_longer(Fed *f, int i, Shape *s) {
        (void) f;
        s->own_ns[4] *= i % 3 == 0 ? 1 : i % 3 == 1 ? 60 : 3600;
}

TEST(three_humps_are_told_as_several_and_the_uppermost_is_named) {
        _cleanup_fed_ Fed f = fed();
        _cleanup_(why_freep) Why *w = explain_calls(&f, 600, some_queue_longer, COHORTS_BY_SLOWEST);

        ck_assert_int_eq(w->spec.by, COHORTS_BY_HUMP);
        ck_assert(w->spec.has_several);
        ck_assert_uint_eq(w->n_slow, 200);
        ck_assert_uint_eq(w->n_usual, 400);
        ck_assert(says(w, "send: durations have several humps, and the uppermost 33 % take "));
}

static void one_cpu_is_slow(Fed *f, int i, Shape *s) {
        for (size_t k = 0; k < ELEMENTSOF(functions) && s->cpu == 2; k++)
                s->own_ns[k] *= 2;
}

static void one_cpu_is_slow_and_copying_takes_most(Fed *f, int i, Shape *s) {
        s->own_ns[1] = 40000 + draw(f, 25000);
        one_cpu_is_slow(f, i, s);
}

TEST(a_slow_cpu_is_named_before_what_takes_most_of_the_time_anyway) {
        static const Change changes[] = { one_cpu_is_slow, one_cpu_is_slow_and_copying_takes_most };

        for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w =
                        explain_calls(&f, 2000, changes[i], COHORTS_BY_SLOWEST);

                ck_assert_ptr_nonnull(w->factor);
                ck_assert_uint_eq(w->factor->cpu, 2);
                ck_assert(w->is_factor_first);
                ck_assert(says(w, "; everything takes longer on CPU 2, where 100 % of them were"));
        }
}

/* --- chance ----------------------------------------------------------------------------------- */

TEST(two_recordings_of_the_same_differ_by_chance) {
        unsigned n_named = 0;

        for (uint64_t seed = 1; seed <= 60; seed += UNIT_EVERY) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w = NULL;

                f.random = seed;
                w = explain_calls(&f, 600, NULL, COHORTS_BY_SOURCE);
                n_named += w->cause || w->factor;
                if (!w->cause)
                        ck_assert(says(w, ", which may be chance (p = ") || w->p <= WHY_P_MAX);
        }
        ck_assert_uint_le(n_named, 2);
}

static void all_are_slower_and_few_very_slow(Fed *f, int i, Shape *s) {
        s->own_ns[3] += i >= 300 ? 400 : 0;
        s->own_ns[1] += is_slow(i) ? 1000000 + draw(f, 9000000) : 0;
}

FED_TEST(a_few_very_slow_calls_do_not_hide_that_all_are_a_little_slower) {
        _cleanup_(why_freep) Why *w =
                explain_calls(f, 600, all_are_slower_and_few_very_slow, COHORTS_BY_SOURCE);

        ck_assert_double_le(w->p, WHY_P_MAX);
        ck_assert_uint_gt(w->slow_median_ns, w->usual_median_ns + 150);
}

/* Of 1000 calls those from @first on take longer, @every one of them; compared are those in a window. */
static Why *explain_burst(Fed *f, int first, int n, int every, int from, int to) {
        CohortsSpec spec = { .by = COHORTS_BY_WINDOW };

        for (int i = 0; i < 1000; i++) {
                Shape s = ordinary(f);

                if (i >= first && i < first + n && (i - first) % every == 0)
                        s.own_ns[4] += 20000;
                if (i == from)
                        spec.from_ns = f->now_ns;
                feed(f, 0, &s);
                if (i == to)
                        spec.to_ns = f->now_ns;
        }
        return explain(f, spec);
}

TEST(one_burst_in_a_half_is_told_and_not_named) {
        /* Of the half with it, of the other one. */
        static const int froms[] = { 0, 400 }, tos[] = { 499, 999 };

        for (int i = 0; i < 2; i++) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w = explain_burst(&f, 120, 180, 1, froms[i], tos[i]);

                ck_assert_double_le(w->p, WHY_P_MAX);
                ck_assert_ptr_null(w->cause);
                ck_assert_ptr_eq(w->burst->node->function, &functions[4]);
                ck_assert_uint_eq(w->burst->burst.n_calls, 180);
                ck_assert_int_eq(w->burst->burst.is_usual, i);
                ck_assert(says(w, i == 0 ? " in one burst (--from="
                                         : " in one burst of the usual ones (--from="));
                ck_assert(says(w, "), which may be chance."));
        }
}

TEST(a_burst_in_a_window_around_it_is_named_and_what_is_all_over_is_none) {
        static const struct {
                int first, n, every, from, to;
                size_t n_burst;
        } cases[] = { { 120, 80, 1, 80, 259, 80 },
                      { 0, 500, 1, 0, 499, 0 },
                      { 0, 500, 7, 0, 499, 0 } };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w = explain_burst(
                        &f, cases[i].first, cases[i].n, cases[i].every, cases[i].from, cases[i].to);

                ck_assert_ptr_eq(w->cause->node->function, &functions[4]);
                ck_assert_uint_eq(w->cause->burst.n_calls, cases[i].n_burst);
                ck_assert_ptr_null(w->burst);
                ck_assert_int_eq(says(w, "in one burst (--from="), cases[i].n_burst > 0);
                ck_assert(!says(w, "may be chance"));
        }
}

/* --- places ----------------------------------------------------------------------------------- */

TEST(what_is_called_in_two_ways_is_told_in_two_ways) {
        static const Function named[] = { NAMED(0, "send"),     NAMED(1, "copy"),
                                          NAMED(2, "route"),    NAMED(3, "lock"),
                                          NAMED(4, "queue"),    NAMED(5, "flush"),
                                          NAMED(6, "schedule"), NAMED(7, "schedule_timeout") };
        static const struct {
                size_t path[6];
                const char *says;
        } cases[] = {
                { { 0, 4, 1, 3, 5 }, "flush below lock below copy below queue" },
                { { 0, 2, 1, 3, 5 }, "flush below lock below route" },
                { { 0, 4, 3, 5 }, "flush below lock below queue" },
                { { 0, 1, 6 }, "schedule below copy" },
                { { 0, 1, 7, 6 }, "schedule below schedule_timeout below copy" },
                { { 0, 2, 7, 6 }, "schedule below route" },
                { { 0, 4, 1 }, "copy below queue" },
                { { 0, 3, 4, 1 }, "copy below queue below lock" },
        };
        const CallNode *nodes[ELEMENTSOF(cases)];
        _cleanup_(call_tree_freep) CallTree *tree = MADE(CallTree, call_tree_new, NULL);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                CallNode *node = call_tree_child(tree, call_tree_root(tree), &named[0]);

                for (size_t k = 1; cases[i].path[k]; k++)
                        node = call_tree_child(tree, node, &named[cases[i].path[k]]);
                nodes[i] = node;
        }
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                WhyCause cause = {
                        .kind = WHY_CALLS, .node = nodes[i], .hottest = nodes[i], .slow_n = 1
                };
                _cleanup_buf_ Buf out = BUF_INIT;
                _cleanup_free_ char *text = NULL;

                why_describe_cause(&out, &(Why){}, &cause);
                ck_assert_int_eq(buf_take_string(&out, &text), 0);
                ck_assert_str_eq(text + strlen("more calls of "), cases[i].says);
        }
}

/* --- choice ----------------------------------------------------------------------------------- */

/* Lognormal, each for itself. */
static void all_vary(Fed *f, int i, Shape *s) {
        for (size_t k = 0; k < ELEMENTSOF(functions); k++) {
                double normal = -6;

                for (unsigned n = 0; n < 12; n++)
                        normal += (double) draw(f, 1000000) / 1e6;
                s->own_ns[k] = (uint64_t) (1000 * exp(0.6 * normal));
        }
}

TEST(parts_that_vary_by_themselves_are_no_single_cause) {
        unsigned n_named = 0;

        for (uint64_t seed = 1; seed <= 40; seed += UNIT_EVERY) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w = NULL;

                f.random = seed;
                w = explain_calls(&f, 1000, all_vary, COHORTS_BY_SLOWEST);
                if (w->cause)
                        n_named++;
                else {
                        ck_assert(says(w, "no single cause stands out in send: the slowest 1 % "));
                        ck_assert(says(w, " causes make up "));
                }
        }
        ck_assert_uint_le(n_named, 1);
}

static void all_vary_and_locks_wait(Fed *f, int i, Shape *s) {
        all_vary(f, i, s);
        s->own_ns[3] += is_slow(i) ? 20000 : 0;
}

/* A fifth of all calls. */
static void all_vary_and_some_loop(Fed *f, int i, Shape *s) {
        all_vary(f, i, s);
        s->times[4] = i % 5 == 2 ? 8 : 1;
}

TEST(what_is_more_than_varying_stays_named) {
        static const Change changes[] = { all_vary_and_locks_wait, all_vary_and_some_loop };

        for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w =
                        explain_calls(&f, 1000, changes[i], COHORTS_BY_SLOWEST);

                ck_assert_ptr_nonnull(w->cause);
                ck_assert_ptr_eq(w->cause->node->function, &functions[i == 0 ? 3 : 4]);
                ck_assert_double_le(w->cause->p, WHY_P_MAX);
        }
}

/* --- values ----------------------------------------------------------------------------------- */

static void great_lengths_are_slow(Fed *f, int i, Shape *s) {
        if (!is_slow(i))
                return;
        s->len[0] = 1401 + draw(f, 7000);
        s->own_ns[1] += 20000;
}

FED_TEST(an_argument_of_slow_calls_is_named_with_its_bound) {
        _cleanup_(why_freep) Why *w =
                explain_calls(f, 2000, great_lengths_are_slow, COHORTS_BY_SLOWEST);
        const WhyValue *v = w->value;

        ck_assert_ptr_eq(w->cause->node->function, &functions[1]);
        ck_assert_ptr_nonnull(v);
        ck_assert_ptr_eq(v->node->function, &functions[0]);
        ck_assert_str_eq(v->name, "len");
        ck_assert_int_eq(v->relation, WHY_ABOVE);
        ck_assert(!v->bound.is_negative && v->bound.magnitude > 1350 && v->bound.magnitude <= 1400);
        ck_assert_double_eq_tol(v->slow_part, 1, 1e-9);
        ck_assert_double_eq_tol(v->usual_part, 0, 1e-9);
        ck_assert_double_gt(v->share, 0.9);
        ck_assert(says(w, "; 100 % of them have len > 1"));
}

static void routes_that_fail_are_slow(Fed *f, int i, Shape *s) {
        s->own_ns[2] += is_slow(i) ? 20000 : 0;
        s->error = is_slow(i) ? (uint64_t) -105 : draw(f, 2000);
}

FED_TEST(an_error_that_slow_calls_return_is_named_by_its_name) {
        _cleanup_(why_freep) Why *w =
                explain_calls(f, 2000, routes_that_fail_are_slow, COHORTS_BY_SLOWEST);

        ck_assert_ptr_eq(w->cause->node->function, &functions[2]);
        ck_assert(says(w, "; 100 % of them have ret = -105 (ENOBUFS), 0 % of the usual ones."));
}

static void one_system_call_is_slow(Fed *f, int i, Shape *s) {
        static char to[] = "callers: do_syscall_64 < __sys_sendto",
                    msg[] = "callers: do_syscall_64 < __sys_sendmsg";
        static const Callers sendto = { .root = &functions[0], .text = to },
                             sendmsg = { .root = &functions[0], .text = msg };

        s->callers = is_slow(i) ? &sendmsg : &sendto;
        s->own_ns[2] += is_slow(i) ? 20000 : 0;
}

FED_TEST(who_called_the_slow_ones_is_named) {
        _cleanup_(why_freep) Why *w =
                explain_calls(f, 2000, one_system_call_is_slow, COHORTS_BY_SLOWEST);

        ck_assert_ptr_eq(w->cause->node->function, &functions[2]);
        ck_assert(says(w, "; 100 % of them have the callers: do_syscall_64 < __sys_sendmsg, 0 % of "
                          "the usual ones."));
}

/* Files, of which one is slow, and ports, of which many are. */
static Object *objects[64];

static void one_file_is_slow(Fed *f, int i, Shape *s) {
        char text[64];

        (void) snprintf(text, sizeof(text), "file=/var/log/%s%d, size=%llu, dport=%d",
                        is_slow(i) ? "x" : "", is_slow(i) ? 0 : i % 7,
                        (unsigned long long) draw(f, 1000), 1000 + i % 3);
        free(objects[i % 64]);
        s->object = objects[i % 64] = object_made(text);
        s->own_ns[2] += is_slow(i) ? 20000 : 0;
}

static void one_file_of_a_callee_is_slow(Fed *f, int i, Shape *s) {
        one_file_is_slow(f, i, s);
        s->object_of = 2;
}

static void large_objects_are_slow(Fed *f, int i, Shape *s) {
        char text[64];

        (void) snprintf(text, sizeof(text), "size=%llu",
                        (unsigned long long) draw(f, 1000) + (is_slow(i) ? 2000 : 0));
        free(objects[i % 64]);
        s->object = objects[i % 64] = object_made(text);
        s->own_ns[2] += is_slow(i) ? 20000 : 0;
}

static void drop_objects(void) {
        for (size_t i = 0; i < ELEMENTSOF(objects); i++)
                objects[i] = mfree(objects[i]);
}

FED_TEST(what_the_slow_ones_work_on_is_named) {
        _cleanup_(why_freep) Why *w = explain_calls(f, 2000, one_file_is_slow, COHORTS_BY_SLOWEST);

        ck_assert(says(w, "; 100 % of them have file=/var/log/x0, 0 % of the usual ones."));
        ck_assert_str_eq(w->value->text, "/var/log/x0");
        drop_objects();
}

FED_TEST(what_a_callee_of_the_slow_ones_works_on_is_named) {
        _cleanup_(why_freep) Why *w =
                explain_calls(f, 2000, one_file_of_a_callee_is_slow, COHORTS_BY_SLOWEST);

        ck_assert(says(
                w, "; 100 % of them have file=/var/log/x0 in route below send, 0 % of the usual "
                   "ones."));
        drop_objects();
}

FED_TEST(a_number_of_objects_is_told_by_its_bound) {
        _cleanup_(why_freep) Why *w =
                explain_calls(f, 2000, large_objects_are_slow, COHORTS_BY_SLOWEST);

        ck_assert(says(w, "; 100 % of them have size > 99"));
        drop_objects();
}

static void slow_calls_copy_more(Fed *f, int i, Shape *s) {
        s->times[1] = is_slow(i) ? 10 : 1;
}

static void only_slow_calls_copy(Fed *f, int i, Shape *s) {
        s->times[1] = is_slow(i) ? 10 : 0;
}

/* That it is called at all, or more often, a cause tells. */
TEST(values_of_a_function_that_only_slow_calls_call_are_no_news) {
        static const Change changes[] = { slow_calls_copy_more, only_slow_calls_copy };

        for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w =
                        explain_calls(&f, 2000, changes[i], COHORTS_BY_SLOWEST);

                ck_assert_ptr_eq(w->cause->node->function, &functions[1]);
                ck_assert_ptr_null(w->value);
        }
}

/* --- too few, and anything -------------------------------------------------------------------- */

static void later_calls_queue(Fed *f, int i, Shape *s) {
        s->times[4] = i >= 4;
}

TEST(few_calls_tell_nothing_but_of_two_recordings_their_changes) {
        _cleanup_fed_ Fed f = fed(), two = fed();
        _cleanup_(why_freep) Why *w =
                explain_calls(&f, COHORTS_CALLS_MIN - 1, NULL, COHORTS_BY_SLOWEST);

        ck_assert(!w->is_enough);
        ck_assert(says(w, "too few to compare."));
        why_free(w);
        w = explain_calls(&two, 8, later_calls_queue, COHORTS_BY_SOURCE);
        ck_assert(!w->is_enough && isnan(w->causes[0].p));
        ck_assert_double_eq(w->p, 1);
        ck_assert_int_eq(w->causes[0].kind, WHY_ONLY);
        ck_assert_ptr_eq(w->causes[0].node->function, &functions[4]);
}

static void all_are_the_same(Fed *f, int i, Shape *s) {
        *s = (Shape){ .times = { 1, 1, 1, 1, 1, 1 }, .own_ns = { 9, 9, 9, 9, 9, 9 } };
}

FED_TEST(calls_that_all_take_the_same_are_not_compared_with_nothing) {
        _cleanup_(why_freep) Why *w = explain_calls(f, 100, all_are_the_same, COHORTS_BY_SLOWEST);

        ck_assert_uint_eq(w->n_causes, 0);
        ck_assert(says(w, "send: the slowest 8 % take "));
}

/* Whatever calls are like, and however they are chosen. */
TEST(causes_always_add_up) {
        for (uint64_t seed = 1; seed <= 40; seed += UNIT_EVERY) {
                _cleanup_fed_ Fed f = fed();
                _cleanup_(why_freep) Why *w = NULL;
                CohortsSpec spec = { .by = seed % 5 };

                f.random = seed;
                for (uint64_t i = 0, n = 20 + draw(&f, 300); i < n; i++) {
                        Shape s = ordinary(&f);

                        for (size_t k = 0; k < ELEMENTSOF(functions); k++) {
                                s.times[k] = draw(&f, 4);
                                s.own_ns[k] = draw(&f, UINT64_C(1) << draw(&f, 40));
                        }
                        s.error = draw(&f, 2) ? 0 : (uint64_t) -1;
                        feed(&f, draw(&f, 2) == 1, &s);
                }
                spec.slower_ns = 1 + draw(&f, UINT64_C(1) << 36);
                spec.from_ns = draw(&f, UINT64_C(1) << 40);
                w = explain(&f, spec);
                (void) says(w, "");
        }
}

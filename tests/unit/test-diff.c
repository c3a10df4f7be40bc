/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>

#include "analyze/diff.h"
#include "step-builder.h"
#include "unit.h"

#define NAMED(name, text)                                                                          \
        static const Function name = { .label = text SLACK,                                        \
                                       .n_label = sizeof(text) - 1,                                \
                                       .n_name = sizeof(text) - 1 }
NAMED(old_write, "SyS_write");
NAMED(new_write, "__x64_sys_write");
NAMED(clone, "skb_clone.isra.4");
NAMED(plain, "skb_clone");
NAMED(helper, "helper");
NAMED(fragment, "ip_fragment");
NAMED(segment, "skb_segment");
NAMED(below_segment, "skb_copy");
NAMED(elsewhere, "elsewhere");

typedef struct Recording {
        Pairing *pairing;
        RootProfile *root_profile;
} Recording;

static void recording_init(Recording *r) {
        *r = (Recording){};
        ck_assert_int_eq(pairing_new(&r->pairing), 0);
        ck_assert_int_eq(root_profile_new(&r->root_profile, r->pairing), 0);
}

static void recording_done(Recording *r) {
        root_profile_free(r->root_profile);
        pairing_free(r->pairing);
}

static void feed(Recording *r, Step s) {
        ck_assert_int_eq(pairing_step(r->pairing, &s), 0);
}

/* Outermost calls of 100 to 119 ns more than what is below. */
static void record_before(Recording *r, int n) {
        recording_init(r);
        for (int i = 0; i < n; i++) {
                feed(r, step_enter(&old_write, 0));
                feed(r, step_leaf(&clone, 1, (uint64_t) (10 + i % 3)));
                feed(r, step_leaf(&helper, 1, (uint64_t) (50 + i % 5)));
                feed(r, step_leaf(&fragment, 1, 40));
                feed(r, step_leave(&old_write, 0, (uint64_t) (200 + i % 20)));
        }
}

static void record_now(Recording *r, int n) {
        recording_init(r);
        for (int i = 0; i < n; i++) {
                feed(r, step_enter(&new_write, 0));
                feed(r, step_leaf(&plain, 1, (uint64_t) (30 + i % 3)));
                feed(r, step_enter(&helper, 1));
                feed(r, step_leaf(&plain, 2, 1));
                feed(r, step_leave(&helper, 1, (uint64_t) (51 + i % 5)));
                feed(r, step_enter(&segment, 1));
                feed(r, step_leaf(&below_segment, 2, 60));
                feed(r, step_leave(&segment, 1, 90));
                feed(r, step_leave(&new_write, 0, (uint64_t) (300 + i % 20)));
        }
}

static const DiffFunction *find(const DiffRoot *root, const Function *f) {
        for (size_t i = 0; i < root->n_functions; i++)
                if (root->functions[i].now.function == f || root->functions[i].before.function == f)
                        return &root->functions[i];
        ck_abort_msg("no %s", f->label);
}

START_TEST(known_changes_are_found)
        {
                _cleanup_(recording_done) Recording before, now;
                _cleanup_(diff_freep) Diff *d = NULL;
                const DiffFunction *f;
                const DiffRoot *root;

                record_before(&before, 40);
                record_now(&now, 60);
                ck_assert_int_eq(diff_new(&d, before.root_profile, now.root_profile), 0);
                ck_assert_uint_eq(d->n_roots, 1);
                root = &d->roots[0];
                ck_assert(root->is_enough);
                ck_assert_uint_eq(root->n_before, 40);
                ck_assert_uint_eq(root->n_now, 60);
                ck_assert_uint_eq(root->median_before_ns, 209);
                ck_assert_uint_eq(root->median_now_ns, 309);
                ck_assert(root->p < 1e-9);

                f = find(root, &segment);
                ck_assert_int_eq(f->kind, DIFF_NEW);
                ck_assert(f->is_top);
                ck_assert(fabs(f->change_ns - 90) < 1e-6);
                ck_assert(&root->functions[0] == f);
                f = find(root, &below_segment);
                ck_assert_int_eq(f->kind, DIFF_NEW);
                ck_assert(!f->is_top);
                f = find(root, &fragment);
                ck_assert_int_eq(f->kind, DIFF_GONE);
                ck_assert(f->is_top);
                ck_assert(fabs(f->change_ns + 40) < 1e-6);
                f = find(root, &clone);
                ck_assert_ptr_eq(f->now.function, &plain);
                ck_assert_int_eq(f->kind, DIFF_CHANGED);
                ck_assert(fabs(f->now.calls - 2) < 1e-9);
                ck_assert_int_eq(find(root, &helper)->kind, DIFF_SAME);
        }
END_TEST

START_TEST(own_times_of_functions_add_up_to_the_change_of_the_root)
        {
                _cleanup_(recording_done) Recording before, now;
                _cleanup_(diff_freep) Diff *d = NULL;
                double before_ns = 0, now_ns = 0;

                record_before(&before, 40);
                record_now(&now, 60);
                ck_assert_int_eq(diff_new(&d, before.root_profile, now.root_profile), 0);
                for (size_t i = 0; i < d->roots[0].n_functions; i++) {
                        before_ns += d->roots[0].functions[i].before.self_ns;
                        now_ns += d->roots[0].functions[i].now.self_ns;
                }
                ck_assert(fabs(before_ns - 209.5) < 1e-6);
                ck_assert(fabs(now_ns - 309.5) < 1e-6);
        }
END_TEST

START_TEST(a_new_caller_of_a_known_function_is_a_path)
        {
                _cleanup_(recording_done) Recording before, now;
                _cleanup_(diff_freep) Diff *d = NULL;

                record_before(&before, 10);
                record_now(&now, 10);
                ck_assert_int_eq(diff_new(&d, before.root_profile, now.root_profile), 0);
                ck_assert_uint_eq(d->roots[0].n_paths, 1);
                ck_assert_ptr_eq(d->roots[0].paths[0].caller, &helper);
                ck_assert_ptr_eq(d->roots[0].paths[0].callee, &plain);
                ck_assert(d->roots[0].paths[0].is_new);
        }
END_TEST

START_TEST(two_recordings_of_the_same_have_no_changes)
        {
                _cleanup_(recording_done) Recording before, now;
                _cleanup_(diff_freep) Diff *d = NULL;

                record_before(&before, 40);
                record_before(&now, 80);
                ck_assert_int_eq(diff_new(&d, before.root_profile, now.root_profile), 0);
                ck_assert(d->roots[0].p > 0.9);
                for (size_t i = 0; i < d->roots[0].n_functions; i++)
                        ck_assert_int_eq(d->roots[0].functions[i].kind, DIFF_SAME);
                ck_assert_uint_eq(d->roots[0].n_paths, 0);
        }
END_TEST

START_TEST(few_calls_tell_nothing)
        {
                _cleanup_(recording_done) Recording before, now;
                _cleanup_(diff_freep) Diff *d = NULL;

                record_before(&before, 4);
                record_now(&now, 100);
                ck_assert_int_eq(diff_new(&d, before.root_profile, now.root_profile), 0);
                ck_assert(!d->roots[0].is_enough);
                ck_assert(d->roots[0].p > 0.99);
        }
END_TEST

START_TEST(without_a_common_root_there_is_nothing_to_compare)
        {
                _cleanup_(recording_done) Recording before, now;
                _cleanup_(diff_freep) Diff *d = NULL;

                record_before(&before, 4);
                recording_init(&now);
                feed(&now, step_leaf(&elsewhere, 0, 10));
                ck_assert_int_eq(diff_new(&d, before.root_profile, now.root_profile), 0);
                ck_assert_uint_eq(d->n_roots, 0);
        }
END_TEST

START_TEST(ranks_are_those_of_the_books)
        {
                Quantiles a = {}, b = {};
                QuantilesRanks ranks;

                for (uint64_t i = 1; i <= 5; i++) {
                        ck_assert_int_eq(quantiles_add(&a, i), 0);
                        ck_assert_int_eq(quantiles_add(&b, i + 5), 0);
                }
                ck_assert_int_eq(quantiles_ranks(&a, 5, &b, 5, &ranks), 0);
                ck_assert(fabs(ranks.sum - 15) < 1e-9);
                ck_assert(fabs(ranks.ties) < 1e-9);
                /* Two more that are 0 on each side: ranks 1 to 4, each 2.5. */
                ck_assert_int_eq(quantiles_ranks(&a, 7, &b, 7, &ranks), 0);
                ck_assert(fabs(ranks.sum - (5 + 5 + 6 + 7 + 8 + 9)) < 1e-9);
                ck_assert(fabs(ranks.ties - 60) < 1e-9);
                /* The same, counted by buckets. */
                for (int i = 0; i < QUANTILES_EXACT_MAX; i++)
                        ck_assert_int_eq(quantiles_add(&b, 1000000), 0);
                ck_assert_int_eq(quantiles_ranks(&a, 5, &b, b.n, &ranks), 0);
                ck_assert(fabs(ranks.sum - 15) < 1e-9);
                quantiles_done(&a);
                quantiles_done(&b);
        }
END_TEST

UNIT_SUITE("diff", known_changes_are_found, own_times_of_functions_add_up_to_the_change_of_the_root,
           a_new_caller_of_a_known_function_is_a_path, two_recordings_of_the_same_have_no_changes,
           few_calls_tell_nothing, without_a_common_root_there_is_nothing_to_compare,
           ranks_are_those_of_the_books)

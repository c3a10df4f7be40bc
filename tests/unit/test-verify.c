/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/files/files.h"
#include "page-builder.h"

static const Layout *const layout = &layouts[LAYOUT_6_12];

/* Two pages on CPU 1 with a whole tree each. */
static void fill(Recording *r) {
        Page p[2] = {};

        recording_init(r, layout);
        for (size_t i = 0; i < 2; i++) {
                page_begin(&p[i], layout, 1000 * i);
                page_enter(&p[i], 1000 * i + 1, 17, F_ROOT, 0);
                page_enter(&p[i], 1000 * i + 2, 17, F_LEAF, 1);
                page_leave(&p[i], 1000 * i + 3, 17, F_LEAF, 1, 1);
                page_leave(&p[i], 1000 * i + 4, 17, F_ROOT, 0, 3);
        }
        recording_add(r, 1, 0, p, 2);
        r->meta->cpus[0].read_events = 8;
}

/* What is wrong, one sentence a line. */
static void expect(const Recording *r, const char *expected) {
        _cleanup_verify_result_ VerifyResult v = {};
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(verify_session(r->dir, r->meta, NULL, &v), 0);
        text = strv_join(&v.problems, "\n");
        ck_assert_str_eq(text, expected);
        ck_assert_int_eq(v.complete, *expected == 0);
}

TEST(a_whole_recording_is_complete) {
        _cleanup_recording_ Recording r;
        _cleanup_verify_result_ VerifyResult v = {};

        fill(&r);
        expect(&r, "");
        ck_assert_int_eq(verify_session(r.dir, r.meta, NULL, &v), 0);
        ck_assert_uint_eq(v.census.n_trees_complete, 2);
        ck_assert_uint_eq(v.census.n_entries + v.census.n_exits, 8);
}

TEST(of_a_black_box_it_is_said_how_it_ended_and_what_is_empty) {
        _cleanup_recording_ Recording r;
        _cleanup_verify_result_ VerifyResult v = {};

        fill(&r);
        r.meta->spec.black_box = true;
        ck_assert_int_eq(text_replace(&r.meta->origin, "box"), 0);
        ck_assert_int_eq(text_replace(&r.meta->boot_id, "28e1c1f0"), 0);
        ck_assert_int_eq(text_replace(&r.meta->name, "blackbox-28e1c1f0"), 0);
        r.meta->cpus = realloc(r.meta->cpus, 2 * sizeof(*r.meta->cpus));
        r.meta->cpus[r.meta->n_cpus++] = (CpuAccount){ .cpu = 2 };
        ck_assert_int_eq(verify_session(r.dir, r.meta, NULL, &v), 0);
        ck_assert(v.complete);
        ck_assert_uint_eq(v.notes.n, 2);
        ck_assert_ptr_nonnull(strstr(v.notes.items[0], "it ended with the machine"));
        ck_assert_ptr_nonnull(strstr(v.notes.items[1], "nothing of 1 of 2 CPUs was in memory"));
}

TEST(losses_are_problems_and_the_account_must_agree_with_the_pages) {
        _cleanup_recording_ Recording r;
        CpuAccount *a;

        fill(&r);
        a = &r.meta->cpus[0];
        a->overrun = 2646;
        a->commit_overrun = 1;
        a->dropped_events = 3;
        a->pages_lost = 1;
        expect(&r, "CPU 1: 2,646 events lost: overwritten in the kernel's buffer before being "
                   "read\n"
                   "CPU 1: 1 event lost: an interrupted writer held the page\n"
                   "CPU 1: 3 events lost: the kernel's buffer was full\n"
                   "CPU 1: 1 page read from the kernel but not stored");
        *a = (CpuAccount){ .cpu = 1, .n_pages = 3, .read_events = 12 };
        expect(&r, "CPU 1: 2 pages are stored, but the session's account says 3\n"
                   "CPU 1: 8 events are stored, but the kernel handed out 12");
        *a = (CpuAccount){ .cpu = 0, .n_pages = 2, .read_events = 8 };
        expect(&r, "CPU 1: has pages, but the session's account has no entry\n"
                   "CPU 0: 0 pages are stored, but the session's account says 2\n"
                   "CPU 0: 0 events are stored, but the kernel handed out 8");
        r.meta->state = SESSION_RECORDING;
        expect(&r, "");
}

TEST(a_missing_segment_is_a_problem) {
        _cleanup_recording_ Recording r;
        Page p = {};

        fill(&r);
        page_begin(&p, layout, 5000);
        recording_add(&r, 1, 3, &p, 1);
        expect(&r, "CPU 1: 1 segment missing from the sequence");
}

TEST(calls_must_pair_where_nothing_was_lost) {
        _cleanup_recording_ Recording r;
        Page p = {};

        fill(&r);
        page_begin(&p, layout, 5000);
        page_enter(&p, 5000, 17, F_ROOT, 0);
        page_leave(&p, 5001, 17, F_LEAF, 1, 1);
        page_enter(&p, 5002, 17, F_LEAF, 1);
        page_leave(&p, 5003, 17, F_ROOT, 0, 3);
        recording_add(&r, 1, 1, &p, 1);
        r.meta->cpus[0].read_events += 4;
        expect(&r, "1 call of which the return is missing in the middle of the recording\n"
                   "1 return of which the call is missing in the middle of the recording");
        /* A neighbour may explain it. */
        ck_assert_int_eq(strv_add(&r.meta->neighbours, "somebody"), 0);
        expect(&r, "");
}

TEST(what_cannot_be_decoded_is_a_problem_not_an_error) {
        _cleanup_recording_ Recording r;

        fill(&r);
        ck_assert_int_eq(unlinkat(session_dir_fd(r.dir), "tracing/events/header_page", 0), 0);
        expect(&r, "it cannot be decoded: its events/header_page is missing or no regular file");
}

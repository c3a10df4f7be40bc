/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A trace.dat without CPUSTAT, as trace-cmd listen and split leave it. */

#include <sys/mman.h>

#include "cli/files/files.h"
#include "page-builder.h"
#include "pages/dat-file.h"
#include "pages/page-source.h"
#include "sealing.h"

enum { N_PAGES = 4 };

typedef struct Given {
        Recording recording;
        SessionDir *dir; /* of the file */
        SessionMeta *meta;
} Given;

static void given_done(Given *g) {
        session_meta_free(g->meta);
        session_dir_free(g->dir);
        recording_done(&g->recording);
}
#define _cleanup_given_ _cleanup_(given_done)

/* CPU 0 has lost 684 events before its second page and some before its fourth, CPU 1 none. */
static void given_init(Given *g, bool is_packed, bool has_account) {
        int fd = memfd_create("dat", MFD_CLOEXEC);
        Page p[N_PAGES] = {};
        _cleanup_tracedat_result_ TracedatResult result = {};
        char *problem;
        DatFile *f;

        *g = (Given){};
        recording_init(&g->recording, &layouts[LAYOUT_6_1]);
        for (size_t i = 0; i < N_PAGES; i++) {
                page_begin(&p[i], &layouts[LAYOUT_6_1], 1000 * (i + 1));
                page_enter(&p[i], 1000 * (i + 1), 17, F_ROOT, 0);
        }
        page_set_missed(&p[1], 684);
        page_set_missed(&p[3], 0);
        recording_add(&g->recording, 0, 0, p, N_PAGES);
        recording_add(&g->recording, 1, 0, p, 1);
        if (!has_account)
                g->recording.meta->n_cpus = 0;
        ck_assert_int_eq(tracedat_write(&result, g->recording.dir, g->recording.meta,
                                        &(TracedatSpec){ .version = is_packed ? 7 : 6,
                                                         .is_packed = is_packed,
                                                         .can_seek = true,
                                                         .window = &(Filtering){} },
                                        fd, NULL),
                         0);
        ck_assert_int_eq(dat_file_take_fd(&f, fd, &problem), 0);
        ck_assert_int_eq(dat_file_to_dir(&g->dir, f, "it"), 0);
        ck_assert_int_eq(session_dir_read_meta(g->dir, &g->meta), 0);
}

static void expect_told(const SessionMeta *m) {
        ck_assert_uint_eq(m->n_cpus, 2);
        ck_assert_uint_eq(m->cpus[0].cpu, 0);
        ck_assert_uint_eq(m->cpus[0].overrun, 684);
        ck_assert_uint_eq(m->cpus[1].cpu, 1);
        ck_assert_uint_eq(cpu_account_events_lost(&m->cpus[1]), 0);
        ck_assert_uint_eq(m->gaps.n, 2);
        ck_assert_uint_eq(m->gaps.items[0].n_events, 684);
        ck_assert_uint_eq(m->gaps.items[0].from_ns, 1001);
        ck_assert_uint_eq(m->gaps.items[0].to_ns, 2000);
        ck_assert_uint_eq(m->gaps.items[1].n_events, GAP_UNKNOWN);
        ck_assert_uint_eq(m->gaps.items[1].to_ns, 4000);
}

TEST(without_an_account_what_pages_tell_is_lost) {
        for (unsigned i = 0; i < 4; i++) {
                _cleanup_given_ Given g;

                given_init(&g, i % 2, false);
                ck_assert_int_eq(dat_losses_note(g.meta, g.dir, i / 2), 0);
                expect_told(g.meta);
        }
}

TEST(an_account_that_denies_it_is_corrected_by_a_thorough_look) {
        for (unsigned i = 0; i < 4; i++) {
                _cleanup_given_ Given g;
                bool is_thorough = i / 2;

                given_init(&g, i % 2, true);
                ck_assert_int_eq(dat_losses_note(g.meta, g.dir, is_thorough), 0);
                if (is_thorough)
                        expect_told(g.meta);
                else
                        ck_assert_uint_eq(g.meta->gaps.n, 0);
        }
}

TEST(an_account_that_counts_losses_is_believed) {
        _cleanup_given_ Given g;

        given_init(&g, false, true);
        g.meta->cpus[0].dropped_events = 700;
        ck_assert_int_eq(dat_losses_note(g.meta, g.dir, true), 0);
        ck_assert_uint_eq(session_meta_events_lost(g.meta), 700);
        ck_assert_uint_eq(g.meta->gaps.n, 0);
}

TEST(a_session_keeps_its_own_account) {
        _cleanup_given_ Given g;

        given_init(&g, false, true);
        ck_assert_int_eq(dat_losses_note(g.recording.meta, g.recording.dir, true), 0);
        ck_assert_uint_eq(session_meta_events_lost(g.recording.meta), 0);
}

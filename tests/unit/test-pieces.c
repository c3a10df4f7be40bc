/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <pthread.h>
#include <stdatomic.h>

#include "codec/pieces.h"
#include "unit.h"

#define N_PIECES 200

/* Piece i is 8 bytes long and says i; some do not unpack. */
typedef struct TestFile {
        size_t damaged, failing; /* SIZE_MAX: none */
        pthread_t asker;
        atomic_size_t n_unpacked, n_by_others, n_failures;
} TestFile;

static atomic_int n_scratch;

static int unpack(const void *source, Piece *p, void **scratch) {
        TestFile *f = (TestFile *) source;
        uint64_t number = p->i;

        if (!*scratch) {
                *scratch = malloc(1);
                n_scratch++;
        }
        f->n_unpacked++;
        f->n_by_others += !pthread_equal(pthread_self(), f->asker);
        if (p->i == f->failing && f->n_failures++ == 0)
                return -EIO;
        p->problem = "torn";
        if (p->i == f->damaged)
                return 1;
        p->plain = p->plain ?: malloc(sizeof(number));
        memcpy(p->plain, &number, sizeof(number));
        usleep(p->i % 16 == 0 ? 500 : 0);
        return 0;
}

static void free_scratch(void *scratch) {
        n_scratch -= scratch != NULL;
        free(scratch);
}

static void begin(Pieces *p, TestFile *f, Ahead *a) {
        *f = (TestFile){ .damaged = SIZE_MAX, .failing = SIZE_MAX, .asker = pthread_self() };
        *p = (Pieces){ .unpack = unpack, .source = f, .n = N_PIECES, .free_scratch = free_scratch };
        pieces_go_ahead(p, a);
}

static void expect_piece(Pieces *p, size_t i) {
        const Piece *piece;
        uint64_t number;

        ck_assert_int_eq(pieces_get(p, i, &piece), 0);
        memcpy(&number, piece->plain, sizeof(number));
        ck_assert_uint_eq(number, i);
}

TEST(each_piece_is_unpacked_once_in_order) {
        _cleanup_(ahead_freep) Ahead *a = NULL;
        TestFile files[3];
        Pieces pieces[3];

        ck_assert_int_eq(ahead_new(&a), 0);
        for (size_t k = 0; k < ELEMENTSOF(files); k++)
                begin(&pieces[k], &files[k], a);
        for (size_t i = 0; i < N_PIECES; i++)
                for (size_t k = 0; k < ELEMENTSOF(files); k++)
                        expect_piece(&pieces[k], i);
        for (size_t k = 0; k < ELEMENTSOF(files); k++) {
                pieces_done(&pieces[k]);
                ck_assert_uint_eq(files[k].n_unpacked, N_PIECES);
        }
        ck_assert_int_eq(n_scratch, 0);
}

TEST(the_thread_works_while_the_reader_does_not) {
        _cleanup_(ahead_freep) Ahead *a = NULL;
        TestFile f;
        Pieces p;

        ck_assert_int_eq(ahead_new(&a), 0);
        begin(&p, &f, a);
        expect_piece(&p, 0);
        ck_assert_uint_eq(f.n_unpacked, 1); /* nobody has asked for one behind another yet */
        expect_piece(&p, 1);
        while (a && f.n_by_others < PIECES_AHEAD)
                usleep(1000);
        pieces_done(&p);
}

TEST(jumps_find_what_they_ask_for) {
        _cleanup_(ahead_freep) Ahead *a = NULL;
        TestFile f;
        Pieces p;

        ck_assert_int_eq(ahead_new(&a), 0);
        begin(&p, &f, a);
        for (size_t n = 0, i = 0; n < 2000; n++) {
                expect_piece(&p, i);
                expect_piece(&p, i);
                i = (n % 5 != 4 ? i + 1 : i * 7 + 3) % N_PIECES;
        }
        pieces_done(&p);
        ck_assert_int_eq(n_scratch, 0);
}

TEST(damage_is_told_where_it_is_met) {
        _cleanup_(ahead_freep) Ahead *a = NULL;
        const Piece *piece;
        TestFile f;
        Pieces p;

        ck_assert_int_eq(ahead_new(&a), 0);
        begin(&p, &f, a);
        f.damaged = 3;
        for (size_t i = 0; i < N_PIECES; i++)
                if (i != f.damaged)
                        expect_piece(&p, i);
                else {
                        ck_assert_int_eq(pieces_get(&p, i, &piece), 1);
                        ck_assert_str_eq(piece->problem, "torn");
                }
        pieces_done(&p);
}

TEST(an_error_that_only_the_thread_met_is_none) {
        _cleanup_(ahead_freep) Ahead *a = NULL;
        TestFile f;
        Pieces p;

        ck_assert_int_eq(ahead_new(&a), 0);
        begin(&p, &f, a);
        f.failing = 3;
        expect_piece(&p, 0);
        expect_piece(&p, 1);
        while (a && f.n_failures == 0)
                usleep(1000);
        expect_piece(&p, 2);
        if (a)
                expect_piece(&p, 3);
        pieces_done(&p);
}

TEST(a_reader_may_leave_at_any_time) {
        for (size_t n = 1; n < 40; n++) {
                _cleanup_(ahead_freep) Ahead *a = NULL;
                TestFile f;
                Pieces p;

                ck_assert_int_eq(ahead_new(&a), 0);
                begin(&p, &f, a);
                for (size_t i = 0; i < n; i++)
                        expect_piece(&p, i);
                pieces_done(&p);
        }
        ck_assert_int_eq(n_scratch, 0);
}

TEST(only_so_many_files_are_read_ahead) {
        _cleanup_(ahead_freep) Ahead *a = NULL;
        TestFile files[2 * PIECES_AHEAD_MAX];
        Pieces pieces[ELEMENTSOF(files)];
        size_t n_ahead = 0;

        ck_assert_int_eq(ahead_new(&a), 0);
        for (size_t k = 0; k < ELEMENTSOF(files); k++)
                begin(&pieces[k], &files[k], a);
        for (size_t k = 0; k < ELEMENTSOF(files); k++)
                n_ahead += pieces[k].ahead != NULL;
        ck_assert_uint_eq(n_ahead, a ? PIECES_AHEAD_MAX / PIECES_AHEAD : 0);
        for (size_t i = 0; i < N_PIECES; i++)
                for (size_t k = 0; k < ELEMENTSOF(files); k++)
                        expect_piece(&pieces[k], i);
        pieces_done(&pieces[0]);
        begin(&pieces[0], &files[0], a);
        ck_assert(!a || pieces[0].ahead != NULL);
        for (size_t k = 0; k < ELEMENTSOF(files); k++)
                pieces_done(&pieces[k]);
}

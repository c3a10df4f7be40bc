/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>

#include "base/cleanup.h"
#include "daemon/api/roster.h"
#include "tests/unit/unit.h"

#define N 1000

static RosterEntry *add(Roster *r, const char *name, uint64_t start_ns) {
        RosterEntry *e;

        ck_assert_int_eq(roster_add(r, name, &e), 0);
        e->is_known = true;
        e->rest.brief.start_ns = start_ns;
        return e;
}

static Roster *make_many(void) {
        Roster *r;

        ck_assert_int_eq(roster_new(&r), 0);
        for (int i = 0; i < N; i++) {
                char name[16];

                (void) snprintf(name, sizeof(name), "r%d", i);
                (void) add(r, name, (uint64_t) (N - i));
        }
        return r;
}

START_TEST(each_of_many_is_found_by_its_name)
        {
                _cleanup_(roster_freep) Roster *r = make_many();

                ck_assert_uint_eq(roster_n(r), N);
                for (int i = 0; i < N; i++) {
                        char name[16];

                        (void) snprintf(name, sizeof(name), "r%d", i);
                        ck_assert_str_eq(roster_find(r, name)->name, name);
                }
                ck_assert_ptr_null(roster_find(r, "r1000"));
                ck_assert_ptr_null(roster_find(r, ""));
        }
END_TEST

START_TEST(what_is_removed_is_not_found_and_the_others_are)
        {
                _cleanup_(roster_freep) Roster *r = make_many();

                for (int i = 0; i < N; i += 2) {
                        char name[16];

                        (void) snprintf(name, sizeof(name), "r%d", i);
                        roster_remove(r, roster_find(r, name));
                        ck_assert_ptr_null(roster_find(r, name));
                }
                ck_assert_uint_eq(roster_n(r), N / 2);
                for (size_t i = 0; i < roster_n(r); i++)
                        ck_assert_ptr_eq(roster_find(r, roster_get(r, i)->name), roster_get(r, i));
                while (roster_n(r) > 0)
                        roster_remove(r, roster_get(r, 0));
                ck_assert_ptr_null(roster_find(r, "r1"));
        }
END_TEST

START_TEST(oldest_come_first_and_then_it_is_by_name)
        {
                _cleanup_(roster_freep) Roster *r = NULL;
                _cleanup_free_ RosterEntry **sorted = NULL;

                ck_assert_int_eq(roster_new(&r), 0);
                (void) add(r, "late", 3);
                (void) add(r, "b", 2);
                (void) add(r, "a", 2);
                (void) add(r, "early", 1);
                ck_assert_int_eq(roster_sort(r, &sorted), 0);
                ck_assert_str_eq(sorted[0]->name, "early");
                ck_assert_str_eq(sorted[1]->name, "a");
                ck_assert_str_eq(sorted[2]->name, "b");
                ck_assert_str_eq(sorted[3]->name, "late");
        }
END_TEST

START_TEST(an_id_is_found_of_those_that_are_known)
        {
                _cleanup_(roster_freep) Roster *r = NULL;
                RosterEntry *e;

                ck_assert_int_eq(roster_new(&r), 0);
                e = add(r, "a", 1);
                e->rest.brief.id = strdup("0123456789abcdef");
                (void) add(r, "b", 1);
                ck_assert_ptr_eq(roster_find_id(r, "0123456789abcdef"), e);
                ck_assert_ptr_null(roster_find_id(r, "a"));
                e->is_known = false;
                ck_assert_ptr_null(roster_find_id(r, "0123456789abcdef"));
        }
END_TEST

static void set_symbols(Roster *r, RosterEntry *e, const char *a, const char *b) {
        Strv names = {};

        ck_assert_int_eq(strv_add(&names, a), 0);
        ck_assert_int_eq(strv_add(&names, b), 0);
        ck_assert_int_eq(roster_set_symbols(r, e, &names), 0);
        strv_done(&names);
}

START_TEST(symbols_are_there_as_long_as_anybody_refers_to_them)
        {
                _cleanup_(roster_freep) Roster *r = NULL;
                _cleanup_strv_ Strv before = {}, after = {};
                RosterEntry *a, *b;

                ck_assert_int_eq(roster_new(&r), 0);
                a = add(r, "a", 1);
                b = add(r, "b", 2);
                set_symbols(r, a, "s1", "s2");
                set_symbols(r, b, "s1", "s2");
                ck_assert_ptr_eq(a->symbols, b->symbols);
                set_symbols(r, b, "s2", "s3");
                set_symbols(r, b, "s2", "s3"); /* once more */
                ck_assert_int_eq(roster_add_symbols(r, &before), 0);
                ck_assert_uint_eq(before.n, 3);
                roster_remove(r, a);
                ck_assert_int_eq(roster_add_symbols(r, &after), 0);
                ck_assert_uint_eq(after.n, 2);
                ck_assert(strv_contains(&after, "s2") && strv_contains(&after, "s3"));
        }
END_TEST

UNIT_SUITE("roster", each_of_many_is_found_by_its_name,
           what_is_removed_is_not_found_and_the_others_are,
           oldest_come_first_and_then_it_is_by_name, an_id_is_found_of_those_that_are_known,
           symbols_are_there_as_long_as_anybody_refers_to_them)

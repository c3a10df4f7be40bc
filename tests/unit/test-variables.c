/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/variables.h"
#include "unit.h"

typedef struct Noted {
        Variables variables;
        VariableValues values;
} Noted;

static void noted_done(Noted *n) {
        variables_done(&n->variables);
        free(n->values.items);
}
#define _cleanup_noted_ _cleanup_(noted_done)

static void note(Noted *n, uint32_t node, bool is_root, const char *args) {
        ck_assert_int_eq(variables_note(&n->variables, &n->values, node, is_root, args, NULL), 0);
}

static bool is_value(const Noted *n, size_t i, const char *name, bool is_negative,
                     uint64_t magnitude) {
        const VariableValue *v = &n->values.items[i];

        return i < n->values.n && streq(n->variables.items[v->variable].name, name) &&
               v->is_negative == is_negative && v->magnitude == magnitude;
}

START_TEST(arguments_and_what_is_returned_have_their_names_and_signs)
        {
                _cleanup_noted_ Noted n = {};
                uint64_t error = (uint32_t) -90;

                ck_assert_int_eq(variables_note(&n.variables, &n.values, 1, true,
                                                "(sk=0xffff888003d5c000, len=0x40, how=-1 [BAD])",
                                                &error),
                                 0);
                ck_assert_uint_eq(n.values.n, 4);
                ck_assert(is_value(&n, 0, "sk", false, 0xffff888003d5c000));
                ck_assert(is_value(&n, 1, "len", false, 64));
                ck_assert(is_value(&n, 2, "how", true, 1));
                ck_assert(is_value(&n, 3, "ret", true, 90));
        }
END_TEST

START_TEST(a_variable_is_of_its_place_in_the_tree)
        {
                _cleanup_noted_ Noted n = {};

                note(&n, 1, true, "(len=1)");
                note(&n, 2, false, "(len=2)");
                note(&n, 2, false, "(len=3)");
                ck_assert_uint_eq(n.variables.n, 2);
                ck_assert_uint_eq(n.values.items[1].variable, n.values.items[2].variable);
                ck_assert_uint_ne(n.values.items[0].variable, n.values.items[1].variable);
        }
END_TEST

START_TEST(below_the_outermost_call_addresses_and_what_is_too_much_are_left_out)
        {
                _cleanup_noted_ Noted n = {};

                note(&n, 2, false, "(sk=0xffff888003d5c000)");
                ck_assert_uint_eq(n.values.n, 0);
                for (size_t i = 0; i < 2 * VARIABLES_VALUES_MAX; i++)
                        note(&n, 2, false, "(len=3)");
                ck_assert_uint_eq(n.values.n, VARIABLES_VALUES_MAX);
                note(&n, 1, true, "(len=4)");
                ck_assert(is_value(&n, VARIABLES_VALUES_MAX, "len", false, 4));
        }
END_TEST

START_TEST(there_are_no_more_variables_than_a_thousand)
        {
                _cleanup_noted_ Noted n = {};

                for (uint32_t i = 1; i < 2 * VARIABLES_MAX; i++)
                        note(&n, i, true, "(len=3)");
                ck_assert_uint_eq(n.variables.n, VARIABLES_MAX);
                ck_assert_uint_eq(n.values.n, VARIABLES_MAX);
        }
END_TEST

START_TEST(what_is_no_number_is_passed_over)
        {
                static const char *const texts[] = {
                        "",
                        "(",
                        "()",
                        "(=5)",
                        "(len=)",
                        "(len)",
                        "(a=(STRUCT)[0x1:0x2])",
                        "(len=x5)",
                        "(a=99999999999999999999)",
                        "=",
                        "= =",
                        "(a= 5",
                };
                _cleanup_noted_ Noted n = {};

                for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                        note(&n, 1, true, texts[i]);
                ck_assert_uint_eq(n.values.n, 0);
                note(&n, 1, true, "(a=(STRUCT)[0x1:0x2], b=?0x7, c=9...");
                ck_assert_uint_eq(n.values.n, 2);
                ck_assert(is_value(&n, 0, "b", false, 7));
                ck_assert(is_value(&n, 1, "c", false, 9));
        }
END_TEST

UNIT_SUITE("variables", arguments_and_what_is_returned_have_their_names_and_signs,
           a_variable_is_of_its_place_in_the_tree,
           below_the_outermost_call_addresses_and_what_is_too_much_are_left_out,
           there_are_no_more_variables_than_a_thousand, what_is_no_number_is_passed_over)

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/step.h"
#include "step-builder.h"
#include "unit.h"

TEST(a_copy_outlives_what_it_was_made_of) {
        char comm[] = "client", text[] = "event: x=1", inside[] = "sk=0x1";
        uint64_t args[] = { 4, 5, 6 };
        StepText said = { .args = inside, .n_args = 6, .irq_end = true, .line = 9 };
        Step s = step_leaf(&step_root, 3, 7), *copy;
        _cleanup_free_ void *block = NULL;

        s.comm = comm;
        s.text = text;
        s.args = args;
        s.n_args = 3;
        s.said = &said;
        block = step_copy(&s, 24, &copy);
        ck_assert_ptr_nonnull(block);
        memset(block, 'x', 24);
        memset(comm, 'x', sizeof(comm) - 1);
        memset(text, 'x', sizeof(text) - 1);
        memset(inside, 'x', sizeof(inside) - 1);
        memset(args, 'x', sizeof(args));
        said = (StepText){};
        ck_assert_str_eq(copy->comm, "client");
        ck_assert_str_eq(copy->text, "event: x=1");
        ck_assert_uint_eq(copy->args[2], 6);
        ck_assert_int_eq(copy->depth, 3);
        ck_assert_uint_eq(copy->said->line, 9);
        ck_assert(copy->said->irq_end);
        ck_assert_uint_eq(copy->said->n_args, 6);
        ck_assert_int_eq(memcmp(copy->said->args, "sk=0x1", 6), 0);
        ck_assert_ptr_null(copy->said->note);
}

TEST(what_is_not_there_is_not_there_in_the_copy) {
        const Step s = { .kind = STEP_LOST, .n_lost = 5 };
        Step *copy;
        _cleanup_free_ void *block = step_copy(&s, 0, &copy);

        ck_assert_ptr_nonnull(block);
        ck_assert_ptr_null(copy->comm);
        ck_assert_ptr_null(copy->text);
        ck_assert_ptr_null(copy->said);
        ck_assert_uint_eq(copy->n_lost, 5);
}

TEST(what_is_no_number_is_passed_over) {
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
        const char *at, *name;
        ValueNumber number;
        size_t n;

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                at = texts[i];
                ck_assert_msg(!arguments_next(&at, &name, &n, &number), "%s", texts[i]);
        }
        at = "(a=(STRUCT)[0x1:0x2], b=?0x7, c=9...";
        ck_assert(arguments_next(&at, &name, &n, &number));
        ck_assert(n == 1 && *name == 'b' && number.magnitude == 7);
        ck_assert(arguments_next(&at, &name, &n, &number));
        ck_assert(n == 1 && *name == 'c' && number.magnitude == 9);
        ck_assert(!arguments_next(&at, &name, &n, &number));
}

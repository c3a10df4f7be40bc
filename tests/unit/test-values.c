/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Streams made by hand, of the records that kernels have been seen to write, and of what could lead astray. */

#include "value-stream.h"

/* Steps in short: "{" enters, "." is a leaf, "}" leaves, "!" a loss, "?" another event, the function's first
 * letter, and the value. */
static char *in_short(Player *p) {
        static char text[1024];
        char *t = text;
        Step s;

        *t = 0;
        while (steps_next(&p->steps, STREAM_NO_LIMIT, &s) == 1) {
                *t++ = "{.}!?"[s.kind];
                if (s.function)
                        *t++ = s.function->label[0];
                if (s.kind <= STEP_LEAF && s.n_args > 0)
                        t += sprintf(t, "(%llu)", (unsigned long long) s.args[0]);
                if (s.kind != STEP_ENTER && s.kind <= STEP_LEAVE && s.has_retval)
                        t += sprintf(t, "%lld", (long long) s.retval);
                *t = 0;
        }
        return text;
}

static void expect_pages(const char *name, const char *function, const Page *pages, size_t n,
                         const char *wanted) {
        _cleanup_recording_ Recording r;
        _cleanup_player_ Player p;
        Values *values;
        const char *got;

        recording_init(&r, layout);
        for (size_t i = 0; i < n; i++)
                recording_add(&r, (uint32_t) i, 0, &pages[i], 1);
        player_init(&p, &r, layout, "17 client\n18 server\n", STEPS_ALL);
        ck_assert_int_eq(values_new(&values, &p.formats, &p.functions), 0);
        ck_assert_int_eq(values_add(values, name, function, probe_format), 0);
        ck_assert_int_eq(values_add(values, ENTRY, function, entry_format), 0);
        p.steps.values = values;
        got = in_short(&p);
        ck_assert_msg(strcmp(got, wanted) == 0, "%s: got    %s\nwanted %s", name, got, wanted);
        values_free(values);
}

static void expect(const char *name, const char *wanted) {
        expect_pages(name, "udp_sendmsg", &page, 1, wanted);
}

START_TEST(a_value_before_its_exit_and_one_behind_it_are_joined)
        {
                begin();
                enter(TASK, 0);
                value(TASK, TO_GRAPH, -90);
                leave(TASK, 0, 20);
                enter(TASK, 0);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_ROOT;
                value(TASK, TO_GRAPH, 5);
                leave(TASK, 0, 40);
                expect(FPROBE, ".u-90{u.i}u5");
                expect(KRETPROBE, ".u-90{u.i}u5");

                begin();
                enter(TASK, 0);
                leave(TASK, 0, 20);
                value(OFF, TO_CALLER, -90);
                enter(TASK, 0);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_ROOT;
                leave(TASK, 0, 40);
                value(OFF, TO_CALLER, 5);
                expect(FPROBE, ".u-90{u.i}u5");
                expect(KRETPROBE, ".u-90{u.i}u5");
        }
END_TEST

START_TEST(an_fprobe_that_does_not_tell_its_side_is_joined_all_the_same)
        {
                begin();
                for (int i = 0; i < 3; i++) {
                        enter(TASK, 0);
                        value(TASK, TO_CALLER, i);
                        leave(TASK, 0, 20);
                }
                expect(FPROBE, ".u0.u1.u2");
        }
END_TEST

START_TEST(each_call_of_a_recursion_has_its_own_value)
        {
                begin();
                enter(TASK, 0);
                enter(TASK, 1);
                value(TASK, TO_GRAPH, 1);
                leave(TASK, 1, 20);
                value(TASK, TO_GRAPH, 2);
                leave(TASK, 0, 50);
                expect(KRETPROBE, "{u.u1}u2");

                begin();
                enter(TASK, 0);
                enter(TASK, 1);
                leave(TASK, 1, 10);
                value(TASK, TO_CALLER, 1);
                leave(TASK, 0, 40);
                value(TASK, TO_CALLER, 2);
                expect(KRETPROBE, "{u.u1}u2");
                expect(FPROBE, "{u.u1}u2");

                /* Once it has been seen on which side they are. */
                begin();
                enter(TASK, 0);
                value(TASK, TO_CALLER, 0);
                leave(TASK, 0, 20);
                enter(TASK, 0);
                enter(TASK, 1);
                value(TASK, TO_CALLER, 1);
                leave(TASK, 1, 20);
                value(TASK, TO_CALLER, 2);
                leave(TASK, 0, 50);
                expect(FPROBE, ".u0{u.u1}u2");
        }
END_TEST

START_TEST(a_call_of_a_recursion_whose_value_is_missing_has_none)
        {
                begin();
                enter(TASK, 0);
                enter(TASK, 1);
                leave(TASK, 1, 10);
                value(TASK, TO_GRAPH, 2);
                leave(TASK, 0, 40);
                expect(KRETPROBE, "{u.u}u2");

                begin();
                enter(TASK, 0);
                enter(TASK, 1);
                leave(TASK, 1, 10);
                leave(TASK, 0, 40);
                value(TASK, TO_CALLER, 2);
                expect(KRETPROBE, "{u.u}u2");

                begin();
                enter(TASK, 0);
                enter(TASK, 1);
                value(TASK, TO_GRAPH, 1);
                leave(TASK, 1, 20);
                leave(TASK, 0, 40);
                expect(KRETPROBE, "{u.u1}u");
        }
END_TEST

START_TEST(a_value_that_returns_elsewhere_is_not_of_the_call_beside_it)
        {
                /* What udp_sendmsg calls itself was not recorded, and the outer one's value was missed. */
                begin();
                enter(TASK, 0);
                value(TASK, TO_ITSELF, 1);
                leave(TASK, 0, 20);
                expect(FPROBE, ".u");
                expect(KRETPROBE, ".u");

                /* The inner one's value was missed, and the outer one's is before its own exit. */
                begin();
                func = F_CHILD;
                enter(TASK, 0);
                func = F_ROOT;
                enter(TASK, 1);
                enter(TASK, 2);
                leave(TASK, 2, 10);
                value(TASK, TO_CALLER, 2);
                leave(TASK, 1, 40);
                func = F_CHILD;
                leave(TASK, 0, 70);
                expect(FPROBE, "{i{u.u}u2}i");

                /* As before, but that both have theirs. */
                begin();
                func = F_CHILD;
                enter(TASK, 0);
                func = F_ROOT;
                enter(TASK, 1);
                enter(TASK, 2);
                value(TASK, TO_ITSELF, 1);
                leave(TASK, 2, 10);
                value(TASK, TO_CALLER, 2);
                leave(TASK, 1, 40);
                func = F_CHILD;
                leave(TASK, 0, 70);
                expect(FPROBE, "{i{u.u1}u2}i");
        }
END_TEST

START_TEST(an_interrupt_in_between_that_calls_the_same_function_has_its_own)
        {
                begin();
                enter(TASK, 0);
                value(TASK, TO_GRAPH, 1);
                func = F_LEAF; /* before it says that it is an interrupt */
                enter(OFF, 1);
                leave(IRQ, 1, 10);
                func = F_ROOT;
                enter(IRQ, 1);
                value(IRQ, TO_GRAPH, 2);
                leave(IRQ, 1, 20);
                leave(TASK, 0, 80);
                expect(KRETPROBE, "{u.k.u2}u1");

                begin();
                enter(TASK, 0);
                leave(TASK, 0, 10);
                func = F_LEAF;
                enter(OFF, 0);
                leave(IRQ, 0, 10);
                func = F_ROOT;
                enter(IRQ, 0);
                leave(IRQ, 0, 10);
                value(IRQ, TO_CALLER, 2);
                value(TASK, TO_CALLER, 1);
                enter(TASK, 0);
                leave(TASK, 0, 10);
                value(TASK, TO_CALLER, 3);
                expect(KRETPROBE, ".u1.k.u2.u3");
        }
END_TEST

START_TEST(an_interrupt_before_the_record_of_an_end_takes_no_value_away)
        {
                begin();
                enter(TASK, 0);
                value(TASK, TO_GRAPH, 1);
                now += 1000;
                leave(TASK, 0, 30);
                expect(KRETPROBE, ".u1");
                expect(FPROBE, ".u1");
        }
END_TEST

START_TEST(an_interrupt_whose_calls_are_not_recorded_gives_no_value_to_the_task)
        {
                begin();
                enter(TASK, 0);
                value(IRQ, TO_CALLER, 2);
                value(SOFTIRQ, TO_CALLER, 3);
                leave(TASK, 0, 30);
                value(TASK, TO_CALLER, 1);
                expect(KRETPROBE, ".u1");
                expect(FPROBE, ".u1");
        }
END_TEST

START_TEST(a_value_of_a_call_that_was_not_recorded_is_no_other_calls)
        {
                /* Only slow ones are recorded, and of these the ends. */
                begin();
                value(TASK, TO_GRAPH, 1);
                value(TASK, TO_GRAPH, 2);
                leave(TASK, 0, 15);
                value(TASK, TO_GRAPH, 3);
                now += 1000;
                leave(TASK, 0, 500);
                expect(KRETPROBE, "}u2}u");

                begin();
                value(TASK, TO_CALLER, 1);
                now += 1000;
                leave(TASK, 0, 500);
                value(TASK, TO_CALLER, 2);
                value(TASK, TO_CALLER, 3);
                leave(TASK, 0, 5);
                value(TASK, TO_CALLER, 4);
                expect(KRETPROBE, "}u2}u4");
                expect(FPROBE, "}u2}u4");

                /* Below it something else was called since. */
                begin();
                enter(TASK, 0);
                value(TASK, TO_GRAPH, 1);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_ROOT;
                leave(TASK, 0, 40);
                expect(KRETPROBE, "{u.i}u");

                begin();
                enter(TASK, 0);
                leave(TASK, 0, 10);
                func = F_CHILD;
                enter(TASK, 0);
                leave(TASK, 0, 10);
                func = F_ROOT;
                value(TASK, TO_CALLER, 1);
                expect(KRETPROBE, ".u.i");
        }
END_TEST

START_TEST(a_value_is_of_its_own_task_whatever_cpu_it_has_come_to)
        {
                Page pages[2];

                begin();
                enter(TASK, 0);
                leave(TASK, 0, 10);
                pid = 18;
                enter(TASK, 0);
                leave(TASK, 0, 10);
                value(TASK, TO_CALLER, 8);
                pid = 17;
                pages[0] = page;
                page_begin(&page, layout, now);
                value(TASK, TO_CALLER, 7);
                pages[1] = page;
                expect_pages(KRETPROBE, "udp_sendmsg", pages, 2, ".u7.u8");
        }
END_TEST

START_TEST(steps_behind_one_that_waits_keep_their_order)
        {
                begin();
                enter(TASK, 0);
                leave(TASK, 0, 10);
                pid = 18;
                func = F_CHILD;
                for (int i = 0; i < 20; i++) {
                        enter(TASK, 0);
                        leave(TASK, 0, 10);
                }
                pid = 17;
                func = F_ROOT;
                value(TASK, TO_CALLER, 7);
                expect(KRETPROBE, ".u7.i.i.i.i.i.i.i.i.i.i.i.i.i.i.i.i.i.i.i.i");
        }
END_TEST

START_TEST(behind_a_loss_nothing_is_joined_with_what_came_before)
        {
                _cleanup_recording_ Recording r;
                _cleanup_player_ Player p;
                Values *values;
                Page pages[2];

                begin();
                enter(TASK, 0);
                leave(TASK, 0, 10);
                pages[0] = page;
                page_begin(&page, layout, now);
                value(TASK, TO_CALLER, 1);
                enter(TASK, 0);
                leave(TASK, 0, 10);
                value(TASK, TO_CALLER, 2);
                page_set_missed(&page, 3);
                pages[1] = page;
                recording_init(&r, layout);
                recording_add(&r, 0, 0, pages, 2);
                player_init(&p, &r, layout, "17 client\n", STEPS_ALL);
                ck_assert_int_eq(values_new(&values, &p.formats, &p.functions), 0);
                ck_assert_int_eq(values_add(values, KRETPROBE, "udp_sendmsg", probe_format), 0);
                p.steps.values = values;
                ck_assert_str_eq(in_short(&p), ".u!.u2");
                values_free(values);
        }
END_TEST

START_TEST(without_its_name_a_function_is_known_from_its_first_value_on)
        {
                begin();
                for (int i = 1; i < 4; i++) {
                        enter(TASK, 0);
                        leave(TASK, 0, 10);
                        value(TASK, TO_CALLER, i);
                }
                expect_pages(KRETPROBE, NULL, &page, 1, ".u.u2.u3");
        }
END_TEST

START_TEST(an_end_without_a_value_ends_all_the_same)
        {
                begin();
                enter(TASK, 0);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_ROOT;
                leave(TASK, 0, 40);
                expect(KRETPROBE, "{u.i}u");
                begin();
                value(TASK, TO_GRAPH, 1);
                expect(KRETPROBE, "");
        }
END_TEST

START_TEST(arguments_before_an_entry_and_behind_it_are_joined)
        {
                begin();
                given(TASK, 1);
                enter(TASK, 0);
                value(TASK, TO_GRAPH, 5);
                leave(TASK, 0, 20);
                given(TASK, 2);
                enter(TASK, 0);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_ROOT;
                leave(TASK, 0, 40);
                expect(KRETPROBE, ".u(1)5{u(2).i}u");

                begin();
                enter(TASK, 0);
                given(TASK, 1);
                leave(TASK, 0, 20);
                value(TASK, TO_CALLER, 5);
                enter(TASK, 0);
                given(TASK, 2);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_ROOT;
                leave(TASK, 0, 40);
                value(TASK, TO_CALLER, 6);
                expect(KRETPROBE, ".u(1)5{u(2).i}u6");
        }
END_TEST

START_TEST(what_handles_a_probe_that_is_a_breakpoint_is_no_call)
        {
                begin();
                enter(TASK, 0);
                func = F_BREAK;
                enter(OFF, 1);
                func = F_LEAF;
                enter(OFF, 2);
                leave(OFF, 2, 10);
                func = F_CHILD;
                given(OFF, 7);
                func = F_BREAK;
                leave(OFF, 1, 60);
                enter(OFF, 1);
                leave(OFF, 1, 10);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_BREAK;
                enter(OFF, 1); /* whose end is lost */
                func = F_LEAF;
                enter(OFF, 2);
                func = F_CHILD;
                enter(TASK, 1);
                leave(TASK, 1, 10);
                func = F_ROOT;
                leave(TASK, 0, 200);
                expect_pages(KRETPROBE, "ip_make_skb", &page, 1, "{u.i(7).i}u");
                expect_pages(FPROBE, "ip_make_skb", &page, 1, "{u{d.k}d.d.i{d{k.i}u");
        }
END_TEST

START_TEST(each_call_of_a_recursion_has_its_own_arguments)
        {
                begin();
                enter(TASK, 0);
                given(TASK, 1);
                enter(TASK, 1);
                given(TASK, 2);
                leave(TASK, 1, 20);
                leave(TASK, 0, 50);
                expect(KRETPROBE, "{u(1).u(2)}u");

                /* Once it has been seen on which side they are. */
                begin();
                given(TASK, 0);
                enter(TASK, 0);
                leave(TASK, 0, 20);
                given(TASK, 1);
                enter(TASK, 0);
                given(TASK, 2);
                enter(TASK, 1);
                enter(TASK, 2);
                leave(TASK, 2, 10);
                leave(TASK, 1, 30);
                leave(TASK, 0, 60);
                expect(KRETPROBE, ".u(0){u(1){u(2).u}u}u");
        }
END_TEST

START_TEST(an_interrupt_between_an_entry_and_its_arguments_has_its_own)
        {
                begin();
                enter(TASK, 0);
                func = F_LEAF;
                enter(OFF, 1);
                leave(IRQ, 1, 10);
                func = F_ROOT;
                enter(IRQ, 1);
                given(IRQ, 2);
                leave(IRQ, 1, 20);
                given(TASK, 1);
                leave(TASK, 0, 90);
                expect(KRETPROBE, "{u(1).k.u(2)}u");

                begin();
                given(TASK, 1);
                given(IRQ, 2);
                enter(IRQ, 0);
                leave(IRQ, 0, 10);
                enter(TASK, 0);
                leave(TASK, 0, 10);
                expect(KRETPROBE, ".u(2).u(1)");
        }
END_TEST

START_TEST(arguments_of_a_call_that_was_not_recorded_are_no_other_calls)
        {
                begin();
                given(TASK, 1);
                func = F_CHILD;
                enter(TASK, 0);
                leave(TASK, 0, 10);
                func = F_ROOT;
                enter(TASK, 0);
                leave(TASK, 0, 10);
                expect(KRETPROBE, ".i.u");

                begin();
                enter(TASK, 0);
                leave(TASK, 0, 10);
                given(TASK, 1);
                expect(KRETPROBE, ".u");
        }
END_TEST

START_TEST(only_events_of_ours_are_taken)
        {
                _cleanup_recording_ Recording r;
                _cleanup_player_ Player p;
                Values *values;

                ck_assert(values_takes("ftraced", FPROBE));
                ck_assert(values_takes("ftraced", KRETPROBE));
                ck_assert(!values_takes("kprobes", FPROBE));
                ck_assert(!values_takes("ftraced", "ftraced_af63f54c86021707_0_in0"));
                ck_assert(!values_takes("ftraced", "ftraced_af63f54c86021707_f"));
                ck_assert(!values_takes("ftraced", "ftraced_af63f54c86021707_"));
                ck_assert(!values_takes("ftraced", "ftraced_af63_f0"));
                ck_assert(!values_takes("ftraced", "f0"));

                recording_init(&r, layout);
                player_init(&p, &r, layout, "", STEPS_ALL);
                ck_assert_int_eq(values_new(&values, &p.formats, &p.functions), 0);
                ck_assert_int_eq(values_add(values, FPROBE, NULL, "name: it\nID: 3\nformat:\n"),
                                 FORMATS_E_INVALID);
                ck_assert_int_eq(values_add(values, FPROBE, NULL, ""), FORMATS_E_INVALID);
                ck_assert_uint_eq(values_n(values), 0);
                values_free(values);
        }
END_TEST

UNIT_SUITE("values", a_value_before_its_exit_and_one_behind_it_are_joined,
           an_fprobe_that_does_not_tell_its_side_is_joined_all_the_same,
           each_call_of_a_recursion_has_its_own_value,
           a_call_of_a_recursion_whose_value_is_missing_has_none,
           a_value_that_returns_elsewhere_is_not_of_the_call_beside_it,
           an_interrupt_in_between_that_calls_the_same_function_has_its_own,
           an_interrupt_before_the_record_of_an_end_takes_no_value_away,
           an_interrupt_whose_calls_are_not_recorded_gives_no_value_to_the_task,
           a_value_of_a_call_that_was_not_recorded_is_no_other_calls,
           a_value_is_of_its_own_task_whatever_cpu_it_has_come_to,
           steps_behind_one_that_waits_keep_their_order,
           behind_a_loss_nothing_is_joined_with_what_came_before,
           without_its_name_a_function_is_known_from_its_first_value_on,
           an_end_without_a_value_ends_all_the_same,

           arguments_before_an_entry_and_behind_it_are_joined,
           what_handles_a_probe_that_is_a_breakpoint_is_no_call,
           each_call_of_a_recursion_has_its_own_arguments,
           an_interrupt_between_an_entry_and_its_arguments_has_its_own,
           arguments_of_a_call_that_was_not_recorded_are_no_other_calls,
           only_events_of_ours_are_taken)

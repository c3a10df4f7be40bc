/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Streams made by hand, of the records that kernels have been seen to write, and of what could lead astray. */

#include "calls/returns.h"
#include "player.h"

static const Layout *const layout = &layouts[LAYOUT_6_12];

#define PROBE_ID 1529
#define TO_GRAPH 0xffffffff81000280  /* return_to_handler */
#define TO_CALLER 0xffffffff81000110 /* in ip_make_skb */

/* Contexts, as common_flags has them. */
enum { TASK = 0, OFF = 1, IRQ = 1 | 8, SOFTIRQ = 16 };

static const char probe_format[] =
        "name: it\n"
        "ID: 1529\n"
        "format:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        "\n"
        "\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:s32 ret;\toffset:24;\tsize:4;\tsigned:1;\n"
        "\n"
        "print fmt: \"(%lx <- %lx) ret=%d\", REC->__probe_func, REC->__probe_ret_ip, REC->ret\n";

#define FPROBE "ftraced_af63f54c86021707_f0"
#define KRETPROBE "ftraced_af63f54c86021707_r0"

static Page page;
static uint64_t now;
static int32_t pid = 17;
static uint64_t func = F_ROOT;

static void begin(void) {
        now = 100000;
        pid = 17;
        func = F_ROOT;
        page_begin(&page, layout, now);
}

static void put_record(uint16_t id, uint8_t flags, uint8_t record[static 64], size_t n) {
        memcpy(record, &id, sizeof(id));
        record[2] = flags;
        memcpy(record + 4, &pid, sizeof(pid));
        now += 10;
        page_record(&page, now, record, n);
}

static void enter(uint8_t flags, int32_t depth) {
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &depth, 4);
        put_record(layout->entry_id, flags, record, layout->n_entry);
}

static void leave(uint8_t flags, int32_t depth, uint64_t duration_ns) {
        uint64_t end_ns = now + 10, begin_ns = end_ns - duration_ns;
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &depth, 4);
        memcpy(record + 24, &begin_ns, 8);
        memcpy(record + 32, &end_ns, 8);
        put_record(layout->exit_id, flags, record, layout->n_exit);
}

static void value(uint8_t flags, uint64_t to, int32_t v) {
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &to, 8);
        memcpy(record + 24, &v, 4);
        put_record(PROBE_ID, flags, record, 28);
}

/* Steps in short: "{" enters, "." is a leaf, "}" leaves, "!" a loss, "?" another event, the function's first
 * letter, and the value. */
static char *in_short(Player *p) {
        static char text[1024];
        char *t = text;
        Step s;

        *t = 0;
        while (steps_next(p->steps, STREAM_NO_LIMIT, &s) == 1) {
                *t++ = "{.}!?"[s.kind];
                if (s.function)
                        *t++ = s.function->label[0];
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
        Returns *returns;
        const char *got;

        recording_init(&r, layout);
        for (size_t i = 0; i < n; i++)
                recording_add(&r, (uint32_t) i, 0, &pages[i], 1);
        player_init(&p, &r, layout, "17 client\n18 server\n", STEPS_ALL);
        ck_assert_int_eq(returns_new(&returns, &p.formats, p.functions), 0);
        ck_assert_int_eq(returns_add(returns, name, function, probe_format), 0);
        steps_set_returns(p.steps, returns);
        got = in_short(&p);
        ck_assert_msg(strcmp(got, wanted) == 0, "%s: got    %s\nwanted %s", name, got, wanted);
        returns_free(returns);
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
                Returns *returns;
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
                ck_assert_int_eq(returns_new(&returns, &p.formats, p.functions), 0);
                ck_assert_int_eq(returns_add(returns, KRETPROBE, "udp_sendmsg", probe_format), 0);
                steps_set_returns(p.steps, returns);
                ck_assert_str_eq(in_short(&p), ".u!.u2");
                returns_free(returns);
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

START_TEST(only_events_of_ours_are_taken)
        {
                _cleanup_recording_ Recording r;
                _cleanup_player_ Player p;
                Returns *returns;

                ck_assert(returns_takes("ftraced", FPROBE));
                ck_assert(returns_takes("ftraced", KRETPROBE));
                ck_assert(!returns_takes("kprobes", FPROBE));
                ck_assert(!returns_takes("ftraced", "ftraced_af63f54c86021707_0_in0"));
                ck_assert(!returns_takes("ftraced", "ftraced_af63f54c86021707_f"));
                ck_assert(!returns_takes("ftraced", "ftraced_af63f54c86021707_"));
                ck_assert(!returns_takes("ftraced", "ftraced_af63_f0"));
                ck_assert(!returns_takes("ftraced", "f0"));

                recording_init(&r, layout);
                player_init(&p, &r, layout, "", STEPS_ALL);
                ck_assert_int_eq(returns_new(&returns, &p.formats, p.functions), 0);
                ck_assert_int_eq(returns_add(returns, FPROBE, NULL, "name: it\nID: 3\nformat:\n"),
                                 FORMATS_E_INVALID);
                ck_assert_int_eq(returns_add(returns, FPROBE, NULL, ""), FORMATS_E_INVALID);
                ck_assert_uint_eq(returns_n(returns), 0);
                returns_free(returns);
        }
END_TEST

UNIT_MAIN("returns", a_value_before_its_exit_and_one_behind_it_are_joined,
          an_fprobe_that_does_not_tell_its_side_is_joined_all_the_same,
          each_call_of_a_recursion_has_its_own_value,
          a_call_of_a_recursion_whose_value_is_missing_has_none,
          an_interrupt_in_between_that_calls_the_same_function_has_its_own,
          an_interrupt_before_the_record_of_an_end_takes_no_value_away,
          an_interrupt_whose_calls_are_not_recorded_gives_no_value_to_the_task,
          a_value_of_a_call_that_was_not_recorded_is_no_other_calls,
          a_value_is_of_its_own_task_whatever_cpu_it_has_come_to,
          steps_behind_one_that_waits_keep_their_order,
          behind_a_loss_nothing_is_joined_with_what_came_before,
          without_its_name_a_function_is_known_from_its_first_value_on,
          an_end_without_a_value_ends_all_the_same, only_events_of_ours_are_taken)

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Streams made by hand, of the records that kernels have been seen to write, and of what could lead astray. */

#include "calls/values.h"
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

static const char entry_format[] =
        "name: it\n"
        "ID: 1530\n"
        "format:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        "\n"
        "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:u64 a0;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:u64 a1;\toffset:24;\tsize:8;\tsigned:0;\n"
        "\n"
        "print fmt: \"(%lx) a0=0x%Lx a1=0x%Lx\", REC->__probe_ip, REC->a0, REC->a1\n";

#define ENTRY_ID 1530
#define ENTRY "ftraced_af63f54c86021707_e0"
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

static void given(uint8_t flags, uint64_t v) {
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &v, 8);
        put_record(ENTRY_ID, flags, record, 32);
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
        ck_assert_int_eq(values_new(&values, &p.formats, p.functions), 0);
        ck_assert_int_eq(values_add(values, name, function, probe_format), 0);
        ck_assert_int_eq(values_add(values, ENTRY, function, entry_format), 0);
        steps_set_values(p.steps, values);
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
                ck_assert_int_eq(values_new(&values, &p.formats, p.functions), 0);
                ck_assert_int_eq(values_add(values, KRETPROBE, "udp_sendmsg", probe_format), 0);
                steps_set_values(p.steps, values);
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

/* --- a kernel that makes calls at random --------------------------------------------------------- */

typedef struct World {
        unsigned seed;
        bool is_behind;    /* events are behind what they belong to */
        bool is_silent;    /* return addresses tell nothing */
        bool has_args;     /* arguments are recorded, not returns */
        int32_t depth_max; /* the graph has no calls from there on */
        unsigned missed;   /* of 100 calls that the probe misses */
        unsigned n_calls,
                n_told; /* of the probed function that are recorded; of them that have a value */
        bool is_quiet;  /* no interrupts, nothing missed */
} World;

static unsigned dice(World *w, unsigned n) {
        w->seed = w->seed * 1103515245 + 12345;
        return (w->seed >> 16) % n;
}

static void call(World *w, int32_t depth, uint8_t flags);

/* Perhaps, wherever one may come. */
static void interrupt(World *w, int32_t depth, uint8_t flags) {
        if (w->is_quiet || flags & 8 || dice(w, 6) > 0 || page.n_payload > 3000)
                return;
        if (depth < w->depth_max) {
                func = F_LEAF;
                enter(flags | OFF, depth);
                leave(flags | IRQ, depth, 10);
        }
        for (unsigned n = dice(w, 3); n > 0; n--)
                call(w, depth, flags | IRQ);
}

static void tell(World *w, bool is_probed, bool is_recorded, uint8_t flags, int32_t id,
                 bool entry) {
        if (!is_probed || entry != w->has_args)
                return;
        func = F_ROOT;
        if (entry)
                given(flags, (uint64_t) id);
        else
                value(flags, is_recorded && !w->is_behind && !w->is_silent ? TO_GRAPH : TO_CALLER,
                      id);
}

/* A call of the probed function, or of another one; its value is its number, which its duration says, too. */
static void call(World *w, int32_t depth, uint8_t flags) {
        static int32_t id;
        bool is_root = dice(w, 3) > 0, is_recorded = depth < w->depth_max;
        bool is_probed = is_root && (w->is_quiet || dice(w, 100) >= w->missed);
        uint64_t f = is_root ? F_ROOT : F_CHILD;
        int32_t own = ++id;

        w->n_calls += is_root && is_recorded;
        w->n_told += is_probed && is_recorded;
        if (!w->is_behind) {
                tell(w, is_probed, is_recorded, flags, own, true);
                interrupt(w, depth, flags);
        }
        func = f;
        if (is_recorded)
                enter(flags, depth);
        if (w->is_behind) {
                interrupt(w, depth + 1, flags);
                tell(w, is_probed, is_recorded, flags, own, true);
        }
        for (unsigned n = dice(w, 3); n > 0 && depth < 5 && page.n_payload < 2600 && !w->is_quiet;
             n--)
                call(w, depth + 1, flags);
        interrupt(w, depth + 1, flags);
        if (!w->is_behind) {
                tell(w, is_probed, is_recorded, flags, own, false);
                interrupt(w, depth + 1, flags);
        }
        func = f;
        if (is_recorded)
                leave(flags, depth, (uint64_t) own);
        if (w->is_behind) {
                interrupt(w, depth, flags);
                tell(w, is_probed, is_recorded, flags, own, false);
        }
}

/* No value may be another call's; all that were told must be there. */
static void look(const World *w, Player *p) {
        uint64_t of_open[64] = {}, n_told = 0;
        int32_t n_open = 0;
        Step s;

        while (steps_next(p->steps, STREAM_NO_LIMIT, &s) == 1) {
                bool is_root = s.function && s.function->label[0] == 'u';
                uint64_t args = s.kind <= STEP_LEAF && s.n_args > 0 ? s.args[0] : 0;

                if (s.kind == STEP_ENTER) {
                        ck_assert_int_lt(n_open, 64);
                        of_open[n_open++] = args;
                } else if (s.kind == STEP_LEAVE)
                        args = of_open[--n_open];
                if (s.kind == STEP_ENTER || s.kind > STEP_LEAVE)
                        continue;
                ck_assert(is_root || (args == 0 && !s.has_retval));
                if (args > 0)
                        ck_assert_uint_eq(args, step_duration_ns(&s));
                if (s.has_retval)
                        ck_assert_uint_eq(s.retval, step_duration_ns(&s));
                n_told += args > 0 || s.has_retval;
        }
        ck_assert_int_eq(n_open, 0);
        ck_assert_uint_eq(n_told, w->n_told);
}

static void live(unsigned seed, unsigned how) {
        World w = { .seed = seed,
                    .is_behind = how & 1,
                    .is_silent = how & 2,
                    .has_args = how & 4,
                    .depth_max = how & 8 ? 3 : 100,
                    .missed = how & 16 ? 20 : 0 };
        _cleanup_recording_ Recording r;
        _cleanup_player_ Player p;
        Values *values;

        begin();
        w.is_quiet = true; /* on which side they are must have been seen */
        while (w.n_told < 2)
                call(&w, 0, TASK);
        w.is_quiet = false;
        while (page.n_payload < 2600)
                call(&w, 0, dice(&w, 4) == 0 ? SOFTIRQ : TASK);
        recording_init(&r, layout);
        recording_add(&r, 0, 0, &page, 1);
        player_init(&p, &r, layout, "17 client\n", STEPS_ALL);
        ck_assert_int_eq(values_new(&values, &p.formats, p.functions), 0);
        ck_assert_int_eq(
                values_add(values, w.is_silent ? FPROBE : KRETPROBE, "udp_sendmsg", probe_format),
                0);
        ck_assert_int_eq(values_add(values, ENTRY, "udp_sendmsg", entry_format), 0);
        steps_set_values(p.steps, values);
        look(&w, &p);
        values_free(values);
}

START_TEST(whatever_interrupts_whom_no_value_is_another_calls_and_none_is_missing)
        {
                for (unsigned seed = 1; seed <= 10; seed++)
                        for (unsigned how = 0; how < 32; how++) {
                                bool is_short = how & 8, has_missed = how & 16;

                                /* Where one is missed, and the next below it not recorded, and nothing
                                 * tells their side, nothing can tell them apart. */
                                if (!is_short || !has_missed || !(how & (2 | 4)))
                                        live(seed * 7919 + how, how);
                        }
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
                ck_assert_int_eq(values_new(&values, &p.formats, p.functions), 0);
                ck_assert_int_eq(values_add(values, FPROBE, NULL, "name: it\nID: 3\nformat:\n"),
                                 FORMATS_E_INVALID);
                ck_assert_int_eq(values_add(values, FPROBE, NULL, ""), FORMATS_E_INVALID);
                ck_assert_uint_eq(values_n(values), 0);
                values_free(values);
        }
END_TEST

UNIT_MAIN("values", a_value_before_its_exit_and_one_behind_it_are_joined,
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
          an_end_without_a_value_ends_all_the_same,
          whatever_interrupts_whom_no_value_is_another_calls_and_none_is_missing,
          arguments_before_an_entry_and_behind_it_are_joined,
          each_call_of_a_recursion_has_its_own_arguments,
          an_interrupt_between_an_entry_and_its_arguments_has_its_own,
          arguments_of_a_call_that_was_not_recorded_are_no_other_calls,
          only_events_of_ours_are_taken)

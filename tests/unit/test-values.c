/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Streams made by hand, of the records that kernels have been seen to write, and of what could lead astray. */

#include "value-stream.h"

/*
 * A stream is words, one a record 10 ns after the last: a function's first letter (udp_sendmsg, ip_make_skb, kfree,
 * do_debug_exception, copy_from_kernel_nofault), before it "!" if interrupts are off, "^" in one, "~" in a softirq,
 * behind it
 *
 *      {       it begins               }20     it ends, and says that it took 20 ns
 *      [       a probe of it has the stack taken     ]  which is this, and has udp_sendmsg; ]0: has not; ]8: where it begins
 *      (7      its first argument      =g-90   it returns that to the graph, =c to its caller, =s into itself
 *
 * and "@18" another task, "+1000" time that goes by, "|" the next page, "|3" one before which so many were lost.
 * A call is one level below what is open in its task, or at the level that "i1{" says.
 */
static size_t stream(Page pages[static 2], const char *words) {
        int32_t depths[2] = {};
        uint32_t n_missed = 0;
        size_t n = 0;

        begin();
        for (const char *w = words; *w; w += strcspn(w, " "), w += strspn(w, " ")) {
                int32_t *depth = &depths[pid - 17];
                uint8_t flags = *w == '!' ? OFF : *w == '^' ? IRQ : *w == '~' ? SOFTIRQ : TASK;
                const char *what = w + (flags != TASK);
                long number;

                if (*w == '@' || *w == '+' || *w == '|') {
                        number = strtol(w + 1, NULL, 10);
                        pid = *w == '@' ? (int32_t) number : pid;
                        now += *w == '+' ? (uint64_t) number : 0;
                        if (*w != '|')
                                continue;
                        pages[n++] = page;
                        page_begin(&page, layout, now);
                        n_missed = (uint32_t) number;
                        continue;
                }
                func = *what == 'u'   ? F_ROOT
                       : *what == 'i' ? F_CHILD
                       : *what == 'k' ? F_LEAF
                       : *what == 'c' ? F_READER
                                      : F_BREAK;
                what++;
                if (*what >= '0' && *what <= '9')
                        *depth = *what++ - '0';
                number = strtol(what + 1 + (*what == '='), NULL, 10);
                if (*what == '{')
                        enter(flags, (*depth)++);
                else if (*what == '}')
                        leave(flags, *depth = MAX(*depth - 1, 0), (uint64_t) number);
                else if (*what == '(')
                        given(flags, (uint64_t) number);
                else if (*what == '[')
                        stacked(flags);
                else if (*what == '>')
                        user_stack(flags, 3, (uint64_t[]){ 0x1004, 0x2014, 0x9000 });
                else if (*what == ']')
                        stack(flags, what[1] == '0' ? 1 : 4,
                              (uint64_t[]){ F_BREAK, F_ROOT + (what[1] == '8' ? 0 : 4),
                                            F_CHILD + 16, F_LEAF + 8 });
                else
                        value(flags,
                              what[1] == 'g'   ? TO_GRAPH
                              : what[1] == 'c' ? TO_CALLER
                                               : TO_ITSELF,
                              (int32_t) number);
        }
        if (n_missed > 0)
                page_set_missed(&page, n_missed);
        pages[n++] = page;
        return n;
}

/* Steps in short: "{" enters, "." is a leaf, "}" leaves, "!" a loss, the function's first letter, its first argument
 * and its value; "?" an event, and what it tells of callers. */
static char *in_short(Player *p) {
        static char text[1024];
        char *t = text;
        Step s = {};

        *t = 0;
        while (s.callers = NULL, steps_next(&p->steps, STREAM_NO_LIMIT, &s) == 1) {
                *t++ = "{.}!?"[s.kind];
                if (s.function)
                        *t++ = s.function->label[0];
                if (s.kind <= STEP_LEAF && s.n_args > 0)
                        t += sprintf(t, "(%llu)", (unsigned long long) s.args[0]);
                if (s.kind <= STEP_LEAF && s.object)
                        t += sprintf(t, "<%s>", object_text(s.object));
                if (s.kind != STEP_ENTER && s.kind <= STEP_LEAVE && s.has_retval)
                        t += sprintf(t, "%lld", (long long) s.retval);
                if (s.callers)
                        t += sprintf(t, "[%s]", s.text);
                *t = 0;
        }
        return text;
}

static const char *given_format = entry_format;

static void expect(const char *words, const char *name, const char *function, const char *wanted) {
        RECORDING(r, layout);
        _cleanup_player_ Player p;
        Values *values;
        const char *got;
        Page pages[2];
        size_t n = stream(pages, words);

        if (strstr(words, "|3")) /* of one CPU */
                recording_add(&r, 0, 0, pages, n);
        else
                for (size_t i = 0; i < n; i++)
                        recording_add(&r, (uint32_t) i, 0, &pages[i], 1);
        player_init(&p, &r, layout, "17 client\n18 server\n", STEPS_ALL);
        ck_assert_int_eq(values_new(&values, &p.formats, &p.functions), 0);
        ck_assert_int_eq(values_add(values, name, function, probe_format), 0);
        ck_assert_int_eq(values_add(values, ENTRY, function, given_format), 0);
        p.steps.values = values;
        got = in_short(&p);
        ck_assert_msg(streq(got, wanted), "%s, %s: got    %s\nwanted %s", words, name, got, wanted);
        values_free(values);
}

/* What probes tell of a stream: both kinds, or one of them. */
typedef struct Case {
        const char *words, *wanted;
        const char *only;
} Case;

static void check(const Case *cases, size_t n) {
        for (size_t i = 0; i < n; i++) {
                if (!cases[i].only || streq(cases[i].only, FPROBE))
                        expect(cases[i].words, FPROBE, "udp_sendmsg", cases[i].wanted);
                if (!cases[i].only || streq(cases[i].only, KRETPROBE))
                        expect(cases[i].words, KRETPROBE, "udp_sendmsg", cases[i].wanted);
        }
}

TEST(values_before_their_exits_and_behind_them_are_joined) {
        static const Case cases[] = {
                { "u{ u=g-90 u}20 u{ i{ i}10 u=g5 u}40", ".u-90{u.i}u5", NULL },
                { "u{ u}20 !u=c-90 u{ i{ i}10 u}40 !u=c5", ".u-90{u.i}u5", NULL },
                /* An fprobe may not tell its side. */
                { "u{ u=c0 u}20 u{ u=c1 u}20 u{ u=c2 u}20", ".u0.u1.u2", FPROBE },
                { "u{ i{ i}10 u}40", "{u.i}u", KRETPROBE },
                { "u=g1", "", KRETPROBE },
        };

        check(cases, ELEMENTSOF(cases));
}

TEST(each_call_of_a_recursion_has_its_own_value) {
        static const Case cases[] = {
                { "u{ u{ u=g1 u}20 u=g2 u}50", "{u.u1}u2", KRETPROBE },
                { "u{ u{ u}10 u=c1 u}40 u=c2", "{u.u1}u2", NULL },
                /* Once it has been seen on which side they are. */
                { "u{ u=c0 u}20 u{ u{ u=c1 u}20 u=c2 u}50", ".u0{u.u1}u2", FPROBE },
                /* What is missing is missing. */
                { "u{ u{ u}10 u=g2 u}40", "{u.u}u2", KRETPROBE },
                { "u{ u{ u}10 u}40 u=c2", "{u.u}u2", KRETPROBE },
                { "u{ u{ u=g1 u}20 u}40", "{u.u1}u", KRETPROBE },
        };

        check(cases, ELEMENTSOF(cases));
}

TEST(a_value_that_returns_elsewhere_is_not_of_the_call_beside_it) {
        static const Case cases[] = {
                /* What udp_sendmsg calls itself was not recorded, and the outer one's value was missed. */
                { "u{ u=s1 u}20", ".u", NULL },
                /* The inner one's value was missed, and the outer one's is before its own exit. */
                { "i{ u{ u{ u}10 u=c2 u}40 i}70", "{i{u.u}u2}i", FPROBE },
                /* As before, but that both have theirs. */
                { "i{ u{ u{ u=s1 u}10 u=c2 u}40 i}70", "{i{u.u1}u2}i", FPROBE },
        };

        check(cases, ELEMENTSOF(cases));
}

TEST(an_interrupt_in_between_has_its_own) {
        static const Case cases[] = {
                /* kfree before it says that it is in an interrupt */
                { "u{ u=g1 !k{ ^k}10 ^u{ ^u=g2 ^u}20 u}80", "{u.k.u2}u1", KRETPROBE },
                { "u{ u}10 !k{ ^k}10 ^u{ ^u}10 ^u=c2 u=c1 u{ u}10 u=c3", ".u1.k.u2.u3", KRETPROBE },
                /* before the record of an end */
                { "u{ u=g1 +1000 u}30", ".u1", NULL },
                /* whose calls are not recorded */
                { "u{ ^u=c2 ~u=c3 u}30 u=c1", ".u1", NULL },
        };

        check(cases, ELEMENTSOF(cases));
}

TEST(a_value_of_a_call_that_was_not_recorded_is_no_other_calls) {
        static const Case cases[] = {
                /* Only slow ones are recorded, and of these the ends. */
                { "u=g1 u=g2 u}15 u=g3 +1000 u}500", "}u2}u", KRETPROBE },
                { "u=c1 +1000 u}500 u=c2 u=c3 u}5 u=c4", "}u2}u4", NULL },
                /* Below it something else was called since. */
                { "u{ u=g1 i{ i}10 u}40", "{u.i}u", KRETPROBE },
                { "u{ u}10 i{ i}10 u=c1", ".u.i", KRETPROBE },
        };

        check(cases, ELEMENTSOF(cases));
}

TEST(a_value_is_of_its_own_task_and_steps_keep_their_order) {
        static const Case cases[] = {
                { "u{ u}10 @18 u{ u}10 u=c8 @17 | u=c7", ".u7.u8", KRETPROBE },
                { "u{ u}10 @18 i{ i}10 i{ i}10 i{ i}10 i{ i}10 @17 u=c7", ".u7.i.i.i.i",
                  KRETPROBE },
                /* behind a loss */
                { "u{ u}10 |3 u=c1 u{ u}10 u=c2", ".u!.u2", KRETPROBE },
        };

        check(cases, ELEMENTSOF(cases));
        /* Without its name a function is known from its first value on. */
        expect("u{ u}10 u=c1 u{ u}10 u=c2 u{ u}10 u=c3", KRETPROBE, NULL, ".u.u2.u3");
}

TEST(arguments_before_an_entry_and_behind_it_are_joined) {
        static const Case cases[] = {
                { "u(1 u{ u=g5 u}20 u(2 u{ i{ i}10 u}40", ".u(1)5{u(2).i}u", KRETPROBE },
                { "u{ u(1 u}20 u=c5 u{ u(2 i{ i}10 u}40 u=c6", ".u(1)5{u(2).i}u6", KRETPROBE },
                /* Each call of a recursion has its own; once it has been seen on which side they are. */
                { "u{ u(1 u{ u(2 u}20 u}50", "{u(1).u(2)}u", KRETPROBE },
                { "u(0 u{ u}20 u(1 u{ u(2 u{ u{ u}10 u}30 u}60", ".u(0){u(1){u(2).u}u}u",
                  KRETPROBE },
                /* An interrupt has its own. */
                { "u{ !k{ ^k}10 ^u{ ^u(2 ^u}20 u(1 u}90", "{u(1).k.u(2)}u", KRETPROBE },
                { "u(1 ^u(2 ^u{ ^u}10 u{ u}10", ".u(2).u(1)", KRETPROBE },
                /* Those of a call that was not recorded are no other call's. */
                { "u(1 i{ i}10 u{ u}10", ".i.u", KRETPROBE },
                { "u{ u}10 u(1", ".u", KRETPROBE },
        };

        check(cases, ELEMENTSOF(cases));
}

TEST(objects_are_joined_as_arguments_are) {
        static const Case cases[] = {
                { "u(1 u{ u=g5 u}20 u(2 u{ i{ i}10 u}40", ".u<n=1>5{u<n=2>.i}u", KRETPROBE },
                { "u{ u(1 u}20 u=c5 u{ u(2 i{ i}10 u}40 u=c6", ".u<n=1>5{u<n=2>.i}u6", KRETPROBE },
                { "u{ u(1 u{ u(2 u}20 u}50", "{u<n=1>.u<n=2>}u", KRETPROBE },
                { "u{ !k{ ^k}10 ^u{ ^u(2 ^u}20 u(1 u}90", "{u<n=1>.k.u<n=2>}u", KRETPROBE },
                { "u(1 ^u(2 ^u{ ^u}10 u{ u}10", ".u<n=2>.u<n=1>", KRETPROBE },
                { "u(1 i{ i}10 u{ u}10", ".i.u", KRETPROBE },
                { "u(1 u(2 u{ u}10 u{ |3 u(3 u}10", ".u<n=2>{u!}u", KRETPROBE },
                /* It is there until what waits behind another task's has gone. */
                { "u{ u(1 u}10 @18 u{ u(2 u}10 u=c8 @17 | u=c7", ".u<n=1>7.u<n=2>8", KRETPROBE },
        };

        given_format = object_format;
        check(cases, ELEMENTSOF(cases));
        /* How its fields are read is no part of it; what an interrupt does meanwhile is. */
        expect("u{ c{ k{ k}5 c}9 u(1 c{ ^k{ ^k}5 c}9 i{ i}10 c{ c}9 u}90", KRETPROBE, "udp_sendmsg",
               "{u<n=1>.k.i.c}u");
        expect("u{ c{ u(1 i1{ i}10 u}90", KRETPROBE, "udp_sendmsg", "{u<n=1>.i}u");
        expect("i{ c{ c}9 i}90", KRETPROBE, "udp_sendmsg", "{i.c}i");
        given_format = both_format;
        expect("u(1 u{ u}20 u{ u(2 u}20", KRETPROBE, "udp_sendmsg", ".u(1)<n=0>.u");
        given_format = entry_format;
}

TEST(what_handles_a_probe_that_is_a_breakpoint_is_no_call) {
        /* The end of the third is lost. */
        static const char words[] =
                "u{ !d{ !k{ !k}10 !i(7 !d}60 !d{ !d}10 i{ i}10 !d{ !k{ i1{ i}10 u}200";

        expect(words, KRETPROBE, "ip_make_skb", "{u.i(7).i}u");
        expect(words, FPROBE, "ip_make_skb", "{u{d.k}d.d.i{d{k.i}u");
}

/* Names a byte by its place in the file; what is at 0x13 there hides its caller. */
static void name_frame(void *userdata, const SpacePlace *place, ProgramFrame *frame) {
        static char name[32];

        if (!place->file)
                return;
        frame->n_name =
                (size_t) snprintf(name, sizeof(name), "f%llx", (unsigned long long) place->at);
        frame->name = name;
        frame->hides_caller = place->at == 0x13;
}

static void expect_program(const char *words, bool has_kernel_stacks, const char *wanted) {
        RECORDING(r, layout);
        _cleanup_player_ Player p;
        _cleanup_(foreign_freep) Foreign *foreign = NULL;
        _cleanup_(spaces_freep) Spaces *spaces = NULL;
        _cleanup_(program_stacks_freep) ProgramStacks *stacks = NULL;
        Values *values;
        Page pages[2];
        size_t n = stream(pages, words);
        const char *got;

        recording_add(&r, 0, 0, pages, n);
        player_init(&p, &r, layout, "17 client\n", STEPS_ALL);
        ck_assert_int_eq(foreign_new(&foreign, false), 0);
        ck_assert_int_eq(foreign_add(foreign, "ftrace", stack_format), 0);
        ck_assert_int_eq(foreign_add(foreign, "ftrace", user_stack_format), 0);
        ck_assert_int_eq(spaces_new(&spaces, &p.formats), 0);
        ck_assert_int_eq(spaces_load(spaces, "look 0 1\nprocess 5\nmap 1000-2000 0 8:1 7 - /bin/a\n"
                                             "map 2000-3000 0 8:1 8 - /lib/b\n"),
                         0);
        ck_assert_int_eq(program_stacks_new(&stacks, spaces), 0);
        stacks->naming.name = name_frame;
        ck_assert_int_eq(values_new(&values, &p.formats, &p.functions), 0);
        ck_assert_int_eq(values_add(values, STACKED, "udp_sendmsg", stacked_format), 0);
        values_set_program_stacks(values, has_kernel_stacks, false);
        p.steps.values = values;
        p.steps.foreign = foreign;
        p.steps.spaces = spaces;
        p.steps.stacks = stacks;
        got = in_short(&p);
        ck_assert_msg(streq(got, wanted), "%s: got    %s\nwanted %s", words, got, wanted);
        values_free(values);
}

TEST(a_programs_stack_directly_behind_the_probe_is_the_roots) {
#define PROGRAM "?[stack: [unknown] < ... < f13 [b] < f4 [a]]"
        expect_program("u{ u[ u> u}20", false, "{u" PROGRAM "}u");
        expect_program("u{ u[ u> k{ k}10 u}20", false, "{u" PROGRAM ".k}u");
        /* Others have some, too. */
        expect_program("u{ u> u}20", false, "{u}u");
        expect_program("u{ u[ u> u> u}20", false, "{u" PROGRAM "}u");
        expect_program("u{ u[ k{ k}10 u> u}20", false, "{u.k}u");
        expect_program("u{ u[ |3 u> u}20", false, "{u!}u");
        /* An interrupt in between does not matter; what it interrupts has not called it. */
        expect_program("u{ u[ !k{ !k}10 u> u}20", false, "{u.k" PROGRAM "}u");
        expect_program("u{ ^u{ ^u[ ^u> ^u}5 u}20", false, "{u{u}u}u");
        /* Before the kernel's, for which something is called. */
        expect_program("u{ u[ u> k{ k}10 u] k{ k}10 u}90", true,
                       "{u" PROGRAM "?[callers: kfree < ip_make_skb].k}u");
#undef PROGRAM
}

static void expect_stack(const char *words, const char *wanted) {
        RECORDING(r, layout);
        _cleanup_player_ Player p;
        _cleanup_(foreign_freep) Foreign *foreign = NULL;
        Values *values;
        Page pages[2];
        size_t n = stream(pages, words);
        const char *got;

        recording_add(&r, 0, 0, pages, n);
        player_init(&p, &r, layout, "17 client\n18 server\n", STEPS_ALL);
        ck_assert_int_eq(foreign_new(&foreign, false), 0);
        ck_assert_int_eq(foreign_add(foreign, "ftrace", stack_format), 0);
        ck_assert_int_eq(values_new(&values, &p.formats, &p.functions), 0);
        ck_assert_int_eq(values_add(values, STACKED, "udp_sendmsg", stacked_format), 0);
        p.steps.values = values;
        p.steps.foreign = foreign;
        got = in_short(&p);
        ck_assert_msg(streq(got, wanted), "%s: got    %s\nwanted %s", words, got, wanted);
        values_free(values);
}

TEST(a_stack_behind_its_probe_tells_who_called) {
#define CALLERS "?[callers: kfree < ip_make_skb]"
        expect_stack("u{ u[ u] u}20", "{u" CALLERS "}u");
        expect_stack("u[ u] u{ i{ i}10 u}90", CALLERS "{u.i}u");
        expect_stack("u[ u]8 u{ i{ i}10 u}90", CALLERS "{u.i}u");
        /* What the kernel calls meanwhile is its own, what interrupts it is not. */
        expect_stack("u{ u[ k{ k}10 u] k{ k}10 u}90", "{u" CALLERS ".k}u");
        expect_stack("u{ u[ !k{ !k}10 u] u}90", "{u.k" CALLERS "}u");
        /* It never comes, or is lost, another task's, or of something else. */
        expect_stack("u{ u[ k{ k}10 u}90 k{ k}10", "{u}u.k");
        expect_stack("u{ u[ |3 k{ k}10 u}90", "{u!.k}u");
        expect_stack("u{ u[ @18 u] @17 u] u}90", "{u?" CALLERS "}u");
        expect_stack("u{ u[ u]0 u}90", "{u?}u");
        expect_stack("u{ u] u}90", "{u?}u");
        /* An interrupt that calls the root, too, has its own; and nothing is hidden for long. */
        expect_stack("u{ u[ ^u{ ^u[ ^u] ^u}5 k{ k}10 u] u}90",
                     "{u{u" CALLERS "}u" CALLERS "}u");
        expect_stack("u{ u[ u]0 k{ k}10 u] u}90", "{u?" CALLERS "}u");
        expect_stack("u{ u[ k{ k}10 +2000000000 k{ k}10 u}90", "{u.k}u");
}

TEST(only_events_of_ours_are_taken) {
        static const char *const others[] = { "ftraced_af63f54c86021707_0_in0",
                                              "ftraced_af63f54c86021707_f",
                                              "ftraced_af63f54c86021707_", "ftraced_af63_f0",
                                              "f0" };
        Values *values;

        ck_assert(values_takes("ftraced", FPROBE) && values_takes("ftraced", KRETPROBE));
        ck_assert(values_takes("ftraced", STACKED));
        ck_assert(!values_takes("kprobes", FPROBE));
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                ck_assert_msg(!values_takes("ftraced", others[i]), "%s", others[i]);
        ck_assert_int_eq(values_new(&values, NULL, NULL), 0);
        ck_assert_int_eq(values_add(values, FPROBE, NULL, "name: it\nID: 3\nformat:\n"),
                         FORMATS_E_INVALID);
        ck_assert_int_eq(values_add(values, FPROBE, NULL, ""), FORMATS_E_INVALID);
        ck_assert_uint_eq(values_n(values), 0);
        values_free(values);
}

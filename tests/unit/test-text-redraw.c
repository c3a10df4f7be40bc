/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Texts become steps and texts again, byte for byte; files and cut ones in system/test-texts.sh. */

#include "render/renderer.h"
#include "text-file.h"

static bool has_colours;

/* The caller frees what is drawn. */
static char *redraw(TextTrace *t) {
        const TextLayout *l = text_trace_layout(t);
        const Renderer *r = l->kind == TEXT_GRAPH ? &renderer_kernel : &renderer_indent;
        RenderContext context = { .options = RENDER_OPTIONS_DEFAULT, .heading = l->heading };
        _cleanup_buf_ Buf out = BUF_INIT;
        Step step;
        void *k;

        context.options.header = l->has_header;
        context.options.verbatim = true;
        context.options.colour = has_colours;
        ck_assert_int_eq(r->new (&k, &context, &out), 0);
        while (text_trace_next(t, &step) > 0)
                r->step(k, &step);
        r->free(k);
        return TEXT_OF(out);
}

#define RULE " ------------------------------------------\n"
#define CHANGE(tasks) RULE tasks "\n" RULE "\n"
#define WIDE "\\x98\\x99\\x9a\\x9b\\x9c\\x9d\\x9e-16140"

/* clang-format off */
static const char *const texts[] = {
        /* all columns are drawn again */
        "# tracer: function_graph\n"
        "#\n"
        "#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n"
        "#      |          |     |    |           |   |                     |   |   |   |\n"
        " 1002.123456 |    0)    cat-1234    |               |  f() {\n"
        " 1002.123457 |    0)    cat-1234    |   0.500 us    |    g [mod]();\n"
        " 1002.123459 |    0)    cat-1234    |   1.500 us    |  }\n"
        " 1002.123460 |   12)    <idle>-0    | # 1348.772 us |  h();\n",
        " 0)    cat-1234    |  d..1. |   0.500 us    |  f();\n"
        " 0)    cat-1234    |  ...1. |               |  f() {\n"
        " 0)    cat-1234    |  d.h1. | ! 129.316 us  |  }\n",
        /* columns may be missing */
        " 0) f() {\n"
        " 0)   g();\n"
        " 0) }\n",
        "              |  f() {\n"
        "  0.100 us    |    g();\n"
        "# 1348.772 us |  }\n",
        /* marks of old kernels and none are kept */
        " 0)               |  f() {\n"
        " 0) ! 2000.123 us |    g();\n"
        " 0)   50.000 us   |    h();\n"
        " 0) ! 2345.678 us |  }\n",
        /* columns of durations are as wide as they were */
        /* 3.x, funcslower, a mailer's; behind a bar without blanks nobody knows the depth */
        " 0)               |  f() {\n"
        " 0) ! 1000131 us |    g();\n"
        " 0) ! 12202.93 us |    g();\n"
        " 0)    |    h() {\n"
        " 0) 1.3 ms |      g();\n"
        " 0)    |      /* e: a=b */\n"
        " 0)     0.5 us  |    }\n"
        " 0) $ 2000131 us |  }\n",
        /* what is not as a kernel has it is kept verbatim */
        "# tracer: function_graph\n"
        "#\n"
        "# CPU  TASK/PID     DURATION            FUNCTION CALLS\n"
        "# |     |    |       |   |                 |   |\n"
        " 0)   cat-1  |   1000131 us |  f();\n"
        " 0)   cat-1  | ! 12202.93 us |  f();  \n"
        " 0)   cat-1  | 1.3 ms | f() {\n"
        " 0)   cat-1  |          | /* e: a=b */ \n"
        " 0)   cat-1  | 3 us| } /* f() */\n"
        " 0)   cat-1  |   0.1 us  |  g(); // slow\n",
        " 1)   0.100 us    |  a();\n"
        CHANGE(" 1)  cat-123  =>  bash-9")
        " 1)   0.100 us    |  b();\n",
        /* values and names behind calls are kept */
        " 0)               |  f(sk=0x1, msg=0x2, len=0x40) {\n"
        " 0)   0.100 us    |    g(); /* = 0x40 */\n"
        " 0)   0.100 us    |    g [m](a=?0x1); /* <-f+0x12/0x34 ret=-11 */\n"
        " 0)               |    h() { /* <-f+0x12/0x34 */\n"
        " 0)   0.100 us    |    } /* h */\n"
        " 0)   0.100 us    |  } /* f [m] ret=0x0 */\n",
        /* interrupts events losses and overruns are kept */
        " 0)               |  f() {\n"
        " 0)   ==========> |\n"
        " 0)               |    irq() {\n"
        " 0)               |      /* sched_waking: comm=a b pid=3 */\n"
        " 0)   0.100 us    |    }\n"
        " 0)   <========== |\n"
        "CPU:0 [LOST 12 EVENTS]\n"
        "CPU:1 [LOST EVENTS]\n"
        " 0)   0.100 us    |  }\n"
        " (Overruns: 3)\n",
        /* names that were made plain are kept */
        " 0) " WIDE " |   0.100 us    |  a();\n"
        CHANGE(" 0) " WIDE " =>  \\x1b[31mab-9 ")
        " 0)  \\x1b[31mab-9  |   0.100 us    |  b();\n",
        "     0 \\x98\\x99\\x9a\\x9b\\x9c(16140): -> a\n"
        "     1 \\x98\\x99\\x9a\\x9b\\x9c(16140): <- a\n",
        /* changes of tasks are kept */
        " 1)               |  a() {\n"
        " 0)   0.100 us    |  c();\n"
        CHANGE(" 1)    cat-123     =>     bash-9    ")
        " 1)   0.100 us    |  b();\n"
        CHANGE(" 1)     bash-9     =>    cat-123    ")
        " 1)   1.000 us    |  }\n",
        /* changes of tasks of unsaid cpus are kept */
        "   cat-123     |               |  a() {\n"
        "   <idle>-0    |   0.100 us    |  c();\n"
        CHANGE(" 1)    cat-123     =>     bash-9    ")
        "    bash-9     |               |  b() {\n"
        "   <idle>-0    |   0.100 us    |  c();\n"
        CHANGE(" 0)    <idle>-0    =>    cat-123    ")
        "   cat-123     |   ==========> |\n"
        "   cat-123     |               |    irq() {\n"
        "    bash-9     |   1.000 us    |  }\n"
        CHANGE(" 1)     bash-9     =>    <idle>-0   ")
        "   <idle>-0    |               |  /* sched_waking: comm=a */\n"
        "   cat-123     |   0.100 us    |    }\n"
        "   cat-123     |   <========== |\n"
        "   cat-123     |   1.000 us    |  }\n",
        /* changes of tasks are kept without columns */
        "  0.100 us    |  a();\n"
        CHANGE(" 1)    <idle>-0    =>   rcu_pre-18  ")
        "  0.100 us    |  b();\n"
        "              |  c() {\n"
        CHANGE(" 0)   rcu_pre-18   =>    <idle>-0   ")
        "  0.100 us    |    d();\n"
        "  0.300 us    |  }\n",
        "# tracer: function_graph\n"
        "#\n"
        "#               FUNCTION CALLS\n"
        "#               |   |   |   |\n"
        "a() {\n"
        CHANGE(" 1)    <idle>-0    =>   rcu_pre-18  ")
        "  b();\n"
        "}\n",
        /* changes of tasks that do not fit are kept */
        /* names that nobody has, twice the same task, none where one is missing, at the * beginning and for another CPU */
        CHANGE(" 0)     abc-7      =>     def-8    ")
        " 0)    cat-123     |   0.100 us    |  a();\n"
        CHANGE(" 0)     xyz-3      =>    dog-124    ")
        " 0)    cat-124     |   0.100 us    |  b();\n"
        CHANGE(" 0)    cat-124     =>    cat-124    ")
        " 0)    cat-124     |   0.100 us    |  c();\n"
        " 0)    cow-125     |   0.100 us    |  d();\n"
        CHANGE(" 1)    cow-125     =>    cat-124    ")
        " 0)    cow-125     |   0.100 us    |  e();\n"
        " 1)    cat-124     |   0.100 us    |  f();\n",
        " 0)   0.100 us    |  a();\n"
        CHANGE(" 0)    cat-124     =>    cat-124    ")
        " 0)   0.100 us    |  b();\n"
        CHANGE(" 0)    cow-125     =>    dog-126    ")
        " 0)   0.100 us    |  c();\n",
        " 0)   0.100 us    |  a();\n"
        "------------------------------------------\n"
        "0)  cat-124  =>  dog-126\n"
        "------------------------------------------\n"
        " 0)   0.100 us    |  b();\n",
        /* a task may change its name */
        " 0)     sh-123     |   0.100 us    |  a();\n"
        " 0)    cat-123     |   0.100 us    |  a();\n"
        CHANGE(" 0)     sh-123     =>    <idle>-0   ")
        " 0)    <idle>-0    |   0.100 us    |  b();\n"
        CHANGE(" 0)    <idle>-0    =>    dog-123    ")
        " 0)    cow-123     |   0.100 us    |  a();\n",
        /* marks of interrupts are kept where they are */
        " 0)   <========== |\n"
        " 0)   ==========> |\n"
        " 0)   0.100 us    |  irq();\n"
        " 0)    <==========  |\n"
        " 0)               |  f() {\n"
        " 0)   <========== |\n"
        " 0)   0.100 us    |  }\n"
        " (Overruns: 1)\n"
        " 0)   <========== |\n"
        " (Overruns: 2)\n"
        " 0)               |  f() {\n",
        /* headings of a latency format are kept */
        "# tracer: function_graph\n"
        "#\n"
        "# function_graph latency trace v1.1.5 on 6.12.117+deb12-amd64\n"
        "# --------------------------------------------------------------------\n"
        "# latency: 0 us, #1/1, CPU#0 | (M:desktop VP:0, KP:0, SP:0 HP:0 #P:2)\n"
        "#    -----------------\n"
        "#    | task: -0 (uid:0 nice:0 policy:0 rt_prio:0)\n"
        "#    -----------------\n"
        "#\n"
        "#  _-----=> irqs-off        \n"
        "# / _----=> need-resched    \n"
        "#| / _---=> hardirq/softirq \n"
        "#|| / _--=> preempt-depth   \n"
        "#||| /                      \n"
        "#||||     DURATION                  FUNCTION CALLS\n"
        "#||||      |   |                     |   |   |   |\n"
        " d..1. |   0.100 us    |  f();\n",
        /* durations of any size are kept */
        " 0)   0.000 us    |  f();\n"
        " 0)   10.000 us   |  f();\n"
        " 0) + 10.001 us   |  f();\n"
        " 0) # 1348.772 us |  f();\n"
        " 0) * 10084.89 us |  f();\n"
        " 0) @ 123456.7 us |  f();\n"
        " 0) $ 1234567 us  |  f();\n"
        " 0) $ 123456789 us |  f();\n"
        " 0) $ 18446744073709551 us |  f();\n",
        /* indented texts of all kinds are kept */
        "     0 a(1): -> f\n"
        "1234567 a(1):  -> g\n"
        "     0 a b (c)(2): -> f\n"
        "1234569 a(1):  <- g\n"
        "     3 a b (c)(2): <- f\n"
        "1234570 a(1): <- f\n",
        "     0 a(1):->f sk=0x1\n"
        "     5 a(1): ->g\n"
        "     6 a(1): <-g return=0x0\n"
        "     7 a(1):<-f\n",
        "0 a(1):-> f\n  5 a(1):   -> g\n     6 a(1): <- g  \n7 a(1):<- f\n",
        /* cut at both ends, and an unmatched return */
        "   117 a(1):     <- h\n"
        "   119 a(1):    <- g\n"
        "     0 a(1): <- x\n"
        "     7 a(1): -> f\n"
        "     0 a(1): -> g\n",
};
/* clang-format on */

TEST(lines_are_drawn_again_as_they_were) {
        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(texts[i]);
                _cleanup_free_ char *drawn = redraw(t);

                ck_assert_str_eq(drawn, texts[i]);
        }
}

TEST(a_colour_changes_nothing_else) {
        _cleanup_(text_trace_freep) TextTrace *t =
                trace_of_text(" 0)  a-1  |   1.000 us    |  f();  \n"
                              " 0)  a-1  | + 20.000 us   |  f();  // slow\n"
                              " 0)  a-1  |               |  g() { /* 7 us */\n"
                              " 0)  a-1  |   2000.123 us |  }\n");
        _cleanup_free_ char *drawn = NULL;

        has_colours = true;
        drawn = redraw(t);
        has_colours = false;
        ck_assert_str_eq(drawn, " 0)  a-1  |   1.000 us    |  f();  \n"
                                " 0)  a-1  | \033[33m+ 20.000 us   \033[0m|  f();  // slow\n"
                                " 0)  a-1  |               |  g() { /* 7 us */\n"
                                " 0)  a-1  | \033[1;31m  2000.123 us \033[0m|  }\n");
}

TEST(what_is_behind_the_last_line_is_kept_for_who_asks) {
        static const char rest[] = RULE " 0)    cat-124     =>    dog-126    \n";
        _cleanup_(text_trace_freep) TextTrace *t = NULL;
        _cleanup_free_ char *text = NULL;
        const char *said;
        Step s;
        size_t n;

        ck_assert_int_gt(asprintf(&text, " 0)   0.100 us    |  a();\n%s", rest), 0);
        t = trace_of_text(text);
        while (text_trace_next(t, &s) > 0)
                ;
        said = text_trace_rest(t, &n);
        ck_assert_uint_eq(n, strlen(rest));
        ck_assert_int_eq(memcmp(said, rest, n), 0);
}

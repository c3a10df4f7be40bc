/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The expected texts are the kernel's; whole recordings are compared with it elsewhere. */

#include "render/renderer.h"
#include "step-builder.h"
#include "unit.h"

static bool has_colours;

/* @options: words apart by spaces.  The caller frees. */
static char *draw(const char *options, uint32_t n_cpus, const Step *steps, size_t n) {
        RenderContext context = { .options = RENDER_OPTIONS_DEFAULT, .n_possible_cpus = n_cpus };
        _cleanup_strv_ Strv words = {};
        _cleanup_buf_ Buf out = BUF_INIT;
        void *k;

        context.options.header = false;
        context.options.colour = has_colours;
        ck_assert_int_eq(strv_split(&words, options, " "), 0);
        for (size_t i = 0; i < words.n; i++)
                ck_assert_int_eq(render_option_set(&context.options, words.items[i]), 0);
        ck_assert_int_eq(renderer_kernel.new(&k, &context, &out), 0);
        for (size_t i = 0; i < n; i++)
                renderer_kernel.step(k, &steps[i]);
        renderer_kernel.free(k);
        return TEXT_OF(out);
}

static void expect(const char *options, uint32_t n_cpus, const Step *steps, size_t n,
                   const char *expected) {
        _cleanup_free_ char *text = draw(options, n_cpus, steps, n);

        ck_assert_str_eq(text, expected);
}

#define EXPECT(options, expected, ...)                                                             \
        do {                                                                                       \
                const Step steps_[] = { __VA_ARGS__ };                                             \
                expect(options, 2, steps_, ELEMENTSOF(steps_), expected);                          \
        } while (0)

TEST(the_header_follows_the_columns) {
        expect("header", 2, NULL, 0,
               "# tracer: function_graph\n"
               "#\n"
               "# CPU  DURATION                  FUNCTION CALLS\n"
               "# |     |   |                     |   |   |   |\n");
        expect("header abstime proc", 2, NULL, 0,
               "# tracer: function_graph\n"
               "#\n"
               "#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n"
               "#      |          |     |    |           |   |                     |   |   "
               "|   |\n");
}

TEST(durations_fill_eight_columns) {
        EXPECT("",
               " 0)   0.000 us    |  root();\n"
               " 0)   9.009 us    |  root();\n"
               " 0)   10.000 us   |  root();\n"
               " 0) + 10.001 us   |  root();\n"
               " 0) ! 100.001 us  |  root();\n"
               " 0) # 1348.772 us |  root();\n"
               " 0) * 10084.89 us |  root();\n"
               " 0) @ 123456.7 us |  root();\n"
               " 0) $ 1234567 us  |  root();\n"
               " 0) $ 12345678 us |  root();\n"
               " 0) $ 123456789 us |  root();\n",
               step_leaf(&step_root, 0, 0), step_leaf(&step_root, 0, 9009),
               step_leaf(&step_root, 0, 10000), step_leaf(&step_root, 0, 10001),
               step_leaf(&step_root, 0, 100001), step_leaf(&step_root, 0, 1348772),
               step_leaf(&step_root, 0, 10084899), step_leaf(&step_root, 0, 123456789),
               step_leaf(&step_root, 0, 1234567890), step_leaf(&step_root, 0, 12345678901),
               step_leaf(&step_root, 0, 123456789012));
}

TEST(a_return_time_before_the_call_is_the_kernels_own_nonsense) {
        Step s = step_leaf(&step_root, 0, 0);

        s.calltime = 1;
        EXPECT("", " 0) $ 18446744073709551 us |  root();\n", s);
}

TEST(a_brace_without_its_call_says_whose_it_is) {
        EXPECT("",
               " 0)   0.001 us    |  } /* root */\n"
               " 0)               |  root() {\n"
               " 0)   0.001 us    |  } /* leaf [mod] */\n"
               " 0)   0.001 us    |  } /* root */\n",
               step_leave(&step_root, 0, 1), step_enter(&step_root, 0),
               step_leave(&step_module, 0, 1), step_leave(&step_root, 0, 1));
}

TEST(below_the_kernels_own_array_a_brace_is_bare) {
        const Step steps[] = { step_leave(&step_root, 49, 1), step_leave(&step_root, 50, 1) };
        _cleanup_free_ char *text = draw("", 2, steps, 2);

        ck_assert_ptr_nonnull(strstr(text, "} /* root */\n"));
        ck_assert_ptr_nonnull(strstr(text, "}\n"));
}

TEST(what_is_open_is_known_for_each_cpu_not_for_each_task) {
        Step other_cpu = step_leave(&step_root, 0, 1);
        Step other_task = step_leave(&step_root, 0, 1);

        other_cpu.cpu = 1;
        EXPECT("",
               " 0)               |  root() {\n"
               " 1)   0.001 us    |  } /* root */\n",
               step_enter(&step_root, 0), other_cpu);
        other_task.pid = 17;
        EXPECT("",
               " 0)               |  root() {\n"
               " 0)   0.001 us    |  }\n",
               step_enter(&step_root, 0), other_task);
}

TEST(a_cpu_that_changes_its_task_says_so) {
        Step a = step_leaf(&step_root, 0, 1), b = a, c = a;

        b.pid = 4000000;
        b.comm = "kworker/0:1";
        c.pid = 0;
        c.comm = "<idle>";
        EXPECT("",
               " 0)   0.001 us    |  root();\n"
               " ------------------------------------------\n"
               " 0)   client-17    => kworker-4000000\n"
               " ------------------------------------------\n"
               "\n"
               " 0)   0.001 us    |  root();\n"
               " ------------------------------------------\n"
               " 0) kworker-4000000 =>    <idle>-0   \n"
               " ------------------------------------------\n"
               "\n"
               " 0)   0.001 us    |  root();\n",
               a, b, c);
}

TEST(columns_come_and_go) {
        Step s = step_leaf(&step_root, 0, 20000);

        s.timestamp_ns = 12345678999;
        EXPECT("proc", " 0)   client-17    | + 20.000 us   |  root();\n", s);
        EXPECT("abstime", "   12.345678 |   0) + 20.000 us   |  root();\n", s);
        EXPECT("nocpu", "+ 20.000 us   |  root();\n", s);
        EXPECT("nooverhead", " 0)   20.000 us   |  root();\n", s);
        EXPECT("noduration", " 0) root();\n", s);
        EXPECT("nocpu noduration", "root();\n", s);
        s.kind = STEP_ENTER;
        EXPECT("nocpu noduration", "root() {\n", s);
        EXPECT("tail", " 0)               |  root() {\n 0)   0.001 us    |  } /* root */\n", s,
               step_leave(&step_root, 0, 1));
        EXPECT("overrun", " 0)               |  root() {\n 0)   0.001 us    |  }\n (Overruns: 0)\n",
               s, step_leave(&step_root, 0, 1));
}

TEST(the_cpu_column_is_as_wide_as_the_last_possible_cpu) {
        const Step s = step_leaf(&step_root, 0, 1);

        expect("", 10, &s, 1, " 0)   0.001 us    |  root();\n");
        expect("", 11, &s, 1, "  0)   0.001 us    |  root();\n");
        expect("", 1001, &s, 1, "    0)   0.001 us    |  root();\n");
}

TEST(losses_stand_where_they_happened) {
        Step lost = { .kind = STEP_LOST, .cpu = 12, .n_lost = 2646 };
        Step unknown = { .kind = STEP_LOST };

        EXPECT("", "CPU:12 [LOST 2646 EVENTS]\nCPU:0 [LOST EVENTS]\n", lost, unknown);
}

TEST(events_of_others_are_comments) {
        Step other = step_of(STEP_OTHER, NULL, 0);

        other.event_id = 314;
        EXPECT("",
               " 0)               |  root() {\n"
               " 0)               |  /* event 314 */\n"
               " 0)               |    child() {\n"
               " 0)               |      /* event 314 */\n",
               step_enter(&step_root, 0), other, step_enter(&step_child, 1), other);
}

TEST(events_with_a_known_format_say_what_happened) {
        Step other = step_of(STEP_OTHER, NULL, 0);

        other.text = "softirq_entry: vec=3 [action=NET_RX]";
        EXPECT("",
               " 0)               |  /* softirq_entry: vec=3 [action=NET_RX] */\n"
               " 0)               |  root() {\n"
               " 0)   0.001 us    |    child();\n"
               " 0)               |  /* softirq_entry: vec=3 [action=NET_RX] */\n",
               other, step_enter(&step_root, 0), step_leaf(&step_child, 1, 1), other);
}

TEST(arguments_and_return_values_stand_where_the_kernel_has_them) {
        static const Prototype prototype = {
                .params = { { .name = "sk", .kind = PARAM_HEX } },
                .n_params = 1,
                .n_text = 2,
        };
        static const uint64_t args[6] = { 0xab };
        Function function = step_child;
        Step enter, leaf, leave;

        function.prototype = &prototype;
        enter = step_enter(&function, 0);
        leaf = step_leaf(&function, 1, 1);
        leave = step_leave(&function, 0, 1);
        enter.args = leaf.args = args;
        enter.n_args = leaf.n_args = 6;
        leaf.has_retval = leave.has_retval = true;
        leave.retval = (uint64_t) -22;
        EXPECT("",
               " 0)               |  child(sk=0xab) {\n"
               " 0)   0.001 us    |    child(sk=0xab);\n"
               " 0)   0.001 us    |  }\n",
               enter, leaf, leave);
        EXPECT("noargs retval",
               " 0)               |  child() {\n"
               " 0)   0.001 us    |    child(); /* ret=0x0 */\n"
               " 0)   0.001 us    |  } /* child ret=-22 */\n",
               enter, leaf, leave);
        EXPECT("retval retval-hex",
               " 0)               |  child(sk=0xab) {\n"
               " 0)   0.001 us    |    child(sk=0xab); /* ret=0x0 */\n"
               " 0)   0.001 us    |  } /* child ret=0xffffffffffffffea */\n",
               enter, leaf, leave);
}

TEST(the_deepest_line_fits) {
        const Step s = step_enter(&step_root, 1023);
        _cleanup_free_ char *text = draw("proc abstime", 8192, &s, 1);

        ck_assert_uint_gt(strlen(text), 2046);
}

TEST(interrupts_have_arrows) {
        EXPECT("",
               " 0)               |  root() {\n"
               " 0)   ==========> |\n"
               " 0)               |    tick() {\n"
               " 0)   0.100 us    |      child();\n"
               " 0)   0.999 us    |    }\n"
               " 0)   <========== |\n"
               " 0)   ==========> |\n"
               " 0)   0.300 us    |    tick();\n"
               " 0)   <========== |\n"
               " 0) + 44.275 us   |  }\n",
               step_enter(&step_root, 0), step_enter(&step_irq, 1), step_leaf(&step_child, 2, 100),
               step_leave(&step_irq, 1, 999), step_leaf(&step_irq, 1, 300),
               step_leave(&step_root, 0, 44275));
}

TEST(what_interrupts_call_can_be_hidden) {
        EXPECT("noirqs",
               " 0)               |  root() {\n"
               " 0)   0.200 us    |    child();\n"
               " 0) + 44.275 us   |  }\n",
               step_enter(&step_root, 0), step_enter(&step_irq, 1), step_leaf(&step_child, 2, 100),
               step_leave(&step_irq, 1, 999), step_leaf(&step_irq, 1, 300),
               step_leaf(&step_child, 1, 200), step_leave(&step_root, 0, 44275));
        /* A lost return does not hide for ever. */
        EXPECT("noirqs",
               " 0)               |  root() {\n"
               " 0)   0.200 us    |  child();\n",
               step_enter(&step_root, 0), step_enter(&step_irq, 1),
               step_leave(&step_root, 0, 44275), step_leaf(&step_child, 0, 200));
}

TEST(colours_say_what_the_mark_says) {
        Step s = step_leaf(&step_root, 0, 20000);

        has_colours = true;
        EXPECT("", " 0)   9.000 us    |  child();\n", step_leaf(&step_child, 0, 9000));
        EXPECT("",
               " 0) \033[33m+ 10.001 us   \033[0m|  child();\n"
               " 0) \033[31m! 100.001 us  \033[0m|  child();\n"
               " 0) \033[1;31m# 1000.001 us \033[0m|  child();\n",
               step_leaf(&step_child, 0, 10001), step_leaf(&step_child, 0, 100001),
               step_leaf(&step_child, 0, 1000001));
        EXPECT("noduration", " 0) child();\n", step_leaf(&step_child, 0, 10001));
        s.pid = 17;
        s.comm = "a us b";
        EXPECT("proc", " 0)   a us b-17    | \033[33m+ 20.000 us   \033[0m|  root();\n", s);
        has_colours = false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "render/renderer.h"
#include "unit.h"

TEST(every_renderer_is_found_by_its_name) {
        ck_assert_ptr_eq(renderer_find(NULL), &renderer_kernel);
        ck_assert_ptr_eq(renderer_find("graph"), &renderer_kernel);
        ck_assert_ptr_null(renderer_find("grap"));
        for (const Renderer *const *r = renderers; *r; r++) {
                ck_assert_ptr_eq(renderer_find((*r)->name), *r);
                ck_assert_ptr_nonnull((*r)->summary);
        }
}

TEST(options_have_the_kernels_names_long_and_short) {
        RenderOptions o = RENDER_OPTIONS_DEFAULT;

        ck_assert_int_eq(render_option_set(&o, "funcgraph-proc"), 0);
        ck_assert(o.proc);
        ck_assert_int_eq(render_option_set(&o, "noproc"), 0);
        ck_assert(!o.proc);
        ck_assert_int_eq(render_option_set(&o, "nofuncgraph-cpu"), 0);
        ck_assert(!o.cpu);
        ck_assert_int_eq(render_option_set(&o, "tail"), 0);
        ck_assert(o.tail);
        ck_assert_int_eq(render_option_set(&o, "nofuncgraph-nocpu"), RENDER_E_UNKNOWN);
        ck_assert_int_eq(render_option_set(&o, ""), RENDER_E_UNKNOWN);
        ck_assert_int_eq(render_option_set(&o, "no"), RENDER_E_UNKNOWN);
        ck_assert_int_eq(render_option_set(&o, "funcgraph-nosuch"), RENDER_E_UNKNOWN);
        ck_assert_int_eq(render_option_set(&o, "nofuncgraph-args"), 0);
        ck_assert(!o.args);
        ck_assert_int_eq(render_option_set(&o, "funcgraph-retval"), 0);
        ck_assert_uint_eq(o.retval, 1);
}

#define N_LABEL_MAX 130

static void draw(Buf *out, uint8_t retval) {
        static const uint64_t durations_ns[] = { 0,      1,       999,      1000,   9999,
                                                 10000,  10001,   99999,    100000, 100001,
                                                 999999, 1000000, 123456789 };
        RenderContext context = { .options = RENDER_OPTIONS_DEFAULT, .n_possible_cpus = 200 };
        Function functions[N_LABEL_MAX] = {};
        char label[N_LABEL_MAX + 1 + FUNCTION_SLACK];
        void *kernel;

        memset(label, 'f', sizeof(label));
        context.options.retval = retval;
        ck_assert_int_eq(renderer_kernel.new(&kernel, &context, out), 0);
        for (uint32_t i = 0; i < 30000; i++) {
                Function *f = &functions[i * 7919 % N_LABEL_MAX];
                Step step = { .kind = i % 3,
                              .cpu = i / 5 % 2 * 123,
                              .pid = (int32_t) (i / 300),
                              .depth = (int32_t) (i * 31 % 70),
                              .rettime = durations_ns[i / 3 % ELEMENTSOF(durations_ns)],
                              .comm = "comm",
                              .function = f };

                f->label = label;
                f->n_label = (uint32_t) (f - functions + 1);
                renderer_kernel.step(kernel, &step);
        }
        renderer_kernel.free(kernel);
        ck_assert_int_eq(out->error, 0);
}

/* Values that no step has change nothing but how lines are made. */
TEST(usual_lines_are_those_that_are_made_for_all_options) {
        _cleanup_buf_ Buf usual = BUF_INIT, others = BUF_INIT;

        draw(&usual, 0);
        draw(&others, 1);
        ck_assert_uint_gt(usual.n_data, 1000000);
        ck_assert_uint_eq(usual.n_data, others.n_data);
        ck_assert_int_eq(memcmp(usual.data, others.data, usual.n_data), 0);
}

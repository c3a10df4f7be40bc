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

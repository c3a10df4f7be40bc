/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the kernel printed of a buffer, and the recording of the same buffer, are the same steps. */

#include "calls/playback.h"
#include "scratch.h"
#include "store/store.h"
#include "text-file.h"

/* A text has as many digits of a duration as fit its column. */
static uint64_t precision_ns(uint64_t duration_ns) {
        return duration_ns < 10000000 ? 1 : duration_ns < 100000000 ? 10 : 100;
}

static void expect_same(const Step *text, const Step *recorded) {
        ck_assert_int_eq(text->kind, recorded->kind);
        ck_assert_uint_eq(text->cpu, recorded->cpu);
        ck_assert_int_eq(text->depth, recorded->depth);
        ck_assert_str_eq(text->function->label, recorded->function->label);
        if (text->pid >= 0)
                ck_assert_int_eq(text->pid, recorded->pid);
        if (text->kind != STEP_ENTER) {
                uint64_t x = step_duration_ns(text), y = step_duration_ns(recorded);

                ck_assert_uint_le(x, y);
                ck_assert_uint_lt(y - x, precision_ns(y));
        }
}

/* The text of @name and the recording of that name in @store_path. */
static void compare_in(const char *store_path, const char *name) {
        _cleanup_(text_trace_freep) TextTrace *t = NULL;
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(playback_freep) Playback *p = NULL;
        _cleanup_free_ char *file = NULL, *problem = NULL;
        _cleanup_(store_freep) Store *store = NULL;
        size_t n = 0;
        Step x, y;

        ck_assert_int_gt(asprintf(&file, "%s.trace", name), 0);
        t = trace_of_file(file);
        ck_assert_int_eq(store_open(&store, store_path), 0);
        ck_assert_int_eq(store_open_session(store, name, &dir), 0);
        ck_assert_int_eq(session_dir_read_meta(dir, &meta), 0);
        ck_assert_int_eq(playback_open(&p, dir, meta, &problem), 0);
        while (text_trace_next(t, &x) > 0) {
                if (x.kind == STEP_TASK)
                        continue;
                ck_assert_int_eq(steps_next(&p->steps, STREAM_NO_LIMIT, &y), 1);
                expect_same(&x, &y);
                n++;
        }
        ck_assert_int_eq(steps_next(&p->steps, STREAM_NO_LIMIT, &y), 0);
        ck_assert_uint_gt(n, 1000);
}

TEST(a_text_is_its_recording) {
        static const char *const names[] = { "udp_sendmsg-5.10", "udp_sendmsg-6.1",
                                             "udp_sendmsg-6.12", "udp_sendmsg-new",
                                             "udp_sendmsg-arm64-16k-6.12" };
        _cleanup_free_ char *data = data_path("");

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                compare_in(data, names[i]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a trace.dat says of its origin, and what becomes of it when others have written there. */

#include "pages/dat-file.h"
#include "unit.h"

static SessionMeta *new_meta(void) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        return m;
}

TEST(what_was_written_is_taken_over) {
        static const ClockTuple start = { 100, 200, 300, 1795256259908410400 },
                                stop = { 900, 1000, 1100, 1795256259908411200 },
                                step = { 500, 600, 700, 1795256260000000000 };
        _cleanup_(session_meta_freep) SessionMeta *from = new_meta(), *to = new_meta();
        _cleanup_free_ char *text = NULL;

        from->boot_id = strdup("e9be5ac9-dc26-46e5-a436-c00afb710989");
        from->machine_id = strdup("6480ea92f8234b838c458ad80ac93090");
        from->build_id = strdup("0a0b");
        ck_assert_int_eq(strv_add(&from->build_ids, "ext4 0c0d"), 0);
        from->start = start;
        from->stop = stop;
        ck_assert_int_eq(clock_steps_note(&from->clock_steps, &start, &step), 1);
        ck_assert_int_eq(strv_add(&from->spec.functions, "udp_sendmsg"), 0);
        ck_assert_int_eq(strv_add(&from->roots, "udp_sendmsg"), 0);
        from->spec.ring = true;
        from->spec.max_bytes = 65536;
        ck_assert_int_eq(gaps_add(&from->gaps, &(Gap){ .cpu = 3,
                                                       .cause = GAP_CLEARED,
                                                       .from_ns = 7,
                                                       .to_ns = 9,
                                                       .n_events = GAP_UNKNOWN }),
                         0);
        ck_assert_int_eq(strv_add(&from->lacks, "CPU 0: 1 segment empty"), 0);
        from->filters = strdup("--cpus=0");
        ck_assert_int_eq(dat_origin_format(&text, from), 0);
        ck_assert(startswith(text, "ftraced {"));
        ck_assert_int_eq(dat_origin_apply(to, text), 0);
        ck_assert_str_eq(to->boot_id, from->boot_id);
        ck_assert_str_eq(to->machine_id, from->machine_id);
        ck_assert_str_eq(to->build_id, from->build_id);
        ck_assert_uint_eq(to->build_ids.n, 1);
        ck_assert_str_eq(to->build_ids.items[0], "ext4 0c0d");
        ck_assert_mem_eq(&to->start, &start, sizeof(start));
        ck_assert_mem_eq(&to->stop, &stop, sizeof(stop));
        ck_assert_uint_eq(to->clock_steps.n, 1);
        ck_assert_uint_eq(to->spec.functions.n, 1);
        ck_assert_str_eq(to->spec.functions.items[0], "udp_sendmsg");
        ck_assert_uint_eq(to->roots.n, 1);
        ck_assert_str_eq(to->roots.items[0], "udp_sendmsg");
        ck_assert(to->spec.ring);
        ck_assert_uint_eq(to->spec.max_bytes, 65536);
        ck_assert_uint_eq(to->gaps.n, 1);
        ck_assert_int_eq(to->gaps.items[0].cause, GAP_CLEARED);
        ck_assert_uint_eq(to->gaps.items[0].n_events, GAP_UNKNOWN);
        ck_assert_uint_eq(to->lacks.n, 1);
        ck_assert_str_eq(to->lacks.items[0], "CPU 0: 1 segment empty");
        ck_assert_str_eq(to->filters, "--cpus=0");
        ck_assert_uint_eq(session_meta_realtime_ns(to, 600), session_meta_realtime_ns(from, 600));
}

TEST(what_is_of_others_or_damaged_changes_nothing) {
        static const char *const texts[] = {
                "",
                "3.1.6",
                "ftraced",
                "ftraced 0.1",
                "ftraced {",
                "ftraced []",
                "ftraced {\"start\":7,\"boot_id\":8}",
                "ftraced {\"start\":{\"trace_ns\":-1}}",
                "ftraced {\"start\":{\"trace_ns\":1},\"start\":null}",
                "ftraced {\"clock_steps\":{}}",
                "ftraced {\"spec\":7}",
                "ftraced {\"roots\":[\"f\"]}",
                "ftraced {\"spec\":{\"functions\":[\"f\"]},\"roots\":7}",
                "ftraced {\"spec\":{\"functions\":[]}}",
                "ftraced {\"spec\":{\"functions\":[\"a b\"],\"depth\":3}}",
                "ftraced {\"spec\":{\"functions\":[\"f\"],\"depth\":-1}}",
                "ftraced {\"lacks\":7}",
                "ftraced {\"lacks\":[\"a\",7],\"filters\":\"f\"}",
                "ftraced {\"lacks\":[\"a\"],\"gaps\":[{\"cause\":\"none\"}]}",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(session_meta_freep) SessionMeta *m = new_meta();

                ck_assert_int_eq(dat_origin_apply(m, texts[i]), 0);
                ck_assert(!clock_tuple_is_set(&m->start));
                ck_assert(!m->boot_id);
                ck_assert_uint_eq(m->clock_steps.n, 0);
                ck_assert_uint_eq(m->spec.functions.n, 0);
                ck_assert_uint_eq(m->roots.n, 0);
                ck_assert_uint_eq(m->spec.depth, 0);
                ck_assert_uint_eq(m->lacks.n + m->gaps.n, 0);
                ck_assert(!m->filters);
        }
}

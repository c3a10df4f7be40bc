/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "meta/spec.h"
#include "unit.h"

static int parse(Spec *ret, const char *text, const char **ret_field) {
        json_auto_t *o = json_loads(text, JSON_DECODE_ANY, NULL);
        static char field[256];
        const char *f = NULL;
        int r;

        ck_assert_msg(o, "%s", text);
        r = spec_from_json(ret, o, &f);
        if (r == SPEC_E_INVALID) {
                (void) snprintf(field, sizeof(field), "%s", f);
                *ret_field = field;
        }
        return r;
}

TEST(what_is_absent_has_its_default) {
        _cleanup_spec_ Spec spec = {};
        const char *field;

        ck_assert_int_eq(parse(&spec, "{\"functions\":[\"vfs_read\"],\"pids\":null}", &field), 0);
        ck_assert_uint_eq(spec.functions.n, 1);
        ck_assert_str_eq(spec.functions.items[0], "vfs_read");
        ck_assert_uint_eq(spec.notrace.n, 0);
        ck_assert_uint_eq(spec.pids.n, 0);
        ck_assert_uint_eq(spec.depth, 0);
        ck_assert_uint_eq(spec.buffer_bytes, SPEC_DEFAULT_BUFFER_BYTES);
        ck_assert_uint_eq(spec.max_functions, SPEC_DEFAULT_MAX_FUNCTIONS);
}

/* As a plain --user-stack takes back a profile's StackCopy=. */
TEST(no_stacks_are_copied_if_that_is_said) {
        _cleanup_spec_ Spec spec = {};
        const char *field;

        ck_assert_int_eq(parse(&spec,
                               "{\"functions\":[\"a\"],\"user_stack\":true,\"stack_bytes\":0,"
                               "\"stack_every\":0}",
                               &field),
                         0);
        ck_assert(spec.user_stack && spec.stack_bytes == 0);
}

TEST(what_has_its_default_is_left_out) {
        _cleanup_spec_ Spec spec = SPEC_INIT;
        _cleanup_free_ char *text = NULL;
        json_auto_t *o = NULL;

        ck_assert_int_eq(strv_add(&spec.functions, "vfs_*"), 0);
        o = spec_to_json(&spec);
        text = json_dumps(o, JSON_COMPACT);
        ck_assert_str_eq(text, "{\"functions\":[\"vfs_*\"]}");
}

TEST(every_member_survives_a_round_trip) {
        _cleanup_spec_ Spec spec = SPEC_INIT, again = {}, copy = {};
        json_auto_t *o = NULL, *o2 = NULL, *o3 = NULL;
        const char *field;

        ck_assert_int_eq(strv_add(&spec.functions, "vfs_read"), 0);
        ck_assert_int_eq(strv_add(&spec.functions, "ext4_*"), 0);
        ck_assert_int_eq(strv_add(&spec.notrace, "rcu_*"), 0);
        ck_assert_int_eq(strv_add(&spec.pids, "4194304"), 0);
        ck_assert_int_eq(strv_add(&spec.comms, "kworker/0:1"), 0);
        ck_assert_int_eq(strv_add(&spec.cgroups, "/a.slice"), 0);
        ck_assert_int_eq(strv_add(&spec.cpus, "0-3"), 0);
        ck_assert_int_eq(strv_add(&spec.hooked, "kfree*"), 0);
        spec.flat = spec.no_irqs = spec.no_sleep_time = true;
        spec.slower_ns = 5000000;
        spec.clock = strdup("boot");
        spec.depth = 50;
        spec.duration_ns = INT64_MAX;
        spec.max_bytes = 123;
        spec.segment_bytes = SPEC_SEGMENT_BYTES_MIN;
        spec.segment_ns = SPEC_SEGMENT_NS_MIN;
        spec.ring = true;
        spec.buffer_bytes = 4096;
        spec.max_functions = 1;
        spec.max_hooked = 3;
        spec.max_event_rate = SPEC_UNLIMITED;
        spec.max_write_rate = 1;
        spec.max_cpu_ppm = 10000;
        spec.args = true;
        spec.retval = true;
        ck_assert_int_eq(strv_add(&spec.retval_functions, "kfree*"), 0);
        ck_assert_int_eq(strv_add(&spec.args_functions, "vfs_read"), 0);
        ck_assert_int_eq(strv_add(&spec.events, "sched:sched_switch:prev_pid > 0"), 0);
        o = spec_to_json(&spec);
        ck_assert_int_eq(spec_from_json(&again, o, &field), 0);
        o2 = spec_to_json(&again);
        ck_assert(json_equal(o, o2));
        ck_assert_int_eq(spec_copy(&copy, &again), 0);
        o3 = spec_to_json(&copy);
        ck_assert(json_equal(o, o3));
        ck_assert_ptr_ne(copy.functions.items[0], again.functions.items[0]);
        ck_assert_ptr_ne(copy.cpus.items[0], again.cpus.items[0]);
        ck_assert_str_eq(copy.clock, "boot");
}

TEST(every_refusal_names_its_key) {
        static const struct {
                const char *text, *field;
        } cases[] = {
                { "[]", "spec" },
                { "null", "spec" },
                { "{}", "functions" },
                { "{\"functions\":null}", "functions" },
                { "{\"functions\":[]}", "functions" },
                { "{\"functions\":\"f\"}", "functions" },
                { "{\"functions\":[1]}", "functions" },
                { "{\"functions\":[\"a b\"]}", "functions" },
                { "{\"functions\":[\"!a\"]}", "functions" },
                { "{\"functions\":[\"a:mod:b\"]}", "functions" },
                { "{\"functions\":[\"*\"]}", "functions" },
                { "{\"functions\":[\"a\"],\"notrace\":[\"\"]}", "notrace" },
                { "{\"functions\":[\"a\"],\"pids\":[\"0\"]}", "pids" },
                { "{\"functions\":[\"a\"],\"pids\":[\"01\"]}", "pids" },
                { "{\"functions\":[\"a\"],\"pids\":[\"-1\"]}", "pids" },
                { "{\"functions\":[\"a\"],\"pids\":[\"4194305\"]}", "pids" },
                { "{\"functions\":[\"a\"],\"pids\":[7]}", "pids" },
                { "{\"functions\":[\"a\"],\"comms\":[\"1234567890123456\"]}", "comms" },
                { "{\"functions\":[\"a\"],\"comms\":[\"a\\u0022b\"]}", "comms" },
                { "{\"functions\":[\"a\"],\"cgroups\":[\"/a/../b\"]}", "cgroups" },
                { "{\"functions\":[\"a\"],\"cpus\":[\"3-1\"]}", "cpus" },
                { "{\"functions\":[\"a\"],\"cpus\":[0]}", "cpus" },
                { "{\"functions\":[\"a\"],\"flat\":1}", "flat" },
                { "{\"functions\":[\"a\"],\"slower_ns\":999}", "slower_ns" },
                { "{\"functions\":[\"a\"],\"no_irqs\":\"yes\"}", "no_irqs" },
                { "{\"functions\":[\"a\"],\"clock\":\"\"}", "clock" },
                { "{\"functions\":[\"a\"],\"clock\":\"mo no\"}", "clock" },
                { "{\"functions\":[\"a\"],\"depth\":51}", "depth" },
                { "{\"functions\":[\"a\"],\"depth\":-1}", "depth" },
                { "{\"functions\":[\"a\"],\"depth\":1.5}", "depth" },
                { "{\"functions\":[\"a\"],\"depth\":\"1\"}", "depth" },
                { "{\"functions\":[\"a\"],\"depth\":true}", "depth" },
                { "{\"functions\":[\"a\"],\"duration_ns\":-1}", "duration_ns" },
                { "{\"functions\":[\"a\"],\"max_bytes\":{}}", "max_bytes" },
                { "{\"functions\":[\"a\"],\"segment_bytes\":4096}", "segment_bytes" },
                { "{\"functions\":[\"a\"],\"segment_ns\":999999999}", "segment_ns" },
                { "{\"functions\":[\"a\"],\"ring\":1}", "ring" },
                { "{\"functions\":[\"a\"],\"buffer_bytes\":4095}", "buffer_bytes" },
                { "{\"functions\":[\"a\"],\"stack_bytes\":1023}", "stack_bytes" },
                { "{\"functions\":[\"a\"],\"buffer_bytes\":1099511627777}", "buffer_bytes" },
                { "{\"functions\":[\"a\"],\"max_functions\":0}", "max_functions" },
                { "{\"functions\":[\"a\"],\"max_functions\":65537}", "max_functions" },
                { "{\"functions\":[\"a\"],\"max_event_rate\":0}", "max_event_rate" },
                { "{\"functions\":[\"a\"],\"max_cpu_ppm\":-1}", "max_cpu_ppm" },
                { "{\"functions\":[\"a\"],\"colour\":1}", "colour" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Spec spec = { .depth = 12345 };
                const char *field;

                ck_assert_msg(parse(&spec, cases[i].text, &field) == SPEC_E_INVALID, "%s",
                              cases[i].text);
                ck_assert_str_eq(field, cases[i].field);
                ck_assert_uint_eq(spec.depth, 12345);
                ck_assert_ptr_null(spec.functions.items);
        }
}

TEST(a_list_beyond_its_bound_is_refused) {
        for (size_t n = SPEC_MAX_ROOTS; n <= SPEC_MAX_ROOTS + 1; n++) {
                _cleanup_spec_ Spec spec = {};
                json_auto_t *o = json_object();
                json_t *list = json_array();
                const char *field;

                for (size_t i = 0; i < n; i++)
                        json_array_append_new(list, json_string("f"));
                json_object_set_new(o, "functions", list);
                ck_assert_int_eq(spec_from_json(&spec, o, &field),
                                 n > SPEC_MAX_ROOTS ? SPEC_E_INVALID : 0);
        }
}

/* What a member is asked for is in its row, so the row has the bits of all that it changes. */
TEST(who_says_a_member_is_asked_for_what_it_brings_along) {
        size_t n_brought = 0;
        const SpecMember *m;

        for (size_t i = 0; (m = spec_member(i)); i++) {
                json_auto_t *given = json_pack("{s:[s]}", "functions", "f"), *all = NULL;
                _cleanup_spec_ Spec spec = {};
                const char *field, *name;
                json_t *value;

                if (m->json.type == JSON_FIELD_BOOL)
                        json_object_set_new(given, m->json.key, json_true());
                ck_assert_int_eq(spec_from_json(&spec, given, &field), 0);
                all = spec_to_json(&spec);
                json_object_foreach (all, name, value) {
                        unsigned asks = spec_find_member(name)->asks;

                        if (json_object_get(given, name))
                                continue;
                        n_brought++;
                        ck_assert_msg((m->asks & asks) == asks, "%s brings %s", m->json.key, name);
                }
        }
        ck_assert_uint_gt(n_brought, 0);
}

TEST(a_black_box_is_complete_once_it_is_read) {
        static const struct {
                const char *events;
                size_t n;
        } cases[] = {
                { "[]", 1 },
                { "[\"sched:sched_switch\"]", 2 },
                { "[\"printk:console\"]", 1 },
                { "[\"printk:console:len>3\"]", 1 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = NULL;
                _cleanup_spec_ Spec spec = {};
                const char *field;

                ck_assert_int_gt(
                        asprintf(&text, "{\"functions\":[\"f\"],\"black_box\":true,\"events\":%s}",
                                 cases[i].events),
                        0);
                ck_assert_int_eq(parse(&spec, text, &field), 0);
                ck_assert(spec.in_kernel && spec.ring);
                ck_assert_uint_eq(spec.events.n, cases[i].n);
                ck_assert(startswith(spec.events.items[cases[i].n - 1], "printk:console"));
        }
}

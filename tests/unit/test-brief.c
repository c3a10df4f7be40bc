/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/unit.h"
#include "meta/brief.h"
#include "tests/unit/unit.h"
#include "unit.h"

static void make(Brief *ret, size_t n_roots) {
        _cleanup_(session_meta_freep) SessionMeta *m = MADE(SessionMeta, session_meta_new);

        m->name = strdup("boot");
        free(m->id);
        m->id = strdup("0123456789abcdef");
        m->state = SESSION_SEALED;
        m->limit = SESSION_LIMIT_CPU;
        m->owner_uid = 1000;
        m->pinned = true;
        m->start.realtime_ns = 17;
        m->stop.realtime_ns = 18;
        for (size_t i = 0; i < n_roots; i++)
                ck_assert_int_eq(strv_add(&m->roots, "udp_sendmsg"), 0);
        ck_assert_int_eq(brief_of_meta(ret, m, 4096), 0);
}

TEST(what_is_written_is_read) {
        _cleanup_brief_ Brief b = {}, again = {};
        const char *field = "";
        json_auto_t *o = NULL;

        make(&b, 2);
        o = brief_to_json(&b);
        ck_assert_int_eq(brief_from_json(&again, o, &field), 0);
        ck_assert_str_eq(again.name, "boot");
        ck_assert_str_eq(again.id, "0123456789abcdef");
        ck_assert_int_eq(again.state, SESSION_SEALED);
        ck_assert_int_eq(again.limit, SESSION_LIMIT_CPU);
        ck_assert_uint_eq(again.owner_uid, 1000);
        ck_assert(again.pinned && !again.degraded);
        ck_assert(strv_equal(&again.roots, &b.roots));
        ck_assert_uint_eq(again.n_roots, 2);
        ck_assert_uint_eq(again.start_ns, 17);
        ck_assert_uint_eq(again.stop_ns, 18);
        ck_assert_uint_eq(again.disk_bytes, 4096);
}

TEST(thousands_of_roots_are_counted_and_a_few_named) {
        _cleanup_brief_ Brief b = {};
        json_auto_t *o = NULL;
        char *text;

        make(&b, 60000);
        ck_assert_uint_eq(b.n_roots, 60000);
        ck_assert_uint_ge(b.roots.n, 2);
        o = brief_to_json(&b);
        text = json_dumps(o, JSON_COMPACT);
        ck_assert_uint_lt(strlen(text), 600);
        free(text);
}

TEST(what_is_not_known_on_disk_stays_so) {
        _cleanup_brief_ Brief b = {}, again = {};
        const char *field = "";
        json_auto_t *o = NULL;

        make(&b, 1);
        b.disk_bytes = UINT64_MAX;
        o = brief_to_json(&b);
        ck_assert_ptr_null(json_object_get(o, "disk_bytes"));
        ck_assert_int_eq(brief_from_json(&again, o, &field), 0);
        ck_assert_uint_eq(again.disk_bytes, UINT64_MAX);
}

TEST(what_is_not_valid_is_named) {
        static const struct {
                const char *key, *value;
        } wrong[] = {
                { "name", "\"a/b\"" },  { "id", "\"xyz\"" },       { "state", "\"asleep\"" },
                { "state", "null" },    { "limit", "\"sky\"" },    { "n_gaps", "-1" },
                { "disk_bytes", "-1" }, { "disk_bytes", "\"1\"" }, { "roots", "[1]" },
        };

        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                _cleanup_brief_ Brief b = {}, none = {};
                const char *field = "";
                json_auto_t *o = NULL;

                make(&b, 1);
                o = brief_to_json(&b);
                (void) json_object_set_new(o, wrong[i].key,
                                           json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
                ck_assert_int_eq(brief_from_json(&none, o, &field), META_E_INVALID);
                ck_assert_str_eq(field, wrong[i].key);
                ck_assert_ptr_null(none.name);
        }
}

#define SECOND NSEC_PER_SEC

/* One that recorded for 10 s and has nothing. */
static SessionMeta *meta(void) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        m->state = SESSION_SEALED;
        ck_assert_int_eq(strv_add(&m->roots, "udp_sendmsg"), 0);
        m->start = (ClockTuple){ .trace_ns = 100 * SECOND,
                                 .monotonic_ns = 100 * SECOND,
                                 .boottime_ns = 100 * SECOND,
                                 .realtime_ns = 1000 * SECOND };
        m->stop = (ClockTuple){ .trace_ns = 110 * SECOND,
                                .monotonic_ns = 110 * SECOND,
                                .boottime_ns = 110 * SECOND,
                                .realtime_ns = 1010 * SECOND };
        m->n_cpus = 1;
        m->cpus = calloc(1, sizeof(*m->cpus));
        ck_assert_ptr_nonnull(m->cpus);
        return m;
}

#define META_TEST(name)                                                                            \
        TEST_WITH(name, (SessionMeta * m), _cleanup_(session_meta_freep) SessionMeta *m = meta(), m)

static void expect(const SessionMeta *m, const Strv *found, const char *wanted) {
        _cleanup_free_ char *text = MADE(char, silence_explain, m, found);

        ck_assert_str_eq(text, wanted);
}

static void add_gap(SessionMeta *m, GapCause cause, uint64_t from_s, uint64_t to_ns) {
        ck_assert_int_eq(gaps_add(&m->gaps, &(Gap){ .cpu = GAP_ALL_CPUS,
                                                    .cause = cause,
                                                    .from_ns = from_s * SECOND,
                                                    .to_ns = to_ns,
                                                    .n_events = GAP_UNKNOWN }),
                         0);
}

META_TEST(one_that_stored_or_dropped_a_page_is_not_silent) {
        ck_assert(silence_is_total(m));
        m->cpus[0].n_pages = 1;
        ck_assert(!silence_is_total(m));
        m->cpus[0] = (CpuAccount){ .pages_dropped = 1 };
        ck_assert(!silence_is_total(m));
        m->cpus[0] = (CpuAccount){ .pages_lost = 1 };
        ck_assert(!silence_is_total(m));
        m->cpus[0] = (CpuAccount){};
        m->n_snapshots = 1;
        ck_assert(!silence_is_total(m));
}

META_TEST(if_nothing_was_in_the_way_nothing_called_it) {
        expect(m, &(Strv){}, "nothing called udp_sendmsg in 10 s of recording");
        ck_assert_int_eq(strv_add(&m->spec.pids, "812"), 0);
        ck_assert_int_eq(strv_add(&m->spec.cpus, "2-3"), 0);
        m->spec.slower_ns = 5 * NSEC_PER_MSEC;
        expect(m, &(Strv){},
               "no call of udp_sendmsg took 5 ms or more in process 812 on CPUs 2-3 in 10 s "
               "of recording");
}

META_TEST(of_many_roots_some_are_named) {
        ck_assert_int_eq(strv_split(&m->roots, "b c d e", " "), 0);
        expect(m, &(Strv){}, "nothing called udp_sendmsg, b, c and 2 others in 10 s of recording");
}

META_TEST(what_was_in_the_way_is_told_with_how_long) {
        add_gap(m, GAP_OVERRUN, 101, 102 * SECOND);
        add_gap(m, GAP_TRACING_OFF, 90, 103 * SECOND);
        add_gap(m, GAP_TRACING_OFF, 104, 105 * SECOND);
        add_gap(m, GAP_FTRACE_OFF, 109, GAP_OPEN);
        expect(m, &(Strv){},
               "somebody else switched tracing_on off for 4 s of the 10 s; sysctl "
               "kernel.ftrace_enabled was 0 for 1 s of the 10 s");
}

META_TEST(what_the_kernel_said_comes_first) {
        _cleanup_strv_ Strv found = {};

        ck_assert_int_eq(strv_add(&found, "process 812 has ended"), 0);
        expect(m, &found, "process 812 has ended");
        add_gap(m, GAP_FTRACE_OFF, 100, 110 * SECOND);
        expect(m, &found,
               "process 812 has ended; sysctl kernel.ftrace_enabled was 0 for 10 s of the 10 s");
}

META_TEST(one_whose_triggers_never_fired_has_only_waited) {
        m->armed = m->start;
        expect(m, &(Strv){}, "nothing called udp_sendmsg in 10 s of recording");
        m->start = m->stop;
        expect(m, &(Strv){}, "it waited for a trigger, and none fired");
}

META_TEST(no_sentence_is_too_long_to_be_kept) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv found = {};

        for (int i = 0; i < 1000; i++)
                ck_assert_int_eq(strv_add(&found, "the module has gone"), 0);
        ck_assert_int_eq(silence_explain(&text, m, &found), 0);
        ck_assert_uint_eq(strlen(text), SILENCE_MAX);
}

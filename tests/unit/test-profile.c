/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/buf.h"
#include "meta/profile.h"
#include "scratch.h"

#define VENDOR "usr/lib/ftraced/" PROFILE_DIR
#define LOCAL "usr/local/lib/ftraced/" PROFILE_DIR

static Profile profile_of(const char *text) {
        _cleanup_free_ char *copy = strdup(text);
        Profile p = PROFILE_INIT;

        ck_assert_int_eq(profile_parse(&p, "x", copy, strlen(text)), 0);
        return p;
}

static void expect_spec(const Profile *p, const char *json) {
        _cleanup_free_ char *got = json_dumps(p->spec, JSON_COMPACT | JSON_SORT_KEYS);

        ck_assert_str_eq(got, json);
}

TEST(every_key_becomes_a_member_that_a_spec_may_have) {
        _cleanup_profile_ Profile p =
                profile_of("# a comment\n[Profile]\nDescription=All of it\n"
                           "Functions=udp_sendmsg tcp_*\nNoTrace=kfree\nDepth=5\n"
                           "Pids=1 2\nDuration=10min\nMaxSize=1.5G\nRing=yes\n"
                           "SegmentSize=1M\nSegmentTime=1h\nBufferSize=4M\n"
                           "MaxFunctions=20\nMaxHooked=1K\nMaxEventRate=500K\n"
                           "MaxWriteRate=64M\nMaxCPU=25%\nOnFull=stop\nLean=auto\n"
                           "Budget=0.5%\nHooked=kfree_*\nArgs=yes\nRetVal=no\n"
                           "Event=sched:sched_switch:prev_comm == \"a b\"\n"
                           "Event=irq:irq_handler_entry\n"
                           "Comm=a b\nComm=c\nControlGroup=/a.slice\nCPUs=0-3 8\n"
                           "Flat=yes\nSlower=20ms\nNoIRQs=yes\nNoSleepTime=no\n"
                           "Clock=boot\nWait=30s\n"
                           "[X-Mine]\nAnything=goes\n");
        _cleanup_spec_ Spec spec = {};
        const char *field;

        ck_assert_uint_eq(p.problems.n, 0);
        ck_assert_str_eq(p.description, "All of it");
        ck_assert_uint_eq(p.wait_ns, 30ULL * 1000000000);
        ck_assert_int_eq(spec_from_json(&spec, p.spec, &field), 0);
        ck_assert_uint_eq(spec.functions.n, 2);
        ck_assert_uint_eq(spec.depth, 5);
        ck_assert_uint_eq(spec.duration_ns, 600ULL * 1000000000);
        ck_assert_uint_eq(spec.max_bytes, 3ULL << 29);
        ck_assert(spec.ring);
        ck_assert_uint_eq(spec.budget_ppm, 5000);
        ck_assert_uint_eq(spec.max_event_rate, 500000);
        ck_assert_uint_eq(spec.max_cpu_ppm, 250000);
        ck_assert_uint_eq(spec.events.n, 2);
        ck_assert_uint_eq(spec.comms.n, 2);
        ck_assert_str_eq(spec.comms.items[0], "a b");
        ck_assert_uint_eq(spec.cgroups.n, 1);
        ck_assert_uint_eq(spec.cpus.n, 2);
        ck_assert(spec.flat && spec.no_irqs && !spec.no_sleep_time);
        ck_assert_uint_eq(spec.slower_ns, 20000000);
        ck_assert_str_eq(spec.clock, "boot");
        ck_assert_str_eq(spec.events.items[0], "sched:sched_switch:prev_comm == \"a b\"");
        ck_assert_int_eq((int) spec.lean, LEAN_AUTO);
        ck_assert_int_eq((int) spec.on_full, SPEC_ON_FULL_STOP);
}

TEST(infinity_is_no_limit) {
        _cleanup_profile_ Profile p =
                profile_of("[Profile]\nFunctions=x\nMaxHooked=infinity\nMaxEventRate=infinity\n"
                           "MaxWriteRate=infinity\nMaxCPU=infinity\n");
        _cleanup_profile_ Profile wrong =
                profile_of("[Profile]\nFunctions=x\nDepth=infinity\nDuration=infinity\n");
        _cleanup_spec_ Spec spec = {};
        const char *field;

        ck_assert_uint_eq(p.problems.n, 0);
        ck_assert_int_eq(spec_from_json(&spec, p.spec, &field), 0);
        ck_assert_uint_eq(spec.max_hooked, SPEC_UNLIMITED);
        ck_assert_uint_eq(spec.max_event_rate, SPEC_UNLIMITED);
        ck_assert_uint_eq(spec.max_write_rate, SPEC_UNLIMITED);
        ck_assert_uint_eq(spec.max_cpu_ppm, SPEC_UNLIMITED);
        ck_assert_uint_eq(wrong.problems.n, 2);
}

TEST(words_add_up_and_an_empty_value_forgets) {
        _cleanup_profile_ Profile p =
                profile_of("[Profile]\nFunctions=a b\nFunctions=c\nNoTrace=d\nNoTrace=\n"
                           "Depth=3\nDepth=4\nRing=on\nRing=\n");
        const json_t *last;

        expect_spec(&p, "{\"depth\":4,\"functions\":[\"a\",\"b\",\"c\"]}");
        ck_assert_uint_eq(json_array_size(p.settings), 3);
        last = json_array_get(p.settings, 2);
        ck_assert_str_eq(json_string_value(json_object_get(last, "value")), "4");
        ck_assert_int_eq(json_integer_value(json_object_get(last, "line")), 7);
}

TEST(what_is_wrong_is_named_with_its_line) {
        static const struct {
                const char *text, *problem;
        } cases[] = {
                { "[Profile]\nFuncions=a\n",
                  "x:2: unknown key Funcions=; did you mean Functions=?" },
                { "[Profile]\nnotrace=a\n", "x:2: unknown key notrace=; did you mean NoTrace=?" },
                { "[Profile]\nColour=red\n", "x:2: unknown key Colour=; see ftraced.profile(5)" },
                { "[Profile]\n\nDepth=51\n", "x:3: Depth=51 is not a number, or out of" },
                { "[Profile]\nDepth=-1\n", "x:2: Depth=-1 is not" },
                { "[Profile]\nFunctions=a;b\n", "x:2: Functions=a;b is not a list" },
                { "[Profile]\nFunctions=/udp/\n", "x:2: Functions=/udp/ is not a list" },
                { "[Profile]\nPids=0\n", "x:2: Pids=0 is not a list" },
                { "[Profile]\nRing=maybe\n", "x:2: Ring=maybe is neither yes nor no" },
                { "[Profile]\nLean=half\n", "x:2: Lean=half is not a word" },
                { "[Profile]\nBudget=2000%\n", "x:2: Budget=2000% is not a share" },
                { "[Profile]\nSample=0%\n", "x:2: Sample=0% is not a share of hosts" },
                { "[Profile]\nSample=0.00004%\n", "x:2: Sample=0.00004% is not a share" },
                { "[Profile]\nSample=101%\n", "x:2: Sample=101% is not a share of hosts" },
                { "[Profile]\nMaxSize=many\n", "x:2: MaxSize=many is not a size" },
                { "[Profile]\nDuration=soon\n", "x:2: Duration=soon is not a time" },
                { "[Profile]\nDescription=a\033b\n", "x:2: Description= is not UTF-8, or" },
                { "[Profile]\nDescription=\xff\n", "x:2: Description= is not UTF-8" },
                { "[Store]\nMaxUse=1\n", "x:1: unknown section [Store]" },
                { "[Profile]\nWait=soon\n", "x:2: Wait=soon is neither infinity nor" },
                { "Depth=1\n", "x:1: this stands before [Profile]" },
                { "[Profile]\nnonsense\n", "x:2: neither [Section] nor" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_profile_ Profile p = profile_of(cases[i].text);

                ck_assert_msg(p.problems.n == 1, "%s: %zu problems", cases[i].text, p.problems.n);
                ck_assert_msg(startswith(p.problems.items[0], cases[i].problem),
                              "\"%s\" is not \"%s\"", p.problems.items[0], cases[i].problem);
                ck_assert_uint_eq(json_object_size(p.spec), 0);
        }
}

TEST(long_lines_many_problems_and_nul_bytes_have_their_bounds) {
        static const char nul[] = "[Profile]\nDepth=1\nRing\0=yes\n";
        _cleanup_free_ char *line = calloc(1, 200000);
        _cleanup_free_ char *copy = malloc(sizeof(nul));
        _cleanup_profile_ Profile p = PROFILE_INIT, many = PROFILE_INIT, with_nul = PROFILE_INIT,
                                  full = PROFILE_INIT;
        size_t n;

        n = (size_t) sprintf(line, "[Profile]\nFunctions=");
        memset(line + n, 'a', 10000);
        ck_assert_int_eq(profile_parse(&p, "x", line, strlen(line)), 0);
        ck_assert_uint_eq(p.problems.n, 1);
        ck_assert_uint_lt(strlen(p.problems.items[0]), 600);

        n = (size_t) sprintf(line, "[Profile]\n");
        for (int i = 0; i < 10000; i++)
                n += (size_t) sprintf(line + n, "Depth=x\n");
        ck_assert_int_eq(profile_parse(&many, "x", line, n), 0);
        ck_assert_uint_eq(many.problems.n, PROFILE_MAX_PROBLEMS);

        memcpy(copy, nul, sizeof(nul));
        ck_assert_int_eq(profile_parse(&with_nul, "x", copy, sizeof(nul) - 1), 0);
        ck_assert_uint_eq(with_nul.problems.n, 2);
        ck_assert_str_eq(with_nul.problems.items[0], "x:3: a NUL byte, at which reading ends");

        n = (size_t) sprintf(line, "[Profile]\n");
        for (int i = 0; i < SPEC_MAX_ROOTS + 1; i++)
                n += (size_t) sprintf(line + n, "Functions=f%i\n", i);
        ck_assert_int_eq(profile_parse(&full, "x", line, n), 0);
        ck_assert_uint_eq(full.problems.n, 1);
        ck_assert_ptr_nonnull(strstr(full.problems.items[0], "is one too many"));
}

TEST(lines_of_a_list_are_no_more_than_a_spec_takes) {
        static const char twice[] =
                "[Profile]\nFunctions=f\nEvent=sched:sched_switch:prev_prio < 5\n"
                "Event=sched:sched_switch:next_prio < 5\n";
        _cleanup_profile_ Profile many = PROFILE_INIT, p = profile_of(twice);
        _cleanup_buf_ Buf b = BUF_INIT;

        ck_assert_uint_eq(p.problems.n, 1);
        ck_assert_ptr_nonnull(strstr(p.problems.items[0], ":4: Event=sched:sched_switch"));

        buf_adds(&b, "[Profile]\nFunctions=f\n");
        for (int i = 0; i <= SPEC_MAX_COMMS; i++)
                buf_printf(&b, "Comm=t%i\n", i);
        buf_add(&b, "", 1);
        ck_assert_int_eq(profile_parse(&many, "x", b.data, b.n_data - 1), 0);
        ck_assert_uint_eq(many.problems.n, 1);
        ck_assert_str_eq(many.problems.items[0],
                         "x:19: Comm=t16 is one too many, or there is one for it above");
}

SCRATCH_TEST(drop_ins_go_over_the_first_file_that_there_is) {
        _cleanup_profile_ Profile p = PROFILE_INIT;

        scratch_put(s, VENDOR "/udp.conf", "[Profile]\nFunctions=vendor\nDepth=9\n");
        scratch_put(s, LOCAL "/udp.conf", "[Profile]\nFunctions=local\nDepth=2\n");
        scratch_put(s, VENDOR "/udp.conf.d/20-b.conf", "[Profile]\nDepth=7\n");
        scratch_put(s, VENDOR "/udp.conf.d/10-a.conf", "[Profile]\nDepth=6\nFunctions=a\n");
        scratch_put(s, VENDOR "/udp.conf.d/30-c.conf", "[Profile]\nDepth=8\n");
        scratch_put(s, LOCAL "/udp.conf.d/30-c.conf", "");
        ck_assert_int_eq(profile_load(&p, s->path, "udp"), 0);
        ck_assert_uint_eq(p.problems.n, 0);
        expect_spec(&p, "{\"depth\":7,\"functions\":[\"local\",\"a\"]}");
        ck_assert_uint_eq(p.files.n, 4);
        ck_assert_str_eq(p.name, "udp");
}

SCRATCH_TEST(an_empty_file_or_a_link_to_nothing_hides_a_profile) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        _cleanup_strv_ Strv names = {};
        _cleanup_free_ char *like = NULL, *none = NULL;

        scratch_put(s, VENDOR "/udp-send.conf", "[Profile]\nFunctions=a\n");
        scratch_put(s, VENDOR "/tcp-send.conf", "[Profile]\nFunctions=a\n");
        scratch_put(s, VENDOR "/bad name.conf", "[Profile]\nFunctions=a\n");
        scratch_put(s, VENDOR "/udp-send.conf.d/x.conf", "[Profile]\nDepth=1\n");
        scratch_put(s, LOCAL "/tcp-send.conf", "");
        ck_assert_int_eq(profile_load(&p, s->path, "tcp-send"), PROFILE_E_HIDDEN);
        ck_assert_int_eq(profile_load(&p, s->path, "udp"), PROFILE_E_NOT_FOUND);
        ck_assert_int_eq(profile_list(&names, s->path), 0);
        ck_assert_uint_eq(names.n, 2);
        ck_assert_int_eq(profile_suggest(&like, s->path, "udp-sned"), 0);
        ck_assert_str_eq(like, "udp-send");
        ck_assert_int_eq(profile_suggest(&none, s->path, "entirely-else"), 0);
        ck_assert_ptr_null(none);

        ck_assert_int_eq(unlinkat(s->fd, LOCAL "/tcp-send.conf", 0), 0);
        ck_assert_int_eq(symlinkat("/dev/null", s->fd, LOCAL "/tcp-send.conf"), 0);
        ck_assert_int_eq(profile_load(&p, s->path, "tcp-send"), PROFILE_E_HIDDEN);
}

SCRATCH_TEST(a_drop_in_that_cannot_be_read_is_a_problem) {
        _cleanup_profile_ Profile p = PROFILE_INIT;

        scratch_put(s, VENDOR "/udp.conf", "[Profile]\nFunctions=a\n");
        scratch_put(s, VENDOR "/udp.conf.d/x.conf/a-directory", "");
        ck_assert_int_eq(profile_load(&p, s->path, "udp"), 0);
        ck_assert_uint_eq(p.problems.n, 1);
        ck_assert_ptr_nonnull(strstr(p.problems.items[0], "x.conf cannot be read"));
}

TEST(json_has_each_line_and_where_it_is_from) {
        _cleanup_profile_ Profile p = profile_of("[Profile]\nFunctions=a\nDepth=x\n");
        json_auto_t *o = profile_to_json(&p);
        const char *key, *value, *file;
        int line;

        ck_assert_int_eq(json_unpack(json_array_get(json_object_get(o, "settings"), 0),
                                     "{ss ss ss si !}", "key", &key, "value", &value, "file", &file,
                                     "line", &line),
                         0);
        ck_assert_str_eq(key, "Functions");
        ck_assert_str_eq(value, "a");
        ck_assert_str_eq(file, "x");
        ck_assert_int_eq(line, 2);
        ck_assert_uint_eq(json_array_size(json_object_get(o, "problems")), 1);
}

#define DAY_NS (86400 * NSEC_PER_SEC)
#define HOSTS 100000

/* As systemd-machine-id-setup makes them: random digits, here the same in each run. */
static void make_id(char text[static SAMPLE_ID_BYTES + 1], uint64_t i) {
        uint64_t a = (i + 1) * UINT64_C(0x9e3779b97f4a7c15),
                 b = (a ^ a >> 31) * UINT64_C(0xbf58476d1ce4e5b9);

        (void) snprintf(text, SAMPLE_ID_BYTES + 1, "%016llx%016llx", (unsigned long long) a,
                        (unsigned long long) b);
}

static unsigned count(uint64_t day, uint64_t ppm) {
        char id[SAMPLE_ID_BYTES + 1];
        unsigned n = 0;

        for (uint64_t i = 0; i < HOSTS; i++) {
                make_id(id, i);
                n += sample_has(id, day * DAY_NS + 5, ppm);
        }
        return n;
}

TEST(sums_times_weights_estimate_all) {
        for (uint64_t day = 20000; day < 20005; day++) {
                /* Four standard deviations of a binomial: sqrt(100000 p (1 - p)). */
                ck_assert_double_eq_tol(count(day, 10000) * sample_weight(10000), HOSTS,
                                        100 * 4 * 31.5);
                ck_assert_double_eq_tol(count(day, 500000) * sample_weight(500000), HOSTS,
                                        2 * 4 * 158.1);
        }
}

TEST(a_larger_share_has_the_hosts_of_a_smaller_one) {
        char id[SAMPLE_ID_BYTES + 1];

        for (uint64_t i = 0; i < HOSTS; i++) {
                make_id(id, i);
                if (sample_has(id, 0, 10000))
                        ck_assert(sample_has(id, 0, 20000));
        }
}

TEST(a_host_is_in_for_a_day_and_not_for_ever) {
        unsigned n_first = 0, n_both = 0;
        char id[SAMPLE_ID_BYTES + 1];

        for (uint64_t i = 0; i < HOSTS; i++) {
                make_id(id, i);
                ck_assert_int_eq(sample_has(id, DAY_NS, 100000),
                                 sample_has(id, 2 * DAY_NS - 1, 100000));
                n_first += sample_has(id, DAY_NS, 100000);
                n_both += sample_has(id, DAY_NS, 100000) && sample_has(id, 2 * DAY_NS, 100000);
        }
        ck_assert_uint_gt(n_both, 0);
        ck_assert_uint_lt(n_both * 5, n_first);
}

TEST(all_and_no_sample_have_everybody) {
        ck_assert_uint_eq(count(1, 0), HOSTS);
        ck_assert_uint_eq(count(1, SAMPLE_ALL_PPM), HOSTS);
        ck_assert_double_eq(sample_weight(0), 1);
        ck_assert_double_eq(sample_weight(SAMPLE_ALL_PPM), 1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "meta/config.h"
#include "tests/unit/scratch.h"

static Config config_of(const char *text, Strv *problems) {
        _cleanup_free_ char *copy = strdup(text);
        Config c = CONFIG_INIT;

        ck_assert_int_eq(config_parse(&c, "x.conf", copy, problems), 0);
        return c;
}

TEST(every_key_is_read) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c =
                config_of("[Store]\nMaxUse=20%\nKeepFree=3G\n"
                          "MaxSessionSize=100M\nMaxSegmentSize=1M\n"
                          "MaxSegmentSec=5min\nMaxRetentionSec=2weeks\n"
                          "[Guard]\nLean=off\nRelearnSec=5min\nMaxHookedFunctions="
                          "2K\nMaxBufferMemory=30%\n"
                          "MaxEventRate=1.5M\nMaxWriteRate=64M\nMaxCPU=12.5%\n"
                          "[Members]\nFunctions=udp_* vfs_read\nEvents=sched:*\n"
                          "MaxSessions=3\nMaxStored=20M\nMaxConnections=9\n"
                          "MaxCalls=8\n",
                          &problems);
        Limits l = config_limits(&c, 100ULL << 30, 4);

        ck_assert_uint_eq(problems.n, 0);
        ck_assert_uint_eq(l.max_use_bytes, (100ULL << 30) / 100 * 20);
        ck_assert_uint_eq(l.keep_free_bytes, 3ULL << 30);
        ck_assert_uint_eq(l.max_session_bytes, 100 << 20);
        ck_assert(l.session_is_limited);
        ck_assert_uint_eq(l.max_segment_bytes, 1 << 20);
        ck_assert_uint_eq(l.max_segment_ns, 300ULL * 1000000000);
        ck_assert_uint_eq(l.max_retention_ns, 14ULL * 86400 * 1000000000);
        ck_assert_int_eq((int) l.lean, LEAN_OFF);
        ck_assert_uint_eq(l.spec.max_hooked, 2000);
        ck_assert_uint_eq(l.max_buffer_memory.percent, 30);
        ck_assert_uint_eq(l.spec.max_event_rate, 1500000);
        ck_assert_uint_eq(l.spec.max_write_rate, 64 << 20);
        ck_assert_uint_eq(l.spec.max_cpu_ppm, 125000);
        ck_assert_uint_eq(l.member_functions->n, 2);
        ck_assert_str_eq(l.member_functions->items[1], "vfs_read");
        ck_assert_str_eq(l.member_events->items[0], "sched:*");
        ck_assert_uint_eq(l.member.max_sessions, 3);
        ck_assert_uint_eq(l.member.max_stored_bytes, 20 << 20);
        ck_assert_uint_eq(l.member.max_connections, 9);
        ck_assert_uint_eq(l.member.max_calls, 8);
        ck_assert_str_eq(c.origins[config_find("Store", "MaxUse")].file, "x.conf");
        ck_assert_uint_eq(c.origins[config_find("Store", "KeepFree")].line, 3);
        ck_assert_str_eq(config_text(&c, config_find("Store", "MaxRetentionSec")), "2weeks");
}

TEST(lists_are_of_names_alone_and_can_be_emptied) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c = config_of("[Members]\nFunctions=udp_*\nFunctions=none\n"
                                              "Events=sched:*\nEvents=\n"
                                              "Functions=udp;rm\nEvents=sched:$x\n",
                                              &problems);
        Limits l = config_limits(&c, 1ULL << 30, 1);

        ck_assert_uint_eq(problems.n, 2);
        ck_assert_ptr_nonnull(l.member_functions);
        ck_assert_uint_eq(l.member_functions->n, 0);
        ck_assert_uint_eq(l.member_events->n, 0);
        ck_assert_str_eq(config_text(&c, config_find("Members", "Events")), "none");
}

TEST(defaults_depend_on_the_disk_and_have_bounds) {
        Config c = CONFIG_INIT;
        Limits small = config_limits(&c, 1ULL << 20, 4), middle = config_limits(&c, 1ULL << 30, 4),
               large = config_limits(&c, 1ULL << 50, 4);

        ck_assert_uint_eq(small.max_use_bytes, 16 << 20);
        ck_assert_uint_eq(middle.max_use_bytes, (1ULL << 30) / 100 * 10);
        ck_assert_uint_eq(middle.keep_free_bytes, (1ULL << 30) / 100 * 15);
        ck_assert_uint_eq(large.max_use_bytes, 4ULL << 30);
        ck_assert_uint_eq(large.keep_free_bytes, 4ULL << 30);
        ck_assert_uint_eq(large.max_segment_bytes, 128 << 20);
        ck_assert_uint_eq(large.max_session_bytes, 512 << 20);
        ck_assert(!large.session_is_limited);
        ck_assert_uint_eq(large.max_retention_ns, 0);
        ck_assert_uint_eq(large.spec.max_event_rate, 4 * CONFIG_CPU_EVENT_RATE);
        ck_assert_uint_eq(large.spec.max_hooked, 4096);
        ck_assert_uint_eq(large.max_buffer_memory.percent, 50);
}

TEST(what_is_wrong_is_named_and_changes_nothing) {
        static const struct {
                const char *text, *problem;
        } cases[] = {
                { "[Store]\nMaxUse=5x\n", "x.conf:2: MaxUse=5x is not" },
                { "[Store]\nMaxUse=101%\n", "x.conf:2: MaxUse=101% is not" },
                { "[Store]\nKeepFree=-1\n", "x.conf:2: KeepFree=-1 is not" },
                { "[Store]\nMaxSegmentSize=1\n", "x.conf:2: MaxSegmentSize=1 is not" },
                { "[Store]\nMaxSegmentSec=10ms\n", "x.conf:2: MaxSegmentSec=10ms is not" },
                { "[Guard]\nMaxCPU=half\n", "x.conf:2: MaxCPU=half is not a share" },
                { "[Guard]\nLean=infinity\n",
                  "x.conf:2: Lean=infinity is not a word: auto or off (instead of full)" },
                { "[Guard]\nLean=default\n", "x.conf:2: Lean=default is not a word" },
                { "[Guard]\nLean=full\n", "x.conf:2: Lean=full is not a word: auto" },
                { "[Guard]\nMaxEventRate=5 M\n", "x.conf:2: MaxEventRate=5 M is not a number" },
                { "[Store]\nMaxCPU=5\n", "x.conf:2: unknown key MaxCPU= in [Store]" },
                { "[Store]\n\nMaxUsed=5\n", "x.conf:3: unknown key MaxUsed= in [Store]" },
                { "MaxUse=5\n", "x.conf:1: unknown key MaxUse= before a section" },
                { "[Stores]\nMaxUse=5\n", "x.conf:1: unknown section [Stores]" },
                { "[Store]\nMaxUse\n", "x.conf:2: neither" },
                { "[Store]\nA\033[2J=1\n", "x.conf:2: unknown key A\\x1b[2J=" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_strv_ Strv problems = {};
                _cleanup_config_ Config c = config_of(cases[i].text, &problems);

                ck_assert_uint_eq(problems.n, 1);
                ck_assert_msg(startswith(problems.items[0], cases[i].problem), "%s",
                              problems.items[0]);
                ck_assert_uint_eq(c.max_use.bytes, UINT64_MAX);
                ck_assert_uint_eq(c.limits.max_segment_bytes, UINT64_MAX);
                ck_assert_uint_eq(c.limits.max_segment_ns, 3600 * NSEC_PER_SEC);
        }
}

TEST(an_empty_value_sets_the_default_again) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c = config_of(
                "[Store]\nMaxUse=1G\nMaxSegmentSec=1min\nMaxUse=\nMaxSegmentSec=\n", &problems);

        ck_assert_uint_eq(c.max_use.bytes, UINT64_MAX);
        ck_assert_uint_eq(c.limits.max_segment_ns, 3600 * NSEC_PER_SEC);
        ck_assert_ptr_null(c.origins[config_find("Store", "MaxUse")].file);
        ck_assert_uint_eq(problems.n, 0);
}

TEST(nothing_and_infinity_are_no_limit) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c = config_of("[Store]\nMaxUse=infinity\nKeepFree=0\n"
                                              "MaxSegmentSec=0\nMaxSessionSize=0\n"
                                              "[Guard]\nMaxEventRate=infinity\n"
                                              "MaxBufferMemory=0\nMaxCPU=0\n",
                                              &problems);
        Limits l = config_limits(&c, 1ULL << 40, 4);

        ck_assert_uint_eq(problems.n, 0);
        ck_assert_uint_eq(l.max_use_bytes, 0);
        ck_assert_uint_eq(l.keep_free_bytes, 0);
        ck_assert_uint_eq(l.max_segment_ns, 0);
        ck_assert_uint_eq(l.spec.max_event_rate, 0);
        ck_assert_uint_eq(l.max_buffer_memory.percent, 0);
        ck_assert_uint_eq(l.max_buffer_memory.bytes, 0);
        ck_assert_uint_eq(l.spec.max_cpu_ppm, 0);
        ck_assert(!l.session_is_limited);
}

TEST(sections_of_others_are_left_alone) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c =
                config_of("[X-Mine]\nMaxUse=1\nwhatever=2\n[Store]\nKeepFree=7\n", &problems);

        ck_assert_uint_eq(problems.n, 0);
        ck_assert_uint_eq(c.max_use.bytes, UINT64_MAX);
        ck_assert_uint_eq(c.keep_free.bytes, 7);
}

#define MAX_USE(n) "[Store]\nMaxUse=" #n "\n"
#define DROP_IN "/ftraced/ftraced.conf.d/"

SCRATCH_TEST(files_count_in_systemds_order) {
        static const struct {
                const char *path, *text;
                uint64_t max_use;
        } steps[] = {
                { "usr/lib/ftraced/ftraced.conf", MAX_USE(1), 1 },
                { "run/ftraced/ftraced.conf", MAX_USE(2), 2 },
                { "etc/ftraced/ftraced.conf", MAX_USE(3), 3 },
                { "usr/lib" DROP_IN "10-a.conf", MAX_USE(4), 4 },
                { "etc" DROP_IN "20-b.conf", MAX_USE(5), 5 },
                { "usr/lib" DROP_IN "30-c.conf", MAX_USE(6), 6 },
                { "run" DROP_IN "30-c.conf", MAX_USE(7), 7 },
                { "etc" DROP_IN "30-c.conf", "", 5 },
                { "etc" DROP_IN "40-no.txt", MAX_USE(8), 5 },
                { "etc" DROP_IN ".50-hidden.conf", MAX_USE(9), 5 },
        };

        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                _cleanup_strv_ Strv problems = {};
                _cleanup_config_ Config c = {};

                scratch_put(s, steps[i].path, steps[i].text);
                ck_assert_int_eq(config_load(&c, s->path, NULL, &problems), 0);
                ck_assert_uint_eq(c.max_use.bytes, steps[i].max_use);
                ck_assert_uint_eq(problems.n, 0);
        }
}

SCRATCH_TEST(a_link_to_nowhere_hides_as_well) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c = {};

        scratch_put(s, "usr/lib" DROP_IN "a.conf", MAX_USE(4));
        scratch_put(s, "etc" DROP_IN "b.conf", "");
        ck_assert_int_eq(symlinkat("/dev/null", s->fd, "etc" DROP_IN "a.conf"), 0);
        ck_assert_int_eq(config_load(&c, s->path, NULL, &problems), 0);
        ck_assert_uint_eq(c.max_use.bytes, UINT64_MAX);
}

SCRATCH_TEST(a_file_that_is_asked_for_is_the_only_one) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c = {}, none = {};
        char path[PATH_MAX + 16];

        scratch_put(s, "etc/ftraced/ftraced.conf", MAX_USE(3));
        scratch_put(s, "mine", "[Store]\nKeepFree=1\n");
        (void) snprintf(path, sizeof(path), "%s/mine", s->path);
        ck_assert_int_eq(config_load(&c, s->path, path, &problems), 0);
        ck_assert_uint_eq(c.max_use.bytes, UINT64_MAX);
        ck_assert_uint_eq(c.keep_free.bytes, 1);
        ck_assert_int_eq(config_load(&none, NULL, "/no/such/file", &problems), -ENOENT);
}

SCRATCH_TEST(a_file_that_cannot_be_read_is_named) {
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c = {};

        scratch_put(s, "etc/ftraced/ftraced.conf/x", "");
        ck_assert_int_eq(config_load(&c, s->path, NULL, &problems), 0);
        ck_assert_uint_eq(problems.n, 1);
        ck_assert_ptr_nonnull(strstr(problems.items[0], "etc/ftraced/ftraced.conf"));
}

TEST(what_is_gone_says_what_to_use_and_a_word_has_its_kind) {
        ck_assert_str_eq(gone_instead(GONE_VERB, "learn"), "what is recorded teaches by itself");
        ck_assert_ptr_nonnull(strstr(gone_instead(GONE_KEY, "MaxDurationSec"), "Duration="));
        ck_assert_ptr_null(gone_instead(GONE_OPTION, "learn"));
        ck_assert_ptr_null(gone_instead(GONE_VERB, "report"));
}

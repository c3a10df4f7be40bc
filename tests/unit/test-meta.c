/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "meta/brief.h"
#include "meta/meta.h"
#include "unit.h"

#define SMALLEST                                                                                   \
        "\"version\":1,\"name\":\"boot\",\"id\":\"0123456789abcdef\",\"state\":\"sealed\","        \
        "\"spec\":{\"functions\":[\"f\"]}"

#define HASH "0123456789abcdef0123456789abcdef"

static int parse(SessionMeta **ret, const char *text, char field[static 256]) {
        json_auto_t *o = json_loads(text, JSON_DECODE_ANY, NULL);
        const char *f = "";
        int r;

        ck_assert_msg(o, "%s", text);
        r = session_meta_from_json(ret, o, &f);
        (void) snprintf(field, 256, "%s", f);
        return r;
}

TEST(absent_texts_are_empty_or_null_as_the_interface_says) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        char field[256];

        ck_assert_int_eq(parse(&m, "{" SMALLEST ",\"later\":[1]}", field), 0);
        ck_assert_str_eq(m->name, "boot");
        ck_assert_int_eq(m->state, SESSION_SEALED);
        ck_assert_str_eq(m->kernel, "");
        ck_assert_str_eq(m->clock, "");
        ck_assert_ptr_null(m->reason);
        ck_assert_ptr_null(m->instance);
        ck_assert_ptr_null(m->symbols);
        ck_assert_ptr_null(m->modules);
        ck_assert_uint_eq(m->symbol_maps.n, 0);
        ck_assert_uint_eq(m->n_cpus, 0);
        ck_assert_uint_eq(m->start.boottime_ns, 0);
}

TEST(every_refusal_names_its_key) {
        static const struct {
                const char *text, *field;
        } cases[] = {
                { "[]", "session" },
                { "{\"version\":0}", "version" },
                { "{\"version\":1}", "name" },
                { "{\"version\":1,\"name\":\"../x\"}", "name" },
                { "{\"version\":1,\"name\":\"x\",\"id\":\"12\"}", "id" },
                { "{\"version\":1,\"name\":\"x\",\"id\":\"0123456789ABCDEF\"}", "id" },
                { "{\"version\":1,\"name\":\"x\",\"id\":\"0123456789abcdef\"}", "state" },
                { "{\"version\":1,\"name\":\"x\",\"id\":\"0123456789abcdef\",\"state\":\"new\"}",
                  "spec" },
                { "{\"version\":1,\"name\":\"x\",\"id\":\"0123456789abcdef\","
                  "\"state\":\"new\",\"spec\":{\"functions\":[\"f\"],\"depth\":99}}",
                  "depth" },
                { "{" SMALLEST ",\"reason\":1}", "reason" },
                { "{" SMALLEST ",\"owner_uid\":4294967296}", "owner_uid" },
                { "{" SMALLEST ",\"owner_pid\":2147483648}", "owner_pid" },
                { "{" SMALLEST ",\"roots\":{}}", "roots" },
                { "{" SMALLEST ",\"warnings\":[null]}", "warnings" },
                { "{" SMALLEST ",\"symbols\":\"../../etc/passwd\"}", "symbols" },
                { "{" SMALLEST ",\"modules\":\"12\"}", "modules" },
                { "{" SMALLEST ",\"symbol_maps\":{}}", "symbol_maps" },
                { "{" SMALLEST ",\"symbol_maps\":[{}]}", "symbol_maps" },
                { "{" SMALLEST ",\"symbol_maps\":[{\"symbols\":\"../x\"}]}", "symbol_maps" },
                { "{" SMALLEST ",\"symbol_maps\":[{\"unchanged_ns\":2,\"from_ns\":1,"
                  "\"symbols\":\"" HASH "\"}]}",
                  "symbol_maps" },
                { "{" SMALLEST ",\"symbol_maps\":[{\"unchanged_ns\":2,\"from_ns\":4,"
                  "\"symbols\":\"" HASH "\"},{\"unchanged_ns\":3,\"from_ns\":5,"
                  "\"symbols\":\"" HASH "\"}]}",
                  "symbol_maps" },
                { "{" SMALLEST ",\"page_bytes\":4097}", "page_bytes" },
                { "{" SMALLEST ",\"page_bytes\":2048}", "page_bytes" },
                { "{" SMALLEST ",\"page_bytes\":2097152}", "page_bytes" },
                { "{" SMALLEST ",\"n_possible_cpus\":8193}", "n_possible_cpus" },
                { "{" SMALLEST ",\"big_endian\":1}", "big_endian" },
                { "{" SMALLEST ",\"arm_ns\":-1}", "arm_ns" },
                { "{" SMALLEST ",\"tree_from\":\"hearsay\"}", "tree_from" },
                { "{" SMALLEST ",\"own_work\":[{\"from_ns\":3,\"to_ns\":2}]}", "own_work" },
                { "{" SMALLEST ",\"own_work\":[{\"from_ns\":1,\"to_ns\":5},"
                  "{\"from_ns\":5,\"to_ns\":6}]}",
                  "own_work" },
                { "{" SMALLEST ",\"start\":[]}", "start" },
                { "{" SMALLEST ",\"stop\":{\"trace_ns\":-5}}", "stop" },
                { "{" SMALLEST ",\"cpus\":{}}", "cpus" },
                { "{" SMALLEST ",\"cpus\":[1]}", "cpus" },
                { "{" SMALLEST ",\"cpus\":[{}]}", "cpus" },
                { "{" SMALLEST ",\"cpus\":[{\"cpu\":8192}]}", "cpus" },
                { "{" SMALLEST ",\"cpus\":[{\"cpu\":1},{\"cpu\":1}]}", "cpus" },
                { "{" SMALLEST ",\"cpus\":[{\"cpu\":1,\"overrun\":-1}]}", "cpus" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                SessionMeta *m = (SessionMeta *) &cases;
                char field[256];

                ck_assert_msg(parse(&m, cases[i].text, field) == META_E_INVALID, "%s",
                              cases[i].text);
                ck_assert_str_eq(field, cases[i].field);
                ck_assert_ptr_eq(m, &cases);
        }
}

TEST(control_characters_do_not_reach_a_terminal) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        char field[256];

        ck_assert_int_eq(parse(&m,
                               "{" SMALLEST ",\"host\":\"a\\u001b[31mb\\u0007\\u007f"
                               "\\u009b\\u00e9\"}",
                               field),
                         0);
        ck_assert_str_eq(m->host, "a?[31mb????\xc3\xa9");
}

TEST(numbers_beyond_json_are_cut_and_clocks_are_null_until_set) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL, *again = NULL;
        json_auto_t *o = NULL;
        const char *field;

        ck_assert_int_eq(session_meta_new(&m), 0);
        m->name = strdup("x");
        m->id = strdup("0000000000000000");
        ck_assert_int_eq(strv_add(&m->spec.functions, "f"), 0);
        m->arm_ns = UINT64_MAX;
        o = session_meta_to_json(m);
        ck_assert_int_eq(json_integer_value(json_object_get(o, "arm_ns")), INT64_MAX);
        ck_assert(json_is_null(json_object_get(o, "start")));
        ck_assert(json_is_null(json_object_get(o, "stop")));
        ck_assert_ptr_null(json_object_get(o, "instance"));
        ck_assert_int_eq(session_meta_from_json(&again, o, &field), 0);
        ck_assert_uint_eq(again->arm_ns, INT64_MAX);
}

TEST(sums_cover_all_cpus_and_never_wrap) {
        CpuAccount cpus[] = {
                { .n_bytes = 1, .overrun = 2, .commit_overrun = 4, .dropped_events = 8 },
                { .cpu = 1, .n_bytes = 16, .overrun = 32, .pages_lost = 64 },
        };
        SessionMeta m = { .cpus = cpus, .n_cpus = 2 };

        ck_assert_uint_eq(session_meta_total(&m).n_bytes, 17);
        ck_assert_uint_eq(session_meta_events_lost(&m), 46);
        ck_assert_uint_eq(cpu_account_events_lost(&cpus[0]), 14);
        ck_assert_uint_eq(session_meta_total(&m).pages_lost, 64);
        cpus[0].overrun = UINT64_MAX;
        ck_assert_uint_eq(session_meta_events_lost(&m), UINT64_MAX);
}

TEST(length_ends_at_stop_or_now_and_is_never_negative) {
        SessionMeta m = { .state = SESSION_SEALED };
        struct timespec now;

        ck_assert_uint_eq(session_meta_length_ns(&m), 0);
        m.start.boottime_ns = 1000;
        ck_assert_uint_eq(session_meta_length_ns(&m), 0);
        m.stop.boottime_ns = 1500;
        ck_assert_uint_eq(session_meta_length_ns(&m), 500);
        m.stop.boottime_ns = 500;
        ck_assert_uint_eq(session_meta_length_ns(&m), 0);

        ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &now), 0);
        m.stop.boottime_ns = 0;
        m.state = SESSION_RECORDING;
        m.start.boottime_ns = (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
        ck_assert_uint_lt(session_meta_length_ns(&m), 60000000000);
}

/* Any bytes but NUL, so also what is not UTF-8 and what a terminal would obey. */
static char *random_text(size_t max) {
        size_t n = (size_t) random() % (max + 1);
        char *s = malloc(n + 1);

        for (size_t i = 0; i < n; i++)
                s[i] = (char) (random() % 255 + 1);
        s[n] = 0;
        return s;
}

static char *random_word(const char *alphabet, size_t n) {
        char *s = calloc(1, n + 1);

        for (size_t i = 0; i < n; i++)
                s[i] = alphabet[(size_t) random() % strlen(alphabet)];
        return s;
}

static uint64_t random_number(void) {
        uint64_t n = (uint64_t) random() << 33 ^ (uint64_t) random() << 11 ^ (uint64_t) random();

        return n >> (random() % 64);
}

static SessionMeta *random_meta(void) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        m->name = random_word("abcXYZ019", 1 + (size_t) random() % 63);
        m->id = random_word("0123456789abcdef", 16);
        m->state = (SessionState) (random() % _SESSION_STATE_N);
        if (random() % 2)
                m->reason = random_text(random() % 8 ? 100 : 10000);
        m->owner_uid = (uid_t) random_number();
        m->owner_pid = (pid_t) (random_number() & INT32_MAX);
        ck_assert_int_eq(strv_add(&m->spec.functions, "vfs_*"), 0);
        m->spec.duration_ns = random_number();
        m->spec.max_bytes = random_number();
        for (long i = random() % 5; i > 0; i--) {
                ck_assert_int_eq(strv_take(&m->roots, random_text(300)), 0);
                ck_assert_int_eq(strv_take(&m->notrace, random_text(30)), 0);
                ck_assert_int_eq(strv_take(&m->neighbours, random_text(100)), 0);
        }
        for (long i = random() % 20 ? random() % 5 : 5000; i > 0; i--)
                ck_assert_int_eq(strv_take(&m->warnings, random_text(20)), 0);
        if (random() % 2)
                m->kernel = random_text(300);
        m->host = random_text(20);
        if (random() % 2)
                m->instance = random_text(20);
        if (random() % 2)
                m->symbols = random_word("0123456789abcdef", 32);
        if (random() % 2)
                m->modules = random_word("0123456789abcdef", 32);
        for (long i = random() % 20 ? random() % 3 : SYMBOL_MAPS_MAX, k = 0; k < i; k++) {
                _cleanup_free_ char *hash = random_word("0123456789abcdef", 32);

                ck_assert_int_eq(symbol_maps_add(&m->symbol_maps, (uint64_t) k * 10,
                                                 (uint64_t) k * 10 + 10, hash,
                                                 random() % 2 ? hash : NULL),
                                 0);
        }
        m->page_bytes = random() % 2 ? 4096U << (random() % 9) : 0;
        m->n_possible_cpus = (uint32_t) (random() % 9000);
        m->big_endian = random() % 2;
        m->arm_ns = random_number();
        m->first_sequence = random_number() % (UINT64_C(1) << 33);
        m->bytes_dropped = random() % 2 ? random_number() : 0;
        m->pages_unsynced = random() % 2 ? random_number() : 0;
        m->pinned = random() % 2;
        if (random() % 2)
                m->kept_since = (ClockTuple){ .realtime_ns = random_number() };
        m->n_known = random() % 2 ? (uint32_t) (random() % 9000) : 0;
        m->tree_from = (TreeOrigin) (1 + random() % (_TREE_ORIGIN_N - 1));
        m->callees_unknown = random() % 2;
        for (long i = random() % 5; i > 0; i--) {
                ck_assert_int_eq(strv_take(&m->left_out, random_text(30)), 0);
                ck_assert_int_eq(strv_take(&m->left_out_in, random_text(100)), 0);
                ck_assert_int_eq(strv_take(&m->left_out_why, random_text(10)), 0);
                ck_assert_int_eq(strv_take(&m->callees_unknown_of, random_text(30)), 0);
        }
        for (uint64_t i = 0, n = (uint64_t) random() % 300; i < n; i++)
                ck_assert_int_eq(own_works_add(&m->own_work, i * 10, i * 10 + i % 9), 0);
        if (random() % 2)
                m->start = (ClockTuple){ random_number(), random_number(), random_number(),
                                         random_number() };
        m->n_cpus = (size_t) random() % 20;
        m->cpus = calloc(m->n_cpus ?: 1, sizeof(*m->cpus));
        for (size_t i = 0; i < m->n_cpus; i++)
                m->cpus[i] = (CpuAccount){
                        .cpu = (uint32_t) (i * 3),
                        .n_bytes = random_number(),
                        .overrun = random_number(),
                        .pages_lost = random_number(),
                        .pages_dropped = random_number(),
                };
        return m;
}

TEST(whatever_is_written_is_read_back_equal) {
        unsigned seed = unit_seed();

        srandom(seed);
        for (int i = 0; i < 300; i++) {
                _cleanup_(session_meta_freep) SessionMeta *m = random_meta(), *again = NULL;
                json_auto_t *o = session_meta_to_json(m), *o2 = NULL, *parsed = NULL;
                _cleanup_free_ char *text = NULL;
                const char *field = "";
                int r;

                ck_assert_ptr_nonnull(o);
                text = json_dumps(o, 0);
                parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
                ck_assert_ptr_nonnull(parsed);
                r = session_meta_from_json(&again, parsed, &field);
                ck_assert_msg(r == 0, "seed %u, round %d: %d at %s", seed, i, r, field);
                o2 = session_meta_to_json(again);
                ck_assert_msg(json_equal(o, o2), "seed %u, round %d", seed, i);
        }
}

TEST(what_earlier_versions_hooked_is_told_in_todays_words) {
        static const struct {
                const char *text;
                TreeOrigin from;
                bool unknown;
        } cases[] = {
                { "\"page_bytes\":4096", TREE_ALL, false },
                { "\"page_bytes\":0", TREE_UNTOLD, false }, /* another program's */
                { "\"page_bytes\":4096,\"n_ordinary\":5000", TREE_UNKNOWN, true },
                { "\"page_bytes\":4096,\"n_hooked\":30", TREE_UNKNOWN, true },
                { "\"page_bytes\":4096,\"n_hooked\":30,\"learned_ns\":7", TREE_LEARNED, true },
                { "\"page_bytes\":4096,\"n_hooked\":30,\"learned_ns\":7,\"tree_from\":\"shipped\"",
                  TREE_SHIPPED, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                _cleanup_free_ char *text = NULL;
                char field[256];

                ck_assert_int_ge(asprintf(&text, "{" SMALLEST ",%s}", cases[i].text), 0);
                ck_assert_int_eq(parse(&m, text, field), 0);
                ck_assert_int_eq((int) m->tree_from, (int) cases[i].from);
                ck_assert(m->callees_unknown == cases[i].unknown);
        }
}

TEST(of_a_newer_version_is_told_what_can_be) {
        static const char text[] = "{\"version\":2,\"name\":\"../"
                                   "x\",\"id\":7,\"owner_uid\":\"many\",\"start\":[],"
                                   "\"state\":\"hovering\"}";
        _cleanup_(session_meta_freep) SessionMeta *m = NULL, *again = NULL;
        json_auto_t *o = json_loads(text, 0, NULL), *written = NULL;
        const char *field;

        ck_assert_int_eq(session_meta_from_json(&m, o, &field), META_E_NEWER);
        ck_assert_ptr_null(m);
        ck_assert_int_eq(session_meta_stand_in(&m, o, "boot", NULL), 0);
        ck_assert_uint_eq(m->newer_version, 2);
        ck_assert_str_eq(m->name, "boot");
        ck_assert_ptr_nonnull(strstr(m->reason, "is of version 2, and this ftraced knows 1"));
        /* It goes over the wire like any other. */
        written = session_meta_to_json(m);
        ck_assert_int_eq(session_meta_from_json(&again, written, &field), 0);
        ck_assert_uint_eq(again->newer_version, 2);
}

TEST(of_one_that_cannot_be_read_is_told_why) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL, *again = NULL;
        json_auto_t *written = NULL, *listed = NULL;
        _cleanup_brief_ Brief b = {}, heard = {};
        const char *field;

        ck_assert_int_eq(session_meta_stand_in(&m, NULL, "boot", "damaged: by a mouse"), 0);
        ck_assert(!session_meta_is_known(m));
        written = session_meta_to_json(m);
        ck_assert_int_eq(session_meta_from_json(&again, written, &field), 0);
        ck_assert(again->unreadable && again->newer_version == 0);
        ck_assert_str_eq(again->reason, "damaged: by a mouse");
        ck_assert_int_eq(brief_of_meta(&b, again, 0), 0);
        listed = brief_to_json(&b);
        ck_assert_int_eq(brief_from_json(&heard, listed, &field), 0);
        ck_assert_str_eq(heard.unreadable, "damaged: by a mouse");
        ck_assert_uint_eq(heard.roots.n, 0);
}

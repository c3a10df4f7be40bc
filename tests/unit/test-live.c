/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/watch/watch.h"
#include "scratch.h"

static SessionDir *dir_of(const Scratch *s) {
        SessionDir *d = MADE(SessionDir, session_dir_take_fds, dup(s->fd), -EBADF);

        return d;
}

static int read_text(const Scratch *s, const char *text, Live *ret) {
        _cleanup_(session_dir_freep) SessionDir *d = dir_of(s);

        scratch_write(s->fd, "live.json", text, strlen(text));
        return live_read(d, ret);
}

SCRATCH_TEST(what_is_written_comes_back) {
        _cleanup_(session_dir_freep) SessionDir *d = dir_of(s);
        LiveCpu cpus[] = {
                { .cpu = 0, .counters = { .last = { 1, 2, 3, 4 }, .sum = { 5, 6, 7, 8 } } },
                { .cpu = 7, .counters = { .last = { UINT64_MAX, 0, 0, INT64_MAX } } },
        };
        Live l = { .attached = true, .left = true, .cpus = cpus, .n_cpus = 2 };
        _cleanup_live_ Live back = {};

        ck_assert_int_eq(live_read(d, &back), -ENOENT);
        ck_assert_int_eq(live_write(d, &l), 0);
        ck_assert_int_eq(live_read(d, &back), 0);
        ck_assert_int_eq(back.version, LIVE_VERSION);
        ck_assert(back.attached && !back.held && back.left);
        ck_assert_uint_eq(back.n_cpus, 2);
        ck_assert_uint_eq(back.cpus[0].counters.last[3], 4);
        ck_assert_uint_eq(back.cpus[0].counters.sum[0], 5);
        ck_assert_uint_eq(back.cpus[1].cpu, 7);
        ck_assert_uint_eq(back.cpus[1].counters.last[0], INT64_MAX);
        live_remove(d);
        ck_assert_int_ne(faccessat(s->fd, "live.json", F_OK, 0), 0);
}

SCRATCH_TEST(a_newer_version_is_told_from_damage) {
        _cleanup_live_ Live l = {};

        ck_assert_int_eq(read_text(s, "{ \"version\": 12, \"other\": [] }", &l), LIVE_E_NEWER);
        ck_assert_int_eq(l.version, 12);
}

TEST(what_is_not_ours_is_refused) {
        static const char *const texts[] = {
                "",
                "[]",
                "{}",
                "{ \"version\": 0 }",
                "{ \"version\": \"1\" }",
                "{ \"version\": 1 }",
                "{ \"version\": 1, \"attached\": 1, \"held\": 1, \"left\": 1, \"cpus\": [] "
                "}",
                "{ \"version\": 1, \"attached\": true, \"held\": true, \"left\": true }",
                "{ \"version\": 1, \"attached\": true, \"held\": true, \"left\": true, "
                "\"cpus\": [ 1 ] }",
                "{ \"version\": 1, \"attached\": true, \"held\": true, \"left\": true, "
                "\"cpus\": [ { \"cpu\": -1, \"last\": [0,0,0,0], \"sum\": [0,0,0,0] } ] }",
                "{ \"version\": 1, \"attached\": true, \"held\": true, \"left\": true, "
                "\"cpus\": [ { \"cpu\": 1, \"last\": [0,0,0], \"sum\": [0,0,0,0] } ] }",
                "{ \"version\": 1, \"attached\": true, \"held\": true, \"left\": true, "
                "\"cpus\": [ { \"cpu\": 1, \"last\": [0,0,0,-1], \"sum\": [0,0,0,0] } ] }",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_live_ Live l = {};

                ck_assert_msg(read_text(&s, texts[i], &l) == LIVE_E_INVALID, "%s", texts[i]);
                ck_assert_ptr_null(l.cpus);
        }
}

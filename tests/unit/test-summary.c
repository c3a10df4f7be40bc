/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/terminal/terminal.h"
#include "unit.h"

/* Two CPUs, of which the second can be made to lose. */
static SessionMeta *make(CpuAccount second) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        m->cpus = calloc(2, sizeof(*m->cpus));
        ck_assert_ptr_nonnull(m->cpus);
        m->n_cpus = 2;
        m->cpus[0] = (CpuAccount){ .cpu = 0, .n_pages = 10, .n_bytes = 40960, .read_events = 800 };
        m->cpus[1] = second;
        m->cpus[1].cpu = 3;
        m->spec.buffer_bytes = 1 << 20;
        return m;
}

static char *lines(const SessionMeta *m) {
        _cleanup_buf_ Buf out = BUF_INIT;

        summary_loss_lines(&out, m);
        return TEXT_OF(out);
}

TEST(losses_are_told_with_what_would_have_helped) {
        static const struct {
                CpuAccount account;
                const char *loss, *lines;
        } cases[] = {
                { {}, "nothing lost", "" },
                { { .overrun = 50000, .read_events = 1000, .n_bytes = 50000 },
                  "50,000 events lost",
                  "CPU 3: 50,000 events lost (buffer full); --buffer-size=4M would have "
                  "held them.\n" },
                { { .overrun = 900000000, .read_events = 1000, .n_bytes = 50000 },
                  "900,000,000 events lost",
                  "CPU 3: 900,000,000 events lost (buffer full); trace less: fewer "
                  "functions, --depth or --notrace.\n" },
                { { .pages_lost = 1, .commit_overrun = 2 },
                  "2 events and 1 page lost",
                  "CPU 3: 2 events and 1 page lost (buffer wrapped within an interrupt, "
                  "pages not stored).\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(session_meta_freep) SessionMeta *m = make(cases[i].account);
                _cleanup_free_ char *text = lines(m);
                char loss[SUMMARY_MAX];

                ck_assert_int_eq(summary_is_complete(m), i == 0);
                ck_assert_str_eq(text, cases[i].lines);
                ck_assert_str_eq(summary_loss(loss, m), cases[i].loss);
        }
}

TEST(what_was_lost_at_once_is_one_line) {
        CpuAccount c = { .overrun = 50000, .read_events = 1000, .n_bytes = 50000 };
        _cleanup_(session_meta_freep) SessionMeta *m = make(c);
        Gap gaps[2] = { { .cause = GAP_OVERRUN,
                          .cpu = 3,
                          .from_ns = 1000000000,
                          .to_ns = 1500000000,
                          .n_events = 50000 } };
        _cleanup_free_ char *one = NULL, *two = NULL;

        m->gaps = (Gaps){ .items = gaps, .n = 1 };
        one = lines(m);
        gaps[0].n_events = 20000;
        gaps[1] = gaps[0];
        gaps[1].n_events = 30000;
        m->gaps.n = 2;
        two = lines(m);
        m->gaps = (Gaps){};
        ck_assert_str_eq(one, "CPU 3: 50,000 events lost from 1.000000 to 1.500000: the "
                              "kernel's buffer was full; --buffer-size=4M would have held them.\n");
        ck_assert(startswith(two, "CPU 3: 50,000 events lost (buffer full); "));
        ck_assert(strstr(two, "\nCPU 3: 20,000 events lost from "));
}

TEST(hostile_counts_do_not_overflow) {
        CpuAccount c = { .overrun = UINT64_MAX / 2, .read_events = 1, .n_bytes = UINT64_MAX / 2 };
        _cleanup_(session_meta_freep) SessionMeta *m = make(c);

        ck_assert_uint_eq(summary_better_buffer(m, &m->cpus[1]), 0);
        m->spec.buffer_bytes = UINT64_MAX;
        ck_assert_uint_eq(summary_better_buffer(m, &m->cpus[1]), 0);
}

TEST(many_roots_are_counted_not_listed) {
        _cleanup_(session_meta_freep) SessionMeta *m = make((CpuAccount){});
        char text[SUMMARY_MAX];

        ck_assert_int_eq(strv_split(&m->spec.functions, "udp_*", " "), 0);
        ck_assert_str_eq(summary_roots(text, m, 32), "udp_*");
        ck_assert_int_eq(strv_split(&m->roots, "udp_recvmsg udp_sendmsg", " "), 0);
        ck_assert_str_eq(summary_roots(text, m, 32), "udp_recvmsg, udp_sendmsg");
        ck_assert_str_eq(summary_roots(text, m, 12), "udp_recvmsg and 1 other");
        for (int i = 0; i < 1000; i++)
                ck_assert_int_eq(strv_add(&m->roots, "x"), 0);
        ck_assert_str_eq(summary_roots(text, m, 12), "udp_recvmsg and 1001 others");
        ck_assert_uint_lt(strlen(summary_roots(text, m, 100000)), SUMMARY_MAX);
}

TEST(no_time_is_a_dash) {
        char text[SUMMARY_MAX];

        ck_assert_str_eq(summary_time(text, 0), "-");
        setenv("TZ", "UTC", 1);
        ck_assert_str_eq(summary_time(text, 1000000000ULL * 86400), "1970-01-02 00:00:00");
}

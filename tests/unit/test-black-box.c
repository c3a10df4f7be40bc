/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The instance that a boot made and no session removes, on a tracefs that behaves. */

#include "daemon/watch/watch.h"
#include "fake-kernel.h"
#include "meta/event-choice.h"

#define BOX "instances/boot_mapped/"
#define WORDS "quiet reserve_mem=16M:4096:trace trace_instance=boot_mapped^traceoff@trace,x:y\n"

static void make_box(FakeKernel *k) {
        fake_put_root(k, "proc/cmdline", WORDS);
        ck_assert_int_eq(mkdirat(k->tracefs_fd, "instances/boot_mapped", 0700), 0);
        fake_put(k, BOX "last_boot_info", "text delta:\t0\n");
        fake_put(k, BOX "trace", "");
        fake_put(k, BOX "tracing_on", "0\n");
        fake_put(k, BOX "buffer_size_kb", "8144\n");
}

static unsigned n_synced;

int fsync(int fd) {
        n_synced++;
        return 0;
}

static SessionMeta *box_session(const char *name) {
        SessionMeta *m = fake_session(name, "udp_sendmsg");

        m->spec.black_box = m->spec.in_kernel = m->spec.ring = true;
        return m;
}

TEST(a_word_names_an_instance_only_if_its_memory_stays) {
        static const struct {
                const char *word;
                size_t n;
        } words[] = {
                { "trace_instance=boot_mapped^traceoff@trace", 11 },
                { "trace_instance=b@trace other", 1 },
                { "trace_instance=b@0x285400000:12M,sched:*", 1 },
                { "trace_instance=b", 0 },
                { "trace_instance=b,sched:x@y", 0 },
                { "trace_instance=b other@x", 0 },
                { "trace_instance=backup=boot_mapped", 0 },
                { "trace_instance=backup=boot_mapped@x", 0 },
                { "trace_instance=@trace", 0 },
                { "trace_instance=../x@trace", 0 },
                { "trace_instance=a/b@trace", 0 },
                { "trace_instance=", 0 },
                { "xtrace_instance=b@trace", 0 },
                { "", 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                ck_assert_msg(boot_instance_parse(words[i].word) == words[i].n, "%s",
                              words[i].word);
}

FAKE_TEST(it_is_found_only_where_it_is_named_and_there, true) {
        BlackBox b = {};

        ck_assert_int_eq(controller_find_black_box(c, &b), BLACK_BOX_E_NONE);
        fake_put_root(k, "proc/cmdline", WORDS);
        ck_assert_int_eq(controller_find_black_box(c, &b), BLACK_BOX_E_NONE);
        make_box(k);
        fake_put(k, BOX "per_cpu/cpu1/stats", "entries: 12\noverrun: 0\n");
        ck_assert_int_eq(controller_find_black_box(c, &b), 0);
        ck_assert_str_eq(b.instance.name, "boot_mapped");
        ck_assert_uint_eq(b.cpu_bytes, 8144 * 1024);
        ck_assert_uint_eq(b.page_bytes, 4096);
        ck_assert_uint_eq(b.instance.n_cpus, 2);
        ck_assert_uint_eq(instance_n_waiting(&b.instance), 12);
        instance_done(&b.instance);
}

FAKE_TEST(a_session_leaves_it_as_it_was, true) {
        SessionMeta *m = box_session("x");
        Tracer *t;

        make_box(k);
        t = fake_start(c, m, false);
        ck_assert_str_eq(m->instance, "boot_mapped");
        ck_assert_uint_eq(m->spec.buffer_bytes, 8144 * 1024);
        fake_expect(k, BOX "current_tracer", "function_graph\n");
        fake_expect(k, BOX "buffer_size_kb", "8144\n");
        fake_refuse(c, box_session("y"), false, REFUSAL_BUSY, "in use by");
        fake_end(t);
}

TEST(a_size_that_it_cannot_have_is_told) {
        static const struct {
                uint64_t asked_bytes;
                size_t n_warnings;
        } cases[] = { { SPEC_DEFAULT_BUFFER_BYTES, 0 },
                      { 8144 * 1024, 0 },
                      { UINT64_C(64) << 20, 1 } };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                FAKE_CASE(k, c, true);
                SessionMeta *m = box_session("x");
                Tracer *t;

                make_box(k);
                m->spec.buffer_bytes = cases[i].asked_bytes;
                t = fake_start(c, m, false);
                ck_assert_uint_eq(m->warnings.n, cases[i].n_warnings);
                ck_assert_uint_eq(m->spec.buffer_bytes, 8144 * 1024);
                if (m->warnings.n > 0)
                        ck_assert_ptr_nonnull(
                                strstr(m->warnings.items[0], "not 64M (--buffer-size)"));
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
}

/* Whose machine is to crash: ext4 may leave zeros of what was renamed before it was written. */
FAKE_TEST(names_of_tasks_are_on_the_disk_before_they_have_their_name, true) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        const char *path;
        unsigned n;
        Tracer *t;

        make_box(k);
        fake_put(k, "saved_cmdlines", "1 init\n");
        t = fake_start(c, box_session("x"), false);
        ck_assert_int_eq(session_dir_create(&dir, k->ledger_fd, "x"), 0);
        n = n_synced;
        ck_assert_int_eq(tracing_copy_end(dir, t, false, &path), 0);
        ck_assert_uint_eq(n_synced, n);
        ck_assert_int_eq(tracing_copy_end(dir, t, true, &path), 0);
        ck_assert_uint_eq(n_synced, n + 1);
        ck_assert_int_eq(tracer_disarm(t), 0);
}

/* Kernels that would empty a part of it as they set its clock again: that of the fake kernel is 6.13. */
TEST(its_clock_is_one_that_a_boot_does_not_set) {
        static const struct {
                const char *release, *asked, *clock;
                bool warns;
        } cases[] = { { "6.13.0\n", NULL, "mono", false },
                      { "6.16.0\n", NULL, "local", false },
                      { "7.2.13+deb14-amd64\n", NULL, "local", false },
                      { "7.2.13\n", "local", "local", false },
                      { "7.2.13\n", "uptime", "uptime", true } };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                FAKE_CASE(k, c, true);
                SessionMeta *m = box_session("x");
                _cleanup_refusal_ Refusal refusal = {};
                bool warned = false;
                Tracer *t;

                fake_put_root(k, "proc/sys/kernel/osrelease", cases[i].release);
                make_box(k);
                m->spec.clock = cases[i].asked ? strdup(cases[i].asked) : NULL;
                ck_assert_msg(fake_admit_and_arm(c, &t, m, false, &refusal) == 0, "%s",
                              refusal_message(&refusal));
                ck_assert_str_eq(m->clock, cases[i].clock);
                for (size_t n = 0; n < m->warnings.n; n++)
                        warned = warned || strstr(m->warnings.items[n], "first CPU");
                ck_assert_int_eq(warned, cases[i].warns);
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
}

FAKE_TEST(what_is_in_it_is_not_erased_unless_somebody_insists, true) {
        make_box(k);
        fake_put(k, BOX "per_cpu/cpu0/stats", "entries: 7\n");
        fake_refuse(c, box_session("x"), false, REFUSAL_BUSY, "--force");
        ck_assert_int_eq(tracer_disarm(fake_start(c, box_session("x"), true)), 0);
}

FAKE_SESSION_TEST(where_anything_is_in_memory_is_noted_once, true, "x") {
        BlackBox b = {};

        m->cpus = calloc(2, sizeof(*m->cpus));
        m->n_cpus = 2;
        m->cpus[1].cpu = 1;
        ck_assert(!controller_note_in_memory(c, m));
        make_box(k);
        ck_assert_int_eq(controller_find_black_box(c, &b), 0);
        instance_done(&b.instance);
        fake_put(k, BOX "per_cpu/cpu1/stats", "entries: 12\noverrun: 0\n");
        ck_assert(controller_note_in_memory(c, m));
        ck_assert_uint_eq(m->cpus[0].in_memory, 0);
        ck_assert_uint_eq(m->cpus[1].in_memory, 12);
        fake_put(k, BOX "per_cpu/cpu1/stats", "entries: 13\noverrun: 0\n");
        ck_assert(!controller_note_in_memory(c, m));
}

FAKE_TEST(without_one_the_way_to_have_one_is_said, true) {
        fake_refuse(c, box_session("x"), false, REFUSAL_NOT_SUPPORTED, "doctor --black-box");
}

static void arm_and_end(FakeKernel *k) {
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        if (fake_admit_and_arm(c, &t, box_session("x"), false, &refusal) == 0)
                (void) tracer_disarm(t);
}

TEST(whoever_dies_at_whatever_step_it_is_put_back) {
        bool reached = true;

        for (unsigned at = 1; reached; at++) {
                _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(true);

                make_box(k);
                k->n_steps = 0;
                reached = fake_survive(k, FAKE_DIE, at, arm_and_end);
                ck_assert_uint_lt(at, 1000);
                ck_assert(reached || at > 10);
        }
}

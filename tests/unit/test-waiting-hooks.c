/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a session that waits for a trigger has hooked, and one that is not the only one, on a fake tracefs. */

#include "daemon/tracer/controller.h"
#include "fake-kernel.h"

/* One that waits for a command to record. */
static Tracer *arm_waiting(Controller *c, SessionMeta **ret_m) {
        _cleanup_refusal_ Refusal refusal = {};
        SessionMeta *m = fake_meta("x", "udp_sendmsg");
        Tracer *t = NULL;

        *ret_m = m;
        ck_assert_int_eq(strv_add(&m->spec.triggers, "start command"), 0);
        ck_assert_int_eq(fake_admit_and_arm(c, &t, m, false, &refusal), 0);
        return t;
}

static const char *filter_of(bool instances) {
        return instances ? "instances/ftraced-x/set_ftrace_filter" : "set_ftrace_filter";
}

TEST(what_waits_has_its_root_alone_hooked_until_it_is_to_record) {
        for (int instances = 0; instances < 2; instances++) {
                FAKE_CASE(k, c, instances);
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                _cleanup_free_ char *before = fake_dump(k);
                Tracer *t = arm_waiting(c, &m);

                for (int again = 0; again < 2; again++) {
                        ck_assert(tracer_waits(t));
                        ck_assert(!tracer_can_wait(t, m));
                        fake_expect(k, filter_of(instances), "udp_sendmsg\n");
                        ck_assert_int_eq(tracer_hook_all(t), 0);
                        ck_assert(!tracer_waits(t));
                        ck_assert(tracer_can_wait(t, m));
                        fake_expect(k, filter_of(instances), "#### all functions enabled ####\n");
                        ck_assert_int_eq(tracer_hook_roots(t, m), 0);
                }
                ck_assert_int_eq(tracer_disarm(t), 0);
                fake_expect_all(k, before);
        }
}

TEST(what_cannot_be_hooked_waits_as_before) {
        FAKE_CASE(k, c, true);
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        Tracer *t = arm_waiting(c, &m);

        k->fault = FAKE_FAIL;
        k->fault_at = k->n_steps + 1;
        ck_assert_int_lt(tracer_hook_all(t), 0);
        ck_assert(tracer_waits(t));
        ck_assert_int_eq(tracer_hook_all(t), 0);
        k->fault_at = k->n_steps + 1;
        ck_assert_int_lt(tracer_hook_roots(t, m), 0);
        ck_assert(!tracer_waits(t));
        ck_assert_int_eq(tracer_hook_roots(t, m), 0);
        ck_assert(tracer_waits(t));
        ck_assert_int_eq(tracer_disarm(t), 0);
}

TEST(who_takes_a_session_up_looks_what_is_hooked) {
        for (int instances = 0; instances < 2; instances++) {
                FAKE_CASE(k, c, instances);
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                Tracer *t = arm_waiting(c, &m);
                const char *why;

                /* As if a daemon had ended before, and after, it had everything hooked. */
                m->state = SESSION_RECORDING;
                tracer_forget(t);
                ck_assert_int_eq(controller_adopt(c, &t, m, &why), 0);
                ck_assert(tracer_waits(t));
                ck_assert_int_eq(tracer_hook_all(t), 0);
                m->state = SESSION_ARMED;
                tracer_forget(t);
                ck_assert_int_eq(controller_adopt(c, &t, m, &why), 0);
                ck_assert(!tracer_waits(t));
                ck_assert(tracer_can_wait(t, m));
                ck_assert_int_eq(tracer_disarm(t), 0);
        }
}

typedef struct Wide {
        Controller *c;
        Tracer *t;
        SessionMeta *m;
        int n_told;
} Wide;

static void on_crowded(void *userdata) {
        Wide *w = userdata;

        /* The second time they are listed already. */
        ck_assert_int_eq(controller_rehook(w->c, w->t, w->m, LEAN_TREE, NULL),
                         w->n_told++ == 0 ? 2 : 0);
}

/* The trace clock is read by a function that is not to be hooked. */
static FakeKernel *new_kernel(void) {
        FakeKernel *k = fake_kernel_new(true);

        fake_put_root(k, "sys/devices/system/clocksource/clocksource0/current_clocksource",
                      "hpet\n");
        return k;
}

static void arm_wide(Wide *w, Controller *c, const char *name, const char *root,
                     const char *trigger) {
        _cleanup_refusal_ Refusal refusal = {};

        *w = (Wide){ .c = c, .m = fake_meta(name, root) };
        w->m->spec.lean = LEAN_OFF;
        ck_assert(!trigger || strv_add(&w->m->spec.triggers, trigger) == 0);
        ck_assert_int_eq(fake_admit_and_arm(c, &w->t, w->m, false, &refusal), 0);
        tracer_set_handlers(w->t, NULL, on_crowded, w);
}

static void disarm_wide(Wide *w) {
        ck_assert_int_eq(tracer_disarm(w->t), 0);
        (void) session_meta_free(w->m);
}

static void expect_filter(FakeKernel *k, const char *name, const char *root) {
        _cleanup_strv_ Strv hooked = {};
        char path[128];
        char *text;

        (void) snprintf(path, sizeof(path), "instances/ftraced-%s/set_ftrace_filter", name);
        text = fake_get(k, path);
        ck_assert_int_eq(strv_split(&hooked, text, "\n"), 0);
        free(text);
        ck_assert(strv_contains(&hooked, root));
        ck_assert(strv_contains(&hooked, "nf_conntrack_in"));
        ck_assert(!strv_contains(&hooked, "read_hpet"));
}

static size_t count_writes(const FakeKernel *k, const char *step) {
        size_t n = 0;

        for (size_t i = 0; i < k->log.n; i++)
                n += streq(k->log.items[i], step);
        return n;
}

static void expect_listed(FakeKernel *k, const char *name, const char *root) {
        char path[128];

        expect_filter(k, name, root);
        (void) snprintf(path, sizeof(path), "instances/ftraced-%s/set_ftrace_notrace", name);
        fake_expect(k, path, "#### no functions disabled ####\n");
}

/* "All but these" holds in the kernel for one session alone. */
TEST(a_second_session_has_all_listed_but_what_reads_the_clock) {
        _cleanup_fake_kernel_ FakeKernel *k = new_kernel();
        _cleanup_free_ char *before = fake_dump(k);
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        Wide first, second, waiting;

        arm_wide(&first, c, "first", "udp_sendmsg", NULL);
        fake_expect(k, "instances/ftraced-first/set_ftrace_filter",
                    "#### all functions enabled ####\n");
        arm_wide(&second, c, "second", "udp_recvmsg", NULL);
        ck_assert_int_eq(first.n_told, 1);
        expect_listed(k, "first", "udp_sendmsg");
        expect_listed(k, "second", "udp_recvmsg");

        disarm_wide(&second);
        arm_wide(&waiting, c, "waiting", "tcp_sendmsg", "start command");
        fake_expect(k, "instances/ftraced-waiting/set_ftrace_filter", "tcp_sendmsg\n");
        ck_assert_int_eq(first.n_told, 2);
        strv_done(&k->log);
        ck_assert_int_eq(tracer_hook_all(waiting.t), 0);
        /* A short list first, for the kernel's table. */
        ck_assert_uint_eq(count_writes(k, "truncate instances/ftraced-waiting/set_ftrace_filter"),
                          2);
        expect_filter(k, "waiting", "tcp_sendmsg");
        disarm_wide(&first);
        disarm_wide(&waiting);
        fake_expect_all(k, before);
}

static void load_modules(FakeKernel *k) {
        char *functions = fake_get(k, "available_filter_functions"), *more = NULL;

        ck_assert_int_gt(asprintf(&more,
                                  "%sbm_fill_super [binfmt_misc]\n"
                                  "ext4_file_write_iter [ext4]\n",
                                  functions),
                         0);
        fake_put(k, "available_filter_functions", more);
        fake_put_root(
                k, "proc/modules",
                "ext4 3 0 - Live 0x0\nbinfmt_misc 2 0 - Live 0x0\nnf_conntrack 1 0 - Live 0x0\n");
        free(functions);
        free(more);
}

static bool is_listed(FakeKernel *k, const char *file, const char *name) {
        _cleanup_strv_ Strv names = {};
        char *text = fake_get(k, file);

        ck_assert_int_eq(strv_split(&names, text, "\n"), 0);
        free(text);
        return strv_contains(&names, name);
}

TEST(what_comes_with_modules_is_hooked_but_what_reads_the_clock) {
        static const char filter[] = "instances/ftraced-first/set_ftrace_filter";
        _cleanup_fake_kernel_ FakeKernel *k = new_kernel();
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        Wide first, second;

        arm_wide(&first, c, "first", "udp_sendmsg", NULL);
        /* Alone, and nothing came: it is as it was begun, and the kernel hooks what comes. */
        ck_assert_int_eq(controller_rehook(c, first.t, first.m, LEAN_TREE, NULL), 0);
        fake_expect(k, filter, "#### all functions enabled ####\n");

        arm_wide(&second, c, "second", "udp_recvmsg", NULL);
        ck_assert(!is_listed(k, filter, "bm_fill_super"));
        load_modules(k);
        ck_assert_int_gt(controller_rehook(c, first.t, first.m, LEAN_TREE, NULL), 0);
        ck_assert(is_listed(k, filter, "bm_fill_super"));
        ck_assert(is_listed(k, filter, "udp_sendmsg"));
        ck_assert(!is_listed(k, filter, "read_hpet"));
        ck_assert_int_eq(controller_rehook(c, first.t, first.m, LEAN_TREE, NULL), 0);
        disarm_wide(&second);
        disarm_wide(&first);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a session that waits for a trigger has hooked, and one that is not the only one, on a fake tracefs. */

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

FAKE_TESTS(what_waits_has_its_root_alone_hooked_until_it_is_to_record) {
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

FAKE_TEST(what_cannot_be_hooked_waits_as_before, true) {
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

FAKE_TESTS(who_takes_a_session_up_looks_what_is_hooked) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        Tracer *t = arm_waiting(c, &m);
        const char *why;

        /* As if a daemon had ended before, and after, it had everything hooked. */
        m->state = SESSION_RECORDING;
        tracer_free(t);
        ck_assert_int_eq(controller_adopt(c, &t, m, &why), 0);
        ck_assert(tracer_waits(t));
        ck_assert_int_eq(tracer_hook_all(t), 0);
        m->state = SESSION_ARMED;
        tracer_free(t);
        ck_assert_int_eq(controller_adopt(c, &t, m, &why), 0);
        ck_assert(!tracer_waits(t));
        ck_assert(tracer_can_wait(t, m));
        ck_assert_int_eq(tracer_disarm(t), 0);
}

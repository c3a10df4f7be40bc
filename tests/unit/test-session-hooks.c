/* SPDX-License-Identifier: GPL-2.0-or-later */

/* That what is hooked follows a session's state, on a fake tracefs; without tasks, so at once. */

#include "daemon/session/session-hooks.h"
#include "fake-kernel.h"

typedef struct Fixture {
        FakeKernel *kernel;
        Controller *controller;
        SessionMeta *meta;
        Tracer *tracer;
        SessionHooks *hooks;
        unsigned n_hooked, n_failed, n_settled, n_changed;
        int error; /* of on_hooked() */
} Fixture;

static Fixture *fixture_of(Session *s) {
        return (Fixture *) (void *) s;
}

static bool is_watched(const Session *s) {
        return false;
}

static int on_hooked(Session *s, const char **ret_what) {
        Fixture *f = fixture_of(s);

        ck_assert(!tracer_waits(f->tracer));
        ck_assert(!session_hooks_change(f->hooks));
        f->n_hooked++;
        *ret_what = "something";
        return f->error;
}

static void on_failed(Session *s) {
        Fixture *f = fixture_of(s);

        f->n_failed++;
        f->meta->state = SESSION_DRAINING;
}

static void on_settled(Session *s) {
        Fixture *f = fixture_of(s);

        ck_assert_uint_eq(f->n_settled, f->n_changed);
        f->n_settled++;
}

static void on_changed(Session *s) {
        Fixture *f = fixture_of(s);

        f->n_changed++;
}

/* One that waits for a command to record, with everything hooked then. */
static void fixture_init(Fixture *f) {
        _cleanup_refusal_ Refusal refusal = {};
        SessionMeta *m;

        *f = (Fixture){ .kernel = fake_kernel_new(true) };
        f->controller = fake_controller(f->kernel);
        ck_assert_int_eq(session_meta_new(&m), 0);
        f->meta = m;
        m->name = strdup("x");
        ck_assert_int_eq(strv_add(&m->spec.functions, "udp_sendmsg"), 0);
        ck_assert_int_eq(strv_add(&m->spec.triggers, "start command"), 0);
        ck_assert_int_eq(fake_admit_and_arm(f->controller, &f->tracer, m, false, &refusal), 0);
        m->state = SESSION_ARMED;
        ck_assert_int_eq(
                session_hooks_new(&f->hooks,
                                  &(SessionHooksConfig){ .controller = f->controller,
                                                         .meta = m,
                                                         .tracer = f->tracer,
                                                         .is_watched = is_watched,
                                                         .hooked = on_hooked,
                                                         .failed = on_failed,
                                                         .settled = on_settled,
                                                         .rehooked = on_changed,
                                                         .changed = on_changed,
                                                         .session = (Session *) (void *) f }),
                0);
}

static void fixture_done(Fixture *f) {
        f->hooks = session_hooks_free(f->hooks);
        ck_assert_int_eq(tracer_disarm(f->tracer), 0);
        f->controller = controller_free(f->controller);
        f->meta = session_meta_free(f->meta);
        fake_kernel_free(f->kernel);
}
#define _cleanup_fixture_ _cleanup_(fixture_done)

static void enter(Fixture *f, SessionState state, uint64_t since_ns) {
        f->meta->state = state;
        session_hooks_follow(f->hooks, since_ns);
}

START_TEST(everything_is_hooked_while_it_records_and_its_roots_while_it_waits)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                ck_assert(session_hooks_are_due(f.hooks));
                ck_assert(!session_hooks_had_calls(f.hooks));
                for (unsigned i = 1; i <= 2; i++) {
                        enter(&f, SESSION_RECORDING, 1);
                        ck_assert(!tracer_waits(f.tracer));
                        ck_assert(!session_hooks_are_due(f.hooks));
                        ck_assert_uint_eq(f.n_hooked, i);
                        enter(&f, SESSION_ARMED, 0);
                        ck_assert(tracer_waits(f.tracer));
                        ck_assert_uint_eq(f.n_hooked, i);
                        ck_assert_uint_eq(f.n_settled, 2 * i);
                        ck_assert_uint_eq(f.n_changed, 2 * i);
                }
                ck_assert(session_hooks_had_calls(f.hooks)); /* once is enough to learn from */
                ck_assert_uint_eq(f.n_failed, 0);
        }
END_TEST

START_TEST(what_is_hooked_already_is_no_work)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                enter(&f, SESSION_ARMED, 0);
                ck_assert_uint_eq(f.n_settled, 0);
                enter(&f, SESSION_RECORDING, 1);
                ck_assert_uint_eq(f.n_settled, 1);
                session_hooks_follow(f.hooks, 1);
                ck_assert_uint_eq(f.n_settled, 1);
                enter(&f, SESSION_DRAINING, 0); /* disarming puts it back */
                ck_assert_uint_eq(f.n_settled, 1);
        }
END_TEST

START_TEST(a_session_that_records_is_told_what_it_lacks)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                enter(&f, SESSION_RECORDING, 1);
                ck_assert_uint_eq(f.meta->warnings.n, 1);
                ck_assert_ptr_nonnull(strstr(f.meta->warnings.items[0], "after the trigger on"));
                enter(&f, SESSION_ARMED, 0);
                enter(&f, SESSION_RECORDING, 0); /* it fired before this daemon */
                ck_assert_uint_eq(f.meta->warnings.n, 2);
                ck_assert_ptr_nonnull(strstr(f.meta->warnings.items[1], "when the daemon ended"));
        }
END_TEST

START_TEST(one_that_cannot_be_hooked_or_watched_ends)
        {
                for (int at_the_end = 0; at_the_end < 2; at_the_end++) {
                        _cleanup_fixture_ Fixture f;

                        fixture_init(&f);
                        if (at_the_end)
                                f.error = -EIO;
                        else {
                                f.kernel->fault = FAKE_FAIL;
                                f.kernel->fault_at = f.kernel->n_steps + 1;
                        }
                        enter(&f, SESSION_RECORDING, 1);
                        ck_assert_uint_eq(f.n_hooked, (unsigned) at_the_end);
                        ck_assert_uint_eq(f.n_failed, 1);
                        ck_assert_uint_eq(f.n_settled, 1);
                        ck_assert_uint_eq(f.n_changed, 1);
                        ck_assert(!session_hooks_change(f.hooks));
                }
        }
END_TEST

START_TEST(one_that_waits_goes_on_if_its_calls_stay_hooked)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                enter(&f, SESSION_RECORDING, 1);
                f.kernel->fault = FAKE_FAIL;
                f.kernel->fault_at = f.kernel->n_steps + 1;
                enter(&f, SESSION_ARMED, 0);
                ck_assert_uint_eq(f.n_failed, 0);
                ck_assert_int_eq(f.meta->state, SESSION_ARMED);
                ck_assert_uint_eq(f.meta->warnings.n, 2);
                ck_assert_ptr_nonnull(strstr(f.meta->warnings.items[1], "stays hooked"));
        }
END_TEST

START_TEST(nobody_waits_for_what_is_done)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                ck_assert_int_eq(session_hooks_await(f.hooks, NULL, NULL), -EINVAL);
                session_hooks_interrupt(f.hooks);
                ck_assert_uint_eq(f.meta->warnings.n, 0);
                ck_assert(!session_hooks_change(NULL));
        }
END_TEST

UNIT_SUITE("session-hooks", everything_is_hooked_while_it_records_and_its_roots_while_it_waits,
           what_is_hooked_already_is_no_work, a_session_that_records_is_told_what_it_lacks,
           one_that_cannot_be_hooked_or_watched_ends,
           one_that_waits_goes_on_if_its_calls_stay_hooked, nobody_waits_for_what_is_done)

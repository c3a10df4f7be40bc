/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a start is refused for before anything is armed. */

#include "daemon/api/api.h"
#include "fake-kernel.h"

typedef struct Fixture {
        FakeKernel *k;
        Controller *controller;
        sd_event *event;
        Scratch scratch;
        Store *store;
        FdStore *fdstore;
        Limits limits;
        Sessions sessions;
        Spec spec;
} Fixture;

static void fixture_init(Fixture *f) {
        const Config config = CONFIG_INIT;
        char path[PATH_MAX + 8];

        *f = (Fixture){ .k = fake_kernel_new(true), .scratch = SCRATCH, .spec = SPEC_INIT };
        fake_put_root(f->k, "proc/modules", "");
        f->controller = fake_controller(f->k);
        ck_assert_int_ge(sd_event_new(&f->event), 0);
        (void) snprintf(path, sizeof(path), "%s/store", f->scratch.path);
        ck_assert_int_eq(store_open_for_writing(&f->store, path, NULL), 0);
        ck_assert_int_eq(fdstore_new(&f->fdstore, false), 0);
        f->limits = config_limits(&config, UINT64_C(1) << 40, 2);
        f->limits.member_functions = f->limits.member_events = NULL; /* of @config; all */
        ck_assert_int_eq(sessions_init(&f->sessions, f->event, NULL, NULL, f->controller, f->store,
                                       f->fdstore, &f->limits),
                         0);
        ck_assert_int_eq(strv_add(&f->spec.functions, "udp_sendmsg"), 0);
}

static void fixture_done(Fixture *f) {
        sessions_done(&f->sessions);
        f->controller = controller_free(f->controller);
        f->fdstore = fdstore_free(f->fdstore);
        f->store = store_free(f->store);
        (void) sd_event_unref(f->event);
        spec_done(&f->spec);
        scratch_done(&f->scratch);
        fake_kernel_free(f->k);
}
#define _cleanup_fixture_ _cleanup_(fixture_done)

/* How often the tracer was switched on. */
static unsigned n_armed(const Fixture *f) {
        unsigned n = 0;

        for (size_t i = 0; i < f->k->log.n; i++)
                n += strstr(f->k->log.items[i], "current_tracer function_graph") != NULL;
        return n;
}

/* Which is refused. */
static void start(Fixture *f, Refusal *refusal) {
        _cleanup_(session_meta_freep) SessionMeta *m = MADE(SessionMeta, session_meta_new);
        SessionRequest request = {};
        Session *session;

        ck_assert_int_eq(text_replace(&m->name, "a"), 0);
        ck_assert_int_eq(spec_copy(&m->spec, &f->spec), 0);
        m->owner_uid = 1000;
        request.meta = m;
        ck_assert_int_eq(sessions_start(&f->sessions, NULL, &session, &request, refusal), REFUSED);
}

TEST(a_start_is_admitted_once_and_armed_once) {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_fixture_ Fixture f;

        fixture_init(&f);
        /* It does not get further than to what of tracefs is copied, which is not in the fake. */
        start(&f, &refusal);
        ck_assert_uint_eq(n_armed(&f), 1);
}

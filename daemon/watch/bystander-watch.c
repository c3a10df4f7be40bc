/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The sample is a task; then the session's readers have a moment to store what was recorded meanwhile, and the two
 * workers count one after the other.  Both clocks are CLOCK_MONOTONIC, so that one window fits both: a session with
 * another clock is not watched (its owner sees to that).
 */

#include "base/io.h"
#include "base/log.h"
#include "daemon/watch/watch.h"

/* What a reader takes to fetch what is in the kernel's buffer. */
#define SETTLE_US (2 * UINT64_C(1000000))
#define OWN_SHARE 8 /* of the calls: fewer are not told apart */
#define HOOKED_SHARE                                                                               \
        8 /* of the time may be left when that of hooks is taken off, which several CPUs have */
#define SAMPLED_HOOKS 3 /* what a call costs while it is sampled, as well as hooked (linux 6.12: 1,022 and 296 ns) */

struct BystanderWatch {
        BystanderWatchConfig config;
        CallSample sample;
        uint64_t n_own;
        int error; /* of the sample */
        sd_event_source *timer;
        Learner *learner;
        Load load;
        bool is_sampling; /* a task has it */
        bool is_abandoned;
};

BystanderWatch *bystander_watch_free(BystanderWatch *w) {
        if (!w)
                return NULL;
        w->is_abandoned = true;
        if (w->is_sampling) { /* its task frees it: before this returns, unless this is within another task */
                background_settle(w->config.background);
                return NULL;
        }
        (void) sd_event_source_disable_unref(w->timer);
        (void) learner_free(w->learner);
        call_sample_done(&w->sample);
        load_done(&w->load);
        return mfree(w);
}

/* The calls were so many while hooks took their time, and while each call was sampled. */
static uint64_t leave_hooks_out(const Load *l, uint64_t n_calls) {
        double window_ns = (double) l->window_ns;

        return (uint64_t) MAX(window_ns - SAMPLED_HOOKS * (double) n_calls * (double) l->hook_ns,
                              window_ns / HOOKED_SHARE);
}

/* All calls together cost no more than they may: they need not be counted by function. */
static bool has_few(const BystanderWatch *w) {
        uint64_t n = w->sample.n_calls;

        return n != UINT64_MAX &&
               load_cost_ppm(&(Load){ .window_ns = leave_hooks_out(&w->load, n),
                                      .hook_ns = w->load.hook_ns },
                             (double) n) < (double) w->config.meta->spec.budget_ppm;
}

static bool has_own(const BystanderWatch *w) {
        return w->n_own > w->sample.n_calls / OWN_SHARE;
}

static void finish(BystanderWatch *w, int error) {
        uint64_t n_calls = 0;

        for (size_t i = 0; i < w->load.rates.n; i++)
                n_calls = add_capped(n_calls, w->load.rates.functions[i].n_calls);
        w->load.window_ns = leave_hooks_out(&w->load, n_calls);
        w->learner = learner_free(w->learner);
        log_debug("lean", "%s: %llu calls in %llu us, %llu of its own; %zu functions: %s",
                  w->config.meta->name, (unsigned long long) w->sample.n_calls,
                  (unsigned long long) w->load.window_ns / 1000, (unsigned long long) w->n_own,
                  w->load.rates.n, error < 0 ? origin_text(error) : "counted");
        w->config.done(error < 0 ? NULL : &w->load, MIN(error, 0), w->config.userdata);
}

static void on_own(LeanTree *own, int error, void *userdata) {
        BystanderWatch *w = userdata;

        if (own)
                load_subtract(&w->load, own);
        finish(w, error);
}

static void on_all(LeanTree *all, int error, void *userdata) {
        BystanderWatch *w = userdata;
        int r;

        w->learner = learner_free(w->learner);
        if (all)
                w->load.rates = TAKE(*all, (LeanTree){});
        if (error < 0 || !has_own(w)) {
                finish(w, error);
                return;
        }
        r = stored_pages_count(&w->learner, w->config.event, w->config.dir, w->sample.from_ns,
                               w->sample.to_ns, on_own, w);
        if (r < 0) /* perhaps nothing was called below its roots yet */
                finish(w, r == -ENODATA ? 0 : r);
}

static int on_settled(sd_event_source *source, uint64_t usec, void *userdata) {
        BystanderWatch *w = userdata;
        int r = w->error;

        w->timer = sd_event_source_disable_unref(w->timer);
        if (r >= 0 && w->load.window_ns == 0)
                r = -ENODATA;
        if (r < 0 || has_few(w)) {
                finish(w, r);
                return 0;
        }
        r = learner_start(&w->learner, w->config.event,
                          &(LearnerJob){ .fds = &w->sample.fd,
                                         .n_fds = 1,
                                         .page_bytes = w->sample.page_bytes,
                                         .format = w->sample.format,
                                         .field = "ip",
                                         .from_ns = w->sample.from_ns,
                                         .to_ns = w->sample.to_ns },
                          on_all, w);
        if (r < 0)
                finish(w, r);
        return 0;
}

/* A task. */
static void take_sample(void *userdata) {
        BystanderWatch *w = userdata;
        const BystanderWatchConfig *c = &w->config;
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        int r;

        if (!w->is_abandoned)
                w->error = controller_sample_calls(c->controller, &w->sample, c->tracer, c->meta,
                                                   &w->load.counted, &w->load.hook_ns);
        w->n_own = w->sample.n_own_events / 2;
        w->is_sampling = false;
        if (w->is_abandoned) {
                (void) bystander_watch_free(w);
                return;
        }
        (void) own_works_add(&c->meta->own_work, since_ns, now_ns(CLOCK_MONOTONIC));
        if (w->sample.to_ns > w->sample.from_ns)
                w->load.window_ns = w->sample.to_ns - w->sample.from_ns;
        r = sd_event_add_time_relative(c->event, &w->timer, CLOCK_MONOTONIC,
                                       w->error >= 0 && !has_few(w) && has_own(w) ? SETTLE_US : 0,
                                       0, on_settled, w);
        if (r < 0)
                finish(w, r);
}

int bystander_watch_start(BystanderWatch **ret, const BystanderWatchConfig *config) {
        BystanderWatch *w = NEW(BystanderWatch, .config = *config, .sample = CALL_SAMPLE_INIT,
                                .is_sampling = true);

        if (!w)
                return -ENOMEM;
        *ret = w;
        background_run(config->background, take_sample, w);
        return 0;
}

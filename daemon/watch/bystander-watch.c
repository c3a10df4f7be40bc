/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The sample is a task; then the session's readers have a moment to store what was recorded meanwhile, and the two
 * workers count one after the other.  Both clocks are CLOCK_MONOTONIC, so that one window fits both: a session with
 * another clock is not watched (its owner sees to that).
 */

#include <errno.h>

#include "base/log.h"
#include "base/now.h"
#include "daemon/lean/call-rates.h"
#include "daemon/lean/learner.h"
#include "daemon/watch/bystander-watch.h"
#include "daemon/watch/stored-pages.h"

#define SETTLE_US                                                                                  \
        (2 * UINT64_C(1000000)) /* what a reader takes to fetch what is in the kernel's buffer */

#define PART_SHARE                                                                                 \
        4 /* of the budget, that a part may cost: calls are not spread evenly over the parts */

struct BystanderWatch {
        BystanderWatchConfig config;
        CallSample sample;
        unsigned part; /* it is of this one, 0: of all */
        uint64_t hook_ns;
        int error; /* of the sample */
        sd_event_source *timer;
        Learner *learner;
        CallRates rates;
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
        call_rates_done(&w->rates);
        return mfree(w);
}

static int begin(BystanderWatch *w, unsigned part);

static uint64_t budget_ppm(const BystanderWatch *w) {
        return w->config.budget_ppm / (w->part > 0 ? PART_SHARE : 1);
}

/* Whatever they are, whoever called them. */
static bool are_too_few(const BystanderWatch *w) {
        const CallSample *s = &w->sample;

        return s->n_calls != UINT64_MAX && s->to_ns > s->from_ns &&
               call_rates_cost_ppm((double) s->n_calls, s->to_ns - s->from_ns, w->hook_ns) <=
                       (double) budget_ppm(w);
}

static void finish(BystanderWatch *w, int error) {
        _cleanup_free_ uint32_t *ppm = NULL;
        _cleanup_strv_ Strv hot = {};

        w->learner = learner_free(w->learner);
        if (error >= 0)
                error = call_rates_find_hot(&w->rates, w->sample.to_ns - w->sample.from_ns,
                                            w->hook_ns, budget_ppm(w), w->config.roots, &hot, &ppm);
        if (error >= 0 && w->part > 0 && hot.n > 0) {
                error = begin(w, 0);
                if (error >= 0)
                        return;
        }
        if (error < 0)
                log_debug("lean", "%s: what others call could not be counted: %s", w->config.name,
                          origin_text(error));
        else if (are_too_few(w))
                log_debug("lean", "%s: %llu calls of what is hooked are too few to count",
                          w->config.name, (unsigned long long) w->sample.n_calls);
        else
                log_debug("lean",
                          "%s: others called %zu functions, %zu of them too often, in %llu us",
                          w->config.name, w->rates.n, hot.n,
                          (unsigned long long) (w->sample.to_ns - w->sample.from_ns) / 1000);
        w->config.done(error < 0 ? NULL : &hot, ppm, MIN(error, 0), w->config.userdata);
}

static int read_rates(CallRates *ret, const char *text, int error) {
        int r = error < 0 ? error : call_rates_read(ret, text);

        return r == CALL_RATES_E_INVALID ? -EBADMSG : r;
}

static FunctionCountsWindow window_of(const BystanderWatch *w) {
        return (FunctionCountsWindow){ w->sample.from_ns, w->sample.to_ns };
}

static void on_own(const char *text, int error, void *userdata) {
        _cleanup_call_rates_ CallRates own = {};
        BystanderWatch *w = userdata;
        int r = read_rates(&own, text, error);

        if (r >= 0)
                call_rates_subtract(&w->rates, &own);
        finish(w, r);
}

static void on_all(const char *text, int error, void *userdata) {
        BystanderWatch *w = userdata;
        FunctionCountsWindow window = window_of(w);
        int r;

        w->learner = learner_free(w->learner);
        r = read_rates(&w->rates, text, error);
        if (r < 0 || !w->config.dir) {
                finish(w, r);
                return;
        }
        r = stored_pages_count(&w->learner, w->config.event, w->config.dir, &window, on_own, w);
        if (r == -ENODATA) /* nothing was called below its roots yet */
                finish(w, 0);
        else if (r < 0)
                finish(w, r);
}

static int on_settled(sd_event_source *source, uint64_t usec, void *userdata) {
        BystanderWatch *w = userdata;
        FunctionCountsWindow window = window_of(w);
        int r = w->error;

        w->timer = sd_event_source_disable_unref(w->timer);
        if (r >= 0 && window.to_ns <= window.from_ns)
                r = -ENODATA;
        if (r < 0 || are_too_few(w)) {
                finish(w, r);
                return 0;
        }
        r = learner_start(&w->learner, w->config.event,
                          &(LearnerJob){ .fds = &w->sample.fd,
                                         .n_fds = 1,
                                         .page_bytes = w->sample.page_bytes,
                                         .format = w->sample.format,
                                         .field = "ip",
                                         .windows = &window,
                                         .n_windows = 1 },
                          on_all, w);
        if (r < 0)
                finish(w, r);
        return 0;
}

/* A task. */
static void take_sample(void *userdata) {
        BystanderWatch *w = userdata;
        const BystanderWatchConfig *c = &w->config;
        int r;

        if (!w->is_abandoned)
                w->error = controller_sample_calls(c->controller, &w->sample, c->tracer, &w->part,
                                                   &w->hook_ns);
        w->is_sampling = false;
        if (w->is_abandoned) {
                (void) bystander_watch_free(w);
                return;
        }
        r = sd_event_add_time_relative(c->event, &w->timer, CLOCK_MONOTONIC,
                                       c->dir && w->error >= 0 && !are_too_few(w) ? SETTLE_US : 0,
                                       0, on_settled, w);
        if (r < 0)
                finish(w, r);
}

static int begin(BystanderWatch *w, unsigned part) {
        int r;

        call_sample_done(&w->sample);
        call_rates_done(&w->rates);
        w->part = part;
        w->is_sampling = true;
        r = background_run(w->config.background, take_sample, w);
        if (r < 0)
                w->is_sampling = false;
        return r;
}

int bystander_watch_start(BystanderWatch **ret, const BystanderWatchConfig *config) {
        _cleanup_(bystander_watch_freep) BystanderWatch *w = calloc(1, sizeof(*w));
        int r;

        if (!w)
                return -ENOMEM;
        w->config = *config;
        w->sample = CALL_SAMPLE_INIT;
        *ret = w;
        r = begin(w, config->part);
        if (r < 0) {
                *ret = NULL;
                return r;
        }
        TAKE_PTR(w);
        return 0;
}

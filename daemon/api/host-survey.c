/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A timer, a task that reads, and a bystander watch without a session. */

#include <errno.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/api/host-survey.h"
#include "daemon/watch/bystander-watch.h"

#define FIRST_US (USEC_PER_SEC / 2) /* whoever made systemd start the daemon comes first */
#define COUNT_US (60 * USEC_PER_SEC)
#define AGAIN_US (600 * USEC_PER_SEC)
#define BUSY_US (10 * USEC_PER_SEC)
#define BUDGET_PPM                                                                                 \
        500 /* what the rest may cost others: little, for it is paid with nothing recorded yet */

struct HostSurvey {
        HostSurveyConfig config;
        sd_event_source *timer;
        BystanderWatch *watch;
        bool is_reading; /* a task */
};

static int set_timer(HostSurvey *s, uint64_t us);

HostSurvey *host_survey_free(HostSurvey *s) {
        if (!s)
                return NULL;
        if (s->is_reading)
                background_settle(s->config.background);
        (void) sd_event_source_disable_unref(s->timer);
        (void) bystander_watch_free(s->watch);
        return mfree(s);
}

bool host_survey_is_busy(const HostSurvey *s) {
        return s && (s->is_reading || s->watch);
}

static void on_counted(const Strv *names, const uint32_t *ppm, int error, void *userdata) {
        HostSurvey *s = userdata;
        struct utsname u = {};
        int r = error;

        (void) uname(&u);
        if (r >= 0)
                r = controller_learn_hot(s->config.controller, NULL, u.release, names, ppm);
        if (r >= 0)
                log_info("Looked for %i ms at what this host calls: recordings with --lean=auto "
                         "leave "
                         "out %zu functions besides those that ordinary work calls.",
                         CONTROLLER_SAMPLE_MS, names->n);
        s->watch = bystander_watch_free(s->watch);
        (void) set_timer(s, r == -EBUSY ? BUSY_US : AGAIN_US);
}

static int count(HostSurvey *s) {
        static const Strv no_roots;
        const HostSurveyConfig *c = &s->config;

        return bystander_watch_start(&s->watch,
                                     &(BystanderWatchConfig){ .event = c->event,
                                                              .background = c->background,
                                                              .controller = c->controller,
                                                              .name = "this host",
                                                              .roots = &no_roots,
                                                              .budget_ppm = BUDGET_PPM,
                                                              .done = on_counted,
                                                              .userdata = s });
}

static uint64_t boot_realtime_ns(void) {
        return now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
}

/* A task. */
static void read_lists(void *userdata) {
        HostSurvey *s = userdata;
        const HostSurveyConfig *c = &s->config;

        if (controller_load_functions(c->controller) >= 0)
                sessions_store_symbols(c->sessions);
        s->is_reading = false;
        (void) set_timer(s, COUNT_US);
}

/* First it is read, then counted, each if there is need. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        HostSurvey *s = userdata;
        const HostSurveyConfig *c = &s->config;
        bool is_known = controller_has_functions(c->controller);

        s->timer = sd_event_source_disable_unref(s->timer);
        if (sessions_n_live(c->sessions) > 0 || background_is_busy(c->background))
                return set_timer(s, BUSY_US);
        if (is_known && !controller_needs_survey(c->controller, boot_realtime_ns()))
                return set_timer(s, AGAIN_US);
        if (is_known)
                return count(s) < 0 ? set_timer(s, AGAIN_US) : 0;
        if (controller_tracefs_fd(c->controller) < 0)
                return set_timer(s, AGAIN_US);
        s->is_reading = true;
        if (background_run(c->background, read_lists, s) < 0) {
                s->is_reading = false;
                return set_timer(s, AGAIN_US);
        }
        return 0;
}

static int set_timer(HostSurvey *s, uint64_t us) {
        s->timer = sd_event_source_disable_unref(s->timer);
        return sd_event_add_time_relative(s->config.event, &s->timer, CLOCK_MONOTONIC, us, 0,
                                          on_timer, s);
}

int host_survey_new(HostSurvey **ret, const HostSurveyConfig *config) {
        _cleanup_(host_survey_freep) HostSurvey *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        s->config = *config;
        r = set_timer(s, FIRST_US);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A timer, a task that reads, and a bystander watch without a session.  The timer runs only while there is something
 * to be found out; what makes that anew, another set of modules or a week, matters to the next recording alone, so
 * it is looked for when one has ended.
 */

#include <errno.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/api/host-survey.h"
#include "daemon/watch/bystander-watch.h"

#define FIRST_US (USEC_PER_SEC / 2) /* whoever made systemd start the daemon comes first */
#define COUNT_US (60 * USEC_PER_SEC)
#define AGAIN_US (10 * USEC_PER_SEC) /* the first time; then twice as much each time */
#define BUDGET_PPM                                                                                 \
        500 /* what the rest may cost others: little, for it is paid with nothing recorded yet */

struct HostSurvey {
        HostSurveyConfig config;
        sd_event_source *timer;
        BystanderWatch *watch;
        uint64_t again_us;
        bool is_reading; /* a task */
        bool was_live;   /* there was a session, at the last change of one */
};

static int set_timer(HostSurvey *s, uint64_t us);

/* Somebody else traces, a task is under way, there is no tracefs yet. */
static int try_again(HostSurvey *s) {
        uint64_t us = s->again_us;

        s->again_us = MIN(2 * us, UINT64_MAX / 4);
        return set_timer(s, us);
}

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
        if (r < 0)
                (void) try_again(s);
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

        int r = controller_load_functions(c->controller);

        if (r >= 0)
                sessions_store_symbols(c->sessions);
        s->is_reading = false;
        (void) (r < 0 ? try_again(s) : set_timer(s, COUNT_US));
}

/* First it is read, then counted, each if there is need. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        HostSurvey *s = userdata;
        const HostSurveyConfig *c = &s->config;
        bool is_known = controller_has_functions(c->controller);

        s->timer = sd_event_source_disable_unref(s->timer);
        if (sessions_n_live(c->sessions) > 0)
                return 0; /* its end says so */
        if (background_is_busy(c->background))
                return try_again(s);
        if (is_known && !controller_needs_survey(c->controller, boot_realtime_ns()))
                return 0;
        if (is_known)
                return count(s) < 0 ? try_again(s) : 0;
        s->is_reading = true;
        if (background_run(c->background, read_lists, s) < 0) {
                s->is_reading = false;
                return try_again(s);
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
        s->again_us = AGAIN_US;
        r = set_timer(s, FIRST_US);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

void host_survey_look(HostSurvey *s) {
        bool was_live;

        if (!s)
                return;
        was_live = s->was_live;
        s->was_live = sessions_n_live(s->config.sessions) > 0;
        if (s->was_live || !was_live || host_survey_is_busy(s))
                return;
        s->again_us = AGAIN_US;
        (void) set_timer(s, COUNT_US);
}

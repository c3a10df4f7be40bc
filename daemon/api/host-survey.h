/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Host survey: what a first start would have to wait for, done while nobody waits
 *
 * Soon after the daemon began the lists of functions and of symbols are read, and a minute later, once for each
 * boot and set of modules, what this host calls often is counted (daemon/watch/bystander-watch.h), so that
 * the first recording leaves it out (daemon/lean/ordinary.h).  A minute after a recording has ended the same is done
 * if modules have changed, or a week has passed; in between it costs nothing.
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "daemon/api/sessions.h"

typedef struct HostSurvey HostSurvey;

/* All are borrowed.  It begins when no session is live and no task is under way. */
typedef struct HostSurveyConfig {
        sd_event *event;
        Background *background;
        Controller *controller;
        Sessions *sessions;
} HostSurveyConfig;

/* 0 or -errno. */
int host_survey_new(HostSurvey **ret, const HostSurveyConfig *config);
HostSurvey *host_survey_free(HostSurvey *s);
DEFINE_CLEANUP(HostSurvey *, host_survey_free);
/* After a change of any session.  NULL: nothing happens. */
void host_survey_look(HostSurvey *s);
/* Whether it counts, which is worth waiting for.  NULL: no. */
bool host_survey_is_busy(const HostSurvey *s);

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What takes a while for the store's sake is done by another (daemon/api/janitor.h), bit by bit; the call is kept
 * until it is done, and told meanwhile how far it is.
 */

#include "daemon/api/janitor.h"
#include "daemon/api/methods-private.h"

void methods_set_janitor(Methods *m, Janitor *janitor) {
        m->janitor = janitor;
}

int method_vacuum(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        RetainLimits l = {};
        Methods *m = userdata;
        bool dry_run;
        int r = parameter_get_number(parameters, "max_bytes", &l.max_use_bytes, refusal);

        if (r == 0)
                r = parameter_get_number(parameters, "max_age_ns", &l.max_age_ns, refusal);
        if (r == 0)
                r = parameter_get_number(parameters, "max_sessions", &l.max_sessions, refusal);
        if (r == 0)
                r = parameter_get_boolean(parameters, "dry_run", &dry_run, refusal);
        if (r != 0)
                return r;
        if (!l.max_use_bytes && !l.max_age_ns && !l.max_sessions)
                l = vacuum_limits(m->limits);
        return janitor_vacuum(m->janitor, call, &l, dry_run);
}

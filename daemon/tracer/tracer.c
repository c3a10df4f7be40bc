/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a session asks of its tracer while it is programmed.  Nothing here changes what is in the ledger. */

#include <limits.h>
#include <stdio.h>

#include "base/unit.h"
#include "daemon/admission/admission.h"
#include "daemon/instances/event-set.h"
#include "daemon/instances/task-filter.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracer/controller-private.h"

void tracer_free(Tracer *t) {
        t->c->generation++;
        for (Tracer **p = &t->c->tracers; *p; p = &(*p)->next)
                if (*p == t) {
                        *p = t->next;
                        break;
                }
        if (t->claim)
                arbiter_leave(&t->c->arbiter, t->claim);
        (void) instance_free(t->instance);
        tracer_forget_hooks(t);
        free(t->clock);
        strv_done(&t->gone);
        strv_done(&t->quiesced);
        free(t);
}

ClaimValues controller_claim_values(const Controller *c, const Spec *spec) {
        bool shares = instance_shares_options(&c->fs);

        return (ClaimValues){ .depth = spec->depth,
                              .thresh_us = spec->slower_ns / NSEC_PER_USEC +
                                           (spec->slower_ns % NSEC_PER_USEC > 0),
                              .flat = spec->flat,
                              .no_irqs = spec->no_irqs && shares,
                              .no_sleep_time = spec->no_sleep_time && shares,
                              .args = spec->args && shares };
}

/* The buffers that are ours. */
int controller_own_dirs(const Controller *c, Strv *ret) {
        for (const Tracer *t = c->tracers; t; t = t->next) {
                int r = strv_add(ret, instance_dir(t->instance));

                if (r < 0)
                        return r;
        }
        return 0;
}

int controller_others_trace(const Controller *c) {
        _cleanup_strv_ Strv dirs = {}, ours = {};
        int r = tracefs_get_instances(&c->fs, &dirs);

        if (r >= 0)
                r = controller_own_dirs(c, &ours);
        for (size_t i = 0; r == 0 && i <= dirs.n; i++) {
                _cleanup_free_ char *path = NULL, *tracer = NULL;
                char dir[PATH_MAX] = "";

                if (i < dirs.n)
                        (void) snprintf(dir, sizeof(dir), "instances/%.255s/", dirs.items[i]);
                if (strv_contains(&ours, dir))
                        continue;
                if (asprintf(&path, "%scurrent_tracer", dir) < 0)
                        return -ENOMEM;
                r = control_read(c->fs.fd, path, &tracer);
                if (r >= 0)
                        r = !streq(tracer, "nop");
                else if (r == -ENOENT)
                        r = 0; /* it has just gone */
        }
        return r;
}

int tracer_apply(Tracer *t, Plan *p, const char **ret_file) {
        Controller *c = t->c;
        size_t from = p->n_applied;
        int r = ledger_commit(c->ledger, c->fs.path);

        if (r >= 0)
                r = plan_apply(p, &c->fs, ret_file);
        if (r >= 0)
                tracer_know_hooks(t, p, from);
        else
                tracer_forget_hooks(t);
        ledger_mark(c->ledger, &c->fs);
        return r;
}

const char *tracer_tracefs(const Tracer *t) {
        return t->c->fs.path;
}

bool tracer_is_held_up(const Tracer *t) {
        return background_is_busy(t->c->background);
}

int tracer_tracefs_fd(const Tracer *t) {
        return t->c->fs.fd;
}

Instance *tracer_instance(const Tracer *t) {
        return t->instance;
}

int tracer_find_strangers(const Tracer *t, Strv *ret) {
        _cleanup_strv_ Strv ours = {}, users = {};
        int r = controller_own_dirs(t->c, &ours);

        if (r >= 0)
                r = tracefs_find_graph_users(&t->c->fs, &users);
        strv_sort_unique(&ours);
        return r < 0 ? r : strv_pick(ret, &users, &ours, false);
}

void tracer_set_handlers(Tracer *t, TracerQuiesced on_quiesced, TracerCrowded on_crowded,
                         void *userdata) {
        t->on_quiesced = on_quiesced;
        t->on_crowded = on_crowded;
        t->userdata = userdata;
}

bool tracer_was_quiesced(const Tracer *t) {
        return strv_contains(&t->c->recovered, instance_dir(t->instance));
}

int tracer_open_tasks(const Tracer *t) {
        return task_filter_open(&t->c->fs, t->claim->session);
}

int tracer_follow(Tracer *t, const Spec *spec) {
        _cleanup_strv_ Strv wanted = {};
        int r = find_followed(&t->c->fs, spec, &wanted, NULL);

        return r < 0 ? r
                     : task_filter_set(&t->c->fs, instance_dir(t->instance),
                                       event_set_is_used(spec), &wanted);
}

int tracer_set_recording(Tracer *t, bool on) {
        return instance_set_recording(t->instance, on);
}

int tracer_read_clocks(Tracer *t, ClockTuple *ret) {
        return instance_read_clocks(t->instance, t->clock, ret);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a session asks of its tracer while it is programmed; of what was recorded by nobody, why.  Nothing here changes
 * what is in the ledger.  What others did to the files meanwhile is noticed elsewhere (daemon/watch/tamper.h).
 */

#include <fcntl.h>

#include "base/io.h"
#include "base/name.h"
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
        instance_done(&t->instance);
        tracer_forget_hooks(t);
        free(t->clock);
        strv_done(&t->gone);
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
                int r = strv_add(ret, t->instance.dir);

                if (r < 0)
                        return r;
        }
        return 0;
}

void tracer_forget_hooks(Tracer *t) {
        for (size_t i = 0; i < _HOOK_LIST_N; i++)
                t->hook_lists[i] = mfree(t->hook_lists[i]);
}

bool tracer_is_held_up(const Tracer *t) {
        return background_is_busy(t->c->background);
}

Instance *tracer_instance(const Tracer *t) {
        return (Instance *) &t->instance; /* what it counts is not the tracer's */
}

int controller_find_others(const Controller *c, const char *tracer, Strv *ret) {
        _cleanup_strv_ Strv ours = {}, users = {};
        int r = controller_own_dirs(c, &ours) ?: tracefs_find_users(&c->fs, tracer, &users);

        strv_sort_unique(&ours);
        return r ?: strv_pick(ret, &users, &ours, false);
}

int tracer_find_strangers(const Tracer *t, Strv *ret) {
        return controller_find_others(t->c, "function_graph", ret);
}

void tracer_set_handler(Tracer *t, TracerQuiesced on_quiesced, void *userdata) {
        t->on_quiesced = on_quiesced;
        t->userdata = userdata;
}

bool tracer_was_quiesced(const Tracer *t) {
        return strv_contains(&t->c->recovered, t->instance.dir);
}

int tracer_follow(Tracer *t, const Spec *spec) {
        _cleanup_strv_ Strv wanted = {};
        int r = find_followed(&t->c->fs, spec, &wanted, NULL);

        return r < 0 ? r
                     : task_filter_set(&t->c->fs, t->instance.dir, event_set_is_used(spec),
                                       &wanted);
}

int tracer_set_recording(Tracer *t, bool on) {
        return instance_set_recording(&t->instance, on);
}

void tracer_leave_off(Tracer *t, const SessionMeta *m) {
        ledger_drop(t->c->ledger, m->name, TRACEFS_PATH("%stracing_on", t->instance.dir), NULL);
}

int tracer_read_clocks(Tracer *t, ClockTuple *ret) {
        return instance_read_clocks(&t->instance, t->clock, ret);
}

uint64_t tracer_now_ns(Tracer *t, uint64_t otherwise) {
        ClockTuple now;

        return tracer_read_clocks(t, &now) >= 0 ? now.trace_ns : otherwise;
}

/* --- why nothing was recorded ------------------------------------------------------------------- */

static int find_ended(const Tracefs *fs, const Spec *spec, Strv *ret) {
        _cleanup_free_ char *pids = strv_join(&spec->pids, ", ");

        if (!pids)
                return -ENOMEM;
        for (size_t i = 0; i < spec->pids.n; i++) {
                if (faccessat(fs->root_fd, TRACEFS_PATH("proc/%s", spec->pids.items[i]), F_OK, 0) >=
                    0)
                        return 0;
        }
        if (spec->pids.n == 0)
                return 0;
        return strv_addf(ret, "process%s %s has ended", spec->pids.n == 1 ? "" : "es", pids);
}

/* Among those that are followed is always the one that nobody has (daemon/admission/admission.h). */
static int find_nobody(const Tracefs *fs, const Spec *spec, Strv *ret) {
        _cleanup_free_ char *comms = strv_join(&spec->comms, ", "),
                            *cgroups = strv_join(&spec->cgroups, ", ");
        _cleanup_strv_ Strv tasks = {};
        int r;

        if (spec->comms.n + spec->cgroups.n == 0)
                return 0;
        r = comms && cgroups ? find_followed(fs, spec, &tasks, NULL) : -ENOMEM;
        if (r < 0 || tasks.n > 1)
                return r;
        return spec->comms.n > 0 ? strv_addf(ret, "no task is called %s", comms)
                                 : strv_addf(ret, "no task is in the control group %s", cgroups);
}

static int find_offline(const Tracefs *fs, const Spec *spec, Strv *ret) {
        _cleanup_free_ char *online = NULL, *cpus = strv_join(&spec->cpus, ", ");
        const char *list;
        unsigned first, last;

        if (!cpus)
                return -ENOMEM;
        if (spec->cpus.n == 0 ||
            file_read(fs->root_fd, "sys/devices/system/cpu/online", &online, NULL, 65536) < 0)
                return 0;
        list = online;
        while (cpu_list_next(&list, &first, &last) > 0)
                for (size_t i = 0; i < spec->cpus.n; i++) {
                        unsigned from, to;

                        cpu_range_parse(spec->cpus.items[i], &from, &to);
                        if (from <= last && to >= first)
                                return 0;
                }
        return strv_addf(ret, "of CPUs %s none is online", cpus);
}

static int find_not_hooked(const Tracer *t, const SessionMeta *m, Strv *ret) {
        _cleanup_strv_ Strv filter = {}, notrace = {};
        int r = instance_read_list(&t->instance, "set_ftrace_filter", &filter)
                        ?: instance_read_list(&t->instance, "set_ftrace_notrace", &notrace);

        strv_sort_unique(&filter);
        strv_sort_unique(&notrace);
        for (size_t i = 0; r >= 0 && i < m->roots.n; i++) {
                const char *root = m->roots.items[i];

                if (strv_contains(&t->gone, root))
                        r = strv_addf(ret, "the module of %s is not loaded any more", root);
                else if (strv_finds(&notrace, root))
                        r = strv_addf(ret, "%s is in set_ftrace_notrace, which leaves it out",
                                      root);
                else if (filter.n > 0 && !strv_finds(&filter, root))
                        r = strv_addf(ret, "%s is not in set_ftrace_filter, which has others",
                                      root);
        }
        return r;
}

int tracer_find_silence(const Tracer *t, const SessionMeta *m, Strv *ret) {
        return find_not_hooked(t, m, ret)
                       ?: find_ended(&t->c->fs, &m->spec, ret)
                       ?: find_nobody(&t->c->fs, &m->spec, ret)
                       ?: find_offline(&t->c->fs, &m->spec, ret);
}

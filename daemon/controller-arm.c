/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Arming: it asks admission, writes the ledger, applies plans and switches the tracer on, in this
 * order, and leaves every way back to tracer_end().
 */

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/admission.h"
#include "daemon/aside.h"
#include "daemon/bell.h"
#include "daemon/clock-reader.h"
#include "daemon/controller-private.h"
#include "daemon/event-set.h"
#include "daemon/host-check.h"
#include "daemon/knob.h"
#include "daemon/lean.h"
#include "daemon/override.h"
#include "daemon/pace.h"
#include "daemon/plan.h"
#include "daemon/task-filter.h"
#include "store/format.h"
#include "store/trigger.h"

#define GRAPH_NOTRACE "set_graph_notrace"

void aim_done(Aim *a) {
        strv_done(&a->roots);
        strv_done(&a->notrace);
        strv_done(&a->threads);
        strv_done(&a->clock_readers);
        strv_done(&a->overridden);
        strv_done(&a->warnings);
        lean_choice_done(&a->lean);
        hooks_done(&a->waiting);
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

int controller_plan_shared(Controller *c, Plan *p, const SharedSettings *s) {
        _cleanup_free_ char *roots = strv_join(s->roots, "\n"), *now = NULL,
                            *notrace = strv_join(s->notrace, "\n");
        const struct {
                const char *file, *value;
        } files[] = { { GRAPH_NOTRACE, notrace }, { GRAPH_FUNCTION, roots } };
        char depth[32], thresh[32];
        int r;

        if (!roots || !notrace)
                return -ENOMEM;
        (void) snprintf(depth, sizeof(depth), "%llu", (unsigned long long) s->depth);
        (void) snprintf(thresh, sizeof(thresh), "%llu", (unsigned long long) s->thresh_us);
        r = plan_add(p, &c->fs, c->ledger, LEDGER_SHARED, "tracing_thresh", thresh);
        if (r >= 0)
                r = plan_add(p, &c->fs, c->ledger, LEDGER_SHARED, "max_graph_depth", depth);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(files); i++)
                r = plan_add(p, &c->fs, c->ledger, LEDGER_SHARED, files[i].file, files[i].value);
        /* Kept even if it is the same by chance: the next session will add to it. */
        if (r >= 0)
                r = knob_read(c->fs.fd, GRAPH_FUNCTION, &now);
        if (r >= 0)
                r = ledger_add(c->ledger, LEDGER_SHARED, LEDGER_FILE, GRAPH_FUNCTION, now);
        return r;
}

int tracer_program(Tracer *t, const SessionMeta *m, const Aim *aim, Plan *p,
                   const char **ret_file) {
        Controller *c = t->c;
        const char *session = t->claim->session;
        int r;

        *ret_file = "the tracers of others";
        r = override_plan(p, &c->fs, c->ledger, &aim->overridden);
        if (r >= 0 && p->n > 0) {
                r = ledger_commit(c->ledger, c->fs.path);
                if (r >= 0)
                        r = plan_apply(p, &c->fs, ret_file);
        }
        if (r < 0)
                return r;

        *ret_file = "instances";
        r = instance_create(t->instance, p, c->ledger, session);
        if (r >= 0 && !p->is_dry)
                r = tracer_calibrate(t, m, ret_file);
        if (r < 0)
                return r;

        if (task_filter_follows(&m->spec)) {
                r = task_filter_plan(p, &c->fs, c->ledger, session, &m->spec);
                if (r < 0)
                        return r;
        }
        *ret_file = "the control files";
        r = instance_plan(t->instance, p, c->ledger, session,
                          &(InstanceSettings){
                                  .buffer_bytes = m->spec.buffer_bytes,
                                  .percent = pace_percent(m->spec.buffer_bytes, m->spec.max_bytes),
                                  .clock = t->clock,
                                  .cpus = &m->spec.cpus,
                                  .threads = &aim->threads,
                                  .threads_change = task_filter_follows(&m->spec),
                                  .no_irqs = m->spec.no_irqs,
                                  .no_sleep_time = m->spec.no_sleep_time,
                                  .not_hooked = &aim->clock_readers,
                                  .hooks = t->waits ? &aim->waiting : &aim->lean.hooks,
                                  .args = m->spec.args });
        if (r >= 0)
                r = event_set_plan(&m->spec.events, &aim->threads, t->instance, p, &c->fs,
                                   c->ledger, session);
        if (r >= 0 && c->arbiter.n == 1)
                r = controller_plan_shared(
                        c, p,
                        &(SharedSettings){ .roots = &t->claim->roots,
                                           .notrace = &t->claim->notrace,
                                           .depth = m->spec.depth,
                                           .thresh_us = t->claim->values.thresh_us });
        if (r < 0)
                return r;

        *ret_file = "the ledger";
        r = controller_note_roots(c, &t->claim->roots);
        if (r >= 0)
                r = ledger_commit(c->ledger, c->fs.path);
        if (r >= 0)
                r = plan_apply(p, &c->fs, ret_file);
        if (r >= 0 && c->arbiter.n > 1) {
                *ret_file = GRAPH_FUNCTION;
                r = tracer_add_roots(t, p);
        }
        return r < 0 ? r : instance_start(t->instance, p, ret_file);
}

static int refuse_program(const Tracer *t, const SessionMeta *m, int error, const char *file,
                          Refusal *refusal) {
        const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
        _cleanup_free_ char *dir = NULL; /* whose current_tracer it is */
        const Tracefs *fs = &t->c->fs;
        char size[UNIT_TEXT_MAX];

        if (streq(name, "current_tracer")) {
                dir = strndup(file, (size_t) (name - file));
                if (!dir)
                        return -ENOMEM;
        }
        if (strstr(file, "events/") && streq(strrchr(file, '/'), "/filter") && error == -EINVAL)
                return refuse_event_filter(fs, file, "events", refusal);
        if (dir && error == -EBUSY)
                return refuse_held_pipe(fs, dir, refusal);
        if (dir && error == -ENOSPC)
                return refusal_set(refusal, REFUSAL_BUSY, json_pack("{ss}", "holder", "unknown"),
                                   "the kernel has room for 16 users of function_graph, and %zu "
                                   "sessions of ftraced are among them. Stop one (ftracectl list), "
                                   "or another tool that uses it; or --wait.",
                                   t->c->arbiter.n - 1);
        if (strstr(file, "buffer_size_kb") && error == -ENOMEM)
                return refusal_set(refusal, REFUSAL_NO_MEMORY, NULL,
                                   "the kernel cannot give buffers of %s for each CPU. Use a "
                                   "smaller --buffer-size.",
                                   format_bytes(size, m->spec.buffer_bytes));
        return refusal_set(refusal, REFUSAL_SYSTEM_ERROR, json_pack("{si}", "errno", -error),
                           "cannot program %s in %s: %s. Everything is put back; "
                           "FTRACED_DEBUG=knob shows each write.",
                           file, fs->path,
                           error == -EIO ? "it does not say what was written" : strerror(-error));
}

/* A function of a module that has gone is shown as an address, which cannot be written. */
static int warn_of_addresses(Controller *c, Strv *warnings) {
        static const char *const files[] = { GRAPH_FUNCTION, GRAPH_NOTRACE };

        for (size_t i = 0; i < ELEMENTSOF(files) && c->arbiter.n == 0; i++) {
                _cleanup_free_ char *now = NULL;
                char *text;
                int r;

                r = knob_read(c->fs.fd, files[i], &now);
                if (r < 0 || !strstr(now, "0xffff"))
                        continue;
                if (asprintf(&text,
                             "%s held the address of an unloaded module (%.18s), which cannot be "
                             "put back",
                             files[i], strstr(now, "0xffff")) < 0)
                        return -ENOMEM;
                r = strv_take(warnings, text);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int warn_of_clock_readers(const Strv *clock_readers, Strv *warnings) {
        _cleanup_free_ char *names = strv_join(clock_readers, ", ");

        if (clock_readers->n == 0)
                return 0;
        if (!names)
                return -ENOMEM;
        return strv_addf(warnings, "not recorded: %s, with which this kernel reads the trace clock",
                         names);
}

/* Those who record already are told by their gaps; who comes, by a sentence. */
static int warn_of_hush(const Tracer *t, Strv *warnings) {
        _cleanup_free_ char *names = strv_join(&t->hushed, ", ");
        char text[UNIT_TEXT_MAX];

        if (t->hushed.n == 0)
                return 0;
        if (!names)
                return -ENOMEM;
        return strv_addf(warnings,
                         "%s recorded nothing for %s, while the functions of this session were "
                         "added to the kernel's list",
                         names, format_duration(text, t->hushed_ns));
}

int tracer_fill_meta(Tracer *t, SessionMeta *m, const Aim *aim) {
        _cleanup_strv_ Strv neighbours = {}, new_roots = {}, new_notrace = {};
        _cleanup_free_ char *clock = strdup(t->clock), *name = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        uint32_t page_bytes;
        size_t n;
        int r;

        if (instance_name(t->instance)) {
                name = strdup(instance_name(t->instance));
                if (!name)
                        return -ENOMEM;
        }
        r = clock ? 0 : -ENOMEM;
        if (r >= 0)
                r = instance_read_page_bytes(t->instance, &page_bytes);
        if (r >= 0 && (page_bytes < PAGE_BYTES_MIN || page_bytes > PAGE_BYTES_MAX))
                r = -EBADMSG;
        if (r >= 0)
                r = tracefs_get_cpus(&t->c->fs, &cpus, &n);
        if (r >= 0)
                r = arbiter_neighbours(&t->c->arbiter, t->claim, &neighbours);
        if (r >= 0)
                r = strv_copy(&new_roots, &aim->roots);
        if (r >= 0)
                r = strv_copy(&new_notrace, &aim->notrace);
        if (r >= 0)
                r = lean_choice_tell(&aim->lean, m);
        for (size_t i = 0; r >= 0 && i < aim->warnings.n; i++)
                r = strv_add(&m->warnings, aim->warnings.items[i]);
        if (r >= 0)
                r = warn_of_hush(t, &m->warnings);
        if (r < 0)
                return r;

        strv_done(&m->roots);
        m->roots = TAKE(new_roots, (Strv){});
        strv_done(&m->notrace);
        m->notrace = TAKE(new_notrace, (Strv){});
        strv_done(&m->neighbours);
        m->neighbours = TAKE(neighbours, (Strv){});
        free(m->instance);
        m->instance = TAKE_PTR(name);
        free(m->clock);
        m->clock = TAKE_PTR(clock);
        m->page_bytes = page_bytes;
        m->calibration = controller_calibration(t->c, m);
        m->n_possible_cpus = cpus[n - 1] + 1;
        return 0;
}

/* Functions and events that triggers wait for. */
static int admit_triggers(const Controller *c, const Spec *spec, Refusal *refusal) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < spec->triggers.n; i++) {
                _cleanup_trigger_ Trigger t = {};
                char why[TRIGGER_WHY_MAX];

                if (trigger_parse(&t, spec->triggers.items[i], why) == 0)
                        r = bell_admit(&c->fs, &t, &c->functions, refusal);
        }
        return r;
}

/*
 * What the spec comes to, which may take a while: names are compared, and every process is looked at.  All
 * this needs stays as it is while the loop goes on: where tracefs is, and the list of functions, which
 * is read again by tasks, or when they have ended.
 */
static int admit_spec(const Controller *c, const SessionMeta *m, const MemoryUse *use, Aim *ret,
                      Refusal *refusal) {
        const Spec *spec = &m->spec;
        int r;

        r = admit_names(&c->functions, spec, &ret->roots, &ret->notrace, refusal);
        if (r == 0)
                r = admit_together(spec, &ret->roots, &ret->notrace, refusal);
        if (r == 0)
                r = admit_triggers(c, spec, refusal);
        if (r == 0)
                r = admit_cpus(&c->fs, spec, refusal);
        if (r == 0)
                r = admit_clock(&c->fs, spec, refusal);
        if (r == 0)
                r = admit_events(&c->fs, spec, refusal);
        if (r == 0)
                r = admit_processes(&c->fs, spec, &ret->threads, &ret->warnings, refusal);
        return r == 0 ? memory_admit(&c->fs, spec, use, refusal) : r;
}

/* All questions that need no write but that for instances, which is asked only without @is_dry. */
static int admit(Controller *c, const SessionMeta *m, bool force, bool is_dry, Aim *ret,
                 Refusal *refusal) {
        MemoryUse use = controller_memory_use(c);
        _cleanup_strv_ Strv ours = {};
        int r;

        (void) controller_attach(c);
        r = host_admit(&(HostFacts){ .fs = &c->fs, .has_instances = controller_guess_instances(c) },
                       refusal);
        if (r != 0)
                return r;
        if (!is_dry)
                controller_retry(c);
        r = functions_load(&c->functions, &c->fs);
        if (r != 0)
                return r;
        aside_leave();
        r = admit_spec(c, m, &use, ret, refusal);
        aside_return();
        if (r != 0)
                return r;

        for (const Tracer *t = c->tracers; t; t = t->next)
                if (streq(t->claim->session, m->name))
                        return refusal_set(refusal, REFUSAL_SESSION_EXISTS,
                                           json_pack("{ss}", "session", m->name),
                                           "session %s is live already. Choose another name.",
                                           m->name);
        ret->has_instances = is_dry ? controller_guess_instances(c) : controller_has_instances(c);
        if (!ret->has_instances && c->arbiter.n > 0)
                return refuse_held(c->arbiter.claims[0], NULL, m->spec.depth, refusal);
        if (c->has_instances < 0 && !is_dry)
                return c->has_instances;
        r = controller_own_dirs(c, &ours);
        if (r >= 0 && force)
                return override_find(&c->fs, ret->has_instances, &ours, &ret->overridden,
                                     &ret->warnings, refusal);
        return r < 0 ? r : admit_tracer(&c->fs, c->ledger, ret->has_instances, &ours, refusal);
}

int controller_look(Controller *c, bool *ret_is_learning, const SessionMeta *m, bool force,
                    Refusal *refusal) {
        _cleanup_(aim_done) Aim aim = {};
        ClaimValues values;
        const Claim *holder;
        const char *what;
        int r;

        aside_settle(c->aside);
        r = admit(c, m, force, false, &aim, refusal);
        if (r != 0)
                return r;
        values = controller_claim_values(c, &m->spec);
        if (arbiter_look(&c->arbiter, &aim.roots, &aim.notrace, &values, &holder, &what) ==
            ARBITER_E_HELD)
                return refuse_held(holder, what, m->spec.depth, refusal);
        if (ret_is_learning)
                *ret_is_learning = controller_is_learning_of(c, &m->spec, &aim.roots);
        return r;
}

static int tracer_init(Tracer *t, const SessionMeta *m, const Aim *aim, Refusal *refusal) {
        Controller *c = t->c;
        ClaimValues values = controller_claim_values(c, &m->spec);
        const Claim *holder;
        const char *what;
        int r;

        t->clock = strdup(m->spec.clock ?: SPEC_DEFAULT_CLOCK);
        if (!t->clock)
                return -ENOMEM;
        r = instance_new(&t->instance, &c->fs, aim->has_instances ? m->name : NULL);
        if (r < 0)
                return r;
        if (instance_name(t->instance) && instance_exists(t->instance))
                return refusal_set(refusal, REFUSAL_BUSY,
                                   json_pack("{ss}", "holder", instance_name(t->instance)),
                                   "%s/%s exists already and is not this daemon's. Choose another "
                                   "name; if nobody uses it: rmdir %s/%s",
                                   c->fs.path, instance_dir(t->instance), c->fs.path,
                                   instance_dir(t->instance));
        r = arbiter_join(&c->arbiter, &t->claim, m->name, m->owner_uid, &aim->roots, &aim->notrace,
                         &values, &holder, &what);
        if (r == ARBITER_E_HELD)
                return refuse_held(holder, what, m->spec.depth, refusal);
        return r;
}

static int tracer_new(Controller *c, Tracer **ret, const SessionMeta *m, const Aim *aim,
                      Refusal *refusal) {
        Tracer *t = calloc(1, sizeof(*t));
        int r;

        if (!t)
                return -ENOMEM;
        t->c = c;
        t->buffer_bytes = memory_of_buffers(&m->spec, 1);
        r = tracer_init(t, m, aim, refusal);
        if (r != 0) {
                tracer_free(t);
                return r;
        }
        t->next = c->tracers;
        *ret = c->tracers = t;
        return 0;
}

int tracer_prepare(Controller *c, Tracer **ret, const SessionMeta *m, bool force, bool is_dry,
                   Aim *aim, Refusal *refusal) {
        int r;

        r = admit(c, m, force, is_dry, aim, refusal);
        if (r == 0) {
                bool is_learning = controller_is_learning_of(c, &m->spec, &aim->roots);

                aside_leave();
                r = lean_choose(&aim->lean, c->store_fd, c->fs.root_fd, &c->functions, &m->spec,
                                &aim->roots, &aim->notrace, is_learning, &aim->warnings, refusal);
                aside_return();
        }
        if (r == 0)
                r = warn_of_addresses(c, &aim->warnings);
        if (r == 0)
                r = clock_reader_find(&c->fs, &c->functions, &aim->clock_readers);
        if (r == 0)
                r = warn_of_clock_readers(&aim->clock_readers, &aim->warnings);
        if (r == 0)
                r = tracer_new(c, ret, m, aim, refusal);
        if (r != 0)
                return r;
        r = hooks_for_waiting(&c->functions, m, &aim->roots, &aim->waiting, &(*ret)->waits);
        if (r < 0)
                tracer_free(*ret);
        return r;
}

int controller_arm(Controller *c, Tracer **ret, SessionMeta *m, bool force, Refusal *refusal) {
        _cleanup_(aim_done) Aim aim = {};
        _cleanup_plan_ Plan plan = {};
        const char *file = NULL;
        Tracer *t;
        int r, k;

        aside_settle(c->aside);
        r = tracer_prepare(c, &t, m, force, false, &aim, refusal);
        if (r != 0)
                return r;
        if (aim.lean.learns)
                tracer_look_at_quiet(t);
        r = tracer_hang_bells(t, &plan, m, &aim.roots, &aim.threads, refusal);
        if (r == 0)
                r = tracer_program(t, m, &aim, &plan, &file);
        if (r == 0) {
                file = "events/header_page";
                r = tracer_fill_meta(t, m, &aim);
        }
        if (r < 0) {
                log_debug("knob", "arming %s failed at %s: %s", m->name, file ?: "the triggers",
                          strerror(-r));
                r = refuse_program(t, m, r, file ?: "the triggers", refusal);
        }
        if (r != 0) {
                k = tracer_end(t);
                if (k < 0)
                        (void) log_warning_errno(k,
                                                 "Session %s was refused, and what it had "
                                                 "changed could not all be put back yet: %m",
                                                 m->name);
                return r;
        }
        *ret = t;
        return 0;
}

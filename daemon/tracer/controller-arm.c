/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Arming: what was admitted (controller-admit.c) is written to the ledger and planned, plans are applied and
 * the tracer is switched on, in this order; every way back is left to tracer_end().
 */

#include <fcntl.h>

#include "base/array.h"
#include "base/log.h"
#include "daemon/record/reader.h"
#include "daemon/tracer/controller-private.h"
#include "store/format.h"

#define BOOT_CLOCK "local" /* that an instance has from the beginning */

#define GRAPH_NOTRACE "set_graph_notrace"

/* A list of functions that is to say @names, written as @words. */
static int plan_names(Plan *p, const char *file, const Strv *names, const Strv *words) {
        _cleanup_free_ char *value = strv_join(names, "\n"), *text = strv_join(words, "\n");

        return value && text ? plan_add_text(p, LEDGER_SHARED, file, value, text) : -ENOMEM;
}

/* What has one value for all instances: the first session sets it and the last one leaves it. */
static int plan_shared(const Tracer *t, Plan *p, const SessionMeta *m, const Admission *a) {
        _cleanup_free_ char *now = NULL, *roots = strv_join(&t->claim->roots, "\n");
        char depth[32], thresh[32];
        int r;

        if (!roots)
                return -ENOMEM;
        (void) snprintf(depth, sizeof(depth), "%llu", (unsigned long long) m->spec.depth);
        (void) snprintf(thresh, sizeof(thresh), "%llu",
                        (unsigned long long) t->claim->values.thresh_us);
        r = plan_add(p, LEDGER_SHARED, "tracing_thresh", thresh)
                    ?: plan_add(p, LEDGER_SHARED, "max_graph_depth", depth)
                    ?: plan_names(p, GRAPH_NOTRACE, &t->claim->notrace, &a->notrace_words)
                    ?: plan_names(p, GRAPH_FUNCTION, &t->claim->roots, &a->root_words);
        /* Kept even if it is the same by chance: the next session will add to it. */
        return r ?: control_read(p->fs->fd, GRAPH_FUNCTION, &now)
                       ?: ledger_claim(p->ledger, LEDGER_SHARED, LEDGER_FILE, GRAPH_FUNCTION, now,
                                       roots);
}

int tracer_make_values(Tracer *t, Plan *p, const SessionMeta *m, Admission *a, Refusal *refusal) {
        int r = 0;

        strv_done(&a->value_events);
        for (ValueKind k = 0; r == 0 && k < _VALUE_KIND_N; k++)
                r = value_probe_make(k, p, &t->c->functions, &a->values[k], &m->spec,
                                     &a->value_events, &a->warnings, refusal);
        return r ?: value_probe_make_owners(p, &t->c->functions, &m->spec, &a->value_events,
                                            &a->warnings)
                       ?: value_probe_make_maps(p, &t->c->functions, &m->spec, &a->value_events,
                                                &a->warnings);
}

int tracer_program(Tracer *t, const SessionMeta *m, const Admission *a, Plan *p,
                   const char **ret_file) {
        Controller *c = t->c;
        int r;

        *ret_file = "the tracers of others";
        r = override_plan(p, &a->overridden);
        if (r >= 0 && p->n > 0)
                r = tracer_apply(t, p, ret_file);
        if (r < 0)
                return r;

        *ret_file = "instances";
        r = instance_create(&t->instance, p);
        if (r < 0)
                return r;

        if (task_filter_follows(&m->spec))
                r = task_filter_plan(p, &m->spec);
        if (r < 0)
                return r;
        *ret_file = "the control files";
        r = instance_plan(
                &t->instance, p,
                &(InstanceSettings){
                        .buffer_bytes = m->spec.buffer_bytes,
                        .percent = backoff_percent(m->spec.buffer_bytes, m->spec.max_bytes),
                        .clock = t->clock,
                        .cpus = &m->spec.cpus,
                        .threads = &a->threads,
                        .threads_change = task_filter_follows(&m->spec),
                        .no_irqs = m->spec.no_irqs,
                        .no_sleep_time = m->spec.no_sleep_time,
                        .not_hooked = &a->not_hooked,
                        .hooks = t->waits ? &a->waiting : &a->lean.hooks,
                        .args = spec_asks_for_args(&m->spec) });
        r = r ?: event_set_plan(&m->spec, &a->threads, &t->instance, p)
                    ?: value_probe_plan(p, &t->instance, &m->spec, &a->value_events);
        if (r >= 0 && c->arbiter.n == 1)
                r = plan_shared(t, p, m, a);
        if (r < 0)
                return r;

        *ret_file = "the ledger";
        r = controller_note_roots(p->ledger, &t->claim->roots)
                    ?: ledger_commit(p->ledger)
                    ?: plan_apply(p, ret_file);
        if (r >= 0)
                tracer_know_hooks(t, p, 0);
        if (r >= 0 && c->arbiter.n > 1) {
                *ret_file = GRAPH_FUNCTION;
                r = tracer_add_roots(t, p);
        }
        r = r ?: instance_start(&t->instance, p, ret_file);
        ledger_mark(p->ledger);
        ledger_shorten(p->ledger);
        return r;
}

static int refuse_slow(const ControlPace *p, const SessionMeta *m, Refusal *refusal) {
        _cleanup_free_ char *pattern = strv_join(&m->spec.functions, " ");

        if (!pattern)
                return -ENOMEM;
        return refusal_set(refusal, REFUSAL_TOO_MANY_FUNCTIONS,
                           json_pack("{ss sI sI}", "pattern", pattern, "count",
                                     (json_int_t) p->n_words, "limit", (json_int_t) p->n_written),
                           "the kernel compares all its functions with each of the %zu words that "
                           "name these: %zu of them took %s, so all would take more than a minute. "
                           "Use globs that match whole groups, or name fewer.",
                           p->n_words, (size_t) p->n_written, FORMAT_DURATION(p->took_ns));
}

static int refuse_program(const Tracer *t, const SessionMeta *m, const Plan *p, int error,
                          const char *file, Refusal *refusal) {
        const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
        _cleanup_free_ char *dir = NULL /* whose current_tracer it is */, *why = NULL;
        const Tracefs *fs = &t->c->fs;
        int r = controller_refuse_ledger(t->c, error, refusal);

        if (r != 0)
                return r;
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
                return refusal_set_of(
                        refusal, REFUSAL_BUSY, "holder", "unknown",
                        "the kernel has room for 16 users of function_graph, and %zu "
                        "sessions of ftraced are among them. Stop one (ftracectl list), "
                        "or another tool that uses it; or --wait.",
                        t->c->arbiter.n - 1);
        if (strstr(file, "buffer_size_kb") && error == -ENOMEM)
                return refusal_set(refusal, REFUSAL_NO_MEMORY, NULL,
                                   "the kernel cannot give buffers of %s for each CPU. Use a "
                                   "smaller --buffer-size.",
                                   FORMAT_BYTES(m->spec.buffer_bytes));
        if (error == -ETIME)
                return refuse_slow(&t->c->pace, m, refusal);
        if (error == -EIO && plan_explain(p, file, &why) < 0)
                return -ENOMEM;
        return refusal_set(refusal, REFUSAL_SYSTEM_ERROR, json_pack("{si}", "errno", -error),
                           "cannot program %s in %s: %s. Everything is put back; "
                           "FTRACED_DEBUG=control shows each write.",
                           file, fs->path, why ?: origin_text(error));
}

/* A function of a module that has gone is shown as an address, which cannot be written. */
static int warn_of_addresses(Controller *c, Strv *warnings) {
        static const char *const files[] = { GRAPH_FUNCTION, GRAPH_NOTRACE };

        for (size_t i = 0; i < ELEMENTSOF(files) && c->arbiter.n == 0; i++) {
                _cleanup_free_ char *now = NULL;
                int r = control_read(c->fs.fd, files[i], &now);

                if (r < 0 || !strstr(now, "0xffff"))
                        continue;
                r = strv_addf(warnings,
                              "%s held the address of an unloaded module (%.18s), which cannot be "
                              "put back",
                              files[i], strstr(now, "0xffff"));
                if (r < 0)
                        return r;
        }
        return 0;
}

int tracer_fill_meta(Tracer *t, SessionMeta *m, const Admission *a) {
        _cleanup_strv_ Strv neighbours = {}, new_roots = {}, new_notrace = {}, values = {};
        _cleanup_free_ char *clock = strdup(t->clock), *name = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        uint32_t page_bytes;
        size_t n;
        int r;

        r = clock ? text_replace(&name, t->instance.name) : -ENOMEM;
        r = r ?: tracefs_read_page_bytes(&t->c->fs, t->instance.dir, &page_bytes);
        if (r >= 0 && (page_bytes < PAGE_BYTES_MIN || page_bytes > PAGE_BYTES_MAX))
                r = -EBADMSG;
        r = r ?: tracefs_get_cpus(&t->c->fs, &cpus, &n)
                    ?: arbiter_neighbours(&t->c->arbiter, t->claim, &neighbours)
                    ?: strv_copy(&new_roots, &a->roots)
                    ?: strv_copy(&new_notrace, &a->notrace)
                    ?: strv_copy(&values, &a->value_events)
                    ?: lean_choice_tell(&a->lean, m)
                    ?: strv_extend(&m->warnings, &a->warnings);
        if (r < 0)
                return r;

        SWAP(m->roots, new_roots);
        SWAP(m->notrace, new_notrace);
        SWAP(m->probe_events, values);
        SWAP(m->neighbours, neighbours);
        SWAP(m->instance, name);
        SWAP(m->clock, clock);
        m->page_bytes = page_bytes;
        if (t->kept_bytes > 0)
                m->spec.buffer_bytes = t->kept_bytes;
        m->n_possible_cpus = cpus[n - 1] + 1;
        return 0;
}

/*
 * Since linux 6.16 a boot sets the clock of a black box as it was (kernel/trace/trace.c, setup_trace_scratch()), if that
 * is not what instances begin with, and setting it empties what is there of CPUs that are online then: of the first.
 */
static bool clock_empties(const Controller *c, const SessionMeta *m, const char *clock) {
        return m->spec.black_box && !streq(clock, BOOT_CLOCK) &&
               tracefs_kernel_is_since(&c->fs, 6, 16);
}

static int warn_of_clock(const Controller *c, const SessionMeta *m, Strv *warnings) {
        if (!m->spec.clock || !clock_empties(c, m, m->spec.clock))
                return 0;
        return strv_addf(
                warnings,
                "after a crash nothing of the first CPU will be there: as this kernel boots "
                "it sets the clock \"%s\" again, which empties what that CPU recorded. "
                "Only \"" BOOT_CLOCK "\" is not set",
                m->spec.clock);
}

static int warn_of_size(const Tracer *t, const SessionMeta *m, Strv *warnings) {
        uint64_t n_bytes = m->spec.buffer_bytes;

        if (t->kept_bytes == 0 || n_bytes == t->kept_bytes || n_bytes == SPEC_DEFAULT_BUFFER_BYTES)
                return 0;
        return strv_addf(warnings,
                         "its buffer of each CPU has %s, not %s (--buffer-size): a black box is as "
                         "large as the memory that the kernel was booted with",
                         FORMAT_BYTES(t->kept_bytes), FORMAT_BYTES(n_bytes));
}

static int make_kept_instance(Tracer *t, Refusal *refusal) {
        BlackBox b = {};
        int r = black_box_find(&t->c->fs, &b);

        if (r < 0)
                return r;
        if (r == BLACK_BOX_E_NONE)
                return refusal_set_of(refusal, REFUSAL_NOT_SUPPORTED, "what", "black_box",
                                      "the black box disappeared meanwhile.");
        t->kept_bytes = b.cpu_bytes;
        t->instance = b.instance;
        return 0;
}

static int tracer_init(Tracer *t, const SessionMeta *m, const Admission *a, Refusal *refusal) {
        Controller *c = t->c;
        ClaimValues values = controller_claim_values(c, &m->spec);
        const Claim *holder;
        const char *what;
        int r;

        t->clock = strdup(m->spec.clock                             ? m->spec.clock
                          : clock_empties(c, m, SPEC_DEFAULT_CLOCK) ? BOOT_CLOCK
                                                                    : SPEC_DEFAULT_CLOCK);
        if (!t->clock)
                return -ENOMEM;
        r = m->spec.black_box
                    ? make_kept_instance(t, refusal)
                    : instance_init(&t->instance, &c->fs,
                                    a->has_instances ? TRACEFS_PATH(INSTANCE_PREFIX "%s", m->name)
                                                     : NULL,
                                    false);
        if (r != 0)
                return r;
        if (t->instance.name && !t->instance.is_kept &&
            faccessat(c->fs.fd, t->instance.dir, F_OK, 0) >= 0)
                return refusal_set_of(
                        refusal, REFUSAL_BUSY, "holder", t->instance.name,
                        "%s/%s exists already and is not this daemon's. Choose another "
                        "name; if nobody uses it: rmdir %s/%s",
                        c->fs.path, t->instance.dir, c->fs.path, t->instance.dir);
        r = arbiter_join(&c->arbiter, &t->claim, m->name, m->owner_uid, &a->roots, &a->notrace,
                         &values, &holder, &what);
        if (r == ARBITER_E_HELD)
                return refuse_held(holder, what, m->spec.depth, refusal);
        return r;
}

static int tracer_new(Controller *c, Tracer **ret, const SessionMeta *m, Admission *a,
                      Refusal *refusal) {
        Tracer *t = NEW(Tracer, .c = c,
                        .buffer_bytes = m->spec.black_box ? 0 : memory_of_buffers(&m->spec, 1));
        int r;

        if (!t)
                return -ENOMEM;
        r = tracer_init(t, m, a, refusal)
                    ?: warn_of_size(t, m, &a->warnings)
                    ?: hooks_for_waiting(&c->functions, m, &a->roots, &a->lean.hooks, &a->waiting,
                                         &t->waits);
        if (r != 0) {
                tracer_free(t);
                return r;
        }
        t->next = c->tracers;
        c->generation++;
        *ret = c->tracers = t;
        return 0;
}

int tracer_prepare(Controller *c, Tracer **ret, const SessionMeta *m, Admission *a,
                   Refusal *refusal) {
        LeanQuestion q = controller_lean_question(c, &m->spec, &a->roots, &a->notrace);

        return BACKGROUND_CALL(lean_choose(&a->lean, &q, &a->warnings, refusal))
                       ?: warn_of_addresses(c, &a->warnings)
                       ?: warn_of_clock(c, m, &a->warnings)
                       ?: controller_leave_clock_readers_out(c, &a->not_hooked, &a->warnings)
                       ?: tracer_new(c, ret, m, a, refusal);
}

bool controller_progress(const Controller *c, uint64_t *ret_done, uint64_t *ret_total) {
        *ret_done = MIN(c->pace.n_written, c->pace.n_words);
        *ret_total = c->pace.n_words;
        return *ret_done < *ret_total;
}

int controller_arm(Controller *c, Tracer **ret, SessionMeta *m, Admission *a, Refusal *refusal) {
        _cleanup_plan_ Plan plan = PLAN_INIT(c->ledger, m->name);
        const char *file = NULL;
        Tracer *t;
        int r, k;

        background_settle(c->background);
        r = admission_renew(a, c, m, refusal) ?: tracer_prepare(c, &t, m, a, refusal);
        if (r != 0)
                return r;
        c->pace = (ControlPace){ .n_words = c->arbiter.n == 1 ? a->root_words.n + a->notrace_words.n
                                                              : 0 };
        plan.pace = c->pace.n_words > 0 ? &c->pace : NULL;
        r = tracer_attach_notifiers(t, &plan, m, &a->roots, &a->threads, refusal)
                    ?: tracer_make_values(t, &plan, m, a, refusal)
                    ?: tracer_program(t, m, a, &plan, &file);
        if (r == 0) {
                file = "events/header_page";
                r = tracer_fill_meta(t, m, a);
        }
        if (r < 0) {
                log_debug("control", "arming %s failed at %s: %s", m->name, file ?: "the triggers",
                          origin_text(r));
                r = refuse_program(t, m, &plan, r, file ?: "the triggers", refusal);
        }
        c->pace.n_words = 0;
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

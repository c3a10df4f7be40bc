/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Admission: everything is asked that can be before anything is written, first what a spec comes to on this
 * host, then who is in the way.  The answer is handed on to arming, which asks again only what may have
 * changed: what is ours says so by the controller's generation and the list of functions; what is of others,
 * their tracers, the threads of a process, says nothing, so that an answer is believed for a moment only.
 */

#include "base/io.h"
#include "daemon/tracer/controller-private.h"

#define BELIEVED_NS (NSEC_PER_SEC / 5)
#define WORDS_MAX 256

static void answers_done(Admission *a) {
        strv_done(&a->roots);
        strv_done(&a->notrace);
        strv_done(&a->root_words);
        strv_done(&a->notrace_words);
        strv_done(&a->threads);
        strv_done(&a->overridden);
        strv_done(&a->warnings);
        for (ValueKind k = 0; k < _VALUE_KIND_N; k++)
                strv_done(&a->values[k]);
        strv_done(&a->value_events);
}

Admission *admission_free(Admission *a) {
        if (!a)
                return NULL;
        answers_done(a);
        lean_choice_done(&a->lean);
        hooks_done(&a->not_hooked);
        hooks_done(&a->waiting);
        return mfree(a);
}

/* Functions and events that triggers wait for. */
static int admit_triggers(const Controller *c, const Spec *spec, Refusal *refusal) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < spec->triggers.n; i++) {
                _cleanup_trigger_ Trigger t = {};
                char why[TRIGGER_WHY_MAX];

                if (trigger_parse(&t, spec->triggers.items[i], why) == 0)
                        r = notifier_admit(&c->fs, &t, &c->functions, refusal);
        }
        return r;
}

/*
 * What the spec comes to, which may take a while: names are compared, and every process is looked at.  All
 * this needs stays as it is while the loop goes on: where tracefs is, and the list of functions, which
 * is read again by tasks, or when they have ended.
 */
static int admit_spec(const Controller *c, const SessionMeta *m, const MemoryUse *use, Admission *a,
                      Refusal *refusal) {
        const Spec *spec = &m->spec;
        int r = admit_names(&c->functions, spec, &a->roots, &a->notrace, refusal)
                        ?: admit_together(spec, &a->roots, &a->notrace, refusal)
                        ?: admit_capabilities(&c->fs, spec, refusal);

        for (ValueKind k = 0; r == 0 && k < _VALUE_KIND_N; k++)
                r = value_probe_choose(k, &c->functions, &c->fs, spec, &a->roots, &a->values[k],
                                       &a->warnings, refusal);
        r = r ?: admit_triggers(c, spec, refusal)
                    ?: admit_cpus(&c->fs, spec, refusal)
                    ?: admit_clock(&c->fs, spec, refusal)
                    ?: admit_stack_copies(spec, refusal);
        if (r == 0 && a->is_dry && spec->stack_bytes > 0)
                r = strv_add(&a->warnings,
                             "stacks are copied by perf events on the probes of roots: no files of "
                             "tracefs, and they end with ftraced");
        return r ?: admit_events(&c->fs, spec, refusal)
                       ?: admit_processes(&c->fs, spec, &a->threads, &a->warnings, refusal)
                       ?: memory_admit(&c->fs, spec, use, refusal);
}

/* Who or what is in the way.  Short questions, in which nobody leaves. */
static int admit_now(Controller *c, const SessionMeta *m, Admission *a, Refusal *refusal) {
        ClaimValues values = controller_claim_values(c, &m->spec);
        _cleanup_strv_ Strv ours = {};
        const Claim *holder;
        const char *what;
        int r;

        for (const Tracer *t = c->tracers; t; t = t->next)
                if (streq(t->claim->session, m->name))
                        return refusal_set_of(refusal, REFUSAL_SESSION_EXISTS, "session", m->name,
                                              "session %s is live already. Choose another name.",
                                              m->name);
        a->has_instances = a->is_dry ? controller_guess_instances(c) : controller_has_instances(c);
        if (!a->has_instances && c->arbiter.n > 0)
                return refuse_held(c->arbiter.claims[0], NULL, m->spec.depth, refusal);
        if (c->has_instances < 0 && !a->is_dry) {
                return controller_refuse_ledger(c, c->has_instances, refusal) ?: c->has_instances;
        }
        r = admit_markers(&c->fs, &m->spec, m->name, a->has_instances, refusal)
                    ?: controller_admit_filter(c, refusal)
                    ?: controller_own_dirs(c, &ours);
        if (r == 0 && m->spec.black_box)
                r = black_box_admit(&c->fs, &ours, a->force, refusal);
        if (r != 0)
                return r;
        r = a->force ? override_find(&c->fs, a->has_instances, &ours, &a->overridden, &a->warnings,
                                     refusal)
                     : admit_tracer(&c->fs, c->ledger, a->has_instances, &ours, refusal);
        if (r == 0 && arbiter_look(&c->arbiter, &a->roots, &a->notrace, &values, &holder, &what) ==
                              ARBITER_E_HELD)
                return refuse_held(holder, what, m->spec.depth, refusal);
        return r;
}

/* How the lists of functions are written.  With what is the task's alone, and the functions, as admit_spec(). */
static int shorten(const Controller *c, const Spec *spec, Admission *a) {
        return functions_shorten(&c->functions, &a->roots, &spec->functions, &a->root_words)
                       ?: functions_shorten(&c->functions, &a->notrace, &spec->notrace,
                                            &a->notrace_words);
}

/* The kernel compares all its functions with each word: these take it seconds. */
static int admit_words(const SessionMeta *m, const Admission *a, Refusal *refusal) {
        bool is_roots = a->root_words.n >= a->notrace_words.n;
        const Strv *words = is_roots ? &a->root_words : &a->notrace_words;
        _cleanup_free_ char *pattern =
                strv_join(is_roots ? &m->spec.functions : &m->spec.notrace, " ");

        if (!pattern)
                return -ENOMEM;
        if (words->n <= WORDS_MAX)
                return 0;
        return refusal_set(refusal, REFUSAL_TOO_MANY_FUNCTIONS,
                           json_pack("{ss sI sI}", "pattern", pattern, "count",
                                     (json_int_t) words->n, "limit", (json_int_t) WORDS_MAX),
                           "to name these functions takes %zu words (names, and globs that match "
                           "no others); the kernel compares all its functions with each, so at "
                           "most %u are allowed. Use globs that match whole groups, or name fewer.",
                           words->n, WORDS_MAX);
}

/*
 * What handles kretprobes would be in the trees, with all that it calls.  Where function_graph may run in
 * instances the list is all sessions', and there are fprobes.
 */
static int leave_handlers_out(const Controller *c, const Spec *spec, Admission *a) {
        int r;

        if (a->values[VALUE_ARGUMENTS].n + a->values[VALUE_RETURNED].n +
                            a->values[VALUE_CALLERS].n + spec->whose + spec->user_stack ==
                    0 ||
            a->has_instances)
                return 0;
        r = value_probe_find_handlers(&c->functions, &c->fs, &a->notrace);
        strv_sort_unique(&a->notrace);
        strv_done(&a->root_words);
        strv_done(&a->notrace_words);
        return r ?: BACKGROUND_CALL(shorten(c, spec, a));
}

static int ask(Controller *c, const SessionMeta *m, Admission *a, Refusal *refusal) {
        MemoryUse use = controller_memory_use(c);
        int r;

        (void) controller_attach(c);
        r = host_admit(&(HostFacts){ .fs = &c->fs, .has_instances = controller_guess_instances(c) },
                       refusal);
        if (r != 0)
                return r;
        if (!a->is_dry)
                controller_retry(c);
        r = functions_load(&c->functions, &c->fs);
        if (r != 0)
                return r;
        a->generation = c->generation;
        a->asked_ns = now_ns(CLOCK_MONOTONIC);
        r = BACKGROUND_CALL(admit_spec(c, m, &use, a, refusal));
        strv_sort_unique(&a->notrace);
        return r ?: BACKGROUND_CALL(shorten(c, &m->spec, a))
                       ?: admit_words(m, a, refusal)
                       ?: admit_now(c, m, a, refusal)
                       ?: leave_handlers_out(c, &m->spec, a);
}

int controller_admit(Controller *c, Admission **ret, const SessionMeta *m, bool force, bool is_dry,
                     Refusal *refusal) {
        _cleanup_(admission_freep) Admission *a = NEW(Admission, .force = force, .is_dry = is_dry);
        int r;

        if (!a)
                return -ENOMEM;
        background_settle(c->background);
        r = ask(c, m, a, refusal);
        if (r == 0)
                *ret = TAKE_PTR(a);
        return r;
}

int admission_renew(Admission *a, Controller *c, const SessionMeta *m, Refusal *refusal) {
        if (a->generation == c->generation && now_ns(CLOCK_MONOTONIC) < a->asked_ns + BELIEVED_NS &&
            functions_are_current(&c->functions, &c->fs))
                return 0;
        answers_done(a);
        return ask(c, m, a, refusal);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is hooked, written so that the kernel heeds it
 *
 * "Everything but these" is written soonest as set_ftrace_notrace, and on linux 6.12 that holds for an instance that
 * is the only user of function_graph and as it was when its tracer was switched on: names that come later change
 * nothing, and with a second user, whatever his lists say, everything is hooked (tried; kernel/trace/ftrace.c,
 * ftrace_startup_subops()).  7.2 heeds a name that comes later, unless there is a second user with a filter: then a
 * change hooks everything (tried).  6.1, which has no instances of function_graph, does as it is told.  What
 * set_ftrace_filter lists they all heed, so an instance lists all the others there once there is a second user, or what
 * is hooked changes.  That takes 6.12 seconds, and is only so where the trace clock is read by a function
 * (daemon/admission/functions.h).
 */

#include "daemon/tracer/controller-private.h"

/* What is listed first where fewer than TOO_FEW are: the kernel makes room in the new table for as many as the old one
 * had, and with one row all of 40,000 would be in it, five seconds (linux 6.12 kernel/trace/ftrace.c,
 * append_hashes()). */
#define TOO_FEW 64
#define FEW 1000

static const char *const lists[] = {
        [KNOWN_HOOKED] = "set_ftrace_filter", [KNOWN_NOT_HOOKED] = "set_ftrace_notrace"
};

static ssize_t find_list(const char *file) {
        for (size_t i = 0; file && i < _KNOWN_N; i++)
                if (streq(file, lists[i]))
                        return (ssize_t) i;
        return -1;
}

void tracer_know_hooks(Tracer *t, const Plan *p, size_t from) {
        for (size_t i = from; i < p->n_applied; i++) {
                const PlanStep *s = &p->steps[i];
                ssize_t k = find_list(startswith(s->file, instance_dir(t->instance)));

                if (k < 0)
                        continue;
                free(t->known[k].text);
                t->known[k] = (KnownList){ .text = strdup(s->value) };
        }
}

void tracer_forget_hooks(Tracer *t) {
        for (size_t i = 0; i < _KNOWN_N; i++)
                t->known[i] = (KnownList){ .text = mfree(t->known[i].text) };
}

const char *tracer_get_hooks(const Tracer *t, const char *file) {
        ssize_t k = find_list(file);

        return k < 0 ? NULL : t->known[k].text;
}

void tracer_doubt_hooks(Tracer *t) {
        for (size_t i = 0; i < _KNOWN_N; i++)
                t->known[i].is_doubtful = true;
}

int tracer_read_hooks(const Tracer *t, const char *file, Hooks *ret) {
        const KnownList *known = &t->known[find_list(file)];
        int r = known->text && !known->is_doubtful
                        ? strv_split(&ret->names, known->text, "\n")
                        : instance_read_list(t->instance, file, &ret->names);

        return r < 0 ? r : functions_find_lines(&t->c->functions, &ret->names, &ret->lines);
}

bool tracer_is_crowded(const Tracer *t) {
        return instance_name(t->instance) && t->c->arbiter.n > 1;
}

int tracer_list_hooks(const Tracer *t, const Hooks *not_hooked, Hooks *ret) {
        const Functions *f = &t->c->functions;
        _cleanup_strv_ Strv sorted = {};
        int r = strv_copy_sorted(&sorted, &not_hooked->names);

        for (size_t i = 0; r >= 0 && i < f->n; i++)
                if (!strv_finds(&sorted, f->names[i]))
                        r = strv_add(&ret->names, f->names[i]);
        return r < 0 ? r : functions_find_lines(f, &ret->names, &ret->lines);
}

/* 1 or -errno. */
static int plan_few(Tracer *t, Plan *p, const Hooks *all) {
        _cleanup_(hooks_done) Hooks few = {};
        int r = strv_copy(&few.names, &t->claim->roots);

        for (size_t i = 0; r >= 0 && i < all->names.n && i < FEW; i++)
                r = strv_add(&few.names, all->names.items[i]);
        strv_sort_unique(&few.names);
        if (r >= 0)
                r = functions_find_lines(&t->c->functions, &few.names, &few.lines);
        if (r >= 0)
                r = instance_plan_hooks(t->instance, p, t->c->ledger, t->claim->session, &few);
        return r < 0 ? r : 1;
}

int tracer_plan_list(Tracer *t, Plan *p, const Hooks *all) {
        _cleanup_(hooks_done) Hooks now = {};
        int r = tracer_read_hooks(t, "set_ftrace_filter", &now), is_few = 0;

        if (r >= 0 && now.names.n < MIN((size_t) TOO_FEW, all->names.n))
                r = is_few = plan_few(t, p, all);
        if (r >= 0)
                r = instance_plan_hooks(t->instance, p, t->c->ledger, t->claim->session, all);
        return r < 0 ? r : is_few;
}

static int plan_listed(Tracer *t, Plan *p, const LeanChoice *choice) {
        _cleanup_(hooks_done) Hooks listed = {}, none = {};
        int r = tracer_list_hooks(t, &choice->not_hooked, &listed), is_few = 0;

        if (r >= 0)
                r = is_few = tracer_plan_list(t, p, &listed);
        if (r >= 0)
                r = instance_plan_not_hooked(t->instance, p, t->c->ledger, t->claim->session,
                                             &none);
        return r < 0 ? r : is_few;
}

/* As when its tracer was switched on: then the kernel hooks what comes with modules by itself. */
static bool is_as_begun(const Tracer *t, const LeanChoice *choice) {
        _cleanup_(hooks_done) Hooks now = {}, not_hooked = {};
        _cleanup_strv_ Strv wanted = {};

        if (tracer_is_crowded(t) || tracer_read_hooks(t, "set_ftrace_filter", &now) < 0 ||
            now.names.n > 0 || tracer_read_hooks(t, "set_ftrace_notrace", &not_hooked) < 0 ||
            strv_copy_sorted(&wanted, &choice->not_hooked.names) < 0)
                return false;
        strv_sort_unique(&not_hooked.names);
        return strv_equal(&not_hooked.names, &wanted);
}

/* At no time is everything hooked: an empty filter comes after the functions that are not, a full one before. */
static int plan_choice(Tracer *t, Plan *p, const LeanChoice *choice) {
        bool is_filter_first = choice->hooks.lines.n > 0;
        const char *session = t->claim->session;
        Ledger *l = t->c->ledger;
        int r = 0;

        if (is_filter_first)
                r = instance_plan_hooks(t->instance, p, l, session, &choice->hooks);
        if (r >= 0)
                r = instance_plan_not_hooked(t->instance, p, l, session, &choice->not_hooked);
        if (r >= 0 && !is_filter_first)
                r = instance_plan_hooks(t->instance, p, l, session, &choice->hooks);
        return r;
}

typedef int (*PlanHooks)(Tracer *t, Plan *p, const LeanChoice *choice);

static int change(Tracer *t, const LeanChoice *choice, PlanHooks plan) {
        _cleanup_plan_ Plan p = {};
        const char *file = NULL;
        int r, is_few;

        r = is_few = plan(t, &p, choice);
        if (r < 0 || p.n == 0)
                return r;
        r = tracer_apply(t, &p, &file);
        return r < 0 ? r : 1 + is_few;
}

int tracer_change_hooks(Tracer *t, const LeanChoice *choice) {
        bool is_all_but = choice->hooks.names.n == 0 && choice->not_hooked.names.n > 0;

        if (choice->hooks.names.n == 0 && is_as_begun(t, choice))
                return 0;
        return change(t, choice,
                      instance_name(t->instance) && is_all_but ? plan_listed : plan_choice);
}

void controller_tell_crowded(Controller *c, const Tracer *newcomer) {
        Tracer *t;

        if (!tracer_is_crowded(newcomer))
                return;
        c->n_crowds++;
        do { /* whoever is told may let others change the list meanwhile */
                t = c->tracers;
                while (t && (t == newcomer || t->ended || t->waits || !t->on_crowded ||
                             t->n_crowds == c->n_crowds))
                        t = t->next;
                if (t) {
                        t->n_crowds = c->n_crowds;
                        t->on_crowded(t->userdata);
                }
        } while (t);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What slow calls of a root have that usual ones have not: one sentence, and the causes that the
 * difference is the sum of. */

#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

/* --- the cohorts ------------------------------------------------------------------------------ */

/* Which way of choosing was asked for; an exit status. */
static int choose(const Options *o, CohortsSpec *ret) {
        bool by_window = o->filter.from || o->filter.to;

        if ((o->spec.slower_ns > 0) + by_window + o->filter.keep_failed + (o->against != NULL) > 1)
                return failed(
                        STATUS_USAGE,
                        "--slower, --from and --to, --keep-failed, and --against each say which "
                        "calls are the slow ones: give one of them.");
        *ret = (CohortsSpec){ .by = o->spec.slower_ns > 0   ? COHORTS_BY_DURATION
                                    : by_window             ? COHORTS_BY_WINDOW
                                    : o->filter.keep_failed ? COHORTS_BY_FAILURE
                                    : o->against            ? COHORTS_BY_SOURCE
                                                            : COHORTS_BY_SLOWEST,
                              .slower_ns = o->spec.slower_ns };
        return STATUS_OK;
}

/* When the window is, once it is known when the recording begins. */
static int find_window(const Options *o, const WhySides *s, CohortsSpec *spec) {
        const Reading *reading = &s->now.reading;
        _cleanup_filtering_ Filtering window = {};
        uint64_t begin_ns = s->anatomy->n_calls > 0 ? UINT64_MAX : 0;
        const char *problem;
        int status = filtering_init(&window, o);

        if (status != STATUS_OK)
                return status;
        for (size_t i = 0; i < s->anatomy->n_calls; i++)
                begin_ns = MIN(begin_ns, s->anatomy->calls[i].start_ns);
        if (reading->playback)
                (void) stream_begin(reading->playback->stream, &begin_ns);
        if (filtering_resolve(&window, reading_meta(reading), begin_ns, &problem) != 0)
                return failed(STATUS_FAILED, "\"%s\" cannot be read: %s.", o->words.items[0],
                              problem);
        spec->from_ns = window.spec.from_ns;
        spec->to_ns = window.spec.to_ns;
        return STATUS_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

#define ROOTS_TRIED 8

/* 2: it names something; 1: its calls are enough to. */
static int has_told(const Why *w) {
        return w && w->is_enough ? 1 + (w->is_factor_first || w->cause || w->value) : 0;
}

/* The roots, and of those that all sides have the one with the most time that is asked for. */
typedef struct Roots {
        CohortsRoot *items;
        size_t n;
        const CohortsRoot *greatest; /* NULL: there is none */
        size_t n_tried;
} Roots;

static void roots_done(Roots *r) {
        free(r->items);
        *r = (Roots){};
}

static int roots_find(Roots *ret, const WhySides *s, const Chosen *chosen) {
        int r = cohorts_roots(&ret->items, &ret->n, s->anatomy);

        for (size_t i = 0; r >= 0 && i < ret->n && !ret->greatest; i++) {
                const CohortsRoot *root = &ret->items[i];

                r = chosen->names ? name_set_has(chosen->names, root->node->function) : 1;
                if (r > 0 && root->in_first && root->in_last)
                        ret->greatest = root;
        }
        return counting_status(r);
}

static int no_root(const Options *o, const Chosen *chosen, const WhySides *s, size_t n_roots) {
        if (n_roots > 0 && (o->against || !chosen->names))
                return failed(STATUS_NOT_FOUND, "\"%s\" and \"%s\" have no calls of the same root.",
                              o->against, chosen->source);
        if (!chosen->names && s->anatomy->n_cut > 0)
                return failed(STATUS_NOT_FOUND,
                              "no call in \"%s\" was recorded from its beginning to its end.",
                              chosen->source);
        return chosen_not_found(chosen, o);
}

/* What is not the outermost function anywhere becomes that by a filter, for which all is read once more. */
static int find_root(Roots *ret, WhySides *s, Options *o, const Chosen *chosen) {
        int status = roots_find(ret, s, chosen);

        if (status == STATUS_OK && !ret->greatest && idle_is_left_out(&s->anatomy->idle)) {
                roots_done(ret);
                idle_done(&s->anatomy->idle); /* of both recordings there is nothing else */
                status = roots_find(ret, s, chosen);
        }
        if (status == STATUS_OK && !ret->greatest && chosen->names) {
                if (streq(chosen->source, "-"))
                        return failed(STATUS_USAGE,
                                      "standard input can be read only once, and \"%s\" is not the "
                                      "outermost function there: give a file.",
                                      chosen->patterns.items[0]);
                roots_done(ret);
                why_sides_done(s);
                o->filter.roots = chosen->patterns;
                status = why_sides_read(s, o, o->against, chosen->source)
                                 ?: roots_find(ret, s, chosen);
        }
        return status != STATUS_OK || ret->greatest ? status : no_root(o, chosen, s, ret->n);
}

/* Unless one was asked for, the first of those with the most time that has something to tell, or else has calls enough,
 * or else is the first. */
static int explain(Why **ret, const WhySides *s, Roots *roots, bool is_chosen,
                   const CohortsSpec *spec) {
        int status = why_sides_explain(ret, s, roots->greatest, spec), best = has_told(*ret);

        roots->n_tried = 1;
        for (const CohortsRoot *root = roots->greatest + 1;
             status == STATUS_OK && !is_chosen && best < 2 && roots->n_tried < ROOTS_TRIED &&
             root < roots->items + roots->n;
             root++) {
                _cleanup_(why_freep) Why *w = NULL;

                if (!root->in_first || !root->in_last)
                        continue;
                roots->n_tried++;
                status = why_sides_explain(&w, s, root, spec);
                if (has_told(w) > best) {
                        best = has_told(w);
                        SWAP(*ret, w);
                }
        }
        return status;
}

static int print(const Options *o, const Why *w, const WhySides *s) {
        const WaitsRow *between = waits_between(s->between, -1, w->root->function->label);
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;

        if (o->json != JSON_OFF)
                return stdout_json(o, why_view_json(w, between, &s->anatomy->idle, o->limit));
        pager_open(&pager, o, SIZE_MAX);
        if (!o->no_legend)
                why_view_between(&out, w, between);
        return stdout_paged(&pager, &out, why_view_add(&out, w, o->limit, !o->no_legend));
}

/* p is right for a root that one has chosen, not for the best of several. */
static void say_others(const Options *o, const Roots *roots, const char *source) {
        if (roots->n_tried > 1)
                talk(o,
                     "%zu roots were tried, those with the most time first, until one named a "
                     "cause; "
                     "P does not count that.",
                     roots->n_tried);
        if (roots->n > 1)
                talk(o, "It has %zu other root%s: \"ftracectl why %s FUNCTION\" tells of one.",
                     roots->n - 1, roots->n == 2 ? "" : "s", source);
}

int verb_why(const Options *o) {
        _cleanup_chosen_ Chosen chosen = {};
        _cleanup_why_sides_ WhySides s = {};
        _cleanup_(why_freep) Why *w = NULL;
        Options all = *o; /* nothing is left out that is compared */
        _cleanup_(roots_done) Roots roots = {};
        CohortsSpec spec;
        int status = choose(o, &spec) ?: chosen_init(&chosen, o);

        if (status == STATUS_OK && o->against && o->analysis.lines)
                status = failed(STATUS_USAGE, "--lines is of one recording, and --against compares "
                                              "two: their code may be another.");
        s.leaves_idle_out = !chosen.names && o->filter.roots.n == 0;
        all.spec.slower_ns = 0;
        all.filter.from = all.filter.to = NULL;
        all.filter.keep_failed = false;
        status = status ?: why_sides_read(&s, &all, o->against, chosen.source)
                                   ?: find_root(&roots, &s, &all, &chosen);
        if (status == STATUS_OK && spec.by == COHORTS_BY_WINDOW)
                status = find_window(o, &s, &spec);
        if (status != STATUS_OK)
                return status;
        status = explain(&w, &s, &roots, chosen.names != NULL, &spec) ?: print(o, w, &s);
        if (status != STATUS_OK)
                return status;
        if (!chosen.names)
                say_others(o, &roots, chosen.source);
        if (w->cause && w->cause->waker)
                waits_view_hint(&s.now, w->cause->waker->receiver, w->cause->waker->comm,
                                w->cause->waker->pid);
        return why_sides_end(&s);
}

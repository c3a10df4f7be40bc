/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Choosing is reading a file, intersecting it with the functions there are, and leaving out what
 * costs too much.  Nothing here is exact: what the weights are, daemon/lean/hook-cost.h says, and a
 * function that is hooked in vain costs little.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/name.h"
#include "base/now.h"
#include "daemon/admission/admission.h"
#include "daemon/lean/lean.h"
#include "daemon/lean/ordinary.h"

/* Of the budget is planned: what others then pay was up to a quarter more than the estimate (linux 6.12,
 * tests/bench/bench-overhead, a ping-pong through pipes). */
#define ESTIMATE_PERCENT 75

void lean_choice_done(LeanChoice *c) {
        hooks_done(&c->hooks);
        hooks_done(&c->not_hooked);
        strv_done(&c->left_out);
        strv_done(&c->left_out_in);
}

int lean_choice_tell(const LeanChoice *c, SessionMeta *m) {
        _cleanup_strv_ Strv left_out = {}, left_out_in = {};
        int r;

        r = strv_copy(&left_out, &c->left_out);
        if (r >= 0)
                r = strv_copy(&left_out_in, &c->left_out_in);
        if (r < 0)
                return r;
        strv_done(&m->left_out);
        m->left_out = TAKE(left_out, (Strv){});
        strv_done(&m->left_out_in);
        m->left_out_in = TAKE(left_out_in, (Strv){});
        m->n_hooked = (uint32_t) c->hooks.names.n;
        m->n_ordinary = c->n_ordinary;
        m->learned_ns = c->learned_ns;
        m->learned_calls = c->learned_calls;
        m->learns = c->learns;
        return 0;
}

int lean_select(const LeanCache *c, const Strv *roots, uint64_t budget_ppm, Strv *ret_names,
                Strv *ret_left_out) {
        _cleanup_free_ bool *out = calloc(c->n ?: 1, sizeof(*out));
        uint64_t sums[LEAN_MAX_TASKS] = {};
        int r = 0;

        if (!out)
                return -ENOMEM;
        for (size_t t = 0; t < c->tasks.n; t++) {
                sums[t] = c->fixed_ppm[t];
                for (size_t i = 0; i < c->n; i++)
                        sums[t] += c->functions[i].ppm[t];
        }
        for (;;) {
                size_t task = 0, worst = c->n;

                for (size_t t = 1; t < c->tasks.n; t++)
                        if (sums[t] > sums[task])
                                task = t;
                if (sums[task] <= budget_ppm)
                        break;
                for (size_t i = 0; i < c->n; i++)
                        if (!out[i] && c->functions[i].ppm[task] > 0 &&
                            (worst == c->n ||
                             c->functions[i].ppm[task] > c->functions[worst].ppm[task]) &&
                            !strv_finds(roots, c->functions[i].name))
                                worst = i;
                if (worst == c->n) { /* only roots are left, which are what is asked for */
                        sums[task] = 0;
                        continue;
                }
                out[worst] = true;
                for (size_t t = 0; t < c->tasks.n; t++)
                        sums[t] -= MIN(sums[t], (uint64_t) c->functions[worst].ppm[t]);
        }
        for (size_t i = 0; r >= 0 && i < c->n; i++)
                r = strv_add(out[i] ? ret_left_out : ret_names, c->functions[i].name);
        return r;
}

/* Without the names that this kernel does not have; at most one of each. */
static int keep_known(LeanCache *c, const Functions *f) {
        size_t kept = 0;

        for (size_t i = 0; i < c->n; i++) {
                if (functions_contain(f, c->functions[i].name))
                        c->functions[kept++] = c->functions[i];
                else
                        lean_function_done(&c->functions[i]);
        }
        c->n = kept;
        lean_cache_sort(c);
        return 0;
}

/* 1: use it; 0: there is none, or it says too little or too late. */
static int load(LeanCache *ret, int store_fd, int root_fd, const Functions *f, const Strv *roots,
                Strv *warnings) {
        char key[LEAN_KEY_CHARS + 1];
        int r;

        r = lean_cache_make_key(root_fd, f, roots, key);
        if (r >= 0)
                r = lean_cache_read(ret, store_fd, key);
        if (r == -ENOENT)
                return 0;
        if (r == LEAN_CACHE_E_INVALID)
                return strv_addf(warnings,
                                 "what was learned for lean (%s/%s) is damaged and is learned "
                                 "again",
                                 LEAN_DIR, key);
        if (r < 0)
                return r;
        (void) keep_known(ret, f);
        return ret->n > 0 && ret->n_calls >= LEAN_MIN_CALLS;
}

static bool is_old(const LeanCache *c) {
        uint64_t now = now_ns(CLOCK_REALTIME);

        return now > c->learned_ns && now - c->learned_ns > LEAN_RELEARN_NS;
}

/* Whose time calls of what is left out are part of. */
static int find_callers(const LeanCache *c, const Strv *left_out, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < left_out->n; i++) {
                const LeanFunction *f = lean_cache_find(c, left_out->items[i]);
                char *text = f ? strv_join(&f->callers, " ") : strdup("");

                r = text ? strv_take(ret, text) : -ENOMEM;
        }
        return r;
}

/* What is left out must be hooked, or the kernel does not know that what follows is below it. */
static int finish(LeanChoice *ret, const Functions *f, const Strv *roots, const Strv *notrace) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < roots->n; i++)
                r = strv_add(&ret->hooks.names, roots->items[i]);
        for (size_t i = 0; r >= 0 && i < notrace->n; i++)
                r = strv_add(&ret->hooks.names, notrace->items[i]);
        if (r < 0)
                return r;
        strv_sort_unique(&ret->hooks.names);
        return functions_find_lines(f, &ret->hooks.names, &ret->hooks.lines);
}

static int choose_list(LeanChoice *ret, const Functions *f, const Spec *spec, const Strv *roots,
                       const Strv *notrace, Refusal *refusal) {
        int r;

        r = admit_hooked(f, spec, &ret->hooks.names, refusal);
        return r != 0 ? r : finish(ret, f, roots, notrace);
}

bool lean_asks(const Spec *spec) {
        return (spec->lean == LEAN_FULL || spec->lean == LEAN_AUTO) && !spec->flat && spec->hooked.n == 0;
}

/* What is hooked while too little is known, and why: all, which everybody pays for, or nearly all.
 * @c: what is known. */
static int explain(Strv *warnings, const LeanCache *c, const Strv *roots, const LeanChoice *choice,
                   bool is_being_learned) {
        char who[NAME_QUOTE_MAX + 16], what[96] = "all functions", text[2 * sizeof(who) + 352],
                                       number[UNIT_TEXT_MAX];
        bool is_one = roots->n == 1;

        if (is_one)
                (void) snprintf(who, sizeof(who), "%s", roots->items[0]);
        else
                (void) snprintf(who, sizeof(who), "the %zu functions", roots->n);
        if (choice->n_ordinary > 0)
                (void) snprintf(what, sizeof(what), "all functions but %s that ordinary work calls",
                                format_count(number, choice->n_ordinary));
        if (is_being_learned)
                (void) snprintf(text, sizeof(text),
                                "what %s call%s is still being learned; %s are hooked meanwhile",
                                who, is_one ? "s" : "", what);
        else if (!choice->learns)
                (void) snprintf(text, sizeof(text),
                                "what %s call%s is not known, and is not learned from a part of it "
                                "(--depth, --notrace, --slower, --no-irqs); %s are hooked",
                                who, is_one ? "s" : "", what);
        else if (c->n > 0 && c->n_calls < LEAN_MIN_CALLS)
                (void) snprintf(text, sizeof(text),
                                "too few calls of %s were seen (%" PRIu64 " of %i) to say what "
                                "%s; %s are hooked until there are more",
                                who, c->n_calls, LEAN_MIN_CALLS, is_one ? "it calls" : "they call",
                                what);
        else
                (void) snprintf(text, sizeof(text),
                                "what %s call%s is not known %s; %s are hooked until it is learned",
                                who, is_one ? "s" : "", c->n > 0 ? "any more, after a week" : "yet",
                                what);
        return strv_add(warnings, text);
}

/* So that others do not pay: what is hooked in vain for roots that are not called is called by them. */
static int leave_ordinary_out(LeanChoice *c, const Functions *f, const Strv *roots,
                              const Strv *notrace) {
        _cleanup_strv_ Strv all = {};
        int r = ordinary_find(f, &all);

        for (size_t i = 0; r >= 0 && i < all.n; i++)
                if (!strv_contains(roots, all.items[i]) && !strv_contains(notrace, all.items[i]))
                        r = strv_add(&c->not_hooked.names, all.items[i]);
        if (r >= 0)
                r = functions_find_lines(f, &c->not_hooked.names, &c->not_hooked.lines);
        c->n_ordinary = (uint32_t) c->not_hooked.names.n;
        return r;
}

int lean_choose(LeanChoice *ret, int store_fd, int root_fd, const Functions *f, const Spec *spec,
                const Strv *roots, const Strv *notrace, bool is_being_learned, Strv *warnings,
                Refusal *refusal) {
        _cleanup_lean_choice_ LeanChoice choice = {};
        _cleanup_lean_cache_ LeanCache cache = {};
        int r;

        if (spec->flat || spec->hooked.n > 0) {
                r = choose_list(&choice, f, spec, roots, notrace, refusal);
                if (r == 0)
                        *ret = TAKE(choice, (LeanChoice){});
                return r;
        }
        if (!lean_asks(spec))
                return 0;
        r = load(&cache, store_fd, root_fd, f, roots, warnings);
        if (r < 0)
                return r;
        if (r == 0 || is_old(&cache) || (spec->lean == LEAN_FULL && cache.lacks_ordinary)) {
                /* Less than all that the roots call teaches less. */
                choice.learns = spec->depth == 0 && spec->notrace.n == 0 && spec->slower_ns == 0 &&
                                !spec->no_irqs;
                r = spec->lean == LEAN_AUTO ? leave_ordinary_out(&choice, f, roots, notrace) : 0;
                if (r >= 0)
                        r = explain(warnings, &cache, roots, &choice, is_being_learned);
                if (r >= 0)
                        *ret = TAKE(choice, (LeanChoice){});
                return MIN(r, 0);
        }
        r = lean_select(&cache, roots,
                        spec->lean == LEAN_FULL ? UINT64_MAX
                                                : spec->budget_ppm / 100 * ESTIMATE_PERCENT,
                        &choice.hooks.names, &choice.left_out);
        if (r >= 0)
                r = find_callers(&cache, &choice.left_out, &choice.left_out_in);
        if (r >= 0)
                r = finish(&choice, f, roots, notrace);
        if (r < 0)
                return r;
        choice.learned_ns = cache.learned_ns;
        choice.learned_calls = cache.n_calls;
        *ret = TAKE(choice, (LeanChoice){});
        return 0;
}

int lean_learn(int store_fd, int root_fd, const Functions *f, const Strv *roots, const char *kernel,
               const LeanCache *new) {
        _cleanup_lean_cache_ LeanCache all = {};
        char key[LEAN_KEY_CHARS + 1];
        int r;

        r = lean_cache_make_key(root_fd, f, roots, key);
        if (r < 0)
                return r;
        r = lean_cache_read(&all, store_fd, key);
        if (r < 0 && r != -ENOENT)
                return r;
        all.lacks_ordinary = new->lacks_ordinary && (all.n == 0 || all.lacks_ordinary);
        /* Weights of other tasks than these say nothing beside them. */
        if (new->tasks.n > 0 && !strv_equal(&all.tasks, &new->tasks)) {
                strv_done(&all.tasks);
                r = strv_copy(&all.tasks, &new->tasks);
                if (r < 0)
                        return r;
                for (size_t i = 0; i < all.n; i++)
                        memset(all.functions[i].ppm, 0, sizeof(all.functions[i].ppm));
        }
        for (size_t t = 0; t < new->tasks.n; t++)
                all.fixed_ppm[t] = new->fixed_ppm[t];
        for (size_t i = 0; i < new->n; i++) {
                r = lean_cache_add(&all, new->functions[i].name, new->functions[i].ppm,
                                   new->tasks.n);
                for (size_t k = 0; r >= 0 && k < new->functions[i].callers.n; k++)
                        r = lean_cache_add_caller(&all, new->functions[i].callers.items[k]);
                if (r < 0)
                        return r;
        }
        (void) keep_known(&all, f);
        if (all.n == 0 || all.n > LEAN_MAX_FUNCTIONS)
                return 0;
        all.n_calls = MIN(all.n_calls + new->n_calls, (uint64_t) INT64_MAX);
        all.learned_ns = now_ns(CLOCK_REALTIME);
        return lean_cache_write(&all, store_fd, key, kernel, roots);
}

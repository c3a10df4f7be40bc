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
#include "daemon/lean/first-guess.h"
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
        SWAP(m->left_out, left_out);
        SWAP(m->left_out_in, left_out_in);
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
static void keep_known(LeanCache *c, const Functions *f) {
        size_t kept = 0;

        for (size_t i = 0; i < c->n; i++)
                if (functions_contain(f, c->functions[i].name))
                        c->functions[kept++] = c->functions[i];
                else
                        lean_function_done(&c->functions[i]);
        c->n = kept;
        lean_cache_sort(c);
}

/* 1: use it; 0: there is none, or it says too little or too late. */
static int load(LeanCache *ret, const LeanQuestion *q, Strv *warnings) {
        char key[LEAN_KEY_CHARS + 1];
        int r = lean_cache_load(ret, q->store_fd, q->root_fd, q->functions, q->roots, key);

        if (r == -ENOENT)
                return 0;
        if (r == LEAN_CACHE_E_INVALID && !lean_asks(q->spec))
                return 0;
        if (r == LEAN_CACHE_E_INVALID)
                return strv_addf(warnings,
                                 "what was learned for lean (%s/%s) is damaged and is learned "
                                 "again",
                                 LEAN_DIR, key);
        if (r < 0)
                return r;
        keep_known(ret, q->functions);
        return ret->n > 0 && ret->n_calls >= LEAN_MIN_CALLS && !lean_cache_is_old(ret) &&
               !(q->spec->lean != LEAN_AUTO && ret->lacks_ordinary);
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
static int finish(LeanChoice *ret, const LeanQuestion *q) {
        int r = strv_extend(&ret->hooks.names, q->roots);

        if (r >= 0)
                r = strv_extend(&ret->hooks.names, q->notrace);
        if (r < 0)
                return r;
        strv_sort_unique(&ret->hooks.names);
        return functions_find_lines(q->functions, &ret->hooks.names, &ret->hooks.lines);
}

static int choose_list(LeanChoice *ret, const LeanQuestion *q, Refusal *refusal) {
        int r;

        r = admit_hooked(q->functions, q->spec, &ret->hooks.names, refusal);
        return r != 0 ? r : finish(ret, q);
}

bool lean_asks(const Spec *spec) {
        return (spec->lean == LEAN_FULL || spec->lean == LEAN_AUTO) && !spec->flat &&
               spec->hooked.n == 0;
}

/* Less than all that the roots call teaches less. */
static bool teaches(const Spec *spec) {
        return spec->depth == 0 && spec->notrace.n == 0 && spec->slower_ns == 0 && !spec->no_irqs;
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
                                who, is_one ? "s" : "",
                                c->n > 0 && lean_cache_is_old(c) ? "any more, after a week" : "yet",
                                what);
        return strv_add(warnings, text);
}

/* Not hooked, unless it has to be.  1: it is not. */
static int leave_out(LeanChoice *c, const LeanQuestion *q, const char *name) {
        int r;

        if (strv_finds(q->roots, name) || strv_finds(q->notrace, name))
                return 0;
        r = strv_add(&c->not_hooked.names, name);
        return r < 0 ? r : 1;
}

static int find_ordinary(const LeanQuestion *q, Strv *ret, Strv *ret_here) {
        _cleanup_strv_ Strv host = {};
        int r = ordinary_find_host(q->functions, q->store_fd, q->root_fd, &host, NULL);

        return r < 0 ? r : ordinary_find(q->functions, q->roots, &host, ret, ret_here);
}

static int find_all_ordinary(const LeanQuestion *q, Strv *ret) {
        _cleanup_strv_ Strv here = {};
        int r = find_ordinary(q, ret, &here);

        if (r >= 0)
                r = strv_extend(ret, &here);
        strv_sort_unique(ret);
        return r;
}

/* Adds what these roots were seen to call elsewhere and is not hooked, since ordinary work calls it. */
static int find_folded(const LeanQuestion *q, const Strv *ordinary, Strv *ret) {
        _cleanup_strv_ Strv known = {};
        int r = first_guess_find(q->functions, q->roots, &(Strv){}, &known);

        for (size_t i = 0; r >= 0 && i < known.n; i++) {
                const char *name = known.items[i];

                if (strv_finds(ordinary, name) && !strv_finds(q->roots, name) &&
                    !strv_finds(q->notrace, name))
                        r = strv_add(ret, name);
        }
        return r;
}

/* So that others do not pay: what is hooked in vain for roots that are not called is called by them.  Named is what
 * this host calls, for it is not the same everywhere, and what the roots are known to call. */
static int leave_ordinary_out(LeanChoice *c, const LeanQuestion *q) {
        _cleanup_strv_ Strv anywhere = {}, here = {};
        int r = find_ordinary(q, &anywhere, &here);

        for (size_t i = 0; r >= 0 && i < anywhere.n; i++)
                r = leave_out(c, q, anywhere.items[i]);
        for (size_t i = 0; r >= 0 && i < here.n; i++) {
                r = leave_out(c, q, here.items[i]);
                if (r > 0)
                        r = strv_add(&c->left_out, here.items[i]);
        }
        if (r >= 0)
                r = find_folded(q, &anywhere, &c->left_out);
        strv_sort_unique(&c->left_out);
        if (r >= 0)
                r = find_callers(&(LeanCache){}, &c->left_out, &c->left_out_in);
        if (r >= 0)
                r = functions_find_lines(q->functions, &c->not_hooked.names, &c->not_hooked.lines);
        c->n_ordinary = (uint32_t) c->not_hooked.names.n;
        return r;
}

/* Nothing that is known is good enough: everything, or everything but what ordinary work calls. */
static int choose_nearly_all(LeanChoice *ret, const LeanQuestion *q, const LeanCache *known,
                             Strv *warnings) {
        int r = q->spec->lean == LEAN_AUTO ? leave_ordinary_out(ret, q) : 0;

        ret->learns = teaches(q->spec);
        if (r < 0 || !lean_asks(q->spec) || q->is_wide)
                return r;
        return explain(warnings, known, q->roots, ret, q->is_being_learned);
}

/* 1: it is one. */
static int choose_guess(LeanChoice *ret, const LeanQuestion *q, Strv *warnings) {
        char number[UNIT_TEXT_MAX];
        _cleanup_strv_ Strv ordinary = {};
        int r;

        if (!q->is_profile || q->is_wide || q->spec->lean != LEAN_AUTO)
                return 0;
        r = find_all_ordinary(q, &ordinary);
        if (r >= 0)
                r = first_guess_find(q->functions, q->roots, &ordinary, &ret->hooks.names);
        if (r < 0 || ret->hooks.names.n == 0)
                return r;
        r = find_folded(q, &ordinary, &ret->left_out);
        if (r >= 0)
                r = find_callers(&(LeanCache){}, &ret->left_out, &ret->left_out_in);
        if (r < 0)
                return r;
        r = strv_addf(warnings,
                      "what this profile calls here is not known yet; the %s functions that it "
                      "called elsewhere are hooked, and nearly all others in a moment",
                      format_count(number, ret->hooks.names.n));
        if (r >= 0)
                r = finish(ret, q);
        return r < 0 ? r : 1;
}

/* Whether others were seen to call it too often while it was hooked. */
static bool is_hot(const LeanCache *c, const LeanFunction *f) {
        for (size_t t = 0; t < c->tasks.n; t++)
                if (streq(c->tasks.items[t], LEAN_HOST_TASK))
                        return f->ppm[t] > 0;
        return false;
}

static bool has_cost(const LeanCache *c, const LeanFunction *f) {
        for (size_t t = 0; t < c->tasks.n; t++)
                if (f->ppm[t] > 0)
                        return true;
        return false;
}

/* Besides what costs too much: what is hot, and, of what everybody is known to call, that of which it is not known
 * what it costs, for the reference workload has not all kinds of work: no TCP or UDP at all. */
static int leave_more_out(const LeanCache *c, const LeanQuestion *q, Strv *names,
                          Strv *ret_left_out) {
        _cleanup_strv_ Strv ordinary = {}, kept = {}, folded = {};
        int r = find_all_ordinary(q, &ordinary);

        for (size_t i = 0; r >= 0 && i < names->n; i++) {
                const char *name = names->items[i];
                const LeanFunction *f = lean_cache_find(c, name);
                bool is_known = has_cost(c, f) && !ordinary_has_kind(name);
                bool is_out = is_hot(c, f) || (strv_finds(&ordinary, name) && !is_known);

                r = strv_add(is_out && !strv_finds(q->roots, name) ? ret_left_out : &kept, name);
        }
        if (r >= 0)
                r = find_folded(q, &ordinary, &folded);
        if (r >= 0)
                r = strv_pick(ret_left_out, &folded, &kept, false);
        if (r < 0)
                return r;
        strv_sort_unique(ret_left_out);
        SWAP(*names, kept);
        return 0;
}

static int choose_learned(LeanChoice *ret, const LeanQuestion *q, const LeanCache *known) {
        bool is_full = q->spec->lean == LEAN_FULL;
        uint64_t budget_ppm = is_full ? UINT64_MAX : q->spec->budget_ppm / 100 * ESTIMATE_PERCENT;
        int r = lean_select(known, q->roots, budget_ppm, &ret->hooks.names, &ret->left_out);

        if (r >= 0 && !is_full)
                r = leave_more_out(known, q, &ret->hooks.names, &ret->left_out);
        if (r >= 0)
                r = find_callers(known, &ret->left_out, &ret->left_out_in);
        ret->learned_ns = known->learned_ns;
        ret->learned_calls = known->n_calls;
        return r < 0 ? r : finish(ret, q);
}

int lean_choose(LeanChoice *ret, const LeanQuestion *q, Strv *warnings, Refusal *refusal) {
        _cleanup_lean_choice_ LeanChoice choice = {};
        _cleanup_lean_cache_ LeanCache known = {};
        int r;

        if (q->spec->flat || q->spec->hooked.n > 0)
                r = choose_list(&choice, q, refusal);
        else {
                r = load(&known, q, warnings);
                if (r == 1 && !lean_asks(q->spec))
                        r = 0;
                else if (r == 1 && !q->is_wide)
                        r = choose_learned(&choice, q, &known);
                else if (r >= 0) {
                        r = known.n == 0 ? choose_guess(&choice, q, warnings) : 0;
                        r = r == 0 ? choose_nearly_all(&choice, q, &known, warnings) : MIN(r, 0);
                }
        }
        if (r == 0)
                *ret = TAKE(choice, (LeanChoice){});
        return r;
}

int lean_learn(int store_fd, int root_fd, const Functions *f, const Strv *roots, const char *kernel,
               const LeanCache *new) {
        _cleanup_lean_cache_ LeanCache all = {};
        char key[LEAN_KEY_CHARS + 1];
        int r = lean_cache_load(&all, store_fd, root_fd, f, roots, key);

        if (r < 0 && r != -ENOENT)
                return r;
        if (r >= 0 && lean_cache_is_old(&all))
                lean_cache_done(&all);
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
        lean_cache_sort(&all);
        for (size_t i = 0; new->tasks.n > 0 && i < new->n; i++) {
                LeanFunction *before = lean_cache_find(&all, new->functions[i].name);

                if (before)
                        memset(before->ppm, 0, sizeof(before->ppm));
        }
        for (size_t i = 0; i < new->n; i++) {
                r = lean_cache_add(&all, new->functions[i].name, new->functions[i].ppm,
                                   new->tasks.n);
                for (size_t k = 0; r >= 0 && k < new->functions[i].callers.n; k++)
                        r = lean_cache_add_caller(&all, new->functions[i].callers.items[k]);
                if (r < 0)
                        return r;
        }
        keep_known(&all, f);
        if (all.n == 0 || all.n > LEAN_MAX_FUNCTIONS)
                return 0;
        all.n_calls = MIN(all.n_calls + new->n_calls, (uint64_t) INT64_MAX);
        all.learned_ns = now_ns(CLOCK_REALTIME);
        return lean_cache_write(&all, store_fd, key, kernel, roots);
}

/* Where the cost of LEAN_HOST_TASK is; made if there is room.  -ENOSPC, -ENOMEM. */
static int host_task(LeanCache *c) {
        int r;

        for (size_t t = 0; t < c->tasks.n; t++)
                if (streq(c->tasks.items[t], LEAN_HOST_TASK))
                        return (int) t;
        if (c->tasks.n == LEAN_MAX_TASKS)
                return ORIGIN(-ENOSPC);
        r = strv_add(&c->tasks, LEAN_HOST_TASK);
        return r < 0 ? r : (int) c->tasks.n - 1;
}

int lean_learn_hot(int store_fd, int root_fd, const Functions *f, const Strv *roots,
                   const char *kernel, const Strv *names, const uint32_t *ppm) {
        _cleanup_lean_cache_ LeanCache c = {};
        char key[LEAN_KEY_CHARS + 1];
        int t, r = lean_cache_load(&c, store_fd, root_fd, f, roots, key);

        if (r != 0) /* nothing is known, so nothing was hooked for it */
                return r == -ENOENT ? 0 : MIN(r, 0);
        t = host_task(&c);
        if (t < 0)
                return t;
        for (size_t i = 0; i < names->n; i++) {
                LeanFunction *known = lean_cache_find(&c, names->items[i]);

                if (known)
                        known->ppm[t] = MAX(known->ppm[t], ppm[i]);
        }
        return lean_cache_write(&c, store_fd, key, kernel, roots);
}

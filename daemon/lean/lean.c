/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Choosing is putting together what is known of the roots, intersecting it with the functions there are, and leaving out
 * what costs too much.  What was learned of several roots together is a tree of its own; else each root's own counts.
 */

#include "base/io.h"
#include "base/name.h"
#include "daemon/admission/admission.h"
#include "daemon/lean/lean.h"

/* Of the budget may usual loads cost, each: which way a load takes differs, and less is no loss then. */
#define USUAL_PERCENT 25

void lean_choice_done(LeanChoice *c) {
        hooks_done(&c->hooks);
        strv_done(&c->left_out);
        strv_done(&c->left_out_in);
        strv_done(&c->left_out_why);
        strv_done(&c->callees_unknown_of);
}

static size_t find(const Strv *v, const char *s) {
        size_t i = 0;

        while (i < v->n && !streq(v->items[i], s))
                i++;
        return i;
}

/* What was not hooked once stays told, for it is missing there: of two reasons what was measured. */
static int tell_missing(const LeanChoice *c, SessionMeta *m) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < c->left_out.n; i++) {
                size_t at = find(&m->left_out, c->left_out.items[i]);

                if (at < m->left_out_why.n) {
                        if (!streq(c->left_out_why.items[i], "usual"))
                                r = strv_replace(&m->left_out_why, at, c->left_out_why.items[i]);
                        continue;
                }
                r = strv_add(&m->left_out, c->left_out.items[i])
                            ?: strv_add(&m->left_out_in, c->left_out_in.items[i])
                            ?: strv_add(&m->left_out_why, c->left_out_why.items[i]);
        }
        return r;
}

int lean_choice_tell(const LeanChoice *c, SessionMeta *m) {
        _cleanup_strv_ Strv unknown = {};
        int r = strv_copy(&unknown, &c->callees_unknown_of) ?: tell_missing(c, m);

        if (r < 0)
                return r;
        SWAP(m->callees_unknown_of, unknown);
        m->n_hooked = (uint32_t) c->hooks.names.n;
        m->n_known = c->n_known;
        m->tree_from = c->tree_from;
        m->callees_unknown = c->callees_unknown;
        m->learned_ns = c->learned_ns;
        m->learned_calls = c->learned_calls;
        m->learns = c->learns;
        return 0;
}

bool lean_asks(const Spec *spec) {
        return spec->lean == LEAN_AUTO && !spec->flat && spec->hooked.n == 0;
}

bool lean_thins(const Spec *spec) {
        return lean_asks(spec) && spec->lesson != LESSON_WHOLE;
}

bool lean_watches(const Spec *spec) {
        return lean_thins(spec) && !spec->in_kernel && spec->slower_ns == 0 &&
               (!spec->clock || streq(spec->clock, SPEC_DEFAULT_CLOCK));
}

bool lean_counts_calls(const Spec *spec) {
        return lean_watches(spec) && spec->events.n == 0 && (spec->user_stack || spec->whose);
}

/* Less than all that the roots call teaches less, and the kernel's buffer is read by nobody. */
static bool teaches(const Spec *spec) {
        return spec->depth == 0 && spec->notrace.n == 0 && spec->slower_ns == 0 && !spec->no_irqs &&
               !spec->in_kernel;
}

/* --- what is known ----------------------------------------------------------------------------- */

typedef struct Known {
        LeanTree tree;
        TreeOrigin from; /* TREE_UNKNOWN: of one root at least nothing is known */
        uint64_t learned_ns, n_calls;
} Known;

static void known_done(Known *k) {
        lean_tree_done(&k->tree);
}

/* 1: there is something; 0. */
static int add_learned(Known *k, const LeanQuestion *q, const Strv *roots, Strv *warnings) {
        _cleanup_lean_cache_ LeanCache c = {};
        char key[LEAN_KEY_CHARS + 1];
        int r = lean_cache_load(&c, q->store_fd, q->root_fd, q->functions, roots, key);

        if (r == -ENOENT)
                return 0;
        if (r == LEAN_CACHE_E_INVALID)
                return lean_asks(q->spec)
                               ? strv_addf(warnings,
                                           "what was learned for lean (%s/%s) is damaged and is "
                                           "learned again",
                                           LEAN_DIR, key)
                               : 0;
        if (r < 0)
                return r;
        k->learned_ns = MAX(k->learned_ns, c.learned_ns);
        k->n_calls = MIN(k->n_calls, c.n_calls);
        r = lean_tree_join(&k->tree, &c.tree);
        return r < 0 ? r : 1;
}

/* As add_learned(), with what is shipped; *@learned becomes false if too little was learned. */
static int add_root(Known *k, const LeanQuestion *q, const char *root, bool *learned,
                    Strv *warnings) {
        const Strv one = { .items = (char *[]){ (char *) root, NULL }, .n = 1 };
        int r = add_learned(k, q, &one, warnings), shipped;

        if (r < 0)
                return r;
        *learned = *learned && r > 0;
        shipped = lean_tree_ship(&k->tree, root);
        return shipped < 0 ? shipped : r || shipped > 0;
}

static int find_known(Known *ret, const LeanQuestion *q, Strv *warnings) {
        _cleanup_(known_done) Known k = { .from = TREE_UNKNOWN, .n_calls = UINT64_MAX };
        bool each_is_known = q->roots->n > 0, each_is_learned = true, is_learned = false;
        int r = 0;

        if (q->roots->n > 1) {
                r = add_learned(&k, q, q->roots, warnings);
                is_learned = r > 0;
        }
        for (size_t i = 0; r >= 0 && i < q->roots->n; i++) {
                r = add_root(&k, q, q->roots->items[i], &each_is_learned, warnings);
                each_is_known = each_is_known && r > 0;
        }
        if (r < 0)
                return r;
        lean_tree_keep_present(&k.tree, q->functions);
        is_learned = is_learned || each_is_learned;
        if (k.n_calls == UINT64_MAX)
                k.n_calls = 0;
        if (is_learned && (k.n_calls >= LEAN_MIN_CALLS || !each_is_known))
                k.from = TREE_LEARNED;
        else if (each_is_known)
                k.from = is_learned && each_is_learned ? TREE_LEARNED : TREE_SHIPPED;
        *ret = TAKE(k, (Known){});
        return 0;
}

/* --- what follows from it ---------------------------------------------------------------------- */

/* What is left out must be hooked, or the kernel does not know that what follows is below it. */
static int finish(LeanChoice *ret, const LeanQuestion *q) {
        int r = strv_extend(&ret->hooks.names, q->roots)
                        ?: strv_extend(&ret->hooks.names, q->notrace);

        if (r < 0)
                return r;
        strv_sort_unique(&ret->hooks.names);
        return functions_find_lines(q->functions, &ret->hooks.names, &ret->hooks.lines);
}

/* Whose time calls of it are part of, and why it is left out.  A tree does not keep all callers of a function that has
 * many. */
static int leave_out(LeanChoice *ret, const LeanTree *tree, const char *name, const char *why) {
        const LeanFunction *f = lean_tree_find(tree, name);
        _cleanup_strv_ Strv callers = {};
        char *text;
        int r = f ? strv_extend(&callers, &f->callers) : 0;

        if (r >= 0 && callers.n >= LEAN_MAX_CALLERS)
                r = strv_add(&callers, "...");
        if (r < 0)
                return r;
        text = strv_join(&callers, " ");
        r = text ? strv_take(&ret->left_out_in, text) : -ENOMEM;
        return r ?: strv_add(&ret->left_out, name) ?: strv_add(&ret->left_out_why, why);
}

static int choose_list(LeanChoice *ret, const LeanQuestion *q, const Known *known,
                       Refusal *refusal) {
        int r = admit_hooked(q->functions, q->spec, &ret->hooks.names, refusal) ?: finish(ret, q);

        ret->tree_from = TREE_FILE;
        ret->callees_unknown = known->from == TREE_UNKNOWN;
        for (size_t i = 0; r == 0 && !ret->callees_unknown && i < known->tree.n; i++) {
                const char *name = known->tree.functions[i].name;

                if (!strv_finds(&ret->hooks.names, name))
                        r = MIN(leave_out(ret, &known->tree, name, "filter"), 0);
        }
        ret->n_known = ret->callees_unknown ? 0 : (uint32_t) known->tree.n;
        return r;
}

/* Below those of which the tree does not tell what they call nobody knows what is.  The roots it need not name. */
static int find_unknown(LeanChoice *ret, const LeanTree *tree, const Strv *roots) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ret->hooks.names.n; i++) {
                const char *name = ret->hooks.names.items[i];

                if (!lean_tree_find(tree, name) && !strv_finds(roots, name))
                        r = strv_add(&ret->callees_unknown_of, name);
        }
        return r;
}

/* While the roots are not called, and where nobody will look at what others call, or not yet. */
static bool usual_loads_count(const LeanQuestion *q) {
        if (!lean_thins(q->spec))
                return false;
        return q->load ? !q->load->is_work : !lean_watches(q->spec) || q->spec->triggers.n > 0;
}

static int choose_tree(LeanChoice *ret, const LeanQuestion *q, const Known *known) {
        _cleanup_strv_ Strv all = {}, usual = {}, dear = {};
        _cleanup_(ranks_done) Ranks ranks = {};
        int r = waiting_find(q->functions, &all);

        for (size_t i = 0; r >= 0 && i < known->tree.n; i++)
                r = strv_add(&all, known->tree.functions[i].name);
        strv_sort_unique(&all);
        r = r ?: thinning_rank(&ranks, &known->tree, &all, q->roots);
        if (r >= 0 && usual_loads_count(q))
                r = usual_loads_thin(&ranks, q->roots, q->spec->budget_ppm * USUAL_PERCENT / 100,
                                     &usual);
        r = r ?: strv_copy(&dear, &usual);
        if (r >= 0 && q->load && lean_thins(q->spec))
                r = strv_extend(&dear, &q->load->out);
        strv_sort_unique(&dear);
        if (r >= 0 && q->load && lean_thins(q->spec))
                r = thinning_choose(&ranks, q->load, q->spec->budget_ppm, &dear);
        for (size_t i = 0; r >= 0 && i < all.n; i++) {
                const char *name = all.items[i];
                const LeanFunction *f = lean_tree_find(&known->tree, name);

                if (strv_finds(q->roots, name) || strv_finds(q->notrace, name))
                        continue;
                if (strv_finds(&dear, name) && !f) /* the roots are not known to call it */
                        continue;
                if (strv_finds(&dear, name))
                        r = leave_out(ret, &known->tree, name,
                                      strv_finds(&usual, name) ? "usual" : "cost");
                else if (q->scope == LEAN_CALLERS && f && f->leaf)
                        r = leave_out(ret, &known->tree, name, "guard");
                else
                        r = strv_add(&ret->hooks.names, name);
        }
        r = r ?: finish(ret, q);
        ret->tree_from = known->from;
        ret->n_known = (uint32_t) known->tree.n;
        ret->learned_ns = known->learned_ns;
        ret->learned_calls = known->n_calls;
        ret->learns = known->n_calls < LEAN_MIN_CALLS && known->from == TREE_LEARNED;
        ret->callees_unknown = known->from == TREE_UNKNOWN;
        return r < 0 || ret->callees_unknown ? r : find_unknown(ret, &known->tree, q->roots);
}

/* --- what nobody knows ------------------------------------------------------------------------- */

static int choose_unknown(LeanChoice *ret, const LeanQuestion *q, const Known *known,
                          Strv *warnings) {
        char who[NAME_QUOTE_MAX + 16];
        const char *call = q->roots->n == 1 ? "calls" : "call";
        bool can_learn = teaches(q->spec);
        int r;

        if (q->roots->n == 1)
                (void) snprintf(who, sizeof(who), "%s", q->roots->items[0]);
        else
                (void) snprintf(who, sizeof(who), "the %zu functions", q->roots->n);
        ret->learns = can_learn;
        if (q->spec->lesson == LESSON_WHOLE ||
            (!can_learn && !q->spec->in_kernel && q->spec->lesson != LESSON_NO)) {
                ret->tree_from = TREE_ALL;
                return q->spec->lesson == LESSON_WHOLE
                               ? 0
                               : strv_addf(warnings,
                                           "what %s %s is not known, and cannot be learned with "
                                           "--depth, --notrace, --slower or NoIRQs=: all functions "
                                           "are hooked, which slows down other work",
                                           who, call);
        }
        if (can_learn && q->spec->lesson != LESSON_NO) {
                ret->tree_from = TREE_LESSON;
                return strv_addf(warnings,
                                 "learning what %s %s: for 0.3 s, other work runs slower "
                                 "(Lesson=no prevents it)",
                                 who, call);
        }
        r = choose_tree(ret, q, known);
        ret->learns = can_learn;
        return r
                       ?: strv_addf(
                                  warnings,
                                  "what %s %s is not known%s: below %s only functions where tasks "
                                  "wait are recorded; \"ftracectl run %s -- COMMAND\" or "
                                  "--lean=off "
                                  "records all, and learns",
                                  who, call,
                                  q->spec->in_kernel
                                          ? ", and is not learned from the kernel's buffer"
                                          : " (Lesson=no)",
                                  q->roots->n == 1 ? "it" : "them", q->roots->items[0]);
}

int lean_choose(LeanChoice *ret, const LeanQuestion *q, Strv *warnings, Refusal *refusal) {
        _cleanup_lean_choice_ LeanChoice choice = {};
        _cleanup_(known_done) Known known = {};
        int r = find_known(&known, q, warnings);

        if (r < 0)
                return r;
        if (q->spec->flat || q->spec->hooked.n > 0)
                r = choose_list(&choice, q, &known, refusal);
        else if (!lean_asks(q->spec)) {
                choice.tree_from = TREE_ALL;
                choice.learns = teaches(q->spec) && known.n_calls < LEAN_MIN_CALLS;
        } else if (q->scope == LEAN_LESSON) {
                choice.tree_from = TREE_LESSON;
                choice.learns = true;
        } else if (q->scope == LEAN_ROOTS) {
                r = choose_tree(&choice, q, &(Known){ .from = TREE_UNKNOWN });
                choice.learns = teaches(q->spec);
        } else if (known.from != TREE_UNKNOWN)
                r = choose_tree(&choice, q, &known);
        else
                r = choose_unknown(&choice, q, &known, warnings);
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
        r = lean_tree_join(&all.tree, &new->tree);
        if (r < 0)
                return r;
        lean_tree_keep_present(&all.tree, f);
        if (all.tree.n == 0 || all.tree.n > LEAN_MAX_FUNCTIONS)
                return 0;
        all.n_calls = MIN(all.n_calls + new->n_calls, (uint64_t) INT64_MAX);
        all.learned_ns = now_ns(CLOCK_REALTIME);
        return lean_cache_write(&all, store_fd, key, kernel, roots);
}

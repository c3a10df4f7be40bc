/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A module that goes takes its functions out of set_ftrace_filter, and leaves their addresses in
 * set_graph_function, which so never becomes empty; that nothing is there any more the kernel does
 * not look at (linux 6.1 kernel/trace/ftrace.c, clear_mod_from_hashes(); seen on 6.1 and 6.12).
 * An address cannot be taken out by a write, other than by one that empties the list for a moment;
 * once another module has put a function there it is that function's name, which can.
 * When the module comes back at the same place its function is a root again, and nowhere else.  So
 * the names are added once more: without a truncation, so that the list is never empty.
 */

#include "daemon/tracefs/control.h"
#include "daemon/tracer/controller-private.h"

static int append(const Tracer *t, const char *path, const Strv *words) {
        return streq(path, GRAPH_FUNCTION) ? controller_change_roots(t->c, words, false, NULL, NULL)
                                           : control_append(t->c->fs.fd, path, words);
}

/* Adds those of @roots that the file lacks.  Those that it does not take are added to @ret_gone, and
 * those that it does to @ret_back. */
static int add_missing(Tracer *t, const char *path, const Strv *roots, Strv *ret_gone,
                       Strv *ret_back) {
        _cleanup_strv_ Strv now = {};
        int r = control_read_list(t->c->fs.fd, path, &now);

        for (size_t i = 0; r >= 0 && i < roots->n; i++) {
                _cleanup_strv_ Strv one = {};

                if (strv_contains(&now, roots->items[i]) ||
                    strv_contains(ret_gone, roots->items[i]))
                        continue;
                r = strv_add(&one, roots->items[i]);
                if (r >= 0)
                        r = strv_add_new(append(t, path, &one) < 0 ? ret_gone : ret_back,
                                         roots->items[i]);
        }
        return r;
}

/*
 * An address in the middle of a function is shown by its name too, by which it cannot be taken out
 * (linux 6.1 kernel/trace/ftrace.c, g_show()).  No call begins there, so it does no harm.
 */
static int note_stale(const Tracer *t, const Strv *strangers) {
        _cleanup_strv_ Strv now = {};
        int r = control_read_list(t->c->fs.fd, GRAPH_FUNCTION, &now);

        strv_sort_unique(&now);
        if (r >= 0)
                r = strv_pick(&t->c->stale_roots, strangers, &now, true);
        /* Or they would be taken for what somebody else has added, and stay. */
        if (r >= 0)
                r = controller_note_roots(t->c, &t->c->stale_roots);
        return r < 0 ? r : ledger_commit(t->c->ledger, t->c->fs.path);
}

/*
 * Takes out what became of addresses: names that nobody asked for, where addresses were at the last
 * look.  As long as a root of somebody's is left by name, so that the list is not empty then.
 */
static int drop_strangers(const Tracer *t) {
        _cleanup_strv_ Strv now = {}, wanted = {}, strangers = {};
        bool has_address = false, has_root = false;
        int r = control_read_list(t->c->fs.fd, GRAPH_FUNCTION, &now);

        if (r >= 0)
                r = arbiter_all_roots(&t->c->arbiter, &wanted);
        for (size_t i = 0; r >= 0 && i < now.n; i++) {
                if (control_is_address(now.items[i]))
                        has_address = true;
                else if (strv_finds(&wanted, now.items[i]))
                        has_root = true;
                else if (!strv_contains(&t->c->stale_roots, now.items[i]) &&
                         !strv_contains(&t->c->kept_roots, now.items[i]))
                        r = strv_add(&strangers, now.items[i]);
        }
        if (r >= 0 && t->c->has_address && has_root && strangers.n > 0) {
                (void) controller_change_roots(t->c, &strangers, true, NULL, NULL);
                r = note_stale(t, &strangers);
        }
        t->c->has_address = has_address || t->c->stale_roots.n > 0;
        return r;
}

int tracer_renew_roots(Tracer *t, const SessionMeta *m, Strv *ret_gone, Strv *ret_back) {
        _cleanup_free_ char *filter = NULL;
        _cleanup_strv_ Strv gone = {}, back = {};
        int r;

        background_settle(t->c->background);
        tracer_forget_hooks(t); /* functions of a module leave every list with it */
        r = drop_strangers(t);
        if (r >= 0)
                r = add_missing(t, GRAPH_FUNCTION, &m->roots, &gone, &back);
        if (r >= 0 && m->n_hooked > 0) {
                if (asprintf(&filter, "%sset_ftrace_filter", instance_dir(t->instance)) < 0) {
                        filter = NULL;
                        return -ENOMEM;
                }
                r = add_missing(t, filter, &m->roots, &gone, &back);
        }
        if (r < 0)
                return r;
        strv_done(&t->gone);
        r = strv_copy(&t->gone, &gone);
        if (r < 0)
                return r;
        *ret_gone = TAKE(gone, (Strv){});
        *ret_back = TAKE(back, (Strv){});
        return 0;
}

static int add_to_both(const Strv *words, Strv *a, Strv *b) {
        int r = strv_extend(a, words);

        return r < 0 ? r : strv_extend(b, words);
}

int tracer_get_roots(const Tracer *t, Strv *ret, Strv *ret_gone) {
        int r = 0;

        if (background_is_busy(t->c->background))
                return ORIGIN(-EBUSY);
        /* While a module is loaded what is at an address has no name yet. */
        if (t->c->has_address)
                r = drop_strangers(t);
        if (r >= 0)
                r = arbiter_all_roots(&t->c->arbiter, ret);
        for (const Tracer *i = t->c->tracers; r >= 0 && i; i = i->next)
                r = strv_extend(ret_gone, &i->gone);
        if (r >= 0)
                r = add_to_both(&t->c->stale_roots, ret, ret_gone);
        return r < 0 ? r : add_to_both(&t->c->kept_roots, ret, ret_gone);
}

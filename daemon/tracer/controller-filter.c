/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * set_graph_function while tracers are on: roots come and go with sessions and with modules.  The kernel
 * takes long over the names and acts at close; where it must not be looked into then, the names are
 * written first, and for the close the tracers are quiesced (daemon/instances/instance.h).
 *
 * Nothing quiesces the tracer of somebody else.  While there is one, no root comes, and those that should
 * go stay, until a later change finds it gone; the last session's end clears the list in any case.
 */

#include "base/log.h"
#include "daemon/tracer/controller-private.h"

static Tracer *find_tracer(const Controller *c, const char *dir) {
        for (Tracer *t = c->tracers; t; t = t->next)
                if (streq(t->instance.dir, dir))
                        return t;
        return NULL;
}

/* Whose function_graph is on.  -EBUSY: also somebody else's. */
static int find_users(const Controller *c, Strv *ret) {
        int r = tracefs_find_graph_users(&c->fs, ret);

        for (size_t i = 0; r >= 0 && i < ret->n; i++)
                if (!find_tracer(c, ret->items[i]))
                        return ORIGIN(-EBUSY);
        return MIN(r, 0);
}

/* Lets what was prepared act, with everybody quiesced.  It does in any case: whatever closes the file, the
 * end of the process as well. */
static int install_quiesced(Controller *c, Quiesce *quiesce, int fd, const Strv *users) {
        Tracer *t;
        int ret, r;

        for (size_t i = 0; i < users->n; i++)
                if ((t = find_tracer(c, users->items[i])))
                        t->quiesced_from_ns = tracer_now_ns(t, 0);
        r = quiesce_begin(quiesce, users);
        if (r < 0)
                (void) log_warning_errno(r,
                                         "The tracers could not be quiesced while " GRAPH_FUNCTION
                                         " changes (ftraced(8), KNOWN FAULTS OF KERNELS): %m");
        ret = control_install(fd);
        r = quiesce_end(quiesce);
        if (r < 0)
                (void) log_error_errno(r, "A list of processes could not be put back yet: %m");
        /* Before the turn is left to the loop: who watches the lists must know whose doing it was. */
        for (size_t i = 0; i < users->n; i++)
                if ((t = find_tracer(c, users->items[i])) && t->on_quiesced)
                        t->on_quiesced(t->quiesced_from_ns, tracer_now_ns(t, GAP_OPEN),
                                       t->userdata);
        ledger_shorten(c->ledger);
        return ret;
}

static int change_quiesced(Controller *c, const Strv *words, bool removes) {
        _cleanup_(quiesce_done) Quiesce quiesce = {};
        _cleanup_strv_ Strv users = {};
        int fd, k, r = find_users(c, &users);

        r = r ?: quiesce_prepare(&quiesce, c->ledger, &users);
        if (r < 0)
                return r;
        r = BACKGROUND_CALL(control_prepare(c->fs.fd, GRAPH_FUNCTION, words, removes, &fd));
        if (fd < 0)
                return r;
        k = install_quiesced(c, &quiesce, fd, &users);
        return r ?: k;
}

/* Those of @words that are in the list: to take out others would disturb everybody for nothing.  -EBUSY:
 * nothing else is in it, and without them it would mean every function. */
static int pick_present(const Controller *c, const Strv *words, Strv *ret) {
        _cleanup_strv_ Strv now = {};
        int r = control_read_list(c->fs.fd, GRAPH_FUNCTION, &now);
        size_t n_unshown = control_n_unshown(&now);

        strv_sort_unique(&now);
        if (r >= 0)
                r = n_unshown > 0 ? strv_copy(ret, words) : strv_pick(ret, words, &now, true);
        return r >= 0 && ret->n > 0 && ret->n >= now.n + n_unshown - (n_unshown > 0) ? -EBUSY : r;
}

/*
 * Words are added to or taken out of set_graph_function, whoever records: these are quiesced if need be
 * (daemon/instances/instance.h), and told.
 * 0; -EBUSY: somebody else's tracer is on, nothing was changed; -errno.
 */
static int change_roots(Controller *c, const Strv *words, bool removes) {
        _cleanup_strv_ Strv present = {}, few = {};
        int r;

        if (removes) {
                r = pick_present(c, words, &present);
                if (r < 0)
                        return r;
                words = &present;
        }
        if (words->n == 0)
                return 0;
        /* Not if it might stand for more than was known when the functions were read. */
        r = functions_are_current(&c->functions, &c->fs)
                    ? functions_shorten(&c->functions, words, NULL, &few)
                    : strv_copy(&few, words);
        if (r < 0)
                return r;
        if (quiesce_is_needed(&c->fs))
                return change_quiesced(c, &few, removes);
        return BACKGROUND_CALL(
                (removes ? control_remove : control_append)(c->fs.fd, GRAPH_FUNCTION, &few));
}

/* --- what the ledger knows of them ------------------------------------------------------------ */

int controller_note_roots(Ledger *l, const Strv *words) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < words->n; i++)
                r = ledger_add(l, LEDGER_ROOTS, LEDGER_FILE,
                               TRACEFS_PATH(LEDGER_ROOTS_DIR "%s", words->items[i]), "");
        return r;
}

/* These are not in the list any more. */
static void forget(Controller *c, const Strv *words) {
        for (size_t i = 0; i < words->n; i++)
                ledger_drop(c->ledger, LEDGER_ROOTS,
                            TRACEFS_PATH(LEDGER_ROOTS_DIR "%s", words->items[i]), NULL);
        if (words->n > 0)
                ledger_shorten(c->ledger);
}

void controller_forget_roots(Controller *c) {
        size_t n = c->ledger->n;

        strv_done(&c->kept_roots);
        strv_done(&c->stale_roots);
        if (ledger_record_of(c->ledger, LEDGER_SHARED, LEDGER_FILE, GRAPH_FUNCTION, NULL))
                return; /* until that is put back they tell what of the list is ours */
        ledger_drop_all(c->ledger, LEDGER_ROOTS);
        if (c->ledger->n < n)
                ledger_shorten(c->ledger);
}

int controller_recover_roots(Controller *c) {
        const Ledger *l = c->ledger;
        int r = 0;

        if (c->arbiter.n == 0) {
                controller_forget_roots(c);
                return 0;
        }
        for (size_t i = 0; r >= 0 && i < l->n; i++) {
                const char *word = startswith(l->records[i].file, LEDGER_ROOTS_DIR);

                if (streq(l->records[i].session, LEDGER_ROOTS) && word)
                        r = strv_add_new(&c->kept_roots, word);
        }
        controller_drop_kept(c);
        return r;
}

/* --- of sessions ------------------------------------------------------------------------------ */

/* True if a word in set_graph_function is none of @all, the roots of sessions, nor one that went. */
static bool is_foreign(const Controller *c, const Strv *all, const char *word) {
        return !strv_finds(all, word) && !control_is_address(word) &&
               !strv_contains(&c->kept_roots, word) && !strv_contains(&c->stale_roots, word);
}

/* Whether set_graph_function is the roots of all sessions.  A live session's root may have gone with
 * its module meanwhile, which leaves its address in the list. */
static int check_roots(const Tracer *t, const Plan *p) {
        _cleanup_strv_ Strv all = {}, now = {};
        _cleanup_free_ char *text = NULL;
        Controller *c = t->c;
        size_t n_unshown;
        int r = arbiter_all_roots(&c->arbiter, &all)
                        ?: plan_read(p, GRAPH_FUNCTION, &text)
                        ?: strv_split(&now, text, "\n");

        if (r < 0)
                return r;
        n_unshown = control_n_unshown(&now);
        strv_sort_unique(&now);
        for (size_t i = 0; i < t->claim->roots.n; i++)
                if (!strv_finds(&now, t->claim->roots.items[i]) && n_unshown-- == 0)
                        return ORIGIN(-EIO);
        for (size_t i = 0; i < now.n; i++)
                if (is_foreign(c, &all, now.items[i]))
                        return ORIGIN(-EIO);
        return 0;
}

int controller_admit_filter(const Controller *c, Refusal *refusal) {
        _cleanup_strv_ Strv all = {}, now = {};
        int r;

        if (c->arbiter.n == 0)
                return 0;
        r = arbiter_all_roots(&c->arbiter, &all)
                    ?: control_read_list(c->fs.fd, GRAPH_FUNCTION, &now);
        for (size_t i = 0; r >= 0 && i < now.n; i++)
                if (is_foreign(c, &all, now.items[i]))
                        return refusal_set_of(
                                refusal, REFUSAL_BUSY, "holder", "unknown",
                                "somebody else has written %s into %s/" GRAPH_FUNCTION
                                ", beside sessions that record. Take it out (echo '!%s' "
                                ">> that file), or stop them: ftracectl stop --all.",
                                now.items[i], c->fs.path, now.items[i]);
        return MIN(r, 0);
}

/* What would be written, quiescing included. */
static int plan_change(Plan *p, const Strv *words, bool removes) {
        _cleanup_free_ char *text = strv_join(words, "\n");
        _cleanup_strv_ Strv users = {};
        int r;

        if (words->n == 0)
                return 0;
        if (!text)
                return -ENOMEM;
        r = removes ? plan_step(p, PLAN_REMOVE, GRAPH_FUNCTION, NULL, text, NULL)
                    : plan_append(p, GRAPH_FUNCTION, words);
        if (r < 0 || !quiesce_is_needed(p->fs))
                return r;
        p->steps[p->n - 1].stays_open = true;
        return tracefs_find_graph_users(p->fs, &users)
                       ?: quiesce_plan(p, &users, true)
                       ?: plan_step(p, PLAN_CLOSE, GRAPH_FUNCTION, NULL, "", NULL)
                       ?: quiesce_plan(p, &users, false);
}

int tracer_add_roots(Tracer *t, Plan *p) {
        _cleanup_strv_ Strv own = {};
        Controller *c = t->c;
        int r = arbiter_own_roots(&c->arbiter, t->claim, &own);

        if (r >= 0)
                r = p->is_dry ? plan_change(p, &own, false) : change_roots(c, &own, false);
        return r ?: check_roots(t, p);
}

/* Takes out what was kept and nobody records now. */
void controller_drop_kept(Controller *c) {
        _cleanup_strv_ Strv wanted = {}, unwanted = {};
        int r;

        if (c->kept_roots.n == 0 || c->arbiter.n == 0)
                return;
        r = arbiter_all_roots(&c->arbiter, &wanted)
                    ?: strv_pick(&unwanted, &c->kept_roots, &wanted, false)
                    ?: change_roots(c, &unwanted, true);
        if (r < 0) {
                log_debug("control", "roots of sessions that ended stay: %s", origin_text(r));
                return;
        }
        forget(c, &unwanted);
        strv_done(&c->kept_roots);
}

int tracer_remove_roots(const Tracer *t, Plan *dry) {
        _cleanup_strv_ Strv own = {};
        Controller *c = t->c;
        int r = arbiter_own_roots(&c->arbiter, t->claim, &own);

        if (dry)
                return r ?: plan_change(dry, &own, true);
        r = r ?: change_roots(c, &own, true);
        if (r >= 0)
                forget(c, &own);
        for (size_t i = 0; r < 0 && i < own.n; i++)
                if (strv_add_new(&c->kept_roots, own.items[i]) < 0)
                        return -ENOMEM;
        return r == -EBUSY ? 0 : r;
}

/* --- of modules ------------------------------------------------------------------------------- */

/*
 * A module that goes takes its functions out of set_ftrace_filter, and leaves their addresses in
 * set_graph_function, which so never becomes empty; that nothing is there any more the kernel does
 * not look at (linux 6.1 kernel/trace/ftrace.c, clear_mod_from_hashes(); seen on 6.1 and 6.12).
 * An address cannot be taken out by a write, other than by one that empties the list for a moment;
 * once another module has put a function there it is that function's name, which can.
 * When the module comes back at the same place its function is a root again, and nowhere else.  So
 * the names are added once more: without a truncation, so that the list is never empty.
 */

static int append_words(const Tracer *t, const char *path, const Strv *words) {
        return streq(path, GRAPH_FUNCTION) ? change_roots(t->c, words, false)
                                           : control_append(t->c->fs.fd, path, words);
}

/* True if @root may be one of those that are not shown: the kernel's own never go. */
static bool is_unshown(const Tracer *t, const Strv *now, const char *root) {
        const Functions *f = &t->c->functions;

        return control_n_unshown(now) > 0 && functions_contain(f, root) &&
               !functions_find_module(f, root);
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
                    strv_contains(ret_gone, roots->items[i]) ||
                    is_unshown(t, &now, roots->items[i]))
                        continue;
                r = strv_add(&one, roots->items[i])
                            ?: strv_add_new(append_words(t, path, &one) < 0 ? ret_gone : ret_back,
                                            roots->items[i]);
        }
        return r;
}

/*
 * An address in the middle of a function is shown by its name too, by which it cannot be taken out
 * (linux 6.1 kernel/trace/ftrace.c, g_show()).  No call begins there, so it does no harm; the ledger
 * knows it, or it would be taken for what somebody else has added, and stay.
 */
static int note_stale(Controller *c, const Strv *strangers) {
        _cleanup_strv_ Strv now = {};
        int r = control_read_list(c->fs.fd, GRAPH_FUNCTION, &now);

        strv_sort_unique(&now);
        return r ?: strv_pick(&c->stale_roots, strangers, &now, true)
                       ?: controller_note_roots(c->ledger, &c->stale_roots)
                       ?: ledger_commit(c->ledger);
}

/*
 * Takes out what became of addresses: names that nobody asked for, where addresses were at the last
 * look.  As long as a root of somebody's is left by name, so that the list is not empty then.
 */
static int drop_strangers(Controller *c) {
        _cleanup_strv_ Strv now = {}, wanted = {}, strangers = {};
        bool has_address = false, has_root = false;
        int r = control_read_list(c->fs.fd, GRAPH_FUNCTION, &now)
                        ?: arbiter_all_roots(&c->arbiter, &wanted);

        for (size_t i = 0; r >= 0 && i < now.n; i++) {
                if (control_is_address(now.items[i]))
                        has_address = true;
                else if (strv_finds(&wanted, now.items[i]))
                        has_root = true;
                else if (is_foreign(c, &wanted, now.items[i]))
                        r = strv_add(&strangers, now.items[i]);
        }
        if (r >= 0 && c->has_address && has_root && strangers.n > 0) {
                (void) change_roots(c, &strangers, true);
                r = note_stale(c, &strangers);
        }
        c->has_address = has_address || c->stale_roots.n > 0;
        return r;
}

int tracer_renew_roots(Tracer *t, const SessionMeta *m, Strv *ret_gone, Strv *ret_back) {
        _cleanup_strv_ Strv gone = {}, back = {};
        int r;

        background_settle(t->c->background);
        tracer_forget_hooks(t); /* functions of a module leave every list with it */
        r = drop_strangers(t->c) ?: add_missing(t, GRAPH_FUNCTION, &m->roots, &gone, &back);
        if (r >= 0 && m->n_hooked > 0)
                r = add_missing(t, TRACEFS_PATH("%sset_ftrace_filter", t->instance.dir), &m->roots,
                                &gone, &back);
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

int tracer_get_roots(const Tracer *t, Strv *ret, Strv *ret_gone) {
        Controller *c = t->c;
        const Strv *const others[] = { &c->kept_roots, &c->stale_roots };
        int r = 0;

        if (background_is_busy(c->background))
                return ORIGIN(-EBUSY);
        /* While a module is loaded what is at an address has no name yet. */
        if (c->has_address)
                r = drop_strangers(c);
        r = r ?: arbiter_all_roots(&c->arbiter, ret);
        for (const Tracer *i = c->tracers; r >= 0 && i; i = i->next)
                r = strv_extend(ret_gone, &i->gone);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(others); i++)
                if ((r = strv_extend(ret, others[i])) >= 0)
                        r = strv_extend(ret_gone, others[i]);
        return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * set_graph_function while tracers are on: roots come and go with sessions and with modules.  The kernel
 * takes long over the names and acts at close; where it must not be looked into then, the names are
 * written first, and for the close the tracers are quiesced (daemon/instances/quiesce.h).
 *
 * Nothing quiesces the tracer of somebody else.  While there is one, no root comes, and those that should
 * go stay, until a later change finds it gone; the last session's end clears the list in any case.
 */

#include <errno.h>
#include <stdio.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/instances/quiesce.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracer/controller-private.h"

static Tracer *find_tracer(const Controller *c, const char *dir) {
        for (Tracer *t = c->tracers; t; t = t->next)
                if (streq(instance_dir(t->instance), dir))
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

/* Each has its own clock; one that cannot be read says @unknown. */
static void read_clocks(const Controller *c, const Strv *users, uint64_t unknown, uint64_t *ret) {
        for (size_t i = 0; i < users->n; i++) {
                Tracer *t = find_tracer(c, users->items[i]);
                ClockTuple now;

                ret[i] = t && tracer_read_clocks(t, &now) >= 0 ? now.trace_ns : unknown;
        }
}

static void tell(const Controller *c, const Strv *users, const uint64_t *from_ns,
                 const uint64_t *to_ns) {
        for (size_t i = 0; i < users->n; i++) {
                const Tracer *t = find_tracer(c, users->items[i]);

                if (t && t->on_quiesced)
                        t->on_quiesced(from_ns[i], to_ns[i], t->userdata);
        }
}

/* Lets what was prepared act, with everybody quiesced.  It does in any case: whatever closes the file, the
 * end of the process as well. */
static int install_quiesced(Controller *c, Quiesce *quiesce, int fd, const Strv *users,
                            uint64_t *from_ns, uint64_t *to_ns, uint64_t *ret_ns) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        int ret, r;

        read_clocks(c, users, 0, from_ns);
        r = quiesce_begin(quiesce, users);
        if (r < 0)
                (void) log_warning_errno(r,
                                         "The tracers could not be quiesced while " GRAPH_FUNCTION
                                         " changes (ftraced(8), KNOWN FAULTS OF KERNELS): %m");
        ret = control_install(fd);
        r = quiesce_end(quiesce);
        if (r < 0)
                (void) log_error_errno(r, "A list of processes could not be put back yet: %m");
        if (ret_ns)
                *ret_ns = now_ns(CLOCK_MONOTONIC) - since_ns;
        /* Before the turn is left to the loop: who watches the lists must know whose doing it was. */
        read_clocks(c, users, GAP_OPEN, to_ns);
        tell(c, users, from_ns, to_ns);
        ledger_shorten(c->ledger, c->fs.path);
        return ret;
}

static int change_at_once(Controller *c, const Strv *words, bool removes) {
        return BACKGROUND_CALL(removes ? control_remove(c->fs.fd, GRAPH_FUNCTION, words)
                                       : control_append(c->fs.fd, GRAPH_FUNCTION, words));
}

static int change_quiesced(Controller *c, const Strv *words, bool removes, uint64_t *ret_ns,
                           Strv *ret_quiesced) {
        _cleanup_free_ uint64_t *from_ns = NULL, *to_ns = NULL;
        _cleanup_(quiesce_done) Quiesce quiesce = {};
        _cleanup_strv_ Strv users = {};
        int fd, r, k;

        r = find_users(c, &users);
        if (r >= 0)
                r = quiesce_prepare(&quiesce, c->ledger, &c->fs, &users);
        if (r < 0)
                return r;
        from_ns = calloc(users.n + 1, sizeof(*from_ns));
        to_ns = calloc(users.n + 1, sizeof(*to_ns));
        if (!from_ns || !to_ns)
                return -ENOMEM;
        r = BACKGROUND_CALL(control_prepare(c->fs.fd, GRAPH_FUNCTION, words, removes, &fd));
        if (fd < 0)
                return r;
        k = install_quiesced(c, &quiesce, fd, &users, from_ns, to_ns, ret_ns);
        for (size_t i = 0; ret_quiesced && i < users.n; i++) {
                const Tracer *t = find_tracer(c, users.items[i]);

                if (t && strv_add(ret_quiesced, t->claim->session) < 0)
                        return -ENOMEM;
        }
        return r < 0 ? r : k;
}

/* Those of @words that are in the list: to take out others would disturb everybody for nothing.  -EBUSY:
 * nothing else is in it, and without them it would mean every function. */
static int pick_present(const Controller *c, const Strv *words, Strv *ret) {
        _cleanup_strv_ Strv now = {};
        int r = control_read_list(c->fs.fd, GRAPH_FUNCTION, &now);

        strv_sort_unique(&now);
        if (r >= 0)
                r = strv_pick(ret, words, &now, true);
        return r >= 0 && ret->n > 0 && ret->n == now.n ? -EBUSY : r;
}

/* Not if it might stand for more than was known when the functions were read. */
static int shorten(const Controller *c, const Strv *words, Strv *ret) {
        return functions_are_current(&c->functions, &c->fs)
                       ? functions_shorten(&c->functions, words, NULL, ret)
                       : strv_copy(ret, words);
}

int controller_change_roots(Controller *c, const Strv *words, bool removes, uint64_t *ret_ns,
                            Strv *ret_quiesced) {
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
        r = shorten(c, words, &few);
        if (r < 0)
                return r;
        return quiesce_is_needed(&c->fs) ? change_quiesced(c, &few, removes, ret_ns, ret_quiesced)
                                         : change_at_once(c, &few, removes);
}

/* --- what the ledger knows of them ------------------------------------------------------------ */

static char *noted_file(const char *word) {
        char *file;

        return asprintf(&file, LEDGER_ROOTS_DIR "%s", word) < 0 ? NULL : file;
}

int controller_note_roots(Controller *c, const Strv *words) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < words->n; i++) {
                _cleanup_free_ char *file = noted_file(words->items[i]);

                r = file ? ledger_add(c->ledger, LEDGER_ROOTS, LEDGER_FILE, file, "") : -ENOMEM;
        }
        return r;
}

static int get_noted(const Controller *c, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ledger_n(c->ledger); i++) {
                const LedgerRecord *e = ledger_get(c->ledger, i);
                const char *word = startswith(e->file, LEDGER_ROOTS_DIR);

                if (streq(e->session, LEDGER_ROOTS) && word)
                        r = strv_add(ret, word);
        }
        return r;
}

/* These are not in the list any more. */
static void forget(Controller *c, const Strv *words) {
        for (size_t i = 0; i < words->n; i++) {
                _cleanup_free_ char *file = noted_file(words->items[i]);

                if (file)
                        ledger_drop(c->ledger, LEDGER_ROOTS, file);
        }
        if (words->n > 0)
                ledger_shorten(c->ledger, c->fs.path);
}

void controller_forget_roots(Controller *c) {
        size_t n = ledger_n(c->ledger);

        strv_done(&c->kept_roots);
        if (ledger_has(c->ledger, LEDGER_SHARED, GRAPH_FUNCTION))
                return; /* until that is put back they tell what of the list is ours */
        ledger_drop_all(c->ledger, LEDGER_ROOTS);
        if (ledger_n(c->ledger) < n)
                ledger_shorten(c->ledger, c->fs.path);
}

static int keep(Controller *c, const Strv *words) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < words->n; i++)
                r = strv_add_new(&c->kept_roots, words->items[i]);
        return r;
}

int controller_recover_roots(Controller *c) {
        _cleanup_strv_ Strv noted = {};
        int r;

        if (c->arbiter.n == 0) {
                controller_forget_roots(c);
                return 0;
        }
        r = get_noted(c, &noted);
        if (r >= 0)
                r = keep(c, &noted);
        controller_drop_kept(c);
        return r;
}

/* --- of sessions ------------------------------------------------------------------------------ */

/* Whether a word in set_graph_function is none of @all, the roots of sessions, nor one that went. */
static bool is_foreign(const Controller *c, const Strv *all, const char *word) {
        return !strv_finds(all, word) && !control_is_address(word) &&
               !strv_contains(&c->kept_roots, word);
}

/* Whether set_graph_function is the roots of all sessions.  A live session's root may have gone with
 * its module meanwhile, which leaves its address in the list. */
static int check_roots(const Tracer *t, const Plan *p) {
        _cleanup_strv_ Strv all = {}, now = {};
        _cleanup_free_ char *text = NULL;
        Controller *c = t->c;
        int r = arbiter_all_roots(&c->arbiter, &all);

        if (r >= 0)
                r = plan_read(p, &c->fs, GRAPH_FUNCTION, &text);
        if (r >= 0)
                r = strv_split(&now, text, "\n");
        if (r < 0)
                return r;
        strv_sort_unique(&now);
        for (size_t i = 0; i < t->claim->roots.n; i++)
                if (!strv_finds(&now, t->claim->roots.items[i]))
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
        r = arbiter_all_roots(&c->arbiter, &all);
        if (r >= 0)
                r = control_read_list(c->fs.fd, GRAPH_FUNCTION, &now);
        for (size_t i = 0; r >= 0 && i < now.n; i++)
                if (is_foreign(c, &all, now.items[i]) &&
                    !strv_contains(&c->stale_roots, now.items[i]))
                        return refusal_set_of(
                                refusal, REFUSAL_BUSY, "holder", "unknown",
                                "somebody else has written %s into %s/" GRAPH_FUNCTION
                                ", beside sessions that record. Take it out (echo '!%s' "
                                ">> that file), or stop them: ftracectl stop --all.",
                                now.items[i], c->fs.path, now.items[i]);
        return MIN(r, 0);
}

static int plan_words(const Controller *c, Plan *p, const Strv *words, bool removes) {
        _cleanup_free_ char *text = strv_join(words, "\n");

        if (!text)
                return -ENOMEM;
        return removes ? plan_step(p, PLAN_REMOVE, GRAPH_FUNCTION, NULL, text, NULL)
                       : plan_append(p, &c->fs, GRAPH_FUNCTION, words);
}

/* What would be written, quiescing included. */
static int plan_change(const Controller *c, Plan *p, const Strv *words, bool removes) {
        _cleanup_strv_ Strv users = {};
        int r;

        if (words->n == 0)
                return 0;
        r = plan_words(c, p, words, removes);
        if (r < 0 || !quiesce_is_needed(&c->fs))
                return r;
        p->steps[p->n - 1].stays_open = true;
        r = tracefs_find_graph_users(&c->fs, &users);
        if (r >= 0)
                r = quiesce_plan(p, &c->fs, &users, true);
        if (r >= 0)
                r = plan_step(p, PLAN_CLOSE, GRAPH_FUNCTION, NULL, "", NULL);
        return r < 0 ? r : quiesce_plan(p, &c->fs, &users, false);
}

int tracer_add_roots(Tracer *t, Plan *p) {
        _cleanup_strv_ Strv own = {};
        Controller *c = t->c;
        int r = arbiter_own_roots(&c->arbiter, t->claim, &own);

        if (r >= 0)
                r = p->is_dry ? plan_change(c, p, &own, false)
                              : controller_change_roots(c, &own, false, &t->quiesced_ns,
                                                        &t->quiesced);
        return r < 0 ? r : check_roots(t, p);
}

int tracer_plan_roots_away(const Tracer *t, Plan *p) {
        _cleanup_strv_ Strv own = {};
        int r = arbiter_own_roots(&t->c->arbiter, t->claim, &own);

        return r < 0 ? r : plan_change(t->c, p, &own, true);
}

/* Takes out what was kept and nobody records now. */
void controller_drop_kept(Controller *c) {
        _cleanup_strv_ Strv wanted = {}, unwanted = {};
        int r;

        if (c->kept_roots.n == 0 || c->arbiter.n == 0)
                return;
        r = arbiter_all_roots(&c->arbiter, &wanted);
        if (r >= 0)
                r = strv_pick(&unwanted, &c->kept_roots, &wanted, false);
        if (r >= 0)
                r = controller_change_roots(c, &unwanted, true, NULL, NULL);
        if (r < 0) {
                log_debug("control", "roots of sessions that ended stay: %s", origin_text(r));
                return;
        }
        forget(c, &unwanted);
        strv_done(&c->kept_roots);
}

int tracer_remove_roots(const Tracer *t) {
        _cleanup_strv_ Strv own = {};
        Controller *c = t->c;
        int r = arbiter_own_roots(&c->arbiter, t->claim, &own);

        if (r >= 0)
                r = controller_change_roots(c, &own, true, NULL, NULL);
        if (r >= 0)
                forget(c, &own);
        else if (keep(c, &own) < 0)
                return -ENOMEM;
        return r == -EBUSY ? 0 : r;
}

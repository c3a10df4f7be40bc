/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A tracer of all processes gets a list with one thread that is busy otherwise.  One that has a list
 * already keeps it, for without one it would record everybody for a moment; all in it are listed among
 * those to leave out.  Whoever they fork meanwhile is on both lists as well (linux 6.12
 * kernel/trace/ftrace.c, ftrace_pid_follow_sched_process_fork()), and who was forked before that is
 * found by looking again.
 */

#include "daemon/instances/instance.h"
#include "daemon/tracefs/control.h"

#define PIDS "set_ftrace_pid"
#define NOT_PIDS "set_ftrace_notrace_pid"
#define N_TRIES 5   /* of a write that fails */
#define N_LOOKS 100 /* for children; each is a few microseconds after the last */

bool quiesce_is_needed(const Tracefs *fs) {
        return tracefs_kernel_is_since(fs, 6, 13);
}

static bool is_not_pids(const char *file) {
        return strstr(file, NOT_PIDS);
}

/* Which list of @dir is to be written, and what it says. */
static int choose(const Tracefs *fs, const char *dir, char **ret_file, char **ret_old) {
        const char *file = TRACEFS_PATH("%s" PIDS, dir),
                   *not_pids = TRACEFS_PATH("%s" NOT_PIDS, dir);
        _cleanup_free_ char *old = NULL;
        int r = control_read(fs->fd, file, &old);

        if (r >= 0 && *old != 0) {
                file = not_pids;
                old = mfree(old);
                r = control_read(fs->fd, file, &old);
        }
        if (r < 0)
                return r;
        *ret_file = strdup(file);
        if (!*ret_file)
                return -ENOMEM;
        *ret_old = TAKE_PTR(old);
        return 0;
}

static int choose_all(Quiesce *h, const Strv *dirs) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < dirs->n; i++) {
                _cleanup_free_ char *file = NULL, *old = NULL;

                r = choose(h->ledger->fs, dirs->items[i], &file, &old);
                if (r == -ENOENT || r == -ENODEV) {
                        r = 0;
                        continue;
                }
                r = r ?: strv_add(&h->files, file)
                            ?: strv_add(&h->olds, old)
                            ?: ledger_add(h->ledger, LEDGER_QUIESCE, LEDGER_FILE, file, old);
        }
        return r;
}

/* --- naming nobody ---------------------------------------------------------------------------- */

static int append_words(const Tracefs *fs, const char *file, const Strv *words) {
        int r = -EIO;

        for (unsigned i = 0; r < 0 && i < N_TRIES; i++)
                r = control_append(fs->fd, file, words);
        return r;
}

/* Those in the list that belongs to @file who are not left out yet. */
static int find_tasks(const Tracefs *fs, const char *file, Strv *ret) {
        const char *pids = TRACEFS_PATH("%.*s" PIDS, (int) (strlen(file) - strlen(NOT_PIDS)), file);
        _cleanup_strv_ Strv tasks = {}, left_out = {};

        return control_read_tasks(fs->fd, file, &left_out)
                       ?: control_read_tasks(fs->fd, pids, &tasks)
                       ?: strv_pick(ret, &tasks, &left_out, false);
}

static int leave_all_out(const Tracefs *fs, const char *file) {
        for (unsigned i = 0; i < N_LOOKS; i++) {
                _cleanup_strv_ Strv tasks = {};
                int r = find_tasks(fs, file, &tasks);

                if (r < 0 || tasks.n == 0)
                        return r;
                r = append_words(fs, file, &tasks);
                if (r < 0)
                        return r;
        }
        return ORIGIN(-EBUSY);
}

static int add_self(Strv *ret) {
        return strv_addf(ret, "%d", (int) gettid());
}

static int name_nobody(const Tracefs *fs, const char *file) {
        _cleanup_strv_ Strv self = {};

        if (is_not_pids(file))
                return leave_all_out(fs, file);
        return add_self(&self) ?: append_words(fs, file, &self);
}

/* A list that is not empty is written once more: the kernel frees the one before when no CPU can be
 * looking at it, nor in anything else that began before. */
static int wait_for_cpus(const Tracefs *fs, const Strv *files) {
        for (size_t i = files->n; i-- > 0;) {
                _cleanup_strv_ Strv tasks = {}, one = {};
                int r = control_read_tasks(fs->fd, files->items[i], &tasks);

                if (r >= 0 && tasks.n > 0)
                        r = strv_add(&one, tasks.items[0]);
                if (r == -ENOENT || r == -ENODEV || (r >= 0 && tasks.n == 0))
                        continue;
                return r ?: append_words(fs, files->items[i], &one);
        }
        return 0; /* all are lists that everybody has left: nobody looks anything up */
}

int quiesce_prepare(Quiesce *h, Ledger *l, const Strv *dirs) {
        int r;

        *h = (Quiesce){ .ledger = l };
        r = choose_all(h, dirs);
        return r < 0 || h->files.n == 0 ? r : ledger_commit(l);
}

int quiesce_begin(Quiesce *h, const Strv *dirs) {
        int r;

        strv_done(&h->files);
        strv_done(&h->olds);
        r = choose_all(h, dirs); /* the loop may have written one meanwhile */
        for (size_t i = 0; r >= 0 && i < h->files.n; i++) {
                r = name_nobody(h->ledger->fs, h->files.items[i]);
                if (r == -ENOENT || r == -ENODEV)
                        r = 0;
        }
        return r ?: wait_for_cpus(h->ledger->fs, &h->files);
}

/* --- and back --------------------------------------------------------------------------------- */

static int put_back(const Tracefs *fs, const char *file, const char *old) {
        _cleanup_strv_ Strv ended = {};
        int r = -EIO;

        for (unsigned i = 0; r < 0 && i < N_TRIES; i++) {
                r = control_restore(fs->fd, file, old, &ended);
                if (r == -ENOENT || r == -ENODEV)
                        r = 0;
        }
        return r;
}

int quiesce_end(Quiesce *h) {
        int ret = 0;

        for (size_t i = 0; i < h->files.n && i < h->olds.n; i++) {
                int r = put_back(h->ledger->fs, h->files.items[i], h->olds.items[i]);

                if (r >= 0)
                        ledger_drop(h->ledger, LEDGER_QUIESCE, h->files.items[i], NULL);
                ret = ret ?: r;
        }
        quiesce_done(h);
        return ret;
}

void quiesce_done(Quiesce *h) {
        strv_done(&h->files);
        strv_done(&h->olds);
}

int quiesce_recover(Ledger *l, Strv *ret_dirs) {
        bool has_any = false;
        int ret = 0, r;

        for (size_t i = l->n; i-- > 0;) {
                const LedgerRecord *e = &l->records[i];
                _cleanup_free_ char *now = NULL;

                if (!streq(e->session, LEDGER_QUIESCE))
                        continue;
                has_any = true;
                r = control_read(l->fs->fd, e->file, &now);
                if (r >= 0 && !control_equal(e->file, now, e->old)) {
                        r = put_back(l->fs, e->file, e->old)
                                    ?: strv_addn(ret_dirs, e->file,
                                                 (size_t) (basename(e->file) - e->file));
                }
                if (r >= 0 || r == -ENOENT || r == -ENODEV)
                        ledger_drop(l, LEDGER_QUIESCE, e->file, NULL);
                else
                        ret = ret ?: r;
        }
        r = has_any ? ledger_commit(l) : 0;
        return ret ?: r;
}

/* --- on paper --------------------------------------------------------------------------------- */

static int plan_name_nobody(Plan *p, const char *file) {
        _cleanup_strv_ Strv tasks = {};
        _cleanup_free_ char *now = NULL;

        if (is_not_pids(file)) {
                return find_tasks(p->fs, file, &tasks) ?: plan_append(p, file, &tasks);
        }
        return plan_read(p, file, &now)
                       ?: add_self(&tasks)
                       ?: plan_step(p, PLAN_SELF, file, now, tasks.items[0], NULL);
}

static int plan_wait(Plan *p, const char *file) {
        const PlanStep *last = p->n > 0 ? &p->steps[p->n - 1] : NULL;
        _cleanup_free_ char *word = NULL;

        if (!last || !streq(last->file, file))
                return 0;
        word = strndup(last->value, strcspn(last->value, "\n"));
        return word ? plan_step(p, last->kind, file, NULL, word, NULL) : -ENOMEM;
}

int quiesce_plan(Plan *p, const Strv *dirs, bool begins) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < dirs->n; i++) {
                _cleanup_free_ char *file = NULL, *old = NULL;

                r = choose(p->fs, dirs->items[i], &file, &old);
                if (r >= 0)
                        r = begins ? plan_name_nobody(p, file)
                                   : plan_step(p, PLAN_SET, file, NULL, old, NULL);
                if (r >= 0 && begins && i == dirs->n - 1)
                        r = plan_wait(p, file);
        }
        return r;
}

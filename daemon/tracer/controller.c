/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is armed, and how it ends: an arming that fails half way (controller-arm.c) and a session
 * that ends take the same path, tracer_end(), which leaves every way back to ledger_undo().
 *
 * A tracer that cannot be switched off (somebody holds its trace_pipe_raw open) stays in the list
 * as `ended`, and so does its claim: its roots must stay in set_graph_function, because an empty
 * one means every function.  controller_retry() tries again at every arming and disarming.
 */

#include <fcntl.h>

#include "base/log.h"
#include "daemon/tracer/controller-private.h"
#include "store/store.h"

static void log_warnings(const Strv *warnings) {
        for (size_t i = 0; i < warnings->n; i++)
                log_warning("%s", warnings->items[i]);
}

/* Undoes what sessions without a tracer, and if there is none at all, everybody, left behind; *@n_undone is
 * added to.  0 or -errno. */
static int undo_orphans(Controller *c, size_t *n_undone) {
        _cleanup_strv_ Strv sessions = {}, warnings = {};
        int ret, r;
        size_t n;

        ret = ledger_get_sessions(c->ledger, &sessions);
        for (size_t i = 0; i < sessions.n; i++) {
                bool known = false;

                for (Tracer *t = c->tracers; t; t = t->next)
                        known = known || streq(t->claim->session, sessions.items[i]);
                if (known)
                        continue;
                r = ledger_undo(c->ledger, sessions.items[i], &warnings, &n);
                ret = ret ?: r;
                *n_undone += n;
        }
        if (c->arbiter.n == 0) {
                r = ledger_undo(c->ledger, LEDGER_SHARED, &warnings, &n);
                ret = ret ?: r;
                *n_undone += n;
        }
        log_warnings(&warnings);
        return ret;
}

static void controller_undo_rest(Controller *c) {
        int r = leftovers_claim(c->ledger);

        if (r < 0)
                (void) log_warning_errno(
                        r, "Cannot look for what an earlier ftraced left in %s: %m", c->fs.path);
        r = 0;
        if (c->ledger->n > 0) {
                r = undo_orphans(c, &c->n_restored);
                r = controller_recover_roots(c) ?: r; /* when their tracers are gone */
        }
        c->debt = MIN(r, 0);
        if (r < 0)
                (void) log_warning_errno(r,
                                         "Some changes of an earlier ftraced to %s could not be "
                                         "put back yet: %m",
                                         c->fs.path);
}

void controller_settle(Controller *c) {
        c->keeps = false;
        if (c->fs.fd >= 0)
                controller_undo_rest(c);
}

/* What a predecessor left is undone as soon as it does. */
int controller_attach(Controller *c) {
        int r;

        if (c->fs.fd >= 0)
                return 0;
        r = tracefs_attach(&c->fs, c->wanted_path);
        if (r < 0)
                return r;
        r = quiesce_recover(c->ledger, &c->recovered);
        if (r < 0)
                (void) log_warning_errno(r, "A list of processes could not be put back yet: %m");
        if (!c->keeps)
                controller_undo_rest(c);
        return 0;
}

int controller_new(Controller **ret, const char *tracefs, int store_fd, int ledger_fd, bool keeps,
                   int root_fd) {
        _cleanup_(controller_freep) Controller *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        c->fs = (Tracefs){ .fd = -EBADF, .root_fd = -EBADF };
        c->has_instances = -1;
        c->memory_limit = CONFIG_INIT.max_buffer_memory;
        c->keeps = keeps;
        c->store_fd = store_fd < 0 ? -EBADF : fcntl(store_fd, F_DUPFD_CLOEXEC, 3);
        if (store_fd >= 0 && c->store_fd < 0)
                return ORIGIN(-errno);
        c->fs.root_fd = root_fd < 0 ? open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                    : fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (c->fs.root_fd < 0)
                return ORIGIN(-errno);
        if (tracefs) {
                c->wanted_path = strdup(tracefs);
                if (!c->wanted_path)
                        return -ENOMEM;
        }
        r = ledger_open(&c->ledger, ledger_fd, &c->fs);
        if (r < 0)
                return r;
        (void) controller_attach(c);
        *ret = TAKE_PTR(c);
        return 0;
}

static bool tracer_is_on(const Tracer *t) {
        _cleanup_strv_ Strv users = {};

        /* If it cannot be told, it is. */
        return tracefs_find_graph_users(&t->c->fs, &users) < 0 ||
               strv_contains(&users, t->instance.dir);
}

/* Puts everything back that @t changed, and frees it unless its tracer is still on. */
int tracer_end(Tracer *t) {
        _cleanup_strv_ Strv warnings = {};
        Controller *c = t->c;
        int ret, r = 0;

        t->ended = true;
        ret = ledger_undo(c->ledger, t->claim->session, &warnings, NULL);
        if (ret < 0 && tracer_is_on(t)) {
                log_warnings(&warnings);
                return ret;
        }
        if (t->instance.is_kept) {
                r = tracefs_empty(&c->fs, t->instance.dir);
                ret = ret ?: r;
        }
        if (c->arbiter.n > 1)
                r = tracer_remove_roots(t, NULL);
        tracer_free(t);
        ret = ret ?: r;
        if (c->arbiter.n == 0) {
                r = ledger_undo(c->ledger, LEDGER_SHARED, &warnings, NULL);
                controller_forget_roots(c);
                ret = ret ?: r;
        }
        log_warnings(&warnings);
        return ret;
}

void controller_retry(Controller *c) {
        int r = 0, k;
        size_t n = 0;

        for (Tracer *t = c->tracers, *next; t; t = next) {
                next = t->next;
                k = t->ended ? tracer_end(t) : 0;
                r = r ?: k;
        }
        k = c->ledger->n > 0 ? undo_orphans(c, &n) : 0;
        if (TAKE(c->debt, r ?: k) < 0 && c->debt == 0)
                log_notice("What could not be put back in the kernel has been.");
        if (c->arbiter.n == 0)
                controller_forget_roots(c);
        controller_drop_kept(c);
        if (c->ledger->error < 0)
                (void) ledger_commit(c->ledger);
}

bool controller_owes(const Controller *c) {
        if (c->fs.fd < 0 || c->keeps || c->leaving)
                return false;
        for (const Tracer *t = c->tracers; t && c->debt == 0; t = t->next)
                if (!t->ended)
                        return false; /* the rest is its own */
        return c->ledger->n > 0;
}

const char *controller_debt(const Controller *c) {
        return c->debt < 0 ? strerror(-c->debt) : NULL;
}

void controller_leave(Controller *c) {
        c->leaving = true;
}

void controller_end(Controller *c) {
        for (Tracer *t = c->tracers, *next; t && !c->leaving; t = next) {
                next = t->next;
                (void) tracer_end(t);
        }
        if (c->ledger && c->fs.fd >= 0 && !c->leaving)
                controller_retry(c);
}

int controller_find_left(const Controller *c, Strv *ret) {
        return c->fs.fd < 0 ? -ENOENT : leftovers_find(c->ledger, true, ret);
}

int controller_find_values(Controller *c, Strv *ret_commands) {
        _cleanup_strv_ Strv values = {};

        return c->fs.fd < 0 ? -ENOENT
                            : leftovers_find_values(&c->fs, controller_has_instances(c), true,
                                                    &values, ret_commands);
}

Controller *controller_free(Controller *c) {
        if (!c)
                return NULL;
        controller_end(c);
        while (c->tracers)
                tracer_free(c->tracers);
        arbiter_done(&c->arbiter);
        strv_done(&c->kept_roots);
        strv_done(&c->stale_roots);
        strv_done(&c->recovered);
        functions_done(&c->functions);
        c->ledger = ledger_free(c->ledger);
        tracefs_detach(&c->fs);
        safe_close(c->fs.root_fd);
        safe_close(c->store_fd);
        free(c->wanted_path);
        return mfree(c);
}

const char *controller_tracefs(const Controller *c) {
        return c->fs.fd >= 0 ? c->fs.path : NULL;
}

bool controller_is_real(const Controller *c) {
        return c->fs.is_real;
}

/* The place is looked for when the daemon starts. */
static const char *ledger_way_out(const Ledger *l, int error) {
        if (error == -ENAMETOOLONG)
                return "; it is named for the store's path: give ftraced a shorter one with "
                       "--store";
        return l->dir_fd >= 0
                       ? store_way_out(error)
                       : "; mend that, or name another place with FTRACED_LEDGERS, and restart "
                         "ftraced";
}

int controller_refuse_ledger(const Controller *c, int error, Refusal *refusal) {
        _cleanup_free_ char *where = ledger_failed_where(c->ledger, error);

        return where ? refusal_set(refusal, REFUSAL_SYSTEM_ERROR,
                                   json_pack("{si}", "errno", -error),
                                   "cannot record: writing the ledger in %s failed: %s%s. The "
                                   "kernel is as it was.",
                                   where, origin_text(error), ledger_way_out(c->ledger, error))
                     : 0;
}

size_t controller_n_restored(const Controller *c) {
        return c->n_restored;
}

/* Linux 6.11 kernel/trace/trace_functions_graph.c, .allow_instances. */
bool controller_guess_instances(Controller *c) {
        return c->has_instances >= 0 ? c->has_instances > 0
                                     : tracefs_kernel_is_since(&c->fs, 6, 11);
}

bool controller_has_instances(Controller *c) {
        if (c->has_instances < 0 && background_is_busy(c->background))
                return controller_guess_instances(
                        c); /* who arms finds out, and nobody waits for it */
        if (controller_attach(c) >= 0 && c->has_instances < 0 &&
            tracefs_has_tracer(&c->fs, "", "function_graph") > 0)
                c->has_instances = instance_probe(c->ledger);
        return c->has_instances > 0;
}

bool controller_has_functions(const Controller *c) {
        return c->fs.fd >= 0 && functions_are_current(&c->functions, &c->fs);
}

int controller_load_functions(Controller *c) {
        int r = controller_attach(c);

        if (r < 0)
                return r;
        if (!controller_has_functions(c)) /* a task may be comparing names with those of before */
                background_settle(c->background);
        return functions_load(&c->functions, &c->fs);
}

int controller_list_functions(Controller *c, size_t *ret_n) {
        int r = controller_load_functions(c), fd;

        if (r < 0)
                return r;
        fd = functions_open_list(&c->functions);
        if (fd >= 0 && ret_n)
                *ret_n = c->functions.n;
        return fd;
}

void controller_set_aside(Controller *c, Background *background) {
        c->background = background;
}

void controller_set_memory_limit(Controller *c, ConfigShare limit) {
        c->memory_limit = limit;
        c->generation++;
}

MemoryUse controller_memory_use(const Controller *c) {
        MemoryUse use = { .limit = c->memory_limit };

        for (const Tracer *t = c->tracers; t; t = t->next)
                use.held_bytes += t->buffer_bytes;
        return use;
}

json_t *controller_check(Controller *c) {
        _cleanup_strv_ Strv ours = {};
        bool was_lost;

        background_settle(c->background); /* half of a change would look like a fault */
        was_lost = ledger_is_lost(c->ledger);
        if (was_lost)
                (void) ledger_commit(c->ledger);
        (void) controller_has_instances(c);
        if (controller_own_dirs(c, &ours) < 0)
                return NULL;
        return host_check(&(HostFacts){ .fs = &c->fs,
                                        .ledger = c->ledger,
                                        .ledger_was_lost = was_lost,
                                        .has_instances = c->has_instances,
                                        .ours = &ours,
                                        .n_live = c->arbiter.n,
                                        .memory = controller_memory_use(c) });
}

int tracer_disarm(Tracer *t) {
        Controller *c = t->c;
        int r;

        background_settle(c->background);
        r = tracer_end(t);
        if (r >= 0)
                controller_retry(c);
        else
                c->debt = r;
        return r;
}

/* --- the black box ------------------------------------------------------------------------------ */

int controller_find_black_box(Controller *c, BlackBox *ret) {
        return controller_attach(c) ?: black_box_find(&c->fs, ret);
}

bool controller_note_in_memory(Controller *c, SessionMeta *m) {
        bool is_new = false;
        BlackBox b = {};

        if (black_box_find(&c->fs, &b) != 0)
                return false;
        for (size_t i = 0; i < b.instance.n_cpus; i++) {
                const InstanceCpu *cpu = &b.instance.cpus[i];
                CpuAccount *account = session_meta_account(m, cpu->cpu);

                if (account && account->in_memory == 0 && cpu->n_waiting > 0) {
                        account->in_memory = cpu->n_waiting;
                        is_new = true;
                }
        }
        instance_done(&b.instance);
        return is_new;
}

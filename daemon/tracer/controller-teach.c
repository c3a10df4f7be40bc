/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What somebody else saw, who recorded these roots elsewhere or otherwise, is learned as if a session had
 * seen it here.  Names are all that is believed, and of these only such as this kernel has: what is hooked
 * in vain costs little, and what is missing is learned again.
 */

#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/name.h"
#include "daemon/tracer/controller-private.h"

#define MAX_RELEASE_BYTES 4096

static int read_release(const Controller *c, char **ret) {
        int r = file_read(c->fs.root_fd, "proc/sys/kernel/osrelease", ret, NULL, MAX_RELEASE_BYTES);

        if (r >= 0)
                (*ret)[strcspn(*ret, "\n")] = 0;
        return r;
}

static int refuse_kernel(Refusal *refusal, const char *kernel, const char *running) {
        char quoted[NAME_QUOTE_MAX];

        if (!kernel)
                return refusal_set_of(
                        refusal, REFUSAL_OTHER_KERNEL, "running", running,
                        "it is not known under which kernel it was recorded, and this "
                        "is %s; if that is the same, --force learns from it",
                        running);
        name_quote(quoted, kernel);
        return refusal_set(refusal, REFUSAL_OTHER_KERNEL,
                           json_pack("{s:s, s:s}", "kernel", quoted, "running", running),
                           "it was recorded under kernel %s, and this is %s, which may call other "
                           "functions: learn from a recording under %s",
                           quoted, running, running);
}

/* The roots that there are here; there is one at least.  0, REFUSED, -errno. */
static int keep_roots(const Controller *c, const Strv *roots, ControllerTaught *t,
                      Refusal *refusal) {
        _cleanup_strv_ Strv found = {}, notrace = {};
        Spec spec = SPEC_INIT;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < roots->n; i++)
                r = strv_add(functions_contain(&c->functions, roots->items[i]) ? &t->roots
                                                                               : &t->missing,
                             roots->items[i]);
        if (r < 0 || t->roots.n > 0)
                return r;
        spec.functions = (Strv){ .items = roots->items, .n = 1 };
        return admit_names(&c->functions, &spec, &found, &notrace, refusal);
}

/* What is known of the roots from now on. */
static int look_up(const Controller *c, ControllerTaught *t) {
        _cleanup_lean_cache_ LeanCache all = {};
        char key[LEAN_KEY_CHARS + 1];
        int r = lean_cache_load(&all, c->store_fd, c->fs.root_fd, &c->functions, &t->roots, key);

        if (r == -ENOENT)
                return 0;
        if (r != 0)
                return r < 0 ? r : ORIGIN(-EBADMSG);
        t->n_known = all.n;
        t->n_known_calls = all.n_calls;
        return 0;
}

/* They were not written down. */
static int refuse_many(const ControllerTaught *t, Refusal *refusal) {
        return refusal_set(refusal, REFUSAL_TOO_MANY_FUNCTIONS,
                           json_pack("{s:s, s:I, s:i}", "pattern", t->roots.items[0], "count",
                                     (json_int_t) t->n_functions, "limit", LEAN_MAX_FUNCTIONS),
                           "with these, more functions would be known of %s than lean hooks (%i)",
                           t->roots.items[0], LEAN_MAX_FUNCTIONS);
}

int controller_teach(Controller *c, const Strv *roots, const char *kernel, bool force,
                     const LeanCache *new, ControllerTaught *ret, Refusal *refusal) {
        _cleanup_(controller_taught_done) ControllerTaught t = {};
        _cleanup_free_ char *running = NULL;
        int r = read_release(c, &running);

        if (r < 0)
                return r;
        if (kernel ? !streq(kernel, running) : !force)
                return refuse_kernel(refusal, kernel, running);
        r = controller_load_functions(c);
        if (r == 0)
                r = keep_roots(c, roots, &t, refusal);
        if (r != 0)
                return r;
        for (size_t i = 0; i < new->n; i++)
                t.n_functions += functions_contain(&c->functions, new->functions[i].name);
        r = controller_learn(c, &t.roots, running, new);
        if (r >= 0)
                r = look_up(c, &t);
        if (r >= 0 && t.n_known < t.n_functions)
                return refuse_many(&t, refusal);
        if (r >= 0)
                *ret = TAKE(t, (ControllerTaught){});
        return r;
}

void controller_taught_done(ControllerTaught *t) {
        strv_done(&t->roots);
        strv_done(&t->missing);
}

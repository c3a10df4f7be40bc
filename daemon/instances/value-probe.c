/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which of the forms a kernel takes is tried out, for only trying tells whether it takes one of a function: each
 * is written down, tried, and crossed out if it was refused.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "base/origin.h"
#include "daemon/admission/admission.h"
#include "daemon/instances/value-probe.h"
#include "store/event-choice.h"

#define DYNAMIC_EVENTS "dynamic_events"
#define OWN_VALUES "options/funcgraph-retval"
#define SYSTEM "ftraced"
#define README_MAX ((size_t) 64 << 10)
#define ERROR_LOG_MAX ((size_t) 64 << 10)
#define WHY_MAX 192
#define FORM_KRETPROBE (ELEMENTSOF(forms) - 1)

static const struct {
        const char *type; /* with how many calls at once */
        char letter;
        const char *suffix;
} forms[] = {
        { "f1024", 'f', "%return" },
        { "f", 'f', "%return" },
        { "r1024", 'r', "" },
};

/* What traps and returns call, which is traced like everything else (linux 5.10 and 6.1 kernel/kprobes.c,
 * arch/x86/kernel/kprobes/). */
static const char *const handlers[] = {
        "kprobe_ftrace_handler",
        "kprobe_int3_handler",
        "trampoline_handler",
        "kretprobe_rethook_handler",
        "arch_rethook_trampoline_callback",
        "rethook_trampoline_handler",
        "kprobe_breakpoint_handler",
        "optimized_callback",
};

bool value_probes_are_wanted(const Tracefs *fs, const Spec *spec) {
        return (spec->retval || spec->retval_functions.n > 0) &&
               faccessat(fs->fd, OWN_VALUES, F_OK, 0) < 0;
}

int value_probe_choose(const Functions *f, const Tracefs *fs, const Spec *spec, const Strv *roots,
                       Strv *ret, Refusal *refusal) {
        _cleanup_strv_ Strv all = {};
        size_t n;
        int r;

        r = functions_expand(f, &spec->retval_functions, VALUE_PROBES_MAX, &all, &n);
        if (r == FUNCTIONS_E_NOTHING)
                return refuse_no_function(f, spec->retval_functions.items[n], refusal);
        if (r == FUNCTIONS_E_COSTLY)
                return refusal_set(refusal, REFUSAL_INVALID_SPEC,
                                   json_pack("{ss}", "field", "retval_functions"),
                                   "--retval=%s: that pattern takes too long to compare; use a "
                                   "simpler one.",
                                   spec->retval_functions.items[n]);
        if (r < 0 || !value_probes_are_wanted(fs, spec))
                return r;
        for (size_t i = 0; r >= 0 && spec->retval && i < roots->n; i++)
                r = strv_add(&all, roots->items[i]);
        if (r < 0)
                return r;
        strv_sort_unique(&all);
        if (n > VALUE_PROBES_MAX || all.n > VALUE_PROBES_MAX)
                return refusal_set(refusal, REFUSAL_INVALID_SPEC,
                                   json_pack("{ss}", "field", "retval_functions"),
                                   "what functions return is recorded by a probe of each on this "
                                   "kernel, of at most %d, and these are %zu: name fewer with "
                                   "--retval=FUNCTION.",
                                   VALUE_PROBES_MAX, MAX(n, all.n));
        *ret = TAKE(all, (Strv){});
        return 0;
}

/* As far as it can be told without trying. */
static bool has_fprobes(const Tracefs *fs) {
        _cleanup_free_ char *text = NULL;

        return file_read(fs->fd, "README", &text, NULL, README_MAX) >= 0 &&
               strstr(text, "f[:[<group>/]");
}

int value_probe_find_handlers(const Functions *f, const Tracefs *fs, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && !has_fprobes(fs) && i < ELEMENTSOF(handlers); i++)
                if (functions_contain(f, handlers[i]))
                        r = strv_add(ret, handlers[i]);
        return r;
}

/* What the kernel says of the last thing that it refused: behind the last ": error: " (linux 6.1
 * kernel/trace/trace.c, tracing_log_err()). */
static void read_why(const Tracefs *fs, int error, char ret[static WHY_MAX]) {
        static const char mark[] = ": error: ";
        _cleanup_free_ char *text = NULL;
        const char *last = NULL;

        if (file_read(fs->fd, "error_log", &text, NULL, ERROR_LOG_MAX) >= 0)
                for (const char *s = text; (s = strstr(s, mark)); last = s)
                        s += strlen(mark);
        if (last)
                (void) snprintf(ret, WHY_MAX, "%.*s", (int) strcspn(last, "\n"), last);
        else
                (void) snprintf(ret, WHY_MAX, "%s", origin_text(error));
}

static int make_line(char **ret, const char *session, size_t form, size_t i, const char *function,
                     char name[static EVENT_WORD_MAX + 1]) {
        (void) snprintf(name, EVENT_WORD_MAX + 1, "ftraced_%016" PRIx64 "_%c%zu",
                        hash_bytes(HASH_BYTES_FIRST, session, strlen(session)), forms[form].letter,
                        i);
        return asprintf(ret, "%s:" SYSTEM "/%s %s%s ret=$retval", forms[form].type, name, function,
                        forms[form].suffix) < 0
                       ? -ENOMEM
                       : 0;
}

/* One line, in the ledger as long as it may be there.  0 or -errno. */
static int try_line(const Tracefs *fs, Ledger *l, const char *session, const char *line) {
        _cleanup_plan_ Plan plan = {};
        const char *file;
        int r = plan_add_line(&plan, l, session, DYNAMIC_EVENTS, line);

        if (r >= 0)
                r = ledger_commit(l, fs->path);
        if (r >= 0)
                r = plan_apply(&plan, fs, &file);
        if (r < 0)
                ledger_drop_line(l, session, DYNAMIC_EVENTS, line);
        return r;
}

/* *@form: where to begin, and which one it was. */
static int make_one(Plan *p, const Tracefs *fs, Ledger *l, const char *session, size_t *form,
                    size_t i, const char *function, Strv *ret_events) {
        char name[EVENT_WORD_MAX + 1];
        int r = -EINVAL;

        for (size_t k = p->is_dry && !has_fprobes(fs) ? FORM_KRETPROBE : *form;
             r < 0 && r != -ENOMEM && k < ELEMENTSOF(forms); k++) {
                _cleanup_free_ char *line = NULL;

                r = make_line(&line, session, k, i, function, name);
                if (r >= 0)
                        r = p->is_dry ? plan_add_line(p, l, session, DYNAMIC_EVENTS, line)
                                      : try_line(fs, l, session, line);
                if (r >= 0)
                        *form = k;
        }
        return r < 0 ? r : strv_addf(ret_events, SYSTEM ":%s:%s", name, function);
}

int value_probe_make(Plan *p, const Tracefs *fs, Ledger *l, const char *session,
                     const Strv *functions, const Strv *named, Strv *ret_events, Strv *warnings,
                     Refusal *refusal) {
        size_t form = 0;
        int r = 0;

        for (size_t i = 0; i < functions->n; i++) {
                const char *function = functions->items[i];
                char why[WHY_MAX];

                r = make_one(p, fs, l, session, &form, i, function, ret_events);
                if (r == -ENOMEM || ledger_is_stale(l))
                        return r;
                if (r >= 0)
                        continue;
                read_why(fs, r, why);
                if (strv_contains(named, function) || (i + 1 == functions->n && ret_events->n == 0))
                        return refusal_set(
                                refusal, REFUSAL_NOT_SUPPORTED, json_pack("{ss}", "what", "retval"),
                                "what %s returns cannot be recorded: the kernel does not "
                                "take a probe of it: %s. Name others with "
                                "--retval=FUNCTION.",
                                function, why);
                r = strv_addf(warnings, "what %s returns is not recorded: %s", function, why);
                if (r < 0)
                        return r;
        }
        return 0;
}

int value_probe_plan(Plan *p, Ledger *l, const char *session, const Instance *i,
                     const Strv *events) {
        int r = 0;

        for (size_t k = 0; r >= 0 && k < events->n; k++) {
                _cleanup_free_ char *file = NULL;
                char path[EVENT_PATH_MAX];
                EventChoice e;

                if (!event_choice_parse(&e, events->items[k]))
                        continue;
                event_choice_path(path, &e, "enable");
                if (asprintf(&file, "%s%s", instance_dir(i), path) < 0)
                        return -ENOMEM;
                r = ledger_add(l, session, LEDGER_FILE, file, "0");
                if (r >= 0)
                        r = plan_step(p, PLAN_SET, file, "0", "1", NULL);
                if (r >= 0)
                        p->steps[p->n - 1].is_new = instance_name(i) != NULL;
        }
        return r;
}

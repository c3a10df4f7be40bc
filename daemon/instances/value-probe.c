/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which of the forms a kernel takes is tried out, for only trying tells whether it takes one of a function: each
 * is written down, tried, and crossed out if it was refused.
 */

#include "base/hash.h"
#include "base/io.h"
#include "daemon/admission/admission.h"
#include "daemon/instances/instance.h"
#include "types/args-choice.h"
#include "meta/event-choice.h"

#define BTF "sys/kernel/btf/"
#define DYNAMIC_EVENTS "dynamic_events"
#define SYSTEM "ftraced"
#define README_MAX ((size_t) 64 << 10)
#define ERROR_LOG_MAX ((size_t) 64 << 10)
#define WHY_MAX 192
#define RETURNED "ret=$retval"
#define STACK "stacktrace"
#define NO_TYPES "the kernel does not tell its types (/sys/kernel/btf/vmlinux is missing)"
#define GIVEN "a0=$arg1:x64 a1=$arg2:x64 a2=$arg3:x64 a3=$arg4:x64 a4=$arg5:x64 a5=$arg6:x64"

typedef struct Form {
        const char *type; /* with how many calls at once */
        char letter;
        const char *rest; /* behind the function's name */
} Form;

#define FORMS_MAX 3

static const struct {
        const char *own; /* function_graph records it where this is; NULL: never */
        const char *what, *field, *option, *fewer, *others;
        size_t flag, list;     /* in a Spec; 0: there is no list */
        Form forms[FORMS_MAX]; /* the last is of kprobes */
        size_t n_forms;
} kinds[_VALUE_KIND_N] = {
        [VALUE_ARGUMENTS] = { "options/funcgraph-args",
                              "what is given to",
                              "args_functions",
                              "--args",
                              "name fewer with --args=FUNCTION",
                              "Name others with --args=FUNCTION.",
                              offsetof(Spec, args),
                              offsetof(Spec, args_functions),
                              { { "f", 'e', "" }, { "p", 'p', "" } },
                              2 },
        [VALUE_RETURNED] = { "options/funcgraph-retval",
                             "what is returned by",
                             "retval_functions",
                             "--retval",
                             "name fewer with --retval=FUNCTION",
                             "Name others with --retval=FUNCTION.",
                             offsetof(Spec, retval),
                             offsetof(Spec, retval_functions),
                             { { "f1024", 'f', "%return " RETURNED },
                               { "f", 'f', "%return " RETURNED },
                               { "r1024", 'r', " " RETURNED } },
                             3 },
        [VALUE_CALLERS] = { NULL,
                            "what calls",
                            "kernel_stack",
                            "--kernel-stack",
                            "record fewer",
                            "Record it without --kernel-stack.",
                            offsetof(Spec, kernel_stack),
                            0,
                            { { "f", 'c', "" }, { "p", 'k', "" } },
                            2 },
};

static const Strv *list_of(ValueKind kind, const Spec *spec) {
        static const Strv none = {};

        return kinds[kind].list > 0 ? (const void *) ((const char *) spec + kinds[kind].list)
                                    : &none;
}

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

/* True if the spec asks for it of all roots. */
static bool is_of_roots(ValueKind kind, const Spec *spec) {
        return *(const bool *) ((const char *) spec + kinds[kind].flag) ||
               (kind == VALUE_CALLERS && spec->user_stack);
}

/* True if the spec names @function, not as one of a pattern. */
static bool is_named(ValueKind kind, const Spec *spec, const char *function) {
        const Strv *named = list_of(kind, spec);
        size_t n = strcspn(function, " ");

        for (size_t i = 0; i < named->n; i++)
                if (strncmp(named->items[i], function, n) == 0 && strchr("(", named->items[i][n]))
                        return true;
        return false;
}

static int choose_functions(ValueKind kind, const Functions *f, const Tracefs *fs, const Spec *spec,
                            const Strv *roots, Strv *ret, Refusal *refusal) {
        const Strv *list = list_of(kind, spec);
        _cleanup_strv_ Strv all = {}, named = {};
        size_t n;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < list->n; i++)
                if (!args_choice_fields(list->items[i]))
                        r = strv_add(&named, list->items[i]);
        if (r >= 0)
                r = functions_expand(f, &named, VALUE_PROBES_MAX, &all, &n);
        if (r == FUNCTIONS_E_NOTHING)
                return refuse_no_function(f, named.items[n], refusal);
        if (r == FUNCTIONS_E_COSTLY)
                return refusal_set_of(
                        refusal, REFUSAL_INVALID_SPEC, "field", kinds[kind].field,
                        "%s=%s: that pattern takes too long to compare; use a simpler "
                        "one.",
                        kinds[kind].option, named.items[n]);
        if (r < 0 || (kinds[kind].own && faccessat(fs->fd, kinds[kind].own, F_OK, 0) >= 0))
                return r;
        if (is_of_roots(kind, spec))
                r = strv_extend(&all, roots);
        if (r < 0)
                return r;
        strv_sort_unique(&all);
        if (n > VALUE_PROBES_MAX || all.n > VALUE_PROBES_MAX)
                return refusal_set_of(
                        refusal, REFUSAL_INVALID_SPEC, "field", kinds[kind].field,
                        "%s functions is recorded by a probe of each on this kernel, of "
                        "at most %d, and these are %zu: %s.",
                        kinds[kind].what, VALUE_PROBES_MAX, MAX(n, all.n), kinds[kind].fewer);
        *ret = TAKE(all, (Strv){});
        return 0;
}

int value_probe_choose(ValueKind kind, const Functions *f, const Tracefs *fs, const Spec *spec,
                       const Strv *roots, Strv *ret, Strv *warnings, Refusal *refusal) {
        _cleanup_strv_ Strv given = {};

        if (kind != VALUE_ARGUMENTS)
                return choose_functions(kind, f, fs, spec, roots, ret, refusal);
        return choose_functions(kind, f, fs, spec, roots, &given, refusal)
                       ?: value_fields_choose(f, fs, spec, roots, &given, GIVEN, ret, warnings,
                                              refusal);
}

uint64_t value_probe_hash(const char *session) {
        return hash_bytes(HASH_BYTES_FIRST, session, strlen(session));
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

/* *@form: where to begin, and which one it was.  @name: the event's, which ends with the form's letter and @i if it has
 * one. */
static int try_forms(Plan *p, const Form *forms, size_t n_forms, size_t *form, const char *function,
                     size_t i, char name[static EVENT_WORD_MAX + 1]) {
        int r = -EINVAL;

        for (size_t k = *form; r < 0 && r != -ENOMEM && k < n_forms; k++) {
                _cleanup_free_ char *line = NULL;

                if (forms[k].letter)
                        (void) snprintf(name, EVENT_WORD_MAX + 1, "ftraced_%016" PRIx64 "_%c%zu",
                                        value_probe_hash(p->session), forms[k].letter, i);
                if (asprintf(&line, "%s:" SYSTEM "/%s %s%s", forms[k].type, name, function,
                             forms[k].rest) < 0)
                        return -ENOMEM;
                r = plan_put_line(p, DYNAMIC_EVENTS, line);
                if (r >= 0)
                        *form = k;
        }
        return r;
}

/* A module that was built without the kernel's types at hand has none; of a kernel without, the session says so. */
static int warn_of_module(const Functions *f, const char *function, int n_name, Strv *warnings) {
        _cleanup_free_ char *alone = strndup(function, (size_t) n_name), *path = NULL,
                            *warning = NULL;
        const char *module = alone ? functions_find_module(f, alone) : NULL;
        int n = module ? (int) strcspn(module + 1, "]") : 0;

        if (!module)
                return alone ? 0 : -ENOMEM;
        if (asprintf(&path, BTF "%.*s", n, module + 1) < 0 ||
            asprintf(&warning,
                     "module %.*s does not say what its functions' arguments are (/%s is missing): "
                     "they are recorded, but cannot be drawn",
                     n, module + 1, path) < 0)
                return -ENOMEM;
        if (faccessat(f->root_fd, BTF "vmlinux", F_OK, 0) < 0 ||
            faccessat(f->root_fd, path, F_OK, 0) >= 0 || errno != ENOENT ||
            strv_contains(warnings, warning))
                return 0;
        return strv_add(warnings, warning);
}

int value_probe_make(ValueKind kind, Plan *p, const Functions *f, const Strv *functions,
                     const Spec *spec, Strv *ret_events, Strv *warnings, Refusal *refusal) {
        size_t n_forms = kinds[kind].n_forms, n_made = 0,
               form = p->is_dry && !has_fprobes(p->fs) ? n_forms - 1 : 0;

        for (size_t i = 0; i < functions->n; i++) {
                const char *function = functions->items[i];
                int n_name = (int) strcspn(function, " ");
                char name[EVENT_WORD_MAX + 1], why[WHY_MAX];
                int r = try_forms(p, kinds[kind].forms, n_forms, &form, function, i, name)
                                ?: strv_addf(ret_events, SYSTEM ":%s:%.*s", name, n_name, function);

                if (r >= 0 && kind == VALUE_ARGUMENTS && strstr(function, " a0="))
                        r = warn_of_module(f, function, n_name, warnings);
                if (r == -ENOMEM || p->ledger->error < 0)
                        return r;
                n_made += r >= 0;
                if (r >= 0)
                        continue;
                read_why(p->fs, r, why);
                if (is_named(kind, spec, function) || (i + 1 == functions->n && n_made == 0))
                        return refusal_set(refusal, REFUSAL_NOT_SUPPORTED,
                                           json_pack("{ss}", "what", kinds[kind].option + 2),
                                           "%s %.*s cannot be recorded: the kernel refuses a probe "
                                           "there: %s. %s",
                                           kinds[kind].what, n_name, function, why,
                                           kinds[kind].others);
                r = strv_addf(warnings, "%s %.*s is not recorded: %s", kinds[kind].what, n_name,
                              function, why);
                if (r < 0)
                        return r;
        }
        return 0;
}

int value_probe_make_event(Plan *p, const char *function, const char *name, Refusal *refusal) {
        static const Form forms[] = { { "f1024", 0, "%return " RETURNED },
                                      { "f", 0, "%return " RETURNED },
                                      { "r1024", 0, " " RETURNED ":s32" } };
        size_t form = has_fprobes(p->fs) ? 0 : ELEMENTSOF(forms) - 1;
        char own[EVENT_WORD_MAX + 1], why[WHY_MAX];
        int r;

        (void) snprintf(own, sizeof(own), "%s", name);
        r = try_forms(p, forms, ELEMENTSOF(forms), &form, function, 0, own);
        if (r >= 0 || r == -ENOMEM || p->ledger->error < 0)
                return MIN(r, 0);
        read_why(p->fs, r, why);
        return refusal_set(refusal, REFUSAL_NOT_SUPPORTED, json_pack("{ss}", "what", "on-return"),
                           "return:%s cannot be a trigger: the kernel refuses a probe there: %s.",
                           function, why);
}

/* --- whose tasks are ----------------------------------------------------------------------------- */

#define OWNERS_FIELDS_MAX 4

/* What owner/owners.h reads: members behind the first argument are a0 and so on. */
static const struct {
        const char *function, *type;
        char letter;
        const char *members[OWNERS_FIELDS_MAX];
} owner_probes[] = {
        { "wake_up_new_task",
          "task_struct",
          'w',
          { "pid", "tgid", "cred.uid.val", "cgroups.dfl_cgrp.kn.id" } },
        { "commit_creds", "cred", 'u', { "uid.val" } },
};

static const char *const owner_events[] = { "cgroup:cgroup_attach_task", "cgroup:cgroup_mkdir",
                                            "sched:sched_process_fork" };

/* " a0=+8($arg1):u32 ..."; 0, MEMBER_E_REFUSED, MEMBER_E_NONE, -ENOMEM. */
static int find_members(const Prototypes *types, size_t probe, Buf *ret,
                        char why[static MEMBER_WHY_MAX]) {
        for (size_t i = 0; i < OWNERS_FIELDS_MAX && owner_probes[probe].members[i]; i++) {
                char place[MEMBER_PLACE_MAX];
                Member m;
                int r = member_of_struct(&m, types, owner_probes[probe].type)
                                ?: member_walk(&m, types, owner_probes[probe].members[i], why);

                if (r != 0)
                        return r;
                buf_printf(ret, " a%zu=%s:u%d", i, member_place(&m, place),
                           m.n_bytes == 8 ? 64 : 32);
        }
        return ret->error;
}

/* A probe of @function that records @rest.  0; 1 and why not: it cannot be made; -errno. */
static int make_own_probe(Plan *p, const char *function, char letter, const char *rest,
                          Strv *ret_events, char why[static MEMBER_WHY_MAX]) {
        char name[EVENT_WORD_MAX + 1];
        size_t form = 0;
        int r = try_forms(p, (Form[]){ { "f", letter, rest }, { "p", letter, rest } }, 2, &form,
                          function, 0, name);

        if (r >= 0)
                return strv_addf(ret_events, SYSTEM ":%s:%s", name, function);
        if (r == -ENOMEM || p->ledger->error < 0)
                return r;
        read_why(p->fs, r, why);
        return 1;
}

static int make_owner_probe(Plan *p, const Prototypes *types, size_t probe, Strv *ret_events,
                            char why[static MEMBER_WHY_MAX]) {
        _cleanup_buf_ Buf members = BUF_INIT;
        _cleanup_free_ char *rest = NULL;

        return find_members(types, probe, &members, why)
                       ?: buf_take_string(&members, &rest)
                       ?: make_own_probe(p, owner_probes[probe].function,
                                         owner_probes[probe].letter, rest, ret_events, why);
}

/* One of the kernel's events, if it is there and the spec does not ask for it. */
static int add_own_event(Plan *p, const Spec *spec, const char *event, Strv *ret_events) {
        char path[EVENT_PATH_MAX];
        EventChoice e, other;

        if (!event_choice_parse(&e, event))
                return 0;
        for (size_t k = 0; k < spec->events.n; k++)
                if (event_choice_parse(&other, spec->events.items[k]) && streq(other.name, e.name))
                        return 0;
        event_choice_path(path, &e, "enable");
        if (faccessat(p->fs->fd, path, F_OK, 0) < 0)
                return 0;
        return strv_add_new(ret_events, event);
}

int value_probe_make_owners(Plan *p, const Functions *f, const Spec *spec, Strv *ret_events,
                            Strv *warnings) {
        _cleanup_(prototypes_freep) Prototypes *types = NULL;
        char why[MEMBER_WHY_MAX] = NO_TYPES;
        int r = spec->whose ? value_types_read(f->root_fd, &types) : 0;

        if (r == -ENOMEM || !spec->whose)
                return r;
        r = types ? 0 : 1;
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(owner_probes); i++)
                r = make_owner_probe(p, types, i, ret_events, why);
        if (r > 0)
                r = strv_addf(warnings,
                              "whose tasks are that come and go between two looks is not known: %s",
                              why) < 0
                            ? -ENOMEM
                            : 1;
        /* Forks tell nothing that the probe does not. */
        for (size_t i = 0, n = ELEMENTSOF(owner_events) - (r == 0); r >= 0 && i < n; i++)
                r = add_own_event(p, spec, owner_events[i], ret_events);
        return MIN(r, 0);
}

/* --- what programs have mapped --------------------------------------------------------------------- */

/* Called for each new mapping, whether somebody counts or not (linux 5.10 to 7.2 mm/mmap.c, mm/vma.c, mm/mprotect.c). */
#define MAPS_FUNCTION "perf_event_mmap"
#define MAPS_LETTER 'm'
#define MAPS_FILTER "x_flags & 4" /* VM_EXEC */
static const char *const maps_fields[] = {
        "tgid=vma.vm_mm.owner.tgid:d",
        "mm=vma.vm_mm:x",
        "start=vma.vm_start:x",
        "end=vma.vm_end:x",
        "pgoff=vma.vm_pgoff:u",
        "flags=vma.vm_flags:x",
        "mapped=vma.vm_file:x", /* 0: no file, and what follows of it has not been read */
        "dev=vma.vm_file.f_inode.i_sb.s_dev:dev",
        "ino=vma.vm_file.f_inode.i_ino:u",
        "file=vma.vm_file.f_path.dentry:deep",
};
/* A program's maps are new then, or its parent's. */
static const char *const maps_events[] = { "sched:sched_process_exec", "sched:sched_process_fork" };

static int make_maps_probe(Plan *p, const Prototypes *types, Strv *ret_events,
                           char why[static MEMBER_WHY_MAX]) {
        _cleanup_free_ char *fields = NULL;

        return value_fields_of(types, MAPS_FUNCTION, maps_fields, ELEMENTSOF(maps_fields), &fields,
                               why)
                       ?: make_own_probe(p, MAPS_FUNCTION, MAPS_LETTER, fields, ret_events, why);
}

int value_probe_make_maps(Plan *p, const Functions *f, const Spec *spec, Strv *ret_events,
                          Strv *warnings) {
        _cleanup_(prototypes_freep) Prototypes *types = NULL;
        char why[MEMBER_WHY_MAX] = NO_TYPES;
        int r = spec->user_stack ? value_types_read(f->root_fd, &types) : 0;

        if (r == -ENOMEM || !spec->user_stack)
                return r;
        r = types ? make_maps_probe(p, types, ret_events, why) : 1;
        if (r > 0)
                r = strv_addf(warnings,
                              "functions of programs that begin later will have no names: %s", why);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(maps_events); i++)
                r = add_own_event(p, spec, maps_events[i], ret_events);
        return r;
}

int value_probe_plan(Plan *p, const Instance *i, const Spec *spec, const Strv *events) {
        int r = 0;

        for (size_t k = 0; r >= 0 && k < events->n; k++) {
                char path[EVENT_PATH_MAX];
                const char *file;
                EventChoice e;

                if (!event_choice_parse(&e, events->items[k]))
                        continue;
                if (streq(e.system, SYSTEM) && strrchr(e.name, '_')[1] == MAPS_LETTER) {
                        event_choice_path(path, &e, "filter");
                        r = instance_plan_file(i, p, path, MAPS_FILTER, NULL);
                }
                if (r < 0)
                        return r;
                event_choice_path(path, &e, "enable");
                file = TRACEFS_PATH("%s%s", i->dir, path);
                r = ledger_add(p->ledger, p->session, LEDGER_FILE, file, "0")
                            ?: plan_step(p, PLAN_SET, file, "0", "1", NULL);
                if (r >= 0)
                        p->steps[p->n - 1].is_new = i->name != NULL;
                if (r < 0 || !spec->kernel_stack || !streq(e.system, SYSTEM) ||
                    !strchr("ck", strrchr(e.name, '_')[1]))
                        continue;
                event_choice_path(path, &e, "trigger");
                r = plan_put_line(p, TRACEFS_PATH("%s%s", i->dir, path), STACK);
        }
        return r;
}

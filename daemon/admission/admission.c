/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A refusal is one sentence that names the object, the value and the way out; most of this file
 * is finding out what to put into it.
 */

#include <inttypes.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/admission/admission.h"
#include "daemon/symbols/kernel-symbols.h"
#include "daemon/tracefs/control.h"
#include "meta/json-field.h"
#include "store/symbol-file.h"

/* --- functions that cannot be traced ------------------------------------------------------------ */

/* "ADDRESS TYPE NAME[\tMODULE]", a line each; the compiler may have left but a variant, "NAME.isra.0". */
int untraced_explain(char **ret, int root_fd, const char *name) {
        _cleanup_free_ char *symbols = NULL;
        const char *variant = NULL;
        size_t n = strlen(name);

        if (file_read(root_fd, kernel_symbols_path("proc/kallsyms"), &symbols, NULL,
                      SYMBOL_FILE_MAX) < 0)
                return text_format(ret, "%s", "");
        for (const char *s = symbols; (s = strstr(s, name)); s += n) {
                if (s - symbols < 2 || s[-1] != ' ' || !strchr("tTwW", s[-2]))
                        continue;
                if (s[n] == '\n' || s[n] == '\t' || s[n] == 0)
                        return text_format(
                                ret, ": this kernel has it and excludes it from tracing (notrace)");
                if (s[n] == '.')
                        variant = variant ?: s;
        }
        return variant ? text_format(ret, ": the compiler made %.*s of it",
                                     (int) strcspn(variant, "\t\n"), variant)
                       : text_format(ret, "%s", "");
}

/* "write" and "sys_write" are the names of the manual page and of kernels before 4.17. */
static const char *find_syscall(const Functions *f, const char *bare) {
        const char *found = NULL;
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < f->n; i++)
                if (syscall_is_nearer(f->names[i], bare, &best))
                        found = f->names[i];
        return found;
}

int refuse_no_function(const Functions *f, const char *name, Refusal *refusal) {
        const char *bare = startswith(name, "sys_") ?: name, *syscall = find_syscall(f, bare);
        const char *like = syscall ?: typo_nearest(name, f->names, f->n);
        _cleanup_free_ char *why = NULL;
        int r = untraced_explain(&why, f->root_fd, name);

        if (r < 0)
                return r;
        return refusal_set(refusal, REFUSAL_FUNCTION_NOT_FOUND,
                           json_pack("{ss so}", "function", name, "suggestions",
                                     like ? json_pack("[s]", like) : json_array()),
                           "no function \"%s\" can be traced here%s. %s%s%s%s%s", NAME_QUOTED(name),
                           why,
                           syscall ? "Did you mean the system call, "
                           : like  ? "Did you mean "
                           : *why  ? "List them with: ftracectl functions"
                                   : "It may be inlined wherever it is called, or be in a module "
                                     "that is not loaded. List them with: ftracectl functions",
                           like ?: "",
                           syscall ? " (\"syscall:"
                           : like  ? "?"
                                   : "",
                           syscall ? bare : "", syscall ? "\")?" : "");
}

/* Which list it is, how many functions it may stand for, and how a sentence about more ends. */
typedef struct ListLimit {
        const char *field;
        uint64_t n;
        const char *what, *way_out;
} ListLimit;

static int refuse_nothing(const Functions *f, const char *pattern, Refusal *refusal) {
        if (!function_pattern_is_glob(pattern))
                return refuse_no_function(f, pattern, refusal);
        return refusal_set_of(refusal, REFUSAL_NO_FUNCTION_MATCHES, "pattern", pattern,
                              "\"%s\" matches no function that can be traced here. "
                              "List them with: ftracectl functions",
                              NAME_QUOTED(pattern));
}

static int refuse_many(const Strv *patterns, const ListLimit *limit, size_t n, Refusal *refusal) {
        _cleanup_free_ char *joined = strv_join(patterns, " ");

        if (!joined)
                return -ENOMEM;
        return refusal_set(
                refusal, REFUSAL_TOO_MANY_FUNCTIONS,
                json_pack("{ss sI sI}", "pattern", joined, "count", (json_int_t) n, "limit",
                          (json_int_t) limit->n),
                "\"%s\" match%s %s functions; at most %" PRIu64 " may be %s. Name fewer%s%s.",
                NAME_QUOTED(joined), patterns->n == 1 ? "es" : "", FORMAT_COUNT(n), limit->n,
                limit->what, limit->way_out ? ", or raise " : "", limit->way_out ?: "");
}

static int admit_list(const Functions *f, const Strv *patterns, const ListLimit *limit, Strv *ret,
                      Refusal *refusal) {
        _cleanup_strv_ Strv all = {};
        size_t n;
        int r;

        for (size_t i = 0; i < patterns->n; i++)
                if (!function_pattern_is_valid(patterns->items[i]))
                        return refusal_set_of(refusal, REFUSAL_INVALID_NAME, "name",
                                              NAME_QUOTED(patterns->items[i]),
                                              "\"%s\" is neither a function name nor a glob.",
                                              NAME_QUOTED(patterns->items[i]));
        r = functions_expand(f, patterns, limit->n, &all, &n);
        if (r == FUNCTIONS_E_NOTHING)
                return refuse_nothing(f, patterns->items[n], refusal);
        if (r == FUNCTIONS_E_COSTLY)
                return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", limit->field,
                                      "so many globs like \"%s\" take too long to be compared with "
                                      "%s functions. Name fewer, or begin them with letters.",
                                      NAME_QUOTED(patterns->items[n]), FORMAT_COUNT(f->n));
        if (r < 0)
                return r;
        if (n > limit->n)
                return refuse_many(patterns, limit, n, refusal);
        *ret = TAKE(all, (Strv){});
        return 0;
}

/* Above this no option helps: the kernel goes through all its functions for each name. */
static ListLimit limit_of(const Spec *spec, const char *field, const char *what) {
        bool may_raise = spec->max_functions < SPEC_MAX_ROOTS;

        return (ListLimit){ .field = field,
                            .n = may_raise ? spec->max_functions : SPEC_MAX_ROOTS,
                            .what = what,
                            .way_out = may_raise ? "--set=MaxFunctions=" : NULL };
}

int admit_names(const Functions *f, const Spec *spec, Strv *ret_roots, Strv *ret_notrace,
                Refusal *refusal) {
        const ListLimit roots_limit = limit_of(spec, "functions", "roots"),
                        notrace_limit = limit_of(spec, "notrace", "left out");
        _cleanup_strv_ Strv roots = {};
        int r;

        if (spec->functions.n == 0)
                return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "functions",
                                      "no function is named: a session needs at least one root.");
        r = admit_list(f, &spec->functions, &roots_limit, &roots, refusal)
                    ?: admit_list(f, &spec->notrace, &notrace_limit, ret_notrace, refusal);
        if (r == 0)
                *ret_roots = TAKE(roots, (Strv){});
        return r;
}

int admit_hooked(const Functions *f, const Spec *spec, Strv *ret, Refusal *refusal) {
        return admit_list(f, &spec->hooked,
                          &(ListLimit){ "hooked", spec->max_hooked ?: SPEC_UNLIMITED, "hooked",
                                        "--set=MaxHooked= (MaxHookedFunctions= in ftraced.conf)" },
                          ret, refusal);
}

static int contradiction(Refusal *refusal, const char *field, const char *sentence) {
        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", field, "%s", sentence);
}

int admit_together(const Spec *spec, const Strv *roots, const Strv *notrace, Refusal *refusal) {
        size_t i = 0;

        if (spec->lean == LEAN_FULL)
                return contradiction(
                        refusal, "lean",
                        "--lean=full is no more: --lean=auto, the default, hooks what "
                        "the functions call, and with --set=Budget=100% leaves none of it "
                        "out. Use that.");
        if (spec->flat && spec->hooked.n > 0)
                return contradiction(refusal, "flat",
                                     "--flat records the named functions alone, so there is "
                                     "nothing for --only to choose from. Use one of the two.");
        if ((spec->pids.n > 0) + (spec->comms.n > 0) + (spec->cgroups.n > 0) > 1)
                return contradiction(refusal, spec->comms.n > 0 ? "comms" : "cgroups",
                                     "--pid, --comm and --cgroup each say whose calls are "
                                     "recorded. Use one of them.");
        while (i < roots->n && strv_finds(notrace, roots->items[i]))
                i++;
        if (i == roots->n)
                return contradiction(refusal, "notrace",
                                     "--notrace leaves out every function that is to be recorded. "
                                     "Leave out less.");
        return 0;
}

static int admit_cpu(const uint32_t *cpus, size_t n_cpus, const char *online, unsigned cpu,
                     Refusal *refusal) {
        bool is_possible = false;

        for (size_t i = 0; i < n_cpus; i++)
                is_possible = is_possible || cpus[i] == cpu;
        if (!is_possible)
                return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "cpus",
                                      "there is no CPU %u here: they are %u to %u.", cpu, cpus[0],
                                      cpus[n_cpus - 1]);
        if (online && !cpu_list_has(online, cpu))
                return refusal_set_of(
                        refusal, REFUSAL_INVALID_SPEC, "field", "cpus",
                        "CPU %u is offline. Leave it out, or bring it online: echo 1 > "
                        "/sys/devices/system/cpu/cpu%u/online",
                        cpu, cpu);
        return 0;
}

int admit_cpus(const Tracefs *fs, const Spec *spec, Refusal *refusal) {
        _cleanup_free_ char *online = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r;

        if (spec->cpus.n == 0)
                return 0;
        r = tracefs_get_cpus(fs, &cpus, &n_cpus);
        if (r < 0)
                return r;
        if (file_read(fs->root_fd, "sys/devices/system/cpu/online", &online, NULL, 65536) < 0)
                online = NULL;
        for (size_t i = 0; r == 0 && i < spec->cpus.n; i++) {
                unsigned cpu, last;

                cpu_range_parse(spec->cpus.items[i], &cpu, &last);
                for (; r == 0 && cpu <= last; cpu++)
                        r = admit_cpu(cpus, n_cpus, online, cpu, refusal);
        }
        return r;
}

int admit_stack_copies(const Spec *spec, Refusal *refusal) {
        const struct {
                bool is_there;
                const char *field, *what, *why;
        } others[] = {
                { spec->comms.n > 0, "comms", "--comm", "cannot follow names; use --pid" },
                { spec->in_kernel, "in_kernel", "--in-kernel", "are written to the disk" },
                { spec->clock && !streq(spec->clock, "mono") && !streq(spec->clock, "boot") &&
                          !streq(spec->clock, "local"),
                  "clock", "--clock", "have times of the clocks mono, boot and local alone" },
        };

        if (spec->stack_every > 0 && spec->stack_bytes == 0)
                return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "stack_every",
                                      "StackEvery= needs StackCopy=: how much of a stack is copied.");
        for (size_t i = 0; spec->stack_bytes > 0 && i < ELEMENTSOF(others); i++)
                if (others[i].is_there)
                        return refusal_set_of(
                                refusal, REFUSAL_INVALID_SPEC, "field", others[i].field,
                                "%s does not go with --user-stack=copy: copies of stacks %s.",
                                others[i].what, others[i].why);
        return 0;
}

int admit_clock(const Tracefs *fs, const Spec *spec, Refusal *refusal) {
        _cleanup_free_ char *names = NULL;
        _cleanup_strv_ Strv clocks = {};
        int r;

        if (!spec->clock)
                return 0;
        r = tracefs_read_words(fs, "trace_clock", " []\n", &clocks);
        if (r < 0)
                return r;
        if (strv_contains(&clocks, spec->clock))
                return 0;
        names = strv_join(&clocks, ", ");
        if (!names)
                return -ENOMEM;
        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "clock",
                              "this kernel has no trace clock \"%s\"; it has %s.", spec->clock,
                              names);
}

int find_followed(const Tracefs *fs, const Spec *spec, Strv *ret_threads, Refusal *refusal) {
        _cleanup_strv_ Strv threads = {};
        char nobody[TASK_NUMBER_MAX];
        int r = task_find_nobody(fs, nobody) ?: strv_add(&threads, nobody);

        if (r >= 0 && spec->comms.n > 0)
                r = task_find_by_comms(fs, &spec->comms, &threads);
        for (size_t i = 0; r >= 0 && i < spec->cgroups.n; i++) {
                r = task_find_by_cgroup(fs, spec->cgroups.items[i], &threads);
                if (r == -ENOENT && refusal)
                        return refusal_set_of(
                                refusal, REFUSAL_INVALID_SPEC, "field", "cgroups",
                                "there is no control group \"%s\". systemd-cgls shows "
                                "those there are.",
                                NAME_QUOTED(spec->cgroups.items[i]));
                r = r == -ENOENT ? 0 : r;
        }
        if (r < 0)
                return r;
        strv_sort_unique(&threads);
        *ret_threads = TAKE(threads, (Strv){});
        return 0;
}

/* PROC_PID_INIT_INO, linux 6.1 include/linux/proc_ns.h: that of the first PID namespace. */
#define FIRST_NAMESPACE 0xEFFFFFFCU

static int admit_numbers(const Tracefs *fs, const Spec *spec, Refusal *refusal) {
        const char *field = spec->pids.n > 0      ? "pids"
                            : spec->comms.n > 0   ? "comms"
                            : spec->cgroups.n > 0 ? "cgroups"
                                                  : NULL;
        struct stat st;

        if (!field || !fs->is_real || fstatat(fs->root_fd, "proc/self/ns/pid", &st, 0) < 0 ||
            st.st_ino == FIRST_NAMESPACE)
                return 0;
        return refusal_set_of(
                refusal, REFUSAL_INVALID_SPEC, "field", field,
                "this ftraced is in a container (PID namespace), where processes have "
                "other numbers than those that the kernel compares: --pid, --comm and "
                "--cgroup would record others. Say them to the ftraced of the host, "
                "or leave them out.");
}

int admit_processes(const Tracefs *fs, const Spec *spec, Strv *ret_threads, Strv *warnings,
                    Refusal *refusal) {
        _cleanup_free_ char *names = NULL;
        _cleanup_strv_ Strv threads = {};
        int r = admit_numbers(fs, spec, refusal);

        if (r == 0 && spec->comms.n + spec->cgroups.n > 0) {
                r = find_followed(fs, spec, &threads, refusal);
                names = strv_join(spec->comms.n > 0 ? &spec->comms : &spec->cgroups, ", ");
                if (r == 0 && threads.n == 1) /* who sees nothing recorded should know */
                        r = names ? strv_addf(warnings,
                                              "no task is %s %s yet: nothing is recorded until one "
                                              "is",
                                              spec->comms.n > 0 ? "called" : "in", names)
                                  : -ENOMEM;
        }
        for (size_t i = 0; r == 0 && i < spec->pids.n; i++) {
                r = tracefs_get_threads(fs, spec->pids.items[i], &threads);
                if (r == -ENOENT || r == -ESRCH)
                        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "pids",
                                              "there is no process %s. pgrep -l finds processes by "
                                              "name.",
                                              spec->pids.items[i]);
        }
        if (r == 0)
                *ret_threads = TAKE(threads, (Strv){});
        return r;
}

/* Who holds the pipes of @dir open, "" if nobody; *@ret_where: its path.  The caller frees both.  0 or -errno. */
static int name_holders(const Tracefs *fs, const char *dir, char **ret, char **ret_where) {
        _cleanup_strv_ Strv holders = {};
        int r = tracefs_find_pipe_holders(fs, dir, &holders);

        if (r < 0)
                return r;
        *ret = strv_join(&holders, ", ");
        *ret_where = tracefs_where(fs, dir);
        return *ret && *ret_where ? 0 : -ENOMEM;
}

static int refuse_foreign(const Tracefs *fs, const Ledger *ledger, const char *dir,
                          const char *tracer, Refusal *refusal) {
        _cleanup_free_ char *where = NULL, *names = NULL, *way_out = NULL;
        bool left = ledger_covers(ledger, dir);
        int r = name_holders(fs, dir, &names, &where);

        if (r < 0)
                return r;
        if ((left ? asprintf(&way_out, "End that process: the rest is put back by itself.")
                  : asprintf(&way_out,
                             "Wait until they are done (--wait); if nobody uses it: echo nop > "
                             "%s/current_tracer, or --force.",
                             where)) < 0)
                return -ENOMEM;
        return refusal_set_of(refusal, REFUSAL_BUSY, "holder", *names ? names : "unknown",
                              "current_tracer of %s is %s, %s%s%s. %s", where, tracer,
                              left ? "left on by an earlier ftraced" : "set by somebody else",
                              *names ? "; its pipes are held open by " : "", names, way_out);
}

int refuse_held_pipe(const Tracefs *fs, const char *dir, Refusal *refusal) {
        _cleanup_free_ char *where = NULL, *names = NULL;
        int r = name_holders(fs, dir, &names, &where);

        if (r < 0)
                return r;
        return refusal_set_of(
                refusal, REFUSAL_BUSY, "holder", *names ? names : "unknown",
                "trace_pipe or trace_pipe_raw of %s is held open by %s: recording would "
                "take its events away. Stop that first, or --wait.",
                where, *names ? names : "another process");
}

int admit_tracer(const Tracefs *fs, const Ledger *ledger, bool instances, const Strv *ours,
                 Refusal *refusal) {
        _cleanup_strv_ Strv users = {}, holders = {};
        _cleanup_free_ char *tracer = NULL;
        int r;

        if (instances) {
                r = tracefs_find_graph_users(fs, &users);
                if (r < 0)
                        return r;
                for (size_t i = 0; i < users.n; i++)
                        if (!strv_contains(ours, users.items[i]))
                                return refuse_foreign(fs, ledger, users.items[i], "function_graph",
                                                      refusal);
                return 0;
        }
        r = control_read(fs->fd, "current_tracer", &tracer);
        if (r < 0)
                return r;
        if (!streq(tracer, "nop"))
                return refuse_foreign(fs, ledger, "", tracer, refusal);
        r = tracefs_find_pipe_holders(fs, "", &holders);
        if (r < 0)
                return r;
        return holders.n > 0 ? refuse_held_pipe(fs, "", refusal) : 0;
}

int refuse_held(const Claim *holder, const char *what, uint64_t depth, Refusal *refusal) {
        time_t since = (time_t) (holder->since_ns / NSEC_PER_SEC), now = time(NULL);
        _cleanup_free_ char *who = NULL, *why = NULL;
        char clock[32], major[32] = "", minor[32] = "";
        struct utsname name;
        struct tm tm;
        int r;

        (void) localtime_r(&since, &tm);
        (void) strftime(clock, sizeof(clock), now - since < 12 * 3600 ? "%H:%M" : "%Y-%m-%d %H:%M",
                        &tm);
        (void) uname(&name);
        (void) sscanf(name.release, "%31[0-9].%31[0-9]", major, minor);
        if (asprintf(&who, "session %s (of %s, since %s)", holder->session,
                     FORMAT_USER(holder->uid), clock) < 0)
                return -ENOMEM;
        if (!what)
                r = asprintf(&why, "function_graph is in use: %s and kernel %s.%s allows one", who,
                             major, minor);
        else if (streq(what, "max_graph_depth") && holder->values.depth == depth)
                r = asprintf(&why,
                             "max_graph_depth counts from the outermost function of all sessions, "
                             "and %s records other functions",
                             who);
        else
                r = asprintf(&why, "%s exists once per kernel and has another value for %s", what,
                             who);
        if (r < 0)
                return -ENOMEM;
        return refusal_set_of(refusal, REFUSAL_BUSY, "holder", holder->session,
                              "%s. Stop it first: ftracectl stop %s; or --wait.", why,
                              holder->session);
}

/* --- memory ------------------------------------------------------------------------------------- */

/* Asked before a buffer is made: a kernel that runs out of memory for it would take it from everybody. */

int memory_available(int root_fd, uint64_t *ret) {
        _cleanup_free_ char *text = NULL;
        const char *line;
        uint64_t kib;
        int r = file_read(root_fd, "proc/meminfo", &text, NULL, 65536);

        if (r < 0)
                return r;
        line = strstr(text, "MemAvailable:");
        if (!line || sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) != 1)
                return ORIGIN(-EBADMSG);
        *ret = kib * 1024;
        return 0;
}

/* @otherwise if it cannot be told. */
static size_t online_cpus(int root_fd, size_t otherwise) {
        _cleanup_free_ char *text = NULL;
        unsigned first, last;
        const char *list;
        size_t n = 0;

        if (file_read(root_fd, "sys/devices/system/cpu/online", &text, NULL, 65536) < 0)
                return otherwise;
        list = text;
        while (cpu_list_next(&list, &first, &last) > 0)
                n += last - first + 1;
        return n > 0 ? n : otherwise;
}

uint64_t memory_of_buffers(const Spec *spec, uint64_t n_cpus) {
        uint64_t n;

        return __builtin_mul_overflow(spec->buffer_bytes, n_cpus, &n) ? UINT64_MAX : n;
}

/*
 * What others hold is part of what is available no more, for as many CPUs as have been online: a
 * CPU gets its buffers when it comes online (linux 6.1 kernel/trace/ring_buffer.c,
 * trace_rb_cpu_prepare()).  So it is added before the share is taken.
 */
int memory_admit(const Tracefs *fs, const Spec *spec, const MemoryUse *use, Refusal *refusal) {
        char each[UNIT_TEXT_MAX], total[UNIT_TEXT_MAX],
                others[UNIT_TEXT_MAX + 32] = "", rest[UNIT_TEXT_MAX], fit[UNIT_TEXT_MAX + 64];
        uint64_t available, needed, limit, per_cpu;
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n, n_online;
        int r = tracefs_get_cpus(fs, &cpus, &n);

        if (r < 0)
                return r;
        if ((use->limit.percent == 0 && use->limit.bytes == 0) || spec->black_box)
                return 0; /* what the kernel was booted with is nobody else's */
        if (memory_available(fs->root_fd, &available) < 0)
                return 0; /* nothing to compare with; the kernel refuses what it cannot give */
        n_online = MIN(online_cpus(fs->root_fd, n), n);
        limit = use->limit.bytes;
        if (use->limit.percent > 0)
                limit = (uint64_t) ((double) (available + use->held_bytes * n_online) *
                                    use->limit.percent / 100);
        needed = memory_of_buffers(spec, n);
        if (!__builtin_add_overflow(needed, use->held_bytes * n, &needed) && needed <= limit)
                return 0;

        per_cpu = (limit / n > use->held_bytes ? limit / n - use->held_bytes : 0) >> 20 << 20;
        if (per_cpu > 0)
                (void) snprintf(fit, sizeof(fit), "Use --buffer-size=%s or less",
                                format_bytes(rest, per_cpu));
        else
                (void) snprintf(fit, sizeof(fit), "Stop another session");
        if (use->held_bytes > 0)
                (void) snprintf(others, sizeof(others), " beside %s of other sessions",
                                format_bytes(rest, use->held_bytes * n));
        return refusal_set(refusal, REFUSAL_NO_MEMORY, NULL,
                           "buffers of %s for each of %zu CPUs%s need %s, which is more than the "
                           "%s that MaxBufferMemory= allows. %s.",
                           format_bytes(each, spec->buffer_bytes), n, others,
                           format_bytes(total, needed), format_bytes(rest, limit), fit);
}

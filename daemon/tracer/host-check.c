/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A table of looks.  Each says how things are in one sentence, and if they are not good, what to
 * do.  A look that has nothing to say (its object does not exist here) leaves its text empty.
 */

#include <fcntl.h>
#include <stdarg.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "base/io.h"
#include "daemon/symbols/kernel-symbols.h"
#include "daemon/tracer/controller-private.h"

#define SYMBOLS_BEGINNING ((size_t) 1 << 20) /* of kallsyms: the first functions are in it */

typedef enum Grade { GRADE_GOOD, GRADE_WARNING, GRADE_BAD } Grade;

static const char *const grade_names[] = {
        [GRADE_GOOD] = "good",
        [GRADE_WARNING] = "warning",
        [GRADE_BAD] = "bad",
};

typedef struct Finding {
        Grade grade;
        char text[512], fix[256];
} Finding;

static int _printf_(4, 5) say(Finding *f, Grade grade, const char *fix, const char *format, ...) {
        va_list ap;

        f->grade = grade;
        va_start(ap, format);
        (void) vsnprintf(f->text, sizeof(f->text), format, ap);
        va_end(ap);
        (void) snprintf(f->fix, sizeof(f->fix), "%s", fix ?: "");
        return 0;
}

/* "none [integrity] confidentiality": the word in brackets is in force. */
static bool is_locked_down(int root_fd) {
        _cleanup_free_ char *text = NULL;

        return file_read(root_fd, "sys/kernel/security/lockdown", &text, NULL, 4096) >= 0 &&
               strstr(text, "[confidentiality]");
}

static int say_locked_down(Finding *f, const char *what) {
        return say(f, GRADE_BAD, "boot without lockdown=confidentiality (integrity is fine)",
                   "the kernel is locked down (confidentiality): tracefs %s", what);
}

static int look_tracefs(const HostFacts *h, Finding *f) {
        const char *path = h->fs->path ?: TRACEFS_DEFAULT_PATH;
        struct statvfs st;
        char fix[160];

        /* In containers and sandboxes; the mount may have become so since it was opened. */
        if (h->fs->fd >= 0 && fstatvfs(h->fs->fd, &st) >= 0 && (st.f_flag & ST_RDONLY) != 0) {
                (void) snprintf(fix, sizeof(fix),
                                "mount -o remount,rw %.100s, outside of containers", path);
                return say(f, GRADE_BAD, fix, "tracefs is mounted read-only at %s", path);
        }
        if (h->fs->fd >= 0)
                return say(f, GRADE_GOOD, NULL, "tracefs at %s", path);
        switch (-h->fs->error) {
        case ENODATA:
                return say_locked_down(f, "is empty");
        case EPERM:
                if (is_locked_down(h->fs->root_fd))
                        return say_locked_down(f, "cannot be opened");
                __attribute__((fallthrough));
        case EACCES:
                return say(f, GRADE_BAD, "run ftraced as root", "not permitted to open %s", path);
        case ENOENT:
        case ENOTDIR:
                (void) snprintf(fix, sizeof(fix), "mount -t tracefs tracefs %.100s", path);
                return say(f, GRADE_BAD, fix, "tracefs is not mounted at %s", path);
        default:
                return say(f, GRADE_BAD, NULL, "%s cannot be opened: %s", path,
                           strerror(-h->fs->error));
        }
}

static int look_function_graph(const HostFacts *h, Finding *f) {
        struct utsname name;
        int r;

        if (h->fs->fd < 0)
                return 0;
        (void) uname(&name);
        r = tracefs_has_tracer(h->fs, "", "function_graph");
        if (r < 0)
                return r;
        if (r == 0)
                return say(f, GRADE_BAD, "boot a kernel with CONFIG_FUNCTION_GRAPH_TRACER",
                           "kernel %s has no function_graph tracer", name.release);
        return say(f, GRADE_GOOD, NULL, "kernel %s (%s, pages of %ld KiB) has function_graph",
                   name.release, name.machine, sysconf(_SC_PAGESIZE) / 1024);
}

static int look_ftrace_enabled(const HostFacts *h, Finding *f) {
        _cleanup_free_ char *text = NULL;

        if (file_read(h->fs->root_fd, "proc/sys/kernel/ftrace_enabled", &text, NULL, 64) < 0)
                return 0;
        if (atoi(text) == 0)
                return say(f, GRADE_BAD, "sysctl kernel.ftrace_enabled=1",
                           "kernel.ftrace_enabled is 0: nothing would be recorded");
        return say(f, GRADE_GOOD, NULL, "kernel.ftrace_enabled is %d", atoi(text));
}

static int look_symbols(const HostFacts *h, Finding *f) {
        _cleanup_close_ int fd =
                openat(h->fs->root_fd, kernel_symbols_path("proc/kallsyms"), O_RDONLY | O_CLOEXEC);
        _cleanup_free_ char *text = calloc(1, SYMBOLS_BEGINNING + 1);

        if (fd < 0 || !text)
                return say(f, GRADE_WARNING, "mount /proc, with CONFIG_KALLSYMS in the kernel",
                           "symbols cannot be read: functions would have no names");
        (void) read_up_to(fd, text, SYMBOLS_BEGINNING);
        if (kernel_symbols_have_addresses(text))
                return say(f, GRADE_GOOD, NULL, "symbols are readable");
        return say(f, GRADE_WARNING, "run with CAP_SYSLOG, or sysctl kernel.kptr_restrict=1",
                   "symbols are hidden (kernel.kptr_restrict): functions would have no names");
}

static int look_tracer(const HostFacts *h, Finding *f) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = 0;

        if (h->fs->fd < 0)
                return 0;
        if (h->has_instances != 0 || h->n_live == 0)
                r = admit_tracer(h->fs, h->ledger, h->has_instances != 0, h->ours, &refusal);
        if (r < 0)
                return r;
        if (r > 0)
                return say(f, GRADE_BAD, NULL, "a session would be refused: %s",
                           refusal_message(&refusal));
        if (h->n_live > 0)
                return say(f, GRADE_GOOD, NULL, "function_graph is used by ftraced: %zu session%s",
                           h->n_live, h->n_live == 1 ? "" : "s");
        return say(f, GRADE_GOOD, NULL, "nobody else uses the tracer");
}

/* What carries our name and is nobody's is worse than what may be anybody's. */
static int look_leftovers(const HostFacts *h, Finding *f) {
        _cleanup_strv_ Strv found = {}, commands = {}, ours = {};
        _cleanup_free_ char *all = NULL, *fix = NULL;
        char clear[220];
        int r;

        if (h->fs->fd < 0)
                return 0;
        r = leftovers_find(h->ledger, false, &ours);
        if (r >= 0 && ours.n > 0)
                return say(f, GRADE_WARNING, NULL, "%s", ours.items[0]);
        if (r < 0 || h->ledger->n > 0) /* what is there is ours */
                return r;
        r = leftovers_find_values(h->fs, h->has_instances > 0, false, &found, &commands);
        if (r < 0)
                return r;
        if (found.n == 0)
                return say(f, GRADE_GOOD, NULL, "nothing is left over in tracefs");
        all = strv_join(&found, ", ");
        fix = strv_join(&commands, "; ");
        if (!all || !fix)
                return -ENOMEM;
        if (strstr(all, "0xffff"))
                return say(f, GRADE_WARNING, "clear it: echo > set_graph_function",
                           "%.300s, left over by somebody: an address of an unloaded module in it "
                           "cannot be put back after a session",
                           all);
        (void) snprintf(clear, sizeof(clear), "if nobody needs it: %s", fix);
        return say(f, GRADE_WARNING, strlen(fix) < 200 ? clear : NULL,
                   "%.400s, left over by somebody: saved and put back around a session", all);
}

static int look_events(const HostFacts *h, Finding *f) {
        _cleanup_free_ char *text = NULL;

        if (h->fs->fd < 0 || h->has_instances != 0 || h->n_live > 0 ||
            file_read(h->fs->fd, "set_event", &text, NULL, CONTROL_MAX_BYTES) < 0 || *text == 0)
                return 0;
        return say(f, GRADE_WARNING, "echo > set_event, if nobody needs them",
                   "events are enabled in the top-level buffer, which a session shares and clears");
}

/* Kernels whose per_cpu/cpuN/buffer_size_kb has a mode of 0444 (5.10) do not take back what was there from
 * a daemon without CAP_DAC_OVERRIDE; the common size can always be set. */
static int look_sizes(const HostFacts *h, Finding *f) {
        _cleanup_free_ char *size = NULL;
        int r;

        if (h->fs->fd < 0 || h->has_instances != 0 || h->n_live > 0)
                return 0;
        r = control_read(h->fs->fd, "buffer_size_kb", &size);
        if (r < 0)
                return r;
        if (*size != 'X' || !control_is_read_only(h->fs->fd, "per_cpu/cpu0/buffer_size_kb"))
                return 0;
        return say(f, GRADE_BAD, "give all CPUs one size: echo 1408 > buffer_size_kb",
                   "the CPUs' buffers have different sizes, which this kernel does not let "
                   "ftraced put back (per_cpu/cpu0/buffer_size_kb is read-only)");
}

static int look_ledger(const HostFacts *h, Finding *f) {
        _cleanup_free_ char *path = ledger_path(h->ledger), *bad = ledger_bad_path(h->ledger);
        char fix[160];
        size_t n = 0;

        if (h->ledger->dir_fd < 0)
                return say(f, GRADE_BAD,
                           "mend that, or name another place with FTRACED_LEDGERS, and restart "
                           "ftraced",
                           "there is no place for the ledger in %s: nothing can be recorded",
                           ledger_dir_root());
        if (h->ledger_was_lost)
                return say(f, GRADE_BAD, "systemctl restart ftraced.service, if it comes back",
                           "somebody has removed %s, which says what to put back: %s",
                           path ?: "the ledger",
                           h->ledger->error < 0 ? "it cannot be written"
                                                : "written again just now");
        for (size_t i = 0; i < h->ledger->n; i++)
                n += !streq(h->ledger->records[i].session, LEDGER_ROOTS);
        if (n > 0 && h->n_live == 0)
                return say(f, GRADE_BAD,
                           "switch off other tools' tracers, and end what holds a trace_pipe_raw "
                           "open; then: ftracectl stop --all",
                           "%zu change%s of an earlier session could not be put back yet", n,
                           n == 1 ? "" : "s");
        if (bad) {
                (void) snprintf(fix, sizeof(fix), "look at it, and then: rm -r %.120s", bad);
                return say(f, GRADE_WARNING, fix,
                           "a ledger that could not be read is kept as %s: what it listed may not "
                           "have been put back",
                           bad);
        }
        return say(f, GRADE_GOOD, NULL,
                   n > 0 ? "the ledger lists what the live sessions changed"
                         : "every change was put back");
}

static int look_memory(const HostFacts *h, Finding *f) {
        char need[UNIT_TEXT_MAX], rest[UNIT_TEXT_MAX], held[UNIT_TEXT_MAX + 32] = "";
        const Spec spec = SPEC_INIT;
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_free_ uint32_t *cpus = NULL;
        uint64_t available;
        size_t n;
        int r;

        if (h->fs->fd < 0 || memory_available(h->fs->root_fd, &available) < 0 ||
            tracefs_get_cpus(h->fs, &cpus, &n) < 0)
                return 0;
        r = memory_admit(h->fs, &spec, &h->memory, &refusal);
        if (r < 0)
                return r;
        if (r > 0)
                return say(f, GRADE_WARNING, NULL, "one more session would be refused: %s",
                           refusal_message(&refusal));
        if (h->memory.held_bytes > 0)
                (void) snprintf(held, sizeof(held), ", sessions hold %s",
                                format_bytes(need, h->memory.held_bytes * n));
        return say(f, GRADE_GOOD, NULL,
                   "buffers for %zu CPUs need %s by default, %s are available%s", n,
                   format_bytes(need, memory_of_buffers(&spec, n)), format_bytes(rest, available),
                   held);
}

static const struct {
        const char *name;
        int (*look)(const HostFacts *h, Finding *f);
        bool prevents; /* a bad finding means that nothing can be armed */
} looks[] = {
        { "tracefs", look_tracefs, true },
        { "function_graph", look_function_graph, true },
        { "ftrace_enabled", look_ftrace_enabled, true },
        { "symbols", look_symbols, false },
        { "tracer", look_tracer, false },
        { "leftovers", look_leftovers, false },
        { "events", look_events, false },
        { "sizes", look_sizes, true },
        { "ledger", look_ledger, false },
        { "memory", look_memory, false },
};

/* Who cannot be asked, for want of tracefs, has nothing. */
static void add_capability(json_t *checks, const HostFacts *h, const Capability *c) {
        _cleanup_free_ char *missing = NULL;
        const char *what = c->what;
        bool is_here = h->fs->fd >= 0;
        int r = is_here ? capability_find_missing(c, h->fs, &missing) : 0;

        if (is_here && capability_is_instead(c, h->fs))
                what = c->instead_what;
        is_here = is_here && r >= 0 && !missing && (c->files || h->has_instances > 0);
        (void) json_array_append_new(checks, json_pack("{ss ss so ss}", "name", c->name, "state",
                                                       is_here ? "good" : "absent", "text",
                                                       json_sprintf("%s%s%s", c->option ?: "",
                                                                    c->option ? ": " : "", what),
                                                       "since", c->since));
}

json_t *host_check(const HostFacts *facts) {
        json_t *checks = json_array();

        for (size_t i = 0; checks && i < ELEMENTSOF(looks); i++) {
                Finding f = {};
                int r = looks[i].look(facts, &f);

                if (r < 0)
                        (void) say(&f, GRADE_BAD, NULL, "%s could not be checked: %s",
                                   looks[i].name, origin_text(r));
                if (*f.text)
                        (void) json_array_append_new(
                                checks, json_pack("{ss ss ss ss*}", "name", looks[i].name, "state",
                                                  grade_names[f.grade], "text", f.text, "fix",
                                                  *f.fix ? f.fix : NULL));
        }
        for (size_t i = 0; checks && capability_get(i); i++)
                add_capability(checks, facts, capability_get(i));
        return checks;
}

int host_admit(const HostFacts *facts, Refusal *refusal) {
        for (size_t i = 0; i < ELEMENTSOF(looks); i++) {
                Finding f = {};
                int r;

                if (!looks[i].prevents)
                        continue;
                r = looks[i].look(facts, &f);
                if (r < 0)
                        return r;
                if (f.grade != GRADE_BAD)
                        continue;
                return refusal_set(refusal, REFUSAL_NOT_SUPPORTED,
                                   json_pack("{ss}", "what", looks[i].name), "%s. %s%s", f.text,
                                   *f.fix ? "Way out: " : "", f.fix);
        }
        return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Versions: where the file, the word or the tracepoint appears first.  Each was looked up in the sources of
 * the last release that lacks it and of the first that has it, but for two: 6.11 is by its tag ftrace-v6.11, and
 * that 6.11.11 has it and 6.5 has not; 6.15 is from between 6.14, which lacks it, and 7.2, which has it.
 *
 *      sessions        6.11    kernel/trace/trace_functions_graph.c: allow_instances
 *      args            6.15    kernel/trace/Kconfig: FUNCTION_TRACE_ARGS
 *      retval          6.5     kernel/trace/Kconfig: FUNCTION_GRAPH_RETVAL, FPROBE_EVENTS
 *      sched           4.3     include/trace/events/sched.h: sched_waking
 *      comm            3.3     include/trace/events/task.h: task_rename
 *      cgroup          4.9     include/trace/events/cgroup.h: cgroup_attach_task
 *      clock-tai       5.19    kernel/trace/trace.c: trace_clocks[]
 *      on-function     2.6.28  kernel/trace/trace_functions.c; in 2.6.27 the tracer is called ftrace
 *      dynamic_events  5.0     kernel/trace/trace_dynevent.c
 *      on-slower       5.0     synthetic events are of HIST_TRIGGERS alone in 4.20 to 5.7, of SYNTH_EVENTS, which it
 *                              selects, in 5.9
 */

#include <errno.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "daemon/admission/capability.h"
#include "meta/trigger.h"

#define WORD_FILE_MAX 4096

static bool wants_args(const Spec *s) {
        return s->args || s->args_functions.n > 0;
}

static bool wants_retval(const Spec *s) {
        return s->retval || s->retval_functions.n > 0;
}

static bool wants_comms(const Spec *s) {
        return s->comms.n > 0;
}

static bool wants_cgroups(const Spec *s) {
        return s->cgroups.n > 0;
}

static bool wants_tai(const Spec *s) {
        return streq_ptr(s->clock, "tai");
}

static bool waits_for(const Spec *s, const char *trigger) {
        for (size_t i = 0; i < s->triggers.n; i++)
                if (startswith(trigger_rule_on(s->triggers.items[i]), trigger))
                        return true;
        return false;
}

static bool waits_for_slower(const Spec *s) {
        return waits_for(s, "slower:");
}

static bool waits_for_return(const Spec *s) {
        return waits_for(s, "return:");
}

static bool waits_for_function(const Spec *s) {
        return waits_for(s, "function:");
}

static const Capability capabilities[] = {
        { "sessions", NULL, "several recordings at once", NULL, NULL, "6.11", NULL },
        { "args", "--args", "the calls' arguments", "options/funcgraph-args", NULL,
          "5.0 with CONFIG_KPROBE_EVENTS, 6.15 with CONFIG_FUNCTION_TRACE_ARGS", wants_args,
          "dynamic_events kprobe_events",
          "the arguments of roots and of --args=FUNCTION, by a probe of each" },
        { "retval", "--retval", "what calls return", "options/funcgraph-retval", NULL,
          "5.0 with CONFIG_KPROBE_EVENTS or CONFIG_FPROBE_EVENTS, 6.5 with "
          "CONFIG_FUNCTION_GRAPH_RETVAL",
          wants_retval, "dynamic_events kprobe_events",
          "what roots and --retval=FUNCTION return, by a probe of each" },
        { "sched", "--sched", "when tasks wait, and for whom",
          "events/sched/sched_switch events/sched/sched_waking", NULL, "4.3", NULL },
        { "comm", "--comm", "only tasks of a name", "events/task/task_rename", NULL, "3.3",
          wants_comms },
        { "cgroup", "--cgroup", "only tasks of a control group", "events/cgroup/cgroup_attach_task",
          NULL, "4.9 with CONFIG_CGROUPS", wants_cgroups },
        { "clock-tai", "--clock=tai", "times that are the same on all hosts", "trace_clock",
          "tai", "5.19", wants_tai },
        { "on-function", "--on=function", "when a function is called", "available_tracers",
          "function", "2.6.28 with CONFIG_FUNCTION_TRACER", waits_for_function },
        { "on-return", "--on=return", "when a function returns something",
          "dynamic_events kprobe_events", NULL,
          "5.0 with CONFIG_KPROBE_EVENTS or CONFIG_FPROBE_EVENTS", waits_for_return },
        { "on-slower", "--on=slower", "when a call has taken long",
          "dynamic_events kprobe_events synthetic_events events/sched/sched_switch/hist", NULL,
          "5.0 with CONFIG_KPROBE_EVENTS and CONFIG_HIST_TRIGGERS", waits_for_slower },
};

const Capability *capability_get(size_t i) {
        return i < ELEMENTSOF(capabilities) ? &capabilities[i] : NULL;
}

static bool has_all(const char *files, const Tracefs *fs) {
        _cleanup_strv_ Strv words = {};
        int r = strv_split(&words, files, " ");

        for (size_t i = 0; r >= 0 && i < words.n; i++)
                r = faccessat(fs->fd, words.items[i], F_OK, 0);
        return r >= 0;
}

bool capability_is_instead(const Capability *c, const Tracefs *fs) {
        return c->instead && !has_all(c->files, fs) && has_all(c->instead, fs);
}

int capability_find_missing(const Capability *c, const Tracefs *fs, char **ret) {
        _cleanup_strv_ Strv files = {}, words = {};
        _cleanup_free_ char *text = NULL;
        int r = strv_split(&files, c->files ?: "", " ");

        *ret = NULL;
        if (r >= 0 && capability_is_instead(c, fs))
                return 0;
        for (size_t i = 0; r >= 0 && i < files.n; i++)
                if (faccessat(fs->fd, files.items[i], F_OK, 0) < 0)
                        return asprintf(ret, "%s/%s is missing", fs->path, files.items[i]) < 0
                                       ? -ENOMEM
                                       : 0;
        if (r >= 0 && c->word)
                r = file_read(fs->fd, c->files, &text, NULL, WORD_FILE_MAX);
        if (r >= 0 && c->word)
                r = strv_split(&words, text, " []\n");
        if (r < 0 || !c->word || strv_contains(&words, c->word))
                return r;
        return asprintf(ret, "%s/%s has no \"%s\"", fs->path, c->files, c->word) < 0 ? -ENOMEM : 0;
}

int admit_capabilities(const Tracefs *fs, const Spec *spec, Refusal *refusal) {
        for (const Capability *c = capabilities; c < capabilities + ELEMENTSOF(capabilities); c++) {
                _cleanup_free_ char *missing = NULL;
                struct utsname u;
                int r;

                if (!c->is_wanted || !c->is_wanted(spec))
                        continue;
                r = capability_find_missing(c, fs, &missing);
                if (r < 0)
                        return r;
                if (!missing)
                        continue;
                if (uname(&u) < 0)
                        return ORIGIN(-errno);
                return refusal_set(refusal, REFUSAL_NOT_SUPPORTED,
                                   json_pack("{ss}", "what", c->name),
                                   "%s (%s): this kernel (%s) cannot. Linux can since %s; here %s.",
                                   c->option, c->what, u.release, c->since, missing);
        }
        return 0;
}

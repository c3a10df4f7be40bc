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
 *      dynamic_events  5.0     kernel/trace/trace_dynevent.c; older ones' userstacktrace is of the top level alone, as
 *                              function_graph is (5.10 kernel/trace/trace.c, ftrace_trace_userstack())
 *      on-slower       5.0     synthetic events are of HIST_TRIGGERS alone in 4.20 to 5.7, of SYNTH_EVENTS, which it
 *                              selects, in 5.9
 */

#include <sys/utsname.h>

#include "daemon/admission/admission.h"
#include "meta/trigger.h"

static bool waits_for(const Spec *s, const char *trigger) {
        for (size_t i = 0; i < s->triggers.n; i++)
                if (startswith(trigger_rule_on(s->triggers.items[i]), trigger))
                        return true;
        return false;
}

enum {
        CAN_SESSIONS,
        CAN_ARGS,
        CAN_RETVAL,
        CAN_CALLERS,
        CAN_PROGRAMS,
        CAN_COPIES,
        CAN_FIELDS,
        CAN_SCHED,
        CAN_COMM,
        CAN_CGROUP,
        CAN_TAI,
        CAN_FUNCTION,
        CAN_RETURN,
        CAN_SLOWER,
        _CAN_N,
};

static const Capability capabilities[_CAN_N] = {
        [CAN_SESSIONS] = { "sessions", NULL, "several recordings at once", NULL, NULL, "6.11" },
        [CAN_ARGS] = { "args", "--args", "the calls' arguments", "options/funcgraph-args", NULL,
                       "5.0 with CONFIG_KPROBE_EVENTS, 6.15 with CONFIG_FUNCTION_TRACE_ARGS",
                       "dynamic_events kprobe_events",
                       "the arguments of roots and of --args=FUNCTION, by a probe of each" },
        [CAN_RETVAL] = { "retval", "--retval", "what calls return", "options/funcgraph-retval",
                         NULL,
                         "5.0 with CONFIG_KPROBE_EVENTS or CONFIG_FPROBE_EVENTS, 6.5 with "
                         "CONFIG_FUNCTION_GRAPH_RETVAL",
                         "dynamic_events kprobe_events",
                         "what roots and --retval=FUNCTION return, by a probe of each" },
        [CAN_CALLERS] = { "kernel-stack", "--kernel-stack", "who calls the roots",
                          "dynamic_events events/ftrace/kernel_stack", NULL,
                          "5.0 with CONFIG_KPROBE_EVENTS or CONFIG_FPROBE_EVENTS" },
        [CAN_PROGRAMS] = { "user-stack", "--user-stack", "which functions of programs led there",
                           "dynamic_events events/ftrace/user_stack options/userstacktrace", NULL,
                           "5.0 with CONFIG_USER_STACKTRACE_SUPPORT and CONFIG_KPROBE_EVENTS" },
        [CAN_COPIES] = { "stack-copies", "--user-stack=copy", "which, without frame pointers",
                         "dynamic_events events/ftrace/user_stack options/userstacktrace "
                         "events/sched/sched_switch/id", /* it is there for perf */
                         NULL, "5.0 with CONFIG_USER_STACKTRACE_SUPPORT and CONFIG_PERF_EVENTS" },
        [CAN_FIELDS] = { "what", "--what", "what the roots work on, and fields of arguments",
                         "dynamic_events kprobe_events", NULL,
                         "5.0 with CONFIG_KPROBE_EVENTS or CONFIG_FPROBE_EVENTS, and "
                         "CONFIG_DEBUG_INFO_BTF" },
        [CAN_SCHED] = { "sched", "--sched", "when tasks wait, and for whom",
                        "events/sched/sched_switch events/sched/sched_waking", NULL, "4.3" },
        [CAN_COMM] = { "comm", "--comm", "only tasks of a name", "events/task/task_rename", NULL,
                       "3.3" },
        [CAN_CGROUP] = { "cgroup", "--cgroup", "only tasks of a control group",
                         "events/cgroup/cgroup_attach_task", NULL, "4.9 with CONFIG_CGROUPS" },
        [CAN_TAI] = { "clock-tai", "--clock=tai", "times that are the same on all hosts",
                      "trace_clock", "tai", "5.19" },
        [CAN_FUNCTION] = { "on-function", "--on=function", "when a function is called",
                           "available_tracers", "function", "2.6.28 with CONFIG_FUNCTION_TRACER" },
        [CAN_RETURN] = { "on-return", "--on=return", "when a function returns something",
                         "dynamic_events kprobe_events", NULL,
                         "5.0 with CONFIG_KPROBE_EVENTS or CONFIG_FPROBE_EVENTS" },
        [CAN_SLOWER] = { "on-slower", "--on=slower", "when a call has taken long",
                         "dynamic_events kprobe_events synthetic_events "
                         "events/sched/sched_switch/hist",
                         NULL, "5.0 with CONFIG_KPROBE_EVENTS and CONFIG_HIST_TRIGGERS" },
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
                r = tracefs_read_words(fs, c->files, " []\n", &words);
        if (r < 0 || !c->word || strv_contains(&words, c->word))
                return r;
        return asprintf(ret, "%s/%s has no \"%s\"", fs->path, c->files, c->word) < 0 ? -ENOMEM : 0;
}

int admit_capabilities(const Tracefs *fs, const Spec *spec, Refusal *refusal) {
        const bool is_wanted[_CAN_N] = {
                /* what something else refuses is not among them */
                [CAN_ARGS] = spec_asks_for_args(spec),
                [CAN_RETVAL] = spec->retval || spec->retval_functions.n > 0,
                [CAN_CALLERS] = spec->kernel_stack,
                [CAN_PROGRAMS] = spec->user_stack,
                [CAN_COPIES] = spec->stack_bytes > 0,
                [CAN_FIELDS] = spec_asks_for_fields(spec),
                [CAN_COMM] = spec->comms.n > 0,
                [CAN_CGROUP] = spec->cgroups.n > 0,
                [CAN_TAI] = streq_ptr(spec->clock, "tai"),
                [CAN_FUNCTION] = waits_for(spec, "function:"),
                [CAN_RETURN] = waits_for(spec, "return:"),
                [CAN_SLOWER] = waits_for(spec, "slower:"),
        };

        for (size_t i = 0; i < _CAN_N; i++) {
                const Capability *c = &capabilities[i];
                _cleanup_free_ char *missing = NULL;
                struct utsname u;
                int r = is_wanted[i] ? capability_find_missing(c, fs, &missing) : 0;

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

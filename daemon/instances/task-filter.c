/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A task gets a name by execve() or prctl(), both of which are task_rename (linux 6.1 fs/exec.c,
 * __set_task_comm()), and joins a control group by cgroup_attach_task, unless it is born there.  The
 * kernel compares the names, so that others' cost nothing.
 */

#include <fcntl.h>

#include "base/log.h"
#include "daemon/instances/instance.h"
#include "daemon/tracefs/control.h"

#define DIR_FORMAT "instances/ftraced.tasks-%s"
#define RENAME "events/task/task_rename"
#define ATTACH "events/cgroup/cgroup_attach_task"
#define BUFFER_KIB "64" /* a CPU; events that do not fit wake as well as those that do */

bool task_filter_follows(const Spec *spec) {
        return spec->comms.n + spec->cgroups.n > 0;
}

/* "oldcomm=="a"||newcomm=="a"||...": names have no quotes in them (base/name.h). */
static int make_condition(const Strv *comms, char **ret) {
        _cleanup_buf_ Buf b = BUF_INIT;

        for (size_t i = 0; i < comms->n; i++)
                buf_printf(&b, "%soldcomm==\"%s\"||newcomm==\"%s\"", i > 0 ? "||" : "",
                           comms->items[i], comms->items[i]);
        return buf_take_string(&b, ret);
}

int task_filter_plan(Plan *p, const Spec *spec) {
        const char *dir = TRACEFS_PATH(DIR_FORMAT, p->session), *file;
        _cleanup_free_ char *condition = NULL;
        int r = make_condition(&spec->comms, &condition);
        const struct {
                bool is_wanted;
                const char *file, *value;
        } settings[] = {
                { true, "buffer_size_kb", BUFFER_KIB },
                { true, "buffer_percent", "0" },
                { spec->comms.n > 0, RENAME "/filter", condition },
                { spec->comms.n > 0, RENAME "/enable", "1" },
                { spec->cgroups.n > 0, ATTACH "/enable", "1" },
        };

        r = r ?: plan_make_dir(p, dir, &file);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(settings); i++)
                if (settings[i].is_wanted)
                        r = plan_add(p, NULL, TRACEFS_PATH("%s/%s", dir, settings[i].file),
                                     settings[i].value);
        return r;
}

int task_filter_open(const Tracefs *fs, const char *session) {
        return tracefs_open(fs, O_RDONLY | O_NONBLOCK, DIR_FORMAT "/trace_pipe", session);
}

/* Those who are left out: @gone joins them, and who is wanted is not among them any more. */
static int leave_out(const Tracefs *fs, const char *path, const Strv *gone, const Strv *wanted) {
        _cleanup_strv_ Strv left_out = {}, again = {}, still = {}, more = {};
        _cleanup_free_ char *text = NULL;
        int r = control_read_tasks(fs->fd, path, &left_out)
                        ?: strv_pick(&again, &left_out, wanted, true)
                        ?: strv_pick(&more, gone, &left_out, false);

        if (r < 0 || again.n + more.n == 0)
                return r;
        if (again.n == 0)
                return control_append(fs->fd, path, &more);
        r = strv_pick(&still, &left_out, wanted, false) ?: strv_extend(&still, &more);
        if (r < 0)
                return r;
        text = strv_join(&still, "\n");
        return text ? control_write(fs->fd, path, text) : -ENOMEM;
}

/* The same for functions and for events: @kind is what the names of the two files have in them. */
static int set_kind(const Tracefs *fs, const char *dir, const char *kind, const Strv *wanted) {
        const char *path = TRACEFS_PATH("%sset_%s_pid", dir, kind);
        _cleanup_strv_ Strv now = {}, new = {}, gone = {};
        int r = control_read_tasks(fs->fd, path, &now)
                        ?: strv_pick(&new, wanted, &now, false)
                        ?: strv_pick(&gone, &now, wanted, false);

        if (r >= 0 && new.n > 0)
                r = control_append(fs->fd, path, &new);
        r = r ?: leave_out(fs, TRACEFS_PATH("%sset_%s_notrace_pid", dir, kind), &gone, wanted);
        if (r < 0)
                return r;
        if (new.n + gone.n > 0)
                log_debug("tasks", "%s: %zu new, %zu not wanted", path, new.n, gone.n);
        return new.n > 0;
}

int task_filter_set(const Tracefs *fs, const char *dir, bool has_events, const Strv *wanted) {
        int k = has_events ? set_kind(fs, dir, "event", wanted) : 0,
            r = k < 0 ? k : set_kind(fs, dir, "ftrace", wanted);

        return r < 0 ? r : r > 0 || k > 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What can still be asked while it is programmed: whether those who were to be recorded are there at
 * all, and whether the roots are hooked.  What others did to the files meanwhile is noticed elsewhere
 * (daemon/watch/tamper.h).
 */

#include <stdio.h>

#include "base/cpu-list.h"
#include "base/io.h"
#include "daemon/tracer/controller-private.h"

static int find_ended(const Tracefs *fs, const Spec *spec, Strv *ret) {
        _cleanup_free_ char *pids = strv_join(&spec->pids, ", ");

        if (!pids)
                return -ENOMEM;
        for (size_t i = 0; i < spec->pids.n; i++) {
                _cleanup_free_ char *path = NULL;

                if (asprintf(&path, "proc/%s", spec->pids.items[i]) < 0)
                        return -ENOMEM;
                if (faccessat(fs->root_fd, path, F_OK, 0) >= 0)
                        return 0;
        }
        if (spec->pids.n == 0)
                return 0;
        return strv_addf(ret, "process%s %s has ended", spec->pids.n == 1 ? "" : "es", pids);
}

/* Among those that are followed is always the one that nobody has (daemon/admission/admission.h). */
static int find_nobody(const Tracefs *fs, const Spec *spec, Strv *ret) {
        _cleanup_free_ char *comms = strv_join(&spec->comms, ", "),
                            *cgroups = strv_join(&spec->cgroups, ", ");
        _cleanup_strv_ Strv tasks = {};
        int r;

        if (spec->comms.n + spec->cgroups.n == 0)
                return 0;
        r = comms && cgroups ? find_followed(fs, spec, &tasks, NULL) : -ENOMEM;
        if (r < 0 || tasks.n > 1)
                return r;
        return spec->comms.n > 0 ? strv_addf(ret, "no task is called %s", comms)
                                 : strv_addf(ret, "no task is in the control group %s", cgroups);
}

static int find_offline(const Tracefs *fs, const Spec *spec, Strv *ret) {
        _cleanup_free_ char *online = NULL, *cpus = strv_join(&spec->cpus, ", ");
        const char *list;
        unsigned first, last;

        if (!cpus)
                return -ENOMEM;
        if (spec->cpus.n == 0 ||
            file_read(fs->root_fd, "sys/devices/system/cpu/online", &online, NULL, 65536) < 0)
                return 0;
        list = online;
        while (cpu_list_next(&list, &first, &last) > 0)
                for (size_t i = 0; i < spec->cpus.n; i++) {
                        unsigned from, to;

                        cpu_range_parse(spec->cpus.items[i], &from, &to);
                        if (from <= last && to >= first)
                                return 0;
                }
        return strv_addf(ret, "of CPUs %s none is online", cpus);
}

static int find_not_hooked(const Tracer *t, const SessionMeta *m, Strv *ret) {
        _cleanup_strv_ Strv filter = {}, notrace = {};
        int r = instance_read_list(t->instance, "set_ftrace_filter", &filter);

        if (r >= 0)
                r = instance_read_list(t->instance, "set_ftrace_notrace", &notrace);
        strv_sort_unique(&filter);
        strv_sort_unique(&notrace);
        for (size_t i = 0; r >= 0 && i < m->roots.n; i++) {
                const char *root = m->roots.items[i];

                if (strv_contains(&t->gone, root))
                        r = strv_addf(ret, "the module of %s is not loaded any more", root);
                else if (strv_finds(&notrace, root))
                        r = strv_addf(ret, "%s is in set_ftrace_notrace, which leaves it out",
                                      root);
                else if (filter.n > 0 && !strv_finds(&filter, root))
                        r = strv_addf(ret, "%s is not in set_ftrace_filter, which has others",
                                      root);
        }
        return r;
}

int tracer_find_silence(const Tracer *t, const SessionMeta *m, Strv *ret) {
        int r = find_not_hooked(t, m, ret);

        if (r >= 0)
                r = find_ended(&t->c->fs, &m->spec, ret);
        if (r >= 0)
                r = find_nobody(&t->c->fs, &m->spec, ret);
        return r < 0 ? r : find_offline(&t->c->fs, &m->spec, ret);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Both sched_waking and sched_wakeup are wakings; whoever pairs them takes the first. */

#include "export/wake.h"

static const struct {
        const char *event, *comm, *pid;
        Wake wake;
} events[] = {
        { "sched_waking:", " comm=", " pid=", WAKE_WAKES },
        { "sched_wakeup:", " comm=", " pid=", WAKE_WAKES },
        { "sched_wakeup_new:", " comm=", " pid=", WAKE_WAKES },
        { "sched_switch:", " ==> next_comm=", " next_pid=", WAKE_RUNS },
};

/* The last @word in @s, or NULL. */
static const char *find_last(const char *s, const char *word) {
        const char *found = NULL;

        while ((s = strstr(s, word)))
                found = s++;
        return found;
}

Wake wake_of(const Step *step, Woken *ret) {
        if (step->kind != STEP_OTHER || !step->text)
                return WAKE_NONE;
        for (size_t i = 0; i < ELEMENTSOF(events); i++) {
                const char *rest = startswith(step->text, events[i].event);
                const char *pid = rest ? find_last(rest, events[i].pid) : NULL, *comm;
                long number;
                char *end;

                if (!pid)
                        continue;
                number = strtol(pid + strlen(events[i].pid), &end, 10);
                if (end == pid + strlen(events[i].pid) || number < 0 || number > INT32_MAX)
                        return WAKE_NONE;
                *ret = (Woken){ .pid = (int32_t) number };
                comm = strstr(rest, events[i].comm);
                if (comm && comm + strlen(events[i].comm) <= pid) {
                        comm += strlen(events[i].comm);
                        memcpy(ret->comm, comm, MIN((size_t) (pid - comm), sizeof(ret->comm) - 1));
                }
                return events[i].wake;
        }
        return WAKE_NONE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A tenth of a CPU more, or a thousand changes of tasks, is another load; half as much of either is less. */

#include <fcntl.h>

#include "base/io.h"
#include "daemon/watch/watch.h"

#define MORE 1.25
#define LESS 0.5
#define MORE_BUSY 0.1
#define MORE_SWITCHES 1000
#define STAT_BYTES_MAX ((size_t) 4 << 20)

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..." in ticks of a hundredth of a second. */
HostLoadSample host_load_parse(const char *text, uint64_t at_ns) {
        unsigned long long t[8] = {}, n = 0;
        const char *switches = strstr(text, "\nctxt ");

        if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
                   &t[4], &t[5], &t[6], &t[7]) < 4 ||
            !switches || sscanf(switches, " ctxt %llu", &n) != 1)
                return (HostLoadSample){};
        return (HostLoadSample){ .at_ns = at_ns,
                                 .busy_ns = (t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) *
                                            (NSEC_PER_SEC / 100),
                                 .n_switches = n };
}

/* What it does now is usual. */
static void settle(HostLoad *l) {
        l->usual_busy = l->busy;
        l->usual_switches = l->switches;
        l->n_less = 0;
}

HostLoadChange host_load_add(HostLoad *l, const HostLoadSample *now) {
        HostLoadSample before = l->last;
        double seconds = (double) (now->at_ns - before.at_ns) / (double) NSEC_PER_SEC;

        if (now->at_ns == 0)
                return HOST_LOAD_SAME;
        l->last = *now;
        if (before.at_ns == 0 || now->at_ns <= before.at_ns || now->busy_ns < before.busy_ns ||
            now->n_switches < before.n_switches)
                return HOST_LOAD_SAME;
        l->busy = (double) (now->busy_ns - before.busy_ns) / (double) NSEC_PER_SEC / seconds;
        l->switches = (double) (now->n_switches - before.n_switches) / seconds;
        if (l->usual_busy < 0)
                settle(l);
        if (l->busy > l->usual_busy * MORE + MORE_BUSY ||
            l->switches > l->usual_switches * MORE + MORE_SWITCHES) {
                settle(l);
                return HOST_LOAD_MORE;
        }
        if ((l->usual_busy <= MORE_BUSY || l->busy >= l->usual_busy * LESS) &&
            (l->usual_switches <= MORE_SWITCHES || l->switches >= l->usual_switches * LESS))
                l->n_less = 0;
        else if (++l->n_less >= HOST_LOAD_LESS_LOOKS) {
                settle(l);
                return HOST_LOAD_LESS;
        }
        return HOST_LOAD_SAME;
}

HostLoadChange host_load_look(HostLoad *l, bool is_own) {
        _cleanup_free_ char *text = NULL;
        HostLoadSample now;

        if (file_read(AT_FDCWD, "/proc/stat", &text, NULL, STAT_BYTES_MAX) < 0)
                return HOST_LOAD_SAME;
        now = host_load_parse(text, now_ns(CLOCK_MONOTONIC));
        if (!is_own)
                return host_load_add(l, &now);
        l->last = now;
        return HOST_LOAD_SAME;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * HostLoad: whether this host does another thing than a while ago
 *
 * By /proc/stat, which costs next to nothing to read: time that CPUs were not idle, and changes of tasks.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct HostLoadSample {
        uint64_t at_ns, busy_ns, n_switches;
} HostLoadSample;

typedef struct HostLoad {
        HostLoadSample last;
        double busy, switches;             /* a second, between the last two samples */
        double usual_busy, usual_switches; /* what it is compared with; < 0: not known yet */
        unsigned n_less;                   /* looks that found less, one after the other */
} HostLoad;

#define HOST_LOAD_INIT ((HostLoad){ .usual_busy = -1 })
#define HOST_LOAD_LESS_LOOKS 10 /* that have to agree that it does less, since work pauses */

typedef enum HostLoadChange { HOST_LOAD_SAME, HOST_LOAD_MORE, HOST_LOAD_LESS } HostLoadChange;

/* @now: text of /proc/stat */
HostLoadSample host_load_parse(const char *text, uint64_t at_ns);
/* Compares what has been since the last sample with what is usual: what there was the first time, or the last time
 * that it was more or less. */
HostLoadChange host_load_add(HostLoad *l, const HostLoadSample *now);
/* Reads /proc/stat and adds it; HOST_LOAD_SAME without it.  @is_own: what was done since is not the host's, but ours. */
HostLoadChange host_load_look(HostLoad *l, bool is_own);

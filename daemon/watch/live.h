/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Live: what the next daemon has to know of a session that records, beside session.json
 *
 * The file "live.json" in the session's directory, there while the session is live:
 *
 *      { "version": 1, "attached": false, "held": true, "left": false,
 *        "cpus": [ { "cpu": 0, "last": [0, 0, 0, 812], "sum": [0, 0, 0, 812] } ] }
 *
 * A daemon takes up what has its own version or an older one.  A newer one it ends, with all that
 * was recorded: raise LIVE_VERSION when an older daemon going on would do harm.
 */

#include <stdbool.h>

#include "daemon/instances/instance.h"
#include "store/session-dir.h"
#include "store/store.h"

#define LIVE_NAME "live.json"

#ifndef LIVE_VERSION /* tests build a daemon of the future */
#define LIVE_VERSION 1
#endif

typedef struct LiveCpu {
        uint32_t cpu;
        InstanceCounters counters; /* of the kernel, where its account goes on */
} LiveCpu;

typedef struct Live {
        uint32_t version;
        bool attached; /* it ends with the connection that started it */
        bool held;     /* the service manager holds its descriptors */
        bool left;     /* its daemon left in order: nothing was in a pipe */
        LiveCpu *cpus; /* n_cpus of them */
        size_t n_cpus;
} Live;

void live_done(Live *l);
#define _cleanup_live_ _cleanup_(live_done)

/* Writes it as of LIVE_VERSION, atomically.  0 or -errno. */
int live_write(const SessionDir *dir, const Live *l);
/* Return: 0, LIVE_E_NEWER (only the version is filled), LIVE_E_INVALID, -ENOENT, other -errno. */
enum { LIVE_E_INVALID = 1, LIVE_E_NEWER = 2 };
int live_read(const SessionDir *dir, Live *ret);
void live_remove(const SessionDir *dir);
/* Whether that session may be live, without a look at its session.json: one that is has this file, or its reserve
 * (daemon/upkeep/disk-usage.h), until it has ended. */
bool live_may_be(const Store *store, const char *name);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Rescue: what a kernel that died left in the black box (daemon/instances/instance.h) becomes a session
 *
 * Done once, when a daemon begins, before any session is taken up and so before anybody may arm:
 *
 *      ORIGIN: live in its session.json, with spec.black_box, of another boot
 *         -> blackbox-BOOTID is made, draining, a copy of what ORIGIN has on disk (formats, names of symbols)
 *         -> the pages are moved into it, as they are
 *         -> it is sealed: ended with a reason -> ORIGIN is failed, with the other's name
 *         -> the memory is emptied
 *
 * Whoever dies in between leaves an ORIGIN that is live still: the next daemon goes on, with new segments for what
 * is in memory then.  Nothing is decoded, so that another kernel than the one that died can do it.  What the pages
 * say is not believed: how many are taken depends on the buffer's size alone.
 */

#include "daemon/tracer/controller.h"
#include "store/store.h"
#include "store/uptime.h"

typedef struct RescueConfig {
        Controller *controller;
        Store *store;
        const Uptime *uptime; /* of the store */
} RescueConfig;

/* BOOTID of the session's name is the dead kernel's boot id. */
#define RESCUE_PREFIX "blackbox-"

/*
 * rescue_run() - looks for something to rescue, and does it
 *
 * Logs what it did, or why it could not.  A session of which nothing survived says so in its reason.
 * Return: how many sessions were made (0 or 1), or -errno: nothing was lost that was there before, and the next
 * daemon tries again.
 */
int rescue_run(const RescueConfig *config);

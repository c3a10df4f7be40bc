/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionHold: what of a recording outlives its daemon
 *
 * The descriptors are with the service manager (daemon/process/fdstore.h), the rest is in live.json
 * (daemon/watch/live.h).  Without a manager a mark in shared memory says how much is in the pipes.
 *
 *   - session_hold_cpu() after recorder_add(), for each CPU; or session_hold_take_cpu(), which adds it,
 *     of a session that another daemon began
 *   - session_hold_all() when all are there and nothing is read yet
 *   - session_hold_leave() when the readers have ended and another daemon goes on; or
 *     session_hold_let_go() when they have and the tracer is about to be switched off
 */

#include <stdbool.h>

#include "base/cleanup.h"
#include "daemon/process/fdstore.h"
#include "daemon/record/recorder.h"
#include "daemon/tracer/controller.h"
#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct SessionHold SessionHold;

/* Borrowed for as long as it lives. */
typedef struct SessionHoldConfig {
        FdStore *fdstore;
        const SessionMeta *meta;
        const SessionDir *dir;
        bool is_attached; /* it ends with the connection that started it */
} SessionHoldConfig;

/* 0 or -ENOMEM. */
int session_hold_new(SessionHold **ret, const SessionHoldConfig *config);
/* What is held stays held.  NULL is fine, as for session_hold_let_go(). */
SessionHold *session_hold_free(SessionHold *h);

/* Gives the manager copies for the CPU that @recorder was given last. */
void session_hold_cpu(SessionHold *h, Recorder *recorder, uint32_t cpu, int raw_fd);
/* Adds a CPU to @recorder.  1: with the descriptors that the manager held, whose pipe may have pages;
 * 0: with new ones; -errno. */
int session_hold_take_cpu(SessionHold *h, Recorder *recorder, Tracer *tracer, uint32_t cpu);
/* Waits for the manager, and writes live.json.  0 or -errno. */
int session_hold_all(SessionHold *h, Recorder *recorder, const Tracer *tracer);
/* Writes live.json for the next daemon.  @is_clean: nothing is left in a pipe.  0 or -errno. */
int session_hold_leave(SessionHold *h, const Tracer *tracer, bool is_clean);
void session_hold_let_go(SessionHold *h);
/* The same of one that is not taken up, whatever an earlier daemon had given the manager of it. */
void session_hold_give_up(SessionHold *h);

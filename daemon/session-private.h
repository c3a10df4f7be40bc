/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The session's inside, for daemon/session.c (its life) and daemon/session-adopt.c (taking up one
 * that an earlier daemon had begun).
 */

#include "daemon/recorder.h"
#include "daemon/rotation.h"
#include "daemon/session.h"
#include "daemon/symbol-watch.h"

struct Session {
        const SessionContext *context;
        SessionMeta *meta;
        uint64_t peer;

        /* while it is live */
        SessionDir *dir;
        Tracer *tracer;
        Recorder *recorder;
        Rotation *rotation;
        sd_event_source *deadline;
        SymbolWatch symbol_watch;
        int error;     /* errno that the readers are stuck with */
        bool is_saved; /* session.json says what meta says */

        uint64_t disk_bytes; /* once ended; UINT64_MAX: not counted yet */
};

/* Once the readers have the sequence that they begin or go on with.  0 or -errno. */
int session_begin_rotation(Session *s, const ClockTuple *now);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a session's parts and its callers both name. */

typedef struct Session Session;
/* Of session_snapshot(). */
typedef void (*SnapshotDone)(Session *s, Session *made, int error, void *userdata);
/* Of session_when_hooked(). */
typedef void (*SessionHooked)(Session *s, void *userdata);
/* Of session_when_synced(). */
typedef void (*SessionSynced)(Session *s, void *userdata);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The methods Trigger and Snapshot, for daemon/api/methods.c.  Return as a server method does.
 */

#include "daemon/api/sessions.h"
#include "daemon/server/server.h"

int methods_trigger(ServerCall *call, Session *s, Refusal *refusal);
/* Answers when the snapshot is there. */
int methods_snapshot(ServerCall *call, Sessions *sessions, Session *s, Refusal *refusal);

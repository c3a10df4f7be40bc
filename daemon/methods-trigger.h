/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The methods Trigger and Snapshot, for daemon/methods.c.  Return as a server method does.
 */

#include "daemon/server.h"
#include "daemon/sessions.h"

int methods_trigger(ServerCall *call, Session *s, Refusal *refusal);
/* Answers when the snapshot is there. */
int methods_snapshot(ServerCall *call, Sessions *sessions, Session *s, Refusal *refusal);

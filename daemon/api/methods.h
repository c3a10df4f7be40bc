/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Methods: interface org.ftraced (lib/wire/org.ftraced.varlink) on top of the sessions
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/api/janitor.h"
#include "daemon/api/sessions.h"
#include "daemon/server/server.h"
#include "daemon/tracer/controller.h"

typedef struct Methods Methods;

/* Everything is borrowed. */
int methods_new(Methods **ret, sd_event *event, Background *background, Controller *controller,
                Store *store, Sessions *sessions, const Limits *limits, const char *config_root);
/* Before the first call; borrowed. */
void methods_set_janitor(Methods *m, Janitor *janitor);
/* The table for server_new(), whose userdata is the Methods. */
const ServerMethod *methods_table(size_t *ret_n);
/* A ServerGone: ends what was attached to the connection, and forgets who waited on it. */
void methods_on_gone(uint64_t peer, void *userdata);
/* A ServerRefused: logs it. */
void methods_on_refused(const ServerCall *call, const Refusal *refusal, void *userdata);
void methods_on_closed(uid_t uid, pid_t pid, const char *why, void *userdata);
/* Answers whoever waits for @session; call it after each change of a session's state. */
void methods_session_changed(Methods *m, Session *session);
/* All sessions are known: answers whoever waits for that. */
void methods_sessions_known(Methods *m);
/* The daemon goes: what waits to begin is refused. */
void methods_end(Methods *m);
Methods *methods_free(Methods *m);

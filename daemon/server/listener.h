/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Listener: a listening socket on sd-event that cannot be made to spin
 *
 * A process without a free descriptor can neither accept a connection nor turn
 * it away, and epoll reports it again at once.  A listener keeps one descriptor
 * in reserve: it gives it up, accepts, closes, and takes it back.  After any
 * other lasting error it rests for a moment.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"

typedef struct Listener Listener;

/* @fd: a new connection, close-on-exec, non-blocking; consumed. */
typedef void (*ListenerAccepted)(int fd, void *userdata);

/* @fd: a listening stream socket, made non-blocking; consumed on success.  0 or -errno. */
int listener_new(Listener **ret, sd_event *event, int fd, ListenerAccepted accepted,
                 void *userdata);
Listener *listener_free(Listener *l);
DEFINE_CLEANUP(Listener *, listener_free);

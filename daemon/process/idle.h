/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Idle: something has been so for a while, such as that there is nothing to do
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"

typedef struct Idle Idle;

/* Whether it is so now: asked after every event, so it must be cheap. */
typedef bool (*IdleAsk)(void *userdata);
typedef void (*IdleReached)(void *userdata);

/* @reached is called when @ask has said yes for @usec without a break, and again after as long.  0 or -errno. */
int idle_new(Idle **ret, sd_event *event, uint64_t usec, IdleAsk ask, IdleReached reached,
             void *userdata);
Idle *idle_free(Idle *i);
DEFINE_CLEANUP(Idle *, idle_free);

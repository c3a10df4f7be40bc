/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Manager bus: D-Bus to systemd, process 1
 *
 * As root on systemd's own socket, which needs no bus daemon (servers may lack one), otherwise, and
 * where that fails, on the system bus.
 */

#include <systemd/sd-bus.h>

#define MANAGER_NAME "org.freedesktop.systemd1"

/* The caller has sd_bus_flush_close_unref() to do.  0 or -errno. */
int manager_bus_open(sd_bus **ret);

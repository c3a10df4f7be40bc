/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Manager: what the service manager has in mind
 */

/*
 * manager_is_restarting()
 *
 * A service that is told to end cannot see whether the next one follows, but the manager knows:
 * the job of a unit that is being restarted is of type "restart" while it stops (systemd 252
 * src/core/job.c, job_finish_and_invalidate(): it becomes "start" afterwards).  Asked over its own
 * socket, or over the system bus, for at most MANAGER_TIMEOUT_US.
 *
 * Return: 1, 0 (also where systemd did not start this process), -errno.
 */
#define MANAGER_TIMEOUT_US (15 * 1000000ULL)
int manager_is_restarting(void);

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Workers that do not step back, preloaded into a daemon
 *
 * They run when nobody else does (daemon/process/sandbox.h), which on a busy machine is never.  That they do is
 * unit/test-sandbox.c's; a story waits for what they make.
 */

#include <sched.h>

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param) {
        return 0;
}

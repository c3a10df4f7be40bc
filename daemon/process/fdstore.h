/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * FdStore: descriptors that outlive the daemon
 *
 * The service manager keeps, for each CPU of each live session, the open trace_pipe_raw and the reading end of the
 * pipe, and hands them to the next daemon beside the sockets.  While it holds them the kernel refuses to switch the
 * tracer off (-EBUSY), and pages that are in a pipe stay there.  A name is "ftraced-SESSIONID-CPU" for both descriptors
 * of a CPU; which is which their type tells.  FDPOLL=0 keeps process 1 from polling them: it would be woken by the
 * tracer.  (systemd 251 and older, which do not know the word, refuse trace_pipe_raw's hang-ups at most.)
 *
 * Source: sd_notify(3), "FDSTORE=1"; systemd 252 src/core/service.c, service_add_fd_store().
 */

#include "base/cleanup.h"

typedef struct FdStore FdStore;

/* Takes all that the manager handed over, sockets included, and the environment that says so.  @is_service:
 * false: there is no manager, whatever the environment says. */
int fdstore_new(FdStore **ret, bool is_service);
/* Moves out the next that is no CPU's: a socket to listen on, as a rule.  -ENOENT: there is none left. */
int fdstore_take_other(FdStore *s);
/* True if there is a manager that may keep descriptors. */
bool fdstore_is_there(const FdStore *s);
/* Whether @name is that of such a descriptor, and not a socket's. */
bool fdstore_owns_name(const char *name);

/* Gives copies to the manager; nothing without one.  0 or -errno. */
int fdstore_put(FdStore *s, const char *session_id, uint32_t cpu, int raw_fd, int pipe_fd);
/* Waits until the manager has seen what was said.  0 or -errno (-ETIMEDOUT). */
int fdstore_barrier(FdStore *s);
/* Moves out what was handed over for a CPU: *@ret_raw, *@ret_pipe, -EBADF for what is missing. */
void fdstore_take(FdStore *s, const char *session_id, uint32_t cpu, int *ret_raw, int *ret_pipe);
/* Makes the manager let go of a CPU's. */
int fdstore_remove(FdStore *s, const char *session_id, uint32_t cpu);
/* Makes the manager let go of what nobody took, and closes it; how many names. */
size_t fdstore_drop_rest(FdStore *s);

FdStore *fdstore_free(FdStore *s);
DEFINE_CLEANUP(FdStore *, fdstore_free);

/*
 * manager_is_restarting() - whether the manager ends this service to begin it again
 *
 * The job of a unit that is being restarted is of type "restart" while it stops (systemd 252 src/core/job.c,
 * job_finish_and_invalidate(): it becomes "start" afterwards).  Asked over its own socket, or over the system bus, for
 * 15 s at most.  Return: 1, 0 (also where systemd did not start this process), -errno.
 */
int manager_is_restarting(void);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Remote: the same verb on another host (-H)
 *
 * By ssh, which runs ftracectl there with the same arguments: a daemon hands over file descriptors,
 * which cross no network, so what reads a recording must be where it is.  Nothing but ssh's port is
 * needed.  Words that are files, and --store and --socket, are of that host; -o is of this one.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "cli/options/options.h"

/* [user@]host[:port], or [user@][v6]:port */
typedef struct RemoteHost {
        char *where; /* for ssh: [user@]host */
        char *port;  /* NULL: ssh's own */
} RemoteHost;

/* 0; REMOTE_E_INVALID; -ENOMEM. */
enum { REMOTE_E_INVALID = 1 };
int remote_host_parse(RemoteHost *ret, const char *text);
void remote_host_done(RemoteHost *h);
#define _cleanup_remote_host_ _cleanup_(remote_host_done)

/*
 * remote_command() - what is executed here
 * @ret: ssh and its arguments, the last of which is the shell's line for the other host
 * @with_terminal: for a program there that talks to a person here
 *
 * $FTRACED_SSH, or $SYSTEMD_SSH, is a program that stands for ssh.  0 or -ENOMEM.
 */
int remote_command(Strv *ret, const Options *o, const RemoteHost *h, bool with_terminal);
/* Begins it with these descriptors as its standard input, output and error; its pid or -errno.  It
 * ends with us. */
pid_t remote_spawn(const Strv *command, int in_fd, int out_fd, int err_fd);
/* The exit status of a child of remote_spawn(), which is waited for: 128 + N for signal N,
 * REMOTE_SSH_FAILED: the host was not reached. */
#define REMOTE_SSH_FAILED 255
int remote_wait(pid_t pid);
/* Whether it is there, what there is of a recording with losses. */
static inline bool remote_is_good(int status) {
        return status == STATUS_OK || status == STATUS_INCOMPLETE;
}
/* An exit status, of ours or of what was executed there. */
int remote_run(const Options *o);

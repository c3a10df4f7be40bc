/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Command: a program that is there before the recording and begins after it
 *
 * It is forked at once and waits until it is released, so that neither fork()
 * nor anything of ours is between the recording's begin and the program's.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

typedef struct Command {
        pid_t pid;    /* 0: none, or it has been waited for */
        int go_fd;    /* a byte releases it; closing it makes it leave */
        int error_fd; /* gives errno if execvp() fails */
} Command;

#define COMMAND_INIT ((Command){ .go_fd = -EBADF, .error_fd = -EBADF })

/* @argv: NULL-terminated; call it while signals are as the program shall have them.  -errno. */
int command_hold(Command *ret, char *const *argv);
/* Lets it go.  0; -errno of execvp(), after which it is gone. */
int command_release(Command *c);
/* 1 and *@ret_status as waitpid() gives it, if it has ended; 0 if not, when not asked to @wait. */
int command_reap(Command *c, int *ret_status, bool wait);
/* An unreleased one leaves; a running one goes on. */
void command_done(Command *c);
#define _cleanup_command_ _cleanup_(command_done)

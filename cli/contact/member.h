/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Member: one host of a fleet, and what it answered
 *
 * Owned by the fleet (cli/contact/fleet.h), filled by it or by a gateway (cli/contact/gateway.h).
 */

#include "base/buf.h"
#include "cli/contact/remote.h"
#include "cli/terminal/outfile.h"

#define MEMBER_SAID_MAX ((size_t) 4 << 20) /* bytes of each of out and err; more is left out */

typedef struct Member {
        const char *name; /* as the list has it */
        RemoteHost host;
        Buf out, err;     /* what it wrote; out is empty if that went into a file */
        Outfile file;     /* where its output goes; fd -EBADF: into out */
        int spool_fd;     /* or here, which has no name, for whom this host is a gateway */
        uint64_t n_bytes; /* of the file */
        int error;        /* -errno: it could not be written */
        int status;       /* an exit status, when it is over */
        bool is_chosen;   /* it is to be asked */
        bool is_over;
        bool is_unknown; /* it was asked, and has not answered: nobody knows what it did */
} Member;

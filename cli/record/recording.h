/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Recording: a session that this process began (run, start, follow)
 */

#include "cli/contact/client.h"
#include "cli/options/options.h"
#include "meta/meta.h"

/* Checks the names in @o and of @functions before anything is connected; an exit status. */
int recording_check(const Options *o, const Strv *functions);
/*
 * recording_start()
 * @functions: words as cli/record/selection.h has them
 * @attach: ends when @c closes
 * @wake_fd: of cli/terminal/signals.h, or -EBADF: what interrupts --wait
 *
 * Says on stderr what the daemon warned of.  An exit status.
 */
int recording_start(SessionMeta **ret, const Options *o, Client *c, const Strv *functions,
                    bool attach, int wake_fd);
/* Prints what recording_start() would write into tracefs; an exit status. */
int recording_dry_run(const Options *o, Client *c, const Strv *functions);
/* Names of the sessions that record; an exit status. */
int recording_list_live(Strv *ret, Client *c);
/* Ends @name and waits for its last page, or, if it @may_be_over and is, asks what came of it: the
 * reply.  An exit status. */
int recording_call_stop(json_t **ret, Client *c, const char *name, bool may_be_over);
/* The same; what is already over is fine.  Says what goes for it. */
int recording_stop(SessionMeta **ret, const Options *o, Client *c, const char *name);
/* Says where the recording is and how to draw it. */
void recording_talk_kept(const Options *o, const SessionMeta *m);

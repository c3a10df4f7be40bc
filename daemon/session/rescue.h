/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Rescue: what a kernel that died left in the black box (daemon/instances/instance.h) becomes a session
 *
 * Done once, when a daemon begins, before any session is taken up and so before anybody may arm:
 *
 *      ORIGIN: live in its session.json, with spec.black_box, of another boot
 *         -> blackbox-BOOTID is made, draining, a copy of what ORIGIN has on disk (formats, names of symbols)
 *         -> the pages are moved into it, as they are
 *         -> it is sealed: ended with a reason -> ORIGIN is failed, with the other's name
 *         -> the memory is emptied
 *
 * Whoever dies in between leaves an ORIGIN that is live still: the next daemon goes on, with new segments for what
 * is in memory then.  Nothing is decoded, so that another kernel than the one that died can do it.  What the pages
 * say is not believed: how many are taken depends on the buffer's size alone.
 */

#include "daemon/instances/instance.h"
#include "daemon/tracer/controller.h"
#include "meta/meta.h"
#include "retention/boot-clock.h"
#include "store/session-dir.h"
#include "store/store.h"

/* BOOTID of the session's name is the dead kernel's boot id. */
#define RESCUE_PREFIX "blackbox-"

/*
 * rescue_run() - looks for something to rescue, and does it
 *
 * Logs what it did, or why it could not.  A session of which nothing survived says so in its reason.
 * Return: how many sessions were made (0 or 1), or -errno: nothing was lost that was there before, and the next
 * daemon tries again.
 */
int rescue_run(Controller *c, Store *store);

/* --- the pages of one CPU, from the black box into segments of a session (rescue-pages.c) ------------ */

/*
 * rescue_move_cpu() - read what @b has of a CPU
 * @m: whose id and page size the segment has
 *
 * One segment more than there is in @dir, closed and synced, of the pages that no other has.  As many are read as the
 * buffer can hold, and a few; of a page that is damaged all bytes that came are kept, for readers to say so.
 * Return: 0 or -errno.
 */
int rescue_move_cpu(const BlackBox *b, uint32_t cpu, SessionDir *dir, const SessionMeta *m);
/* The same from any descriptor that gives pages as trace_pipe_raw does (borrowed): for tests. */
int rescue_move_pages(int raw_fd, uint32_t cpu, uint64_t max_pages, SessionDir *dir,
                      const SessionMeta *m, uint64_t *ret_n_pages);

/*
 * rescue_find_seam() - whether there are pages of @cpu from before @ns
 * @ns:          on the recording's trace clock
 * @ret_next_ns: set if so: when the first page after @ns begins; UINT64_MAX: there is none
 *
 * As the pages' headers say; those that cannot be read, or are damaged, count for neither.
 */
bool rescue_find_seam(const SessionDir *dir, uint32_t cpu, uint64_t ns, uint64_t *ret_next_ns);

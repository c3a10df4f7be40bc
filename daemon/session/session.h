/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Session: one recording, from Start to Remove
 *
 * While it is live it owns a programmed tracer, the readers and the session's
 * directory; afterwards only what session.json says.  States: daemon/session/session-private.h.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/instances/instance.h"
#include "daemon/process/background.h"
#include "daemon/process/fdstore.h"
#include "daemon/symbols/kernel-symbols.h"
#include "daemon/tracer/controller.h"
#include "meta/brief.h"
#include "meta/config.h"
#include "meta/meta.h"
#include "retention/boot-clock.h"
#include "retention/footprint.h"
#include "retention/keep.h"
#include "store/session-dir.h"
#include "store/store.h"
#include "wire/refusal.h"

/* Why one has failed that was live when its daemon ended, and could not go on. */
#define SESSION_REASON_DAEMON_ENDED "the daemon ended without stopping it"

typedef struct Session Session;
/* After every change of state. */
typedef void (*SessionChanged)(Session *s, void *userdata);
/* What somebody waited for is so, or will never be.  @error: 0, but for session_snapshot(). */
typedef void (*SessionDone)(Session *s, int error, void *userdata);

/* What sessions need of the daemon; outlives them. */
typedef struct SessionContext {
        sd_event *event;
        Background *background; /* that sessions end in */
        Background *switcher;   /* beside it: switches off what ends while a task is at the kernel */
        Controller *controller;
        Store *store;
        KernelSymbols *symbols;
        FdStore *fdstore;
        const Limits *limits; /* NULL: none */
        SessionChanged changed;
        /* A session that has been made in the store: an ended one.  0 or -errno. */
        int (*found)(const char *name, Session **ret, void *userdata);
        /* Refuses unless its owner may have a snapshot of it, too: 0, REFUSED, -errno. */
        int (*admit)(const Session *s, Refusal *refusal, void *userdata);
        void *userdata;
} SessionContext;

/*
 * session_start() - program the kernel and record
 * @m:    name, spec and owner; consumed on success, and to be freed without a look otherwise
 * @a:    of them; used up
 * @peer: the connection that it ends with, 0: none
 *
 * Return: 0, REFUSED, -ENOMEM.  After a refusal everything is undone.
 */
int session_start(Session **ret, const SessionContext *context, SessionMeta *m, Admission *a,
                  uint64_t peer, Refusal *refusal);

/* An ended session from the store; one that a dead daemon left becomes `failed`.
 * 0, META_E_INVALID (there is no session.json), -errno. */
int session_load(Session **ret, const SessionContext *context, const char *name);

/* What stays in memory of one that has ended while nobody asks for it. */
typedef struct SessionRest {
        Brief brief;
        Footprint footprint;
        uint64_t kept_ns; /* session_meta_kept_ns() */
} SessionRest;
void session_rest_done(SessionRest *rest);
/* As session_segment_sealed(). */
void session_rest_sealed(SessionRest *rest, uint64_t n_before, uint64_t n_bytes);

/*
 * One that has ended is laid down while nobody asks for it:
 *   - session_may_rest(): it has ended, all is written down, and nobody has said that he needs it
 *   - session_rest(): what there is to keep before it is freed; *@ret is set on success.  0 or -ENOMEM
 *   - session_wake(): the session again, or what stands in for it.  0, -errno, also if it has gone meanwhile
 *   - session_keep_awake(): whoever refers to it for longer than an event of the loop says so, and when
 *     he does no more
 */
bool session_may_rest(const Session *s);
int session_rest(Session *s, SessionRest *ret);
int session_wake(Session **ret, const SessionContext *context, const SessionRest *rest);
void session_keep_awake(Session *s, bool awake);

/*
 * session_adopt() - go on with one that an earlier daemon of this boot left recording
 *
 * What it cannot go on with for other reasons than that nothing is there any more it ends with all
 * that was recorded, as session_stop() does, saying why.
 * Return: 0, SESSION_E_NOT_LIVE (it has ended, or nothing is left to go on with: session_load()),
 * META_E_INVALID, -errno.
 */
enum { SESSION_E_NOT_LIVE = 2 };
int session_adopt(Session **ret, const SessionContext *context, const char *name);

/* The daemon is going, and another one goes on with what is recorded; a session that would end with
 * its client's connection ends now.  Whether it goes on. */
bool session_leave(Session *s);
bool session_is_leaving(const Session *s);

/* For whoever is about to read what is still being recorded: the names of tasks so far, or until a
 * moment ago: however often it is called, that never takes more than a tenth of the time. */
void session_save_tasks(Session *s);

/* Ends the recording, saying why; the end is reported later.  Nothing if it has been told before.
 */
void session_stop(Session *s, const char *reason);

/*
 * session_snapshot() - keep what there is as a session of its own
 *
 * Of a ring in the kernel's buffer, and of what a trigger began and ended, it is moved: recording
 * stands still until it is done.  Of a ring on disk it is linked, and recording goes on.
 * @done: with the new session, which may still be synced (session_when_synced()); or with @s and an
 *        error: SNAPSHOT_E_EMPTY (daemon/watch/watch.h), -ECANCELED (it ended meanwhile), other -errno.
 *        NULL: nobody asks.
 * Return: 0, -EINVAL (it is no ring, or does not record), -ENOMEM.
 */
int session_snapshot(Session *s, const char *reason, SessionDone done, void *userdata);
/*
 * session_trigger() - as if the first of the rules had fired that wait for a command, or if there is
 *                     none the first of all; caps do not hold it back
 * A recording that begins may lack what the roots call for a moment: session_when_hooked().
 * Return: 0, -EINVAL (it has no triggers), -EBUSY (there is nothing to do in the state it is in).
 */
int session_trigger(Session *s, const char *who);
/* Whether the rules of @spec make sense and, when it is begun and never again (@is_new), whether the moments that they
 * wait for are to come.  0, REFUSED, -errno. */
int session_admit_triggers(const Spec *spec, bool is_new, Refusal *refusal);
/* Calls @done, once, when what it records is hooked, or it has ended before. */
void session_when_hooked(Session *s, SessionDone done, void *userdata);
/* Calls @done, once, when an ended session is on its disk, or it is known that some of it never will be, or
 * that takes too long: its meta says which. */
void session_when_synced(Session *s, SessionDone done, void *userdata);
/* True if a learning pass reads what it has stored, or that is not known to be on its disk though it has ended. */
bool session_is_held(const Session *s);
/* SIGUSR2: whether it waits for that. */
bool session_signal(Session *s);

/* Brings the accounts of a live session up to date: for whoever shows them. */
void session_refresh(Session *s);
const SessionMeta *session_meta(const Session *s);
/* What a client is told of it, up to date; NULL without memory. */
json_t *session_to_json(Session *s);
/* And, of one that recorded nothing yet, why: the kernel's lists are read for that (some 50 ms). */
json_t *session_explain(Session *s);
const char *session_name(const Session *s);
bool session_is_live(const Session *s);
/* True if one of its threads does not move any more, by a fault of this process. */
bool session_is_hung(const Session *s);
uint64_t session_peer(const Session *s);
/* Returns what it takes in the store (retention/footprint.h); of a live one that is remembered for a moment. */
uint64_t session_disk_bytes(Session *s);

/* A file of another size took a segment's place. */
void session_segment_sealed(Session *s, uint32_t cpu, uint64_t sequence, uint64_t n_before,
                            uint64_t n_bytes);

/* 0 or -errno: it is as it was. */
int session_set_pinned(Session *s, bool pinned);
/* Returns what a live one may still take; 0: nobody knows. */
uint64_t session_growth_bytes(Session *s);
/* The disk is full: a ring lets go of its oldest segments.  Whether it did. */
bool session_yield(Session *s);
/* What stands against removing it, if it has ended: a Keep (*@ret_foreign: retention/keep.h) or -errno. */
int session_look_keep(Session *s, char **ret_foreign);
/* @name is about to use function_graph as well: kept with @s if that is live.  Whether it is news. */
bool session_add_neighbour(Session *s, const char *name);
/* It was refused. */
void session_drop_neighbour(Session *s, const char *name);
void session_set_watched(Session *s, bool watched);

/* Ends it at once, waiting for the readers, if it is live. */
Session *session_free(Session *s);
DEFINE_CLEANUP(Session *, session_free);

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
 * rescue_move_pages() - read what a CPU has, @max_pages at most
 * @raw_fd: gives pages as trace_pipe_raw does; borrowed
 * @m:      whose id and page size the segment has
 *
 * One segment more than there is in @dir, closed and synced, of the pages that no other has.  As many are read as the
 * buffer can hold, and a few; of a page that is damaged all bytes that came are kept, for readers to say so.
 * Return: 0 or -errno.
 */
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

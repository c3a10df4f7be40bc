/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Health: what is wrong with a live session, and what it lacks for that
 *
 * Keeps three members of the session's metadata up to date: the CPUs' accounts, the conditions ("degraded": the disk is
 * full, somebody switched tracing off) and the gaps that come of them: a condition is what the readers, the control files
 * and the kernel's counters say.  A look is a task, for while another one waits for the kernel its files do not open.
 *
 * Where a loss lies is known to about HEALTH_LOOK_S: an overrun between the look at which the CPU's pages were last
 * seen to move and the look that found it, and what others do between the last look at which the file was right and the
 * one that saw it.
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/record/recorder.h"
#include "daemon/tracer/controller.h"
#include "meta/meta.h"

#define HEALTH_LOOK_S 4 /* between looks */
#define HEALTH_STUCK_S 10 /* a disk that has not answered for so long is said to be stuck */
#define HEALTH_HUNG_S 20  /* a reader that does not move for so long, for no reason, never will */

typedef struct Health Health;

typedef struct HealthConfig {
        sd_event *event;
        SessionMeta *meta;
        Recorder *recorder;
        Tracer *tracer;
        const char *store; /* its path, for sentences */
        /* Conditions or gaps are others than before, or a look is due: if modules came or went, health_hold_hooks(). */
        void (*changed)(bool is_new, void *userdata);
        /* HEALTH_LOOK_S have passed and all that is looked at then was; may end the session. */
        void (*looked)(void *userdata);
        void *userdata;
} HealthConfig;

/* The accounts in config->meta are where the session begins or goes on: what the kernel and the readers count beyond
 * them is noted by the next health_refresh().  Everything in @config is borrowed.  0 or -errno. */
int health_new(Health **ret, const HealthConfig *config);
/* The @i-th CPU's pages are stored up to @stored_ns, of a session that is taken up: what was lost
 * meanwhile is behind it. */
void health_resume(Health *h, size_t i, uint64_t stored_ns);
/* Begins to watch for others and to look at intervals; recording is on already.  Again after
 * health_end_watch().  0 or -errno. */
int health_watch(Health *h);
/* The look that is due at the next interval, at once. */
void health_look_soon(Health *h);
/* Brings the accounts up to date, and the gaps with them; whether there are new ones.  While the tracer is held up they
 * stay as they are. */
bool health_refresh(Health *h);
/* The readers' errors may be others than before. */
void health_look_at_disk(Health *h);
/* Something is wrong, or well again, that others noticed: whether that is news. */
bool health_set_condition(Health *h, GapCause cause, const char *reason);
bool health_clear_condition(Health *h, GapCause cause);
/* A gap from the last look of all to now. */
void health_note_gap(Health *h, GapCause cause);
/* Pages that were stored are lost: the caller notes it in the metadata.  The trace clock's time. */
uint64_t health_note_lost(Health *h, uint32_t cpu, uint64_t n_pages);
/* The tracer was quiesced (daemon/instances/instance.h), in its clock. */
void health_note_quiesce(Health *h, uint64_t from_ns, uint64_t to_ns);
/* CPU time that the looks at intervals took so far. */
uint64_t health_cpu_ns(const Health *h);
/* Recording is about to be switched off: what others do from now on is their business. */
void health_end_watch(Health *h);
/* The same without a last look: what it would find is the kernel's doing at our behest. */
void health_drop_watch(Health *h);
/* In between the daemon writes which functions are hooked; all else is watched meanwhile.  The latter also where
 * nothing was watched before: 0 or -errno. */
void health_hold_hooks(Health *h);
int health_release_hooks(Health *h);
/* The loop itself has just written them, between two looks. */
void health_renew_hooks(Health *h);
/* Whether a reader has not moved for HEALTH_HUNG_S and more, and no disk holds it up. */
bool health_is_hung(const Health *h);
/* The readers have ended: the last accounts, and the end of what is open. */
void health_finish(Health *h);
/* A sentence for whoever looks, in the log and in the metadata; each once. */
void health_warn(SessionMeta *m, const char *format, ...) _printf_(2, 3);
Health *health_free(Health *h);
DEFINE_CLEANUP(Health *, health_free);

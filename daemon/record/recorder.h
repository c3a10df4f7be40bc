/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Recorder: the readers of one session, as the main thread sees them
 */

#include "daemon/record/reader.h"
#include "store/session-dir.h"

typedef struct Recorder Recorder;

/* Something of note happened: look at is_full, error, has_ended.  May free the recorder. */
typedef void (*RecorderChanged)(void *userdata);

/* @shared: what of it is the session's; @buffer_bytes: the kernel's, for each CPU: bounds the last drain.  0 or -errno. */
int recorder_new(Recorder **ret, sd_event *event, const ReaderShared *shared, uint64_t buffer_bytes,
                 RecorderChanged changed, void *userdata);
/* One call for each CPU, before recorder_start(); @raw_fd, @pipe_fd: as reader_new() has them.  @ret: borrowed, NULL is
 * fine. */
int recorder_add(Recorder *r, Reader **ret, uint32_t cpu, int raw_fd, int pipe_fd);
/* What was stored before of the @i-th CPU (n_pages and pages_lost); what was stored of it is lost. */
void recorder_add_account(Recorder *r, size_t i, const CpuAccount *account);
void recorder_lose_pages(Recorder *r, size_t i, uint64_t n_pages);
int recorder_start(Recorder *r);
/* The kernel writes no more: the readers drain what it has and end.  Or another daemon will go on: they empty their pipes
 * and end.  Both return at once. */
void recorder_stop(Recorder *r);
void recorder_leave(Recorder *r);
/*
 * Held readers leave everything in the kernel's buffer and wake up for nothing but a flush, which
 * makes each take what the kernel has now, with its partly filled page: `changed` is called when
 * recorder_is_flushed().  What is in a segment of a sequence before a cut is complete after a flush
 * that was begun after it.
 */
void recorder_set_held(Recorder *r, bool held);
void recorder_flush(Recorder *r);
bool recorder_is_flushed(const Recorder *r);
void recorder_cut(Recorder *r); /* ends the period now, unless nothing was stored in it */
void recorder_kick(
        Recorder *r); /* every reader looks at once whether there was a cut, or something else */
/* The sequence of the segments that are begun now: one more after each cut. */
uint64_t recorder_sequence(const Recorder *r);
/* No segment of the @i-th CPU with a sequence below this is written to, nor will be; of all CPUs. */
uint64_t recorder_first_open(const Recorder *r, size_t i);
uint64_t recorder_oldest_open(const Recorder *r);

/* Readers whose CPUs were offline look whether they are still; by themselves they do so seldom. */
void recorder_look_for_cpus(Recorder *r);
bool recorder_has_ended(const Recorder *r); /* every reader drained and ended */
bool recorder_is_full(const Recorder *r);   /* max_bytes have been stored */
int recorder_error(const Recorder *r);      /* errno that some reader is stuck with, 0: none */
/* True if every reader has moved since the last call, or is in a wait that is not over yet. */
bool recorder_made_progress(Recorder *r);
/* A reader that has not moved since then, and is in no wait of its own; STUCK_ITSELF: what holds it up is nothing outside of
 * this process, or somebody stopped it.  @ret_text: the thread, for a sentence. */
typedef enum RecorderStuck { STUCK_NOT, STUCK_DISK, STUCK_TRACEFS, STUCK_ITSELF } RecorderStuck;
#define RECORDER_STUCK_MAX 64
RecorderStuck recorder_find_stuck(const Recorder *r, char ret_text[static RECORDER_STUCK_MAX]);
/* Whether partly filled pages are stored at short intervals. */
void recorder_set_watched(Recorder *r, bool watched);

size_t recorder_n_cpus(const Recorder *r);
uint32_t recorder_cpu(const Recorder *r, size_t i);
uint64_t recorder_n_bytes(const Recorder *r);
/* CPU time that the readers took so far; nothing of those that have ended. */
uint64_t recorder_cpu_ns(const Recorder *r);
/* `changed` is also called when @n_bytes are stored: whether they are, is asked by the other. */
void recorder_look_at(Recorder *r, uint64_t n_bytes);
bool recorder_wants_look(const Recorder *r);
/* Fills what the readers count (cpu, n_pages, n_bytes, pages_lost) of the @i-th CPU; its
 * pages_dropped are left out of the others. */
void recorder_read_account(const Recorder *r, size_t i, CpuAccount *ret);

/* What the @i-th CPU recorded before is stored, on the trace clock; 0: not known. */
uint64_t recorder_stored_ns(const Recorder *r, size_t i);

/* Stops if need be and waits for the threads; closes every trace_pipe_raw. */
Recorder *recorder_free(Recorder *r);
DEFINE_CLEANUP(Recorder *, recorder_free);

/*
 * Rotation: when a live session's segments are cut, what they take on disk, and what a ring lets go of
 *
 * Readers cut by size, this by time; either way this writes down when it was, and drops what a ring has no room for.
 * Main thread.
 */

typedef struct Rotation Rotation;

/* A ring's period is this part of it, so that so much at most is dropped at once. */
#define ROTATION_RING_PARTS 8

typedef struct RotationConfig {
        sd_event *event;
        SessionDir *dir;   /* borrowed, like the next two */
        SessionMeta *meta; /* what is dropped is noted in it */
        Recorder *recorder;
        uint64_t segment_ns; /* 0: not by time */
        uint64_t ring_bytes; /* on disk; 0: not a ring */
        /* A cut by time was made: rotation_look() wants to be called. */
        void (*cut)(void *userdata);
        void *userdata;
} RotationConfig;

typedef struct InventorySums {
        size_t n;               /* segments */
        uint64_t n_bytes;       /* their blocks on disk */
        uint64_t counted_bytes; /* FOOTPRINT_ENTRY_BYTES at least of each (retention/footprint.h) */
} InventorySums;

/*
 * rotation_new() - once the readers have the sequences that they begin or go on with, before they run
 * @clocks: now
 *
 * A session that another daemon had begun goes on with its log of cuts.  0 or -errno.
 */
int rotation_new(Rotation **ret, const RotationConfig *config, const ClockTuple *clocks);

/* Whether there was a cut, and meta may have changed.  @clocks: now. */
int rotation_look(Rotation *r, const ClockTuple *clocks);
/* The disk takes no more: a ring lets go of its oldest period; if that is the one which is written to, it is ended, so that
 * the next call can.  Nothing for others.  Whether meta has changed. */
int rotation_make_room(Rotation *r);
/* All periods that nobody writes to are elsewhere now: they go, and count as neither kept nor dropped. */
void rotation_move_out(Rotation *r);
/* Returns what there is; of what could not be looked at for want of memory the next call knows.  @r NULL: nothing. */
InventorySums rotation_look_at_segments(Rotation *r);
/* It was sealed, so that another file took its place, or is gone. */
void rotation_segment_changed(Rotation *r, uint64_t sequence);
/* All readers have ended: the ring gets down to its size.  @r may be NULL. */
void rotation_finish(Rotation *r);
Rotation *rotation_free(Rotation *r);
DEFINE_CLEANUP(Rotation *, rotation_free);

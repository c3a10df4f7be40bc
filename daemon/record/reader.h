/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Syncer: whether what a session has stored is on its disk
 *
 * What a segment has taken is in the page cache.  The kernel writes it later, and tells of a failure
 * only who syncs with a descriptor from before; then it takes the pages for written.  So a segment that
 * is closed comes here with the descriptor it was written through, and is synced in a thread of its
 * own, one after the other, beside everything else.  What fails is told once: memory has its pages, but
 * the disk may lack any of them.
 *
 * A ring's segments are synced at its end alone (syncer_add_all()): most are gone before the kernel would
 * write them.
 * What was sealed or removed meanwhile has no name any more and is passed over: a sealed segment was
 * synced by who wrote it.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <systemd/sd-event.h>

#include "store/session-dir.h"

typedef struct Syncer Syncer;

typedef struct SyncerConfig {
        sd_event *event;
        const SessionDir *dir; /* looked at by syncer_new() alone */
        uint32_t page_bytes;
        bool is_ring;
        /* In the loop: something has failed or is well again, or all is done. */
        void (*moved)(void *userdata);
        void *userdata;
} SyncerConfig;

/* The disk may lack these pages of a segment; with n_pages 0 it is a file that reading them needs. */
typedef struct SyncerFailure {
        uint32_t cpu;
        uint64_t n_pages;
        uint64_t first_ns; /* of the first of them, on the trace clock; 0: it does not tell */
        int error;
} SyncerFailure;

/* 0 or -errno. */
int syncer_new(Syncer **ret, const SyncerConfig *config);

/*
 * syncer_add() - a segment is closed, or a file (@n_pages 0) is written; by any thread
 * @fd: that it was written through; consumed; < 0: nothing
 */
void syncer_add(Syncer *s, int fd, uint32_t cpu, uint64_t n_pages);
/* All segments that are there when its turn comes, and have not come by syncer_add(): they have so many
 * pages, as far as is known. */
void syncer_add_all(Syncer *s, uint64_t n_pages);
/* No more will come: what is left is synced, then the session's other files and directories.  May be
 * called again when that is done, and syncs those once more. */
void syncer_end(Syncer *s);

typedef struct SyncerState {
        bool is_done; /* after syncer_end(): with all, well or not */
        int error;    /* errno of the last segment, 0: it was well */
        uint64_t
                n_left; /* pages that are closed and neither known to be on the disk nor to have failed */
} SyncerState;
SyncerState syncer_look(Syncer *s);
/* Hands out what failed, each once; false: nothing more. */
bool syncer_take_failure(Syncer *s, SyncerFailure *ret);
/* Waits for nothing: a thread that a disk holds up ends when that lets it. */
Syncer *syncer_free(Syncer *s);
DEFINE_CLEANUP(Syncer *, syncer_free);

/*
 * Reader: one CPU's pages, from the kernel into segments, in a thread of its own
 *
 *      trace_pipe_raw ──splice──> pipe ──splice──> cpuN/SSSSSSSS.seg      whole pages
 *      trace_pipe_raw ──read──> mapping of the segment's end              the partly filled page
 *
 * Segments of all CPUs are cut together: there is one number for all readers, the
 * sequence of what they begin, and who finds a segment of an older one in its
 * hand closes it at the next page boundary.  A page that waits in the kernel
 * during a cut may so come into the period after it.
 *
 * A page is in the kernel's buffer, in the pipe or in the page cache of the
 * segment, never in this process's own memory.  What the disk refuses stays in
 * the pipe and, behind it, in the kernel's buffer; it is tried again every
 * READER_RETRY_MS.  Only the last drain gives up, after READER_GIVE_UP_MS, and
 * then counts what was lost.
 *
 * A reader may die anywhere with its process.  As long as somebody else (daemon/process/fdstore.h) holds
 * the raw descriptor and the pipe, another one takes up where it was: reader_resume().
 */

/*
 * Backoff: how long a reader leaves its CPU's buffer alone
 *
 * The kernel wakes a reader that waits in poll() by an interrupt it sends to itself in the middle
 * of recording an event (irq_work; linux 6.12 kernel/trace/ring_buffer.c, rb_wakeups()).  The
 * functions that send it are then recorded below the root, as if it had called them, and where
 * another interrupt meets them the return of irq_exit_rcu() is dropped without being counted
 * (7.2; calls/census.c).  So poll() is for bursts, and a steady stream is
 * fetched by the clock, before poll() would have anything to say.
 */

#define BACKOFF_MIN_MS 1
#define BACKOFF_FIRST_MS                                                                           \
        10 /* after the kernel had to wake us: the stream's rate is not known yet */

typedef struct Backoff {
        uint64_t goal_bytes; /* to be fetched at a time: well below what makes poll() readable */
        uint32_t max_ms;     /* with no data, and never longer */
        uint32_t interval_ms;
} Backoff;

#define BACKOFF_INIT(goal, max)                                                                    \
        ((Backoff){ .goal_bytes = (goal), .max_ms = (max), .interval_ms = (max) })

/*
 * backoff_percent() - how full a buffer is when the kernel wakes its reader (buffer_percent), 1..25
 * @max_bytes: of the whole recording, 0: no limit; a small one is not to be overshot by much
 */
unsigned backoff_percent(uint64_t buffer_bytes, uint64_t max_bytes);
/* Half of that, in bytes: a Backoff's goal. */
uint64_t backoff_goal(uint64_t buffer_bytes, uint64_t max_bytes);

/* @n_bytes came in the last @elapsed_ms: how long to wait now [ms], BACKOFF_MIN_MS..max_ms. */
uint32_t backoff_next(Backoff *p, uint64_t n_bytes, uint64_t elapsed_ms);
/* The kernel woke us: more came than was foreseen. */
void backoff_wake(Backoff *p);

/* --- the reader ------------------------------------------------------------------------------- */

#define READER_SEGMENT_BYTES (128ULL << 20) /* then another segment follows */
#define READER_PIPE_BYTES (1U << 20)
#define READER_SMALL_PIPE_BYTES (64 << 10) /* what pipe2() gives */
#define READER_IDLE_MS 5000   /* times the readers: a look at the buffer without being told to */
#define READER_WATCHED_MS 100 /* the same while watched, for the partly filled page too */
#define READER_SPURIOUS_MS 10 /* poll() said readable, no whole page was there */
#define READER_RETRY_MS 250   /* after the disk refused */
#define READER_GIVE_UP_MS 10000

typedef struct Reader Reader;

/*
 * What all readers of a session share.  The main thread sets everything up
 * before the first reader starts, and frees it after the last was freed.
 *
 *      field       written by
 *      dir         nobody; readers make directories through it
 *      wake_fd     readers: "look at me", after a cut, a change of error, full or ended; main reads it
 *      stopping    main thread, which then kicks every reader
 *      watched     main thread, likewise
 *      look_at_bytes   main thread
 *      leaving     main thread, before stopping
 *      held        main thread, which then kicks every reader
 *      flush       main thread, likewise
 *      n_bytes     readers
 *      sequence, cut_at_bytes   whoever makes the cut, reader_cut()
 *      the others  nobody
 */
typedef struct ReaderShared {
        SessionDir *dir;
        Syncer *syncer;         /* of what is closed; NULL: nobody syncs it */
        const char *session_id; /* 16 hex digits */
        uint32_t page_bytes;
        uint64_t segment_bytes;   /* READER_SEGMENT_BYTES; tests take less */
        uint64_t period_bytes;    /* of all CPUs, then there is a cut; 0: no limit */
        uint64_t max_bytes;       /* 0: no limit; wake_fd is told when n_bytes gets there */
        uint64_t drain_max_bytes; /* the last drain ends here even if more arrives */
        uint64_t goal_bytes;      /* fetched at a time from a steady stream */
        bool is_overwritten; /* what is taken by a flush begins where the kernel's buffer does */
        unsigned idle_ms;    /* longest wait of one reader */
        unsigned give_up_ms; /* READER_GIVE_UP_MS; tests take less */
        int wake_fd;         /* eventfd, borrowed */
        atomic_bool stopping, watched;
        atomic_bool leaving; /* the stop is not the recording's end: another daemon goes on */
        atomic_bool held;    /* nothing is taken from the kernel but by a flush; nobody wakes up */
        atomic_uint_fast64_t flush; /* raised by 1: take all that the kernel has now */
        atomic_uint_fast64_t n_bytes;
        atomic_uint_fast64_t sequence;      /* of the segments that are begun now */
        atomic_uint_fast64_t cut_at_bytes;  /* n_bytes at which period_bytes are full */
        atomic_uint_fast64_t look_at_bytes; /* n_bytes at which wake_fd is told */
} ReaderShared;

/*
 * reader_cut() - end the period @sequence on all CPUs
 *
 * By size a reader does it, by time the main thread.  Nothing if it has ended already, so that all
 * who find it full at once make one cut.  True if this call did it; tell the readers with
 * reader_kick(), for those that have nothing to store would not look.
 */
bool reader_cut(ReaderShared *shared, uint64_t sequence);

/* What a reader tells of itself; all written by its thread, read by anybody at any time. */
typedef struct ReaderCounters {
        atomic_uint_fast64_t n_pages, n_bytes; /* in segments */
        atomic_uint_fast64_t n_wakeups;
        atomic_uint_fast64_t progress; /* moves whenever the thread does */
        atomic_uint_fast64_t pages_lost;
        /* Trace clock at the beginning of the last page that was stored, 0: there was none.  What is
         * later may be in the kernel's buffer still, or in the pipe. */
        atomic_uint_fast64_t stored_ns;
        /* The segment that is or may be open; UINT64_MAX: none.  What is older nobody writes to. */
        atomic_uint_fast64_t open_sequence;
        /* The last flush that is done: what the kernel had is in segments, and if there was a cut
         * before it none of an older sequence is open. */
        atomic_uint_fast64_t flushed;
        atomic_int error; /* errno of what goes wrong at the moment, 0: nothing */
        atomic_int tid;   /* of the thread; 0: it has not begun */
        /* It waits for data until then at the latest (CLOCK_MONOTONIC), and no progress is expected; 0:
         * it does not wait. */
        atomic_uint_fast64_t wait_until_ms;
        atomic_bool asks_tracefs; /* it is in a call that only tracefs answers, and no disk */
        atomic_bool offline;      /* the CPU is not online; a kick makes the reader look again */
        atomic_bool ended;        /* the thread returns next */
} ReaderCounters;

struct Reader {
        /* constant while the thread runs */
        ReaderShared *shared;
        uint32_t cpu;
        int raw_fd, kick_fd;
        pthread_t thread;
        bool is_started;

        ReaderCounters counters;
        uint64_t progress_seen; /* the recorder's */

        /* the thread's alone */
        int pipe_fds[2];
        bool pipe_is_grown;
        size_t n_piped; /* bytes in the pipe */
        int cpu_dir_fd;
        SegmentWriter *segment;
        uint64_t sequence; /* of the segment */
        uint64_t previous; /* of the last segment that was closed; UINT64_MAX: none */
        uint8_t *tail;     /* page that read() fills, or NULL */
        size_t n_tail;     /* bytes of it that are there */
};

/* @raw_fd: trace_pipe_raw, non-blocking.  @pipe_fd: the reading end of a pipe with whatever is in it; < 0: a new pipe.
 * Both are consumed on success.  0 or -errno. */
int reader_new(Reader **ret, ReaderShared *shared, uint32_t cpu, int raw_fd, int pipe_fd);
/*
 * reader_resume() - go on where the reader of a daemon that died had come to, before reader_start()
 *
 * Opens this CPU's last segment for appending.  A page that was cut in two goes on in the pipe;
 * without the pipe the part that is there is cut off and counted as lost.  Of what was stored before only that part
 * is counted.
 * Return: 0 or -errno.
 */
int reader_resume(Reader *r);
int reader_start(Reader *r);
/* Makes the thread look at what it shares, and at its CPU. */
void reader_kick(Reader *r);
/* CPU time of its thread so far; 0 before it has started and after it has ended. */
uint64_t reader_cpu_ns(const Reader *r);
/* Waits for the thread (shared->stopping must be set, and it kicked) and closes the raw descriptor. */
Reader *reader_free(Reader *r);

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Eventfds carry everything that is said between the threads: one to each reader
 * says "look at what we share", and wake_fd, to the main loop, "look at the
 * counters".  The loop never waits for a thread: each says
 * that it has ended, and only then is it joined.
 */

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/array.h"
#include "base/io.h"
#include "base/unit.h"
#include "daemon/record/recorder.h"

struct Recorder {
        ReaderShared shared;
        Reader **readers;   /* n_readers of them, ascending by CPU */
        uint64_t cut_bytes; /* n_bytes at the last cut by recorder_cut() */
        size_t n_readers;
        sd_event_source *wake;
        RecorderChanged changed;
        void *userdata;
};

void recorder_kick(Recorder *r) {
        for (size_t i = 0; i < r->n_readers; i++)
                reader_kick(r->readers[i]);
}

static int recorder_on_wake(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Recorder *r = userdata;
        eventfd_t n;

        (void) eventfd_read(fd, &n);
        r->changed(r->userdata);
        return 0;
}

int recorder_new(Recorder **ret, sd_event *event, const ReaderShared *shared, uint64_t buffer_bytes,
                 RecorderChanged changed, void *userdata) {
        _cleanup_(recorder_freep) Recorder *r =
                NEW(Recorder, .shared = *shared, .changed = changed, .userdata = userdata);
        int k;

        if (!r)
                return -ENOMEM;
        r->shared.drain_max_bytes = 2 * buffer_bytes + READER_PIPE_BYTES;
        r->shared.goal_bytes = backoff_goal(buffer_bytes, shared->max_bytes);
        r->shared.give_up_ms = READER_GIVE_UP_MS;
        atomic_store(&r->shared.look_at_bytes, UINT64_MAX);
        r->shared.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (r->shared.wake_fd < 0)
                return ORIGIN(-errno);

        k = sd_event_add_io(event, &r->wake, r->shared.wake_fd, EPOLLIN, recorder_on_wake, r);
        if (k < 0)
                return k;

        *ret = TAKE_PTR(r);
        return 0;
}

int recorder_add(Recorder *r, Reader **ret, uint32_t cpu, int raw_fd, int pipe_fd) {
        Reader *reader;
        int k;

        if (!ARRAY_GROW(r->readers, r->n_readers))
                return -ENOMEM;
        k = reader_new(&reader, &r->shared, cpu, raw_fd, pipe_fd);
        if (k < 0)
                return k;
        reader->progress_seen = UINT64_MAX;
        r->readers[r->n_readers++] = reader;
        if (ret)
                *ret = reader;
        return 0;
}

void recorder_add_account(Recorder *r, size_t i, const CpuAccount *account) {
        ReaderCounters *c = &r->readers[i]->counters;
        uint64_t n_pages = account->n_pages + account->pages_dropped,
                 n_bytes = n_pages * r->shared.page_bytes;

        atomic_fetch_add(&c->n_pages, n_pages);
        atomic_fetch_add(&c->n_bytes, n_bytes);
        atomic_fetch_add(&c->pages_lost, account->pages_lost);
        atomic_fetch_add(&r->shared.n_bytes, n_bytes);
}

void recorder_lose_pages(Recorder *r, size_t i, uint64_t n_pages) {
        ReaderCounters *c = &r->readers[i]->counters;

        n_pages = MIN(n_pages, (uint64_t) atomic_load(&c->n_pages));
        atomic_fetch_sub(&c->n_pages, n_pages);
        atomic_fetch_sub(&c->n_bytes, n_pages * r->shared.page_bytes);
        atomic_fetch_add(&c->pages_lost, n_pages);
}

int recorder_start(Recorder *r) {
        r->shared.idle_ms = (unsigned) (READER_IDLE_MS * r->n_readers);
        atomic_store(&r->shared.cut_at_bytes, recorder_n_bytes(r) + r->shared.period_bytes);
        for (size_t i = 0; i < r->n_readers; i++) {
                int k = reader_start(r->readers[i]);

                if (k < 0)
                        return k;
        }
        return 0;
}

void recorder_stop(Recorder *r) {
        atomic_store(&r->shared.stopping, true);
        recorder_kick(r);
}

void recorder_leave(Recorder *r) {
        atomic_store(&r->shared.leaving, true);
        recorder_stop(r);
}

void recorder_set_held(Recorder *r, bool held) {
        atomic_store(&r->shared.held, held);
        recorder_kick(r);
}

void recorder_flush(Recorder *r) {
        atomic_fetch_add(&r->shared.flush, 1);
        recorder_kick(r);
}

bool recorder_is_flushed(const Recorder *r) {
        for (size_t i = 0; i < r->n_readers; i++)
                if (atomic_load(&r->readers[i]->counters.flushed) != atomic_load(&r->shared.flush))
                        return false;
        return true;
}

void recorder_cut(Recorder *r) {
        uint64_t n_bytes = recorder_n_bytes(r);

        if (n_bytes == TAKE(r->cut_bytes, n_bytes))
                return;
        (void) reader_cut(&r->shared, recorder_sequence(r));
}

uint64_t recorder_sequence(const Recorder *r) {
        return atomic_load(&r->shared.sequence);
}

uint64_t recorder_first_open(const Recorder *r, size_t i) {
        /* In this order: see reader_claim_sequence(). */
        uint64_t sequence = recorder_sequence(r),
                 open_sequence = atomic_load(&r->readers[i]->counters.open_sequence);

        return MIN(sequence, open_sequence);
}

uint64_t recorder_oldest_open(const Recorder *r) {
        uint64_t oldest = recorder_sequence(r);

        for (size_t i = 0; i < r->n_readers; i++)
                oldest = MIN(oldest, recorder_first_open(r, i));
        return oldest;
}

uint32_t recorder_cpu(const Recorder *r, size_t i) {
        return r->readers[i]->cpu;
}

/* A reader whose CPU is offline cannot wait for it: poll() says POLLERR at once, and nobody tells when the CPU comes. */
void recorder_look_for_cpus(Recorder *r) {
        for (size_t i = 0; i < r->n_readers; i++)
                if (atomic_load(&r->readers[i]->counters.offline))
                        reader_kick(r->readers[i]);
}

bool recorder_has_ended(const Recorder *r) {
        for (size_t i = 0; i < r->n_readers; i++)
                if (!atomic_load(&r->readers[i]->counters.ended))
                        return false;
        return true;
}

uint64_t recorder_n_bytes(const Recorder *r) {
        return atomic_load(&r->shared.n_bytes);
}

bool recorder_is_full(const Recorder *r) {
        return r->shared.max_bytes > 0 && recorder_n_bytes(r) >= r->shared.max_bytes;
}

int recorder_error(const Recorder *r) {
        for (size_t i = 0; i < r->n_readers; i++) {
                int error = atomic_load(&r->readers[i]->counters.error);

                if (error > 0)
                        return error;
        }
        return 0;
}

/* Neither over nor in a wait that may still be going on. */
static bool is_to_move(const ReaderCounters *c) {
        return !atomic_load(&c->ended) &&
               now_ns(CLOCK_MONOTONIC) / NSEC_PER_MSEC > atomic_load(&c->wait_until_ms);
}

bool recorder_made_progress(Recorder *r) {
        bool moved = true;

        for (size_t i = 0; i < r->n_readers; i++) {
                Reader *reader = r->readers[i];
                uint64_t progress = atomic_load(&reader->counters.progress);

                moved = moved &&
                        (progress != reader->progress_seen || !is_to_move(&reader->counters));
                reader->progress_seen = progress;
        }
        return moved;
}

/* 'D' is a sleep in the kernel that no signal ends. */
static RecorderStuck look_at(const Reader *r) {
        int tid = atomic_load(&r->counters.tid);
        _cleanup_free_ char *stat = NULL;
        const char *state = NULL;
        char path[64];

        if (tid <= 0 || atomic_load(&r->counters.progress) != r->progress_seen ||
            !is_to_move(&r->counters))
                return STUCK_NOT;
        if (atomic_load(&r->counters.asks_tracefs))
                return STUCK_TRACEFS;
        (void) snprintf(path, sizeof(path), "/proc/self/task/%i/stat", tid);
        if (file_read(AT_FDCWD, path, &stat, NULL, 4096) >= 0)
                state = strrchr(stat, ')');
        return !state || state[1] != ' ' || state[2] == 'D' ? STUCK_DISK : STUCK_ITSELF;
}

/* One that hangs by itself before one that something else holds up. */
RecorderStuck recorder_find_stuck(const Recorder *r, char ret_text[static RECORDER_STUCK_MAX]) {
        RecorderStuck found = STUCK_NOT;

        for (size_t i = 0; i < r->n_readers && found != STUCK_ITSELF; i++) {
                const Reader *reader = r->readers[i];
                RecorderStuck stuck = look_at(reader);

                if (stuck == STUCK_NOT || (found != STUCK_NOT && stuck != STUCK_ITSELF))
                        continue;
                (void) snprintf(ret_text, RECORDER_STUCK_MAX, "thread %i that reads CPU %" PRIu32,
                                atomic_load(&reader->counters.tid), reader->cpu);
                found = stuck;
        }
        return found;
}

void recorder_set_watched(Recorder *r, bool watched) {
        atomic_store(&r->shared.watched, watched);
        recorder_kick(r);
}

size_t recorder_n_cpus(const Recorder *r) {
        return r->n_readers;
}

uint64_t recorder_cpu_ns(const Recorder *r) {
        uint64_t n = 0;

        for (size_t i = 0; i < r->n_readers; i++)
                n += reader_cpu_ns(r->readers[i]);
        return n;
}

void recorder_look_at(Recorder *r, uint64_t n_bytes) {
        atomic_store(&r->shared.look_at_bytes, n_bytes);
}

bool recorder_wants_look(const Recorder *r) {
        return recorder_n_bytes(r) >= atomic_load(&r->shared.look_at_bytes);
}

void recorder_read_account(const Recorder *r, size_t i, CpuAccount *ret) {
        const ReaderCounters *c = &r->readers[i]->counters;

        ret->cpu = r->readers[i]->cpu;
        ret->n_pages = atomic_load(&c->n_pages) - ret->pages_dropped;
        ret->n_bytes = atomic_load(&c->n_bytes) - ret->pages_dropped * r->shared.page_bytes;
        ret->pages_lost = atomic_load(&c->pages_lost);
}

uint64_t recorder_stored_ns(const Recorder *r, size_t i) {
        return atomic_load(&r->readers[i]->counters.stored_ns);
}

Recorder *recorder_free(Recorder *r) {
        if (!r)
                return NULL;

        recorder_stop(r);
        for (size_t i = 0; i < r->n_readers; i++)
                (void) reader_free(r->readers[i]);
        (void) sd_event_source_disable_unref(r->wake);
        (void) safe_close(r->shared.wake_fd);
        free(r->readers);
        return mfree(r);
}

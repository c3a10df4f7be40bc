/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The recorder is a real one that does not run: which sequence its readers write is said here.
 */

#include "daemon/record/recorder.h"
#include "retention/footprint.h"
#include "tests/unit/scratch.h"

#define PAGE 4096U
#define N_CPUS 2
#define RING_BYTES (80U * PAGE)
#define SESSION_ID "0123456789abcdef"

static Scratch scratch;
static SessionDir *dir;
static sd_event *event;
static Recorder *recorder;
static CpuAccount cpus[N_CPUS];
static SessionMeta meta;
static Rotation *rotation;
static uint64_t now_at, writes_at, lags_at; /* sequences: now, of CPU 0, of CPU 1 */
static unsigned n_cuts, n_told;

uint64_t __wrap_recorder_sequence(const Recorder *r);
uint64_t __wrap_recorder_first_open(const Recorder *r, size_t i);
uint64_t __wrap_recorder_oldest_open(const Recorder *r);
void __wrap_recorder_cut(Recorder *r);
void __wrap_recorder_kick(Recorder *r);

uint64_t __wrap_recorder_sequence(const Recorder *r) {
        return now_at;
}

uint64_t __wrap_recorder_first_open(const Recorder *r, size_t i) {
        return i == 0 ? writes_at : lags_at;
}

uint64_t __wrap_recorder_oldest_open(const Recorder *r) {
        return MIN(writes_at, lags_at);
}

void __wrap_recorder_cut(Recorder *r) {
        n_cuts++;
        now_at++;
}

void __wrap_recorder_kick(Recorder *r) {
}

static void no_change(void *userdata) {
}

static void on_cut(void *userdata) {
        n_told++;
}

static const ClockTuple *clocks_at(uint64_t at) {
        static ClockTuple c;

        c = (ClockTuple){ .monotonic_ns = at, .boottime_ns = at, .realtime_ns = at };
        return &c;
}

static void make_rotation(uint64_t ring_bytes, uint64_t segment_ns) {
        ck_assert_int_eq(rotation_new(&rotation,
                                      &(RotationConfig){ .event = event,
                                                         .dir = dir,
                                                         .meta = &meta,
                                                         .recorder = recorder,
                                                         .segment_ns = segment_ns,
                                                         .ring_bytes = ring_bytes,
                                                         .cut = on_cut },
                                      clocks_at(1000)),
                         0);
}

static void begin(uint64_t ring_bytes, uint64_t segment_ns) {
        int fds[2];

        scratch = scratch_new();
        ck_assert_int_eq(session_dir_create(&dir, scratch.fd, "it"), 0);
        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(recorder_new(&recorder, event,
                                      &(ReaderShared){ .dir = dir,
                                                       .session_id = SESSION_ID,
                                                       .page_bytes = PAGE,
                                                       .segment_bytes = PAGE },
                                      0, no_change, NULL),
                         0);
        for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
                cpus[cpu] = (CpuAccount){ .cpu = cpu };
                ck_assert_int_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
                ck_assert_int_eq(recorder_add(recorder, NULL, cpu, fds[0], -EBADF), 0);
                (void) close(fds[1]);
        }
        meta = (SessionMeta){
                .name = (char *) "it", .page_bytes = PAGE, .cpus = cpus, .n_cpus = N_CPUS
        };
        now_at = writes_at = lags_at = n_cuts = n_told = 0;
        make_rotation(ring_bytes, segment_ns);
}

static void end(void) {
        rotation = rotation_free(rotation);
        recorder = recorder_free(recorder);
        (void) sd_event_unref(event);
        dir = session_dir_free(dir);
        scratch_done(&scratch);
}

static void add(uint32_t cpu, uint64_t sequence, unsigned n_pages) {
        _cleanup_close_ int fd = session_dir_make_cpu(dir, cpu);
        char page[PAGE];
        SegmentWriter *w;

        memset(page, 1, sizeof(page));
        ck_assert_int_eq(segment_create(&w, fd, sequence, UINT64_MAX, cpu, PAGE, SESSION_ID), 0);
        for (unsigned i = 0; i < n_pages; i++) {
                ck_assert_int_eq(write_full(w->fd, page, sizeof(page)), 0);
                segment_publish(w, sizeof(page));
        }
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
        cpus[cpu].n_pages += n_pages;
        cpus[cpu].n_bytes += (uint64_t) n_pages * PAGE;
}

static bool has(uint32_t cpu, uint64_t sequence) {
        char path[64];

        (void) snprintf(path, sizeof(path), "cpu%u/%08x.seg", cpu, (unsigned) sequence);
        return faccessat(session_dir_fd(dir), path, F_OK, 0) == 0;
}

/* A period of @n_pages on each CPU has been written, and the next one begins. */
static int write_period(unsigned n_pages) {
        for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
                add(cpu, now_at, n_pages);
        now_at++;
        writes_at = lags_at = now_at;
        return rotation_look(rotation, clocks_at(1000 + now_at));
}

static size_t log_of_cuts(Cut **ret) {
        size_t n;

        ck_assert_int_eq(cut_log_read(dir, ret, &n), 0);
        return n;
}

TEST(a_period_that_somebody_still_writes_to_is_not_dropped) {
        begin(RING_BYTES, 0);
        for (unsigned i = 0; i < 40; i++) {
                add(0, now_at, 20);
                now_at++;
                writes_at = now_at;
                (void) rotation_look(rotation, clocks_at(now_at));
        }
        for (unsigned i = 0; i < 40; i++)
                ck_assert(has(0, i)); /* CPU 1 is still at the first */
        ck_assert_uint_eq(meta.bytes_dropped, 0);
        lags_at = 30;
        add(0, now_at, 1);
        now_at++;
        writes_at = now_at;
        (void) rotation_look(rotation, clocks_at(now_at));
        ck_assert(!has(0, 29));
        ck_assert(has(0, 30));
        ck_assert_uint_eq(meta.first_sequence, 30);
        end();
}

TEST(on_a_full_disk_a_ring_drops_one_period_or_ends_the_only_one) {
        begin(RING_BYTES, 0);
        (void) write_period(2);
        (void) write_period(2);
        ck_assert_int_eq(rotation_make_room(rotation), 1);
        ck_assert(!has(0, 0) && !has(1, 0));
        ck_assert(has(0, 1) && has(1, 1));
        ck_assert_int_eq(rotation_make_room(rotation), 1);
        ck_assert(!has(0, 1));
        ck_assert_uint_eq(n_cuts, 0);
        ck_assert_int_eq(rotation_make_room(rotation), 0);
        ck_assert_uint_eq(n_cuts, 1);
        end();
}

TEST(what_moves_out_counts_as_neither_kept_nor_dropped) {
        begin(RING_BYTES, 0);
        (void) write_period(3);
        (void) write_period(3);
        rotation_move_out(rotation);
        ck_assert(!has(0, 0) && !has(1, 1));
        ck_assert_uint_eq(meta.bytes_dropped, 0);
        ck_assert_uint_eq(rotation_look_at_segments(rotation).n_bytes, 0);
        end();
}

TEST(who_goes_on_with_a_session_goes_on_with_its_log) {
        _cleanup_free_ Cut *cuts = NULL;

        begin(RING_BYTES, 0);
        for (unsigned i = 0; i < 3; i++)
                (void) write_period(2);
        rotation = rotation_free(rotation);
        make_rotation(RING_BYTES, 0);
        ck_assert_uint_eq(log_of_cuts(&cuts), 4);
        for (unsigned i = 0; i < 60; i++)
                (void) write_period(4);
        ck_assert(!has(0, 0));
        ck_assert(!has(0, 2));
        end();
}

/* As what is sealed: another file takes a segment's place, if it is there. */
static void replace(uint32_t cpu, uint64_t sequence, size_t n_bytes) {
        char path[64], data[8 * PAGE] = {};

        (void) snprintf(path, sizeof(path), "cpu%u/%08x.seg", cpu, (unsigned) sequence);
        if (has(cpu, sequence))
                ck_assert_int_eq(file_replace(session_dir_fd(dir), path, data, n_bytes, 0600), 0);
        rotation_segment_changed(rotation, sequence);
}

TEST(what_it_knows_is_what_a_walk_finds) {
        begin(UINT32_MAX, 0);
        srand(unit_seed());
        for (unsigned i = 0; i < 400; i++) {
                Footprint walked;
                InventorySums sums;

                /* Each writes to the one that it has open. */
                for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
                        uint64_t open = cpu == 0 ? writes_at : lags_at;

                        if (rand() % 4 && !has(cpu, open))
                                add(cpu, open, (unsigned) rand() % 5);
                }
                if (rand() % 4) {
                        writes_at = ++now_at;
                        lags_at = rand() % 2 ? now_at : lags_at;
                        (void) rotation_look(rotation, clocks_at(now_at));
                }
                if (rand() % 2 && lags_at > 0)
                        replace((uint32_t) rand() % N_CPUS, (uint64_t) rand() % lags_at,
                                (size_t) rand() % (8 * PAGE));
                if (rand() % 3 == 0)
                        (void) rotation_make_room(rotation);
                if (rand() % 16 == 0) { /* another daemon goes on */
                        rotation = rotation_free(rotation);
                        make_rotation(UINT32_MAX, 0);
                }
                walked = footprint_measure(dir);
                sums = rotation_look_at_segments(rotation);
                ck_assert_uint_eq(sums.counted_bytes, walked.segment_bytes);
                ck_assert_uint_eq(footprint_measure_beside(dir, sums.counted_bytes).n_bytes,
                                  walked.n_bytes);
        }
        end();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "daemon/record/inventory.h"
#include "retention/footprint.h"
#include "store/session-dir.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

#define PAGE 4096U
#define N_CPUS 3
#define N_STEPS 400
#define SESSION_ID "0123456789abcdef"

static Scratch scratch;
static SessionDir *dir;
static sd_event *event;
static Recorder *recorder;

static void no_change(void *userdata) {
}

static void make_recorder(uint64_t first_sequence) {
        int fds[2];

        ck_assert_int_eq(
                recorder_new(&recorder, &(RecorderConfig){ .event = event,
                                                           .dir = dir,
                                                           .session_id = SESSION_ID,
                                                           .page_bytes = PAGE,
                                                           .segment_bytes = PAGE,
                                                           .first_sequence = first_sequence,
                                                           .changed = no_change }),
                0);
        for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
                ck_assert_int_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
                ck_assert_int_eq(recorder_add(recorder, 2 * cpu, fds[0]), 0);
                (void) close(fds[1]);
        }
}

static void setup(void) {
        scratch = scratch_new();
        ck_assert_int_eq(session_dir_create(&dir, scratch.fd, "it"), 0);
        ck_assert_int_ge(sd_event_new(&event), 0);
        make_recorder(0);
}

static void teardown(void) {
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
                ck_assert_int_eq(write_full(segment_writer_fd(w), page, sizeof(page)), 0);
                segment_publish(w, sizeof(page));
        }
        ck_assert_int_eq(segment_writer_close(w, NULL), 0);
}

/* Another file takes its place, if it is there. */
static void replace(Inventory *inv, uint32_t cpu, uint64_t sequence, size_t n_bytes) {
        char path[64], data[8 * PAGE] = {};

        (void) snprintf(path, sizeof(path), "cpu%u/%08x.seg", cpu, (unsigned) sequence);
        if (faccessat(session_dir_fd(dir), path, F_OK, 0) >= 0)
                ck_assert_int_eq(file_replace(session_dir_fd(dir), path, data, n_bytes, 0600), 0);
        ck_assert_int_eq(inventory_look_again(inv, cpu, sequence), 0);
}

/* As a reader that stores one page more would make it. */
static void cut(void) {
        recorder_add_account(recorder, 0, &(CpuAccount){ .n_pages = 1 });
        recorder_cut(recorder);
}

static void count(uint32_t cpu, uint64_t n_pages, void *userdata) {
}

static void check_against_walk(Inventory *inv) {
        Footprint walked = footprint_measure(dir);
        InventorySums sums;

        ck_assert_int_eq(inventory_look(inv), 0);
        sums = inventory_sum(inv);
        ck_assert_uint_eq(sums.counted_bytes, walked.segment_bytes);
        ck_assert_uint_eq(footprint_measure_beside(dir, sums.counted_bytes).n_bytes,
                          walked.n_bytes);
}

START_TEST(what_it_knows_is_what_a_walk_finds)
        {
                unsigned seed = (unsigned) getpid();
                Inventory *inv;

                setup();
                printf("# seed %u\n", seed);
                srand(seed);
                ck_assert_int_eq(file_replace(session_dir_fd(dir), "cuts", "1", 1, 0600), 0);
                ck_assert_int_eq(inventory_new(&inv, dir, recorder), 0);
                for (unsigned i = 0; i < N_STEPS; i++) {
                        uint64_t now = recorder_sequence(recorder), sequence, n_bytes;

                        for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
                                if (rand() % 4)
                                        add(2 * cpu, now, (unsigned) rand() % 5);
                        if (rand() % 3 == 0)
                                check_against_walk(inv);
                        cut();
                        if (rand() % 2)
                                replace(inv, 2 * (uint32_t) (rand() % N_CPUS),
                                        (uint64_t) rand() % (now + 1),
                                        (size_t) rand() % (8 * PAGE));
                        while (rand() % 3 == 0 && inventory_look(inv) == 0 &&
                               inventory_oldest(inv, &sequence, &n_bytes)) {
                                ck_assert_int_eq(
                                        session_dir_drop_period(dir, sequence, count, NULL), 0);
                                inventory_drop_oldest(inv);
                        }
                        check_against_walk(inv);
                        if (rand() % 16 == 0) { /* another daemon goes on */
                                inv = inventory_free(inv);
                                recorder = recorder_free(recorder);
                                make_recorder(now + 1);
                                ck_assert_int_eq(inventory_new(&inv, dir, recorder), 0);
                        }
                }
                inv = inventory_free(inv);
                teardown();
        }
END_TEST

START_TEST(the_oldest_are_those_of_one_sequence_on_all_cpus)
        {
                uint64_t sequence, n_bytes;
                InventorySums sums;
                Inventory *inv;

                setup();
                add(0, 0, 2);
                add(4, 0, 3);
                cut();
                add(2, 1, 1);
                cut();
                add(0, 2, 1);
                ck_assert_int_eq(inventory_new(&inv, dir, recorder), 0);
                ck_assert_int_eq(inventory_look(inv), 0);
                sums = inventory_sum(inv);
                ck_assert_uint_eq(sums.n, 4);
                ck_assert(inventory_oldest(inv, &sequence, &n_bytes));
                ck_assert_uint_eq(sequence, 0);
                ck_assert_uint_ge(n_bytes, 7 * PAGE);
                ck_assert_uint_lt(n_bytes, sums.n_bytes);
                inventory_drop_oldest(inv);
                ck_assert(inventory_oldest(inv, &sequence, &n_bytes));
                ck_assert_uint_eq(sequence, 1);
                inventory_drop_oldest(inv);
                ck_assert(!inventory_oldest(inv, &sequence, &n_bytes)); /* it may be open */
                inventory_drop_oldest(inv);
                ck_assert_uint_eq(inventory_sum(inv).n, 1);
                inv = inventory_free(inv);
                teardown();
        }
END_TEST

UNIT_SUITE("inventory", what_it_knows_is_what_a_walk_finds,
           the_oldest_are_those_of_one_sequence_on_all_cpus)

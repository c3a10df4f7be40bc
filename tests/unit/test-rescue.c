/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memory that outlived its kernel: whole, damaged, empty, and rescued by a daemon that died. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/io.h"
#include "daemon/session/rescue.h"
#include "daemon/session/session.h"
#include "daemon/upkeep/disk-usage.h"
#include "daemon/watch/live.h"
#include "fake-kernel.h"
#include "pages/page-source.h"
#include "retention/boot-clock.h"
#include "store/segment.h"

#define BOX "instances/boot_mapped/"
#define BOOT "28e1c1f0-11f4-4a2b-9d1c-9f0b54b4c6d1"
#define PAGE 4096U
#define KIB 64U /* of its buffer, for each CPU */
#define START_NS (1000 * NSEC_PER_SEC)

typedef struct World {
        FakeKernel *kernel;
        Controller *controller;
        Scratch scratch;
        Store *store;
} World;

/* Not by write(), which the fake kernel takes for one to a control file. */
static void put_bytes(World *w, const char *path, const void *data, size_t n) {
        char file[2 * PATH_MAX];
        FILE *f;

        (void) snprintf(file, sizeof(file), "%s/%s", w->kernel->tracefs, path);
        f = fopen(file, "we");
        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(data, 1, n, f), n);
        ck_assert_int_eq(fclose(f), 0);
}

static void put_cpu(World *w, unsigned cpu, const void *data, size_t n, unsigned n_events) {
        char path[128], stats[64];

        (void) snprintf(path, sizeof(path), BOX "per_cpu/cpu%u/trace_pipe_raw", cpu);
        put_bytes(w, path, data, n);
        (void) snprintf(path, sizeof(path), BOX "per_cpu/cpu%u/stats", cpu);
        (void) snprintf(stats, sizeof(stats), "entries: %u\noverrun: 0\n", n_events);
        put_bytes(w, path, stats, strlen(stats));
}

static World world_new(void) {
        World w = { .kernel = fake_kernel_new(true), .scratch = scratch_new_in_memory() };
        char path[PATH_MAX + 16];

        fake_put_root(w.kernel, "proc/cmdline", "trace_instance=boot_mapped@trace\n");
        ck_assert_int_eq(mkdirat(w.kernel->tracefs_fd, "instances/boot_mapped", 0700), 0);
        fake_put(w.kernel, BOX "last_boot_info", "0\n");
        (void) snprintf(path, sizeof(path), "%u\n", KIB);
        fake_put(w.kernel, BOX "buffer_size_kb", path);
        put_cpu(&w, 0, "", 0, 0);
        put_cpu(&w, 1, "", 0, 0);
        w.controller = fake_controller(w.kernel);
        (void) snprintf(path, sizeof(path), "%s/store", w.scratch.path);
        ck_assert_int_eq(store_open_for_writing(&w.store, path, NULL), 0);
        return w;
}

static void world_done(World *w) {
        (void) controller_free(w->controller);
        (void) store_free(w->store);
        scratch_done(&w->scratch);
        fake_kernel_free(w->kernel);
}

/* What the daemon of the boot that died had on its disk. */
static void make_origin(World *w, const char *name, const char *boot_id) {
        _cleanup_(session_meta_freep) SessionMeta *m = fake_meta(name, "udp_sendmsg");
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;

        ck_assert_int_eq(session_meta_renew_id(m), 0);
        ck_assert_int_eq(text_replace(&m->boot_id, boot_id), 0);
        ck_assert_int_eq(text_replace(&m->clock, "mono"), 0);
        ck_assert_int_eq(text_replace(&m->kernel, "6.12.0-dead"), 0);
        m->spec.black_box = m->spec.in_kernel = m->spec.ring = true;
        m->state = SESSION_RECORDING;
        m->page_bytes = PAGE;
        m->n_possible_cpus = 2;
        m->start = (ClockTuple){ .trace_ns = START_NS,
                                 .monotonic_ns = START_NS,
                                 .boottime_ns = START_NS,
                                 .realtime_ns = now_ns(CLOCK_REALTIME) - 600 * NSEC_PER_SEC };
        ck_assert_int_eq(store_make_session(w->store, name, &dir), 0);
        ck_assert_int_eq(session_dir_write_tracing(dir, "events/header_page", "old", 3, false), 0);
        ck_assert_int_eq(session_dir_write_meta(dir, m), 0);
        ck_assert_int_eq(disk_usage_reserve(dir), 0);
        ck_assert_int_eq(store_settle_session(w->store, name), 0);
}

static SessionMeta *read_meta(World *w, const char *name, SessionDir **ret_dir) {
        SessionMeta *m = NULL;

        ck_assert_int_eq(store_open_session(w->store, name, ret_dir), 0);
        ck_assert_int_eq(session_dir_read_meta(*ret_dir, &m), 0);
        return m;
}

static int rescue(World *w) {
        return rescue_run(w->controller, w->store);
}

static void make_page(uint8_t page[static PAGE], uint64_t ns, uint64_t commit, uint8_t fill) {
        memset(page, fill, PAGE);
        memcpy(page, &ns, sizeof(ns));
        memcpy(page + 8, &commit, sizeof(commit));
}

/* What a segment of it holds. */
static uint64_t read_segment(const SessionDir *dir, uint32_t cpu, uint64_t sequence, uint8_t *ret,
                             size_t max_pages) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        uint64_t n_pages;

        ck_assert_int_eq(page_source_open(&s, dir, cpu, sequence, NULL), 0);
        ck_assert(page_source_is_closed(s));
        n_pages = page_source_n_pages(s);
        for (uint64_t i = 0; i < n_pages && i < max_pages; i++) {
                const void *page;
                uint64_t n;

                ck_assert_int_eq(page_source_read(s, i, &page, &n), 0);
                memcpy(ret + i * PAGE, page, PAGE);
        }
        return n_pages;
}

/* As if the daemon had died when all pages were moved. */
static void undo_end(World *w) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL, *origin_dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = read_meta(w, RESCUE_PREFIX BOOT, &dir),
                                                  *origin = read_meta(w, "box", &origin_dir);

        m->state = SESSION_DRAINING;
        ck_assert_int_eq(session_dir_write_meta(dir, m), 0);
        origin->state = SESSION_RECORDING;
        ck_assert_int_eq(session_dir_write_meta(origin_dir, origin), 0);
        ck_assert_int_eq(disk_usage_reserve(origin_dir), 0);
}

START_TEST(pages_become_a_session_of_the_boot_that_died)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL, *origin_dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL, *origin = NULL;
                _cleanup_free_ char *text = NULL;
                uint8_t pages[2 * PAGE], got[2 * PAGE];
                size_t n;

                make_page(pages, START_NS + 5 * NSEC_PER_SEC, 64, 'a');
                make_page(pages + PAGE, START_NS + 7 * NSEC_PER_SEC, 96, 'b');
                put_cpu(&w, 0, pages, sizeof(pages), 9);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_int_eq(m->state, SESSION_SEALED);
                ck_assert_str_eq(m->boot_id, BOOT);
                ck_assert_str_eq(m->kernel, "6.12.0-dead");
                ck_assert_str_eq(m->origin, "box");
                ck_assert_uint_eq(session_meta_total(m).n_pages, 2);
                ck_assert_uint_eq(m->start.trace_ns, START_NS + 5 * NSEC_PER_SEC);
                ck_assert_uint_eq(m->stop.trace_ns, START_NS + 7 * NSEC_PER_SEC);
                ck_assert_uint_eq(m->stop.realtime_ns - m->start.realtime_ns, 2 * NSEC_PER_SEC);
                ck_assert_uint_eq(read_segment(dir, 0, 0, got, 2), 2);
                ck_assert_int_eq(memcmp(got, pages, sizeof(pages)), 0);
                ck_assert_int_eq(session_dir_read_tracing(dir, "events/header_page", &text, &n), 0);
                ck_assert_str_eq(text, "old");
                origin = read_meta(&w, "box", &origin_dir);
                ck_assert_int_eq(origin->state, SESSION_FAILED);
                ck_assert_ptr_nonnull(strstr(origin->reason, RESCUE_PREFIX BOOT));
                ck_assert_int_eq(rescue(&w), 0); /* once */
        }
END_TEST

START_TEST(damaged_pages_are_kept_as_they_came_and_believed_in_nothing)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                uint8_t pages[2 * PAGE + 100], got[3 * PAGE];

                make_page(pages, UINT64_MAX, UINT64_MAX,
                          0xff); /* a time and a length from nowhere */
                make_page(pages + PAGE, START_NS + NSEC_PER_SEC, 64, 'x');
                memset(pages + 2 * PAGE, 7, 100); /* the end of the memory */
                put_cpu(&w, 1, pages, sizeof(pages), 3);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(read_segment(dir, 1, 0, got, 3), 3);
                ck_assert_int_eq(memcmp(got, pages, sizeof(pages)), 0);
                ck_assert_uint_eq(got[2 * PAGE + 100], 0);
                ck_assert_uint_ge(m->start.trace_ns, START_NS);
                ck_assert_uint_le(m->stop.trace_ns, START_NS + 601 * NSEC_PER_SEC);
        }
END_TEST

START_TEST(no_more_is_taken_than_the_memory_can_hold)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                size_t n = 100 * (size_t) PAGE;
                _cleanup_free_ uint8_t *pages = calloc(1, n);

                for (size_t i = 0; i < n; i += PAGE)
                        make_page(pages + i, START_NS + i, 64, 'e');
                put_cpu(&w, 0, pages, n, 5);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_ge(session_meta_total(m).n_pages, KIB * 1024 / PAGE);
                ck_assert_uint_lt(session_meta_total(m).n_pages, 50);
        }
END_TEST

START_TEST(a_part_that_had_events_and_is_empty_is_a_gap)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL, *origin_dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL, *origin = NULL;
                uint8_t page[PAGE];

                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 1, page, PAGE, 1);
                make_origin(&w, "box", BOOT);
                origin = read_meta(&w, "box", &origin_dir);
                free(origin->cpus);
                origin->cpus = calloc(2, sizeof(*origin->cpus));
                origin->n_cpus = 2;
                origin->cpus[1].cpu = 1;
                origin->cpus[0].in_memory = origin->cpus[1].in_memory = 5;
                ck_assert_int_eq(session_dir_write_meta(origin_dir, origin), 0);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(m->gaps.n, 1);
                ck_assert_uint_eq(m->gaps.items[0].cpu, 0);
                ck_assert_int_eq(m->gaps.items[0].cause, GAP_NOT_RESCUED);
                ck_assert_uint_eq(m->gaps.items[0].to_ns, START_NS + NSEC_PER_SEC);
        }
END_TEST

/* Of the second CPU nothing is there again. */
START_TEST(what_a_snapshot_had_read_ends_in_a_gap)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL, *origin_dir = NULL,
                                                        *other_dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL, *origin = NULL, *other = NULL;
                uint8_t pages[3 * PAGE], page[PAGE];

                make_page(pages, START_NS + 2 * NSEC_PER_SEC, 64, 'a');
                make_page(pages + PAGE, START_NS + 6 * NSEC_PER_SEC, 64, 'b');
                make_page(pages + 2 * PAGE, START_NS + 7 * NSEC_PER_SEC, 64, 'c');
                make_page(page, START_NS + 5 * NSEC_PER_SEC, 64, 'd');
                put_cpu(&w, 0, pages, sizeof(pages), 3);
                put_cpu(&w, 1, page, sizeof(page), 1);
                make_origin(&w, "box", BOOT);
                origin = read_meta(&w, "box", &origin_dir);
                origin->n_snapshots = 1;
                ck_assert_int_eq(session_dir_write_meta(origin_dir, origin), 0);
                make_origin(&w, "box-snap-1", BOOT);
                other = read_meta(&w, "box-snap-1", &other_dir);
                ck_assert_int_eq(text_replace(&other->origin, "box"), 0);
                other->state = SESSION_SEALED;
                other->stop.trace_ns = START_NS + 4 * NSEC_PER_SEC;
                ck_assert_int_eq(session_dir_write_meta(other_dir, other), 0);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(m->gaps.n, 1);
                ck_assert_uint_eq(m->gaps.items[0].cpu, 0);
                ck_assert_int_eq(m->gaps.items[0].cause, GAP_SNAPSHOT);
                ck_assert_uint_eq(m->gaps.items[0].from_ns, START_NS + 4 * NSEC_PER_SEC);
                ck_assert_uint_eq(m->gaps.items[0].to_ns, START_NS + 6 * NSEC_PER_SEC);
        }
END_TEST

START_TEST(that_nothing_survived_is_said)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL, *none = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;

                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 0);
                m = read_meta(&w, "box", &dir);
                ck_assert_int_eq(m->state, SESSION_FAILED);
                ck_assert_ptr_nonnull(strstr(m->reason, "nothing of it survived"));
                ck_assert_int_eq(store_open_session(w.store, RESCUE_PREFIX BOOT, &none), -ENOENT);
        }
END_TEST

START_TEST(that_the_memory_has_gone_is_said)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;

                fake_put_root(w.kernel, "proc/cmdline", "quiet\n");
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 0);
                m = read_meta(&w, "box", &dir);
                ck_assert_int_eq(m->state, SESSION_FAILED);
                ck_assert_ptr_nonnull(strstr(m->reason, "booted without the memory"));
        }
END_TEST

/* Tracefs is not mounted: that tells nothing of the memory. */
START_TEST(without_tracefs_nothing_is_given_up)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                char away[PATH_MAX + 8];
                uint8_t page[PAGE];

                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, page, PAGE, 1);
                make_origin(&w, "box", BOOT);
                w.controller = controller_free(w.controller);
                (void) snprintf(away, sizeof(away), "%s.away", w.kernel->tracefs);
                ck_assert_int_eq(rename(w.kernel->tracefs, away), 0);
                w.controller = fake_controller(w.kernel);
                ck_assert_int_lt(rescue(&w), 0);
                m = read_meta(&w, "box", &dir);
                ck_assert_int_eq(m->state, SESSION_RECORDING);
                ck_assert_int_eq(rename(away, w.kernel->tracefs), 0);
                ck_assert_int_eq(rescue(&w), 1);
        }
END_TEST

START_TEST(a_daemon_that_died_over_it_is_gone_on_with)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *again = NULL;
                uint8_t page[PAGE], got[PAGE];

                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, page, PAGE, 1);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);

                /* As it was before either of the two had ended. */
                undo_end(&w);
                make_page(page, START_NS + 2 * NSEC_PER_SEC, 64, '2');
                put_cpu(&w, 0, page, PAGE, 1);

                ck_assert_int_eq(rescue(&w), 1);
                again = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_int_eq(again->state, SESSION_SEALED);
                ck_assert_uint_eq(session_meta_total(again).n_pages, 2);
                ck_assert_uint_eq(read_segment(dir, 0, 0, got, 1), 1);
                ck_assert_uint_eq(got[100], '1');
                ck_assert_uint_eq(read_segment(dir, 0, 1, got, 1), 1);
                ck_assert_uint_eq(got[100], '2');
        }
END_TEST

/* The same of linux 7.2, where the second kernel gives what the first has read, too. */
START_TEST(pages_that_come_again_are_there_once)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *again = NULL;
                uint8_t pages[3 * PAGE];

                make_page(pages, START_NS + NSEC_PER_SEC, 64, '1');
                make_page(pages + PAGE, START_NS + 2 * NSEC_PER_SEC, 64, '2');
                make_page(pages + 2 * PAGE, START_NS + 3 * NSEC_PER_SEC, 64, '3');
                put_cpu(&w, 0, pages, 2 * PAGE, 2);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                undo_end(&w);
                put_cpu(&w, 0, pages, sizeof(pages), 3);
                ck_assert_int_eq(rescue(&w), 1);
                again = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(session_meta_total(again).n_pages, 3);
                ck_assert_uint_eq(read_segment(dir, 0, 1, pages, 3), 3);
        }
END_TEST

/* Their times are before and after all others, and they are others. */
START_TEST(damaged_pages_that_come_later_replace_none)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *again = NULL;
                uint8_t pages[2 * PAGE];

                make_page(pages, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, pages, PAGE, 1);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                undo_end(&w);
                make_page(pages, 1, 64, '2');
                make_page(pages + PAGE, START_NS * 2, 64, '3');
                put_cpu(&w, 0, pages, sizeof(pages), 2);
                ck_assert_int_eq(rescue(&w), 1);
                again = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(session_meta_total(again).n_pages, 3);
                ck_assert_uint_eq(read_segment(dir, 0, 0, pages, 1), 1);
                ck_assert_uint_eq(pages[100], '1');
        }
END_TEST

/* As linux 7.2 does with the last one that a rescue read before a second crash. */
START_TEST(the_page_that_is_given_once_more_is_kept_once)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *again = NULL;
                uint8_t pages[3 * PAGE];

                for (size_t i = 0; i < 3; i++)
                        make_page(pages + i * PAGE, START_NS + (i + 1) * NSEC_PER_MSEC, 64,
                                  (char) ('1' + i));
                put_cpu(&w, 0, pages, 2 * PAGE, 2);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                undo_end(&w);
                put_cpu(&w, 0, pages + PAGE, 2 * PAGE, 2);
                ck_assert_int_eq(rescue(&w), 1);
                again = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(session_meta_total(again).n_pages, 3);
                ck_assert_uint_eq(read_segment(dir, 0, 0, pages, 2), 2);
                ck_assert_uint_eq(pages[PAGE + 100], '2');
                ck_assert_uint_eq(read_segment(dir, 0, 1, pages, 1), 1);
                ck_assert_uint_eq(pages[100], '3');
        }
END_TEST

/* Linux 7.2 makes pages readable again that were read before a second crash. */
START_TEST(what_is_through_is_not_moved_twice)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL, *origin_dir = NULL,
                                                        *none = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL, *origin = NULL, *again = NULL;
                uint8_t page[PAGE];

                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, page, PAGE, 1);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                origin = read_meta(&w, "box", &origin_dir);
                origin->state = SESSION_RECORDING;
                ck_assert_int_eq(session_dir_write_meta(origin_dir, origin), 0);
                ck_assert_int_eq(disk_usage_reserve(origin_dir), 0);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(session_meta_total(m).n_pages, 1);
                ck_assert_int_eq(store_open_session(w.store, RESCUE_PREFIX BOOT "-2", &none),
                                 -ENOENT);
                origin_dir = session_dir_free(origin_dir);
                again = read_meta(&w, "box", &origin_dir);
                ck_assert_int_eq(again->state, SESSION_FAILED);
        }
END_TEST

/* The disk was full, and the daemon ended the session as one that nobody had stopped. */
START_TEST(what_could_not_be_rescued_is_tried_again)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL, *origin_dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL, *origin = NULL;
                uint8_t page[PAGE];

                make_origin(&w, "box", BOOT);
                origin = read_meta(&w, "box", &origin_dir);
                origin->state = SESSION_FAILED;
                ck_assert_int_eq(text_replace(&origin->reason, SESSION_REASON_DAEMON_ENDED), 0);
                ck_assert_int_eq(session_dir_write_meta(origin_dir, origin), 0);
                disk_usage_release(origin_dir);
                ck_assert_int_eq(rescue(&w), 0); /* nothing is in memory */
                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, page, PAGE, 1);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT, &dir);
                ck_assert_uint_eq(session_meta_total(m).n_pages, 1);
        }
END_TEST

/* As if the daemon had died there. */
START_TEST(whose_end_could_not_be_written_is_found_again)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *origin = NULL;
                uint8_t page[PAGE];

                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, page, PAGE, 1);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(store_open_session(w.store, "box", &dir), 0);
                ck_assert_int_eq(file_replace(session_dir_fd(dir), LIVE_NAME, "{}", 2, 0600), 0);
                ck_assert_int_eq(mkdirat(session_dir_fd(dir), "session.json.new", 0700), 0);
                ck_assert_int_lt(rescue(&w), 0);
                ck_assert_int_eq(unlinkat(session_dir_fd(dir), "session.json.new", AT_REMOVEDIR),
                                 0);
                put_cpu(&w, 0, "", 0, 0);
                ck_assert_int_eq(rescue(&w), 1);
                dir = session_dir_free(dir);
                origin = read_meta(&w, "box", &dir);
                ck_assert_int_eq(origin->state, SESSION_FAILED);
                ck_assert_ptr_nonnull(strstr(origin->reason, RESCUE_PREFIX BOOT));
        }
END_TEST

START_TEST(a_session_may_have_any_name)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                uint8_t page[PAGE];

                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, page, PAGE, 1);
                make_origin(&w, RESCUE_PREFIX BOOT, BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                m = read_meta(&w, RESCUE_PREFIX BOOT "-2", &dir);
                ck_assert_int_eq(m->state, SESSION_SEALED);
        }
END_TEST

START_TEST(what_records_in_this_boot_or_not_there_is_left_alone)
        {
                _cleanup_(world_done) World w = world_new();
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                char boot_id[BOOT_ID_CHARS + 1];
                uint8_t page[PAGE];

                make_page(page, START_NS + NSEC_PER_SEC, 64, '1');
                put_cpu(&w, 0, page, PAGE, 1);
                ck_assert_int_eq(rescue(&w), 0);
                boot_id_read(boot_id);
                make_origin(&w, "box", boot_id);
                ck_assert_int_eq(rescue(&w), 0);
                m = read_meta(&w, "box", &dir);
                ck_assert_int_eq(m->state, SESSION_RECORDING);
        }
END_TEST

UNIT_SUITE("rescue", pages_become_a_session_of_the_boot_that_died,
           damaged_pages_are_kept_as_they_came_and_believed_in_nothing,
           no_more_is_taken_than_the_memory_can_hold, a_part_that_had_events_and_is_empty_is_a_gap,
           what_a_snapshot_had_read_ends_in_a_gap, that_nothing_survived_is_said,
           that_the_memory_has_gone_is_said, without_tracefs_nothing_is_given_up,
           a_daemon_that_died_over_it_is_gone_on_with, pages_that_come_again_are_there_once,
           damaged_pages_that_come_later_replace_none,
           the_page_that_is_given_once_more_is_kept_once, what_is_through_is_not_moved_twice,
           what_could_not_be_rescued_is_tried_again, whose_end_could_not_be_written_is_found_again,
           a_session_may_have_any_name, what_records_in_this_boot_or_not_there_is_left_alone)

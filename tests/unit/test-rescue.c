/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memory that outlived its kernel: whole, damaged, empty, and rescued by a daemon that died. */

#include "daemon/session/session.h"
#include "daemon/upkeep/upkeep.h"
#include "daemon/watch/watch.h"
#include "fake-kernel.h"
#include "pages/page-source.h"

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
        SessionMeta *metas[8]; /* that were read */
        size_t n_metas;
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
        for (size_t i = 0; i < w->n_metas; i++)
                (void) session_meta_free(w->metas[i]);
        (void) controller_free(w->controller);
        (void) store_free(w->store);
        scratch_done(&w->scratch);
        fake_kernel_free(w->kernel);
}

#define CASE(w) _cleanup_(world_done) World w = world_new()
#define CASE_TEST(name) TEST_WITH(name, (World * w), CASE(w), &w)

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
        ck_assert_int_eq(session_dir_write_meta(dir, m, false), 0);
        ck_assert_int_eq(disk_usage_reserve(dir), 0);
        ck_assert_int_eq(store_settle_session(w->store, name), 0);
}

static SessionDir *open_session(World *w, const char *name) {
        SessionDir *dir;

        ck_assert_int_eq(store_open_session(w->store, name, &dir), 0);
        return dir;
}

/* It ends with @w. */
static SessionMeta *read_meta(World *w, const char *name) {
        _cleanup_(session_dir_freep) SessionDir *dir = open_session(w, name);
        SessionMeta *m;

        ck_assert_int_eq(session_dir_read_meta(dir, &m), 0);
        ck_assert_uint_lt(w->n_metas, ELEMENTSOF(w->metas));
        w->metas[w->n_metas++] = m;
        return m;
}

static SessionMeta *read_rescued(World *w) {
        return read_meta(w, RESCUE_PREFIX BOOT);
}

static void write_meta(World *w, const char *name, const SessionMeta *m) {
        _cleanup_(session_dir_freep) SessionDir *dir = open_session(w, name);

        ck_assert_int_eq(session_dir_write_meta(dir, m, false), 0);
}

static int rescue(World *w) {
        return rescue_run(w->controller, w->store);
}

static void make_page(uint8_t page[static PAGE], uint64_t ns, uint64_t commit, uint8_t fill) {
        memset(page, fill, PAGE);
        memcpy(page, &ns, sizeof(ns));
        memcpy(page + 8, &commit, sizeof(commit));
}

/* Pages of these letters are in a CPU's memory, a second apart from the @first_s. */
static void put_pages(World *w, unsigned cpu, unsigned first_s, const char *letters) {
        size_t n = strlen(letters);
        uint8_t pages[4 * PAGE];

        for (size_t i = 0; i < n; i++)
                make_page(pages + i * PAGE, START_NS + (first_s + i) * NSEC_PER_SEC, 64,
                          (uint8_t) letters[i]);
        put_cpu(w, cpu, pages, n * PAGE, (unsigned) n);
}

/* What a segment of what was rescued holds. */
static uint64_t read_segment(World *w, uint32_t cpu, uint64_t sequence, uint8_t *ret,
                             size_t max_pages) {
        _cleanup_(session_dir_freep) SessionDir *dir = open_session(w, RESCUE_PREFIX BOOT);
        _cleanup_(page_source_freep) PageSource *s = NULL;
        uint64_t n_pages;

        ck_assert_int_eq(page_source_open(&s, dir, cpu, sequence, NULL), 0);
        ck_assert(s->is_closed);
        n_pages = s->n_pages;
        for (uint64_t i = 0; i < n_pages && i < max_pages; i++) {
                const void *page;
                uint64_t n;

                ck_assert_int_eq(page_source_read(s, i, &page, &n), 0);
                memcpy(ret + i * PAGE, page, PAGE);
        }
        return n_pages;
}

/* That CPU 0's segment @sequence has pages of these letters. */
static void expect_pages(World *w, uint64_t sequence, const char *letters) {
        uint8_t pages[4 * PAGE];
        size_t n = strlen(letters);

        ck_assert_uint_eq(read_segment(w, 0, sequence, pages, 4), n);
        for (size_t i = 0; i < n; i++)
                ck_assert_uint_eq(pages[i * PAGE + 100], letters[i]);
}

/* As if the daemon had died over the session, or before it said so. */
static void undo_origin(World *w) {
        _cleanup_(session_dir_freep) SessionDir *dir = open_session(w, "box");
        SessionMeta *origin = read_meta(w, "box");

        origin->state = SESSION_RECORDING;
        ck_assert_int_eq(session_dir_write_meta(dir, origin, false), 0);
        ck_assert_int_eq(disk_usage_reserve(dir), 0);
}

/* As if the daemon had died when all pages were moved. */
static void undo_end(World *w) {
        SessionMeta *m = read_rescued(w);

        m->state = SESSION_DRAINING;
        write_meta(w, RESCUE_PREFIX BOOT, m);
        undo_origin(w);
}

static void expect_failed(World *w, const char *reason) {
        const SessionMeta *m = read_meta(w, "box");

        ck_assert_int_eq(m->state, SESSION_FAILED);
        ck_assert_ptr_nonnull(strstr(m->reason, reason));
}

static void expect_gap(const SessionMeta *m, GapCause cause, uint64_t from_ns, uint64_t to_ns) {
        ck_assert_uint_eq(m->gaps.n, 1);
        ck_assert_uint_eq(m->gaps.items[0].cpu, 0);
        ck_assert_int_eq(m->gaps.items[0].cause, cause);
        ck_assert(from_ns == UINT64_MAX || m->gaps.items[0].from_ns == from_ns);
        ck_assert_uint_eq(m->gaps.items[0].to_ns, to_ns);
}

CASE_TEST(pages_become_a_session_of_the_boot_that_died) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_free_ char *text = NULL;
        uint8_t pages[2 * PAGE], got[2 * PAGE];
        SessionMeta *m;
        size_t n;

        make_page(pages, START_NS + 5 * NSEC_PER_SEC, 64, 'a');
        make_page(pages + PAGE, START_NS + 7 * NSEC_PER_SEC, 96, 'b');
        put_cpu(w, 0, pages, sizeof(pages), 9);
        make_origin(w, "box", BOOT);
        ck_assert_int_eq(rescue(w), 1);
        m = read_rescued(w);
        ck_assert_int_eq(m->state, SESSION_SEALED);
        ck_assert_str_eq(m->boot_id, BOOT);
        ck_assert_str_eq(m->kernel, "6.12.0-dead");
        ck_assert_str_eq(m->origin, "box");
        ck_assert_uint_eq(session_meta_total(m).n_pages, 2);
        ck_assert_uint_eq(m->start.trace_ns, START_NS + 5 * NSEC_PER_SEC);
        ck_assert_uint_eq(m->stop.trace_ns, START_NS + 7 * NSEC_PER_SEC);
        ck_assert_uint_eq(m->stop.realtime_ns - m->start.realtime_ns, 2 * NSEC_PER_SEC);
        ck_assert_uint_eq(read_segment(w, 0, 0, got, 2), 2);
        ck_assert_int_eq(memcmp(got, pages, sizeof(pages)), 0);
        dir = open_session(w, RESCUE_PREFIX BOOT);
        ck_assert_int_eq(session_dir_read_tracing(dir, "events/header_page", &text, &n), 0);
        ck_assert_str_eq(text, "old");
        expect_failed(w, RESCUE_PREFIX BOOT);
        ck_assert_int_eq(rescue(w), 0); /* once */
}

CASE_TEST(damaged_pages_are_kept_as_they_came_and_believed_in_nothing) {
        uint8_t pages[2 * PAGE + 100], got[3 * PAGE];
        SessionMeta *m;

        make_page(pages, UINT64_MAX, UINT64_MAX, 0xff); /* a time and a length from nowhere */
        make_page(pages + PAGE, START_NS + NSEC_PER_SEC, 64, 'x');
        memset(pages + 2 * PAGE, 7, 100); /* the end of the memory */
        put_cpu(w, 1, pages, sizeof(pages), 3);
        make_origin(w, "box", BOOT);
        ck_assert_int_eq(rescue(w), 1);
        m = read_rescued(w);
        ck_assert_uint_eq(read_segment(w, 1, 0, got, 3), 3);
        ck_assert_int_eq(memcmp(got, pages, sizeof(pages)), 0);
        ck_assert_uint_eq(got[2 * PAGE + 100], 0);
        ck_assert_uint_ge(m->start.trace_ns, START_NS);
        ck_assert_uint_le(m->stop.trace_ns, START_NS + 601 * NSEC_PER_SEC);
}

CASE_TEST(no_more_is_taken_than_the_memory_can_hold) {
        size_t n = 100 * (size_t) PAGE;
        _cleanup_free_ uint8_t *pages = calloc(1, n);
        uint64_t n_pages;

        for (size_t i = 0; i < n; i += PAGE)
                make_page(pages + i, START_NS + i, 64, 'e');
        put_cpu(w, 0, pages, n, 5);
        make_origin(w, "box", BOOT);
        ck_assert_int_eq(rescue(w), 1);
        n_pages = session_meta_total(read_rescued(w)).n_pages;
        ck_assert_uint_ge(n_pages, KIB * 1024 / PAGE);
        ck_assert_uint_lt(n_pages, 50);
}

CASE_TEST(a_part_that_had_events_and_is_empty_is_a_gap) {
        SessionMeta *origin;

        put_pages(w, 1, 1, "1");
        make_origin(w, "box", BOOT);
        origin = read_meta(w, "box");
        free(origin->cpus);
        origin->cpus = calloc(2, sizeof(*origin->cpus));
        origin->n_cpus = 2;
        origin->cpus[1].cpu = 1;
        origin->cpus[0].in_memory = origin->cpus[1].in_memory = 5;
        write_meta(w, "box", origin);
        ck_assert_int_eq(rescue(w), 1);
        expect_gap(read_rescued(w), GAP_NOT_RESCUED, UINT64_MAX, START_NS + NSEC_PER_SEC);
}

/* Of the second CPU nothing is there again. */
CASE_TEST(what_a_snapshot_had_read_ends_in_a_gap) {
        uint8_t pages[3 * PAGE];
        SessionMeta *origin;

        make_page(pages, START_NS + 2 * NSEC_PER_SEC, 64, 'a');
        make_page(pages + PAGE, START_NS + 6 * NSEC_PER_SEC, 64, 'b');
        make_page(pages + 2 * PAGE, START_NS + 7 * NSEC_PER_SEC, 64, 'c');
        put_cpu(w, 0, pages, sizeof(pages), 3);
        put_pages(w, 1, 5, "d");
        make_origin(w, "box", BOOT);
        origin = read_meta(w, "box");
        origin->n_snapshots = 1;
        origin->kept_since = origin->start;
        origin->kept_since.trace_ns = START_NS + 4 * NSEC_PER_SEC;
        write_meta(w, "box", origin);
        ck_assert_int_eq(rescue(w), 1);
        expect_gap(read_rescued(w), GAP_SNAPSHOT, START_NS + 4 * NSEC_PER_SEC,
                   START_NS + 6 * NSEC_PER_SEC);
}

TEST(that_nothing_survived_or_the_memory_has_gone_is_said) {
        for (int has_gone = 0; has_gone < 2; has_gone++) {
                _cleanup_(session_dir_freep) SessionDir *none = NULL;
                CASE(w);

                if (has_gone)
                        fake_put_root(w.kernel, "proc/cmdline", "quiet\n");
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 0);
                expect_failed(&w,
                              has_gone ? "booted without the memory" : "nothing of it survived");
                ck_assert_int_eq(store_open_session(w.store, RESCUE_PREFIX BOOT, &none), -ENOENT);
        }
}

/* Tracefs is not mounted: that tells nothing of the memory. */
CASE_TEST(without_tracefs_nothing_is_given_up) {
        char away[PATH_MAX + 8];

        put_pages(w, 0, 1, "1");
        make_origin(w, "box", BOOT);
        w->controller = controller_free(w->controller);
        (void) snprintf(away, sizeof(away), "%s.away", w->kernel->tracefs);
        ck_assert_int_eq(rename(w->kernel->tracefs, away), 0);
        w->controller = fake_controller(w->kernel);
        ck_assert_int_lt(rescue(w), 0);
        ck_assert_int_eq(read_meta(w, "box")->state, SESSION_RECORDING);
        ck_assert_int_eq(rename(away, w->kernel->tracefs), 0);
        ck_assert_int_eq(rescue(w), 1);
}

/* Before either of the two sessions had ended.  Linux 7.2 gives what was read before, too, or the last page of
 * that; damaged pages have times before and after all others. */
TEST(a_daemon_that_died_over_it_is_gone_on_with_and_pages_that_come_again_are_there_once) {
        static const struct {
                const char *first;
                unsigned again_s;
                const char *again;
                const char *segments[2];
                uint64_t n_pages;
        } table[] = {
                { "1", 2, "2", { "1", "2" }, 2 },
                { "12", 1, "123", { "12", "3" }, 3 },
                { "12", 2, "23", { "12", "3" }, 3 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                CASE(w);

                put_pages(&w, 0, 1, table[i].first);
                make_origin(&w, "box", BOOT);
                ck_assert_int_eq(rescue(&w), 1);
                undo_end(&w);
                put_pages(&w, 0, table[i].again_s, table[i].again);
                ck_assert_int_eq(rescue(&w), 1);
                ck_assert_int_eq(read_rescued(&w)->state, SESSION_SEALED);
                ck_assert_uint_eq(session_meta_total(read_rescued(&w)).n_pages, table[i].n_pages);
                for (size_t k = 0; k < 2; k++)
                        if (table[i].segments[k])
                                expect_pages(&w, k, table[i].segments[k]);
        }
}

CASE_TEST(damaged_pages_that_come_later_replace_none) {
        uint8_t pages[2 * PAGE];

        put_pages(w, 0, 1, "1");
        make_origin(w, "box", BOOT);
        ck_assert_int_eq(rescue(w), 1);
        undo_end(w);
        make_page(pages, 1, 64, '2');
        make_page(pages + PAGE, START_NS * 2, 64, '3');
        put_cpu(w, 0, pages, sizeof(pages), 2);
        ck_assert_int_eq(rescue(w), 1);
        ck_assert_uint_eq(session_meta_total(read_rescued(w)).n_pages, 3);
        expect_pages(w, 0, "1");
}

/* Linux 7.2 makes pages readable again that were read before a second crash. */
CASE_TEST(what_is_through_is_not_moved_twice) {
        _cleanup_(session_dir_freep) SessionDir *none = NULL;

        put_pages(w, 0, 1, "1");
        make_origin(w, "box", BOOT);
        ck_assert_int_eq(rescue(w), 1);
        undo_origin(w);
        ck_assert_int_eq(rescue(w), 1);
        ck_assert_uint_eq(session_meta_total(read_rescued(w)).n_pages, 1);
        ck_assert_int_eq(store_open_session(w->store, RESCUE_PREFIX BOOT "-2", &none), -ENOENT);
        expect_failed(w, "");
}

/* The disk was full, and the daemon ended the session as one that nobody had stopped. */
CASE_TEST(what_could_not_be_rescued_is_tried_again) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        SessionMeta *origin;

        make_origin(w, "box", BOOT);
        origin = read_meta(w, "box");
        origin->state = SESSION_FAILED;
        ck_assert_int_eq(text_replace(&origin->reason, SESSION_REASON_DAEMON_ENDED), 0);
        write_meta(w, "box", origin);
        dir = open_session(w, "box");
        disk_usage_release(dir);
        ck_assert_int_eq(rescue(w), 0); /* nothing is in memory */
        put_pages(w, 0, 1, "1");
        ck_assert_int_eq(rescue(w), 1);
        ck_assert_uint_eq(session_meta_total(read_rescued(w)).n_pages, 1);
}

/* As if the daemon had died there. */
CASE_TEST(whose_end_could_not_be_written_is_found_again) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;

        put_pages(w, 0, 1, "1");
        make_origin(w, "box", BOOT);
        dir = open_session(w, "box");
        ck_assert_int_eq(file_replace(session_dir_fd(dir), LIVE_NAME, "{}", 2, 0600), 0);
        ck_assert_int_eq(mkdirat(session_dir_fd(dir), "session.json.new", 0700), 0);
        ck_assert_int_lt(rescue(w), 0);
        ck_assert_int_eq(unlinkat(session_dir_fd(dir), "session.json.new", AT_REMOVEDIR), 0);
        put_cpu(w, 0, "", 0, 0);
        ck_assert_int_eq(rescue(w), 1);
        expect_failed(w, RESCUE_PREFIX BOOT);
}

CASE_TEST(a_session_may_have_any_name) {
        put_pages(w, 0, 1, "1");
        make_origin(w, RESCUE_PREFIX BOOT, BOOT);
        ck_assert_int_eq(rescue(w), 1);
        ck_assert_int_eq(read_meta(w, RESCUE_PREFIX BOOT "-2")->state, SESSION_SEALED);
}

CASE_TEST(what_records_in_this_boot_or_not_there_is_left_alone) {
        char boot_id[BOOT_ID_CHARS + 1];

        put_pages(w, 0, 1, "1");
        ck_assert_int_eq(rescue(w), 0);
        boot_id_read(boot_id);
        make_origin(w, "box", boot_id);
        ck_assert_int_eq(rescue(w), 0);
        ck_assert_int_eq(read_meta(w, "box")->state, SESSION_RECORDING);
}

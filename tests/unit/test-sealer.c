/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <signal.h>

#include "daemon/upkeep/upkeep.h"
#include "page-builder.h"
#include "pages/page-source.h"

#define SESSION "it"
#define N_PAGES 6

typedef struct Fixture {
        Recording recording; /* only what it is made of */
        Scratch scratch;
        Store *store;
        SessionDir *dir;
        sd_event *event;
        Sealer *sealer;
        Page pages[N_PAGES];
        unsigned n_done;
        uint64_t last_sequence;
} Fixture;

static void on_done(const char *session, uint32_t cpu, uint64_t sequence, uint64_t n_before,
                    uint64_t n_bytes, void *userdata) {
        Fixture *f = userdata;

        ck_assert_str_eq(session, SESSION);
        ck_assert_uint_eq(cpu, 0);
        ck_assert_uint_gt(n_before, n_bytes);
        f->last_sequence = sequence;
        f->n_done++;
}

static SegmentWriter *write_segment(Fixture *f, uint64_t sequence) {
        _cleanup_close_ int cpu_fd = session_dir_make_cpu(f->dir, 0);
        SegmentWriter *w;

        ck_assert_int_eq(segment_create(&w, cpu_fd, sequence, UINT64_MAX, 0, BUILT_PAGE_BYTES,
                                        f->recording.meta->id),
                         0);
        for (unsigned i = 0; i < N_PAGES; i++) {
                ck_assert_int_eq(write_full(w->fd, f->pages[i].bytes, BUILT_PAGE_BYTES), 0);
                segment_publish(w, BUILT_PAGE_BYTES);
        }
        return w;
}

static void add_segment(Fixture *f, uint64_t sequence) {
        ck_assert_int_eq(segment_writer_close(write_segment(f, sequence), NULL, NULL), 0);
}

/* @worker: a shell's, or NULL for the real one. */
static void fixture_change_worker(Fixture *f, const char *worker) {
        static char program[PATH_MAX];
        static const char *words[] = { program, SEAL_WORKER_OPTION, NULL };
        static const char *shell[] = { "/bin/sh", "-c", NULL, NULL };

        (void) snprintf(program, sizeof(program), "%s/ftraced", getenv("top_builddir"));
        shell[2] = worker;
        f->sealer = sealer_free(f->sealer);
        ck_assert_int_eq(sealer_new(&f->sealer, &(SealerConfig){ .event = f->event,
                                                                 .store = f->store,
                                                                 .worker = worker ? shell : words,
                                                                 .done = on_done,
                                                                 .userdata = f }),
                         0);
}

/* A store with one session. */
static void fixture_init(Fixture *f, const char *worker) {
        sigset_t chld;
        char path[PATH_MAX + 16];

        (void) sigemptyset(&chld);
        (void) sigaddset(&chld, SIGCHLD);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &chld, NULL), 0);
        *f = (Fixture){};
        recording_init(&f->recording, &layouts[LAYOUT_6_12]); /* its name is SESSION, too */
        f->scratch = SCRATCH;
        (void) snprintf(path, sizeof(path), "%s/store", f->scratch.path);
        ck_assert_int_eq(store_open_for_writing(&f->store, path, NULL), 0);
        ck_assert_int_eq(session_dir_create(&f->dir, store_sessions_fd(f->store), SESSION), 0);
        ck_assert_int_eq(strv_add(&f->recording.meta->spec.functions, "udp_sendmsg"), 0);
        ck_assert_int_eq(session_dir_write_meta(f->dir, f->recording.meta, false), 0);
        for (unsigned i = 0; i < N_PAGES; i++) {
                page_begin(&f->pages[i], &layouts[LAYOUT_6_12], 1000 * i);
                page_enter(&f->pages[i], 1000 * i + 1, 17, F_ROOT, 0);
        }
        ck_assert_int_eq(sd_event_new(&f->event), 0);
        fixture_change_worker(f, worker);
}

static void fixture_done(Fixture *f) {
        sealer_free(f->sealer);
        sd_event_unref(f->event);
        session_dir_free(f->dir);
        store_free(f->store);
        scratch_done(&f->scratch);
        recording_done(&f->recording);
}

#define CASE(f, worker)                                                                            \
        _cleanup_(fixture_done) Fixture f;                                                         \
        fixture_init(&f, (worker))
#define CASE_TEST(name, worker) TEST_WITH(name, (Fixture * f), CASE(f, worker), &f)

/* Until there is nothing to do any more, or nothing happens for @idle_ms. */
static void run(Fixture *f, unsigned idle_ms) {
        while (sealer_is_busy(f->sealer) && sd_event_run(f->event, idle_ms * UINT64_C(1000)) > 0)
                ;
}

#define LONG_MS 100000 /* a worker that is scheduled when nobody else is */

/* The session is listed, and the worker of its first segment started. */
static void begin(Fixture *f) {
        ck_assert_int_eq(sealer_add_session(f->sealer, SESSION), 0);
        for (int i = 0; i < 2; i++)
                ck_assert_int_gt(sd_event_run(f->event, 0), 0);
}

/* Whether it is sealed; its pages are there either way. */
static bool check_segment(const Fixture *f, uint64_t sequence) {
        _cleanup_(page_source_freep) PageSource *s = NULL;

        ck_assert_int_eq(page_source_open(&s, f->dir, 0, sequence, NULL), 0);
        ck_assert_uint_eq(s->n_pages, N_PAGES);
        for (uint64_t i = 0; i < N_PAGES; i++) {
                const void *p;
                uint64_t n;

                ck_assert_int_eq(page_source_read(s, i, &p, &n), 0);
                ck_assert_mem_eq(p, f->pages[i].bytes, BUILT_PAGE_BYTES);
        }
        return s->sealed;
}

/* Files in the CPU's directory, as a temporary that was left behind would be one. */
static size_t n_files(const Fixture *f) {
        _cleanup_(closedirp) DIR *dir = fdopendir(dir_open(session_dir_fd(f->dir), "cpu0"));
        size_t n = 0;

        ck_assert_ptr_nonnull(dir);
        for (struct dirent *e = readdir(dir); e; e = readdir(dir))
                n += !streq(e->d_name, ".") && !streq(e->d_name, "..");
        return n;
}

static struct stat segment_stat(const Fixture *f) {
        struct stat st;

        ck_assert_int_eq(fstatat(session_dir_fd(f->dir), "cpu0/00000000.seg", &st, 0), 0);
        return st;
}

CASE_TEST(a_closed_segment_is_replaced_by_a_sealed_one, NULL) {
        struct stat before, after;

        add_segment(f, 0);
        before = segment_stat(f);
        ck_assert_int_eq(sealer_add_session(f->sealer, SESSION), 0);
        run(f, LONG_MS);
        ck_assert_uint_eq(f->n_done, 1);
        ck_assert(check_segment(f, 0));
        ck_assert_uint_eq(n_files(f), 1);
        after = segment_stat(f);
        ck_assert_uint_ne(before.st_ino, after.st_ino);
        ck_assert_int_eq(before.st_mode, after.st_mode);
        ck_assert_int_eq(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
        ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
        /* Once more is nothing to do. */
        ck_assert_int_eq(sealer_add_session(f->sealer, SESSION), 0);
        run(f, LONG_MS);
        ck_assert_uint_eq(f->n_done, 1);
}

CASE_TEST(all_that_are_closed_are_sealed_and_what_was_left_half_done_goes, NULL) {
        SegmentWriter *w;

        for (uint64_t i = 0; i < 5; i++)
                add_segment(f, i);
        w = write_segment(f, 5);
        scratch_write(session_dir_fd(f->dir), "cpu0/.00000003.sealing", "half", 4);
        scratch_write(session_dir_fd(f->dir), "cpu0/00000006.seg", "none", 4);
        ck_assert_int_eq(sealer_add_session(f->sealer, SESSION), 0);
        ck_assert_int_eq(sealer_add_session(f->sealer, "another"), 0);
        run(f, LONG_MS);
        ck_assert_uint_eq(f->n_done, 5);
        ck_assert_uint_eq(f->last_sequence, 4);
        ck_assert_uint_eq(n_files(f), 7);
        for (uint64_t i = 0; i < 5; i++)
                ck_assert(check_segment(f, i));
        ck_assert(!check_segment(f, 5));
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
}

TEST(a_worker_that_fails_leaves_the_segment_as_it_was) {
        static const char *const workers[] = {
                "kill -9 $$",
                "exit 1",
                "exit 11",
                "head -c 5000 >&1; kill -SEGV $$",
                "exit 0",
                "cat >&1",                      /* the segment itself */
                "cat >&1; printf x >&1; exit 0" /* and more */
        };

        for (size_t i = 0; i < ELEMENTSOF(workers); i++) {
                _cleanup_(fixture_done) Fixture f;
                struct stat before, after;

                fixture_init(&f, workers[i]);
                add_segment(&f, 0);
                before = segment_stat(&f);
                begin(&f);
                ck_assert_uint_eq(n_files(&f), 2); /* it runs */
                run(&f, LONG_MS);
                ck_assert_uint_eq(f.n_done, 0);
                ck_assert(!sealer_is_busy(f.sealer));
                after = segment_stat(&f);
                ck_assert_uint_eq(before.st_ino, after.st_ino);
                ck_assert(!check_segment(&f, 0));
                ck_assert_uint_eq(n_files(&f), 1);
        }
}

TEST(a_full_disk_is_waited_for) {
        CASE(f, "exit 13");

        add_segment(&f, 0);
        ck_assert_int_eq(sealer_add_session(f.sealer, SESSION), 0);
        run(&f, 500);
        ck_assert(sealer_is_busy(f.sealer));
        ck_assert(!check_segment(&f, 0));
        ck_assert_uint_eq(n_files(&f), 1);
}

TEST(what_is_removed_meanwhile_stays_removed) {
        _cleanup_(fixture_done) Fixture f;
        char worker[PATH_MAX + 64];

        (void) snprintf(worker, sizeof(worker),
                        "sleep 0.3; "
                        "exec %s/ftraced " SEAL_WORKER_OPTION " $0",
                        getenv("top_builddir"));
        fixture_init(&f, worker);
        add_segment(&f, 0);
        begin(&f);
        ck_assert_uint_eq(n_files(&f), 2); /* it runs */
        ck_assert_int_eq(unlinkat(session_dir_fd(f.dir), "cpu0/00000000.seg", 0), 0);
        run(&f, LONG_MS);
        ck_assert_uint_eq(f.n_done, 0);
        ck_assert_uint_eq(n_files(&f), 0);
}

CASE_TEST(what_is_removed_when_it_is_sealed_is_no_failure, NULL) {
        char mark[PATH_MAX + 16], worker[3 * PATH_MAX];

        (void) snprintf(mark, sizeof(mark), "%s/done", f->scratch.path);
        (void) snprintf(worker, sizeof(worker),
                        "%s/ftraced " SEAL_WORKER_OPTION " $0; status=$?; : >%s; "
                        "while [ -e %s ]; do sleep 0.1; done; exit $status",
                        getenv("top_builddir"), mark, mark);
        fixture_change_worker(f, worker);
        add_segment(f, 0);
        begin(f);
        while (access(mark, F_OK) < 0)
                (void) usleep(10000);
        ck_assert_int_eq(store_discard_session(f->store, SESSION), 0);
        ck_assert_int_eq(unlink(mark), 0);
        run(f, LONG_MS);
        ck_assert_uint_eq(f->n_done, 0);
}

TEST(an_end_in_the_middle_leaves_the_segment_for_the_next_daemon) {
        CASE(f, "exec sleep 1000");

        add_segment(&f, 0);
        add_segment(&f, 1);
        ck_assert_int_eq(sealer_add_session(f.sealer, SESSION), 0);
        run(&f, 300);
        ck_assert_uint_eq(n_files(&f), 3);
        f.sealer = sealer_free(f.sealer);
        ck_assert_uint_eq(n_files(&f), 2);
        ck_assert(!check_segment(&f, 0));
}

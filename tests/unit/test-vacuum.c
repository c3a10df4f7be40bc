/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <inttypes.h>
#include <pthread.h>
#include <sys/file.h>

#include "retention/footprint.h"
#include "retention/vacuum.h"
#include "tests/unit/scratch.h"

#define PAGE 4096U

static Scratch scratch;
static Store *store;

static void setup(void) {
        char path[PATH_MAX + 8];

        scratch = scratch_new();
        (void) snprintf(path, sizeof(path), "%s/store", scratch.path);
        ck_assert_int_eq(store_open_for_writing(&store, path, NULL), 0);
}

static void teardown(void) {
        store = store_free(store);
        scratch_done(&scratch);
}

/* A test with a store; it is made anew for each case of the others. */
#define STORE_TEST(name)                                                                           \
        static void name##_in(void);                                                               \
        TEST(name) {                                                                               \
                setup();                                                                           \
                name##_in();                                                                       \
                teardown();                                                                        \
        }                                                                                          \
        static void name##_in(void)

/* --- a vacuum of a store that nobody else has, as the daemon's goes over its own -------------------- */

/* What has no session.json is no item. */
static int add_from_store(Vacuum *v, const char *name) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(session_dir_freep) SessionDir *d = NULL;
        int r;

        if (store_open_session(store, name, &d) < 0)
                return 0;
        r = session_dir_read_any_meta(d, name, &m);
        if (r != 0)
                return r == -ENOMEM ? r : 0;
        return vacuum_add_session(v, m, footprint_measure(d).n_bytes);
}

static int list(Vacuum *v) {
        _cleanup_strv_ Strv names = {};
        int r = store_list(store, &names);

        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = add_from_store(v, names.items[i]);
        return r;
}

/* Looks at all that would go until nothing is new.  One that cannot be looked at is left alone. */
static int look_at_chosen(Vacuum *v, const RetainLimits *limits) {
        RetainItem *item;
        int r = vacuum_decide(v, store, limits);

        while (r >= 0 && (item = vacuum_next(v))) {
                for (; item; item = vacuum_next(v)) {
                        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                        _cleanup_(session_dir_freep) SessionDir *d = NULL;

                        r = store_open_session(store, item->name, &d);
                        if (r == 0)
                                r = session_dir_read_any_meta(d, item->name, &m);
                        if (r == 0)
                                r = keep_look(d, m, &item->foreign);
                        if (r == -ENOMEM)
                                return r;
                        item->keep = r < 0 ? KEEP_IN_USE : (Keep) r;
                        item->is_looked_at = true;
                }
                r = vacuum_decide(v, store, limits);
        }
        return MIN(r, 0);
}

static int vacuum_run(Vacuum *ret, const RetainLimits *limits, bool removes) {
        _cleanup_vacuum_ Vacuum v = {};
        int r;

        boot_clock_note(store_fd(store));
        r = list(&v);
        if (r >= 0)
                r = look_at_chosen(&v, limits);
        if (r < 0)
                return r;
        for (size_t i = 0; i < v.n; i++) {
                RetainItem *item = &v.items[i];

                if (item->verdict != RETAIN_KEEP)
                        vacuum_went(&v, item,
                                    removes ? store_discard_session(store, item->name) : 0);
        }
        *ret = TAKE(v, (Vacuum){});
        return 0;
}

static SessionMeta *meta_of(const char *name, uint64_t ended_ns) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        m->name = strdup(name);
        m->id = strdup("0123456789abcdef");
        m->state = ended_ns > 0 ? SESSION_SEALED : SESSION_RECORDING;
        m->page_bytes = PAGE;
        m->start.realtime_ns = 1;
        m->stop.realtime_ns = ended_ns;
        m->kept_realtime_ns = ended_ns;
        ck_assert_int_eq(strv_add(&m->spec.functions, "f"), 0);
        return m;
}

/* A session as ftraced leaves it, of 10 pages; @ended_ns 0: it records. */
static void add(const char *name, uint64_t ended_ns, bool pinned) {
        _cleanup_(session_dir_freep) SessionDir *d = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = meta_of(name, ended_ns);
        _cleanup_close_ int fd = -EBADF;
        char page[PAGE];
        SegmentWriter *w;

        memset(page, 1, sizeof(page));
        m->pinned = pinned;
        ck_assert_int_eq(session_dir_create(&d, store_sessions_fd(store), name), 0);
        ck_assert_int_eq(session_dir_write_meta(d, m, false), 0);
        ck_assert_int_eq(session_dir_write_tracing(d, "events/header_page", "x", 1, false), 0);
        ck_assert_int_eq(
                session_dir_write_tracing(d, "events/ftrace/funcgraph_entry/format", "x", 1, false),
                0);
        ck_assert_int_eq(session_dir_write_tracing(d, "saved_cmdlines", "x", 1, false), 0);
        fd = session_dir_make_cpu(d, 12);
        ck_assert_int_eq(segment_create(&w, fd, 0xab, UINT64_MAX, 12, PAGE, m->id), 0);
        for (int i = 0; i < 10; i++) {
                ck_assert_int_eq(write_full(w->fd, page, sizeof(page)), 0);
                segment_publish(w, sizeof(page));
        }
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
}

/* The names that are left after a vacuum, joined; @ret: the vacuum, unless NULL. */
static void expect_left(const char *wanted, const RetainLimits *limits, Vacuum *ret) {
        _cleanup_strv_ Strv names = {};
        _cleanup_free_ char *text = NULL;
        _cleanup_vacuum_ Vacuum v = {};

        ck_assert_int_eq(vacuum_run(&v, limits, true), 0);
        ck_assert_int_eq(store_list(store, &names), 0);
        text = strv_join(&names, " ");
        ck_assert_str_eq(text, wanted);
        if (ret)
                *ret = TAKE(v, (Vacuum){});
}

static const RetainLimits everything = { .max_use_bytes = 1 };

static void expect_reason(const Vacuum *v, const char *name, const char *reason) {
        for (size_t i = 0; i < v->n; i++)
                if (streq(v->items[i].name, name)) {
                        ck_assert_str_eq(vacuum_item_reason(&v->items[i]), reason);
                        return;
                }
        ck_abort_msg("%s is not an item", name);
}

STORE_TEST(what_is_pinned_read_live_or_not_ours_stays) {
        _cleanup_(session_dir_freep) SessionDir *reader = NULL;
        _cleanup_close_ int lock_fd = -EBADF;
        _cleanup_vacuum_ Vacuum v = {};

        add("ended", 5, false);
        add("live", 0, false);
        add("pinned", 4, true);
        add("read", 3, false);
        add("with-notes", 2, false);
        ck_assert_int_eq(store_open_session(store, "read", &reader), 0);
        lock_fd = keep_lock(reader);
        ck_assert_int_ge(lock_fd, 0);
        scratch_write(store_sessions_fd(store), "with-notes/cpu12/notes.txt", "mine", 4);
        expect_left("live pinned read with-notes", &everything, &v);
        ck_assert_uint_ge(v.freed_bytes, 10 * PAGE);
        expect_reason(&v, "pinned", "it is pinned");
        expect_reason(&v, "read", "somebody reads it");
        expect_reason(&v, "live", "it records");
        expect_reason(&v, "with-notes", "it holds a file that ftraced did not make");
}

static void *let_go_soon(void *userdata) {
        (void) usleep(20000);
        safe_close(*(int *) userdata);
        return NULL;
}

STORE_TEST(a_reader_that_comes_while_somebody_looks_holds_it) {
        _cleanup_(session_dir_freep) SessionDir *reader = NULL;
        _cleanup_close_ int lock_fd = -EBADF;
        pthread_t thread;
        int looker_fd;

        add("a", 5, false);
        ck_assert_int_eq(store_open_session(store, "a", &reader), 0);
        looker_fd = dir_open(session_dir_fd(reader), ".");
        ck_assert_int_eq(flock(looker_fd, LOCK_EX), 0); /* as keep_look() does */
        ck_assert_int_eq(pthread_create(&thread, NULL, let_go_soon, &looker_fd), 0);
        lock_fd = keep_lock(reader);
        ck_assert_int_ge(lock_fd, 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

STORE_TEST(a_copy_of_the_lock_holds_as_well) {
        _cleanup_(session_dir_freep) SessionDir *reader = NULL;
        int fd, copy;

        add("a", 5, false);
        ck_assert_int_eq(store_open_session(store, "a", &reader), 0);
        fd = keep_lock(reader);
        copy = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* as fork() makes */
        safe_close(fd);
        expect_left("a", &everything, NULL);
        (void) close(copy);
}

STORE_TEST(everything_counts_but_what_is_kept_for_the_end) {
        _cleanup_(session_dir_freep) SessionDir *d = NULL;
        Footprint before, after;

        add("a", 5, false);
        ck_assert_int_eq(store_open_session(store, "a", &d), 0);
        before = footprint_measure(d);
        ck_assert_uint_ge(before.segment_bytes, 10 * PAGE);
        /* session.json, tracing/ with 3 files in 4 directories, cpu12/ with one file, itself */
        ck_assert_uint_ge(before.n_bytes - before.segment_bytes, 10 * PAGE);
        for (int i = 0; i < 3; i++) {
                static const char *const names[] = { "cuts", "notes", "tracing/empty" };

                scratch_write(session_dir_fd(d), names[i], "", 0);
                after = footprint_measure(d);
                ck_assert_uint_eq(after.n_bytes, before.n_bytes + FOOTPRINT_ENTRY_BYTES);
                ck_assert_uint_eq(after.segment_bytes, before.segment_bytes);
                before = after;
        }
        scratch_write(session_dir_fd(d), "reserve", "x", 1);
        ck_assert_uint_eq(footprint_measure(d).n_bytes, before.n_bytes);
        /* A second name is what a snapshot has. */
        ck_assert_int_eq(linkat(session_dir_fd(d), "cpu12/000000ab.seg", session_dir_fd(d),
                                "cpu12/000000ac.seg", 0),
                         0);
        ck_assert_uint_eq(footprint_measure(d).segment_bytes, 2 * before.segment_bytes);
}

STORE_TEST(a_session_that_cannot_be_read_is_left_alone) {
        _cleanup_vacuum_ Vacuum v = {};

        add("a", 5, false);
        scratch_write(store_sessions_fd(store), "a/session.json", "{}", 2);
        expect_left("a", &everything, &v);
        ck_assert_uint_eq(v.n, 1);
        ck_assert_int_eq(v.items[0].keep, KEEP_UNKNOWN);
        ck_assert_int_eq(v.items[0].verdict, RETAIN_KEEP);
        ck_assert_str_eq(vacuum_item_reason(&v.items[0]), "this ftraced cannot read its session.json");
}

STORE_TEST(the_next_one_to_become_too_old_is_known) {
        _cleanup_vacuum_ Vacuum v = {};
        RetainLimits none = {};

        add("a", 500, false);
        add("b", 400, false);
        add("pinned", 300, true);
        add("live", 0, false);
        ck_assert_int_eq(vacuum_run(&v, &none, false), 0);
        ck_assert_uint_eq(vacuum_next_ns(&v, &(RetainLimits){ .max_age_ns = 100 }), 500);
        ck_assert_uint_eq(vacuum_next_ns(&v, &none), UINT64_MAX);
}

TEST(nothing_goes_for_its_age_in_a_boot_in_which_the_clock_was_set) {
        static const int64_t set_s[] = { 0, 3600, -3600, 2 * 86400, -2 * 86400 };

        for (size_t i = 0; i < ELEMENTSOF(set_s); i++) {
                char boot_id[BOOT_ID_CHARS + 1], line[BOOT_ID_CHARS + 32];
                bool is_far = set_s[i] > 86400 || set_s[i] < -86400;
                _cleanup_vacuum_ Vacuum v = {};
                uint64_t then = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
                int n;

                setup();
                boot_id_read(boot_id);
                then += (uint64_t) (set_s[i] * (int64_t) NSEC_PER_SEC);
                n = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", boot_id, then);
                scratch_write(store_fd(store), "clock", line, (size_t) n);
                add("a", 5, false);
                expect_left(is_far ? "a" : "", &(RetainLimits){ .max_age_ns = 3600 * NSEC_PER_SEC },
                            &v);
                if (is_far)
                        ck_assert_uint_eq(vacuum_next_ns(&v, &(RetainLimits){ .max_age_ns = 1 }),
                                          UINT64_MAX);
                if (is_far)
                        expect_reason(&v, "a",
                                      "the clock was set by more than a day: nothing goes "
                                      "for its age until the host boots");
                /* "Kept as" is a promise in any boot; not longer than ages may be. */
                expect_left(is_far ? "a" : "",
                            &(RetainLimits){ .max_use_bytes = 1, .min_age_ns = UINT64_MAX }, NULL);
                expect_left("",
                            &(RetainLimits){
                                    .max_use_bytes = 1, .max_age_ns = 1, .min_age_ns = UINT64_MAX },
                            NULL);
                add("b", 5, false);
                expect_left("", &everything, NULL);
                teardown();
        }
}

TEST(a_boot_is_noted_when_it_is_first_seen) {
        static const char *const before[] = { "", "x", "another-boot 5\n", "another-boot\n" };

        for (size_t i = 0; i < ELEMENTSOF(before); i++) {
                _cleanup_free_ char *text = NULL, *again = NULL;

                setup();
                scratch_write(store_fd(store), "clock", before[i], strlen(before[i]));
                ck_assert(!boot_clock_was_set(store_fd(store)));
                boot_clock_note(store_fd(store));
                ck_assert_int_eq(file_read(store_fd(store), "clock", &text, NULL, 4096), 0);
                ck_assert_str_ne(text, before[i]);
                ck_assert(!boot_clock_was_set(store_fd(store)));
                boot_clock_note(store_fd(store));
                ck_assert_int_eq(file_read(store_fd(store), "clock", &again, NULL, 4096), 0);
                ck_assert_str_eq(text, again);
                teardown();
        }
}

TEST(an_age_is_since_it_was_kept_or_ended) {
        _cleanup_(session_meta_freep) SessionMeta *m = meta_of("x", 5);

        m->kept_realtime_ns = 7;
        ck_assert_uint_eq(session_meta_kept_ns(m), 7);
        m->kept_realtime_ns = 0;
        ck_assert_uint_eq(session_meta_kept_ns(m), 5);
        m->stop.realtime_ns = 0;
        ck_assert_uint_eq(session_meta_kept_ns(m), 1);
        m->start.realtime_ns = 0;
        ck_assert_uint_eq(session_meta_kept_ns(m), UINT64_MAX);
}

STORE_TEST(what_goes_next_is_foreseen_with_what_is_still_to_come) {
        _cleanup_vacuum_ Vacuum v = {};
        RetainLimits l = { .max_use_bytes = 100, .min_age_ns = 1ULL << 60, .keep_newest = true };
        uint64_t now = now_ns(CLOCK_REALTIME);
        _cleanup_outlook_ Outlook one = {}, two = {};
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(
                vacuum_add(&v,
                           &(RetainItem){ .name = (char *) "b", .n_bytes = 30, .kept_ns = now }),
                0);
        ck_assert_int_eq(vacuum_add(&v, &(RetainItem){ .name = (char *) "a",
                                                       .n_bytes = 30,
                                                       .kept_ns = now - 5 }),
                         0);
        ck_assert_int_eq(vacuum_foresee(&one, &v, store, &l), 0);
        ck_assert_str_eq(one.next, "a");
        ck_assert_int_eq(one.why, RETAIN_KEEP);
        ck_assert_uint_eq(one.n_going, 0);
        ck_assert_uint_gt(one.not_before_ns, 0);
        ck_assert_int_eq(vacuum_add(&v, &(RetainItem){ .name = (char *) "live",
                                                       .n_bytes = 20,
                                                       .growth_bytes = 40,
                                                       .is_live = true }),
                         0);
        ck_assert_int_eq(vacuum_foresee(&two, &v, store, &l), 0);
        ck_assert_int_eq(two.why, RETAIN_OVER_USE);
        ck_assert_uint_eq(two.n_going, 1);
        ck_assert_uint_eq(two.growth_bytes, 40);
        ck_assert_uint_eq(two.going.n, 1);
        ck_assert(!two.is_full);
        ck_assert_int_eq(outlook_describe(&text, &two), 0);
        ck_assert_ptr_nonnull(strstr(text, "all recordings take 80B and those that record "
                                           "may take 40B more, of 100B (MaxUse=)"));
}

TEST(what_ftraced_did_not_make_is_foreign) {
        static const char *const foreign[] = {
                "notes",
                "session.json~",
                "cuts.old",
                "cpu01",
                "cpu12/0000000A.seg",
                "cpu12/000000ab.seg.new",
                "cpu12/x/y",
                "tracing/set_event",
                "tracing/events/ftrace/f/id",
                "tracing/x/y",
                "cuts/x",
                "cpu12345/x",
        };
        static const char *const ours[] = {
                "session.json.new",
                "cuts",
                "cuts.new",
                "reserve",
                "cpu12/0000ffff.seg",
                "cpu12/.000000ab.sealing",
                "tracing/printk_formats",
                "tracing/events/ftrace/x/format.new",
                "tracing/events/header_event",
                "cpu0/00000000.seg",
        };

        for (size_t i = 0; i < ELEMENTSOF(foreign) + ELEMENTSOF(ours); i++) {
                bool is_ours = i >= ELEMENTSOF(foreign);
                const char *path = is_ours ? ours[i - ELEMENTSOF(foreign)] : foreign[i];
                _cleanup_(session_dir_freep) SessionDir *d = NULL;
                _cleanup_free_ char *found = NULL;
                char whole[PATH_MAX], *slash;

                setup();
                add("a", 5, false);
                ck_assert_int_eq(store_open_session(store, "a", &d), 0);
                (void) snprintf(whole, sizeof(whole), "%s", path);
                for (slash = strchr(whole, '/'); slash; slash = strchr(slash + 1, '/')) {
                        *slash = 0;
                        (void) mkdirat(session_dir_fd(d), whole, 0755);
                        *slash = '/';
                }
                scratch_write(session_dir_fd(d), path, "", 0);
                ck_assert_msg(keep_find_foreign(d, &found) == !is_ours, "%s", path);
                if (!is_ours)
                        ck_assert_msg(strncmp(path, found, strlen(found)) == 0, "%s: %s", path,
                                      found);
                teardown();
        }
}

TEST(a_link_or_fifo_of_our_name_is_foreign) {
        for (int i = 0; i < 2; i++) {
                _cleanup_strv_ Strv misplaced = {};
                _cleanup_(session_dir_freep) SessionDir *d = NULL;
                _cleanup_free_ char *found = NULL;

                setup();
                add("a", 5, false);
                ck_assert_int_eq(store_open_session(store, "a", &d), 0);
                ck_assert_int_eq(keep_find_foreign(d, &found), 0);
                if (i == 0)
                        ck_assert_int_eq(symlinkat("/etc/passwd", session_dir_fd(d), "cuts"), 0);
                else
                        ck_assert_int_eq(mkfifoat(session_dir_fd(d), "cuts", 0600), 0);
                ck_assert_int_eq(keep_find_foreign(d, &found), 1);
                ck_assert_str_eq(found, "cuts");
                scratch_write(session_dir_fd(d), "notes", "", 0); /* nobody takes it for ours */
                ck_assert_int_eq(mkdirat(session_dir_fd(d), "live.json", 0700), 0);
                ck_assert_int_eq(keep_list_misplaced(d, &misplaced), 0);
                ck_assert_uint_eq(misplaced.n, 2);
                ck_assert_str_eq(misplaced.items[0], "cuts");
                ck_assert_str_eq(misplaced.items[1], "live.json");
                teardown();
        }
}

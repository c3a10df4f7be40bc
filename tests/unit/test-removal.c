/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What goes on while a file is being unlinked: the linker has unlinkat() go through here. */

#include <semaphore.h>

#include "daemon/upkeep/upkeep.h"
#include "scratch.h"

static bool is_held; /* a file that is unlinked waits */
static sem_t may_unlink, has_come;

int __real_unlinkat(int dir_fd, const char *path, int flags);
int __wrap_unlinkat(int dir_fd, const char *path, int flags);

int __wrap_unlinkat(int dir_fd, const char *path, int flags) {
        if (is_held && streq(path, "held")) {
                (void) sem_post(&has_come);
                (void) sem_wait(&may_unlink);
        }
        return __real_unlinkat(dir_fd, path, flags);
}

typedef struct Fixture {
        Scratch scratch;
        char path[PATH_MAX + 8];
        sd_event *event;
        Background *sweeper;
        Store *store;
        Removal *removal;
        int known; /* what removal is told of symbols */
        int n_asked;
} Fixture;

static int on_used(Strv *ret, void *userdata) {
        Fixture *f = userdata;

        f->n_asked++;
        return f->known;
}

static void begin(Fixture *f) {
        is_held = false;
        ck_assert_int_eq(sem_init(&may_unlink, 0, 0), 0);
        ck_assert_int_eq(sem_init(&has_come, 0, 0), 0);
        *f = (Fixture){ .scratch = SCRATCH };
        (void) snprintf(f->path, sizeof(f->path), "%s/store", f->scratch.path);
        ck_assert_int_ge(sd_event_new(&f->event), 0);
        ck_assert_int_eq(background_new(&f->sweeper, f->event), 0);
        background_open(f->sweeper);
        ck_assert_int_eq(store_open_for_writing(&f->store, f->path, NULL), 0);
        ck_assert_int_eq(removal_new(&f->removal, f->sweeper, f->store, on_used, f), 0);
}

static void end(Fixture *f) {
        f->removal = removal_free(f->removal);
        f->sweeper = background_free(f->sweeper);
        f->store = store_free(f->store);
        (void) sd_event_unref(f->event);
        scratch_done(&f->scratch);
}

#define CASE_TEST(name) TEST_WITH(name, (Fixture * f), _cleanup_(end) Fixture f; begin(&f), &f)

/* A directory that holds a file. */
static void add(Fixture *f, const char *session, const char *file) {
        _cleanup_close_ int fd = -EBADF;
        char path[256];

        ck_assert_int_eq(mkdirat(store_sessions_fd(f->store), session, 0700), 0);
        (void) snprintf(path, sizeof(path), "%s/%s", session, file);
        fd = openat(store_sessions_fd(f->store), path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_eq(ftruncate(fd, 0), 0);
        ck_assert_int_eq(write(fd, path, sizeof(path)), sizeof(path));
}

static bool is_there(const Fixture *f, const char *name) {
        return faccessat(store_sessions_fd(f->store), name, F_OK, AT_SYMLINK_NOFOLLOW) >= 0;
}

/* Until the loop has nothing to do. */
static void run(Fixture *f) {
        while (background_is_busy(f->sweeper))
                ck_assert_int_ge(sd_event_run(f->event, 10000000), 0);
        while (sd_event_run(f->event, 0) > 0)
                ;
        removal_look(f->removal);
}

CASE_TEST(the_loop_goes_on_while_a_file_is_unlinked) {
        add(f, "a", "held");
        is_held = true;
        ck_assert_int_eq(removal_add(f->removal, "a"), 0);
        ck_assert(!is_there(f, "a"));
        (void) sem_wait(&has_come);
        ck_assert(is_there(f, ".removed-a"));
        is_held = false;
        (void) sem_post(&may_unlink);
        run(f);
        ck_assert(!is_there(f, ".removed-a"));
}

CASE_TEST(what_is_added_meanwhile_is_removed_after_it) {
        add(f, "a", "held");
        add(f, "b", "file");
        is_held = true;
        ck_assert_int_eq(removal_add(f->removal, "a"), 0);
        (void) sem_wait(&has_come);
        add(f, "a", "file");
        ck_assert_int_eq(removal_add(f->removal, "a"), 0);
        ck_assert_int_eq(removal_add(f->removal, "b"), 0);
        ck_assert_int_eq(removal_add(f->removal, "c"), -ENOENT);
        ck_assert(!is_there(f, "a"));
        ck_assert(is_there(f, ".removed-b"));
        add(f, "b", "file");
        is_held = false;
        (void) sem_post(&may_unlink);
        run(f);
        ck_assert(!is_there(f, ".removed-a"));
        ck_assert(!is_there(f, ".removed-a.1"));
        ck_assert(!is_there(f, ".removed-b"));
        ck_assert(is_there(f, "b"));
        ck_assert_int_eq(f->n_asked, 1); /* for symbols: once, at the end */
}

CASE_TEST(freeing_it_waits_for_the_rest) {
        add(f, "a", "held");
        add(f, "b", "file");
        is_held = true;
        ck_assert_int_eq(removal_add(f->removal, "a"), 0);
        ck_assert_int_eq(removal_add(f->removal, "b"), 0);
        (void) sem_post(&may_unlink);
        f->removal = removal_free(f->removal);
        ck_assert(!is_there(f, ".removed-a"));
        ck_assert(!is_there(f, ".removed-b"));
}

CASE_TEST(symbols_that_may_be_wanted_are_looked_at_again) {
        f->known = REMOVAL_E_LATER;
        ck_assert_int_eq(mkdirat(store_fd(f->store), "symbols/x", 0700), 0);
        add(f, "a", "file");
        ck_assert_int_eq(removal_add(f->removal, "a"), 0);
        run(f);
        ck_assert_int_eq(f->n_asked, 1);
        f->known = 0;
        removal_look(f->removal);
        ck_assert_int_eq(f->n_asked, 2);
        removal_look(f->removal);
        ck_assert_int_eq(f->n_asked, 2); /* that was all */
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>

#include "scratch.h"
#include "store/store.h"
#include "store/symbol-file.h"
#include "tests/unit/scratch.h"

#define ID "0123456789abcdef"

static char path[PATH_MAX + 16];

static const char *store_in(const Scratch *s) {
        (void) snprintf(path, sizeof(path), "%s/store", s->path);
        return path;
}

static Store *open_store(const Scratch *s) {
        Store *w = MADE(Store, store_open_for_writing, store_in(s), NULL);

        return w;
}

#define STORE(s, w)                                                                                \
        _cleanup_scratch_ Scratch s = SCRATCH;                                                     \
        _cleanup_(store_freep) Store *w = open_store(&s)
#define STORE_TEST(name) TEST_WITH(name, (Scratch * s, Store * w), STORE(s, w), &s, w)

static void add_session(Store *s, const char *name, SessionState state, const char *symbols) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(session_dir_freep) SessionDir *d = NULL;

        ck_assert_int_eq(session_dir_create(&d, store_sessions_fd(s), name), 0);
        ck_assert_int_eq(session_meta_new(&m), 0);
        m->name = strdup(name);
        m->id = strdup(ID);
        m->state = state;
        m->symbols = symbols ? strdup(symbols) : NULL;
        ck_assert_int_eq(strv_add(&m->spec.functions, "f"), 0);
        ck_assert_int_eq(session_dir_write_meta(d, m, false), 0);
}

static bool has_symbols(const Store *s, const char *hash) {
        _cleanup_free_ char *text = NULL;

        return symbol_file_load(store_symbols_fd(s), hash, &text, NULL) == 0;
}

SCRATCH_TEST(a_store_is_made_with_its_modes_and_read) {
        _cleanup_(store_freep) Store *w = NULL, *r = NULL;
        struct stat st;

        (void) umask(022);
        ck_assert_int_eq(store_open(&r, store_in(s)), -ENOENT);
        ck_assert_int_eq(store_open_for_writing(&w, store_in(s), NULL), 0);
        ck_assert_str_eq(store_path(w), store_in(s));
        ck_assert_int_eq(fstat(store_fd(w), &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0750);
        ck_assert_int_eq(fstat(store_sessions_fd(w), &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0750);
        ck_assert_int_eq(store_open(&r, store_in(s)), 0);
        ck_assert_int_ge(store_symbols_fd(r), 0);
}

SCRATCH_TEST(a_holder_that_cannot_be_read_is_unknown) {
        Store *w = NULL, *other = NULL;
        pid_t holder = 42;
        int fd;

        ck_assert_int_eq(store_open_for_writing(&w, store_in(s), NULL), 0);
        fd = openat(store_fd(w), "lock", O_WRONLY | O_TRUNC | O_CLOEXEC);
        ck_assert_int_eq(write_full(fd, "99999999999999999999", 20), 0);
        safe_close(fd);
        ck_assert_int_eq(store_open_for_writing(&other, store_in(s), &holder), STORE_E_LOCKED);
        ck_assert_int_eq(holder, 0);
        store_free(w);
}

SCRATCH_TEST(who_asks_for_the_owner_is_told_and_is_not_in_the_way) {
        _cleanup_(store_freep) Store *r = NULL;
        Store *w = NULL;
        pid_t owner = 42;

        ck_assert_int_eq(store_open_for_writing(&w, store_in(s), NULL), 0);
        ck_assert_int_eq(store_open(&r, store_in(s)), 0);
        ck_assert_int_eq(store_is_owned(r, &owner), 1);
        ck_assert_int_eq(owner, getpid());
        store_free(w);
        ck_assert_int_eq(store_is_owned(r, NULL), 0);
        ck_assert_int_eq(store_open_for_writing(&w, store_in(s), NULL), 0);
        store_free(w);
}

/*
 * Hashes of all symbols that sessions refer to.  Return: 0; STORE_E_UNKNOWN if that cannot be known,
 * because a session's file cannot be read, or one has not named its symbols yet.
 */
static int list_symbols_in_use(const Store *s, Strv *ret) {
        _cleanup_strv_ Strv sessions = {};
        int r = store_list(s, &sessions);

        for (size_t i = 0; r >= 0 && i < sessions.n; i++) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                _cleanup_(session_dir_freep) SessionDir *d = NULL;

                if (store_open_session(s, sessions.items[i], &d) < 0 ||
                    session_dir_read_meta(d, &m) != 0)
                        return STORE_E_UNKNOWN;
                r = store_add_symbols_in_use(ret, m);
                if (r > 0)
                        return r;
        }
        return r < 0 ? r : 0;
}

static int remove_session(Store *s, const char *name) {
        _cleanup_strv_ Strv used = {};
        int r = store_discard_session(s, name);

        if (r == 0)
                r = list_symbols_in_use(s, &used);
        if (r != 0)
                return r < 0 ? r : 0;
        return store_drop_symbols(s, &used);
}

STORE_TEST(removal_takes_the_session_and_its_symbols_alone) {
        SessionDir *d = NULL;
        char shared[SYMBOL_HASH_CHARS + 1], own[SYMBOL_HASH_CHARS + 1];

        ck_assert_int_eq(symbol_file_store(store_symbols_fd(w), "shared", 6, shared), 0);
        ck_assert_int_eq(symbol_file_store(store_symbols_fd(w), "own", 3, own), 0);
        scratch_write(store_symbols_fd(w), "README", "", 0);
        add_session(w, "a", SESSION_SEALED, own);
        add_session(w, "b", SESSION_SEALED, shared);
        add_session(w, "c", SESSION_FAILED, shared);
        ck_assert_int_eq(remove_session(w, "none"), -ENOENT);
        ck_assert_int_eq(remove_session(w, ".."), -EINVAL);
        ck_assert_int_eq(remove_session(w, "a"), 0);
        ck_assert_int_eq(store_open_session(w, "a", &d), -ENOENT);
        ck_assert(!has_symbols(w, own));
        ck_assert(has_symbols(w, shared));
        ck_assert_int_eq(remove_session(w, "b"), 0);
        ck_assert(has_symbols(w, shared));
        ck_assert_int_eq(remove_session(w, "c"), 0);
        ck_assert(!has_symbols(w, shared));
        ck_assert_int_eq(faccessat(store_symbols_fd(w), "README", F_OK, 0), 0);
}

STORE_TEST(later_maps_and_lists_of_modules_go_with_their_last_session) {
        enum { FIRST, MODULES, LATER, LATER_MODULES, N };
        char hashes[N][SYMBOL_HASH_CHARS + 1];
        static const char *const names[] = { "a", "b" };

        for (size_t i = 0; i < N; i++)
                ck_assert_int_eq(symbol_file_store(store_symbols_fd(w), "1234", i, hashes[i]), 0);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_(session_dir_freep) SessionDir *d = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;

                add_session(w, names[i], SESSION_SEALED, hashes[FIRST]);
                ck_assert_int_eq(store_open_session(w, names[i], &d), 0);
                ck_assert_int_eq(session_dir_read_meta(d, &m), 0);
                m->modules = strdup(hashes[MODULES]);
                ck_assert_int_eq(symbol_maps_add(&m->symbol_maps, 5, 6, hashes[LATER],
                                                 hashes[LATER_MODULES]),
                                 0);
                ck_assert_int_eq(session_dir_write_meta(d, m, false), 0);
        }
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                for (size_t k = 0; k < N; k++)
                        ck_assert(has_symbols(w, hashes[k]));
                ck_assert_int_eq(remove_session(w, names[i]), 0);
        }
        for (size_t k = 0; k < N; k++)
                ck_assert(!has_symbols(w, hashes[k]));
}

STORE_TEST(symbols_are_kept_while_a_session_may_still_name_them) {
        char hash[SYMBOL_HASH_CHARS + 1];

        ck_assert_int_eq(symbol_file_store(store_symbols_fd(w), "x", 1, hash), 0);
        add_session(w, "gone", SESSION_SEALED, hash);
        add_session(w, "live", SESSION_RECORDING, NULL);
        ck_assert_int_eq(remove_session(w, "gone"), 0);
        ck_assert(has_symbols(w, hash));
        ck_assert_int_eq(remove_session(w, "live"), 0);
        ck_assert(!has_symbols(w, hash));

        ck_assert_int_eq(symbol_file_store(store_symbols_fd(w), "x", 1, hash), 0);
        add_session(w, "gone", SESSION_SEALED, hash);
        ck_assert_int_eq(mkdirat(store_sessions_fd(w), "unreadable", 0700), 0);
        ck_assert_int_eq(remove_session(w, "gone"), 0);
        ck_assert(has_symbols(w, hash));
}

TEST(what_is_removed_under_one_name_twice_is_told_apart) {
        _cleanup_free_ char *first = NULL, *second = NULL;
        STORE(s, w);
        int fd;

        fd = store_sessions_fd(w);
        add_session(w, "a", SESSION_SEALED, NULL);
        ck_assert_int_eq(store_hide_session(w, "a", &first), 0);
        add_session(w, "a", SESSION_SEALED, NULL);
        ck_assert_int_eq(store_hide_session(w, "a", &second), 0);
        ck_assert_str_ne(first, second);
        ck_assert_int_eq(store_clear_hidden(w, second, UINT64_MAX, NULL), 0);
        ck_assert_int_eq(faccessat(fd, first, F_OK, 0), 0);
        ck_assert_int_ne(faccessat(fd, second, F_OK, 0), 0);
        ck_assert_int_eq(store_clear_hidden(w, first, UINT64_MAX, NULL), 0);
        ck_assert_int_ne(faccessat(fd, first, F_OK, 0), 0);
        ck_assert_int_eq(store_clear_hidden(w, first, UINT64_MAX, NULL), 0);
}

TEST(a_removal_that_was_interrupted_is_finished) {
        STORE(s, w);
        int fd;

        add_session(w, "a", SESSION_SEALED, NULL);
        fd = store_sessions_fd(w);
        ck_assert_int_eq(renameat(fd, "a", fd, ".removed-a"), 0);
        add_session(w, "a", SESSION_SEALED, NULL);
        ck_assert_int_eq(remove_session(w, "a"), 0);
        ck_assert_int_eq(faccessat(fd, ".removed-a", F_OK, 0), 0);
        ck_assert_int_ne(faccessat(fd, ".removed-a.1", F_OK, 0), 0);
        add_session(w, "b", SESSION_SEALED, NULL);
        ck_assert_int_eq(renameat(fd, "b", fd, ".removed-b"), 0);
        w = store_free(w);
        ck_assert_int_eq(store_open_for_writing(&w, store_in(&s), NULL), 0);
        ck_assert_int_ne(faccessat(store_sessions_fd(w), ".removed-a", F_OK, 0), 0);
        ck_assert_int_ne(faccessat(store_sessions_fd(w), ".removed-b", F_OK, 0), 0);
}

TEST(what_is_being_made_is_no_session_until_it_has_settled) {
        _cleanup_scratch_ Scratch scratch = SCRATCH;
        _cleanup_(session_dir_freep) SessionDir *d = NULL, *again = NULL;
        _cleanup_(store_freep) Store *s = MADE(Store, store_open_for_writing, scratch.path, NULL);
        _cleanup_strv_ Strv names = {};

        ck_assert_int_eq(store_make_session(s, "a", &d), 0);
        ck_assert_int_eq(store_list(s, &names), 0);
        ck_assert_uint_eq(names.n, 0);
        ck_assert_int_eq(store_settle_session(s, "a"), 0);
        ck_assert_int_eq(store_list(s, &names), 0);
        ck_assert_uint_eq(names.n, 1);
        ck_assert_int_eq(store_make_session(s, "a", &again), -EEXIST);
        ck_assert_int_eq(remove_session(s, "a"), 0);
        ck_assert_int_eq(store_make_session(s, "a", &again), 0);
        ck_assert_int_eq(remove_session(s, "a"), 0);
        ck_assert_int_eq(remove_session(s, "a"), -ENOENT);
}

TEST(what_had_not_settled_when_its_maker_died_is_removed) {
        _cleanup_scratch_ Scratch scratch = SCRATCH;
        _cleanup_(session_dir_freep) SessionDir *d = NULL;
        _cleanup_(store_freep) Store *s = MADE(Store, store_open_for_writing, scratch.path, NULL);
        _cleanup_strv_ Strv names = {};

        ck_assert_int_eq(store_make_session(s, "a-snap-1", &d), 0);
        s = store_free(s);
        ck_assert_int_eq(store_open_for_writing(&s, scratch.path, NULL), 0);
        ck_assert_int_eq(store_list_foreign(s, &names), 0);
        ck_assert_uint_eq(names.n, 0);
        ck_assert_int_eq(remove_session(s, "a-snap-1"), -ENOENT);
}

SCRATCH_TEST(a_store_without_symbols_is_still_read) {
        _cleanup_(store_freep) Store *w = NULL, *r = NULL;
        _cleanup_(session_dir_freep) SessionDir *d = NULL;

        ck_assert_int_eq(store_open_for_writing(&w, store_in(s), NULL), 0);
        add_session(w, "a", SESSION_SEALED, NULL);
        ck_assert_int_eq(tree_remove(store_fd(w), "symbols"), 0);
        ck_assert_int_eq(store_open(&r, store_in(s)), 0);
        ck_assert_int_eq(store_symbols_fd(r), -EBADF);
        ck_assert_int_eq(store_open_session(r, "a", &d), 0);
        ck_assert_int_eq(symlinkat("/etc", store_fd(w), "symbols"), 0);
        r = store_free(r);
        ck_assert_int_eq(store_open(&r, store_in(s)), 0);
        ck_assert_int_eq(store_symbols_fd(r), -ENOTDIR);
}

/* A process that holds it, or, with @orphaned, a child of the one that took it and is dead. */
static pid_t make_holder(const Scratch *s, bool orphaned) {
        int pipe_fds[2], status;
        pid_t taker, pid;

        ck_assert_int_eq(pipe(pipe_fds), 0);
        taker = fork();
        if (taker == 0) {
                int fd;

                if (lock_take(&fd, s->fd, NULL) != 0)
                        _exit(1);
                if (orphaned && fork() != 0)
                        _exit(0);
                pid = getpid();
                if (write(pipe_fds[1], &pid, sizeof(pid)) != sizeof(pid))
                        _exit(1);
                for (;;)
                        (void) pause();
        }
        ck_assert_int_eq(read(pipe_fds[0], &pid, sizeof(pid)), sizeof(pid));
        if (orphaned)
                ck_assert_int_eq(waitpid(taker, &status, 0), taker);
        (void) close(pipe_fds[0]);
        (void) close(pipe_fds[1]);
        return pid;
}

SCRATCH_TEST(it_is_for_its_owner_alone) {
        struct stat st;

        for (int i = 0; i < 2; i++) {
                int fd;

                ck_assert_int_eq(lock_take(&fd, s->fd, NULL), 0);
                ck_assert_int_eq(fstatat(s->fd, "lock", &st, 0), 0);
                ck_assert_uint_eq(st.st_mode & 0777, 0600);
                (void) close(fd);
                ck_assert_int_eq(fchmodat(s->fd, "lock", 0640, 0), 0);
        }
}

TEST(who_lives_and_has_it_is_named) {
        for (int i = 0; i < 2; i++) {
                _cleanup_scratch_ Scratch s = SCRATCH;
                pid_t pid = make_holder(&s, i > 0), holder = 42, owner = 42;
                int fd;

                ck_assert_int_eq(lock_take(&fd, s.fd, &holder), LOCK_E_HELD);
                ck_assert_int_eq(holder, i > 0 ? 0 : pid);
                ck_assert_int_eq(lock_look(s.fd, &owner), 1);
                ck_assert_int_eq(owner, holder);
                ck_assert_int_eq(kill(pid, SIGKILL), 0);
                while (lock_look(s.fd, &owner) != 0) /* an orphan is not ours to wait for */
                        (void) usleep(1000);
                (void) waitpid(pid, NULL, 0);
                ck_assert_int_eq(lock_take(&fd, s.fd, NULL), 0);
                (void) close(fd);
        }
}

SCRATCH_TEST(one_that_its_holder_removes_is_not_taken) {
        int first, second;

        ck_assert_int_eq(lock_take(&first, s->fd, NULL), 0);
        ck_assert_int_eq(unlinkat(s->fd, "lock", 0), 0);
        ck_assert_int_eq(lock_take(&second, s->fd, NULL), 0);
        ck_assert_int_eq(faccessat(s->fd, "lock", F_OK, 0), 0);
        (void) close(first);
        (void) close(second);
}

SCRATCH_TEST(who_may_not_open_it_is_told_that) {
        int fd;
        pid_t pid, owner;

        if (geteuid() != 0)
                return;
        ck_assert_int_eq(fchmod(s->fd, 0755), 0);
        ck_assert_int_eq(lock_take(&fd, s->fd, NULL), 0);
        pid = fork();
        if (pid == 0) {
                if (setgid(65534) < 0 || setuid(65534) < 0)
                        _exit(9);
                _exit(lock_look(s->fd, &owner) == -EACCES ? 0 : 1);
        }
        ck_assert_int_eq(unit_wait(pid), 0);
        (void) close(fd);
}

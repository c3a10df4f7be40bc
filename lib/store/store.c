/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One directory, one lock, one owner.  The daemon holds the lock for as long as it
 * lives; readers need none, because everything they can see was put there by a rename, or only grows.  Removal
 * begins with a rename too: from then on nobody sees half a session, and what a crash leaves behind
 * is cleared away by the next daemon.
 */

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/io.h"
#include "base/name.h"
#include "store/entry.h"
#include "store/store.h"

#define REMOVED_PREFIX ".removed-"
#define MADE_PREFIX ".making-"
#define HIDDEN_NAME_MAX (sizeof(REMOVED_PREFIX) + SESSION_NAME_MAX)
#define HIDDEN_TRIES 10000 /* of sessions of one name, removed one after the other */
#define SESSIONS_NAME "sessions"
#define SYMBOLS_NAME "symbols"

struct Store {
        char *path;
        int fd, sessions_fd, symbols_fd;
        int lock_fd; /* -EBADF: open for reading */
};

/* --- the lock: an flock() goes with the process that has it, however that ends ------------------------ */

#define LOCK_NAME "lock"
#define LOCK_MODE 0600
#define TRIES 10
#define TRY_USEC 10000
#define PID_MAX 4194304 /* PID_MAX_LIMIT, linux 6.1 include/linux/threads.h, 64 bit */

/* As the file says, of a process that lives; or 0. */
static pid_t read_holder(int fd) {
        char text[32];
        uint64_t pid = 0;
        ssize_t n = pread_up_to(fd, text, sizeof(text) - 1, 0);

        if (n <= 0)
                return 0;
        text[n] = 0;
        text[strcspn(text, "\n")] = 0;
        if (parse_u64(text, PID_MAX, &pid) < 0 || pid == 0)
                return 0;
        return kill((pid_t) pid, 0) >= 0 || errno == EPERM ? (pid_t) pid : 0;
}

/* Writes over what another daemon's pid takes already, so that it works on a full disk as well. */
static int write_pid(int fd) {
        char text[32];
        int n = snprintf(text, sizeof(text), "%ld\n", (long) getpid());
        int r = pwrite_full(fd, text, (size_t) n, 0);

        if (r < 0)
                return r;
        return ftruncate(fd, n) < 0 ? ORIGIN(-errno) : 0;
}

static int open_lock(int store_fd) {
        int fd = entry_open_file(store_fd, LOCK_NAME, O_RDWR);
        struct statvfs st;

        if (fd != -ENOENT)
                return fd;
        if (fstatvfs(store_fd, &st) >= 0 && st.f_blocks > 0 && st.f_bavail == 0)
                return ORIGIN(-ENOSPC); /* not even the directory's time changes */
        fd = openat(store_fd, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
        return fd < 0 ? ORIGIN(-errno) : fd;
}

/* 0, LOCK_E_HELD, -errno. */
static int try(int *ret, int store_fd, pid_t *ret_holder) {
        _cleanup_close_ int fd = open_lock(store_fd);
        struct stat st;
        int r;

        if (fd < 0)
                return fd;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                if (errno != EWOULDBLOCK)
                        return ORIGIN(-errno);
                *ret_holder = read_holder(fd);
                return LOCK_E_HELD;
        }
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (st.st_nlink == 0) /* who had it has removed it */
                return LOCK_E_HELD;
        (void) fchmod(fd, LOCK_MODE); /* whoever can open it can lock it */
        r = write_pid(fd);
        if (r >= 0)
                *ret = TAKE_FD(fd);
        return r;
}

int lock_take(int *ret, int store_fd, pid_t *ret_holder) {
        pid_t holder = 0;
        int r = LOCK_E_HELD;

        for (unsigned i = 0; r == LOCK_E_HELD && i < TRIES; i++) {
                if (i > 0) /* somebody may be asking lock_look() */
                        (void) usleep(TRY_USEC);
                r = try(ret, store_fd, &holder);
        }
        if (r == LOCK_E_HELD && ret_holder)
                *ret_holder = holder;
        return r;
}

int lock_look(int store_fd, pid_t *ret_holder) {
        _cleanup_close_ int fd = entry_open_file(store_fd, LOCK_NAME, O_RDONLY);

        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        /* A shared lock can be had as long as there is no exclusive one, and is given back at once. */
        if (flock(fd, LOCK_SH | LOCK_NB) >= 0)
                return 0;
        if (errno != EWOULDBLOCK)
                return ORIGIN(-errno);
        *ret_holder = read_holder(fd);
        return 1;
}

/* --- the directory ------------------------------------------------------------------------------- */

const char *store_way_out(int error) {
        static const struct {
                int error;
                const char *words;
        } ways[] = {
                { EROFS,
                  "; its file system is read-only: mount it read-write (mount -o remount,rw)" },
                { ENOSPC,
                  "; its file system has no room, or no inodes, left: df -h and df -i tell" },
                { EDQUOT, "; the quota of the daemon's user is used up there" },
                { ENOENT, "; it was removed or renamed: put it back, or restart ftraced" },
                { ESTALE, "; it was removed or renamed: put it back, or restart ftraced" },
                { EIO, "; its disk has an error: see the kernel's log" },
        };

        for (size_t i = 0; i < ELEMENTSOF(ways); i++)
                if (ways[i].error == (error < 0 ? -error : error))
                        return ways[i].words;
        return "";
}

Store *store_free(Store *s) {
        if (!s)
                return NULL;
        safe_close(s->symbols_fd);
        safe_close(s->sessions_fd);
        safe_close(s->fd);
        safe_close(s->lock_fd); /* last: nobody else may begin before we have let go */
        free(s->path);
        return mfree(s);
}

static int store_new(Store **ret, const char *path) {
        _cleanup_(store_freep) Store *s =
                NEW(Store, .path = strdup(path), .fd = -EBADF, .sessions_fd = -EBADF,
                    .symbols_fd = -EBADF, .lock_fd = -EBADF);

        if (!s || !s->path)
                return -ENOMEM;
        *ret = TAKE_PTR(s);
        return 0;
}

int store_open(Store **ret, const char *path) {
        _cleanup_(store_freep) Store *s = NULL;
        int r = store_new(&s, path);

        if (r < 0)
                return r;
        s->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (s->fd < 0)
                return ORIGIN(-errno);
        s->sessions_fd = dir_open(s->fd, SESSIONS_NAME);
        if (s->sessions_fd < 0)
                return s->sessions_fd;
        s->symbols_fd = dir_open(s->fd, SYMBOLS_NAME);
        if (s->symbols_fd == -ENOENT)
                s->symbols_fd = -EBADF; /* names are then missing, recordings are not */
        *ret = TAKE_PTR(s);
        return 0;
}

/* What a file system says that takes nothing. */
static int refuse_to_make(int error) {
        return error == EROFS                       ? STORE_E_READ_ONLY
               : error == ENOSPC || error == EDQUOT ? STORE_E_FULL
                                                    : -error;
}

/* The directory itself: made if missing, no link, ours alone to write to. */
static int open_own_dir(const char *path, int *ret) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (lstat(path, &st) < 0) {
                if (errno != ENOENT)
                        return errno == ENOTDIR ? STORE_E_NO_PARENT : ORIGIN(-errno);
                if (mkdir(path, STORE_DIR_MODE) < 0)
                        return errno == ENOENT ? STORE_E_NO_PARENT : refuse_to_make(errno);
        } else if (S_ISLNK(st.st_mode))
                return STORE_E_LINK;
        else if (!S_ISDIR(st.st_mode))
                return STORE_E_NO_DIR;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) /* somebody puts something else in its place at this moment */
                return errno == ELOOP     ? STORE_E_LINK
                       : errno == ENOTDIR ? STORE_E_NO_DIR
                                          : ORIGIN(-errno);
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (st.st_uid != geteuid())
                return STORE_E_OWNER;
        if (st.st_mode & (S_IWGRP | S_IWOTH))
                return STORE_E_WRITABLE;
        *ret = TAKE_FD(fd);
        return 0;
}

/* With a slash at the end a symbolic link would be followed in spite of O_NOFOLLOW. */
static char *strip_slashes(const char *path) {
        char *plain = strdup(path);

        for (size_t n = plain ? strlen(plain) : 0; n > 1 && plain[n - 1] == '/'; n--)
                plain[n - 1] = 0;
        return plain;
}

/* What is there must be what we would have made: a FIFO as lock would be waited for, a link as
 * sessions/ would lead elsewhere. */
static int check_entries(const Store *s) {
        static const struct {
                const char *name;
                mode_t type;
        } entries[] = {
                { "lock", S_IFREG },
                { SESSIONS_NAME, S_IFDIR },
                { SYMBOLS_NAME, S_IFDIR },
        };

        for (size_t i = 0; i < ELEMENTSOF(entries); i++) {
                struct stat st;

                if (fstatat(s->fd, entries[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                        if (errno != ENOENT)
                                return ORIGIN(-errno);
                } else if ((st.st_mode & S_IFMT) != entries[i].type)
                        return STORE_E_ENTRY;
        }
        return 0;
}

static int take_lock(Store *s, pid_t *ret_holder) {
        int r = lock_take(&s->lock_fd, s->fd, ret_holder);

        if (r == LOCK_E_HELD)
                return STORE_E_LOCKED;
        if (entry_is_misplaced(r))
                return STORE_E_ENTRY;
        return r < 0 ? refuse_to_make(-r) : 0;
}

/* Whether segments can be mapped here, shared and writable, as their tails must be: tried on the
 * lock's file, which is never empty. */
static int check_mapping(const Store *s) {
        size_t n = (size_t) sysconf(_SC_PAGESIZE);
        void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, s->lock_fd, 0);

        if (p == MAP_FAILED)
                return errno == EINVAL || errno == ENODEV ? STORE_E_UNMAPPABLE : ORIGIN(-errno);
        (void) munmap(p, n);
        return 0;
}

static int make_subdir(const Store *s, const char *name, int *ret) {
        int r = dir_make(s->fd, name, STORE_DIR_MODE);

        if (r < 0)
                return refuse_to_make(-r);
        r = dir_open(s->fd, name);
        if (r < 0)
                return r;
        *ret = r;
        return 0;
}

/* Calls @visit for each name in the directory until one fails. */
static int for_each_name(int dir_fd, int (*visit)(int dir_fd, const char *name, void *userdata),
                         void *userdata) {
        _cleanup_(closedirp) DIR *dir = NULL;
        const struct dirent *e;
        int r = dir_list(&dir, dir_open(dir_fd, "."));

        while (r >= 0 && (e = dir_next(dir, &r)))
                r = visit(dir_fd, e->d_name, userdata);
        return r;
}

static int clear_file(int dir_fd, const char *name, void *freed_bytes) {
        uint64_t n_bytes = 0;
        struct stat st;

        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && st.st_nlink == 1)
                n_bytes = (uint64_t) st.st_blocks * 512;
        if (unlinkat(dir_fd, name, 0) < 0)
                return ORIGIN(-errno);
        if (freed_bytes)
                *(uint64_t *) freed_bytes += n_bytes;
        return 0;
}

/* Also of what had not become a session yet. */
static int finish_removal(int sessions_fd, const char *name, void *userdata) {
        struct stat st;

        if ((!startswith(name, REMOVED_PREFIX) && !startswith(name, MADE_PREFIX)) ||
            fstatat(sessions_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
                return 0;
        return tree_remove(sessions_fd, name);
}

int store_open_for_writing(Store **ret, const char *path, pid_t *ret_holder) {
        _cleanup_(store_freep) Store *s = NULL;
        _cleanup_free_ char *plain = strip_slashes(path);
        int r = store_new(&s, path);

        if (!plain || r < 0)
                return -ENOMEM;
        r = open_own_dir(plain, &s->fd)
                    ?: check_entries(s)
                    ?: take_lock(s, ret_holder)
                    ?: check_mapping(s)
                    ?: make_subdir(s, SESSIONS_NAME, &s->sessions_fd)
                    ?: make_subdir(s, SYMBOLS_NAME, &s->symbols_fd)
                    ?: for_each_name(s->sessions_fd, finish_removal, NULL);
        if (r == 0)
                *ret = TAKE_PTR(s);
        return r;
}

int store_is_owned(const Store *s, pid_t *ret_owner) {
        pid_t owner = 0;
        int r = s->lock_fd >= 0 ? 1 : lock_look(s->fd, &owner);

        if (r > 0 && ret_owner)
                *ret_owner = s->lock_fd >= 0 ? getpid() : owner;
        return r;
}

uint64_t store_free_bytes(const Store *s) {
        struct statvfs st;

        return fstatvfs(store_fd(s), &st) < 0 ? 0 : (uint64_t) st.f_bavail * st.f_frsize;
}

const char *store_owner_text(char text[static STORE_OWNER_MAX], pid_t owner) {
        if (owner > 0)
                (void) snprintf(text, STORE_OWNER_MAX, "pid %ld", (long) owner);
        else
                (void) snprintf(text, STORE_OWNER_MAX, "its pid cannot be seen from here");
        return text;
}

const char *store_path(const Store *s) {
        return s->path;
}

int store_fd(const Store *s) {
        return s->fd;
}

int store_sessions_fd(const Store *s) {
        return s->sessions_fd;
}

int store_symbols_fd(const Store *s) {
        return s->symbols_fd;
}

static bool is_session(int sessions_fd, const char *name) {
        struct stat st;

        return session_name_is_valid(name) &&
               fstatat(sessions_fd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISDIR(st.st_mode);
}

static int add_session_name(int sessions_fd, const char *name, void *userdata) {
        return is_session(sessions_fd, name) ? strv_add(userdata, name) : 0;
}

static int add_foreign_name(int sessions_fd, const char *name, void *userdata) {
        return is_session(sessions_fd, name) ? 0 : strv_add(userdata, name);
}

int store_list(const Store *s, Strv *ret) {
        int r = for_each_name(s->sessions_fd, add_session_name, ret);

        strv_sort_unique(ret);
        return r;
}

int store_list_foreign(const Store *s, Strv *ret) {
        int r = for_each_name(s->sessions_fd, add_foreign_name, ret);

        strv_sort_unique(ret);
        return r;
}

int store_open_session(const Store *s, const char *name, SessionDir **ret) {
        return session_dir_open(ret, s->sessions_fd, name, s->symbols_fd);
}

static int add_once(Strv *ret, const char *hash) {
        return hash ? strv_add_new(ret, hash) : 0;
}

int store_add_symbols_in_use(Strv *ret, const SessionMeta *m) {
        int r = add_once(ret, m->types);

        if (!session_meta_is_known(m))
                return STORE_E_UNKNOWN;
        if (!m->symbols)
                return r < 0 ? r
                       : m->state == SESSION_NEW || session_state_is_live(m->state)
                               ? STORE_E_UNKNOWN
                               : 0;
        r = r ?: add_once(ret, m->symbols) ?: add_once(ret, m->modules);
        for (size_t i = 0; r == 0 && i < m->symbol_maps.n; i++)
                r = add_once(ret, m->symbol_maps.items[i].symbols)
                            ?: add_once(ret, m->symbol_maps.items[i].modules);
        return r;
}

static int remove_unused_symbols(int symbols_fd, const char *name, void *userdata) {
        char hash[SYMBOL_HASH_CHARS + 1];

        /* Also what a crash left of one that was being written: HASH.zst.new. */
        if (strspn(name, "0123456789abcdef") != SYMBOL_HASH_CHARS ||
            !startswith(name + SYMBOL_HASH_CHARS, ".zst"))
                return 0;
        memcpy(hash, name, SYMBOL_HASH_CHARS);
        hash[SYMBOL_HASH_CHARS] = 0;
        if (strv_contains(userdata, hash))
                return 0;
        return unlinkat(symbols_fd, name, 0) < 0 && errno != ENOENT ? ORIGIN(-errno) : 0;
}

int store_make_session(Store *s, const char *name, SessionDir **ret) {
        char made[HIDDEN_NAME_MAX];
        int r;

        assert(s->lock_fd >= 0);

        if (!session_name_is_valid(name))
                return ORIGIN(-EINVAL);
        if (faccessat(s->sessions_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) >= 0)
                return ORIGIN(-EEXIST);
        (void) snprintf(made, sizeof(made), MADE_PREFIX "%s", name);
        if (mkdirat(s->sessions_fd, made, STORE_DIR_MODE) < 0)
                return ORIGIN(-errno);
        r = dir_open(s->sessions_fd, made);
        return r < 0 ? r : session_dir_take_fds(ret, r, -EBADF);
}

int store_settle_session(Store *s, const char *name) {
        char made[HIDDEN_NAME_MAX];

        (void) snprintf(made, sizeof(made), MADE_PREFIX "%s", name);
        return renameat(s->sessions_fd, made, s->sessions_fd, name) < 0 ? ORIGIN(-errno) : 0;
}

/* To a name that nothing has, for who has it may be being cleared. */
static int rename_free(int dir_fd, const char *from, const char *to) {
        if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) >= 0)
                return 0;
        if (errno != EINVAL && errno != ENOSYS)
                return ORIGIN(-errno);
        /* The file system does not know this, and nobody else writes here. */
        if (faccessat(dir_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) >= 0)
                return ORIGIN(-EEXIST);
        return renameat(dir_fd, from, dir_fd, to) < 0 ? ORIGIN(-errno) : 0;
}

int store_hide_session(Store *s, const char *name, char **ret_hidden) {
        char made[HIDDEN_NAME_MAX];
        const char *from = name;
        int fd, r = -EEXIST;

        assert(s->lock_fd >= 0);

        if (!session_name_is_valid(name))
                return ORIGIN(-EINVAL);
        (void) snprintf(made, sizeof(made), MADE_PREFIX "%s", name);
        fd = dir_open(s->sessions_fd, name);
        if (fd == -ENOENT)
                fd = dir_open(s->sessions_fd, from = made);
        if (fd < 0)
                return fd;
        safe_close(fd);

        /* Earlier sessions of that name may be being removed still. */
        for (unsigned i = 0; r == -EEXIST && i < HIDDEN_TRIES; i++) {
                _cleanup_free_ char *hidden = NULL;

                r = i == 0 ? text_format(&hidden, REMOVED_PREFIX "%s", name)
                           : text_format(&hidden, REMOVED_PREFIX "%s.%u", name, i);
                if (r < 0)
                        return r;
                r = rename_free(s->sessions_fd, from, hidden);
                if (r == 0)
                        *ret_hidden = TAKE_PTR(hidden);
        }
        return r;
}

int store_clear_hidden(const Store *s, const char *hidden, uint64_t until_ns,
                       uint64_t *freed_bytes) {
        int r = tree_remove_until(s->sessions_fd, hidden, until_ns, clear_file, freed_bytes);

        return r == -ENOENT ? 0 : r;
}

int store_drop_symbols(Store *s, const Strv *used) {
        return for_each_name(s->symbols_fd, remove_unused_symbols, (void *) used);
}

int store_discard_session(Store *s, const char *name) {
        _cleanup_free_ char *hidden = NULL;

        return store_hide_session(s, name, &hidden)
                       ?: store_clear_hidden(s, hidden, UINT64_MAX, NULL);
}

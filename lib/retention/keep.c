/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Everything that ftraced makes in a session's directory has a name from this table.  Patterns are
 * matched against the whole path, and a '*' never matches a '/'.
 */

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/name.h"
#include "retention/keep.h"
#include "store/segment.h"

#define TRIES 10
#define TRY_USEC 10000
#define HEX8 "[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]"

static const struct {
        const char *pattern;
        bool is_dir;
        bool is_replaced; /* NAME.new is ours too */
} ours[] = {
        { "session.json", .is_replaced = true },
        { "cuts", .is_replaced = true },
        { "live.json", .is_replaced = true },
        { "reserve" },
        { "cpu[0-9]", .is_dir = true },
        { "cpu[1-9][0-9]", .is_dir = true },
        { "cpu[1-9][0-9][0-9]", .is_dir = true },
        { "cpu[1-9][0-9][0-9][0-9]", .is_dir = true },
        { "cpu*/" HEX8 ".seg" },
        { "cpu*/." HEX8 ".sealing" },
        { "stacks", .is_dir = true },
        { "stacks/cpu[0-9]*-[0-9]*" },
        { "tracing", .is_dir = true },
        { "tracing/saved_cmdlines", .is_replaced = true },
        { "tracing/owners", .is_replaced = true },
        { "tracing/maps", .is_replaced = true },
        { "tracing/printk_formats", .is_replaced = true },
        { "tracing/trace_options", .is_replaced = true },
        { "tracing/events", .is_dir = true },
        { "tracing/events/header_page", .is_replaced = true },
        { "tracing/events/header_event", .is_replaced = true },
        { "tracing/events/*", .is_dir = true },
        { "tracing/events/*/*", .is_dir = true },
        { "tracing/events/*/*/format", .is_replaced = true },
};

typedef enum Kinship {
        KINSHIP_NONE, /* ftraced makes nothing of that name */
        KINSHIP_NAME, /* something of another type */
        KINSHIP_OURS,
} Kinship;

static Kinship find_kinship(const char *path, mode_t mode) {
        Kinship kinship = KINSHIP_NONE;
        char name[PATH_MAX];
        size_t n;

        (void) snprintf(name, sizeof(name), "%s", path);
        n = strlen(name);
        for (int i = 0; i < 2; i++) {
                for (size_t k = 0; k < ELEMENTSOF(ours); k++)
                        if ((i == 0 || ours[k].is_replaced) &&
                            fnmatch(ours[k].pattern, name, FNM_PATHNAME) == 0) {
                                if ((mode & S_IFMT) == (ours[k].is_dir ? S_IFDIR : S_IFREG))
                                        return KINSHIP_OURS;
                                kinship = KINSHIP_NAME;
                        }
                if (n <= 4 || !streq(name + n - 4, ".new"))
                        break;
                name[n - 4] = 0;
        }
        return kinship;
}

/* The quick answer for what there are thousands of; false: ask find_kinship(). */
static bool is_segment(const char *dir, const struct dirent *e) {
        uint64_t sequence;

        return e->d_type == DT_REG && startswith(dir, "cpu") &&
               segment_parse_name(e->d_name, &sequence);
}

/* Adds the paths of what is not ours and of @least at least, until there are @n_max.
 * @path: of the directory @fd (consumed) in the session, "" for itself. */
static int walk(int fd, const char *path, Kinship least, size_t n_max, Strv *ret) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = dir_list(&d, fd);

        while (r >= 0 && ret->n < n_max && (e = dir_next(d, &r))) {
                char below[PATH_MAX];
                struct stat st;
                Kinship kinship;

                if (is_segment(path, e))
                        continue;
                if ((size_t) snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "",
                                      e->d_name) >= sizeof(below))
                        return ORIGIN(-ENAMETOOLONG);
                if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue; /* gone meanwhile */
                kinship = find_kinship(below, st.st_mode);
                if (kinship == KINSHIP_OURS && S_ISDIR(st.st_mode))
                        r = walk(dir_open(dirfd(d), e->d_name), below, least, n_max, ret);
                else if (kinship != KINSHIP_OURS && kinship >= least)
                        r = strv_add(ret, below);
        }
        return r;
}

int keep_find_foreign(const SessionDir *d, char **ret) {
        _cleanup_strv_ Strv found = {};
        int r = walk(dir_open(session_dir_fd(d), "."), "", KINSHIP_NONE, 1, &found);

        if (r < 0 || found.n == 0)
                return r;
        *ret = strv_take_first(&found);
        return 1;
}

int keep_list_misplaced(const SessionDir *d, Strv *ret) {
        int r = 0;

        if (session_dir_fd(d) >= 0) /* else it is a file */
                r = walk(dir_open(session_dir_fd(d), "."), "", KINSHIP_NAME, SIZE_MAX, ret);
        strv_sort_unique(ret);
        return r;
}

int keep_lock(const SessionDir *d) {
        _cleanup_close_ int fd = dir_open(session_dir_fd(d), ".");

        if (fd < 0)
                return fd;
        for (unsigned i = 1; flock(fd, LOCK_SH | LOCK_NB) < 0; i++) {
                if (errno != EWOULDBLOCK || i >= TRIES)
                        return ORIGIN(-errno);
                (void) usleep(TRY_USEC); /* somebody is asking keep_look(), for a moment */
        }
        return TAKE_FD(fd);
}

static bool is_locked(const SessionDir *d) {
        _cleanup_close_ int fd = dir_open(session_dir_fd(d), ".");

        return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int keep_look(const SessionDir *d, const SessionMeta *m, char **ret_foreign) {
        int r;

        if (m->pinned)
                return KEEP_PINNED;
        if (is_locked(d))
                return KEEP_IN_USE;
        if (m->newer_version > 0)
                return KEEP_UNKNOWN;
        r = keep_find_foreign(d, ret_foreign);
        return r > 0 ? KEEP_FOREIGN : r == 0 && m->unreadable ? KEEP_UNKNOWN : r;
}

int keep_describe(char **ret, Keep k, const char *name, const char *foreign) {
        switch (k) {
        case KEEP_PINNED:
                return text_format(
                        ret, "session \"%s\" is pinned; \"ftracectl pin --off %s\" lets go of it",
                        name, name);
        case KEEP_IN_USE:
                return text_format(
                        ret, "session \"%s\" is being read; try again when that has ended", name);
        case KEEP_UNKNOWN:
                return text_format(ret,
                                   "this ftraced cannot read session.json of session \"%s\"; "
                                   "\"ftracectl remove %s\" removes it",
                                   name, name);
        default:
                return text_format(
                        ret,
                        "session \"%s\" holds \"%s\", which ftraced did not make; move it "
                        "away first",
                        name, NAME_QUOTED(foreign ?: "?"));
        }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The ledger's file: replaced as a whole, and taken as a whole or not at all.  Whatever a daemon that died
 * wrote last, it lists what it may list too much of, and undoing that finds the old value.
 */

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/log.h"
#include "daemon/process/background.h"
#include "daemon/tracefs/ledger-dir.h"
#include "daemon/tracefs/ledger-private.h"
#include "store/entry.h"

#define LEDGER_NAME "ledger"
#define LEDGER_MODE 0600
#define LEDGER_VERSION 1
#define LEDGER_BAD LEDGER_NAME ".bad"
#define LEDGER_MAX_BYTES (64U << 20)

static const char *const kind_names[] = {
        [LEDGER_FILE] = "file",
        [LEDGER_INSTANCE] = "instance",
        [LEDGER_TRACER] = "tracer",
        [LEDGER_LINE] = "line",
};

static int commit(Ledger *l, const char *tracefs_path) {
        json_t *root, *records;
        char *text;
        int r = 0;

        if (l->dir_fd < 0)
                return l->n == 0 ? 0 : l->dir_fd; /* there is no place for it */
        if (l->n == 0)
                return unlinkat(l->dir_fd, LEDGER_NAME, 0) < 0 && errno != ENOENT ? ORIGIN(-errno)
                                                                                  : 0;

        records = json_array();
        for (size_t i = 0; i < l->n && r >= 0; i++) {
                const LedgerRecord *e = &l->records[i];
                json_t *mark = e->mark ? json_integer((json_int_t) e->mark) : NULL;
                json_t *o = json_pack("{ss ss ss ss* ss* so* so*}", "session", e->session, "kind",
                                      kind_names[e->kind], "file", e->file, "old", e->old, "set",
                                      e->set, "mark", mark, "bounded",
                                      e->is_bounded ? json_true() : NULL);

                if ((e->mark && !mark) || json_array_append_new(records, o) < 0)
                        r = -ENOMEM;
        }
        root = json_pack("{si ss ss so}", "version", LEDGER_VERSION, "boot_id", l->boot_id,
                         "tracefs", tracefs_path ?: "", "records", records);
        text = root && r >= 0 ? json_dumps(root, JSON_INDENT(1)) : NULL;
        json_decref(root);
        if (!text)
                return -ENOMEM;
        r = BACKGROUND_CALL(file_replace(l->dir_fd, LEDGER_NAME, text, strlen(text), LEDGER_MODE));
        free(text);
        return r;
}

int ledger_commit(Ledger *l, const char *tracefs_path) {
        int r = l->is_dry ? 0 : commit(l, tracefs_path);

        l->error = r;
        return r;
}

void ledger_shorten(Ledger *l, const char *tracefs_path) {
        int r = ledger_commit(l, tracefs_path);

        if (r < 0)
                log_debug("ledger", "the ledger is stale: %s", strerror(-r));
}

bool ledger_is_stale(const Ledger *l) {
        return l->error < 0;
}

/* A file name from the ledger is followed below tracefs; the ledger is data. */
static bool file_is_safe(const char *file) {
        return *file && *file != '/' && !strstr(file, "..");
}

/* As ledger_add(), with what @e says of itself besides. */
static int add_record(Ledger *l, const char *session, const LedgerRecord *e) {
        size_t n = l->n;
        int r = ledger_add(l, session, e->kind, e->file, e->old);

        if (r < 0 || l->n == n)
                return r;
        l->records[n].mark = e->mark;
        l->records[n].is_bounded = e->is_bounded;
        l->records[n].set = e->set ? strdup(e->set) : NULL;
        return e->set && !l->records[n].set ? -ENOMEM : 0;
}

static int parse_record(Ledger *l, json_t *record, const char *owner) {
        const char *session, *kind, *file, *old = NULL, *set = NULL;
        json_int_t mark = 0;
        int k, is_bounded = false;

        if (json_unpack(record, "{ss ss ss s?s s?s s?I s?b}", "session", &session, "kind", &kind,
                        "file", &file, "old", &old, "set", &set, "mark", &mark, "bounded",
                        &is_bounded) < 0 ||
            !file_is_safe(file))
                return -EBADMSG;
        k = text_find(kind_names, _LEDGER_KIND_N, kind);
        if (k < 0 || (k != LEDGER_INSTANCE && !old))
                return -EBADMSG;
        return add_record(l, owner ?: session,
                          &(LedgerRecord){ .kind = (LedgerKind) k,
                                           .file = (char *) file,
                                           .old = k == LEDGER_INSTANCE ? NULL : (char *) old,
                                           .set = (char *) set,
                                           .mark = (uint64_t) mark,
                                           .is_bounded = is_bounded });
}

/* Adds what the text says of this boot, in the place of each session's name @owner if that is given. */
static int parse(Ledger *l, const char *text, const char *owner) {
        json_auto_t *root = json_loads(text, 0, NULL);
        const char *boot_id;
        json_t *record;
        int version, r = 0;
        size_t i;

        if (json_unpack(root, "{si ss}", "version", &version, "boot_id", &boot_id) < 0 ||
            version != LEDGER_VERSION || !json_is_array(json_object_get(root, "records")))
                return -EBADMSG;
        if (!streq(boot_id, l->boot_id)) {
                log_debug("ledger", "the ledger is from another boot: nothing to undo");
                return 0;
        }
        json_array_foreach (json_object_get(root, "records"), i, record)
                if (r >= 0)
                        r = parse_record(l, record, owner);
        return r;
}

/* --- the file --------------------------------------------------------------------------------- */

/* NULL: there is no directory, or no memory; the caller frees. */
static char *path_in(int dir_fd, const char *name) {
        char link[64], dir[PATH_MAX] = "", *path;

        if (dir_fd < 0)
                return NULL;
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%i", dir_fd);
        (void) readlink(link, dir, sizeof(dir) - 1);
        return asprintf(&path, "%s%s", dir, name) < 0 ? NULL : path;
}

char *ledger_failed_where(const Ledger *l, int error) {
        if (l->error >= 0 || l->error != error)
                return NULL;
        return l->dir_fd < 0 ? strdup(ledger_dir_root()) : path_in(l->dir_fd, "");
}

char *ledger_path(const Ledger *l) {
        return path_in(l->dir_fd, "/" LEDGER_NAME);
}

char *ledger_bad_path(const Ledger *l) {
        return faccessat(l->dir_fd, LEDGER_BAD, F_OK, AT_SYMLINK_NOFOLLOW) < 0
                       ? NULL
                       : path_in(l->dir_fd, "/" LEDGER_BAD);
}

char *ledger_store(const Ledger *l) {
        _cleanup_free_ char *path = path_in(l->dir_fd, "");

        return path ? ledger_dir_store(path) : NULL;
}

bool ledger_has_place(const Ledger *l) {
        return l->dir_fd >= 0;
}

bool ledger_is_lost(const Ledger *l) {
        return l->n > 0 && l->error == 0 && l->dir_fd >= 0 &&
               faccessat(l->dir_fd, LEDGER_NAME, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

/* What a newer one says of itself may be of use to whoever reads the message. */
static int version_of(const char *text) {
        json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
        int version = LEDGER_VERSION;

        (void) json_unpack(root, "{si}", "version", &version);
        return version;
}

static void set_aside(int dir_fd, int error, const char *text) {
        _cleanup_free_ char *path = path_in(dir_fd, "/" LEDGER_NAME);
        int version = version_of(text);
        char why[64];

        (void) snprintf(why, sizeof(why), "%s",
                        error == -EBADMSG
                                ? (text && *text ? "it cannot be understood" : "nothing is in it")
                        : entry_is_misplaced(error) ? "it is no regular file"
                                                    : strerror(-error));
        if (version > LEDGER_VERSION)
                (void) snprintf(why, sizeof(why), "a newer ftraced wrote it, version %i", version);
        if (renameat(dir_fd, LEDGER_NAME, dir_fd, LEDGER_BAD) < 0)
                log_error("%s, which lists what is to be put back in the kernel, cannot be read: "
                          "%s; nor can it be moved away: do that.",
                          path ?: LEDGER_NAME, why);
        else
                log_warning("%s, which lists what is to be put back in the kernel, cannot be read: "
                            "%s; it is kept as " LEDGER_BAD ".",
                            path ?: LEDGER_NAME, why);
}

/* Whether it says that the file is no ledger of ours, rather than that it could not be looked at. */
static bool is_bad(int r) {
        return r == -EBADMSG || r == -EFBIG || r == -EIO || r == -EACCES || r == -EPERM ||
               entry_is_misplaced(r);
}

/* All of a file, or nothing. */
static int read_file(Ledger *l, int dir_fd, const char *owner, char **ret_text) {
        size_t n = l->n;
        int r = entry_read(dir_fd, LEDGER_NAME, ret_text, NULL, LEDGER_MAX_BYTES);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        r = parse(l, *ret_text, owner);
        while (r < 0 && l->n > n)
                ledger_remove_at(l, l->n - 1);
        return r;
}

int ledger_read_others(const Ledger *l, Ledger **ret) {
        _cleanup_(ledger_freep) Ledger *others = NULL;
        _cleanup_strv_ Strv stores = {};
        int r = ledger_new_in_memory(&others, l->boot_id);

        if (r >= 0 && l->dir_fd >= 0)
                r = ledger_dir_list(l->dir_fd, &stores);
        for (size_t i = 0; r >= 0 && i < stores.n; i++) {
                _cleanup_close_ int fd = ledger_dir_open_other(l->dir_fd, stores.items[i]);
                _cleanup_free_ char *text = NULL;

                if (fd >= 0 && read_file(others, fd, stores.items[i], &text) == -ENOMEM)
                        r = -ENOMEM;
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(others);
        return 0;
}

bool ledger_other_lives(const Ledger *l, const char *store) {
        _cleanup_close_ int fd = l->dir_fd < 0 ? -EBADF : ledger_dir_open_other(l->dir_fd, store);
        pid_t holder;

        return fd >= 0 && lock_look(fd, &holder) > 0;
}

int ledger_open(Ledger **ret, int dir_fd, int root_fd) {
        _cleanup_(ledger_freep) Ledger *l = NULL;
        _cleanup_free_ char *text = NULL;
        int r = ledger_new_in_memory(&l, NULL);

        if (r < 0)
                return r;
        l->is_dry = false;
        l->dir_fd = dir_fd < 0 ? dir_fd : fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
        if (dir_fd >= 0 && l->dir_fd < 0)
                return ORIGIN(-errno);
        r = file_read(root_fd, "proc/sys/kernel/random/boot_id", &l->boot_id, NULL, 4096);
        if (r < 0)
                return r;
        l->boot_id[strcspn(l->boot_id, "\n")] = 0;
        r = dir_fd < 0 ? 0 : read_file(l, dir_fd, NULL, &text);
        if (r < 0 && !is_bad(r))
                return r;
        if (r < 0)
                set_aside(dir_fd, r, text);
        if (l->n == 0)
                (void) ledger_commit(l, NULL); /* another boot's */
        *ret = TAKE_PTR(l);
        return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A word with a slash, or that ends in ".dat", is a file.  Of a session every question is asked
 * twice at most: the daemon first, then, if nobody
 * listens, the store.  What comes from either is checked by the same parser of
 * metadata.
 */

#include <fcntl.h>
#include <string.h>

#include "base/log.h"
#include "base/name.h"
#include "base/typo.h"
#include "cli/contact.h"
#include "cli/source.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "codec/dat-file.h"
#include "store/footprint.h"
#include "store/keep.h"
#include "store/store.h"

static Source *source_new(void) {
        Source *s = calloc(1, sizeof(*s));

        if (s)
                s->readers_fd = -EBADF;
        return s;
}

Source *source_free(Source *s) {
        if (!s)
                return NULL;
        session_dir_free(s->dir);
        session_meta_free(s->meta);
        safe_close(s->readers_fd);
        free(s);
        return NULL;
}

static int out_of_memory(void) {
        log_error("Failed to open the recording: out of memory");
        return STATUS_FAILED;
}

int source_check_name(const char *name) {
        char quoted[NAME_QUOTE_MAX];

        if (session_name_is_valid(name))
                return STATUS_OK;
        log_error(
                "\"%s\" cannot be the name of a session: letters, digits, \".\", \"_\" and \"-\", "
                "at most %i, the first a letter or a digit.",
                name_quote(quoted, name), SESSION_NAME_MAX);
        return STATUS_USAGE;
}

static int not_found(const Store *store, const char *name, const char *where) {
        _cleanup_strv_ Strv names = {};
        const char *like = NULL;

        if (store_list(store, &names) >= 0)
                like = typo_nearest(name, (const char *const *) names.items, names.n);
        if (like)
                log_error("there is no session \"%s\" in %s. Did you mean \"%s\"?", name, where,
                          like);
        else
                log_error("there is no session \"%s\" in %s; \"ftracectl list\" shows those there "
                          "are.",
                          name, where);
        return STATUS_NOT_FOUND;
}

int source_meta_from_reply(SessionMeta **ret, const json_t *reply) {
        const char *field = "session";
        int r;

        r = session_meta_from_json(ret, json_object_get(reply, "session"), &field);
        if (r == 0)
                return STATUS_OK;
        if (r < 0)
                return out_of_memory();
        log_error("the daemon's description of the session is not valid: member \"%s\". Are "
                  "ftraced and ftracectl of one version?",
                  field);
        return STATUS_FAILED;
}

/* --- from a store ----------------------------------------------------------------------------- */

static const char *store_dir(const Options *o) {
        return o->store ?: SOURCE_DEFAULT_STORE;
}

static int store_failure(const Options *o, const char *what, int r) {
        const char *path = store_dir(o);

        switch (r) {
        case -EACCES:
        case -EPERM:
                log_error("no permission to read %s in the store %s: root and its group may.", what,
                          path);
                return STATUS_FORBIDDEN;
        case -ENOENT:
                if (o->store)
                        log_error("there is no store in %s.", path);
                else
                        log_error("nothing was recorded here yet: no daemon listens on %s, and "
                                  "there is no store in %s. Try: sudo ftracectl run FUNCTION -- "
                                  "COMMAND",
                                  contact_socket(o), path);
                return STATUS_NOT_FOUND;
        default:
                log_error_errno(r, "Failed to read %s in the store %s: %m", what, path);
                return STATUS_FAILED;
        }
}

static int open_store(Store **ret, const Options *o) {
        int r = store_open(ret, store_dir(o));

        return r < 0 ? store_failure(o, "the sessions", r) : STATUS_OK;
}

static int read_meta(SessionMeta **ret, const SessionDir *dir, const char *name) {
        int r = session_dir_read_meta(dir, ret);

        if (r == 0)
                return STATUS_OK;
        if (r > 0)
                log_error("session \"%s\" is damaged: its session.json is not valid.", name);
        else
                log_error_errno(r, "Failed to read session.json of session \"%s\": %m", name);
        return STATUS_FAILED;
}

/* A live session in a store that nobody owns is not: its daemon died. */
static void mend_state(SessionMeta *m, const Store *store) {
        if (!session_state_is_live(m->state) || store_is_owned(store, NULL) != 0)
                return;
        m->state = SESSION_INTERRUPTED;
        free(m->reason);
        m->reason = strdup("no daemon owns the store any more; the next one that starts on it "
                           "takes care of the session");
}

/* The name of the session whose id is @id; the caller frees; NULL: none. */
static char *find_id(const Store *store, const char *id) {
        _cleanup_strv_ Strv names = {};

        if (store_list(store, &names) < 0)
                return NULL;
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *meta = NULL;

                if (store_open_session(store, names.items[i], &dir) >= 0 &&
                    session_dir_read_meta(dir, &meta) == 0 && streq(meta->id, id))
                        return strdup(names.items[i]);
        }
        return NULL;
}

static int open_from_store(Source **ret, const Options *o, const char *name) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_(source_freep) Source *s = NULL;
        _cleanup_free_ char *by_id = NULL;
        int r, status;

        status = open_store(&store, o);
        if (status != STATUS_OK)
                return status;
        s = source_new();
        if (!s)
                return out_of_memory();
        s->from_store = true;
        r = store_open_session(store, name, &s->dir);
        if (r == -ENOENT) {
                by_id = find_id(store, name);
                if (!by_id)
                        return not_found(store, name, store_dir(o));
                r = store_open_session(store, by_id, &s->dir);
        }
        if (r < 0)
                return store_failure(o, name, r);
        s->readers_fd = keep_lock(s->dir);
        status = read_meta(&s->meta, s->dir, name);
        if (status != STATUS_OK)
                return status;
        mend_state(s->meta, store);
        *ret = TAKE_PTR(s);
        return STATUS_OK;
}

/* As a daemon's List has it. */
static json_t *session_json(const SessionMeta *meta, const SessionDir *dir) {
        json_t *o = session_meta_to_json(meta);

        if (o &&
            json_object_set_new(o, "disk_bytes",
                                json_integer((json_int_t) footprint_measure(dir).n_bytes)) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

static int list_store(json_t **ret, const Options *o) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_strv_ Strv names = {};
        json_auto_t *list = json_array();
        int r, status;

        status = open_store(&store, o);
        if (status != STATUS_OK)
                return status;
        r = store_list(store, &names);
        if (r < 0)
                return store_failure(o, "the sessions", r);
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *meta = NULL;

                r = store_open_session(store, names.items[i], &dir);
                if (r == -ENOENT)
                        continue; /* removed meanwhile */
                if (r < 0) {
                        (void) store_failure(o, names.items[i], r);
                        continue;
                }
                if (read_meta(&meta, dir, names.items[i]) != STATUS_OK)
                        continue; /* said so; the others are still worth listing */
                mend_state(meta, store);
                if (json_array_append_new(list, session_json(meta, dir)) < 0)
                        return out_of_memory();
        }
        *ret = TAKE_PTR(list);
        return STATUS_OK;
}

/* --- from a file ------------------------------------------------------------------------------ */

/* A session's name has no slash, and one that ends so would be taken for a file by everybody. */
static bool is_path(const char *word) {
        size_t n = strlen(word);

        return strchr(word, '/') || (n > 4 && streq(word + n - 4, ".dat"));
}

static int open_failure(const char *path, int r, char *problem) {
        _cleanup_free_ char *text = problem;

        switch (r) {
        case DAT_FILE_E_FOREIGN:
                log_error("\"%s\" is not a recording: only a trace.dat can be read as a file.",
                          path);
                return STATUS_FAILED;
        case DAT_FILE_E_UNREADABLE:
                log_error("\"%s\" cannot be read: %s.", path, text ?: "it is damaged");
                return STATUS_FAILED;
        case -ENOENT:
                log_error("there is no file \"%s\".", path);
                return STATUS_NOT_FOUND;
        case -EACCES:
                log_error("no permission to read \"%s\".", path);
                return STATUS_FORBIDDEN;
        default:
                log_error_errno(r, "Failed to read \"%s\": %m", path);
                return STATUS_FAILED;
        }
}

static int open_file(Source **ret, const Options *o, const char *path) {
        _cleanup_(source_freep) Source *s = source_new();
        const char *slash = strrchr(path, '/');
        char *problem = NULL;
        DatFile *f = NULL;
        int r, fd;

        if (!s)
                return out_of_memory();
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        r = fd < 0 ? -errno : dat_file_take_fd(&f, fd, &problem);
        if (r != 0)
                return open_failure(path, r, problem);
        if (dat_file_n_other_buffers(f) > 0)
                talk(o, "%s: the first of %zu buffers is read.", path,
                     dat_file_n_other_buffers(f) + 1);
        s->from_store = true;
        r = dat_file_to_dir(&s->dir, f, slash ? slash + 1 : path);
        if (r == 0)
                r = session_dir_read_meta(s->dir, &s->meta);
        if (r != 0)
                return out_of_memory();
        *ret = TAKE_PTR(s);
        return STATUS_OK;
}

/* --- from a daemon, else from a store --------------------------------------------------------- */

/* *@ret is NULL if the store is to be read. */
static int connect_unless_store(Client **ret, const Options *o) {
        int r;

        *ret = NULL;
        if (o->store)
                return STATUS_OK;
        r = client_connect(ret, contact_socket(o));
        if (r == 0 || (r == CLIENT_E_NO_DAEMON && !o->socket))
                return STATUS_OK;
        return contact_failure(o, r, NULL);
}

static int take_descriptors(Source *s, const json_t *reply, int *fds) {
        json_int_t directory = json_integer_value(json_object_get(reply, "directory"));
        const json_t *symbols = json_object_get(reply, "symbols");
        json_int_t n_symbols = json_is_integer(symbols) ? json_integer_value(symbols) : -1;
        int r, symbols_fd = -EBADF;

        if (!json_is_integer(json_object_get(reply, "directory")) || directory < 0 ||
            directory >= FRAME_FDS_MAX || fds[directory] < 0 || n_symbols >= FRAME_FDS_MAX ||
            n_symbols == directory)
                return -EBADMSG;
        if (n_symbols >= 0)
                symbols_fd = TAKE_FD(fds[n_symbols]);
        r = session_dir_take_fds(&s->dir, TAKE_FD(fds[directory]), symbols_fd);
        if (r >= 0)
                s->readers_fd = keep_lock(s->dir);
        return r;
}

int source_open_client(Source **ret, const Options *o, Client *c, const char *name) {
        _cleanup_(source_freep) Source *s = NULL;
        json_auto_t *reply = NULL;
        int fds[FRAME_FDS_MAX], r, status;

        s = source_new();
        if (!s)
                return out_of_memory();
        status = contact_call(c, o, "Open", json_pack("{s:s}", "session", name), &reply, fds);
        if (status != STATUS_OK)
                return status;
        r = take_descriptors(s, reply, fds);
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                safe_close(fds[i]);
        if (r < 0) {
                log_error_errno(r, "Failed to take the recording from the daemon: %m");
                return STATUS_FAILED;
        }
        status = source_meta_from_reply(&s->meta, reply);
        if (status != STATUS_OK)
                return status;
        *ret = TAKE_PTR(s);
        return STATUS_OK;
}

int source_open(Source **ret, const Options *o, const char *name) {
        _cleanup_(client_freep) Client *c = NULL;
        int status;

        if (is_path(name))
                return open_file(ret, o, name);
        status = source_check_name(name);
        if (status == STATUS_OK)
                status = connect_unless_store(&c, o);
        if (status != STATUS_OK)
                return status;
        return c ? source_open_client(ret, o, c, name) : open_from_store(ret, o, name);
}

int source_describe(Source **ret, const Options *o, const char *name) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_(source_freep) Source *s = NULL;
        json_auto_t *reply = NULL;
        json_int_t bytes = 0;
        int status;

        if (is_path(name))
                return open_file(ret, o, name);
        status = source_check_name(name);
        if (status == STATUS_OK)
                status = connect_unless_store(&c, o);
        if (status != STATUS_OK)
                return status;
        if (!c) {
                status = open_from_store(ret, o, name);
                if (status == STATUS_OK)
                        (*ret)->disk_bytes = footprint_measure((*ret)->dir).n_bytes;
                return status;
        }
        status = contact_call(c, o, "Describe", json_pack("{s:s}", "session", name), &reply, NULL);
        if (status != STATUS_OK)
                return status;
        s = source_new();
        if (!s)
                return out_of_memory();
        status = source_meta_from_reply(&s->meta, reply);
        if (status != STATUS_OK)
                return status;
        (void) json_unpack((json_t *) reply, "{s:{s?I}}", "session", "disk_bytes", &bytes);
        s->disk_bytes = bytes > 0 ? (uint64_t) bytes : 0;
        *ret = TAKE_PTR(s);
        return STATUS_OK;
}

int source_list(json_t **ret, const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        json_auto_t *reply = NULL;
        json_t *sessions;
        int status;

        status = connect_unless_store(&c, o);
        if (status != STATUS_OK)
                return status;
        if (!c)
                return list_store(ret, o);
        status = contact_call(c, o, "List", NULL, &reply, NULL);
        if (status != STATUS_OK)
                return status;
        sessions = json_object_get(reply, "sessions");
        if (!json_is_array(sessions)) {
                log_error("the daemon's list of sessions is not valid.");
                return STATUS_FAILED;
        }
        *ret = json_incref(sessions);
        return STATUS_OK;
}

int source_refresh(Source *s) {
        SessionMeta *meta;
        int status;

        status = read_meta(&meta, s->dir, s->meta->name);
        if (status != STATUS_OK)
                return status;
        session_meta_free(s->meta);
        s->meta = meta;
        return STATUS_OK;
}

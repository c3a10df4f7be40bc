/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Of a session every question is asked twice at most: the daemon first, then, if
 * nobody listens, the store.  What comes from either is checked by the same
 * parser of metadata.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/brief.h"
#include "pages/page-source.h"
#include "retention/footprint.h"
#include "retention/keep.h"
#include "retention/removed.h"
#include "store/store.h"

static Source *source_new(void) {
        return NEW(Source, .readers_fd = -EBADF);
}

Source *source_free(Source *s) {
        if (!s)
                return NULL;
        session_dir_free(s->dir);
        session_meta_free(s->meta);
        safe_close(s->readers_fd);
        return mfree(s);
}

int source_check_name(const char *name) {
        if (session_name_is_valid(name))
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "\"%s\" cannot be the name of a session: letters, digits, \".\", \"_\" and "
                      "\"-\", at most %i, the first a letter or a digit.",
                      NAME_QUOTED(name), SESSION_NAME_MAX);
}

int source_check_names(const Strv *names) {
        int status = STATUS_OK;

        for (size_t i = 0; status == STATUS_OK && i < names->n; i++)
                status = source_check_name(names->items[i]);
        return status;
}

static int not_found(const Store *store, const char *name, const char *where) {
        _cleanup_strv_ Strv names = {};
        _cleanup_removed_ Removed gone = {};
        _cleanup_free_ char *text = NULL;
        const char *like = NULL;

        if (removed_find(&gone, store_fd(store), name) > 0 && removed_describe(&text, &gone) >= 0)
                return failed(STATUS_NOT_FOUND, "%s.", text);
        if (store_list(store, &names) >= 0)
                like = typo_nearest(name, (const char *const *) names.items, names.n);
        if (like)
                log_error("there is no session \"%s\" in %s. Did you mean \"%s\"?", name, where,
                          like);
        else
                log_error("there is no session \"%s\" in %s; see \"ftracectl list\".", name, where);
        return STATUS_NOT_FOUND;
}

int source_meta_from_reply(SessionMeta **ret, const json_t *reply) {
        const char *field = "session";
        int r = session_meta_from_json(ret, json_object_get(reply, "session"), &field);

        if (r == 0)
                return STATUS_OK;
        if (r < 0)
                return out_of_memory();
        return failed(STATUS_FAILED,
                      "the daemon's description of the session is not valid: member \"%s\". Do the "
                      "versions of ftraced and ftracectl match?",
                      field);
}

/* --- from a store ----------------------------------------------------------------------------- */

static int store_failure(const Options *o, const char *what, int r) {
        const char *path = options_store(o);

        switch (r) {
        case -EACCES:
        case -EPERM:
                return failed(STATUS_FORBIDDEN,
                              "no permission to read %s in the store %s: root and its group may.",
                              what, path);
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
                return failed_errno(r, "Failed to read %s in the store %s: %m", what, path);
        }
}

static int open_store(Store **ret, const Options *o) {
        int r = store_open(ret, options_store(o));

        return r < 0 ? store_failure(o, "the sessions", r) : STATUS_OK;
}

/* Of one that cannot be read what can be told of it. */
static int read_any_meta(SessionMeta **ret, const SessionDir *dir, const char *name) {
        int r = session_dir_read_any_meta(dir, name, ret);

        if (r == 0)
                return STATUS_OK;
        if (r > 0)
                log_error("session \"%s\" is damaged: its session.json is not valid.", name);
        else
                log_error_errno(r, "Failed to read session.json of session \"%s\": %m", name);
        return STATUS_FAILED;
}

static int read_meta(SessionMeta **ret, const SessionDir *dir, const char *name) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int status = read_any_meta(&m, dir, name);

        if (status != STATUS_OK)
                return status;
        if (!session_meta_is_known(m))
                return failed(STATUS_FAILED, "session \"%s\" was %s.", name, m->reason);
        *ret = TAKE_PTR(m);
        return STATUS_OK;
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

/* By its name or its id.  0 or -errno. */
static int open_named(const Store *store, const char *name, SessionDir **ret) {
        _cleanup_strv_ Strv names = {};
        int r = store_open_session(store, name, ret);

        if (r != -ENOENT || store_list(store, &names) < 0)
                return r;
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *meta = NULL;

                if (store_open_session(store, names.items[i], &dir) >= 0 &&
                    session_dir_read_meta(dir, &meta) == 0 && streq(meta->id, name)) {
                        *ret = TAKE_PTR(dir);
                        return 0;
                }
        }
        return r;
}

static int open_from_store(Source **ret, const Options *o, const char *name) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_(source_freep) Source *s = NULL;
        int status = open_store(&store, o), r;

        if (status != STATUS_OK)
                return status;
        s = source_new();
        if (!s)
                return out_of_memory();
        s->from_store = true;
        r = open_named(store, name, &s->dir);
        if (r == -ENOENT)
                return not_found(store, name, options_store(o));
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

/* As a daemon's List, or ListBriefs, has it. */
static json_t *listed_json(const SessionMeta *meta, uint64_t n_bytes, bool is_brief) {
        _cleanup_brief_ Brief b = {};
        json_t *o;

        if (is_brief)
                return brief_of_meta(&b, meta, n_bytes) < 0 ? NULL : brief_to_json(&b);
        o = session_meta_to_json(meta);
        if (o && json_object_set_new(o, "disk_bytes", json_integer((json_int_t) n_bytes)) >= 0)
                return o;
        json_decref(o);
        return NULL;
}

/* A session that is to be listed, until it is known which are the newest. */
typedef struct Listed {
        const char *name; /* its directory's, borrowed */
        SessionMeta *meta;
        uint64_t n_bytes; /* 0: nobody has measured it */
} Listed;

typedef struct List {
        Listed *items;
        size_t n;
} List;

static void list_done(List *l) {
        for (size_t i = 0; i < l->n; i++)
                session_meta_free(l->items[i].meta);
        free(l->items);
}

static int by_start(const void *a, const void *b) {
        const Listed *x = a, *y = b;

        return CMP(x->meta->start.realtime_ns, y->meta->start.realtime_ns)
                       ?: strcmp(x->name, y->name);
}

/* The @n_newest, by their starts; NULL without memory. */
static json_t *newest_of(List *l, const Store *store, uint64_t n_newest, bool is_brief) {
        size_t first = n_newest > 0 && l->n > n_newest ? l->n - (size_t) n_newest : 0;
        json_t *array = json_array();

        SORT(l->items, l->n, by_start);
        for (size_t i = first; array && i < l->n; i++) {
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                Listed *item = &l->items[i];

                if (item->n_bytes == 0 && store_open_session(store, item->name, &dir) >= 0)
                        item->n_bytes = footprint_measure(dir).n_bytes;
                if (json_array_append_new(array, listed_json(item->meta, item->n_bytes, is_brief)) <
                    0)
                        json_decref(TAKE_PTR(array));
                item->meta = session_meta_free(item->meta);
        }
        return array;
}

static int list_store(json_t **ret, const Options *o, uint64_t n_newest, bool is_brief) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_strv_ Strv names = {};
        _cleanup_(list_done) List list = {};
        _cleanup_vacuum_ Vacuum vacuum = {};
        bool is_whole = true;
        int status = open_store(&store, o), r;

        if (status != STATUS_OK)
                return status;
        r = store_list(store, &names);
        if (r < 0)
                return store_failure(o, "the sessions", r);
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
                uint64_t n_bytes = 0;

                r = store_open_session(store, names.items[i], &dir);
                if (r == -ENOENT)
                        continue; /* removed meanwhile */
                if (r < 0) {
                        (void) store_failure(o, names.items[i], r);
                        is_whole = false;
                        continue;
                }
                if (read_any_meta(&meta, dir, names.items[i]) != STATUS_OK) {
                        is_whole = false;
                        continue; /* said so; the others are still worth listing */
                }
                mend_state(meta, store);
                /* Of another store no daemon removes anything by itself. */
                if (!o->store || n_newest == 0)
                        n_bytes = footprint_measure(dir).n_bytes;
                if ((!o->store && vacuum_add_session(&vacuum, meta, n_bytes) < 0) ||
                    !ARRAY_ADD(list.items, list.n, (Listed){ names.items[i], meta, n_bytes }))
                        return out_of_memory();
                meta = NULL; /* the list's */
        }
        *ret = json_pack("{s:o, s:I, s:o*}", is_brief ? "briefs" : "sessions",
                         newest_of(&list, store, n_newest, is_brief), "total", (json_int_t) list.n,
                         "retention", o->store ? NULL : retention_of_store(o, store, &vacuum));
        if (!*ret)
                return out_of_memory();
        return is_whole ? STATUS_OK : STATUS_INCOMPLETE;
}

/* --- which of both ---------------------------------------------------------------------------- */

static bool has_session(const Options *o, const char *name) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        int r;

        if (!session_name_is_valid(name))
                return false;
        r = o->store ? CLIENT_E_NO_DAEMON : client_connect(&c, contact_socket(o));
        if (r == CLIENT_E_NO_DAEMON)
                return (o->store || !o->socket) && store_open(&store, options_store(o)) >= 0 &&
                       open_named(store, name, &dir) != -ENOENT;
        if (r == 0)
                r = client_call(c, "Describe", json_pack("{s:s}", "session", name), NULL, NULL,
                                &refusal);
        return r == 0 || (r == CLIENT_E_REFUSED && refusal.kind != REFUSAL_SESSION_NOT_FOUND);
}

static bool names_file(const char *word) {
        struct stat st;

        return stat(word, &st) >= 0 && !S_ISDIR(st.st_mode);
}

static bool has_suffix_of_file(const char *word) {
        static const char *const suffixes[] = { ".dat", ".txt", ".trace", ".log" };
        const char *dot = strrchr(word, '.');

        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++)
                if (dot && dot > word && streq(dot, suffixes[i]))
                        return true;
        return false;
}

bool source_is_file(const Options *o, const char *word) {
        bool is_there;

        if (strchr(word, '/'))
                return true;
        is_there = names_file(word);
        /* Only where the two differ it matters whether there is such a session. */
        return is_there == has_suffix_of_file(word) ? is_there : !has_session(o, word);
}

/* --- from a file ------------------------------------------------------------------------------ */

static int open_failure(const char *path, int r, char *problem) {
        _cleanup_free_ char *text = problem;

        switch (r) {
        case DAT_FILE_E_FOREIGN:
                return failed(STATUS_FAILED,
                              "\"%s\" is not a recording: only a trace.dat can be read as a file.",
                              path);
        case DAT_FILE_E_UNREADABLE:
                return failed(STATUS_FAILED, "\"%s\" cannot be read: %s.", path,
                              text ?: "it is damaged");
        case DAT_FILE_E_NO_BUFFER:
                return failed(STATUS_NOT_FOUND, "--buffer: \"%s\" %s.", path,
                              text ?: "has none of that name");
        case -ENOENT:
                return failed(STATUS_NOT_FOUND, "there is no file \"%s\".", path);
        case -EACCES:
                return failed(STATUS_FORBIDDEN, "no permission to read \"%s\".", path);
        default:
                return failed_errno(r, "Failed to read \"%s\": %m", path);
        }
}

#define TOP_BUFFER "top" /* what the top-level one, which has no name, is called */

const char *source_buffer_name(char text[static NAME_QUOTE_MAX], const DatBuffer *b) {
        return *b->name ? name_quote(text, b->name) : strcpy(text, TOP_BUFFER);
}

/* "top, alpha", those with pages; the caller frees; NULL without memory. */
static char *list_buffers(const DatFile *f, bool but_chosen) {
        _cleanup_strv_ Strv names = {};
        char text[NAME_QUOTE_MAX];

        for (const DatBuffer *b = f->buffers; b < f->buffers + f->n_buffers; b++)
                if (b->n_cpus > 0 && !(but_chosen && b == dat_file_buffer(f)) &&
                    strv_add(&names, source_buffer_name(text, b)) < 0)
                        return NULL;
        return strv_join(&names, ", ");
}

/* 0, DAT_FILE_E_NO_BUFFER, -ENOMEM. */
static int choose_buffer(DatFile *f, const Options *o, const char *path, char **ret_problem) {
        _cleanup_free_ char *names = NULL;
        char text[NAME_QUOTE_MAX];
        int r = o->buffer ? dat_file_choose_buffer(f, o->buffer) : 0;

        if (r != 0 && streq(o->buffer, TOP_BUFFER))
                r = dat_file_choose_buffer(f, "");
        names = list_buffers(f, r == 0);
        if (!names)
                return -ENOMEM;
        if (r != 0)
                return text_format(ret_problem, "has no buffer \"%s\", but %s",
                                   NAME_QUOTED(o->buffer), *names ? names : "none at all")
                               ?: r;
        if (!o->buffer && *names)
                talk(o, "%s: of its buffers \"%s\" is read; --buffer=NAME reads another: %s.", path,
                     source_buffer_name(text, dat_file_buffer(f)), names);
        return 0;
}

int source_filters(char **ret, const Options *o, const SessionMeta *m) {
        _cleanup_free_ char *said = options_said_filters(o);
        const char *before = m && m->filters ? m->filters : "";
        const char *now = said ? startswith(said, " with ") : NULL;

        *ret = NULL;
        if (!said || (!now && !*before))
                return said ? 0 : -ENOMEM;
        return text_format(ret, "%s%s%s", before, *before && now ? " " : "", now ?: "");
}

/* @fd: consumed.  @is_described: nobody will read it and find what its metadata do not say. */
static int open_dat(Source **ret, const Options *o, const char *path, int fd, bool is_described) {
        _cleanup_(source_freep) Source *s = source_new();
        _cleanup_(dat_file_freep) DatFile *f = NULL;
        const char *slash = strrchr(path, '/');
        char *problem = NULL;
        int r;

        if (!s) {
                safe_close(fd);
                return out_of_memory();
        }
        r = dat_file_take_fd(&f, fd, &problem) ?: choose_buffer(f, o, path, &problem);
        if (r != 0)
                return open_failure(path, r, problem);
        s->from_store = true;
        r = dat_file_to_dir(&s->dir, TAKE_PTR(f), slash ? slash + 1 : path)
                    ?: session_dir_read_meta(s->dir, &s->meta)
                    ?: dat_losses_note(s->meta, s->dir, is_described)
                    ?: dat_start_note(s->meta, s->dir);
        if (r != 0)
                return out_of_memory();
        *ret = TAKE_PTR(s);
        return STATUS_OK;
}

/* --- from a daemon, else from a store --------------------------------------------------------- */

/* The descriptor that the reply's @member is the index of, which the caller then owns; -EBADF. */
static int take_fd(int *fds, const json_t *reply, const char *member) {
        const json_t *index = json_object_get(reply, member);
        json_int_t i = json_integer_value(index);

        return json_is_integer(index) && i >= 0 && i < FRAME_FDS_MAX ? TAKE_FD(fds[i]) : -EBADF;
}

static int take_descriptors(Source *s, const json_t *reply, int *fds) {
        int fd = take_fd(fds, reply, "directory"), symbols_fd = take_fd(fds, reply, "symbols"), r;

        if (fd < 0) {
                safe_close(symbols_fd);
                return ORIGIN(-EBADMSG);
        }
        r = session_dir_take_fds(&s->dir, fd, symbols_fd);
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
        status = contact_call(c, "Open", json_pack("{s:s}", "session", name), &reply, fds);
        if (status != STATUS_OK)
                return status;
        r = take_descriptors(s, reply, fds);
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                safe_close(fds[i]);
        if (r < 0)
                return failed_errno(r, "Failed to take the recording from the daemon: %m");
        status = source_meta_from_reply(&s->meta, reply);
        if (status != STATUS_OK)
                return status;
        *ret = TAKE_PTR(s);
        return STATUS_OK;
}

/* Of a session, which has one buffer. */
static int check_session_word(const Options *o, const char *name) {
        if (!o->buffer)
                return source_check_name(name);
        return failed(STATUS_USAGE,
                      "--buffer: \"%s\" is a session, and only a trace.dat has several buffers.",
                      NAME_QUOTED(name));
}

static int open_session(Source **ret, const Options *o, const char *name) {
        _cleanup_(client_freep) Client *c = NULL;
        int status = check_session_word(o, name) ?: contact_unless_store(&c, o);

        if (status != STATUS_OK)
                return status;
        return c ? source_open_client(ret, o, c, name) : open_from_store(ret, o, name);
}

int source_find(SourceFound *ret, const Options *o, const char *word) {
        bool is_input = streq(word, "-");
        _cleanup_close_ int fd = -EBADF;
        const char *problem;
        int form = SOURCE_TEXT;

        if (!is_input && !source_is_file(o, word)) {
                *ret = (SourceFound){ SOURCE_SESSION, -EBADF };
                return STATUS_OK;
        }
        fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                      : open(word, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                form = ORIGIN(-errno);
        else if (!is_input) {
                form = packed_open(&fd, PACKED_BYTES_MAX, &problem);
                if (form == PACKED_E_REFUSED)
                        return failed(STATUS_FAILED, "\"%s\" is %s.", word, problem);
                form = form < 0 ? form : source_form_of(fd);
        }
        if (form < 0)
                return open_failure(word, form, NULL);
        if (form == SOURCE_SESSION)
                return failed(STATUS_FAILED,
                              "\"%s\" is a directory: a session is called by its name, with "
                              "--store=DIR if it is not in the usual store.",
                              word);
        *ret = (SourceFound){ (SourceForm) form, TAKE_FD(fd) };
        return STATUS_OK;
}

int source_open_found(Source **ret, const Options *o, const char *word, SourceFound found) {
        _cleanup_close_ int fd = found.fd;
        int status;

        if (found.form == SOURCE_TEXT)
                return open_failure(word, DAT_FILE_E_FOREIGN, NULL);
        if (o->nth_trace != 0)
                return failed(
                        STATUS_USAGE,
                        "--nth-trace: \"%s\" is a recording, and only texts have several traces.",
                        word);
        if (found.form == SOURCE_DAT)
                return open_dat(ret, o, word, TAKE_FD(fd), false);
        status = open_session(ret, o, word);
        if (status == STATUS_OK && names_file(word))
                talk(o, "\"%s\" is the session; the file of that name is \"./%s\".", word, word);
        return status;
}

int source_open(Source **ret, const Options *o, const char *name) {
        SourceFound found;
        int status = source_find(&found, o, name);

        return status ?: source_open_found(ret, o, name, found);
}

int source_describe(Source **ret, const Options *o, const char *name) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_(source_freep) Source *s = NULL;
        json_auto_t *reply = NULL;
        SourceFound found;
        int status = source_find(&found, o, name);

        if (status != STATUS_OK)
                return status;
        if (found.form != SOURCE_SESSION)
                return open_dat(ret, o, name, found.fd, true);
        status = check_session_word(o, name) ?: contact_unless_store(&c, o);
        if (status != STATUS_OK)
                return status;
        if (!c) {
                status = open_from_store(ret, o, name);
                if (status == STATUS_OK)
                        (*ret)->disk_bytes = footprint_measure((*ret)->dir).n_bytes;
                return status;
        }
        status = contact_call(c, "Describe", json_pack("{s:s}", "session", name), &reply, NULL);
        if (status != STATUS_OK)
                return status;
        s = source_new();
        if (!s)
                return out_of_memory();
        status = source_meta_from_reply(&s->meta, reply);
        if (status != STATUS_OK)
                return status;
        s->disk_bytes = json_number(json_object_get(reply, "session"), "disk_bytes");
        s->stays_until_ns = json_number(json_object_get(reply, "session"), "stays_until_ns");
        s->goes_at_ns = json_number(json_object_get(reply, "session"), "goes_at_ns");
        *ret = TAKE_PTR(s);
        return STATUS_OK;
}

/* Names those of the @array that cannot be read. */
static int name_unreadable(json_t *array, bool is_brief) {
        int status = STATUS_OK;
        json_t *s;
        size_t i;

        json_array_foreach (array, i, s)
                if (json_object_get(s, "unreadable")) {
                        log_error("session \"%s\" is %s.", json_text(s, "name"),
                                  json_text(s, is_brief ? "unreadable" : "reason"));
                        status = STATUS_INCOMPLETE;
                }
        return status;
}

int source_list(json_t **ret, const Options *o, uint64_t n_newest, bool is_brief) {
        const char *array = is_brief ? "briefs" : "sessions";
        _cleanup_(client_freep) Client *c = NULL;
        json_t *parameters = NULL;
        int status = contact_unless_store(&c, o);

        if (status != STATUS_OK)
                return status;
        if (c && n_newest > 0)
                parameters = json_pack("{s:I}", "newest", (json_int_t) n_newest);
        status = c ? contact_gather(c, is_brief ? "ListBriefs" : "List", parameters, array, ret)
                   : list_store(ret, o, n_newest, is_brief);
        return (status == STATUS_OK ? name_unreadable(json_object_get(*ret, array), is_brief)
                                    : status);
}

int source_refresh(Source *s) {
        SessionMeta *meta;
        int status = read_meta(&meta, s->dir, s->meta->name);

        if (status != STATUS_OK)
                return status;
        session_meta_free(s->meta);
        s->meta = meta;
        return STATUS_OK;
}

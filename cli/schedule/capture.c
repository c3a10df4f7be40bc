/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The log is written at both ends, so that a capture whose process was killed is there, too.  Only sessions that
 * it names are ever removed: a session that happens to be called NAME-3 is somebody's. */

#include <fcntl.h>
#include <inttypes.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/files/files.h"
#include "cli/record/record.h"
#include "cli/schedule/schedule.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/profile.h"

#define STATE_DIR LOCALSTATEDIR "/lib/ftraced-captures"
#define LOG_BYTES_MAX ((size_t) 4 << 20)
#define DAY_NS (86400 * NSEC_PER_SEC)
#define LOOK_MS 1000
#define RESTART_TRIES 120 /* looks: systemd starts a daemon that died at once */
#define NAME_TRIES 100

/* --- the log ---------------------------------------------------------------------------------- */

static int make_path(char **ret, const char *name) {
        const char *dir = getenv("STATE_DIRECTORY");

        return text_format(ret, "%s/%s.json", dir && *dir ? dir : STATE_DIR, name);
}

static bool is_log(const json_t *root) {
        json_t *captures = json_object_get(root, "captures"), *c;
        size_t i;

        json_array_foreach (captures, i, c)
                if (!json_is_integer(json_object_get(c, "at_ns")) ||
                    !json_is_string(json_object_get(c, "result")))
                        return false;
        return json_is_array(captures) && json_integer_value(json_object_get(root, "version")) == 1;
}

/* What is damaged is begun anew. */
int capture_log_open(CaptureLog *ret, const char *name) {
        _cleanup_capture_log_ CaptureLog l = { .next = 1 };
        _cleanup_free_ char *text = NULL;
        json_auto_t *root = NULL;
        int r = make_path(&l.path, name) ?: file_read(AT_FDCWD, l.path, &text, NULL, LOG_BYTES_MAX);

        if (r < 0 && (r != -ENOENT || !l.path))
                return r;
        root = r < 0 ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (is_log(root)) {
                l.captures = json_incref(json_object_get(root, "captures"));
                l.next = MAX(json_integer_value(json_object_get(root, "next")), (json_int_t) 1);
        } else
                l.captures = json_array();
        if (!l.captures)
                return -ENOMEM;
        *ret = TAKE(l, (CaptureLog){});
        return 0;
}

int capture_log_save(const CaptureLog *l) {
        json_auto_t *root = json_pack("{s:i, s:I, s:O}", "version", 1, "next", l->next, "captures",
                                      l->captures);
        _cleanup_free_ char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;

        return text ? file_replace(AT_FDCWD, l->path, text, strlen(text), 0644) : -ENOMEM;
}

int capture_log_erase(const char *name) {
        _cleanup_free_ char *path = NULL;
        int r = make_path(&path, name);

        return r < 0 ? r : unlink(path) < 0 && errno != ENOENT ? ORIGIN(-errno) : 0;
}

json_t *capture_log_last(const CaptureLog *l) {
        size_t n = json_array_size(l->captures);

        return n > 0 ? json_array_get(l->captures, n - 1) : NULL;
}

uint64_t capture_log_count(const CaptureLog *l, uint64_t since_ns) {
        uint64_t n = 0;
        json_t *c;
        size_t i;

        json_array_foreach (l->captures, i, c)
                n += json_object_get(c, "session") &&
                     json_integer_value(json_object_get(c, "at_ns")) >= (json_int_t) since_ns;
        return n;
}

/* Consumes @c. */
static int add_capture(CaptureLog *l, json_t *c) {
        if (json_array_append_new(l->captures, c) < 0)
                return -ENOMEM;
        while (json_array_size(l->captures) > CAPTURE_LOG_MAX)
                (void) json_array_remove(l->captures, 0);
        return 0;
}

int capture_log_add(CaptureLog *l, uint64_t at_ns, const char *result, const char *reason) {
        return add_capture(l, json_pack("{s:I, s:s, s:s}", "at_ns", (json_int_t) at_ns, "result",
                                        result, "reason", reason));
}

int capture_log_set(CaptureLog *l, uint64_t at_ns, const SessionMeta *m) {
        size_t n = json_array_size(l->captures);
        const char *dash = strrchr(m->name, '-');
        uint64_t number = 0;
        json_t *c =
                json_pack("{s:I, s:s, s:s, s:s, s:s*, s:I, s:I, s:I}", "at_ns", (json_int_t) at_ns,
                          "session", m->name, "id", m->id, "result", session_state_name(m->state),
                          "reason", m->reason, "length_ns", (json_int_t) session_meta_length_ns(m),
                          "bytes", (json_int_t) session_meta_total(m).n_bytes, "lost",
                          (json_int_t) session_meta_events_lost(m));

        if (streq(json_text(capture_log_last(l), "id"), m->id))
                return json_array_set_new(l->captures, n - 1, c) < 0 ? -ENOMEM : 0;
        (void) (dash && parse_u64(dash + 1, INT64_MAX - 1, &number));
        l->next = (json_int_t) number + 1;
        return add_capture(l, c);
}

void capture_log_done(CaptureLog *l) {
        json_decref(l->captures);
        free(l->path);
        *l = (CaptureLog){};
}

/* --- whether it may be ------------------------------------------------------------------------ */

typedef struct Capture {
        const Options *o;
        const char *name;
        const Strv *words;
        CaptureLog log;
        uint64_t at_ns;
        Client *client;
        SessionMeta *meta;
} Capture;

static uint64_t member(const Profile *p, const char *name, uint64_t said) {
        json_int_t n = json_integer_value(json_object_get(p->spec, name));

        return said > 0 ? said : n > 0 ? (uint64_t) n : 0;
}

/* Nothing, if none is named. */
static int load_profile(Profile *ret, const Options *o) {
        _cleanup_free_ char *like = NULL;
        int r = PROFILE_E_NOT_FOUND;

        if (!o->profile)
                return STATUS_OK;
        if (session_name_is_valid(o->profile))
                r = profile_load(ret, o->config_root, o->profile);
        if (r < 0)
                return failed_errno(r, "Failed to read the profile \"%s\": %m", o->profile);
        if (r == 0)
                return STATUS_OK;
        (void) profile_suggest(&like, o->config_root, o->profile);
        return failed(STATUS_NOT_FOUND,
                      "there is no profile \"%s\"%s%s%s; see \"ftracectl profile list\".",
                      NAME_QUOTED(o->profile), like ? ". Did you mean \"" : "", like ?: "",
                      like ? "\"?" : "");
}

int capture_check(const Options *o, const Strv *words) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        int status = recording_check(o, words) ?: load_profile(&p, o);
        bool is_ring;

        if (status != STATUS_OK)
                return status;
        is_ring = o->spec.ring || json_is_true(json_object_get(p.spec, "ring"));
        if (json_array_size(json_object_get(p.spec, "triggers")) > 0)
                return failed(STATUS_USAGE,
                              "profile \"%s\" waits for triggers, and a schedule for the clock: "
                              "arm it instead, with \"ftracectl start --profile %s\".",
                              o->profile, o->profile);
        if (member(&p, "duration_ns", o->spec.duration_ns) > 0 ||
            (member(&p, "max_bytes", o->spec.max_bytes) > 0 && !is_ring))
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "a recording that a timer starts needs an end: add --duration=TIME%s.",
                      is_ring ? "" : ", or --max-size=BYTES");
}

static int save(const Capture *c) {
        int r = capture_log_save(&c->log);

        return r < 0 ? failed_errno(r, "Failed to write %s: %m", c->log.path) : STATUS_OK;
}

static int skip(Capture *c, int status, const char *result, const char *reason) {
        if (capture_log_add(&c->log, c->at_ns, result, reason) >= 0)
                (void) save(c);
        return status;
}

/* STATUS_OK, and *@ret is true: it may. */
static int look_whether(Capture *c, bool *ret) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        uint64_t ppm, max = c->o->schedule.max_per_day;
        int status = load_profile(&p, c->o), r = 0;

        *ret = true;
        ppm = member(&p, "sample_ppm", c->o->spec.sample_ppm);
        if (status == STATUS_OK && ppm > 0) {
                r = sample_has_us(ret, ppm);
                if (r < 0)
                        status = failed_errno(
                                r, "Sample=: Failed to read this host's /etc/machine-id: %m");
        }
        if (status != STATUS_OK)
                return skip(c, status, "failed",
                            "/etc/machine-id, which decides if this host is in the sample, could "
                            "not be read");
        if (!*ret) {
                talk(c->o, "%s: this host is not among the %g%% that record today.", c->name,
                     (double) ppm / 10000);
                return skip(c, STATUS_OK, "skipped", "this host is not in the sample today");
        }
        if (max == 0 || capture_log_count(&c->log, c->at_ns - MIN(c->at_ns, DAY_NS)) < max)
                return STATUS_OK;
        log_warning("Schedule \"%s\" has captured %" PRIu64 " times in 24 hours, as often as "
                    "--max-captures allows; nothing is recorded now.",
                    c->name, max);
        return skip(c, STATUS_REFUSED, "skipped",
                    "as many captures in 24 hours as --max-captures allows");
}

/* --- recording -------------------------------------------------------------------------------- */

static int begin(Capture *c) {
        char name[SESSION_NAME_MAX + 1];
        json_auto_t *reply = NULL;
        Options o = *c->o;
        bool is_taken = true;
        json_t *s;
        size_t i;
        int status = contact_daemon(&c->client, &o)
                             ?: contact_gather(c->client, "ListBriefs", NULL, "briefs", &reply);

        if (status != STATUS_OK)
                return skip(c, status, "failed", "no daemon answered");
        /* A name that nobody has. */
        for (json_int_t n = c->log.next; is_taken && n < c->log.next + NAME_TRIES; n++) {
                (void) snprintf(name, sizeof(name), "%s-%lli", c->name, (long long) n);
                is_taken = false;
                json_array_foreach (json_object_get(reply, "briefs"), i, s)
                        is_taken = is_taken || streq(json_text(s, "name"), name);
        }
        o.name = name;
        status = recording_start(&c->meta, &o, c->client, c->words, false, -EBADF);
        if (status == STATUS_BUSY)
                return skip(c, status, "skipped", "another recording used the tracer");
        if (status != STATUS_OK)
                return skip(c, status, status == STATUS_REFUSED ? "refused" : "failed",
                            "it could not begin; its journal says why");
        return capture_log_set(&c->log, c->at_ns, c->meta) < 0 ? STATUS_FAILED : save(c);
}

/* --- until it has ended ----------------------------------------------------------------------- */

/* The daemon is asked each second, and the one that comes after one that went.  Who wants us to end wants that of the
 * recording. */
static int look_until_end(Capture *c, int signal_fd) {
        unsigned n_tries = 0;

        while (session_state_is_live(c->meta->state)) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                _cleanup_refusal_ Refusal refusal = {};
                struct pollfd p = { .fd = signal_fd, .events = POLLIN };
                bool is_enough = poll(&p, 1, LOOK_MS) > 0 && signals_want_end(signal_fd);
                json_auto_t *reply = NULL;
                int r, status;

                if (!c->client && client_connect(&c->client, contact_socket(c->o)) != 0) {
                        if (!is_enough && ++n_tries < RESTART_TRIES)
                                continue;
                        return failed(STATUS_FAILED,
                                      "the daemon is gone and no other has started; %s goes on "
                                      "recording unwatched.",
                                      c->meta->name);
                }
                r = client_call(c->client, is_enough ? "Stop" : "Describe",
                                json_pack("{s:s}", "session", c->meta->name), &reply, NULL,
                                &refusal);
                if (r == CLIENT_E_GONE)
                        c->client = client_free(c->client);
                if (r == CLIENT_E_GONE || (r == CLIENT_E_REFUSED && is_enough)) /* it is over */
                        continue;
                status = r == 0 ? source_meta_from_reply(&m, reply)
                                : contact_failure(c->client, r, &refusal);
                if (status != STATUS_OK)
                        return status;
                n_tries = 0;
                SWAP(c->meta, m);
        }
        return STATUS_OK;
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* The session among @sessions that is @capture's and still there; NULL: none.  One that cannot be read may have no id. */
static const json_t *find_session(const json_t *capture, const json_t *sessions) {
        const char *id = json_text(capture, "id");
        json_t *s;
        size_t i;

        json_array_foreach (sessions, i, s)
                if ((*id && streq(json_text(s, "id"), id)) ||
                    (json_object_get(s, "unreadable") &&
                     streq(json_text(s, "name"), json_text(capture, "session"))))
                        return s;
        return NULL;
}

static bool has_ended(const json_t *session) {
        int state = session_state_from_name(json_text(session, "state"));

        return state >= 0 && !session_state_is_live((SessionState) state);
}

size_t capture_count_kept(const json_t *captures, const json_t *sessions) {
        size_t i, n = 0;
        json_t *c;

        json_array_foreach (captures, i, c)
                n += has_ended(find_session(c, sessions));
        return n;
}

static bool may_go(const json_t *session) {
        return has_ended(session) && !json_is_true(json_object_get(session, "pinned")) &&
               !json_object_get(session, "unreadable");
}

/* Removes the oldest until @c->o->schedule.keep are left beside those that may not go. */
static int remove_old(Capture *c) {
        uint64_t keep = c->o->schedule.keep, n = 0;
        json_auto_t *reply = NULL;
        json_t *sessions, *capture;
        size_t i;
        int status;

        if (keep == 0)
                return STATUS_OK;
        status = contact_gather(c->client, "ListBriefs", NULL, "briefs", &reply);
        sessions = json_object_get(reply, "briefs");
        json_array_foreach (c->log.captures, i, capture)
                n += may_go(find_session(capture, sessions));
        json_array_foreach (c->log.captures, i, capture) {
                const json_t *s = find_session(capture, sessions);

                if (n <= keep)
                        break;
                if (!may_go(s))
                        continue;
                status = contact_call_session(c->client, "Remove", json_text(s, "name"), NULL);
                if (status == STATUS_OK) {
                        talk(c->o, "Removed %s: %" PRIu64 " are kept.", json_text(s, "name"), keep);
                        n--;
                }
        }
        return status;
}

static int capture(Capture *c) {
        const SessionMeta *m;
        bool may_be;
        int signal_fd = -EBADF, status = look_whether(c, &may_be);

        if (status != STATUS_OK || !may_be)
                return status;
        status = begin(c);
        if (status == STATUS_OK) {
                signal_fd = signals_open();
                status = signal_fd < 0 ? failed_errno(signal_fd, "Failed to wait for signals: %m")
                                       : look_until_end(c, signal_fd);
        }
        signals_close(&signal_fd);
        m = c->meta;
        if (!m)
                return status;
        if (capture_log_set(&c->log, c->at_ns, m) >= 0)
                (void) save(c);
        if (status != STATUS_OK)
                return status;
        talk(c->o, "%s: %s, %s, %s.", m->name, session_state_name(m->state),
             FORMAT_BYTES(session_meta_total(m).n_bytes), SUMMARY_LOSS(m));
        status = remove_old(c);
        if (status != STATUS_OK)
                return status;
        return m->state == SESSION_FAILED       ? STATUS_FAILED
               : m->limit != SESSION_LIMIT_NONE ? STATUS_REFUSED
               : summary_is_complete(m)         ? STATUS_OK
                                                : STATUS_INCOMPLETE;
}

int capture_run(const Options *o, const char *name, const Strv *words) {
        Capture c = { .o = o, .name = name, .words = words, .at_ns = now_ns(CLOCK_REALTIME) };
        int status = capture_check(o, words), r;

        if (status != STATUS_OK)
                return status;
        r = capture_log_open(&c.log, name);
        if (r < 0)
                return failed_errno(r, "Failed to read what schedule \"%s\" captured before: %m",
                                    name);
        status = capture(&c);
        client_free(c.client);
        session_meta_free(c.meta);
        capture_log_done(&c.log);
        return status;
}

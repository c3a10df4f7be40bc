/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The log is written when the recording begins and when it has ended, so that a capture whose process
 * was killed is there, too.  Only sessions that the log names are ever removed: a session that happens
 * to be called NAME-3 is somebody's.
 */

#include <fcntl.h>
#include <inttypes.h>

#include "base/io.h"
#include "base/name.h"
#include "base/now.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/files/upkeep.h"
#include "cli/record/recording.h"
#include "cli/schedule/capture.h"
#include "cli/source/source.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "meta/profile.h"
#include "meta/sample.h"

/* --- the log ---------------------------------------------------------------------------------- */

/* A JSON object in memory, replaced as a whole on disk; what is damaged is begun anew. */
#define STATE_DIR LOCALSTATEDIR "/lib/ftraced-captures"
#define BYTES_MAX ((size_t) 4 << 20)

static int make_path(char **ret, const char *name) {
        const char *dir = getenv("STATE_DIRECTORY");

        return asprintf(ret, "%s/%s.json", dir && *dir ? dir : STATE_DIR, name) < 0 ? -ENOMEM : 0;
}

static bool is_log(const json_t *root) {
        json_t *captures = json_object_get(root, "captures"), *c;
        size_t i;

        if (!json_is_array(captures) || json_integer_value(json_object_get(root, "version")) != 1)
                return false;
        json_array_foreach (captures, i, c)
                if (!json_is_integer(json_object_get(c, "at_ns")) ||
                    !json_is_string(json_object_get(c, "result")))
                        return false;
        return true;
}

int capture_log_open(CaptureLog *ret, const char *name) {
        _cleanup_capture_log_ CaptureLog l = {};
        _cleanup_free_ char *text = NULL;
        int r = make_path(&l.path, name);

        if (r < 0)
                return r;
        r = file_read(AT_FDCWD, l.path, &text, NULL, BYTES_MAX);
        if (r < 0 && r != -ENOENT)
                return r;
        if (r >= 0)
                l.root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (!is_log(l.root)) {
                json_decref(l.root);
                l.root = json_pack("{s:i, s:i, s:[]}", "version", 1, "next", 1, "captures");
        }
        if (!l.root)
                return -ENOMEM;
        *ret = TAKE(l, (CaptureLog){});
        return 0;
}

int capture_log_save(const CaptureLog *l) {
        _cleanup_free_ char *text = json_dumps(l->root, JSON_INDENT(1));

        return text ? file_replace(AT_FDCWD, l->path, text, strlen(text), 0644) : -ENOMEM;
}

int capture_log_erase(const char *name) {
        _cleanup_free_ char *path = NULL;
        int r = make_path(&path, name);

        if (r < 0)
                return r;
        return unlink(path) < 0 && errno != ENOENT ? ORIGIN(-errno) : 0;
}

uint64_t capture_log_next(const CaptureLog *l) {
        json_int_t next = json_integer_value(json_object_get(l->root, "next"));

        return next > 0 ? (uint64_t) next : 1;
}

json_t *capture_log_all(const CaptureLog *l) {
        return json_object_get(l->root, "captures");
}

json_t *capture_log_last(const CaptureLog *l) {
        json_t *all = capture_log_all(l);

        return json_array_size(all) > 0 ? json_array_get(all, json_array_size(all) - 1) : NULL;
}

uint64_t capture_log_count(const CaptureLog *l, uint64_t since_ns) {
        uint64_t n = 0;
        json_t *c;
        size_t i;

        json_array_foreach (capture_log_all(l), i, c)
                n += json_is_string(json_object_get(c, "session")) &&
                     json_integer_value(json_object_get(c, "at_ns")) >= (json_int_t) since_ns;
        return n;
}

static int append(CaptureLog *l, json_t *c) {
        json_t *all = capture_log_all(l);

        if (!c || json_array_append_new(all, c) < 0)
                return -ENOMEM;
        while (json_array_size(all) > CAPTURE_LOG_MAX)
                (void) json_array_remove(all, 0);
        return 0;
}

int capture_log_add(CaptureLog *l, uint64_t at_ns, const char *result, const char *reason) {
        return append(l, json_pack("{s:I, s:s, s:s}", "at_ns", (json_int_t) at_ns, "result", result,
                                   "reason", reason));
}

/* What the name of a session ends in. */
static json_int_t number_of(const char *name) {
        const char *dash = strrchr(name, '-');
        uint64_t n = 0;

        return dash && parse_u64(dash + 1, INT64_MAX - 1, &n) >= 0 ? (json_int_t) n : 0;
}

int capture_log_set(CaptureLog *l, uint64_t at_ns, const SessionMeta *m) {
        json_t *last = capture_log_last(l), *c;
        const char *id = json_string_value(json_object_get(last, "id"));
        int r;

        c = json_pack("{s:I, s:s, s:s, s:s, s:s*, s:I, s:I, s:I}", "at_ns", (json_int_t) at_ns,
                      "session", m->name, "id", m->id, "result", session_state_name(m->state),
                      "reason", m->reason, "length_ns", (json_int_t) session_meta_length_ns(m),
                      "bytes", (json_int_t) session_meta_n_bytes(m), "lost",
                      (json_int_t) session_meta_events_lost(m));
        if (!c)
                return -ENOMEM;
        if (id && streq(id, m->id))
                return json_array_set_new(capture_log_all(l),
                                          json_array_size(capture_log_all(l)) - 1, c) < 0
                               ? -ENOMEM
                               : 0;
        r = json_object_set_new(l->root, "next", json_integer(number_of(m->name) + 1));
        if (r < 0) {
                json_decref(c);
                return -ENOMEM;
        }
        return append(l, c);
}

void capture_log_done(CaptureLog *l) {
        json_decref(l->root);
        free(l->path);
        *l = (CaptureLog){};
}

#define DAY_NS (86400 * NSEC_PER_SEC)
#define RESTART_TRIES 120 /* a second each: systemd starts a daemon that died at once */
#define NAME_TRIES 100

typedef struct Capture {
        const Options *o;
        const char *name;
        const Strv *words;
        CaptureLog log;
        uint64_t at_ns;
        Client *client;
        SessionMeta *meta;
} Capture;

/* --- whether it may be ------------------------------------------------------------------------ */

static uint64_t member(const Profile *p, const char *name, uint64_t said) {
        json_int_t n = json_integer_value(json_object_get(p->spec, name));

        return said > 0 ? said : n > 0 ? (uint64_t) n : 0;
}

static int load_profile(Profile *ret, const Options *o) {
        _cleanup_free_ char *like = NULL;
        int r = PROFILE_E_NOT_FOUND;

        if (profile_name_is_valid(o->profile))
                r = profile_load(ret, o->config_root, o->profile);
        if (r == 0)
                return STATUS_OK;
        if (r < 0)
                return failed_errno(r, "Failed to read the profile \"%s\": %m", o->profile);
        (void) profile_suggest(&like, o->config_root, o->profile);
        return failed(STATUS_NOT_FOUND,
                      "there is no profile \"%s\"%s%s%s; see \"ftracectl profile list\".",
                      NAME_QUOTED(o->profile), like ? ". Did you mean \"" : "", like ?: "",
                      like ? "\"?" : "");
}

int capture_check(const Options *o, const Strv *words) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        bool is_ring, has_triggers;
        int status = recording_check(o, words);

        if (status == STATUS_OK && o->profile)
                status = load_profile(&p, o);
        if (status != STATUS_OK)
                return status;
        is_ring = o->spec.ring || json_is_true(json_object_get(p.spec, "ring"));
        has_triggers = json_array_size(json_object_get(p.spec, "triggers")) > 0;
        if (has_triggers)
                return failed(STATUS_USAGE,
                              "profile \"%s\" waits for triggers, and a schedule for the clock: "
                              "arm it instead, with \"ftracectl start --profile %s\".",
                              o->profile, o->profile);
        if (member(&p, "duration_ns", o->spec.duration_ns) > 0 ||
            (member(&p, "max_bytes", o->spec.max_bytes) > 0 && !is_ring))
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "a recording that a timer begins must end by itself: say --duration=TIME%s.",
                      is_ring ? "" : ", or --max-size=BYTES");
}

/* --- recording -------------------------------------------------------------------------------- */

static int save(const Capture *c) {
        int r = capture_log_save(&c->log);

        if (r >= 0)
                return STATUS_OK;
        return failed_errno(r, "Failed to write %s: %m", c->log.path);
}

static int skip(Capture *c, int status, const char *result, const char *reason) {
        if (capture_log_add(&c->log, c->at_ns, result, reason) >= 0)
                (void) save(c);
        return status;
}

/* A name that nobody has: @sessions are all that there are. */
static void find_name(char text[static SESSION_NAME_MAX + 1], const Capture *c,
                      const json_t *sessions) {
        uint64_t n = capture_log_next(&c->log);
        json_t *s;
        size_t i;

        for (unsigned tries = 0; tries < NAME_TRIES; tries++, n++) {
                bool is_taken = false;

                (void) snprintf(text, SESSION_NAME_MAX + 1, "%s-%" PRIu64, c->name, n);
                json_array_foreach (sessions, i, s)
                        is_taken = is_taken ||
                                   streq(json_string_value(json_object_get(s, "name")) ?: "", text);
                if (!is_taken)
                        return;
        }
}

static int begin(Capture *c) {
        char name[SESSION_NAME_MAX + 1];
        json_auto_t *reply = NULL;
        Options o = *c->o;
        int status = contact_daemon(&c->client, &o)
                             ?: contact_gather(c->client, "ListBriefs", NULL, "briefs", &reply);

        if (status != STATUS_OK)
                return skip(c, status, "failed", "there was no daemon that answered");
        find_name(name, c, json_object_get(reply, "briefs"));
        o.name = name;
        status = recording_start(&c->meta, &o, c->client, c->words, false, -EBADF);
        if (status == STATUS_BUSY)
                return skip(c, status, "skipped", "another one held the tracer");
        if (status != STATUS_OK)
                return skip(c, status, status == STATUS_REFUSED ? "refused" : "failed",
                            "it could not begin; its journal says why");
        if (capture_log_set(&c->log, c->at_ns, c->meta) < 0)
                return STATUS_FAILED;
        return save(c);
}

/* --- until it has ended ----------------------------------------------------------------------- */

/* To the daemon that comes after one that went. */
static int reconnect(Capture *c, int signal_fd) {
        c->client = client_free(c->client);
        for (unsigned i = 0; i < RESTART_TRIES && !signals_want_end(signal_fd); i++) {
                if (client_connect(&c->client, contact_socket(c->o)) == 0)
                        return STATUS_OK;
                (void) sleep(1);
        }
        return failed(
                STATUS_FAILED,
                "the daemon is gone and no other has started; %s goes on recording unwatched.",
                c->meta->name);
}

static int stop(Capture *c) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(client_freep) Client *other = NULL;
        int status = contact_daemon(&other, c->o) ?: recording_stop(&m, c->o, other, c->meta->name);

        if (status == STATUS_OK)
                SWAP(c->meta, m);
        return status;
}

/* One reply of Watch; whether it was the last one. */
static int look(Capture *c, int signal_fd, bool *ret_ended) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        json_auto_t *reply = NULL;
        bool continues = true;
        int r, status;

        r = client_receive(c->client, &reply, NULL, &continues, &refusal, signal_fd, -1);
        if (r == CLIENT_E_INTERRUPTED) {
                if (!signals_want_end(signal_fd))
                        return STATUS_OK;
                *ret_ended = true;
                return stop(c);
        }
        if (r == CLIENT_E_GONE || r == -ECONNRESET || r == -EPIPE) {
                status = reconnect(c, signal_fd);
                if (status != STATUS_OK)
                        return status;
                r = client_send(c->client, "Watch", json_pack("{s:s}", "session", c->meta->name),
                                true);
                return r == 0 ? STATUS_OK : contact_failure(c->client, r, NULL);
        }
        if (r != 0)
                return contact_failure(c->client, r, &refusal);
        status = source_meta_from_reply(&m, reply);
        if (status == STATUS_OK)
                SWAP(c->meta, m);
        *ret_ended = !continues;
        return status;
}

static int wait_for_end(Capture *c) {
        _cleanup_signals_ int signal_fd = signals_open();
        bool has_ended = false;
        int r, status;

        if (signal_fd < 0)
                return failed_errno(signal_fd, "Failed to wait for signals: %m");
        r = client_send(c->client, "Watch", json_pack("{s:s}", "session", c->meta->name), true);
        status = r == 0 ? STATUS_OK : contact_failure(c->client, r, NULL);
        while (status == STATUS_OK && !has_ended)
                status = look(c, signal_fd, &has_ended);
        return status;
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* The session among @sessions that is @capture's and still there; NULL: none. */
static const json_t *find_session(const json_t *capture, const json_t *sessions) {
        const char *id = json_string_value(json_object_get(capture, "id"));
        json_t *s;
        size_t i;

        json_array_foreach (sessions, i, s)
                if (id && streq(json_string_value(json_object_get(s, "id")) ?: "", id))
                        return s;
        return NULL;
}

size_t capture_count_kept(json_t *captures, json_t *sessions) {
        size_t i, n = 0;
        json_t *c;

        json_array_foreach (captures, i, c)
                n += find_session(c, sessions) != NULL;
        return n;
}

static bool may_go(const json_t *session) {
        const char *text = json_string_value(json_object_get(session, "state"));
        int state = text ? session_state_from_name(text) : -EINVAL;

        return state >= 0 && !session_state_is_live((SessionState) state) &&
               !json_is_true(json_object_get(session, "pinned"));
}

/* Removes the oldest until @c->o->schedule.keep are left beside those that may not go. */
static int remove_old(Capture *c) {
        _cleanup_(client_freep) Client *client = NULL;
        json_auto_t *reply = NULL;
        json_t *sessions, *capture;
        size_t i, n = 0;
        int status;

        if (c->o->schedule.keep == 0)
                return STATUS_OK;
        status = contact_daemon(&client, c->o)
                         ?: contact_gather(client, "ListBriefs", NULL, "briefs", &reply);
        if (status != STATUS_OK)
                return status;
        sessions = json_object_get(reply, "briefs");
        json_array_foreach (capture_log_all(&c->log), i, capture)
                n += may_go(find_session(capture, sessions));
        json_array_foreach (capture_log_all(&c->log), i, capture) {
                const json_t *s = find_session(capture, sessions);
                const char *name = json_string_value(json_object_get(s, "name"));

                if (n <= c->o->schedule.keep)
                        break;
                if (!s || !name || !may_go(s))
                        continue;
                status = upkeep_remove(c->o, client, name);
                if (status == STATUS_OK) {
                        talk(c->o, "Removed %s: %" PRIu64 " are kept.", name, c->o->schedule.keep);
                        n--;
                }
        }
        return status;
}

/* Whether this host is among those that record today; one that is not has done what was asked. */
static int look_at_sample(const Capture *c, bool *ret_is_in) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        int status = c->o->profile ? load_profile(&p, c->o) : STATUS_OK, r;
        uint64_t ppm;

        *ret_is_in = true;
        if (status != STATUS_OK)
                return status;
        ppm = member(&p, "sample_ppm", c->o->spec.sample_ppm);
        if (ppm == 0)
                return STATUS_OK;
        r = sample_has_us(ret_is_in, ppm);
        if (r < 0)
                return failed_errno(
                        r, "Sample=: which host this is cannot be told: /etc/machine-id: %m");
        if (!*ret_is_in)
                talk(c->o, "%s: this host is not among the %g%% that record today.", c->name,
                     (double) ppm / 10000);
        return STATUS_OK;
}

static int capture(Capture *c) {
        const SessionMeta *m;
        bool is_in;
        int status = look_at_sample(c, &is_in);

        if (status != STATUS_OK)
                return skip(c, status, "failed",
                            "it could not be told whether this host is in the sample");
        if (!is_in)
                return skip(c, STATUS_OK, "skipped", "this host is not in the sample today");

        if (c->o->schedule.max_per_day > 0 &&
            capture_log_count(&c->log, c->at_ns - MIN(c->at_ns, DAY_NS)) >=
                    c->o->schedule.max_per_day) {
                log_warning("Schedule '%s' has captured %" PRIu64 " times in 24 hours, as often as "
                            "--max-captures allows; nothing is recorded now.",
                            c->name, c->o->schedule.max_per_day);
                return skip(c, STATUS_REFUSED, "skipped",
                            "as many captures in 24 hours as --max-captures allows");
        }
        status = begin(c) ?: wait_for_end(c);
        m = c->meta;
        if (!m)
                return status;
        if (capture_log_set(&c->log, c->at_ns, m) >= 0)
                (void) save(c);
        if (status != STATUS_OK)
                return status;
        talk(c->o, "%s: %s, %s, %s.", m->name, session_state_name(m->state),
             FORMAT_BYTES(session_meta_n_bytes(m)), SUMMARY_LOSS(m));
        status = remove_old(c);
        if (status != STATUS_OK)
                return status;
        if (m->state == SESSION_FAILED)
                return STATUS_FAILED;
        if (m->limit != SESSION_LIMIT_NONE)
                return STATUS_REFUSED;
        return summary_is_complete(m) ? STATUS_OK : STATUS_INCOMPLETE;
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

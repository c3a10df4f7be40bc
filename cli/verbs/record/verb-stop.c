/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which sessions: those named, all that record, or, if nothing is said, the only one that does.  Who means
 * all means those as well that end by themselves at that moment, so these are told of, too.
 */

#include "base/io.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/record/recording.h"
#include "cli/source/retention.h"
#include "cli/source/source.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "meta/brief.h"
#include "retention/boot-clock.h"

#define JUST_ENDED_NS (60 * NSEC_PER_SEC) /* ago at most: whoever stops all may have meant it */
#define LOOK_AT_NEWEST 100
#define STOPPED_BY                                                                                 \
        "stopped by uid " /* begins the reason of who was stopped (daemon/api/methods.c) */

/* It has, or had, and not because somebody stopped it; it is no part of another one. */
static bool ended_by_itself(const SessionMeta *m) {
        return !session_state_is_live(m->state) && !m->origin && m->reason &&
               !startswith(m->reason, STOPPED_BY);
}

static bool has_just_ended(const json_t *session) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        char boot_id[BOOT_ID_CHARS + 1];
        const char *field;

        if (session_meta_from_json(&m, session, &field) != 0 || !ended_by_itself(m))
                return false;
        boot_id_read(boot_id);
        return m->boot_id && streq(m->boot_id, boot_id) && m->stop.boottime_ns > 0 &&
               now_ns(CLOCK_BOOTTIME) < m->stop.boottime_ns + JUST_ENDED_NS;
}

/* Of those that began last, the ones that have just ended by themselves; an exit status. */
static int list_ended(json_t *ret, const Options *o, Client *c) {
        json_auto_t *reply = NULL;
        json_t *session;
        size_t i;
        int status = contact_gather(c, o, "List", json_pack("{s:i}", "newest", LOOK_AT_NEWEST),
                                    "sessions", &reply);

        if (status != STATUS_OK)
                return status;
        json_array_foreach (json_object_get(reply, "sessions"), i, session)
                if (has_just_ended(session))
                        (void) json_array_append(ret, session);
        return STATUS_OK;
}

/* @ended: those that need no stop any more, and are to be told of. */
static int choose(Strv *ret, json_t *ended, const Options *o, Client *c) {
        int status;

        if (o->words.n > 0 && o->all)
                return failed(STATUS_USAGE, "name the sessions, or say --all, not both; see "
                                            "\"ftracectl stop --help\".");
        if (o->words.n > 0) {
                if (strv_copy(ret, &o->words) < 0)
                        return STATUS_FAILED;
                return STATUS_OK;
        }
        status = recording_list_live(ret, o, c);
        if (status == STATUS_OK && o->all)
                status = list_ended(ended, o, c);
        if (status != STATUS_OK)
                return status;
        if (ret->n == 0) {
                talk(o, "Nothing is being recorded.");
                return o->all ? STATUS_OK : STATUS_NOT_FOUND;
        }
        if (ret->n > 1 && !o->all) {
                _cleanup_free_ char *names = strv_join(ret, ", ");

                return failed(STATUS_USAGE,
                              "%zu sessions record: %s. Name those to stop, or say --all.", ret->n,
                              names ?: "");
        }
        return STATUS_OK;
}

static void describe_end(Buf *out, const SessionMeta *m) {
        _cleanup_buf_ Buf hooked = BUF_INIT;
        char loss[SUMMARY_MAX];

        buf_printf(out, "%s: %s, %s events, %s, %s.\n", m->name, session_state_name(m->state),
                   SUMMARY_EVENTS(m), FORMAT_BYTES(session_meta_total(m).n_bytes),
                   summary_loss(loss, m));
        if (silence_is_total(m))
                buf_printf(out, "%s: no calls: %s.\n", m->name, SUMMARY_SILENCE(m));
        summary_hooked(&hooked, m);
        if (hooked.n_data > 0)
                buf_printf(out, "%s: %.*s.\n", m->name, (int) hooked.n_data, hooked.data);
        if (m->state == SESSION_FAILED && m->reason)
                buf_printf(out, "%s: %s\n", m->name, m->reason);
}

static void describe_own_end(Buf *out, const SessionMeta *m) {
        describe_end(out, m);
        if (m->state != SESSION_FAILED)
                buf_printf(out, "%s: it had ended by itself: %s\n", m->name, m->reason ?: "?");
}

static void describe_just_ended(Buf *out, const json_t *sessions) {
        const json_t *session;
        size_t i;

        json_array_foreach (sessions, i, session) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                const char *field;

                if (session_meta_from_json(&m, session, &field) == 0)
                        describe_own_end(out, m);
        }
}

/* All are tried; the first failure is the exit status. */
static int stop_each(json_t *ended, Buf *out, const Options *o, Client *c, const Strv *names,
                     json_t **last_reply) {
        int status, result = STATUS_OK;

        for (size_t i = 0; i < names->n; i++) {
                json_auto_t *reply = NULL;
                _cleanup_(session_meta_freep) SessionMeta *meta = NULL;

                status = recording_call_stop(&reply, o, c, names->items[i], o->words.n == 0)
                                 ?: source_meta_from_reply(&meta, reply);
                if (status != STATUS_OK) {
                        result = result ?: status;
                        continue;
                }
                if (ended_by_itself(meta))
                        describe_own_end(out, meta);
                else
                        describe_end(out, meta);
                if (!summary_is_complete(meta))
                        result = result ?: STATUS_INCOMPLETE;
                (void) json_array_append(ended, json_object_get(reply, "session"));
                if (json_object_get(reply, "retention")) {
                        json_decref(*last_reply);
                        *last_reply = TAKE_PTR(reply);
                }
        }
        return result;
}

int verb_stop(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_strv_ Strv names = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *ended = json_array(), *last_reply = NULL;
        int status = source_check_names(&o->words) ?: contact_daemon(&c, o), result;

        if (status == STATUS_OK)
                status = choose(&names, ended, o, c);
        if (status != STATUS_OK)
                return status;
        describe_just_ended(&out, ended);
        result = stop_each(ended, &out, o, c, &names, &last_reply);
        retention_add_line(&out, last_reply, "");
        retention_mark(ended, last_reply);
        if (o->json != JSON_OFF)
                status = stdout_json(o, json_incref(ended));
        else
                status = o->quiet ? STATUS_OK : stdout_end(&out);
        return result ?: status;
}

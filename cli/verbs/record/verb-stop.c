/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Who stops all means those as well that end by themselves at that moment, so these are told of, too. */

#include "base/io.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/record/record.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/brief.h"
#include "retention/boot-clock.h"

#define JUST_ENDED_NS (60 * NSEC_PER_SEC) /* ago at most: whoever stops all may have meant it */
#define LOOK_AT_NEWEST 100
#define FEW_EVENTS 400 /* that one can read as they are drawn */
/* Begin the reasons of what a user has stopped (daemon/api/methods.c), and of what has not (session-trigger.c). */
#define STOPPED_BY "stopped by "
#define STOPPED_BY_TRIGGER "stopped by its trigger"

/* It has, or had, and not because somebody stopped it; it is no part of another one. */
static bool ended_by_itself(const SessionMeta *m) {
        return !session_state_is_live(m->state) && !m->origin && m->reason &&
               (!startswith(m->reason, STOPPED_BY) || startswith(m->reason, STOPPED_BY_TRIGGER));
}

/* The verb that fits what was recorded. */
static void talk_next(const Options *o, const SessionMeta *m) {
        uint64_t n = session_meta_total(m).read_events;

        if (silence_is_total(m) || m->state == SESSION_FAILED)
                talk(o, "Next: ftracectl show %s", m->name);
        else
                talk(o, "Next: ftracectl %s %s",
                     m->spec.slower_ns > 0 || m->spec.flat ? "hist"
                     : n < FEW_EVENTS                      ? "report"
                                                           : "why",
                     m->name);
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
        else if (ended_by_itself(m))
                buf_printf(out, "%s: it had ended by itself: %s\n", m->name, m->reason);
}

/* Of those that began last, the ones that have just ended by themselves; an exit status. */
static int add_ended(json_t *ended, Buf *out, Client *c) {
        char boot_id[BOOT_ID_CHARS + 1];
        json_auto_t *reply = NULL;
        json_t *session;
        size_t i;
        int status = contact_gather(c, "List", json_pack("{s:i}", "newest", LOOK_AT_NEWEST),
                                    "sessions", &reply);

        boot_id_read(boot_id);
        json_array_foreach (json_object_get(reply, "sessions"), i, session) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                const char *field;

                if (session_meta_from_json(&m, session, &field) != 0 || !ended_by_itself(m) ||
                    !streq_ptr(m->boot_id, boot_id) || m->stop.boottime_ns == 0 ||
                    now_ns(CLOCK_BOOTTIME) >= m->stop.boottime_ns + JUST_ENDED_NS)
                        continue;
                describe_end(out, m);
                (void) json_array_append(ended, session);
        }
        return status;
}

/* @ended: those that need no stop any more, and are told of. */
static int choose(Strv *ret, json_t *ended, Buf *out, const Options *o, Client *c) {
        _cleanup_free_ char *names = NULL;
        int status;

        if (o->words.n > 0 && o->all)
                return failed(STATUS_USAGE, "name the sessions, or say --all, not both; see "
                                            "\"ftracectl stop --help\".");
        if (o->words.n > 0)
                return strv_copy(ret, &o->words) < 0 ? STATUS_FAILED : STATUS_OK;
        status = recording_list_live(ret, c);
        if (status != STATUS_OK)
                return status;
        if (o->all)
                status = add_ended(ended, out, c); /* what records is stopped all the same */
        if (ret->n == 0 && status != STATUS_OK)
                return status;
        if (ret->n == 0) {
                talk(o, "Nothing is being recorded.");
                return o->all ? STATUS_OK : STATUS_NOT_FOUND;
        }
        if (ret->n == 1 || o->all)
                return STATUS_OK;
        names = strv_join(ret, ", ");
        return failed(STATUS_USAGE, "%zu sessions record: %s. Name those to stop, or say --all.",
                      ret->n, names ?: "");
}

/* All are tried; the first failure is the exit status. */
static int stop_each(json_t *ended, Buf *out, Client *c, const Strv *names, bool may_be_over,
                     json_t **last_reply) {
        int result = STATUS_OK;

        for (size_t i = 0; i < names->n; i++) {
                json_auto_t *reply = NULL;
                _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
                int status = recording_call_stop(&reply, c, names->items[i], may_be_over)
                                     ?: source_meta_from_reply(&meta, reply);

                if (status != STATUS_OK) {
                        result = result ?: status;
                        continue;
                }
                describe_end(out, meta);
                if (!summary_is_complete(meta))
                        result = result ?: STATUS_INCOMPLETE;
                (void) json_array_append(ended, json_object_get(reply, "session"));
                SWAP(*last_reply, reply);
        }
        return result;
}

int verb_stop(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_(session_meta_freep) SessionMeta *last = NULL;
        _cleanup_strv_ Strv names = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *ended = json_array(), *last_reply = NULL;
        int status = source_check_names(&o->words) ?: contact_daemon(&c, o), result;

        if (status == STATUS_OK)
                status = choose(&names, ended, &out, o, c);
        if (status != STATUS_OK)
                return status;
        result = stop_each(ended, &out, c, &names, o->words.n == 0, &last_reply);
        retention_add_line(&out, last_reply, "");
        put_back_add_line(&out, last_reply, "");
        retention_mark(ended, last_reply);
        terminal_fold(&out, 0, SIZE_MAX);
        if (o->json != JSON_OFF)
                status = stdout_json(o, json_incref(ended));
        else
                status = o->quiet ? STATUS_OK : stdout_end(&out);
        if (last_reply && status == STATUS_OK && o->json == JSON_OFF &&
            source_meta_from_reply(&last, last_reply) == STATUS_OK)
                talk_next(o, last);
        return result ?: status;
}

/* --- trigger, snapshot ------------------------------------------------------------------------ */

/* Two calls that take a session's name and answer with a session. */
static int ask(SessionMeta **ret, json_t **ret_reply, const Options *o, const char *method) {
        _cleanup_(client_freep) Client *c = NULL;
        const char *name = o->words.items[0];

        return source_check_name(name)
                       ?: contact_daemon(&c, o)
                       ?: contact_call_session(c, method, name, ret_reply)
                       ?: source_meta_from_reply(ret, *ret_reply);
}

int verb_trigger(const Options *o) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        json_auto_t *reply = NULL;
        int status = ask(&meta, &reply, o, "Trigger");

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(json_object_get(reply, "session")));
        talk(o, "%s: %s.", meta->name, session_state_name(meta->state));
        return STATUS_OK;
}

int verb_snapshot(const Options *o) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *reply = NULL;
        int status = ask(&meta, &reply, o, "Snapshot");
        bool is_unwritten;

        if (status != STATUS_OK)
                return status;
        is_unwritten = meta->pages_unsynced > 0;
        for (size_t i = 0; i < meta->gaps.n; i++)
                is_unwritten |= meta->gaps.items[i].cause == GAP_NOT_WRITTEN;
        if (is_unwritten) {
                log_warning("%s: %s.", meta->name, SUMMARY_LOSS(meta));
                status = STATUS_INCOMPLETE;
        }
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(json_object_get(reply, "session"))) ?: status;
        if (isatty(STDERR_FILENO))
                talk(o, "Kept %s, %s: ftracectl report %s",
                     FORMAT_BYTES(session_meta_total(meta).n_bytes),
                     FORMAT_DURATION(session_meta_length_ns(meta)), meta->name);
        buf_printf(&out, "%s\n", meta->name);
        return stdout_end(&out) ?: status;
}

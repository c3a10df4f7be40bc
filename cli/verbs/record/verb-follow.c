/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Watch keeps the daemon storing partly filled pages, which the drawing reads from the session's directory.  It
 * does not end before the session does, and a connection does one call at a time: a session of ours is ended over
 * a second one, or, if the daemon is private, by closing the only one, to which the session is attached.
 *
 * CPUs are read one after the other, so an event may be stored some hundred milliseconds after a later one of
 * another CPU: the drawing stays HOLD_BACK_NS behind.
 */

#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/files/files.h"
#include "cli/record/record.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"
#include "meta/clock.h"

#define PUMP_INTERVAL_MS 100
#define HOLD_BACK_NS (300 * NSEC_PER_MSEC)

typedef struct Follow {
        const Options *o;
        DrawingOptions options;
        Filtering filtering;
        Client *client;
        bool is_private;
        bool is_ours; /* the session was begun here */
        bool is_lost; /* the daemon does not answer any more */
        int signal_fd;
        Source *source;
        Drawing drawing;
        LiveTop *top; /* NULL: calls are drawn */
} Follow;

/* --- which session ---------------------------------------------------------------------------- */

/* Whether @name is a session that records. */
static bool is_live(Client *c, const char *name) {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        json_auto_t *reply = NULL;
        const char *field;

        return session_name_is_valid(name) &&
               client_call(c, "Describe", json_pack("{s:s}", "session", name), &reply, NULL,
                           &refusal) == 0 &&
               session_meta_from_json(&m, json_object_get(reply, "session"), &field) == 0 &&
               session_state_is_live(m->state);
}

/* Opens somebody's session; an exit status.  To read what only the kernel has would take it away, and a snapshot
 * would lack it. */
static int join(Follow *f, const char *name) {
        int status = source_open_client(&f->source, f->o, f->client, name);

        if (status != STATUS_OK)
                return status;
        if (f->source->meta->spec.in_kernel)
                return failed(
                        STATUS_REFUSED,
                        "session %s keeps its events in the kernel, where they cannot be "
                        "followed: \"ftracectl snapshot %s\" keeps and \"ftracectl report\" draws "
                        "what was recorded until now",
                        name, name);
        talk(f->o, "Watching session %s ... Ctrl-C to end; it goes on recording.", name);
        return STATUS_OK;
}

/* Finds or begins the session; an exit status. */
static int choose(Follow *f) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_strv_ Strv live = {};
        const Strv *words = &f->o->words;
        int status;

        if (words->n == 0 && !f->o->profile) {
                if (recording_list_live(&live, f->client) != STATUS_OK)
                        return STATUS_NOT_FOUND;
                if (live.n == 1)
                        return join(f, live.items[0]);
                return failed(STATUS_NOT_FOUND,
                              "%s; name a session, or functions to record: ftracectl follow "
                              "FUNCTION",
                              live.n == 0 ? "nothing is being recorded"
                                          : "several sessions record");
        }
        if (words->n == 1 && !f->is_private && !f->o->profile &&
            is_live(f->client, words->items[0]))
                return join(f, words->items[0]);
        status = recording_check(f->o, words)
                         ?: recording_start(&m, f->o, f->client, words, true, f->signal_fd);
        if (status != STATUS_OK)
                return status;
        f->is_ours = true;
        talk(f->o, "Tracing \"%s\" ... Ctrl-C to end.", SUMMARY_ROOTS(m, 80));
        return source_open_client(&f->source, f->o, f->client, m->name);
}

/* --- drawing it ------------------------------------------------------------------------------- */

/* Until the session ends, somebody wants us to, or nobody reads; 0, or what went wrong as an exit
 * status. */
static int watch(Follow *f, bool *ret_ended) {
        int r, status;

        *ret_ended = false;
        r = client_send(f->client, "Watch", json_pack("{s:s}", "session", f->source->meta->name),
                        true);
        if (r != 0)
                return contact_failure(f->client, r, NULL);
        for (;;) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;
                bool continues = true;
                uint64_t now_ns;

                r = client_receive(f->client, &reply, NULL, &continues, &refusal, f->signal_fd,
                                   PUMP_INTERVAL_MS);
                if ((r == CLIENT_E_INTERRUPTED && signals_want_end(f->signal_fd)) ||
                    (f->top && live_top_wants_end(f->top)))
                        return STATUS_OK;
                if (r != 0 && r != -ETIMEDOUT && r != CLIENT_E_INTERRUPTED) {
                        f->is_lost = true;
                        return contact_failure(f->client, r, &refusal);
                }
                if (trace_clock_estimate(f->source->meta->clock, &f->source->meta->start, &now_ns) <
                    0)
                        now_ns = 0; /* it cannot be told what is stored */
                r = drawing_pump(&f->drawing, now_ns - MIN(now_ns, HOLD_BACK_NS));
                if (r == 0 && f->top)
                        r = live_top_draw(f->top, &f->drawing.census, false);
                status = display_status(r, f->source->meta, NULL);
                if (status != STATUS_OK)
                        return status;
                if (!continues) {
                        *ret_ended = true;
                        return STATUS_OK;
                }
        }
}

/* Ends our session and waits until all is stored; f->client may be NULL afterwards. */
static int end(Follow *f) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(client_freep) Client *c = NULL;
        int status;

        if (f->is_private) {
                f->client = client_free(f->client);
                return STATUS_OK;
        }
        status = contact_daemon(&c, f->o) ?: recording_stop(&m, f->o, c, f->source->meta->name);
        client_free(f->client);
        f->client = TAKE_PTR(c);
        return status;
}

static int finish(Follow *f, bool has_ended, bool has_reader) {
        const Census *census = &f->drawing.census;
        _cleanup_strv_ Strv damage = {};
        const SessionMeta *m;
        int r, status;

        if (has_reader) {
                r = drawing_finish(&f->drawing, false, &damage);
                if (r == 0 && f->top)
                        r = live_top_draw(f->top, census, true);
                status = display_status(r, f->source->meta, NULL);
                has_reader = status == STATUS_OK;
                if (status != STATUS_OK && status != STATUS_PIPE)
                        return status;
        }
        status = source_refresh(f->source);
        if (status != STATUS_OK)
                return status;
        m = f->source->meta;
        if (!has_reader)
                return STATUS_PIPE;
        talk(f->o, "Ended%s%s: %s call%s, %s%s.", has_ended && m->reason ? ", " : "",
             has_ended && m->reason ? m->reason : "", FORMAT_COUNT(census->n_trees),
             census->n_trees == 1 ? "" : "s", SUMMARY_LOSS(m),
             f->is_ours ? "; the kernel is as it was" : "");
        warn_each(&damage);
        display_lacks(f->o, m);
        if (m->limit != SESSION_LIMIT_NONE)
                return STATUS_REFUSED;
        return damage.n == 0 && summary_is_complete(m) ? STATUS_OK : STATUS_INCOMPLETE;
}

/* It cannot be removed while it is read, by us as little as by others. */
static void remove_it(Follow *f) {
        _cleanup_free_ char *name = strdup(f->source->meta->name);

        drawing_done(&f->drawing);
        f->source = source_free(f->source);
        if (name && (f->client || contact_keeper(&f->client, f->o) == STATUS_OK))
                (void) contact_call_session(f->client, "Remove", name, NULL);
}

static int follow(Follow *f) {
        char *problem = NULL;
        bool has_ended = false, is_kept = f->o->keep || f->o->name;
        int r, status, ending = STATUS_OK;

        status = choose(f);
        if (status != STATUS_OK)
                return status;
        f->options.live = true;
        if (f->is_ours)
                filtering_forget_spec(&f->filtering);
        f->options.filtering = &f->filtering;
        if (f->top) {
                f->filtering.spec.keep_sched = true;
                f->options.listener = live_top_step;
                f->options.userdata = f->top;
        }
        r = drawing_open(&f->drawing, f->source->dir, f->source->meta, &f->options, STDOUT_FILENO,
                         &problem);
        status = display_status(r, f->source->meta, problem) ?: watch(f, &has_ended);
        if (f->is_lost)
                return status;
        if (f->is_ours)
                ending = end(f);
        else if (status == STATUS_OK && !has_ended) {
                talk(f->o, "Ended; %s goes on recording.", f->source->meta->name);
                return STATUS_OK;
        }
        if (ending == STATUS_OK && f->drawing.playback &&
            (status == STATUS_OK || status == STATUS_PIPE))
                status = finish(f, has_ended, status == STATUS_OK);
        if (f->is_ours && !is_kept && (f->client || f->is_private))
                remove_it(f);
        else if (f->is_ours)
                recording_talk_kept(f->o, f->source->meta);
        return status ?: ending;
}

int verb_follow(const Options *o) {
        Follow f = { .o = o, .signal_fd = -EBADF };
        int status = display_options(&f.options, o) ?: filtering_init(&f.filtering, o);

        if (status == STATUS_OK && f.filtering.spec.keep_limits)
                status = failed(STATUS_USAGE,
                                "--keep-slower: what most calls take is known only at the end; say "
                                "a time like 5ms, or report it afterwards.");
        if (status == STATUS_OK && (f.signal_fd = signals_open()) < 0)
                status = failed_errno(f.signal_fd, "Failed to wait for signals: %m");
        if (status == STATUS_OK)
                status = contact_recorder(&f.client, o,
                                          "No daemon is running: recording with a private one for "
                                          "this command.");
        if (status == STATUS_OK && o->dry_run)
                status = recording_check(o, &o->words) ?: recording_dry_run(o, f.client, &o->words);
        else if (status == STATUS_OK) {
                f.is_private = f.client->is_private;
                if (o->by || o->analysis.sort || o->analysis.columns || o->limit > 0 ||
                    o->analysis.corrected)
                        status = live_top_new(&f.top, o);
                status = status ?: follow(&f);
        }
        drawing_done(&f.drawing);
        live_top_free(f.top);
        filtering_done(&f.filtering);
        client_free(f.client);
        source_free(f.source);
        signals_close(&f.signal_fd);
        return status;
}

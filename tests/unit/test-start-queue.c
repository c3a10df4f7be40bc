/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The queue of starts.  Calls, sessions and the kernel below it are this file's: a thing that one session at a
 * time may have is named by the function that is to be recorded, and sessions_look() says whether it is free.
 */

#include <stdio.h>

#include "base/now.h"
#include "daemon/api/start-queue.h"
#include "daemon/process/journal.h"
#include "unit.h"

struct ServerCall {
        bool is_gone;
        unsigned n_refs, n_told, n_answers;
        char told[256], answer[256]; /* the last of each; an answer: "started", or why not */
        size_t ahead;
};

struct Session {
        SessionMeta *meta;
};

struct Sessions {
        Strv taken; /* functions */
        unsigned n_looks, n_starts;
        const char *holder;
        bool is_learning;
        bool arming_fails; /* the kernel has no room: only arming tells */
        uint64_t generation, gone_peer;
        ServerCall *armed_for;
        unsigned ends_at; /* the look after which everything has ended; the queue is told later */
        Session session;
};

/* --- what is below ---------------------------------------------------------------------------- */

void session_look_done(SessionLook *l) {
        (void) session_meta_free(l->meta);
        *l = (SessionLook){};
}

static int refuse_taken(const Sessions *s, const char *function, Refusal *refusal) {
        return refusal_set(refusal, REFUSAL_BUSY, NULL, "%s is recorded by %s", function,
                           s->holder ?: "another one");
}

int sessions_look(Sessions *s, SessionLook *ret, const SessionRequest *q, Refusal *refusal) {
        const char *function = q->spec->functions.items[0];

        bool is_taken = strv_contains(&s->taken, function);

        if (++s->n_looks == s->ends_at)
                strv_done(&s->taken);
        if (streq(function, "unknown"))
                return refusal_set(refusal, REFUSAL_FUNCTION_NOT_FOUND, NULL, "no function");
        if (streq(function, "broken"))
                return -EIO;
        if (is_taken)
                return refuse_taken(s, function, refusal);
        *ret = (SessionLook){ .outlook.is_learning = s->is_learning,
                              .generation = ++s->generation };
        ck_assert_int_eq(session_meta_new(&ret->meta), 0);
        ck_assert_int_eq(strv_add(&ret->meta->roots, function), 0);
        ret->meta->name = strdup(q->name);
        return 0;
}

int sessions_start(Sessions *s, Session **ret, const SessionRequest *q, SessionLook *look,
                   Refusal *refusal) {
        const char *function = q->spec->functions.items[0];

        s->n_starts++;
        ck_assert_uint_eq(look->generation, s->generation); /* what the last look found */
        ck_assert_str_eq(look->meta->roots.items[0], function);
        if (s->arming_fails)
                return refuse_taken(s, function, refusal);
        ck_assert_int_eq(strv_add(&s->taken, function), 0);
        (void) session_meta_free(s->session.meta);
        s->session.meta = TAKE_PTR(look->meta);
        if (s->armed_for)
                s->armed_for->is_gone = true;
        *ret = &s->session;
        return 0;
}

void sessions_peer_gone(Sessions *s, uint64_t peer) {
        s->gone_peer = peer;
}

const SessionMeta *session_meta(const Session *s) {
        return s->meta;
}

json_t *session_to_json(Session *s) {
        return json_pack("{s:s}", "name", s->meta->name);
}

int controller_outlook_tell(const ControllerOutlook *o, char **ret) {
        *ret = NULL;
        return 0;
}

void journal_tell(const JournalEntry *e, const char *format, ...) {
}

uid_t server_call_uid(const ServerCall *c) {
        return 1000;
}

pid_t server_call_pid(const ServerCall *c) {
        return 812;
}

bool server_call_wants_more(const ServerCall *c) {
        return true;
}

bool server_call_is_connected(const ServerCall *c) {
        return !c->is_gone;
}

ServerCall *server_call_ref(ServerCall *c) {
        c->n_refs++;
        return c;
}

ServerCall *server_call_unref(ServerCall *c) {
        c->n_refs--;
        return NULL;
}

int server_call_continue(ServerCall *c, json_t *parameters) {
        const json_t *waiting = json_object_get(parameters, "waiting");

        c->n_told++;
        (void) snprintf(c->told, sizeof(c->told), "%s",
                        json_string_value(json_object_get(waiting, "message")));
        c->ahead = (size_t) json_integer_value(json_object_get(waiting, "ahead"));
        json_decref(parameters);
        return 0;
}

int server_call_reply(ServerCall *c, json_t *parameters, const int *fds, size_t n_fds) {
        c->n_answers++;
        (void) snprintf(
                c->answer, sizeof(c->answer), "started %s",
                json_string_value(json_object_get(json_object_get(parameters, "session"), "name")));
        json_decref(parameters);
        return 0;
}

int server_call_refuse(ServerCall *c, const Refusal *refusal) {
        c->n_answers++;
        (void) snprintf(c->answer, sizeof(c->answer), "%s", refusal_message(refusal));
        return 0;
}

/* --- a queue ---------------------------------------------------------------------------------- */

/* Calls outlive the queue that holds them: they are declared before it. */
typedef struct World {
        sd_event *event;
        Sessions sessions;
        StartQueue *start_queue;
} World;

static void world_done(World *w) {
        w->start_queue = start_queue_free(w->start_queue);
        (void) sd_event_unref(w->event);
        strv_done(&w->sessions.taken);
        (void) session_meta_free(w->sessions.session.meta);
}
#define _cleanup_world_ _cleanup_(world_done)

static void world_init(World *w) {
        *w = (World){};
        ck_assert_int_ge(sd_event_new(&w->event), 0);
        ck_assert_int_eq(start_queue_new(&w->start_queue, w->event, NULL, &w->sessions), 0);
}

static void come(World *w, ServerCall *call, const char *name, const char *function,
                 uint64_t wait_ns) {
        _cleanup_spec_ Spec spec = {};
        SessionRequest q = { .name = name, .spec = &spec, .peer = 7 };

        ck_assert_int_eq(strv_add(&spec.functions, function), 0);
        ck_assert_int_eq(start_queue_begin(w->start_queue, call, &q, wait_ns), 0);
}

/* Lets everybody have his turn. */
static void run(World *w) {
        for (unsigned i = 0; i < 20; i++)
                ck_assert_int_ge(sd_event_run(w->event, 1000), 0);
}

static void end(World *w, const char *function) {
        Strv *taken = &w->sessions.taken;
        _cleanup_strv_ Strv left = {};

        for (size_t i = 0; i < taken->n; i++)
                if (!streq(taken->items[i], function))
                        ck_assert_int_eq(strv_add(&left, taken->items[i]), 0);
        strv_done(taken);
        *taken = TAKE(left, (Strv){});
        start_queue_wake(w->start_queue);
        run(w);
}

START_TEST(a_start_looks_once_and_goes_on_with_what_it_found)
        {
                ServerCall a = {};
                _cleanup_world_ World w;

                world_init(&w);
                come(&w, &a, "a", "f", 0);
                run(&w);
                ck_assert_str_eq(a.answer, "started a");
                ck_assert_uint_eq(w.sessions.n_looks, 1);
                ck_assert_uint_eq(w.sessions.n_starts, 1);
                ck_assert_uint_eq(a.n_told, 0);
                ck_assert_uint_eq(a.n_refs, 0);
                ck_assert_uint_eq(start_queue_n(w.start_queue), 0);
        }
END_TEST

START_TEST(who_does_not_wait_is_refused_in_the_words_of_the_look)
        {
                ServerCall a = {}, b = {}, c = {};
                _cleanup_world_ World w;

                world_init(&w);
                ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
                come(&w, &a, "a", "f", 0);
                come(&w, &b, "b", "unknown", START_QUEUE_FOR_EVER);
                come(&w, &c, "c", "broken", START_QUEUE_FOR_EVER);
                run(&w);
                ck_assert_str_eq(a.answer, "f is recorded by another one");
                ck_assert_str_eq(b.answer, "no function");
                ck_assert_str_eq(c.answer, "starting failed: Input/output error");
                ck_assert_uint_eq(w.sessions.n_starts, 0);
                ck_assert_uint_eq(start_queue_n(w.start_queue), 0);
        }
END_TEST

START_TEST(who_waits_is_told_what_for_and_looks_again_when_something_ends)
        {
                ServerCall a = {};
                _cleanup_world_ World w;

                world_init(&w);
                ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
                come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
                run(&w);
                ck_assert_uint_eq(a.n_answers, 0);
                ck_assert_uint_eq(a.n_told, 1);
                ck_assert_str_eq(a.told, "f is recorded by another one");
                end(&w, "g");
                ck_assert_uint_ge(w.sessions.n_looks, 2);
                ck_assert_uint_eq(a.n_told, 1); /* it is no news */
                w.sessions.holder = "somebody";
                end(&w, "g");
                ck_assert_uint_eq(a.n_told, 2);
                ck_assert_str_eq(a.told, "f is recorded by somebody");
                ck_assert_uint_eq(w.sessions.n_starts, 0);
                end(&w, "f");
                ck_assert_str_eq(a.answer, "started a");
                ck_assert_uint_eq(w.sessions.n_starts, 1);
        }
END_TEST

START_TEST(who_came_first_begins_first)
        {
                ServerCall a = {}, b = {};
                _cleanup_world_ World w;

                world_init(&w);
                ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
                come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
                come(&w, &b, "b", "f", START_QUEUE_FOR_EVER);
                run(&w);
                ck_assert_uint_eq(a.ahead, 0);
                ck_assert_uint_eq(b.ahead, 1);
                end(&w, "f");
                ck_assert_str_eq(a.answer, "started a");
                ck_assert_uint_eq(b.n_answers, 0);
                ck_assert_uint_eq(b.ahead, 0);
                end(&w, "f");
                ck_assert_str_eq(b.answer, "started b");
        }
END_TEST

/* With look number @look of a walk: that of the first, of the second, or of a third. */
static void end_while_others_look(unsigned look, const char *function_of_third) {
        ServerCall a = {}, b = {}, c = {};
        _cleanup_world_ World w;

        world_init(&w);
        ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
        come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
        come(&w, &b, "b", "f", START_QUEUE_FOR_EVER);
        run(&w);
        w.sessions.ends_at = w.sessions.n_looks + look;
        come(&w, &c, "c", function_of_third, START_QUEUE_FOR_EVER);
        run(&w);
        start_queue_wake(w.start_queue);
        run(&w);
        ck_assert_uint_gt(w.sessions.n_looks, w.sessions.ends_at);
        ck_assert_str_eq(a.answer, "started a");
        ck_assert_uint_eq(b.n_answers, 0);
        ck_assert_uint_eq(b.ahead, 0);
        if (streq(function_of_third, "f"))
                ck_assert_uint_eq(c.ahead, 1);
        else
                ck_assert_str_eq(c.answer, "started c");
}

START_TEST(who_came_first_begins_first_whoever_looks_when_something_ends)
        {
                for (unsigned look = 1; look <= 3; look++) {
                        end_while_others_look(look, "f");
                        end_while_others_look(look, "g");
                }
        }
END_TEST

START_TEST(who_can_begin_is_not_held_up_by_who_cannot)
        {
                ServerCall a = {}, b = {};
                _cleanup_world_ World w;

                world_init(&w);
                ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
                come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
                come(&w, &b, "b", "g", 0);
                run(&w);
                ck_assert_uint_eq(a.n_answers, 0);
                ck_assert_str_eq(b.answer, "started b");
        }
END_TEST

START_TEST(who_has_waited_long_enough_is_refused)
        {
                ServerCall a = {};
                _cleanup_world_ World w;

                world_init(&w);
                ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
                come(&w, &a, "a", "f", NSEC_PER_MSEC);
                while (a.n_answers == 0)
                        run(&w);
                ck_assert_ptr_nonnull(startswith(a.answer, "waited "));
                ck_assert_ptr_nonnull(strstr(a.answer, " in vain: f is recorded by another one"));
                ck_assert_uint_eq(w.sessions.n_starts, 0);
        }
END_TEST

START_TEST(what_only_arming_tells_is_not_tried_again_at_once)
        {
                ServerCall a = {};
                _cleanup_world_ World w;
                unsigned n_looks;

                world_init(&w);
                w.sessions.arming_fails = true;
                come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
                run(&w);
                ck_assert_uint_eq(w.sessions.n_starts, 1);
                ck_assert_uint_eq(a.n_told, 1);
                n_looks = w.sessions.n_looks;
                end(&w, "g");
                ck_assert_uint_eq(w.sessions.n_starts, 1);
                ck_assert_uint_eq(w.sessions.n_looks, n_looks);
                ck_assert_uint_eq(a.n_answers, 0);
        }
END_TEST

/* None of them may start, whoever looks again. */
START_TEST(turns_end_while_several_wait_for_learning_passes)
        {
                ServerCall a = {}, b = {}, c = {};
                _cleanup_world_ World w;

                world_init(&w);
                w.sessions.is_learning = true;
                come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
                come(&w, &b, "b", "g", START_QUEUE_FOR_EVER);
                come(&w, &c, "c", "h", START_QUEUE_FOR_EVER);
                for (unsigned i = 0; i < 8; i++)
                        ck_assert_int_ge(sd_event_run(w.event, 0), 0);
                ck_assert_uint_le(w.sessions.n_looks, 6);
                w.sessions.is_learning = false;
                end(&w, "x");
                ck_assert_str_eq(a.answer, "started a");
                ck_assert_str_eq(b.answer, "started b");
                ck_assert_str_eq(c.answer, "started c");
        }
END_TEST

START_TEST(a_learning_pass_is_waited_for_and_nothing_is_begun_meanwhile)
        {
                ServerCall a = {};
                _cleanup_world_ World w;

                world_init(&w);
                w.sessions.is_learning = true;
                come(&w, &a, "a", "f", 0);
                run(&w);
                ck_assert_uint_eq(a.n_answers, 0);
                ck_assert_uint_eq(w.sessions.n_starts, 0);
                while (a.n_told == 0)
                        run(&w);
                ck_assert_str_eq(a.told,
                                 "what f calls is being learned, so that nothing else is hooked");
                w.sessions.is_learning = false;
                end(&w, "g");
                ck_assert_str_eq(a.answer, "started a");
        }
END_TEST

START_TEST(who_has_gone_is_not_started)
        {
                ServerCall a = {}, b = {};
                _cleanup_world_ World w;

                world_init(&w);
                ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
                come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
                come(&w, &b, "b", "f", START_QUEUE_FOR_EVER);
                run(&w);
                a.is_gone = true;
                start_queue_drop_gone(w.start_queue);
                ck_assert_uint_eq(start_queue_n(w.start_queue), 1);
                ck_assert_uint_eq(a.n_refs, 0);
                b.is_gone = true;
                end(&w, "f");
                ck_assert_uint_eq(w.sessions.n_starts, 0);
                ck_assert_uint_eq(start_queue_n(w.start_queue), 0);
                ck_assert_uint_eq(b.n_refs, 0);
        }
END_TEST

START_TEST(a_session_ends_with_a_client_that_left_while_it_was_armed)
        {
                ServerCall a = {};
                _cleanup_world_ World w;

                world_init(&w);
                w.sessions.armed_for = &a;
                come(&w, &a, "a", "f", 0);
                run(&w);
                ck_assert_uint_eq(w.sessions.n_starts, 1);
                ck_assert_uint_eq(w.sessions.gone_peer, 7);
                ck_assert_uint_eq(a.n_answers, 0);
        }
END_TEST

START_TEST(a_daemon_that_goes_refuses_all_who_wait)
        {
                ServerCall a = {}, b = {};
                _cleanup_world_ World w;

                world_init(&w);
                ck_assert_int_eq(strv_add(&w.sessions.taken, "f"), 0);
                come(&w, &a, "a", "f", START_QUEUE_FOR_EVER);
                come(&w, &b, "b", "f", START_QUEUE_FOR_EVER);
                run(&w);
                start_queue_end(w.start_queue);
                ck_assert_str_eq(a.answer, "the daemon was stopped while this waited to begin");
                ck_assert_uint_eq(b.n_answers, 1);
                ck_assert_uint_eq(start_queue_n(w.start_queue), 0);
        }
END_TEST

UNIT_SUITE("start-queue", a_start_looks_once_and_goes_on_with_what_it_found,
           who_does_not_wait_is_refused_in_the_words_of_the_look,
           who_waits_is_told_what_for_and_looks_again_when_something_ends,
           who_came_first_begins_first,
           who_came_first_begins_first_whoever_looks_when_something_ends,
           who_can_begin_is_not_held_up_by_who_cannot, who_has_waited_long_enough_is_refused,
           what_only_arming_tells_is_not_tried_again_at_once,
           turns_end_while_several_wait_for_learning_passes,
           a_learning_pass_is_waited_for_and_nothing_is_begun_meanwhile,
           who_has_gone_is_not_started, a_session_ends_with_a_client_that_left_while_it_was_armed,
           a_daemon_that_goes_refuses_all_who_wait)

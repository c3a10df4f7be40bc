/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The daemon has the last word on what may be recorded; names are checked here too because not every argument can
 * be a JSON string at all.  While something is in use, Start is refused, and asked again each second as long as
 * --wait says; what is waited for is said when it is news. */

#include <poll.h>
#include <signal.h>

#include "base/io.h"
#include "base/unit.h"
#include "cli/record/record.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

#define AGAIN_MS 1000 /* between two looks at the clock, and two calls of Start */

/* --- --lean=SOURCE: what was seen, to hook that ----------------------------------------------- */

/* A recording of another host serves as well, or what another tracer made: names count, and those that the kernel
 * of the daemon does not have are left out.  What lean left out of the recording was called, too. */
static int add_seen(Strv *ret, const Options *o, Client *c) {
        _cleanup_function_list_ FunctionList list = {};
        _cleanup_reading_ Reading reading = {};
        _cleanup_strv_ Strv names = {}, present = {};
        Options whole = *o; /* what is to be recorded is no filter of what was */
        size_t n_before = ret->n;
        int status, r = 0;

        whole.spec = SPEC_INIT;
        status = reading_open(&reading, &whole, o->lean_source, READING_FOR_DRAWING)
                         ?: reading_names(&names, NULL, &reading);
        if (status == STATUS_OK && reading_meta(&reading) &&
            strv_extend(&names, &reading_meta(&reading)->left_out) < 0)
                return out_of_memory();
        status = status ?: function_list_get(&list, c);
        if (status != STATUS_OK)
                return status;
        for (size_t i = 0; r >= 0 && i < list.n; i++)
                r = strv_add(&present, list.items[i].name);
        strv_sort_unique(&present);
        strv_sort_unique(&names);
        if (r < 0 || strv_pick(ret, &names, &present, true) < 0)
                return out_of_memory();
        return ret->n > n_before
                       ? STATUS_OK
                       : failed(STATUS_NOT_FOUND,
                                "--lean: no function that was seen in %s is in this kernel.",
                                o->lean_source);
}

/* --- what is asked for ------------------------------------------------------------------------ */

static int check_words(const Strv *words) {
        _cleanup_strv_ Strv read = {};

        return selection_read(&read, words);
}

int recording_check(const Options *o, const Strv *functions) {
        int status;

        if (functions->n == 0 && !o->profile)
                return failed(STATUS_USAGE,
                              "\"%s\" needs a function, or --profile; see \"ftracectl %s --help\".",
                              o->verb, o->verb);
        status = check_words(functions)
                    ?: check_words(&o->spec.notrace)
                    ?: check_words(&o->spec.hooked);
        return status == STATUS_OK && o->name ? source_check_name(o->name) : status;
}

/* What the words stand for, said to the user before anything is armed; an exit status. */
static int select_functions(Spec *spec, const Options *o, Client *c, const Strv *functions) {
        const struct {
                const char *option;
                const Strv *words;
                Strv *names;
                size_t max; /* what is written of a list ends there (meta/spec.h) */
        } lists[] = {
                { "", functions, &spec->functions, SPEC_MAX_ROOTS },
                { "--notrace: ", &o->spec.notrace, &spec->notrace, SPEC_MAX_ROOTS },
                { "--only: ", &o->spec.hooked, &spec->hooked, SPEC_MAX_HOOKED },
        };
        _cleanup_function_list_ FunctionList list = {};
        int status = STATUS_OK;

        for (size_t i = 0; status == STATUS_OK && i < ELEMENTSOF(lists); i++) {
                _cleanup_strv_ Strv words = {};

                strv_done(lists[i].names);
                *lists[i].names = (Strv){};
                status = selection_read(&words, lists[i].words)
                                 ?: selection_expand(lists[i].names, o, c, lists[i].option, &words,
                                                     &list);
                if (status == STATUS_OK && lists[i].names->n > lists[i].max)
                        return failed(STATUS_REFUSED,
                                      "%s%zu names are too many: a list takes %zu. Name fewer "
                                      "functions, or globs (udp_*).",
                                      lists[i].option, lists[i].names->n, lists[i].max);
        }
        return status;
}

/* The parameters of Start and DryRun, with functions for what stands for them; an exit status. */
static int describe(json_t **ret, const Options *o, Client *c, const Strv *functions) {
        _cleanup_spec_ Spec spec = {};
        json_int_t limit = json_integer_value(json_object_get(o->settings, "max_functions"))
                                   ?: SPEC_DEFAULT_MAX_FUNCTIONS;
        int status;

        if (spec_copy(&spec, &o->spec) < 0)
                return out_of_memory();
        status = select_functions(&spec, o, c, functions);
        if (status != STATUS_OK)
                return status;
        if (spec.functions.n > (uint64_t) limit && !o->profile)
                return failed(STATUS_REFUSED, /* or the daemon would have to be sent them all */
                              "%zu functions are named; at most %lld can be roots. Name fewer, or "
                              "raise --set=MaxFunctions=.",
                              spec.functions.n, (long long) limit);
        status = o->lean_source ? add_seen(&spec.hooked, o, c) : STATUS_OK;
        if (status != STATUS_OK)
                return status;
        /* Somebody looks on, and wants to see everything for as long as that takes. */
        if ((streq(o->verb, "run") || streq(o->verb, "follow")) && !o->profile &&
            !json_object_get(o->settings, "lesson"))
                spec.lesson = LESSON_WHOLE;
        *ret = json_pack("{s:o, s:s*, s:s*}", "spec", options_spec_to_json(o, &spec), "name",
                         o->name, "profile", o->profile);
        if (!*ret || (o->force && json_object_set_new(*ret, "force", json_true()) < 0))
                return out_of_memory();
        return STATUS_OK;
}

/* --- beginning -------------------------------------------------------------------------------- */

/* Since when a start waits, how long it may, and what for. */
typedef struct Wait {
        uint64_t since_ns, wait_ns;
        bool is_asked; /* the profile, for wait_ns */
        char *told;    /* what was said last */
} Wait;

static void wait_done(Wait *w) {
        free(w->told);
}

static uint64_t waited_ns(const Wait *w) {
        return now_ns(CLOCK_MONOTONIC) - w->since_ns;
}

static int interrupted(void) {
        return failed(128 + SIGINT, "interrupted before anything was recorded.");
}

/* One call; an exit status, and with another one than STATUS_OK perhaps a @refusal that nobody was told. */
static int ask_once(json_t **ret, const Options *o, Client *c, json_t *parameters, int wake_fd,
                    Refusal *refusal) {
        _cleanup_progress_ Progress bar;
        bool continues = false;
        int r = client_send(c, "Start", json_incref(parameters), true);

        progress_begin(&bar, o, "Starting");
        while (r == 0 || r == CLIENT_E_INTERRUPTED) {
                json_auto_t *reply = NULL;

                r = client_receive(c, &reply, NULL, &continues, refusal, wake_fd, -1);
                if (r == CLIENT_E_INTERRUPTED && !signals_want_end(wake_fd))
                        continue;
                if (r != 0 || !continues)
                        progress_end(&bar);
                if (r == CLIENT_E_INTERRUPTED)
                        return interrupted();
                else if (r == 0 && continues) {
                        const json_t *progress = json_object_get(reply, "progress");

                        progress_write(&bar, json_number(progress, "done"),
                                       json_number(progress, "total"));
                } else if (r == 0) {
                        *ret = TAKE_PTR(reply);
                        return STATUS_OK;
                }
        }
        if (r == CLIENT_E_REFUSED)
                return refusal_exit_status(refusal->kind);
        return contact_failure(c, r, NULL);
}

/* Whether what was refused is asked again. */
static bool may_wait(const Options *o, Client *c, Wait *w, const Refusal *refusal) {
        json_auto_t *reply = NULL;

        if (refusal->kind != REFUSAL_BUSY)
                return false;
        /* The profile's Wait=, unless --wait says something else. */
        if (!TAKE(w->is_asked, true)) {
                w->wait_ns = o->wait_ns;
                if (o->wait_ns == 0 && o->profile &&
                    client_call(c, "GetProfile", json_pack("{s:s}", "profile", o->profile), &reply,
                                NULL, NULL) == 0)
                        w->wait_ns = json_number(json_object_get(reply, "profile"), "wait_ns");
        }
        return waited_ns(w) < w->wait_ns;
}

/* Calls Start, again and again if something is in use.  An exit status. */
static int call_start(json_t **ret, const Options *o, Client *c, json_t *parameters, int wake_fd) {
        _cleanup_(wait_done) Wait w = { .since_ns = now_ns(CLOCK_MONOTONIC) };

        for (;;) {
                struct pollfd poll_fd = { .fd = wake_fd, .events = POLLIN };
                uint64_t waited, left_ms;
                _cleanup_refusal_ Refusal refusal = {};
                int status = ask_once(ret, o, c, parameters, wake_fd, &refusal);

                if (status == STATUS_OK || !refusal.parameters)
                        return status;
                if (!may_wait(o, c, &w, &refusal)) {
                        if (refusal.kind == REFUSAL_BUSY && w.wait_ns > 0)
                                return failed(status, "gave up after waiting for %s: %s",
                                              FORMAT_DURATION(waited_ns(&w)),
                                              refusal_message(&refusal));
                        return failed(status, "%s", refusal_message(&refusal));
                }
                if (!streq_ptr(w.told, refusal_message(&refusal)))
                        talk(o, "Waiting: %s", refusal_message(&refusal));
                (void) text_replace(&w.told, refusal_message(&refusal));
                waited = waited_ns(&w);
                left_ms = AGAIN_MS;
                if (w.wait_ns > waited)
                        left_ms = MIN((w.wait_ns - waited) / NSEC_PER_MSEC + 1, left_ms);
                if (poll(&poll_fd, 1, (int) left_ms) > 0 && signals_want_end(wake_fd))
                        return interrupted();
        }
}

int recording_start(SessionMeta **ret, const Options *o, Client *c, const Strv *functions,
                    bool attach, int wake_fd) {
        json_auto_t *reply = NULL, *parameters = NULL;
        int status = describe(&parameters, o, c, functions);

        if (status == STATUS_OK &&
            json_object_set_new(parameters, "attach", json_boolean(attach)) < 0)
                return out_of_memory();
        status = status
                         ?: call_start(&reply, o, c, parameters, wake_fd)
                         ?: source_meta_from_reply(ret, reply);
        if (status != STATUS_OK)
                return status;
        if ((*ret)->tree_from == TREE_ALL && (*ret)->spec.lesson == LESSON_WHOLE)
                talk(o, "Note: every function of the kernel is hooked meanwhile, which slows other "
                        "work down: what these call is not known yet, and is learned from it.");
        retention_talk(o, reply);
        for (size_t i = 0; i < (*ret)->warnings.n; i++)
                talk(o, "Note: %s", (*ret)->warnings.items[i]);
        return STATUS_OK;
}

int recording_dry_run(const Options *o, Client *c, const Strv *functions) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *reply = NULL;
        json_t *parameters;
        int status = describe(&parameters, o, c, functions)
                             ?: contact_call(c, "DryRun", parameters, &reply, NULL);

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF) {
                (void) json_object_del(reply, "script");
                return stdout_json(o, json_incref(reply));
        }
        buf_adds(&out, json_text(reply, "script"));
        return stdout_end(&out);
}

/* --- ending ----------------------------------------------------------------------------------- */

int recording_list_live(Strv *ret, Client *c) {
        json_auto_t *reply = NULL;
        json_t *session;
        size_t i;
        int status = contact_call(c, "GetStatus", json_pack("{s:b}", "brief", 1), &reply, NULL);

        json_array_foreach (json_object_get(reply, "sessions"), i, session) {
                const char *name = json_text(session, "name");
                int state = session_state_from_name(json_text(session, "state"));

                if (*name && state >= 0 && session_state_is_live((SessionState) state) &&
                    strv_add(ret, name) < 0)
                        return out_of_memory();
        }
        return status;
}

int recording_call_stop(json_t **ret, Client *c, const char *name, bool may_be_over) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = client_call(c, "Stop", json_pack("{s:s}", "session", name), ret, NULL, &refusal);

        if (r == CLIENT_E_REFUSED && refusal.kind == REFUSAL_SESSION_STATE && may_be_over)
                return contact_call_session(c, "Describe", name, ret);
        return r == 0 ? STATUS_OK : contact_failure(c, r, &refusal);
}

int recording_stop(SessionMeta **ret, const Options *o, Client *c, const char *name) {
        json_auto_t *reply = NULL;
        int status = recording_call_stop(&reply, c, name, true);

        if (status != STATUS_OK)
                return status;
        retention_talk(o, reply);
        return source_meta_from_reply(ret, reply);
}

void recording_talk_kept(const Options *o, const SessionMeta *m) {
        talk(o, "Kept as %s (%s): ftracectl report %s%s%s", m->name,
             FORMAT_BYTES(session_meta_total(m).n_bytes), m->name, o->store ? " --store " : "",
             o->store ?: "");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What recordings saw below their roots becomes what lean hooks for these.  They are read here, as the user, and
 * the daemon is told names.
 */

#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/status.h"
#include "cli/options/verb.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"
#include "cli/views/lesson.h"

#define SHOWN_ROOTS 3         /* by name */
#define MAX_WITH_CALLERS 8192 /* functions: of more, names alone fit into a call */

static json_t *strv_to_json(const Strv *v, bool first_words) {
        json_t *list = json_array();

        for (size_t i = 0; i < v->n; i++) {
                size_t n = first_words ? strcspn(v->items[i], " ") : strlen(v->items[i]);

                if (json_array_append_new(list, json_stringn(v->items[i], n)) < 0) {
                        json_decref(list);
                        return NULL;
                }
        }
        return list;
}

/* "udp_sendmsg, udpv6_sendmsg": of a list of them. */
static void add_names(Buf *out, const json_t *names) {
        size_t n = json_array_size(names), n_shown = n > SHOWN_ROOTS ? 1 : n;

        for (size_t i = 0; i < n_shown; i++) {
                buf_printf(out, "%s%s", i > 0 ? ", " : "",
                           NAME_QUOTED(json_string_value(json_array_get(names, i)) ?: ""));
        }
        if (n > n_shown)
                buf_printf(out, " and %zu others", n - n_shown);
}

static uint64_t number(const json_t *reply, const char *name) {
        return (uint64_t) json_integer_value(json_object_get(reply, name));
}

/* Whether it can be learned from: an exit status. */
static int check_source(const SessionMeta *m, const char *word) {
        const char *problem = m ? lesson_problem(m) : NULL;

        if (!problem)
                return STATUS_OK;
        return failed(STATUS_REFUSED,
                      "\"%s\" does not tell all that its functions call: %s; what is missing would "
                      "not be hooked.",
                      NAME_QUOTED(word), problem);
}

static int check_lesson(const Lesson *l, const SessionMeta *m, const char *word) {
        char quoted[NAME_QUOTE_MAX];

        name_quote(quoted, word);
        if (l->n_calls == 0)
                return failed(STATUS_NOT_FOUND, "there are no calls in \"%s\" to learn from.",
                              quoted);
        if (!l->has_more)
                return failed(STATUS_REFUSED,
                              "\"%s\" has calls of %s%s, and nothing that is called: it may not "
                              "have been hooked.",
                              quoted, l->roots.items[0], l->roots.n > 1 ? " and others" : "");
        if (l->roots.n > SPEC_DEFAULT_MAX_FUNCTIONS && (!m || m->roots.n == 0))
                return failed(STATUS_REFUSED,
                              "\"%s\" does not say whose calls were asked for, and %zu functions "
                              "are called by nobody: name those that will be recorded with --root.",
                              quoted, l->roots.n);
        return STATUS_OK;
}

/* What a person likes to know, beside the result. */
static void remark(const Options *o, const Lesson *l, const json_t *reply, bool lacks_ordinary) {
        const json_t *missing = json_object_get(reply, "missing");
        uint64_t n = number(reply, "functions"), known = number(reply, "known_functions"),
                 calls = number(reply, "known_calls"), needed = number(reply, "needed_calls");

        if (json_array_size(missing) > 0) {
                _cleanup_buf_ Buf names = BUF_INIT;

                add_names(&names, missing);
                buf_add(&names, "", 1);
                if (names.error >= 0)
                        talk(o, "Not to be traced here, so that nothing is learned of it: %s.",
                             names.data);
        }
        if (n < l->functions.n)
                talk(o, "%s functions are not here: their modules may not be loaded.",
                     FORMAT_COUNT(l->functions.n - n));
        if (lacks_ordinary)
                talk(o,
                     "What ordinary work calls may not have been hooked then: --lean=full learns "
                     "it first.");
        if (known != n || calls != l->n_calls)
                talk(o, "%s functions from %s calls are known now.", FORMAT_COUNT(known),
                     FORMAT_COUNT(calls));
        if (calls < needed)
                talk(o, "Lean goes by it from %s calls on.", FORMAT_COUNT(needed));
}

static void print(Buf *out, const json_t *reply, const Lesson *l, const char *word) {
        add_names(out, json_object_get(reply, "roots"));
        buf_printf(out, ": %s functions from %s calls of %s\n",
                   FORMAT_COUNT(number(reply, "functions")), FORMAT_COUNT(l->n_calls),
                   NAME_QUOTED(word));
}

static int add_row(json_t *rows, const json_t *reply, const Lesson *l, const char *word,
                   bool lacks_ordinary) {
        return json_array_append_new(
                rows,
                json_pack("{s:o, s:O, s:O, s:I, s:I, s:I, s:b, s:I, s:I, s:b}", "source",
                          terminal_json_string(word), "roots", json_object_get(reply, "roots"),
                          "missing", json_object_get(reply, "missing"), "functions",
                          (json_int_t) number(reply, "functions"), "unknown_functions",
                          (json_int_t) l->functions.n - (json_int_t) number(reply, "functions"),
                          "calls", (json_int_t) l->n_calls, "lacks_ordinary", lacks_ordinary,
                          "known_functions", (json_int_t) number(reply, "known_functions"),
                          "known_calls", (json_int_t) number(reply, "known_calls"), "suffices",
                          number(reply, "known_calls") >= number(reply, "needed_calls")));
}

/* Tells the daemon.  An exit status. */
static int send(const Options *o, Client *c, const Lesson *l, const SessionMeta *m,
                bool lacks_ordinary, json_t **ret) {
        const char *kernel = m && m->kernel && *m->kernel ? m->kernel : NULL;
        json_t *parameters = json_pack(
                "{s:o, s:o, s:I, s:b, s:s*, s:b}", "roots", strv_to_json(&l->roots, false),
                "functions", strv_to_json(&l->functions, l->functions.n > MAX_WITH_CALLERS),
                "calls", (json_int_t) MIN(l->n_calls, (uint64_t) INT64_MAX), "lacks_ordinary",
                lacks_ordinary, "kernel", kernel, "force", o->force);

        if (!parameters)
                return failed_errno(-ENOMEM, "Failed to tell the daemon: %m");
        return contact_call(c, o, "Learn", parameters, ret, NULL);
}

static int learn(const Options *o, Client *c, const char *word, Buf *out, json_t *rows) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_lesson_ Lesson lesson = {};
        json_auto_t *reply = NULL;
        const SessionMeta *m;
        bool lacks_ordinary;
        int r = counting_init(&counting, false), status, end;

        if (r < 0)
                return counting_failure(r);
        lesson_init(&lesson, counting.pairing);
        status = counting_open(&counting, o, word);
        if (status != STATUS_OK)
                return status;
        m = reading_meta(&counting.reading);
        status = check_source(m, word) ?: counting_run(&counting, o);
        if (status != STATUS_OK)
                return status;
        end = reading_finish(&counting.reading, o);
        if (end != STATUS_OK && end != STATUS_INCOMPLETE)
                return end;
        r = lesson_end(&lesson, m, &o->filter.roots);
        if (r < 0)
                return counting_failure(r);
        lacks_ordinary = m && lesson_lacks_ordinary(m);
        status = check_lesson(&lesson, m, word) ?: send(o, c, &lesson, m, lacks_ordinary, &reply);
        if (status != STATUS_OK)
                return status;
        if (rows && add_row(rows, reply, &lesson, word, lacks_ordinary) < 0)
                return failed_errno(-ENOMEM, "Failed to tell what was learned: %m");
        if (!rows)
                print(out, reply, &lesson, word);
        remark(o, &lesson, reply, lacks_ordinary);
        return end;
}

int verb_learn(const Options *o) {
        json_auto_t *rows = o->json != JSON_OFF ? json_array() : NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_(client_freep) Client *c = NULL;
        int status = contact_daemon(&c, o), worst = STATUS_OK;

        if (status != STATUS_OK)
                return status;
        for (size_t i = 0; i < o->words.n; i++) {
                status = learn(o, c, o->words.items[i], &out, rows);
                if (worst == STATUS_OK || worst == STATUS_INCOMPLETE)
                        worst = status != STATUS_OK ? status : worst;
        }
        status = rows ? stdout_json(o, json_incref(rows)) : stdout_end(&out);
        return status != STATUS_OK ? status : worst;
}

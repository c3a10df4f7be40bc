/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One line for the daemon, one for each session that is alive; what has ended is only counted: "list" has it. */

#include <sys/utsname.h>
#include <time.h>

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/trigger.h"

#define DAY_S 86400

typedef struct Count {
        size_t n_live, n_kept, n_failed;
        uint64_t n_lost;
} Count;

/* "waits for function:x, fired 3 times" */
static void add_trigger(Row r, const SessionMeta *m) {
        char more[UNIT_TEXT_MAX + 16] = "";
        uint64_t n_fired = 0;

        for (size_t i = 0; i < m->captures.n_triggers; i++)
                n_fired += m->captures.triggers[i].fired;
        if (m->spec.triggers.n > 1)
                (void) snprintf(more, sizeof(more), " and %zu others", m->spec.triggers.n - 1);
        row_cell(r, "END", "waits for %.60s%s, fired %s time%s",
                 trigger_rule_on(m->spec.triggers.items[0]), more, FORMAT_COUNT(n_fired),
                 n_fired == 1 ? "" : "s");
}

static void add_row(Row r, const SessionMeta *m) {
        uint64_t length_ns = session_meta_length_ns(m);

        row_cell(r, "  NAME", "  %s", m->name);
        row_cell(r, "STATE", "%s", summary_state(m));
        row_cell(r, "?>ROOTS", "%zu root%s", m->roots.n, m->roots.n == 1 ? "" : "s");
        row_cell(r, "?>LENGTH", "%s",
                 clock_tuple_is_set(&m->start) ? FORMAT_DURATION(length_ns) : "-");
        row_cell(r, "?>SIZE", "%s", FORMAT_BYTES(session_meta_total(m).n_bytes));
        row_cell(r, "?>RATE", "%s events/s",
                 FORMAT_COUNT(length_ns < NSEC_PER_MSEC
                                      ? 0
                                      : (uint64_t) ((double) session_meta_total(m).read_events *
                                                    (double) NSEC_PER_SEC / (double) length_ns)));
        row_cell(r, "LOST", "%s", SUMMARY_LOSS(m));
        if (m->spec.duration_ns > length_ns)
                row_cell(r, "END", "ends in %s", FORMAT_DURATION(m->spec.duration_ns - length_ns));
        else if (m->spec.triggers.n > 0)
                add_trigger(r, m);
        else
                row_cell(r, "END", "%s", "");
}

static int look_at_sessions(Table *t, Count *count, Buf *troubles, json_t *sessions) {
        uint64_t now_s = (uint64_t) time(NULL);
        json_t *session;
        size_t i;

        json_array_foreach (sessions, i, session) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                const char *field = "";

                if (session_meta_from_json(&m, session, &field) != 0)
                        return failed(STATUS_FAILED,
                                      "the daemon's description of a session is not valid (member "
                                      "\"%s\").",
                                      field);
                if (session_state_is_live(m->state)) {
                        count->n_live++;
                        add_row(table_row(t), m);
                        for (size_t k = 0; k < m->degraded.n; k++)
                                buf_printf(troubles, "  %s is degraded: %s\n", m->name,
                                           m->degraded.items[k].reason);
                } else if (m->limit != SESSION_LIMIT_NONE && /* somebody may not know yet */
                           now_s < m->stop.realtime_ns / NSEC_PER_SEC + DAY_S)
                        buf_printf(troubles, "  %s was ended by a limit: %s\n", m->name,
                                   m->reason ?: "?");
        }
        return STATUS_OK;
}

/* What has ended, of which "sessions" has but a few. */
static void count_ended(Count *count, const json_t *reply) {
        const json_t *states = json_object_get(reply, "states");
        const char *name;
        json_t *n;

        json_object_foreach ((json_t *) states, name, n) {
                int state = session_state_from_name(name);

                if (state >= 0 && session_state_is_live((SessionState) state))
                        continue;
                *(state == SESSION_FAILED ? &count->n_failed : &count->n_kept) +=
                        (size_t) json_number(states, name);
        }
        count->n_lost = json_number(reply, "events_lost");
}

static void first_line(Buf *out, const Options *o, const json_t *reply, const Count *count) {
        struct utsname u = {};

        (void) uname(&u);
        terminal_add(out, o, COLOUR_GOOD, terminal_is_utf8() ? "●" : "*");
        buf_printf(out, " ftraced %s on %s (%s): %zu recording%s, %zu kept",
                   json_text(reply, "version"), u.nodename, json_text(reply, "kernel"),
                   count->n_live, count->n_live == 1 ? "" : "s", count->n_kept);
        if (count->n_failed > 0)
                buf_printf(out, ", %zu failed", count->n_failed);
        buf_printf(out, "; store %s, %s lost\n", FORMAT_BYTES(json_number(reply, "store_bytes")),
                   FORMAT_COUNT(count->n_lost));
        if (!json_object_get(reply, "tracefs"))
                buf_adds(out, "  tracefs was not found: ftracectl doctor\n");
}

/* What one can do now: of a bare "ftracectl", which is what one types who does not know. */
static void talk_next(const Options *o, const Count *count) {
        if (count->n_live > 0)
                talk(o, "Next: ftracectl follow SESSION, or stop SESSION");
        else if (count->n_kept > 0)
                talk(o, "Next: ftracectl list, why SESSION, or start FUNCTION");
        else
                talk(o, "Next: ftracectl start FUNCTION, or run FUNCTION -- COMMAND");
}

int verb_status(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_table_ Table t = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO), troubles = BUF_INIT;
        json_auto_t *reply = NULL;
        Count count = {};
        int status = contact_daemon(&c, o), r;

        /* All sessions only where all are printed. */
        if (o->json != JSON_OFF)
                return status
                               ?: contact_gather(c, "GetStatus", NULL, "sessions", &reply)
                               ?: stdout_json(o, json_incref(reply));
        status = status
                         ?: contact_call(c, "GetStatus", json_pack("{s:b}", "brief", 1), &reply,
                                         NULL);
        if (status != STATUS_OK)
                return status;
        table_begin(&t, JSON_OFF);
        count_ended(&count, reply);
        status = look_at_sessions(&t, &count, &troubles, json_object_get(reply, "sessions"));
        if (status != STATUS_OK)
                return status;
        first_line(&out, o, reply, &count);
        r = table_print(&t, &out, false);
        if (r < 0)
                return stdout_status(r);
        retention_add_line(&out, reply, "  ");
        put_back_add_line(&out, reply, "  ");
        buf_add(&out, troubles.data, troubles.n_data);
        status = stdout_folded(&out);
        if (status == STATUS_OK && !o->verb)
                talk_next(o, &count);
        return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* add and remove write files and tell systemd; list puts together what these, systemd and the log of captures
 * say. */

#include <inttypes.h>
#include <time.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/schedule/schedule.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

static int fail(const char *what, const char *name, int r) {
        bool is_forbidden = r == -EACCES || r == -EPERM;

        log_error_errno(r, "Failed to %s schedule \"%s\": %m%s", what, name,
                        is_forbidden ? "; only root may: repeat with sudo" : "");
        return is_forbidden ? STATUS_FORBIDDEN : STATUS_FAILED;
}

static int check_name(const char *name) {
        if (schedule_name_is_valid(name))
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "\"%s\" cannot be the name of a schedule: letters, digits, \".\", \"_\" and "
                      "\"-\", at most %i, the first a letter or a digit.",
                      NAME_QUOTED(name), SCHEDULE_NAME_MAX);
}

/* The words behind the first two. */
static Strv functions_of(const Options *o) {
        return (Strv){ .items = o->words.items + 2, .n = o->words.n - 2 };
}

static int find(const char *root, const char *name, bool *ret) {
        _cleanup_strv_ Strv names = {};
        int r = schedule_list(&names, root);

        *ret = r >= 0 && strv_contains(&names, name);
        return r < 0 ? fail("look for", name, r) : STATUS_OK;
}

/* Says so if there is none. */
static int require(const char *root, const char *name) {
        bool is_there = false;
        int status = check_name(name) ?: find(root, name, &is_there);

        if (status != STATUS_OK || is_there)
                return status;
        return failed(STATUS_NOT_FOUND,
                      "there is no schedule \"%s\"; see \"ftracectl schedule list\".", name);
}

/* --- add -------------------------------------------------------------------------------------- */

static int check_add(const Options *o, const Strv *functions) {
        _cleanup_free_ char *next = NULL;
        int status = check_name(o->words.items[1]);

        if (status != STATUS_OK)
                return status;
        if (o->name)
                return failed(
                        STATUS_USAGE,
                        "a capture's name is the schedule's with a number: leave --name out.");
        if (o->spec.max_captures > 0)
                return failed(STATUS_USAGE,
                              "--max-captures of a schedule is of any 24 hours: N/day.");
        if (o->keep && o->schedule.keep == 0)
                return failed(STATUS_USAGE, "--keep of a schedule needs a number: --keep=N.");
        if (!o->schedule.calendar)
                return failed(STATUS_USAGE, "\"schedule add\" needs --calendar=WHEN, like "
                                            "'Mon..Fri 02:00' or hourly; see systemd.time(7).");
        for (size_t i = 0; i < functions->n; i++)
                if (functions->items[i][0] == '@' && functions->items[i][1] != '/')
                        return failed(STATUS_USAGE,
                                      "\"%s\": a timer has another working directory; give an "
                                      "absolute path.",
                                      NAME_QUOTED(functions->items[i]));
        return schedule_check_calendar(&next, o->schedule.calendar, "--calendar")
                       ?: capture_check(o, functions);
}

/* ftracectl schedule capture NAME OPTIONS FUNCTION... */
static int make_command(Strv *ret, const Options *o, const Strv *functions) {
        int r = systemd_add_self(ret)
                    ?: strv_add(ret, "schedule")
                    ?: strv_add(ret, "capture")
                    ?: strv_add(ret, o->words.items[1]);

        if (r >= 0 && o->socket)
                r = strv_addf(ret, "--socket=%s", o->socket);
        if (r >= 0 && o->schedule.keep > 0)
                r = strv_addf(ret, "--keep=%" PRIu64, o->schedule.keep);
        if (r >= 0 && o->schedule.max_per_day > 0)
                r = strv_addf(ret, "--max-captures=%" PRIu64 "/day", o->schedule.max_per_day);
        if (r >= 0)
                r = options_said(ret, o, OPTIONS_RECORD, 0);
        if (r >= 0 && functions->n > 0)
                r = strv_add(ret, "--");
        return r < 0 ? r : strv_extend(ret, functions);
}

static int add(const Options *o, const char *name) {
        Strv functions = functions_of(o);
        _cleanup_schedule_ Schedule s = { .keep = o->schedule.keep };
        char timer[SCHEDULE_UNIT_MAX];
        bool is_there = false;
        int status = check_add(o, &functions) ?: find(o->config_root, name, &is_there), r;

        if (status == STATUS_OK && is_there)
                return failed(STATUS_FAILED,
                              "there is a schedule \"%s\" already; remove it first: ftracectl "
                              "schedule remove %s",
                              name, name);
        if (status == STATUS_OK && !o->config_root)
                status = systemd_is_there();
        if (status != STATUS_OK)
                return status;
        r = text_replace(&s.calendar, o->schedule.calendar)
                    ?: make_command(&s.command, o, &functions)
                    ?: schedule_write(o->config_root, name, &s);
        if (r < 0)
                return fail("write", name, r);
        if (!o->config_root)
                status = systemd_control("enable --now", schedule_unit(timer, name, "timer"));
        if (status != STATUS_OK) {
                (void) schedule_erase(o->config_root, name);
                return status;
        }
        talk(o, "%s: see \"ftracectl schedule list\"; try it with \"ftracectl schedule run %s\".",
             name, name);
        return STATUS_OK;
}

/* --- remove, run ------------------------------------------------------------------------------ */

static int remove_one(const Options *o, const char *name) {
        char timer[SCHEDULE_UNIT_MAX];
        int status = require(o->config_root, name), r;

        if (status == STATUS_OK && !o->config_root)
                status = systemd_is_there()
                                 ?: systemd_control("disable --now",
                                                    schedule_unit(timer, name, "timer"));
        if (status != STATUS_OK)
                return status;
        r = schedule_erase(o->config_root, name);
        if (r >= 0 || r == -ENOENT)
                r = capture_log_erase(name);
        if (r < 0)
                return fail("remove", name, r);
        status = o->config_root ? STATUS_OK : systemd_control("daemon-reload", NULL);
        if (status == STATUS_OK)
                talk(o, "Recordings of %s stay; a running capture goes on to its end.", name);
        return status;
}

/* "30 s, 41M, nothing lost", "skipped: another one held the tracer"; "-": none. */
static void describe_result(Buf *out, const json_t *c) {
        const char *result = json_string_value(json_object_get(c, "result"));
        const char *reason = json_string_value(json_object_get(c, "reason"));

        if (!result)
                buf_adds(out, "-");
        else if (!json_object_get(c, "session"))
                buf_printf(out, "%s: %s", result, NAME_QUOTED(reason ?: ""));
        else if (!streq(result, "sealed"))
                buf_adds(out, NAME_QUOTED(result));
        else
                buf_printf(out, "%s, %s, %s lost", FORMAT_DURATION(json_number(c, "length_ns")),
                           FORMAT_BYTES(json_number(c, "bytes")),
                           FORMAT_COUNT(json_number(c, "lost")));
}

static int run(const Options *o, const char *name) {
        _cleanup_capture_log_ CaptureLog l = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        char service[SCHEDULE_UNIT_MAX];
        const char *session;
        json_t *last;
        int status = require(o->config_root, name)
                             ?: systemd_is_there()
                             ?: systemd_control("start", schedule_unit(service, name, "service")),
            r;

        if (status != STATUS_OK)
                return status;
        r = capture_log_open(&l, name);
        if (r < 0)
                return fail("read the log of", name, r);
        last = capture_log_last(&l);
        if (o->json != JSON_OFF)
                return stdout_json(o, last ? json_incref(last) : json_null());
        session = json_string_value(json_object_get(last, "session"));
        buf_printf(&out, "%s: ", session ?: name);
        describe_result(&out, last);
        buf_adds(&out, "\n");
        status = stdout_end(&out);
        return status == STATUS_OK && !session ? STATUS_BUSY : status;
}

/* --- list ------------------------------------------------------------------------------------- */

static int add_row(Table *t, const char *root, const char *name, const json_t *sessions) {
        _cleanup_capture_log_ CaptureLog l = {};
        _cleanup_schedule_ Schedule s = {};
        _cleanup_buf_ Buf result = BUF_INIT;
        uint64_t now_ns = (uint64_t) time(NULL) * NSEC_PER_SEC, next_ns, last_ns, kept;
        char timer[SCHEDULE_UNIT_MAX];
        TimerState state = {};
        json_t *last;
        int r = schedule_read(&s, root, name) ?: capture_log_open(&l, name), status;
        Row row;

        if (r < 0)
                return fail("read", name, r);
        status = root ? STATUS_OK
                      : systemd_look_at_timer(&state, schedule_unit(timer, name, "timer"));
        if (status != STATUS_OK)
                return status;
        last = capture_log_last(&l);
        next_ns = state.next_us * NSEC_PER_USEC;
        last_ns = last ? json_number(last, "at_ns") : state.last_us * NSEC_PER_USEC;
        kept = capture_count_kept(l.captures, sessions);
        describe_result(&result, last);

        row = table_row(t);
        row_string(row, "NAME", "name", name);
        if (s.calendar)
                row_string(row, NULL, "calendar", s.calendar);
        row_int(row, "next_ns", (int64_t) next_ns);
        row_cell(row, "NEXT", "%s",
                 state.is_masked    ? "masked"
                 : !state.is_active ? "off"
                                    : SUMMARY_TIME(next_ns));
        row_cell(row, "LEFT", "%s", next_ns > now_ns ? FORMAT_DURATION(next_ns - now_ns) : "-");
        row_int(row, "last_ns", (int64_t) last_ns);
        row_cell(row, "LAST", "%s", SUMMARY_TIME(last_ns));
        row_cell(row, "RESULT", "%.*s", (int) result.n_data, result.data);
        row_bool(row, "active", state.is_active);
        row_bool(row, "masked", state.is_masked);
        row_int(row, "keep", (int64_t) s.keep);
        row_int(row, "kept", (int64_t) kept);
        if (s.keep > 0)
                row_cell(row, "KEEPS", "%" PRIu64 " of %" PRIu64, kept, s.keep);
        else
                row_cell(row, "KEEPS", "%" PRIu64, kept);
        if (last && !row.is_text)
                row_json(row, "last", json_incref(last));
        return STATUS_OK;
}

static int list_all(const Options *o, const char *name) {
        _cleanup_table_ Table t = {};
        json_auto_t *reply = NULL;
        _cleanup_strv_ Strv names = {};
        int r = schedule_list(&names, o->config_root), status = STATUS_OK;

        if (r < 0)
                return fail("look for any", "", r);
        if (names.n > 0 && !o->config_root) {
                status = systemd_is_there() ?: source_list(&reply, o, 0, true);
                if (status == STATUS_INCOMPLETE)
                        status = STATUS_OK; /* schedules are not among what is missing */
        }
        table_begin(&t, o->json);
        for (size_t i = 0; status == STATUS_OK && i < names.n; i++)
                status = add_row(&t, o->config_root, names.items[i],
                                 json_object_get(reply, "briefs"));
        if (status != STATUS_OK)
                return status;
        if (names.n > 0 || o->json != JSON_OFF)
                return table_show(&t, o, NULL);
        talk(o, "No schedules. Make one: ftracectl schedule add NAME --calendar='*-*-* "
                "02:00' --duration=30s FUNCTION");
        return STATUS_OK;
}

/* --- which of them ---------------------------------------------------------------------------- */

static int capture(const Options *o, const char *name) {
        Strv functions = functions_of(o);
        return check_name(name) ?: capture_run(o, name, &functions);
}

static const Action actions[] = {
        { "list", 0, 0, "no argument", list_all },
        { "add", 1, SIZE_MAX, "the name of a schedule", add },
        { "remove", 1, 1, "the name of a schedule", remove_one },
        { "run", 1, 1, "the name of a schedule", run },
        { "capture", 1, SIZE_MAX, "the name of a schedule", capture },
};

int verb_schedule(const Options *o) {
        return action_run(o, "schedule", actions, ELEMENTSOF(actions), "list, add, remove or run");
}

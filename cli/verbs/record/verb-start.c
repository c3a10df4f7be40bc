/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Start returns as soon as the kernel records; the name on stdout is for the scripts that go on.
 * Arming is starting with rules: the daemon decides what happens when.
 *
 * Later (--at, --in) a timer of systemd's runs the same command with the options of now: a
 * transient one, which is gone after the next boot; a schedule (cli/schedule/schedule.h) is not.  A
 * calendar event may come again and again; what the timer gets is its next time only.
 */

#include <inttypes.h>
#include <sys/random.h>

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/record/recording.h"
#include "cli/schedule/schedule.h"
#include "cli/schedule/capture.h"
#include "cli/schedule/units.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "store/trigger.h"

/* @tell: to who sits at a terminal. */
static int begin(const Options *o, void (*tell)(const Options *o, const SessionMeta *m)) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        int status = recording_check(o, &o->words);

        if (status == STATUS_OK)
                status = o->dry_run ? contact_recorder(&c, o, NULL) : contact_daemon(&c, o);
        if (status == STATUS_OK && o->dry_run)
                return recording_dry_run(o, c, &o->words);
        if (status == STATUS_OK)
                status = recording_start(&meta, o, c, &o->words, false, -EBADF);
        if (status != STATUS_OK)
                return status;
        if (isatty(STDERR_FILENO))
                tell(o, meta);
        if (o->json != JSON_OFF)
                return stdout_json(o, session_meta_to_json(meta));
        buf_printf(&out, "%s\n", meta->name);
        return stdout_end(&out);
}

/* --- by a timer ------------------------------------------------------------------------------- */

static int make_command(Strv *ret, const Options *o) {
        int r = units_add_self(ret) ?: strv_add(ret, "start");

        if (r >= 0 && o->socket)
                r = strv_addf(ret, "--socket=%s", o->socket);
        if (r >= 0)
                r = options_said(ret, o, OPTIONS_RECORD | OPTIONS_IN_KERNEL, 0);
        if (r >= 0 && o->words.n > 0)
                r = strv_add(ret, "--");
        for (size_t i = 0; r >= 0 && i < o->words.n; i++)
                r = strv_add(ret, o->words.items[i]);
        return r;
}

static int print_timer(const Options *o, const char *unit, const char *when) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        talk(o,
             "It begins %s%s, unless the host boots before; take it back with: systemctl stop %s.",
             when ? "at " : "in ", when ?: FORMAT_DURATION(o->schedule.in_ns), unit);
        if (o->json != JSON_OFF)
                return stdout_json(o, json_pack("{s:s, s:s*}", "timer", unit, "at", when));
        buf_printf(&out, "%s\n", unit);
        return stdout_end(&out);
}

static int start_later(const Options *o) {
        _cleanup_(units_freep) Units *units = NULL;
        _cleanup_free_ char *when = NULL;
        _cleanup_strv_ Strv command = {};
        char name[64], unit[80];
        uint16_t number = 0;
        int r, status;

        if (o->schedule.at && o->schedule.in_ns > 0)
                return failed(STATUS_USAGE, "--at and --in exclude each other.");
        status = capture_check(o, &o->words);
        if (status == STATUS_OK && o->schedule.at)
                status = schedule_check_calendar(&when, o->schedule.at, "--at");
        if (status == STATUS_OK)
                status = units_open(&units);
        if (status != STATUS_OK)
                return status;
        r = make_command(&command, o);
        if (r < 0)
                return failed_errno(r, "Failed to describe the command: %m");
        (void) getrandom(&number, sizeof(number), 0);
        (void) snprintf(name, sizeof(name), "ftraced-start-%04" PRIx16, number);
        (void) snprintf(unit, sizeof(unit), "%s.timer", name);
        status = units_start_transient(
                units, &(TransientTimer){ .name = name,
                                          .description = "Recording requested by ftracectl start",
                                          .calendar = when,
                                          .delay_us = o->schedule.in_ns / NSEC_PER_USEC,
                                          .command = &command });
        return status == STATUS_OK ? print_timer(o, unit, when) : status;
}

/* --- now -------------------------------------------------------------------------------------- */

static void tell_started(const Options *o, const SessionMeta *m) {
        talk(o, "Recording %s, armed in %s; end it with: ftracectl stop %s", SUMMARY_ROOTS(m, 80),
             FORMAT_DURATION(m->arm_ns), m->name);
}

int verb_start(const Options *o) {
        bool is_later = o->schedule.at || o->schedule.in_ns > 0;

        return is_later && !o->dry_run ? start_later(o) : begin(o, tell_started);
}

static void tell_armed(const Options *o, const SessionMeta *m) {
        talk(o, "Armed %s in %s, %s; end it with: ftracectl stop %s", SUMMARY_ROOTS(m, 80),
             FORMAT_DURATION(m->arm_ns),
             m->state == SESSION_ARMED ? "recording nothing yet" : "recording already", m->name);
        for (size_t i = 0; i < m->spec.triggers.n; i++)
                talk(o, "  %s: %.*s", trigger_rule_on(m->spec.triggers.items[i]),
                     trigger_rule_n_do(m->spec.triggers.items[i]), m->spec.triggers.items[i]);
}

int verb_arm(const Options *o) {
        Rules rules = { .n_complete = o->rules.n_complete };
        Options armed = *o;
        int r = strv_copy(&rules.items, &o->rules.items), status;

        if (r >= 0 && rules.items.n == 0)
                r = rules_add_on(&rules, "command");
        if (r >= 0)
                r = rules_finish(&rules, o->spec.ring);
        status = r < 0 ? failed_errno(r, "Failed to read the triggers: %m")
                       : rules_check(&rules.items);
        armed.spec.triggers = rules.items; /* borrowed */
        if (status == STATUS_OK)
                status = begin(&armed, tell_armed);
        rules_done(&rules);
        return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Later (--at, --in), but soon, it is armed now, so that whatever could be refused is, and begins when a timer of
 * the daemon's fires: within a millisecond or so, while arming takes a tenth of a second or more. What is hooked
 * costs everybody meanwhile, so further ahead a transient timer of systemd's first runs the same command with the
 * options of now.  One that waits for what is in use (--wait) does not know when it begins.
 *
 * Many hosts (--hosts) are told the same moment, in seconds since 1970, for their time zones differ.
 */

#include <inttypes.h>
#include <sys/random.h>
#include <time.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/record/record.h"
#include "cli/schedule/schedule.h"
#include "cli/terminal/terminal.h"
#include "meta/trigger.h"

#define SOON_NS (5 * 60 * NSEC_PER_SEC) /* it is armed now */
#define AHEAD_NS (10 * NSEC_PER_SEC)    /* or so long before */
#define TIMER_NS (2 * NSEC_PER_SEC)     /* at least; one of a moment that is over never fires */
#define NEXT_MAX_NS (24 * 60 * 60 * NSEC_PER_SEC)

/* To who sits at a terminal. */
static void tell(const Options *o, const SessionMeta *m) {
        const char *roots = SUMMARY_ROOTS(m, 80), *arming = FORMAT_DURATION(m->arm_ns);
        bool is_armed = m->state == SESSION_ARMED;

        if (m->spec.triggers.n == 0)
                talk(o, "Recording %s, armed in %s; end it with: ftracectl stop %s", roots, arming,
                     m->name);
        else if (streq(o->verb, "start"))
                talk(o, "Armed %s in %s; it begins by itself; take it back with: ftracectl stop %s",
                     roots, arming, m->name);
        else
                talk(o, "Armed %s in %s, %s; end it with: ftracectl stop %s", roots, arming,
                     is_armed ? "recording nothing yet" : "recording already", m->name);
        for (size_t i = 0; streq(o->verb, "arm") && i < m->spec.triggers.n; i++)
                talk(o, "  %s: %.*s", trigger_rule_on(m->spec.triggers.items[i]),
                     trigger_rule_n_do(m->spec.triggers.items[i]), m->spec.triggers.items[i]);
}

static int begin(const Options *o) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        int status = recording_check(o, &o->words)
                             ?: o->dry_run ? contact_recorder(&c, o, NULL)
                                           : contact_daemon(&c, o);

        if (status == STATUS_OK && o->dry_run)
                return recording_dry_run(o, c, &o->words);
        status = status ?: recording_start(&meta, o, c, &o->words, false, -EBADF);
        if (status != STATUS_OK)
                return status;
        if (isatty(STDERR_FILENO))
                tell(o, meta);
        if (o->json != JSON_OFF)
                return stdout_json(o, session_meta_to_json(meta));
        buf_printf(&out, "%s\n", meta->name);
        return stdout_end(&out);
}

/* --- later ------------------------------------------------------------------------------------ */

/* "10s": the next multiple of it since 1970 that leaves half of it, to tell others and to arm. */
static int find_next(uint64_t *ret_ns, const char *text) {
        uint64_t step_ns;

        if (parse_duration(text, &step_ns) < 0 || step_ns == 0 || step_ns > NEXT_MAX_NS)
                return failed(STATUS_USAGE, "--at: \"next:%s\" is not like next:10s.",
                              NAME_QUOTED(text));
        *ret_ns = (now_ns(CLOCK_REALTIME) + step_ns / 2) / step_ns * step_ns + step_ns;
        return STATUS_OK;
}

/* The next time that is meant; an exit status. */
static int find_moment(uint64_t *ret_ns, const Options *o) {
        _cleanup_free_ char *when = NULL;
        struct tm tm = {};
        const char *end, *next;
        int status;

        if (o->schedule.at && o->schedule.in_ns > 0)
                return failed(STATUS_USAGE, "--at and --in exclude each other.");
        if (!o->schedule.at) {
                *ret_ns = now_ns(CLOCK_REALTIME) + o->schedule.in_ns;
                return STATUS_OK;
        }
        next = startswith(o->schedule.at, "next:");
        if (next)
                return find_next(ret_ns, next);
        if (trigger_read_moment(o->schedule.at, ret_ns) >= 0)
                return STATUS_OK;
        status = schedule_check_calendar(&when, o->schedule.at, "--at");
        if (status != STATUS_OK)
                return status;
        end = strptime(when, "%Y-%m-%d %H:%M:%S", &tm);
        if (!end || !streq(end, " UTC"))
                return failed(STATUS_FAILED, "--at: systemd-analyze says \"%s\", which is no time.",
                              NAME_QUOTED(when));
        *ret_ns = (uint64_t) timegm(&tm) * NSEC_PER_SEC;
        return STATUS_OK;
}

static int start_soon(const Options *o, uint64_t moment_ns) {
        char moment[TRIGGER_MOMENT_MAX];
        _cleanup_strv_ Strv rules = {};
        Options armed = *o;
        int status;

        if (strv_addf(&rules, "start at:%s", trigger_write_moment(moment, moment_ns)) < 0)
                return out_of_memory();
        armed.spec.triggers = rules; /* borrowed */
        status = capture_check(o, &o->words);
        return status == STATUS_OK ? begin(&armed) : status;
}

/* @moment_ns: when it begins; 0: when it is run. */
static int make_command(Strv *ret, const Options *o, uint64_t moment_ns) {
        char moment[TRIGGER_MOMENT_MAX];
        int r = systemd_add_self(ret) ?: strv_add(ret, "start");

        if (r >= 0 && o->socket)
                r = strv_addf(ret, "--socket=%s", o->socket);
        if (r >= 0)
                r = options_said(ret, o, OPTIONS_RECORD | OPTIONS_IN_KERNEL, 0);
        if (r >= 0 && moment_ns > 0)
                r = strv_addf(ret, "--at=%s", trigger_write_moment(moment, moment_ns));
        if (r >= 0 && o->words.n > 0)
                r = strv_add(ret, "--");
        return r < 0 ? r : strv_extend(ret, &o->words);
}

static int start_far(const Options *o, uint64_t moment_ns) {
        _cleanup_strv_ Strv command = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        char name[64], unit[80], when[64];
        uint64_t now = now_ns(CLOCK_REALTIME),
                 begin_ns = o->wait_ns > 0 ? MAX(moment_ns, now + TIMER_NS) : moment_ns - AHEAD_NS;
        time_t seconds = (time_t) (begin_ns / NSEC_PER_SEC);
        uint16_t number = 0;
        struct tm tm;
        int r, status;

        if (o->schedule.at && moment_ns < now)
                return failed(STATUS_USAGE,
                              "--at: that was %s ago by this host's clock: name a later moment, or "
                              "set the clock.",
                              FORMAT_DURATION(now - moment_ns));
        (void) strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&seconds, &tm));
        status = capture_check(o, &o->words) ?: systemd_is_there();
        if (status != STATUS_OK)
                return status;
        r = make_command(&command, o, o->wait_ns > 0 ? 0 : moment_ns);
        if (r < 0)
                return failed_errno(r, "Failed to describe the command: %m");
        if (getrandom(&number, sizeof(number), 0) != sizeof(number))
                return failed_errno(-errno, "Failed to choose a name for the timer: %m");
        (void) snprintf(name, sizeof(name), "ftraced-start-%04" PRIx16, number);
        (void) snprintf(unit, sizeof(unit), "%s.timer", name);
        status = systemd_start_later(name, when, &command);
        if (status != STATUS_OK)
                return status;
        talk(o,
             "It begins at %s, unless the host boots before; take it back with: systemctl stop "
             "%s.",
             when, unit);
        if (o->json != JSON_OFF)
                return stdout_json(o, json_pack("{s:s, s:s*}", "timer", unit, "at", when));
        buf_printf(&out, "%s\n", unit);
        return stdout_end(&out);
}

/* --- on many hosts ---------------------------------------------------------------------------- */

/* Who is too late refuses, and says so. */
static int start_hosts(const Options *o, uint64_t moment_ns) {
        char moment[TRIGGER_MOMENT_MAX];
        _cleanup_strv_ Strv said = {};
        Options start = *o;
        int r = strv_addf(&said, "--at=%s", trigger_write_moment(moment, moment_ns));

        for (size_t i = 0; r >= 0 && i < o->said.n; i++)
                if (!startswith(o->said.items[i], "--at=") &&
                    !startswith(o->said.items[i], "--in="))
                        r = strv_add(&said, o->said.items[i]);
        if (r < 0)
                return failed_errno(r, "Failed to describe the recording: %m");
        start.said = said; /* borrowed */
        return fleet_run(&start, NULL);
}

/* --- now -------------------------------------------------------------------------------------- */

int verb_start(const Options *o) {
        bool is_later = (o->schedule.at || o->schedule.in_ns > 0) && !o->dry_run;
        uint64_t moment_ns = 0, now = now_ns(CLOCK_REALTIME);
        int status = is_later ? find_moment(&moment_ns, o) : STATUS_OK;
        bool is_soon = moment_ns < now + SOON_NS;

        if (status != STATUS_OK)
                return status;
        if (o->hosts)
                return is_later ? start_hosts(o, moment_ns) : fleet_run(o, NULL);
        if (!is_later)
                return begin(o);
        return is_soon && o->wait_ns == 0 ? start_soon(o, moment_ns) : start_far(o, moment_ns);
}

int verb_arm(const Options *o) {
        _cleanup_strv_ Strv rules = {};
        Options armed = *o;
        int status = options_rules(&rules, o);

        armed.spec.triggers = rules; /* borrowed */
        return status == STATUS_OK ? begin(&armed) : status;
}

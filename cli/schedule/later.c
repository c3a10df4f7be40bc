/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The timer runs "ftracectl start" with the options of now.  A calendar event may come again and
 * again; what the timer gets is its next time only.
 */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/unit.h"
#include "cli/options/status.h"
#include "cli/schedule/calendar.h"
#include "cli/schedule/capture.h"
#include "cli/schedule/later.h"
#include "cli/schedule/units.h"
#include "cli/terminal/terminal.h"

bool later_is_wanted(const Options *o) {
        return o->schedule.at || o->schedule.in_ns > 0;
}

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

static int print(const Options *o, const char *unit, const char *when) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        talk(o,
             "It begins %s%s, unless the host boots before; take it back with: systemctl stop %s.",
             when ? "at " : "in ", when ?: FORMAT_DURATION(o->schedule.in_ns), unit);
        if (o->json != JSON_OFF)
                return stdout_json(o, json_pack("{s:s, s:s*}", "timer", unit, "at", when));
        buf_printf(&out, "%s\n", unit);
        return stdout_end(&out);
}

int later_start(const Options *o) {
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
                status = calendar_check(&when, o->schedule.at, "--at");
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
        return status == STATUS_OK ? print(o, unit, when) : status;
}

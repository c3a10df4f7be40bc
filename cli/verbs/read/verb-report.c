/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A session that still records is drawn as far as it is stored. */

#include "base/name.h"
#include "cli/options/verb.h"
#include "cli/source/display.h"
#include "cli/source/reading.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "cli/views/merged-report.h"
#include "cli/views/text-drawing.h"

/* One object a call. */
static int report_json(const Options *o) {
        Options as = *o;

        as.format = "ndjson";
        return verb_export(&as);
}

/* Of a session: a file of another program does not say whether it has any. */
static void say_absence(const Options *o, const SessionMeta *m) {
        if (o->spec.args && !m->spec.args && m->spec.args_functions.n == 0 &&
            m->spec.functions.n > 0)
                talk(o, "%s has no arguments: they have to be recorded, with --args.", m->name);
}

/* Whose values there are was chosen when they were recorded. */
static int refuse_function(const char *option, const char *function) {
        return failed(
                STATUS_USAGE,
                "%s=%s chooses whose values are recorded; report draws all that were: give "
                "%s alone, or leave out other functions with --function, --root or --notrace.",
                option, NAME_QUOTED(function), option);
}

int verb_report(const Options *o) {
        _cleanup_reading_ Reading reading = {};
        const Source *s;
        DrawingOptions d;
        int status;

        if (o->spec.retval_functions.n > 0)
                return refuse_function("--retval", o->spec.retval_functions.items[0]);
        if (o->spec.args_functions.n > 0)
                return refuse_function("--args", o->spec.args_functions.items[0]);
        if (o->words.n > 1 && o->json != JSON_OFF)
                return failed(STATUS_USAGE, "--json has one recording at a time: call \"ftracectl "
                                            "report --json\" for each.");
        if (o->json != JSON_OFF)
                return report_json(o);
        if (o->words.n > 1)
                return merged_report(o);
        status = reading_find(&reading, o, o->words.items[0]);
        if (status != STATUS_OK || reading.text.trace)
                return status ?: text_drawing(&reading, o, false);
        s = reading.source;
        status = display_options(&d, o);
        d.filtering = &reading.filtering;
        if (status == STATUS_OK)
                status = display_report(s, o, &d);
        if (status != STATUS_OK && status != STATUS_INCOMPLETE)
                return status;
        display_none_left(o, &reading.filtering);
        say_absence(o, s->meta);
        if (session_state_is_live(s->meta->state) && !s->from_store)
                talk(o, "%s still records; this is what is stored so far.", s->meta->name);
        display_silence(o, s);
        display_dropped(o, s->meta);
        display_clock(o, s->meta);
        display_left_out(o, s->meta);
        display_loss(s->meta);
        return summary_is_complete(s->meta) ? status : STATUS_INCOMPLETE;
}

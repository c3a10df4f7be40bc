/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The hosts are told the moment in seconds since 1970, for their time zones differ, and one name, by which
 * they can be asked and collected from later.  A host that has not answered a second before the moment,
 * or whose connection ends before, counts as one that refused: what it does is not known, so that it takes back, too,
 * provided that nobody else can have a session of that name there.  So do all if somebody ends it before.
 */

#include <inttypes.h>
#include <sys/random.h>
#include <time.h>

#include "base/name.h"
#include "base/now.h"
#include "base/unit.h"
#include "cli/contact/fleet.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/record/fleet-start.h"
#include "meta/trigger.h"

#define ANSWER_NS NSEC_PER_SEC      /* before the moment */
#define UNDO_NS (10 * NSEC_PER_SEC) /* at least, for each verb that takes it back */

typedef struct FleetStart {
        Fleet *fleet;
        const char *name;
        bool is_our_name; /* nobody else has it */
        size_t n_refused, n_undone;
        int status; /* of those that refused */
} FleetStart;

/* What it prints is the recording's name then, or that of the timer. */
static bool is_left_to_timer(const FleetStart *s, const Member *m) {
        json_auto_t *said = json_loadb(m->out.data ?: "", m->out.n_data, 0, NULL);
        _cleanup_free_ char *line = said ? NULL : fleet_line(&m->out, false);

        return json_object_get(said, "timer") ||
               (line && startswith(line, "ftraced-start-") && !streq(line, s->name));
}

static void on_answer(Member *m, void *userdata) {
        FleetStart *s = userdata;

        if (remote_is_good(m->status) && is_left_to_timer(s, m)) {
                m->err.n_data = 0;
                buf_printf(&m->err,
                           "its clock is minutes behind, so that a timer there begins it; set the "
                           "clock, and take it back there with: systemctl stop "
                           "'ftraced-start-*.timer'\n");
                m->status = STATUS_FAILED;
        }
        fleet_tell(s->fleet, m);
        if (remote_is_good(m->status))
                return;
        s->status = s->n_refused > 0 && s->status != m->status ? STATUS_FAILED : m->status;
        s->n_refused++;
}

static void on_undone(Member *m, void *userdata) {
        FleetStart *s = userdata;
        _cleanup_free_ char *line = NULL;

        s->n_undone += remote_is_good(m->status);
        m->is_chosen = remote_is_good(m->status);
        if (remote_is_good(m->status) || m->status == STATUS_NOT_FOUND)
                return;
        line = fleet_line(&m->err, true);
        log_error("%s may begin all the same: %s", m->name, line && *line ? line : "no answer");
}

/* Verbs with the name of the recording and no option. */
static void undo(FleetStart *s, const Options *o, uint64_t moment_ns) {
        static const char *const verbs[] = { "stop", "remove" };
        char *words[] = { (char *) s->name, NULL };

        for (size_t i = 0; i < fleet_size(s->fleet); i++) {
                Member *m = fleet_member(s->fleet, i);

                m->is_chosen = remote_is_good(m->status) || (m->is_unknown && s->is_our_name);
                if (m->is_unknown && !s->is_our_name)
                        log_error("%s may begin all the same: it had not answered.", m->name);
        }
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
                Options verb = { .verb = (char *) verbs[i], .words = { .items = words, .n = 1 } };

                s->n_undone = 0;
                fleet_work(
                        s->fleet,
                        &(FleetWork){ .o = &verb,
                                      .until_ns = MAX(moment_ns, now_ns(CLOCK_REALTIME) + UNDO_NS),
                                      .ended = on_undone,
                                      .userdata = s });
        }
        talk(o,
             "None begins: %zu accepted it and took it back. See who refused above, or say "
             "--partial.",
             s->n_undone);
}

/* What is said to each host instead of --at and --in. */
static int describe(Strv *ret, const Options *o, const char *name, uint64_t moment_ns) {
        char moment[TRIGGER_MOMENT_MAX];
        int r = 0;

        for (size_t i = 0; r >= 0 && i < o->said.n; i++)
                if (!startswith(o->said.items[i], "--at=") &&
                    !startswith(o->said.items[i], "--in=") &&
                    !startswith(o->said.items[i], "--name="))
                        r = strv_add(ret, o->said.items[i]);
        if (r >= 0)
                r = strv_addf(ret, "--name=%s", name);
        return r < 0 ? r : strv_addf(ret, "--at=%s", trigger_write_moment(moment, moment_ns));
}

static void make_name(char text[static SESSION_NAME_MAX + 1], uint64_t moment_ns) {
        time_t seconds = (time_t) (moment_ns / NSEC_PER_SEC);
        uint16_t number = 0;
        struct tm tm;
        size_t n;

        (void) gmtime_r(&seconds, &tm);
        (void) getrandom(&number, sizeof(number), 0);
        n = strftime(text, SESSION_NAME_MAX + 1, "fleet-%Y%m%d-%H%M%S-", &tm);
        (void) snprintf(text + n, SESSION_NAME_MAX + 1 - n, "%04" PRIx16, number);
}

int fleet_start(const Options *o, uint64_t moment_ns) {
        char name[SESSION_NAME_MAX + 1];
        _cleanup_(fleet_freep) Fleet *fleet = NULL;
        uint64_t now = now_ns(CLOCK_REALTIME);
        FleetStart s = { .name = o->name ?: name, .is_our_name = !o->name };
        _cleanup_strv_ Strv said = {};
        Options start = *o;
        bool is_through;
        int status;

        if (moment_ns < now + 2 * ANSWER_NS)
                return failed(STATUS_USAGE,
                              "--at: the hosts have no time to accept it before it begins; leave "
                              "them some, as in --in=10s.");
        make_name(name, moment_ns);
        if (describe(&said, o, s.name, moment_ns) < 0)
                return failed_errno(-ENOMEM, "Failed to describe the recording: %m");
        start.said = said; /* borrowed */
        status = fleet_open(&fleet, o);
        if (status != STATUS_OK)
                return status;
        s.fleet = fleet;
        is_through = fleet_work(fleet, &(FleetWork){ .o = &start,
                                                     .until_ns = moment_ns - ANSWER_NS,
                                                     .can_be_ended = true,
                                                     .ended = on_answer,
                                                     .userdata = &s });
        if (!is_through || (s.n_refused > 0 && (!o->partial || s.n_refused == fleet_size(fleet)))) {
                undo(&s, o, moment_ns);
                (void) fleet_end(fleet);
                return is_through ? s.status : STATUS_FAILED;
        }
        now = now_ns(CLOCK_REALTIME);
        talk(o,
             "All of them begin in %s as %s; fetch it then with: ftracectl collect --hosts=%s -n "
             "%s -o DIR",
             FORMAT_DURATION(moment_ns - MIN(now, moment_ns)), s.name, o->hosts, s.name);
        status = fleet_end(fleet);
        return s.n_refused > 0 ? STATUS_INCOMPLETE : status;
}

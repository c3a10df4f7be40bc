/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Everything here is a line in a command file, written down in the ledger first and taken out in the
 * reverse order: an event cannot go while a trigger or an instance uses it.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/unit.h"
#include "daemon/instances/stopwatch.h"

#define DYNAMIC_EVENTS "dynamic_events"
#define MAX_ACTIVE 512 /* calls of one function that are measured at the same time */

#define NAME_FORMAT NOTIFIER_EVENT_FORMAT
#define NAME_ARGS(place) notifier_hash(place), (place)->number

/* One more line in a file, in the ledger before it is there; consumed. */
static int add_line(const NotifierPlace *place, Plan *p, const char *file, char *taken) {
        _cleanup_free_ char *line = taken;
        const char *failed;
        int r;

        if (!line)
                return -ENOMEM;
        r = plan_add_line(p, place->ledger, place->session, file, line);
        if (r >= 0)
                r = ledger_commit(place->ledger, place->fs->path);
        return r < 0 ? r : plan_apply(p, place->fs, &failed);
}

static _printf_(1, 2) char *format(const char *text, ...) {
        char *ret = NULL;
        va_list ap;

        va_start(ap, text);
        if (vasprintf(&ret, text, ap) < 0)
                ret = NULL;
        va_end(ap);
        return ret;
}

int stopwatch_event(const NotifierPlace *place, const Trigger *t, Trigger *ret) {
        char filter[40];

        (void) snprintf(filter, sizeof(filter), "lat >= %" PRIu64,
                        MAX(t->value / (uint64_t) NSEC_PER_USEC, (uint64_t) 1));
        return notifier_event(place, t, STOPWATCH_SYSTEM, "", filter, ret);
}

static int refuse_kernel(Refusal *refusal, const char *what, int error) {
        return refusal_set(refusal, REFUSAL_NOT_SUPPORTED, NULL,
                           "slower:TIME cannot be a trigger on this kernel: %s: %s; it needs "
                           "CONFIG_KPROBE_EVENTS and CONFIG_HIST_TRIGGERS",
                           what, strerror(-error));
}

int stopwatch_make(const NotifierPlace *place, Plan *p, const Strv *functions, Refusal *refusal) {
        int r = 0;

        if (functions->n > STOPWATCH_FUNCTIONS_MAX)
                return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "triggers",
                                      "slower:TIME can measure %d functions, not %zu; name fewer",
                                      STOPWATCH_FUNCTIONS_MAX, functions->n);
        for (size_t i = 0; r >= 0 && i < functions->n; i++) {
                r = add_line(place, p, DYNAMIC_EVENTS,
                             format("p:ftraced/" NAME_FORMAT "_in%zu %s", NAME_ARGS(place), i,
                                    functions->items[i]));
                if (r >= 0)
                        r = add_line(place, p, DYNAMIC_EVENTS,
                                     format("r%d:ftraced/" NAME_FORMAT "_out%zu %s", MAX_ACTIVE,
                                            NAME_ARGS(place), i, functions->items[i]));
                if (r < 0)
                        return refuse_kernel(refusal, functions->items[i], r);
        }
        r = add_line(place, p, DYNAMIC_EVENTS,
                     format("s:" NAME_FORMAT " u64 lat", NAME_ARGS(place)));
        return r < 0 ? refuse_kernel(refusal, "a synthetic event", r) : 0;
}

int stopwatch_begin(const NotifierPlace *place, Plan *p, const Strv *functions, Refusal *refusal) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < functions->n; i++) {
                _cleanup_free_ char *in = NULL, *out = NULL;

                in = format(NOTIFIER_DIR_FORMAT "/events/ftraced/" NAME_FORMAT "_in%zu/trigger",
                            place->session, place->number, NAME_ARGS(place), i);
                out = format(NOTIFIER_DIR_FORMAT "/events/ftraced/" NAME_FORMAT "_out%zu/trigger",
                             place->session, place->number, NAME_ARGS(place), i);
                if (!in || !out)
                        return -ENOMEM;
                r = add_line(place, p, in,
                             format("hist:keys=common_pid:ts%zu=common_timestamp.usecs:size=%d", i,
                                    STOPWATCH_THREADS));
                if (r >= 0)
                        r = add_line(place, p, out,
                                     format("hist:keys=common_pid:lat%zu=common_timestamp.usecs-$ts"
                                            "%zu:onmatch(ftraced." NAME_FORMAT
                                            "_in%zu).trace(" NAME_FORMAT ",$lat%zu):size=%d",
                                            i, i, NAME_ARGS(place), i, NAME_ARGS(place), i,
                                            STOPWATCH_THREADS));
        }
        return r < 0 ? refuse_kernel(refusal, "a hist trigger", r) : 0;
}

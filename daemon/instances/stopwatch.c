/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Everything here is a line in a command file, written down in the ledger first and taken out in the
 * reverse order: an event cannot go while a trigger or an instance uses it.
 */

#include "base/unit.h"
#include "daemon/instances/notifier.h"

#define DYNAMIC_EVENTS "dynamic_events"
#define MAX_ACTIVE 512 /* calls of one function that are measured at the same time */

#define NAME_FORMAT NOTIFIER_EVENT_FORMAT

/* One more line in a file, in the ledger before it is there. */
static _printf_(3, 4) int add_line(Plan *p, const char *file, const char *format, ...) {
        _cleanup_free_ char *line = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&line, format, ap);
        va_end(ap);
        if (n < 0) {
                line = NULL;
                return -ENOMEM;
        }
        return plan_put_line(p, file, line);
}

int stopwatch_event(const char *session, size_t number, const Trigger *t, Trigger *ret) {
        char filter[40];

        (void) snprintf(filter, sizeof(filter), "lat >= %" PRIu64,
                        MAX(t->value / (uint64_t) NSEC_PER_USEC, (uint64_t) 1));
        return notifier_event(session, number, t, STOPWATCH_SYSTEM, "", filter, ret);
}

static int refuse_kernel(Refusal *refusal, const char *what, int error) {
        return refusal_set(refusal, REFUSAL_NOT_SUPPORTED, NULL,
                           "slower:TIME cannot be a trigger on this kernel: %s: %s; it needs "
                           "CONFIG_KPROBE_EVENTS and CONFIG_HIST_TRIGGERS",
                           what, strerror(-error));
}

int stopwatch_make(Plan *p, size_t number, const Strv *functions, Refusal *refusal) {
        uint64_t hash = notifier_hash(p->session);
        int r = 0;

        if (functions->n > STOPWATCH_FUNCTIONS_MAX)
                return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "triggers",
                                      "slower:TIME can measure %d functions, not %zu; name fewer",
                                      STOPWATCH_FUNCTIONS_MAX, functions->n);
        for (size_t i = 0; i < functions->n; i++) {
                r = add_line(p, DYNAMIC_EVENTS, "p:ftraced/" NAME_FORMAT "_in%zu %s", hash, number,
                             i, functions->items[i]);
                if (r >= 0)
                        r = add_line(p, DYNAMIC_EVENTS, "r%d:ftraced/" NAME_FORMAT "_out%zu %s",
                                     MAX_ACTIVE, hash, number, i, functions->items[i]);
                if (r < 0)
                        return refuse_kernel(refusal, functions->items[i], r);
        }
        r = add_line(p, DYNAMIC_EVENTS, "s:" NAME_FORMAT " u64 lat", hash, number);
        return r < 0 ? refuse_kernel(refusal, "a synthetic event", r) : 0;
}

int stopwatch_begin(Plan *p, size_t number, const Strv *functions, Refusal *refusal) {
        static const char trigger[] =
                NOTIFIER_DIR_FORMAT "/events/ftraced/" NAME_FORMAT "_%s%zu/trigger";
        uint64_t hash = notifier_hash(p->session);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < functions->n; i++) {
                r = add_line(p, TRACEFS_PATH(trigger, p->session, number, hash, number, "in", i),
                             "hist:keys=common_pid:ts%zu=common_timestamp.usecs:size=%d", i,
                             STOPWATCH_THREADS);
                if (r >= 0)
                        r = add_line(
                                p,
                                TRACEFS_PATH(trigger, p->session, number, hash, number, "out", i),
                                "hist:keys=common_pid:lat%zu=common_timestamp.usecs-$ts"
                                "%zu:onmatch(ftraced." NAME_FORMAT "_in%zu).trace(" NAME_FORMAT
                                ",$lat%zu):size=%d",
                                i, i, hash, number, i, hash, number, i, STOPWATCH_THREADS);
        }
        return r < 0 ? refuse_kernel(refusal, "a hist trigger", r) : 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A ring of a thread's own.  More than one note is kept since whoever cleans up after an error may meet
 * another one, with another number, before the first is told.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/origin.h"

static _Thread_local struct {
        Origin items[ORIGIN_N];
        unsigned next;
} ring; /* the one mutable thing here that is no argument: there is none to pass it by */

static _Thread_local char text[ORIGIN_TEXT_MAX];

bool log_debug_enabled(const char *domain) {
        const char *e = getenv("FTRACED_DEBUG");
        size_t n = strlen(domain);

        if (!e)
                return false;
        for (; *e; e += strcspn(e, ",") + (e[strcspn(e, ",")] == ',')) {
                size_t k = strcspn(e, ",");

                if ((k == 3 && strncmp(e, "all", 3) == 0) || (k == n && strncmp(e, domain, n) == 0))
                        return true;
        }
        return false;
}

void origin_note(int error, const char *step, const char *file, int line, const char *function) {
        if (error < 0)
                *(&ring.items[ring.next++ % ORIGIN_N]) = (Origin){ .error = -error,
                                                                   .line = line,
                                                                   .file = file,
                                                                   .function = function,
                                                                   .step = step };
}

void origin_forget(void) {
        for (unsigned i = 0; i < ORIGIN_N; i++)
                ring.items[i].error = 0;
}

bool origin_find(Origin *ret, int error) {
        error = error < 0 ? -error : error;
        for (unsigned i = 1; error != 0 && i <= ORIGIN_N; i++) {
                const Origin *o = &ring.items[(ring.next - i) % ORIGIN_N];

                if (o->error == error) {
                        *ret = *o;
                        return true;
                }
        }
        return false;
}

static const char *describe(int error, bool has_place) {
        const char *plain = strerror(error < 0 ? -error : error);
        char place[ORIGIN_TEXT_MAX] = "";
        Origin o;

        if (!origin_find(&o, error) || (!has_place && !o.step))
                return plain;
        if (has_place)
                (void) snprintf(place, sizeof(place), " [%s:%i, %s()]", o.file, o.line, o.function);
        (void) snprintf(text, sizeof(text), "%s%s%s%s", o.step ?: "", o.step ? ": " : "", plain,
                        place);
        return text;
}

const char *origin_text(int error) {
        return describe(error, log_debug_enabled("origin"));
}

const char *origin_report(int error) {
        return describe(error, true);
}

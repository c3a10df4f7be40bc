/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The daemon says what is in the way, or what takes long, at each change; in between only the clock goes
 * on, which is worth a line on a terminal, written over itself, and nothing in a log.  To leave the queue
 * is to close the connection, which whoever called does.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/now.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/contact/waiting.h"
#include "cli/options/status.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"

#define CLOCK_INTERVAL_MS 1000

typedef struct Clock {
        bool is_shown; /* on a terminal */
        bool is_written;
        uint64_t since_ns;
} Clock;

static void clock_write(Clock *c) {
        if (!c->is_shown)
                return;
        (void) fprintf(stderr, "\r\033[KWaiting for %s; Ctrl-C to leave.",
                       FORMAT_DURATION((now_ns(CLOCK_MONOTONIC) - c->since_ns) / NSEC_PER_SEC *
                                       NSEC_PER_SEC));
        c->is_written = true;
}

static void clock_erase(Clock *c) {
        if (c->is_written)
                (void) fprintf(stderr, "\r\033[K");
        c->is_written = false;
}

static void say(const Options *o, const json_t *waiting) {
        const char *message = json_string_value(json_object_get(waiting, "message"));
        json_int_t n_ahead = json_integer_value(json_object_get(waiting, "ahead"));

        if (n_ahead > 0)
                talk(o, "Waiting, behind %" JSON_INTEGER_FORMAT " that came before: %s", n_ahead,
                     message ?: "something is in use");
        else
                talk(o, "Waiting: %s", message ?: "something is in use");
}

int waiting_start(json_t **ret, const Options *o, Client *c, json_t *parameters, int wake_fd) {
        Clock clock = { .is_shown = isatty(STDERR_FILENO) && !o->quiet,
                        .since_ns = now_ns(CLOCK_MONOTONIC) };
        int r = client_send(c, "Start", parameters, true);

        if (r != 0)
                return contact_failure(o, r, NULL);
        for (;;) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;
                bool continues = false;

                r = client_receive(c, &reply, NULL, &continues, &refusal, wake_fd,
                                   clock.is_shown ? CLOCK_INTERVAL_MS : -1);
                if (r == -ETIMEDOUT) {
                        if (now_ns(CLOCK_MONOTONIC) - clock.since_ns >= 2 * NSEC_PER_SEC)
                                clock_write(&clock);
                        continue;
                }
                if (r == CLIENT_E_INTERRUPTED && !signals_want_end(wake_fd))
                        continue;
                clock_erase(&clock);
                if (r == CLIENT_E_INTERRUPTED)
                        return failed(128 + SIGINT, "interrupted before anything was recorded.");
                if (r == CLIENT_E_GONE && client_is_private(c))
                        return failed(STATUS_FAILED,
                                      "the private daemon ended before it answered.");
                if (r != 0)
                        return contact_failure(o, r, &refusal);
                if (!continues) {
                        *ret = TAKE_PTR(reply);
                        return STATUS_OK;
                }
                say(o, json_object_get(reply, "waiting"));
        }
}

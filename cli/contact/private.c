/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The store's lock tells whether somebody has it, and nothing tells when it is given back, so it is
 * looked at a few times a second.  Of several who wait one is first; the others' daemons end at once,
 * and they wait on.
 */

#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "base/now.h"
#include "cli/contact/private.h"
#include "cli/options/status.h"
#include "cli/terminal/terminal.h"
#include "store/store.h"

#define LOOK_NS (200 * NSEC_PER_MSEC)
#define NOTICED_MS 300

/* The signal that came meanwhile, if they are blocked (cli/terminal/signals.h), or 0. */
static int pause_for(uint64_t ns) {
        struct timespec t = { .tv_sec = (time_t) (ns / NSEC_PER_SEC),
                              .tv_nsec = (long) (ns % NSEC_PER_SEC) };
        sigset_t ends;
        int r;

        (void) sigemptyset(&ends);
        (void) sigaddset(&ends, SIGINT);
        (void) sigaddset(&ends, SIGTERM);
        (void) sigaddset(&ends, SIGHUP);
        r = sigtimedwait(&ends, NULL, &t);
        return MAX(r, 0);
}

/* Whether another daemon has the store at @path, and which. */
static bool is_taken(const char *path, pid_t *ret_owner) {
        _cleanup_(store_freep) Store *s = NULL;

        return store_open(&s, path) >= 0 && store_is_owned(s, ret_owner) > 0;
}

static int wait_for_store(const Options *o, const char *path, uint64_t end_ns, bool *is_told) {
        char text[STORE_OWNER_MAX];
        pid_t owner;

        while (is_taken(path, &owner)) {
                int signal;

                if (now_ns(CLOCK_MONOTONIC) >= end_ns)
                        return failed(STATUS_BUSY,
                                      "another ftraced (%s) has the store %s. %s, or record into "
                                      "another one: --store",
                                      store_owner_text(text, owner), path,
                                      o->wait_ns > 0 ? "Wait longer for it (--wait)"
                                                     : "Wait for it with --wait");
                if (!*is_told)
                        talk(o, "Waiting: another ftraced (%s) has the store %s.",
                             store_owner_text(text, owner), path);
                *is_told = true;
                signal = pause_for(LOOK_NS);
                if (signal > 0) {
                        log_error("interrupted before anything was recorded.");
                        return 128 + signal;
                }
        }
        return STATUS_OK;
}

static void tell_failure(int error) {
        _cleanup_free_ char *path = NULL;

        (void) client_find_daemon(&path);
        log_error("Cannot start the private daemon %s: %s", path ?: "", origin_text(error));
}

int private_start(Client **ret, const Options *o) {
        const char *path = options_store(o);
        uint64_t now = now_ns(CLOCK_MONOTONIC), end_ns = now + MIN(o->wait_ns, UINT64_MAX - now);
        bool is_told = false;

        for (;;) {
                _cleanup_(client_freep) Client *c = NULL;
                int status = wait_for_store(o, path, end_ns, &is_told), r;

                if (status != STATUS_OK)
                        return status;
                r = client_start_private(&c, o->store, getenv("FTRACED_TRACEFS"));
                if (r != 0) {
                        tell_failure(r < 0 ? r : -EPIPE);
                        return STATUS_FAILED;
                }
                if (is_told) /* others may have waited, too */
                        r = client_call(c, "org.varlink.service.GetInfo", NULL, NULL, NULL, NULL);
                if (r == CLIENT_E_GONE && now_ns(CLOCK_MONOTONIC) < end_ns)
                        continue;
                *ret = TAKE_PTR(c);
                return STATUS_OK;
        }
}

Client *private_end(Client *c, const Options *o, const SessionMeta *m) {
        if (c && m && m->learns && !client_leave(c, NOTICED_MS))
                talk(o,
                     "Learning what was called, so that --lean hooks nothing else the next time.");
        return client_free(c);
}

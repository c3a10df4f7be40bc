/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A table of ids, and the fields that an entry has.  Only sent as such where our messages go to the
 * journal anyhow: a daemon on a terminal talks to whoever started it.
 */

#include <stdarg.h>
#include <sys/uio.h>
#define SD_JOURNAL_SUPPRESS_LOCATION /* CODE_FILE= is where an error began, not this file */
#include <systemd/sd-journal.h>

#include "base/log.h"
#include "daemon/process/journal.h"

#define FIELDS_MAX 20

static const struct {
        int priority;
        const char *id;
} events[_JOURNAL_N] = {
        [JOURNAL_STARTED] = { LOG_INFO, "47eaa0992cb6416d86dc283cf0480ff9" },
        [JOURNAL_ENDED] = { LOG_INFO, "1509bb0a9bf143318a118783593942a4" },
        [JOURNAL_LOST] = { LOG_WARNING, "f5ec52ed0108447592e1bc7656670b14" },
        [JOURNAL_COSTLY] = { LOG_WARNING, "59ba1b0d5c904158a909406c2e416788" },
        [JOURNAL_FAILED] = { LOG_ERR, "5d32fe61985f44e7aa095ee82bb29976" },
        [JOURNAL_OPENED] = { LOG_INFO, "9a1e40b458154a9999e2d15364c7a500" },
        [JOURNAL_REMOVED] = { LOG_INFO, "68b4aef73eaa4e179d8a4eace693ae2d" },
        [JOURNAL_REFUSED] = { LOG_NOTICE, "142c83647806457793e783e7eb04b39b" },
        [JOURNAL_STOPPED] = { LOG_INFO, "3b041641178844f2a60df25453fe2e85" },
        [JOURNAL_DEGRADED] = { LOG_WARNING, "00a154d85ed84bccb5c719c2add9ca88" },
        [JOURNAL_TAKEN_UP] = { LOG_NOTICE, "c0290103855d4f5599ec8712e8e3574f" },
        [JOURNAL_RESTORED] = { LOG_NOTICE, "6e704245a4ff41e3a7949b80dcb0b82e" },
        [JOURNAL_RELOADED] = { LOG_NOTICE, "de1b1471320a48eab7a788d106762832" },
        [JOURNAL_RELOAD_REFUSED] = { LOG_ERR, "4350cc1721e54f21acd552a09ddbef12" },
        [JOURNAL_HUNG] = { LOG_CRIT, "9ed89eddd6844325b600e6129ec04ece" },
        [JOURNAL_RESCUED] = { LOG_WARNING, "06124d088c884609851d43cded0aa627" },
        [JOURNAL_NOT_RESCUED] = { LOG_WARNING, "9546482747764c67a9c2eaefb46fb5ca" },
};

typedef struct Fields {
        struct iovec items[FIELDS_MAX];
        size_t n;
} Fields;

static void fields_done(Fields *f) {
        for (size_t i = 0; i < f->n; i++)
                free(f->items[i].iov_base);
}

/* One that there is no memory for is left out. */
_printf_(2, 3) static void add(Fields *f, const char *format, ...) {
        char *text = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = f->n < FIELDS_MAX ? vasprintf(&text, format, ap) : -1;
        va_end(ap);
        if (n >= 0)
                f->items[f->n++] = (struct iovec){ .iov_base = text, .iov_len = (size_t) n };
}

static void add_session(Fields *f, const SessionMeta *m) {
        _cleanup_free_ char *roots =
                strv_join(m->roots.n > 0 ? &m->roots : &m->spec.functions, " ");

        add(f, "FTRACED_SESSION=%s", m->name);
        add(f, "FTRACED_SESSION_ID=%s", m->id);
        add(f, "FTRACED_STATE=%s", session_state_name(m->state));
        add(f, "FTRACED_FUNCTIONS=%s", roots ?: "");
        add(f, "FTRACED_LOST=%llu", (unsigned long long) session_meta_events_lost(m));
        add(f, "FTRACED_BYTES=%llu", (unsigned long long) session_meta_total(m).n_bytes);
}

static void add_origin(Fields *f, int number) {
        Origin o;

        add(f, "ERRNO=%i", number);
        if (!origin_find(&o, number))
                return;
        add(f, "CODE_FILE=%s", o.file);
        add(f, "CODE_LINE=%i", o.line);
        add(f, "CODE_FUNC=%s", o.function);
}

static void send_entry(const JournalEntry *e, const char *sentence) {
        const char *reason = e->reason ?: e->meta ? e->meta->reason : NULL;
        _cleanup_(fields_done) Fields f = {};

        add(&f, "MESSAGE=%s", sentence);
        add(&f, "PRIORITY=%i", events[e->event].priority);
        add(&f, "MESSAGE_ID=%s", events[e->event].id);
        add(&f, "SYSLOG_IDENTIFIER=ftraced");
        if (e->meta)
                add_session(&f, e->meta);
        if (reason || e->meta)
                add(&f, "FTRACED_REASON=%s", reason ?: "none was given");
        if (e->pid > 0) {
                add(&f, "FTRACED_USER=%u", (unsigned) e->uid);
                add(&f, "FTRACED_PID=%i", (int) e->pid);
        } else if (e->meta) {
                add(&f, "FTRACED_USER=%u", (unsigned) e->meta->owner_uid);
                add(&f, "FTRACED_PID=%i", (int) e->meta->owner_pid);
        }
        if (e->error)
                add(&f, "FTRACED_ERROR=%s", e->error);
        if (e->number != 0)
                add_origin(&f, e->number);
        if (sd_journal_sendv(f.items, (int) f.n) < 0)
                log_message(events[e->event].priority, "%s", sentence);
}

void journal_tell(const JournalEntry *e, const char *format, ...) {
        char sentence[2048];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(sentence, sizeof(sentence), format, ap);
        va_end(ap);
        if (!log_is_journal())
                log_message(events[e->event].priority, "%s", sentence);
        else if (log_is_shown(events[e->event].priority))
                send_entry(e, sentence);
}

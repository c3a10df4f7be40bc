/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Journal: the events that an administrator may want to find again, or act on
 *
 * In the journal each has a MESSAGE_ID, which systemd/ftraced.catalog explains (journalctl -x), and
 * fields that can be asked for (journalctl FTRACED_SESSION=boot):
 *
 *      FTRACED_SESSION, FTRACED_SESSION_ID, FTRACED_STATE, FTRACED_FUNCTIONS, FTRACED_LOST,
 *      FTRACED_BYTES, FTRACED_REASON        of a session
 *      FTRACED_USER, FTRACED_PID            who asked for it, as the kernel says
 *      FTRACED_ERROR                        the name of the error that he got
 *      ERRNO, CODE_FILE, CODE_LINE, CODE_FUNC   of an error of the system: where it began (base/origin.h)
 *
 * Elsewhere the sentence alone is printed, as base/log.h does.
 */

#include <sys/types.h>

#include "base/cleanup.h"
#include "meta/meta.h"

typedef enum JournalEvent {
        JOURNAL_STARTED,
        JOURNAL_ENDED,
        JOURNAL_LOST,
        JOURNAL_COSTLY,
        JOURNAL_FAILED,
        JOURNAL_OPENED,
        JOURNAL_REMOVED,
        JOURNAL_REFUSED,
        JOURNAL_STOPPED,
        JOURNAL_DEGRADED,
        JOURNAL_TAKEN_UP,
        JOURNAL_RESTORED,
        JOURNAL_RELOADED,
        JOURNAL_RELOAD_REFUSED,
        JOURNAL_HUNG,
        JOURNAL_RESCUED,
        JOURNAL_NOT_RESCUED,
        _JOURNAL_N,
} JournalEvent;

typedef struct JournalEntry {
        JournalEvent event;
        const SessionMeta *meta; /* NULL: about none */
        uid_t uid;
        pid_t pid;          /* who asked; 0: nobody */
        const char *reason; /* NULL: the session's */
        const char *error;  /* NULL: none */
        int number;         /* errno; 0: none */
} JournalEntry;

/* At the event's own priority; the sentence comes first. */
void journal_tell(const JournalEntry *e, const char *format, ...) _printf_(2, 3);

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A record is claimed before its file is written, and marked after it.  Who claims it once more, while an
 * undo that failed has left it there, first asks whose it is by now: what somebody else has written since
 * is what this session finds, and what we had written is still ours.
 */

#include <errno.h>
#include <stdio.h>

#include "daemon/tracefs/control.h"
#include "daemon/tracefs/ledger-private.h"
#include "daemon/tracefs/put-back.h"

int ledger_wish(const Ledger *l, const Tracefs *fs, const LedgerRecord *e, const char *now,
                char **ret) {
        _cleanup_strv_ Strv added = {};
        int r = 0;

        for (size_t i = 0; r >= 0 && streq(e->file, "set_graph_function") && i < ledger_n(l); i++) {
                const char *word = startswith(ledger_get(l, i)->file, LEDGER_ROOTS_DIR);

                if (word)
                        r = strv_add(&added, word);
        }
        if (r < 0)
                return r;
        return put_back_value(&(PutBack){ .file = e->file,
                                          .old = e->old,
                                          .set = e->set,
                                          .added = &added,
                                          .mark = e->mark },
                              fs, now, ret);
}

static int claim_again(const Ledger *l, const Tracefs *fs, LedgerRecord *e, const char *now) {
        char *wish;
        int r = ledger_wish(l, fs, e, now, &wish);

        if (r < 0)
                return r;
        free(e->old);
        e->old = wish;
        e->mark = 0;
        return r;
}

/* Some file of the top-level buffer is going to be written by us: tracers there get a new mark, unless
 * somebody else was faster. */
static void claim_tracers(Ledger *l, const Tracefs *fs) {
        for (size_t i = 0; i < ledger_n(l); i++) {
                LedgerRecord *e = ledger_at(l, i);

                if (!streq(e->file, "current_tracer") || e->mark == 0)
                        continue;
                e->mark = e->mark == put_back_mark(fs, e->file) ? 0 : PUT_BACK_MARK_THEIRS;
        }
}

/* If we die before it is written it says what it was made to say before. */
static int add_set(LedgerRecord *e, const char *set, bool is_anew) {
        const char *rest = e->set ? startswith(e->set, set) : NULL;
        char *all;
        int n = 0;

        if (is_anew || !e->set)
                all = strdup(set);
        else if (rest && (*rest == 0 || *rest == '\n'))
                return 0;
        else
                n = asprintf(&all, "%s\n%s", set, e->set);
        if (n < 0 || !all)
                return -ENOMEM;
        free(e->set);
        e->set = all;
        return 0;
}

int ledger_claim(Ledger *l, const Tracefs *fs, const char *session, LedgerKind kind,
                 const char *file, const char *now, const char *set) {
        LedgerRecord *e = ledger_record_of(l, session, kind, file, now);
        int r;

        if (e)
                r = claim_again(l, fs, e, now);
        else {
                r = ledger_add(l, session, kind, file, now);
                e = ledger_record_of(l, session, kind, file, now);
        }
        if (r < 0)
                return r;
        if (!strchr(file, '/') && !streq(file, "current_tracer"))
                claim_tracers(l, fs);
        if (kind == LEDGER_TRACER)
                e->is_bounded = put_back_is_bounded(fs, file, now);
        return set ? add_set(e, set, r == PUT_BACK_THEIRS) : 0;
}

int ledger_claim_again(Ledger *l, const Tracefs *fs, const char *file) {
        _cleanup_free_ char *now = NULL;
        int r = 0;

        claim_tracers(l, fs);
        for (size_t i = ledger_n(l); r >= 0 && i-- > 0;) {
                LedgerRecord *e = ledger_at(l, i);

                if ((e->kind != LEDGER_FILE && e->kind != LEDGER_TRACER) || !streq(e->file, file))
                        continue;
                if (!now)
                        r = control_read(fs->fd, file, &now);
                if (r >= 0)
                        r = claim_again(l, fs, e, now);
                /* What is on is ours, where there is one buffer: they have meant theirs to be off. */
                if (r == PUT_BACK_THEIRS && e->kind == LEDGER_TRACER)
                        ledger_drop(l, LEDGER_SHARED, file);
        }
        return MIN(r, 0);
}

int ledger_settle(Ledger *l, const Tracefs *fs, const char *session) {
        int ret = 0;

        for (size_t i = 0; i < ledger_n(l); i++) {
                LedgerRecord *e = ledger_at(l, i);
                _cleanup_free_ char *now = NULL, *wish = NULL;
                int r;

                if (e->mark == 0 || e->kind != LEDGER_FILE || !streq(e->session, session) ||
                    (control_is_list(e->file) && *e->old == 0))
                        continue;
                r = control_read(fs->fd, e->file, &now);
                if (r >= 0)
                        r = ledger_wish(l, fs, e, now, &wish);
                if (r < 0)
                        continue; /* it will fail once more */
                e->mark = r == PUT_BACK_THEIRS ? PUT_BACK_MARK_THEIRS : 0;
                ret = 1;
        }
        for (size_t i = 0; i < ledger_n(l); i++)
                if (ledger_get(l, i)->kind == LEDGER_TRACER &&
                    streq(ledger_get(l, i)->file, "current_tracer")) {
                        claim_tracers(l, fs);
                        ret = 1;
                }
        return ret;
}

void ledger_mark(Ledger *l, const Tracefs *fs) {
        for (size_t i = 0; i < ledger_n(l); i++) {
                LedgerRecord *e = ledger_at(l, i);

                if (e->mark == 0 &&
                    (e->kind == LEDGER_TRACER ||
                     (e->kind == LEDGER_FILE && !startswith(e->file, "instances/"))))
                        e->mark = put_back_mark(fs, e->file);
        }
}

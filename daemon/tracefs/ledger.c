/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Records in memory; their file (ledger-file.c) is always written first when something is about to change and last
 * when something was put back.  In between it may list too much, never too little.
 *
 * A record is claimed before its file is written, and marked after it.  Who claims it once more, while an
 * undo that failed has left it there, first asks whose it is by now: what somebody else has written since
 * is what this session finds, and what we had written is still ours.
 */

#include "base/array.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracefs/ledger.h"

static void record_done(LedgerRecord *r) {
        free(r->session);
        free(r->file);
        free(r->old);
        free(r->set);
        *r = (LedgerRecord){};
}

void ledger_remove_at(Ledger *l, size_t i) {
        record_done(&l->records[i]);
        memmove(l->records + i, l->records + i + 1, (l->n - i - 1) * sizeof(*l->records));
        l->n--;
}

Ledger *ledger_free(Ledger *l) {
        if (!l)
                return NULL;
        for (size_t i = 0; i < l->n; i++)
                record_done(&l->records[i]);
        free(l->records);
        free(l->boot_id);
        safe_close(l->dir_fd);
        return mfree(l);
}

int ledger_new_dry(Ledger **ret, const Tracefs *fs, const char *boot_id) {
        _cleanup_(ledger_freep) Ledger *l = NEW(Ledger, .fs = fs, .dir_fd = -EBADF, .is_dry = true);

        if (!l)
                return -ENOMEM;
        if (boot_id && !(l->boot_id = strdup(boot_id)))
                return -ENOMEM;
        *ret = TAKE_PTR(l);
        return 0;
}

const LedgerRecord *ledger_find(const Ledger *l, LedgerKind kind, const char *file) {
        for (size_t i = 0; i < l->n; i++)
                if (l->records[i].kind == kind && streq(l->records[i].file, file))
                        return &l->records[i];
        return NULL;
}

bool ledger_covers(const Ledger *l, const char *dir) {
        for (size_t i = 0; i < l->n; i++) {
                const LedgerRecord *e = &l->records[i];

                if ((e->kind == LEDGER_FILE &&
                     streq_ptr(startswith(e->file, dir), "current_tracer")) ||
                    (e->kind == LEDGER_INSTANCE && streq_ptr(startswith(dir, e->file), "/")))
                        return true;
        }
        return false;
}

LedgerRecord *ledger_record_of(const Ledger *l, const char *session, LedgerKind kind,
                               const char *file, const char *old) {
        for (size_t i = 0; i < l->n; i++) {
                LedgerRecord *e = &l->records[i];

                if (streq(e->session, session) && streq(e->file, file) &&
                    (kind == LEDGER_LINE) == (e->kind == LEDGER_LINE) &&
                    (kind != LEDGER_LINE || streq(e->old, old)))
                        return e;
        }
        return NULL;
}

void ledger_drop(Ledger *l, const char *session, const char *file, const char *line) {
        const LedgerRecord *e =
                ledger_record_of(l, session, line ? LEDGER_LINE : LEDGER_FILE, file, line);

        if (e)
                ledger_remove_at(l, (size_t) (e - l->records));
}

void ledger_drop_all(Ledger *l, const char *session) {
        size_t kept = 0;

        for (size_t i = 0; i < l->n; i++)
                if (streq(l->records[i].session, session))
                        record_done(&l->records[i]);
                else
                        l->records[kept++] = l->records[i];
        l->n = kept;
}

int ledger_add(Ledger *l, const char *session, LedgerKind kind, const char *file, const char *old) {
        LedgerRecord new = { .kind = kind };

        if (ledger_record_of(l, session, kind, file, old))
                return 0;
        new.session = strdup(session);
        new.file = strdup(file);
        new.old = old ? strdup(old) : NULL;
        if (!new.session || !new.file || (old && !new.old) || !ARRAY_GROW(l->records, l->n)) {
                record_done(&new);
                return -ENOMEM;
        }
        l->records[l->n++] = new;
        return 0;
}

/* A line goes by its text with a '!', a dynamic event by its name: "p:ftraced/x f" by "-:ftraced/x". */
char *ledger_line_out(const LedgerRecord *e) {
        const char *name = strchr(e->old, ':');
        char *text;

        if (streq(e->file, "dynamic_events") && name)
                (void) text_format(&text, "-%.*s", (int) strcspn(name, " "), name);
        else
                (void) text_format(&text, "!%s", e->old);
        return text;
}

int ledger_get_sessions(const Ledger *l, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < l->n; i++) {
                const char *session = l->records[i].session;

                if (!streq(session, LEDGER_SHARED) && !streq(session, LEDGER_ROOTS))
                        r = strv_add(ret, session);
        }
        strv_sort_unique(ret);
        return r;
}

/* --- claiming --------------------------------------------------------------------------------- */

static int claim_again(const Ledger *l, LedgerRecord *e, const char *now) {
        char *wish;
        int r = put_back_value(l, e, now, &wish);

        if (r < 0)
                return r;
        free(e->old);
        e->old = wish;
        e->mark = 0;
        return r;
}

/* Some file of the top-level buffer is going to be written by us: tracers there get a new mark, unless
 * somebody else was faster. */
static void claim_tracers(Ledger *l) {
        for (size_t i = 0; i < l->n; i++) {
                LedgerRecord *e = &l->records[i];

                if (streq(e->file, "current_tracer") && e->mark != 0)
                        e->mark =
                                e->mark == put_back_mark(l->fs, e->file) ? 0 : PUT_BACK_MARK_THEIRS;
        }
}

/* If we die before it is written it says what it was made to say before. */
static int add_set(LedgerRecord *e, const char *set, bool is_anew) {
        const char *rest = e->set ? startswith(e->set, set) : NULL;
        _cleanup_free_ char *before = NULL;
        int r;

        if (is_anew || !e->set)
                return text_replace(&e->set, set);
        if (rest && (*rest == 0 || *rest == '\n'))
                return 0;
        before = e->set;
        r = text_format(&e->set, "%s\n%s", set, before);
        if (r < 0)
                e->set = TAKE_PTR(before);
        return r;
}

int ledger_claim(Ledger *l, const char *session, LedgerKind kind, const char *file, const char *now,
                 const char *set) {
        LedgerRecord *e = ledger_record_of(l, session, kind, file, now);
        int r;

        if (e)
                r = claim_again(l, e, now);
        else {
                r = ledger_add(l, session, kind, file, now);
                e = ledger_record_of(l, session, kind, file, now);
        }
        if (r < 0)
                return r;
        if (!strchr(file, '/') && !streq(file, "current_tracer"))
                claim_tracers(l);
        if (kind == LEDGER_TRACER)
                e->is_bounded = put_back_is_bounded(l->fs, file, now);
        return set ? add_set(e, set, r == PUT_BACK_THEIRS) : 0;
}

int ledger_claim_again(Ledger *l, const char *file) {
        _cleanup_free_ char *now = NULL;
        int r = 0;

        claim_tracers(l);
        for (size_t i = l->n; r >= 0 && i-- > 0;) {
                LedgerRecord *e = &l->records[i];

                if ((e->kind != LEDGER_FILE && e->kind != LEDGER_TRACER) || !streq(e->file, file))
                        continue;
                if (!now)
                        r = control_read(l->fs->fd, file, &now);
                if (r >= 0)
                        r = claim_again(l, e, now);
                /* What is on is ours, where there is one buffer: they have meant theirs to be off. */
                if (r == PUT_BACK_THEIRS && e->kind == LEDGER_TRACER)
                        ledger_drop(l, LEDGER_SHARED, file, NULL);
        }
        return MIN(r, 0);
}

int ledger_settle(Ledger *l, const char *session) {
        bool has_tracer = false;
        int ret = 0;

        for (size_t i = 0; i < l->n; i++) {
                LedgerRecord *e = &l->records[i];
                _cleanup_free_ char *now = NULL, *wish = NULL;
                int r;

                has_tracer = has_tracer ||
                             (e->kind == LEDGER_TRACER && streq(e->file, "current_tracer"));
                if (e->mark == 0 || e->kind != LEDGER_FILE || !streq(e->session, session) ||
                    (control_is_list(e->file) && *e->old == 0))
                        continue;
                r = control_read(l->fs->fd, e->file, &now);
                if (r >= 0)
                        r = put_back_value(l, e, now, &wish);
                if (r < 0)
                        continue; /* it will fail once more */
                e->mark = r == PUT_BACK_THEIRS ? PUT_BACK_MARK_THEIRS : 0;
                ret = 1;
        }
        if (has_tracer)
                claim_tracers(l);
        return ret || has_tracer;
}

void ledger_mark(Ledger *l) {
        for (size_t i = 0; i < l->n; i++) {
                LedgerRecord *e = &l->records[i];

                if (e->mark == 0 &&
                    (e->kind == LEDGER_TRACER ||
                     (e->kind == LEDGER_FILE && !startswith(e->file, "instances/"))))
                        e->mark = put_back_mark(l->fs, e->file);
        }
}

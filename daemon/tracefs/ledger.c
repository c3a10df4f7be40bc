/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An array in memory; its file is daemon/tracefs/ledger-file.c's.  That is always written first when
 * something is about to change and last when something was put back; in between it may list too much,
 * never too little.
 */

#include <stdio.h>

#include "base/array.h"
#include "base/hash.h"
#include "daemon/tracefs/ledger-private.h"

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

int ledger_new_in_memory(Ledger **ret, const char *boot_id) {
        _cleanup_(ledger_freep) Ledger *l = NEW(Ledger, .dir_fd = -EBADF, .is_dry = true);

        if (!l)
                return -ENOMEM;
        if (boot_id && !(l->boot_id = strdup(boot_id)))
                return -ENOMEM;
        *ret = TAKE_PTR(l);
        return 0;
}

int ledger_new_dry(Ledger **ret) {
        return ledger_new_in_memory(ret, NULL);
}

size_t ledger_n(const Ledger *l) {
        return l->n;
}

const LedgerRecord *ledger_get(const Ledger *l, size_t i) {
        return &l->records[i];
}

bool ledger_has(const Ledger *l, const char *session, const char *file) {
        for (size_t i = 0; i < l->n; i++)
                if (streq(l->records[i].session, session) && streq(l->records[i].file, file))
                        return true;
        return false;
}

const LedgerRecord *ledger_find(const Ledger *l, LedgerKind kind, const char *file) {
        for (size_t i = 0; i < l->n; i++)
                if (l->records[i].kind == kind && streq(l->records[i].file, file))
                        return &l->records[i];
        return NULL;
}

bool ledger_is_tracer(const char *file) {
        const char *slash = strrchr(file, '/');

        return streq(slash ? slash + 1 : file, "current_tracer");
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

/* Tells most records apart without a look at them: there may be thousands. */
static uint64_t hash_of(const char *session, const char *file) {
        return hash_bytes(hash_bytes(HASH_BYTES_FIRST, session, strlen(session)), file,
                          strlen(file));
}

LedgerRecord *ledger_record_of(Ledger *l, const char *session, LedgerKind kind, const char *file,
                               const char *old) {
        uint64_t hash = hash_of(session, file);

        for (size_t i = 0; i < l->n; i++) {
                LedgerRecord *e = &l->records[i];

                if (e->hash == hash && streq(e->session, session) && streq(e->file, file) &&
                    (kind == LEDGER_LINE) == (e->kind == LEDGER_LINE) &&
                    (kind != LEDGER_LINE || streq(e->old, old)))
                        return e;
        }
        return NULL;
}

LedgerRecord *ledger_at(Ledger *l, size_t i) {
        return &l->records[i];
}

static void drop(Ledger *l, const LedgerRecord *e) {
        if (e)
                ledger_remove_at(l, (size_t) (e - l->records));
}

void ledger_drop_line(Ledger *l, const char *session, const char *file, const char *line) {
        drop(l, ledger_record_of(l, session, LEDGER_LINE, file, line));
}

void ledger_drop(Ledger *l, const char *session, const char *file) {
        drop(l, ledger_record_of(l, session, LEDGER_FILE, file, NULL));
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
        LedgerRecord new = { .kind = kind, .hash = hash_of(session, file) };

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
        int n;

        if (streq(e->file, "dynamic_events") && name)
                n = asprintf(&text, "-%.*s", (int) strcspn(name, " "), name);
        else
                n = asprintf(&text, "!%s", e->old);
        return n < 0 ? NULL : text;
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

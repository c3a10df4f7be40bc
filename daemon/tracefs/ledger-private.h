/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The ledger's inside: ledger.c has the records in memory and knows none of the others, ledger-file.c the
 * file that they are in, ledger-claim.c whose the files of tracefs are by now, and ledger-undo.c, which
 * needs all three, puts them back.  Only the first two look into the struct.
 */

#include "daemon/tracefs/ledger.h"

struct Ledger {
        int dir_fd;  /* < 0: -errno, there is no place for a file */
        bool is_dry; /* it is only in memory, and none is wanted */
        char *boot_id;
        LedgerRecord *records;
        size_t n;
        int error; /* of the last commit; < 0: the file says more than the records */
};

/* One that is nowhere but in memory; @boot_id may be NULL. */
int ledger_new_in_memory(Ledger **ret, const char *boot_id);
/* @session's record for this, until another one is added or removed; or NULL. */
LedgerRecord *ledger_record_of(Ledger *l, const char *session, LedgerKind kind, const char *file,
                               const char *old);
LedgerRecord *ledger_at(Ledger *l, size_t i);
void ledger_remove_at(Ledger *l, size_t i);
/*
 * Whose the files of @session are is settled before it is undone, for whoever dies over writing one leaves a
 * mark that looks like somebody else's.  1: commit before anything is written; 0.
 */
int ledger_settle(Ledger *l, const Tracefs *fs, const char *session);
/* What the file of @e, which says @now, is to say when we have left it: as put_back_value(). */
int ledger_wish(const Ledger *l, const Tracefs *fs, const LedgerRecord *e, const char *now,
                char **ret);

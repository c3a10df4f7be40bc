/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever is in a ledger: it is kept apart as one that cannot be understood, or its records name
 * nothing outside of tracefs and are the same when they were written and read again.
 *
 * Input: the file, of the boot "boot".
 */

#include <sys/stat.h>

#include "base/log.h"
#include "daemon/tracefs/ledger.h"
#include "fuzz-scratch.h"

static void check_record(const LedgerRecord *e) {
        FUZZ_CHECK(e->kind >= 0 && e->kind < _LEDGER_KIND_N);
        FUZZ_CHECK(e->file[0] != 0 && e->file[0] != '/' && !strstr(e->file, ".."));
        FUZZ_CHECK(e->session && (e->kind == LEDGER_INSTANCE) == !e->old);
}

static void check_same(const Ledger *l, const Ledger *again) {
        FUZZ_CHECK(again->n == l->n);
        for (size_t i = 0; i < l->n; i++) {
                const LedgerRecord *a = &l->records[i], *b = &again->records[i];

                FUZZ_CHECK(a->kind == b->kind && streq(a->session, b->session) &&
                           streq(a->file, b->file) && streq_ptr(a->old, b->old));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        static const char *const dirs[] = { "proc", "proc/sys", "proc/sys/kernel",
                                            "proc/sys/kernel/random" };
        _cleanup_fuzz_scratch_ FuzzScratch s = fuzz_scratch_new();
        const Tracefs fs = { .fd = -EBADF, .root_fd = s.fd };
        _cleanup_(ledger_freep) Ledger *l = NULL, *again = NULL;

        log_set_max_priority(LOG_CRIT); /* each that is set aside is worth a line */
        for (size_t i = 0; i < ELEMENTSOF(dirs); i++)
                FUZZ_CHECK(mkdirat(s.fd, dirs[i], 0700) == 0);
        fuzz_write(&s, "proc/sys/kernel/random/boot_id", "boot\n", 5);
        fuzz_write(&s, "ledger", data, n_data);
        FUZZ_CHECK(ledger_open(&l, s.fd, &fs) == 0);
        FUZZ_CHECK(l->n == 0 || faccessat(s.fd, "ledger.bad", F_OK, 0) < 0);
        for (size_t i = 0; i < l->n; i++)
                check_record(&l->records[i]);
        FUZZ_CHECK(ledger_commit(l) == 0);
        FUZZ_CHECK(ledger_open(&again, s.fd, &fs) == 0);
        check_same(l, again);
        return 0;
}

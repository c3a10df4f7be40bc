/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Opening the control of tracefs finds what a dead daemon left; settling it puts that back.  What is left
 * all the same is looked for, not believed.  A store that cannot be opened, read-only for one, has a copy of its
 * ledger in /run, which is enough for this.
 */

#include "base/log.h"
#include "daemon/own-store.h"
#include "daemon/restore.h"

int restore_open_controller(Controller **ret, const DaemonConfig *config, const Store *store,
                            const LedgerCopy *copy) {
        int r = controller_new(ret, config->tracefs, store_fd(store), copy->fd, true);

        return r < 0 ? log_error_errno(r,
                                       "Cannot set up the control of tracefs, with the ledger in "
                                       "%s: %m",
                                       config->store)
                     : 0;
}

/* A store that could not be opened, for @error, which was said.  0 or @error. */
static int open_without_store(Controller **ret, LedgerCopy *copy, const DaemonConfig *config,
                              int error) {
        pid_t holder;

        if (error == -EBUSY || ledger_copy_open(copy, config->store, &holder) != 0 ||
            copy->fd < 0 || controller_new(ret, config->tracefs, copy->fd, -EBADF, true) < 0)
                return error;
        log_notice("What its ledger's copy in /run lists is put back without it.");
        return 0;
}

int restore_all(const DaemonConfig *config, size_t *ret_n, Strv *ret_left, Strv *ret_values) {
        Controller *controller = NULL;
        LedgerCopy copy = LEDGER_COPY_INIT;
        Store *store = NULL;
        int error, r;

        error = own_store_open(&store, &copy, config->store);
        r = error < 0 ? open_without_store(&controller, &copy, config, error)
                      : restore_open_controller(&controller, config, store, &copy);
        if (r >= 0) {
                controller_settle(controller);
                *ret_n = controller_n_restored(controller);
                r = controller_find_left(controller, ret_left);
                if (r >= 0)
                        r = controller_find_values(controller, ret_values);
                if (r < 0)
                        log_error_errno(r, "Cannot look for what is left in the kernel (is "
                                           "tracefs mounted?): %m");
        }
        if (r >= 0 && error < 0 && *ret_n == 0)
                r = error; /* nobody knows what the ledger there has to say */
        (void) controller_free(controller);
        ledger_copy_done(&copy);
        (void) store_free(store);
        return MIN(r, 0);
}

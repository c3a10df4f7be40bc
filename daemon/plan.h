/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Plan: changes that are about to be made
 *
 * Collect with plan_add(), which reads the present values and puts them into
 * the ledger; commit the ledger; then plan_apply().  Files that this kernel does not
 * have and files that already say the right thing are not in it.
 */

#include "base/strv.h"
#include "daemon/ledger.h"
#include "daemon/tracefs.h"

typedef struct Plan {
        Strv files, values; /* the same number of each */
        Strv texts;         /* what is written so that the file says the value; as many */
} Plan;

/*
 * plan_add()
 * @session: whose ledger record it becomes; NULL: none is needed, the file goes away with its
 *           instance
 */
int plan_add(Plan *p, const Tracefs *fs, Ledger *l, const char *session, const char *file,
             const char *value);
/* The same for a file that takes another text than it shows: @text makes it say @value. */
int plan_add_text(Plan *p, const Tracefs *fs, Ledger *l, const char *session, const char *file,
                  const char *value, const char *text);
/* Writes, reads back, compares.  -errno, -EIO if the file does not say what was written; then
 * *@ret_file is the file (as long as @p lives). */
int plan_apply(const Plan *p, const Tracefs *fs, const char **ret_file);
void plan_done(Plan *p);
#define _cleanup_plan_ _cleanup_(plan_done)

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Record finder: the record of one CPU that a step was made of, as it was stored
 *
 * Steps are asked for in their order; what lies between is passed over, and pages that end before a
 * step's time are not looked into.
 */

#include "base/cleanup.h"
#include "calls/step.h"
#include "decode/formats.h"
#include "decode/records.h"
#include "store/session-dir.h"

typedef struct RecordFinder RecordFinder;

/* @dir, @formats: borrowed. */
int record_finder_new(RecordFinder **ret, const SessionDir *dir, const Formats *formats,
                      uint32_t cpu);

/*
 * Who is told of records that lie between those that are found, from the last one's page on: events of other kinds
 * alone.  Negative ends the search with that.
 */
typedef int (*RecordFinderPassed)(void *userdata, const Event *event, const Record *record);
void record_finder_set_passed(RecordFinder *f, RecordFinderPassed passed, void *userdata);
/* Passes over @n more.  0 or -errno. */
int record_finder_pass(RecordFinder *f, unsigned n);

enum { RECORD_FINDER_E_MISSING = 1 };
/* @ret: of an ENTER, a LEAVE or an OTHER, or the first one of a LEAF; valid until the next call of
 * this or of the next.  0, RECORD_FINDER_E_MISSING, -errno. */
int record_finder_find(RecordFinder *f, const Step *step, Record *ret);
/* The return that follows on the entry that was found, of a LEAF.  Likewise. */
int record_finder_find_leave(RecordFinder *f, const Step *step, Record *ret);
RecordFinder *record_finder_free(RecordFinder *f);
DEFINE_CLEANUP(RecordFinder *, record_finder_free);

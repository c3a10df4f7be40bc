/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatWriter: a whole trace.dat, front to back
 *
 * Pages are copied, never decoded: what a neighbour recorded in the same buffer is there, too.
 * Memory is that of the head and of some pages, whatever the size of the recording.
 */

#include "codec/dat-head.h"
#include "codec/dat-plan.h"

typedef struct DatTarget {
        int fd; /* borrowed */
        /* Of a regular file, from its beginning.  What cannot seek is packed twice, for the head says
         * how long everything is. */
        bool can_seek;
        uint64_t packed_max; /* bytes that the packed pages of one CPU may take; 0: no limit */
        /* Called at least once each MiB; NULL: never.  Anything but 0 ends the writing and is returned. */
        int (*progress)(void *userdata, uint64_t n_pages);
        void *userdata;
} DatTarget;

enum { DAT_WRITE_E_TOO_LARGE = 1 };

/*
 * dat_write()
 * @plan: of @dir, with at least one CPU
 * @head: its n_cpus is at least @plan's; page_bytes and the byte order are @plan's
 *
 * Return: 0, DAT_WRITE_E_TOO_LARGE (packed_max; what cannot seek was not written to), -ESTALE (pages
 * of the plan are gone), -errno (-EPIPE: nobody reads any more).
 */
int dat_write(const DatTarget *target, const DatHead *head, const DatPlan *plan,
              const SessionDir *dir);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Losses of a trace.dat: what its pages tell where nothing else does
 *
 * Files of `trace-cmd listen` and `split` have no CPUSTAT.  But a page says that events were lost
 * before it, and mostly how many (store/page.h).  That becomes what a session's own account would
 * have: a sum for each CPU, and a gap for each place, of GAP_UNKNOWN events where the kernel had no
 * room to say.
 */

#include "meta/meta.h"
#include "store/session-dir.h"

/*
 * dat_losses_note()
 * @m:           of @dir; where CPUSTAT counts losses of a CPU, that is believed
 * @is_thorough: look through the pages of a CPU also if CPUSTAT says that nothing was lost, which
 *               takes reading, or unpacking, all of them; whoever reads them anyway finds what they
 *               say against it (cli/source/damage.h)
 *
 * Nothing happens to a recording that is no trace.dat.  0 or -errno.
 */
int dat_losses_note(SessionMeta *m, const SessionDir *dir, bool is_thorough);

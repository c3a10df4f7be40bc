/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Usual loads: what the usual kinds of work pay for hooks (daemon/lean/loads)
 *
 * Where thinning begins while nobody has looked at what this host does: work may come at any moment, and is over before
 * it is looked at.
 */

#include "daemon/lean/thinning.h"

/* As thinning_choose(), so that none of them pays more.  Those that call a root walk the roots' own way, and do not count. */
int usual_loads_thin(const Ranks *ranks, const Strv *roots, uint64_t budget_ppm, Strv *ret);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Step copy: a step with all that it points at, for whoever must keep it
 *
 * Functions are not copied: they stay where they are.
 */

#include "base/cleanup.h"
#include "calls/step.h"

/* One block behind @n_before bytes of the caller's; free() it.  @ret_step: where the step is in it.
 * NULL without memory. */
void *step_copy(const Step *step, size_t n_before, Step **ret_step);

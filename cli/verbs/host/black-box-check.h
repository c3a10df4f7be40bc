/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What `doctor --black-box` says: whether a trace would survive a crash here, and else what that takes
 *
 * Only looks: at the kernel's release, its command line, and the instance that this names.  Words for a boot loader
 * are printed, and written nowhere.
 */

#include <jansson.h>

/* A check as those of Check in org.ftraced.varlink: "good", or "bad" with a fix; NULL without memory. */
json_t *black_box_check(void);

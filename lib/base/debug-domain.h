/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Debug domains: what FTRACED_DEBUG asks to be told ("reader,store", or "all") */

#include <stdbool.h>

bool log_debug_enabled(const char *domain);

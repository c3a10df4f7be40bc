/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ordinary: what ordinary work of others calls often
 *
 * daemon/lean/ordinary-functions has the names; tests/bench/ordinary-functions counted their calls on
 * several kernels.  As long as nobody knows what some roots call, lean hooks everything but these: most of
 * the kernel is hardly ever called, so that others pay next to nothing from the first moment on, and what
 * is missing are helpers, whose time is then their callers' own.
 */

#include "daemon/admission/functions.h"

/* Adds those that there are on this kernel.  0 or -ENOMEM. */
int ordinary_find(const Functions *f, Strv *ret);

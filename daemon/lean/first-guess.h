/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * First guess: what the roots of shipped profiles call, before anybody has seen it here
 *
 * daemon/lean/first-guess-functions has the names, by root; tests/bench/first-guess recorded them on several kernels.
 * Without what ordinary work calls (daemon/lean/ordinary.h), so that others pay next to nothing although no
 * hook was timed.
 */

#include "daemon/admission/functions.h"

/*
 * first_guess_find()
 * @roots:    sorted, of this kernel
 * @left_out: what is not to be hooked, sorted
 * @ret:      the roots, and what else of this kernel they are known to call, sorted; nothing if of one of the
 *            roots nothing is known
 *
 * Return: 0 or -ENOMEM.
 */
int first_guess_find(const Functions *f, const Strv *roots, const Strv *left_out, Strv *ret);

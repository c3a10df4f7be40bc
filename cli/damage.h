/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Damage: what decoding had to step over
 */

#include <stdbool.h>

#include "base/strv.h"
#include "decode/stream.h"

/*
 * damage_describe() - a sentence for each kind of damage on each CPU
 * @stream: read to its end
 * @live:   the session still records: what its daemon has yet to write is no damage
 *
 * Return: 0, or -ENOMEM.  Adds nothing if all is well.
 */
int damage_describe(const Stream *stream, bool live, Strv *ret);

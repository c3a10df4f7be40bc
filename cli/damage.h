/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Damage: what decoding had to step over
 */

#include <stdbool.h>

#include "base/strv.h"
#include "decode/atlas.h"
#include "decode/stream.h"

/* "cpu0/00000003.seg: written by a newer ftraced, format 3".  0 or -ENOMEM. */
int damage_add_newer(Strv *ret, uint32_t cpu, uint64_t sequence, uint32_t version);
/* "cpu0/00000003.seg: block 5: the body does not match its checksum, 256 pages lost".
 * 0 or -ENOMEM. */
int damage_add_part(Strv *ret, uint32_t cpu, uint64_t sequence, const SealedDamage *part);

/*
 * damage_describe() - a sentence for each kind of damage, of the symbols and on each CPU
 * @stream: read to its end
 * @live:   the session still records: what its daemon has yet to write is no damage
 *
 * Return: 0, or -ENOMEM.  Adds nothing if all is well.
 */
int damage_describe(const Stream *stream, const Atlas *atlas, bool live, Strv *ret);

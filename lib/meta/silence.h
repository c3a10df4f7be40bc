/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Silence: why a recording has no calls
 *
 * What the kernel said while the session was still programmed comes from the daemon
 * (SessionMeta.silence); the rest is in the recording: what somebody else did meanwhile, triggers that
 * did not fire, and whom and what the session was about.
 */

#include "meta/meta.h"

#define SILENCE_MAX 1000 /* bytes of the sentence */

/* Whether nothing at all was stored, also before a ring dropped it. */
bool silence_is_total(const SessionMeta *m);
/*
 * silence_explain() - a sentence without its full stop
 * @found: reasons that are known beside those in the recording; they come first
 *
 * There always is one: if nothing else explains it, nothing called the roots.  The caller frees.
 * Return: 0 or -ENOMEM.
 */
int silence_explain(char **ret, const SessionMeta *m, const Strv *found);

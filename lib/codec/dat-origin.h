/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Dat origin: what a trace.dat of ours says of where, when and with what limits it was recorded
 *
 *      ftraced {"boot_id":...,"machine_id":...,"spec":{...},"roots":[...],"start":{...},"stop":{...},"clock_steps":[...]}
 *
 * That is the option VERSION, which names the program that wrote the file; trace-cmd shows it in
 * "trace-cmd dump --options" and makes nothing of it (trace-cmd 3.1.6, lib/trace-cmd/trace-input.c,
 * handle_options()).  The members are those of session.json.
 */

#include "meta/meta.h"

/* The text, which the caller frees.  0 or -ENOMEM. */
int dat_origin_format(char **ret, const SessionMeta *m);
/* Takes over what @text says; nothing if it is another program's, or damaged.  0 or -ENOMEM. */
int dat_origin_apply(SessionMeta *m, const char *text);

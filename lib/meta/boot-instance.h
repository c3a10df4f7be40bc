/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Boot instance: a tracing instance that the kernel's command line makes in memory that is set aside
 *
 *      reserve_mem=16M:4096:trace trace_instance=boot_mapped^traceoff@trace,sched:sched_switch
 *
 * Flags begin with '^', memory with '@'; events follow the first comma.  One that is a copy of another
 * ("backup=boot_mapped"), or is in ordinary memory, is none.  The text is the command line's, which anybody who
 * boots the host may have written: nothing of it is believed but where words end.
 * Source: linux 6.12 kernel/trace/trace.c, enable_instances(); Documentation/trace/debugging.rst.
 */

#include <stddef.h>

#define BOOT_INSTANCE_WORD "trace_instance="
#define BOOT_INSTANCE_NAME_MAX 64
#define BOOT_INSTANCE_COMMAND_LINE_MAX 65536 /* of /proc/cmdline */

/*
 * boot_instance_parse() - the name in a word that ends at white space or with the text
 *
 * Return: its length behind BOOT_INSTANCE_WORD, fit for one part of a path; 0: the word names none.
 */
size_t boot_instance_parse(const char *word);
/* The next word of a command line; "" at its end. */
const char *boot_instance_next_word(const char *s);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Event choice: an event to be recorded beside the graph, as it is written down
 *
 *      sched:sched_switch
 *      sched:sched_switch:prev_comm == "dd" || next_comm == "dd"
 *
 * SYSTEM:NAME[:FILTER], as in available_events; what follows the second colon is the kernel's own
 * filter language (linux Documentation/trace/events.rst), which only the kernel can check.
 */

#include <stdbool.h>
#include <stddef.h>

#define EVENT_WORD_MAX 63 /* bytes of a system or a name */
#define EVENT_FILTER_MAX 2047
#define EVENT_CHOICE_MAX (2 * EVENT_WORD_MAX + 2 + EVENT_FILTER_MAX)
#define EVENT_PATH_MAX (sizeof("events///trigger") + 2 * EVENT_WORD_MAX)

typedef struct EventChoice {
        char system[EVENT_WORD_MAX + 1], name[EVENT_WORD_MAX + 1];
        const char *filter; /* in the text; NULL: every event of that name */
} EventChoice;

/* False: it is none.  System and name are [A-Za-z0-9_-], fit for a path; the filter is not empty and
 * has no control characters. */
bool event_choice_parse(EventChoice *ret, const char *text);
bool event_choice_is_valid(const char *text);
/* The reverse of event_choice_path() with "format"; no filter.  False: it is no event's. */
bool event_choice_from_path(EventChoice *ret, const char *path);
/* "events/sched/sched_switch/FILE"; @file: "enable", "filter", "format" */
void event_choice_path(char ret[static EVENT_PATH_MAX], const EventChoice *e, const char *file);
/*
 * ftrace:print, which is what programs write to trace_marker.  There is nothing to switch on and no filter: the
 * buffer that is written to has it, and instances have it of the top level, if they are told to
 * (options/copy_trace_marker, linux 6.15).  Its format is in every recording.
 */
bool event_choice_is_marker(const EventChoice *e);

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

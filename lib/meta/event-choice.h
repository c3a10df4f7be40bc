/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * EventChoice: an event to be recorded beside the graph, as it is written down
 *
 *      sched:sched_switch
 *      sched:sched_switch:prev_comm == "dd" || next_comm == "dd"
 *
 * SYSTEM:NAME[:FILTER], as in available_events; what follows the second colon is the kernel's own
 * filter language (linux Documentation/trace/events.rst), which only the kernel can check.
 */

#include <stdbool.h>

#define EVENT_WORD_MAX 63 /* bytes of a system or a name */
#define EVENT_FILTER_MAX 2047
#define EVENT_CHOICE_MAX (2 * EVENT_WORD_MAX + 2 + EVENT_FILTER_MAX)
#define EVENT_PATH_MAX (sizeof("events///enable") + 2 * EVENT_WORD_MAX)

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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Foreign: events of other kinds, as text
 *
 * What stands beside the graph in a buffer (sched:sched_switch, ...) is printed by libtraceevent
 * from the event's own format file, as the kernel would: "NAME: FIELDS".  Differences from the
 * kernel's text:
 *
 *   - "%p", which the kernel hashes with a secret of each boot, is the recorded number, 16 hex
 *     digits: what the kernel prints with options/hash-ptr off;
 *   - "%pS" of the last function of a module has no "/size", which kallsyms does not tell;
 *   - what libtraceevent could only print by believing a number in the record (__print_array(),
 *     __print_hex()), or cannot parse, or what names a constant that only the kernel's sources know
 *     ({ HRTIMER_MODE_ABS, "ABS" }, vmemmap_base), is printed as "FIELD=VALUE FIELD=VALUE".
 *
 * ftrace:print (trace_marker) is its message alone, as in the kernel's drawing.  What other tracers
 * record is in trace-cmd's words, in one line and without addresses of what has a name:
 *
 *      function: udp_init_sock <-- inet_create
 *      kernel_stack: <stack trace > => udp_init_sock => inet_create => __sock_create
 *      user_stack: <user stack trace > => 0x7ffff7e75353
 *      raw_data: # 21776172 01 02 03 04
 *      bprint: a_function: its message       bputs: a_function: its message
 *
 * Source: trace-cmd 3.1.6 lib/trace-cmd/trace-ftrace.c, function_handler(); libtraceevent 1.7.1
 * plugins/plugin_function.c.
 */

#include "base/cleanup.h"
#include "decode/formats.h"
#include "decode/names.h"

/* What analyze/sched.h needs of sched_switch, sched_waking, sched_wakeup and sched_wakeup_new. */
typedef enum SchedKind {
        SCHED_NONE, /* it is another event */
        SCHED_SWITCH,
        SCHED_WAKING,
        SCHED_WAKING_NEW,
} SchedKind;

typedef struct SchedEvent {
        SchedKind kind;
        int32_t pid;      /* WAKING, WAKING_NEW: who is woken; SWITCH: who comes to the CPU */
        char comm[16];    /* the name of that; cut; empty: not said */
        int32_t left_pid; /* SWITCH */
        char left_state;  /* SWITCH: 'R' did not want to leave, 'S', 'D' ... wait */
} SchedEvent;

typedef struct Foreign Foreign;

int foreign_new(Foreign **ret, bool big_endian);
/* The recorded kernel is of 32 bits. */
void foreign_set_narrow(Foreign *f);
/* Who names addresses: false if there is no symbol.  Without one they are numbers. */
typedef bool (*ForeignFind)(void *userdata, uint64_t address, uint64_t timestamp_ns, Symbol *ret);
void foreign_set_names(Foreign *f, ForeignFind find, void *userdata);
/* Of the kernel that recorded, before formats are added; NULL: not known. */
void foreign_set_release(Foreign *f, const char *release);
/* @text: of printk_formats; may be NULL.  0 or -ENOMEM. */
int foreign_set_printk(Foreign *f, const char *text);
/* @system: "sched"; @format: text of the format file, hostile.  0, FORMATS_E_INVALID, -ENOMEM. */
int foreign_add(Foreign *f, const char *system, const char *format);
/* The same when the first event of it is printed: a trace.dat has thousands of formats of which some
 * occur.  @format is borrowed until then; what is no format costs its event the text.  0, -ENOMEM. */
int foreign_add_later(Foreign *f, const char *system, const char *format);
/* Of what a Cursor made of a record.  NULL if the event's id is not known, or its record contradicts its format; else a line without
 * newline, valid until the next call. */
const char *foreign_print(Foreign *f, const Event *event);
/* What a record of the scheduler says; SCHED_NONE: its text has to be asked, which says the same. */
SchedEvent foreign_sched(Foreign *f, const Event *event);
/* Of a kernel_stack or a user_stack: how many addresses, the innermost first, at most @n_max; -1: it is none.
 * *@ret_tgid: of a user_stack its process, else 0. */
int foreign_stack(Foreign *f, const Event *event, uint64_t *ret, size_t n_max, int32_t *ret_tgid);
Foreign *foreign_free(Foreign *f);
DEFINE_CLEANUP(Foreign *, foreign_free);

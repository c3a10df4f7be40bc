/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Formats: where the fields of a recorded event lie
 *
 * Every kernel lays its records out in its own way: `depth` is an int in 6.1 and an unsigned long
 * in 7.2, the exit record of Debian's 6.12 has 16 bytes behind its last field, ids shift with the
 * kernel's configuration.  So nothing is known before the recording's own format files have been
 * read, by field name, once:
 *
 *      events/header_page                        size of a page, where its data begins
 *      events/ftrace/funcgraph_entry/format      id, common fields, func, depth
 *      events/ftrace/funcgraph_exit/format       id, func, depth, overrun, calltime, rettime
 *
 * Source: linux 6.1 kernel/trace/trace_entries.h (FTRACE_ENTRY_PACKED funcgraph_entry,
 * funcgraph_exit); the files themselves are written by kernel/trace/trace_events.c, f_show().
 */

#include <stdbool.h>
#include <stdint.h>

#include "decode/records.h"

/* A number inside a record; size 0: this kernel has no such field. */
typedef struct Field {
        uint16_t offset;
        uint8_t size; /* 0, 1, 2, 4 or 8 bytes */
        bool is_signed;
} Field;

typedef struct Formats {
        bool big_endian;     /* of the recorded machine */
        uint32_t page_bytes; /* header and data of a page */
        uint16_t entry_id, exit_id;
        Field type, flags, preempt_count, pid; /* common to all events */
        struct {
                Field func, depth;
                uint32_t n_bytes; /* an entry shorter than this lacks a field */
        } entry;
        struct {
                Field func, depth, overrun, calltime, rettime, retval;
                uint32_t n_bytes;
        } exit;
} Formats;

enum { FORMATS_E_INVALID = 1 };

/*
 * formats_parse() - read the three files' text
 * @ret:         filled on success
 * @ret_problem: on FORMATS_E_INVALID one constant sentence
 *
 * The texts are NUL-terminated and taken as hostile.
 * Return: 0, FORMATS_E_INVALID, -ENOMEM.
 */
int formats_parse(Formats *ret, const char *header_page, const char *entry, const char *exit,
                  bool big_endian, const char **ret_problem);

typedef enum EventKind {
        EVENT_ENTRY,
        EVENT_EXIT,
        EVENT_OTHER, /* of an id that is neither */
        EVENT_SHORT, /* of a known id, but too short for its fields */
} EventKind;

typedef struct Event {
        uint64_t timestamp_ns; /* trace clock */
        EventKind kind;
        uint16_t id;
        uint8_t flags, preempt_count; /* common_flags, common_preempt_count */
        uint32_t cpu;
        int32_t pid;
        int32_t depth;     /* clamped to 0..EVENT_DEPTH_MAX */
        uint32_t n_bytes;  /* of the record */
        uint64_t func;     /* address */
        uint64_t calltime; /* exits: both trace_clock_local() [ns], whatever the trace clock is */
        uint64_t rettime;
        uint32_t overrun;  /* exits: calls this task made too deep to be recorded */
        bool missed;       /* events of this CPU were lost before this one */
        uint64_t n_missed; /* how many; 0: not known */
} Event;

/* Deeper than any kernel's return stack (one page of at least 8 bytes a call). */
#define EVENT_DEPTH_MAX 1023

/* Fills everything but cpu, missed and n_missed. */
void formats_decode(const Formats *f, const Record *record, Event *ret);

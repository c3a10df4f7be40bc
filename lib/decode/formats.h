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
 *      events/ftrace/funcgraph_entry/format      id, common fields, func, depth, args
 *      events/ftrace/funcgraph_exit/format       id, func, depth, overrun, calltime, rettime, retval
 *
 * `args` (since 6.15) is the rest of the record, and the record has none unless the option
 * funcgraph-args was on; `retval` (since 6.5) is there if the kernel was built with it.
 *
 * Source: linux 6.1 kernel/trace/trace_entries.h (FTRACE_ENTRY_PACKED funcgraph_entry,
 * funcgraph_exit); the files themselves are written by kernel/trace/trace_events.c, f_show().
 */

#include "base/cleanup.h"
#include "decode/records.h"

/* A number inside a record; size 0: this kernel has no such field. */
typedef struct Field {
        uint16_t offset;
        uint8_t size; /* 0, 1, 2, 4 or 8 bytes */
        bool is_signed;
} Field;

typedef struct Formats {
        bool big_endian;     /* of the recorded machine */
        bool is_plain;       /* formats_prepare() found the layout that all kernels so far have */
        uint32_t page_bytes; /* header and data of a page */
        uint16_t entry_id, exit_id;
        Field type, flags, preempt_count, pid; /* common to all events */
        struct {
                Field func, depth;
                Field args;           /* the first of them */
                uint32_t n_bytes;     /* an entry shorter than this lacks a field */
                uint32_t n_with_args; /* one that is as long as this has arguments */
                uint32_t n_usual; /* lengths from n_bytes on of a short record without arguments */
        } entry;
        struct {
                Field func, depth, overrun, calltime, rettime, retval;
                uint32_t n_bytes, n_usual;
        } exit;
} Formats;

enum { FORMATS_E_INVALID = 1 };

/* After the fields were set in another way than by formats_parse(). */
void formats_prepare(Formats *f);

/*
 * formats_parse() - read the three files' text
 * @ret:         filled on success
 * @ret_problem: on FORMATS_E_INVALID one constant sentence
 *
 * The texts are NUL-terminated and taken as hostile.
 * Return: 0, FORMATS_E_INVALID.
 */
int formats_parse(Formats *ret, const char *header_page, const char *entry, const char *exit,
                  bool big_endian, const char **ret_problem);

/*
 * What a probe records of a function's object, a field of the event each, whose name begins with its kind: "be_dport".
 * Numbers have the size that the format says.
 */
#define PROBE_FIELDS_MAX 64
#define PROBE_FIELD_NAME_MAX 31

typedef enum ProbeFieldKind {
        PROBE_UNSIGNED, /* u_ */
        PROBE_SIGNED,   /* d_ */
        PROBE_HEX,      /* x_ */
        PROBE_PORT,    /* po_: of a socket of IP4 or IP6 */
        PROBE_NETWORK, /* be_: a number in network byte order, of 2, 4 or 8 bytes, as it lies in memory */
        PROBE_IP4, /* ip4_: 4 bytes, likewise */
        PROBE_IP6, /* ip6_: an array of 16 bytes */
        PROBE_FAMILY, /* fam_: of which family the next are of PORT, IP4, IP6 and NETWORK, up to another one */
        PROBE_SOCKET, /* st_: which SOCK_* it is of; a raw one has no ports, but its protocol there */
        PROBE_THROUGH, /* at_: a pointer; if it or another one before it is none, the numbers up to the next were not read */
        PROBE_DEVICE, /* dev_: 12 bits of major, 20 of minor */
        PROBE_STRING, /* s_ */
        PROBE_PATH,   /* p0_ to p7_: names of dentries, from the innermost up to the root's, "/" */
} ProbeFieldKind;

typedef struct ProbeField {
        ProbeFieldKind kind;
        Field at;     /* of texts: where it says where they are */
        uint8_t part; /* PATH: 0 to 7 */
        uint8_t n_name;
        char name[PROBE_FIELD_NAME_MAX + 1]; /* without its kind */
} ProbeField;

/* An event of a probe that tells what a function was given or returns (calls/steps.h). */
#define PROBE_ARGS_MAX 6
typedef struct ProbeFormat {
        uint16_t id;
        bool is_entry;
        bool is_stacked; /* of an entry: it has no arguments, but a stack behind it */
        bool has_args;
        Field func;                 /* __probe_ip, or __probe_func */
        Field ret_ip, value;        /* __probe_ret_ip, ret */
        Field args[PROBE_ARGS_MAX]; /* a0 to a5 */
        uint32_t n_bytes;
        ProbeField *fields; /* of an entry, in their order; for free() */
        size_t n_fields;
} ProbeFormat;

typedef enum ProbeKind { PROBE_RETURNED, PROBE_GIVEN, PROBE_STACKED } ProbeKind;
/* @text: NUL-terminated, hostile; fields of other kinds or sizes are left out, and those beyond PROBE_FIELDS_MAX.  0,
 * FORMATS_E_INVALID, also of an entry that tells nothing; -ENOMEM. */
int formats_parse_probe(ProbeFormat *ret, const char *text, ProbeKind kind);

typedef enum EventKind {
        EVENT_ENTRY,
        EVENT_EXIT,
        EVENT_OTHER, /* of an id that is neither */
        EVENT_SHORT, /* of a known id, but too short for its fields */
} EventKind;

typedef struct Event {
        uint64_t timestamp_ns; /* trace clock */
        uint16_t id;           /* as a record of a plain layout begins, up to the pid */
        uint8_t flags, preempt_count; /* common_flags, common_preempt_count */
        int32_t pid;
        uint32_t cpu;
        int32_t depth; /* clamped to 0..EVENT_DEPTH_MAX */
        EventKind kind;
        uint32_t n_bytes;  /* of the record */
        uint64_t func;     /* address */
        uint64_t calltime; /* exits: both trace_clock_local() [ns], whatever the trace clock is */
        uint64_t rettime;
        uint64_t retval;   /* exits, if Formats.exit.retval has a size */
        uint32_t overrun;  /* exits: calls this task made too deep to be recorded */
        uint32_t n_args;   /* entries: the words of their payload */
        bool missed;       /* events of this CPU were lost before this one */
        uint64_t n_missed; /* how many; 0: not known */
        /* OTHER: the record's n_bytes as they were recorded.  Entries: n_args arguments as they are in
         * the record (from formats_decode()), or as uint64_t of this machine (from a Cursor, which
         * keeps both kinds until it has moved twice, and puts a NUL behind a record).  NULL: there is nothing. */
        const void *payload;
} Event;

typedef struct ProbeRecord {
        uint64_t func, ret_ip; /* addresses: in the function, and where it returns to */
        uint64_t value;        /* with its sign, if its type has one */
        uint64_t args[PROBE_ARGS_MAX];
} ProbeRecord;

/* What an EVENT_OTHER from a Cursor says.  False: it is too short. */
bool formats_decode_probe(const ProbeFormat *p, const Formats *f, const Event *e, ProbeRecord *ret);
/* Of the same event, a number of this machine; the bytes of a NETWORK or an IP4 make one, too. */
uint64_t formats_probe_number(const ProbeField *field, const Formats *f, const Event *e);
/* Of a STRING or a PATH, @ret_n bytes without a NUL in them; of an IP6, 16 bytes. */
const char *formats_probe_bytes(const ProbeField *field, const Formats *f, const Event *e,
                                size_t *ret_n);

/* More arguments than any machine passes in registers (linux 7.2, FTRACE_REGS_MAX_ARGS is 6). */
#define EVENT_ARGS_MAX 8

/* Deeper than any kernel's return stack (one page of at least 8 bytes a call). */
#define EVENT_DEPTH_MAX 1023

/* formats_decode() of any layout and byte order. */
void formats_decode_any(const Formats *f, const Record *record, Event *ret);

static inline int32_t formats_clamp_depth(uint64_t depth) {
        int64_t d = (int64_t) depth;

        return d < 0 ? 0 : d > EVENT_DEPTH_MAX ? EVENT_DEPTH_MAX : (int32_t) d;
}

static inline int32_t formats_load_depth(const Field *f, const uint8_t *data) {
        uint64_t v = f->size == 8 ? load_u64(data + f->offset, false)
                                  : load_u32(data + f->offset, false);

        if (_likely_(v <= EVENT_DEPTH_MAX))
                return (int32_t) v;
        return formats_clamp_depth(f->size == 4 && f->is_signed ? (uint64_t) (int32_t) v : v);
}

/* An entry or an exit of a plain layout that carries nothing: one load for the common fields, and no
 * field's size is asked for but the depth's.  At least 8 bytes can be read.  False: it is none, and what is filled
 * means nothing. */
static _always_inline_ bool formats_decode_usual(const Formats *f, const Record *record,
                                                 Event *ret) {
        const uint8_t *data = record->data;
        uint64_t head = load_u64(data, false);
        uint16_t id = (uint16_t) head;

        if (id == f->entry_id && record->n_data - f->entry.n_bytes < f->entry.n_usual) {
                ret->kind = EVENT_ENTRY;
                ret->func = load_u64(data + f->entry.func.offset, false);
                ret->depth = formats_load_depth(&f->entry.depth, data);
                ret->calltime = ret->rettime = 0;
                ret->overrun = 0;
                ret->payload = NULL;
                ret->n_args = 0;
        } else if (id == f->exit_id && record->n_data - f->exit.n_bytes < f->exit.n_usual) {
                ret->kind = EVENT_EXIT;
                ret->func = load_u64(data + f->exit.func.offset, false);
                ret->depth = formats_load_depth(&f->exit.depth, data);
                ret->calltime = load_u64(data + f->exit.calltime.offset, false);
                ret->rettime = load_u64(data + f->exit.rettime.offset, false);
                ret->overrun =
                        f->exit.overrun.size ? load_u32(data + f->exit.overrun.offset, false) : 0;
                if (_unlikely_(f->exit.retval.size > 0))
                        ret->retval = load_u64(data + f->exit.retval.offset, false);
        } else
                return false;
        _Static_assert(offsetof(Event, pid) == offsetof(Event, id) + 4, "as is_plain has it");
        ret->timestamp_ns = record->timestamp_ns;
        memcpy((char *) ret + offsetof(Event, id), &head, sizeof(head));
        ret->n_bytes = record->n_data;
        return true;
}

/* Fills everything but cpu, missed and n_missed.  Whether there is a payload. */
static inline bool formats_decode(const Formats *f, const Record *record, Event *ret) {
        if (_likely_(f->is_plain && record->n_data >= 8 && formats_decode_usual(f, record, ret)))
                return false;
        formats_decode_any(f, record, ret);
        return ret->payload != NULL;
}

/*
 * Payloads: what an event carries besides its fields, kept when its page may go
 *
 * A cursor is already at the next event, perhaps in another segment, when an event is drawn.  So
 * what points into the page is copied: into one of two places in turn, since at most two events of
 * a CPU are looked at together.
 */
typedef struct Payloads {
        uint64_t *kept[2];
        size_t n_room[2];
        unsigned at;
} Payloads;

/* Makes @event->payload one that lasts until the next call but one; for its forms see Event.  0 or
 * -ENOMEM. */
int payloads_keep(Payloads *p, const Formats *formats, Event *event);
void payloads_done(Payloads *p);

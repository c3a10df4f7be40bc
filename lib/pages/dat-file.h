/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatFile: a trace.dat, version 6 or 7, read as a recording
 *
 * As trace-cmd 3.1.6 writes it, and as we do (pages/dat-writer.h draws version 6).
 * Version 7 is made of sections, found through options:
 *
 *      17 08 44 "tracing7" 00   endian u8   long_size u8   page_size u32
 *      compressor "" or "zstd" or "zlib" 00   its version 00   u64 offset of the first options
 *
 *      section:   u16 id   u16 flags (1: compressed)   u32 string   u64 n   n bytes
 *      compressed sections:   u32 stored   u32 plain   stored bytes
 *      options:   { u16 id   u32 n   n bytes }   until id 0, whose u64 is the next options' offset
 *      option BUFFER:   u64 offset of its section   name 00   clock 00   u32 page_size
 *                       u32 n_cpus   { u32 cpu   u64 offset   u64 n }
 *      compressed pages of a CPU:   u32 n_chunks   { u32 stored   u32 plain   stored bytes }
 *
 * A kernel of 32 bits is known by header_page; its long_size is 4, and its records say how long their fields are.
 *
 * The file is taken as hostile.  What is said of metadata is checked when it is opened,
 * pages when they are read.  Of several buffers one is the recording: the top-level one if it has
 * pages, else the first that has some, or the one that is chosen.
 *
 * Source: trace-cmd 3.1.6 Documentation/trace-cmd/trace-cmd.dat.v6.5.txt and .v7.5.txt,
 * lib/trace-cmd/trace-input.c, tracecmd_alloc_fd(), and trace-compress.c.
 */

#include "base/cleanup.h"
#include "meta/meta.h"
#include "store/session-dir.h"

#define DAT_MAGIC "\x17\x08\x44tracing"
#define DAT_MAGIC_BYTES (sizeof(DAT_MAGIC) - 1)

/* Of options, and of the sections that version 7 has. */
enum {
        DAT_OPTION_DONE = 0,
        DAT_OPTION_DATE = 1,
        DAT_OPTION_CPUSTAT = 2,
        DAT_OPTION_BUFFER = 3,
        DAT_OPTION_TRACECLOCK = 4,
        DAT_OPTION_UNAME = 5,
        DAT_OPTION_OFFSET = 7,
        DAT_OPTION_CPUCOUNT = 8,
        DAT_OPTION_VERSION = 9,
        DAT_OPTION_TIME_SHIFT = 12,
        DAT_OPTION_TSC2NSEC = 14,
        DAT_OPTION_HEADER_INFO = 16,
        DAT_OPTION_FTRACE_EVENTS = 17,
        DAT_OPTION_EVENT_FORMATS = 18,
        DAT_OPTION_KALLSYMS = 19,
        DAT_OPTION_PRINTK = 20,
        DAT_OPTION_CMDLINES = 21,
        DAT_OPTION_BUFFER_TEXT = 22,
};

#define DAT_SECTION_PACKED 1 /* of a section's flags */

typedef enum DatCompressor { DAT_NONE, DAT_ZSTD, DAT_ZLIB } DatCompressor;

#define DAT_OWNERS "hierarchy " /* what a session's tracing/owners begins with; it is in a VERSION, too */
#define DAT_MAPS "look " /* likewise tracing/maps */

/* --- times ------------------------------------------------------------------------------------ */

/* How far a CPU of a guest was off, from a moment on. */
typedef struct DatShift {
        int64_t when, offset;
        uint64_t scaling, fraction;
} DatShift;

typedef struct DatShifts {
        DatShift *items; /* ascending by time */
        size_t n;
} DatShifts;

/*
 * What a trace.dat says of its times: pages hold what the trace clock showed, and options say what that
 * was, so that times are those that `trace-cmd report` prints.  In the order in which they apply:
 *
 *      TIME_SHIFT 12   of a guest, against its host's clock: u64 peer   u32 flags (1: interpolate)
 *                      u32 n_cpus   { u32 n   s64 when[n]   s64 offset[n]   u64 scaling[n] }
 *                      { u64 fraction[n] } of each CPU, in later versions
 *      TSC2NSEC 14     u32 mult   u32 shift   u64 offset: ticks * mult >> shift are nanoseconds
 *      DATE 1          text of a number: microseconds to be added, so that it is the time of day
 *      OFFSET 7        text of a number: nanoseconds to be added
 *
 * Source: trace-cmd 3.3.3 Documentation/trace-cmd/trace-cmd.dat.v7.5.txt; lib/trace-cmd/trace-input.c,
 * timestamp_calc(), which makes nothing of TSC2NSEC's offset.
 */
typedef struct DatTimes {
        bool is_of_day; /* DATE was there */
        int64_t offset_ns;
        uint32_t mult, shift; /* 0: what the clock counts is what it is */
        bool interpolates;
        DatShifts *cpus; /* n_cpus of them, by number */
        size_t n_cpus;
        uint8_t *shift_option; /* a copy of it, of n_shift_option bytes; NULL: none */
        size_t n_shift_option;
} DatTimes;

/* True if pages hold the times themselves. */
bool dat_times_are_plain(const DatTimes *t);
/* When it was that @cpu recorded @raw. */
uint64_t dat_times_apply(const DatTimes *t, uint32_t cpu, uint64_t raw);
/* Returns what the trace clock showed then, or somewhat before. */
uint64_t dat_times_find(const DatTimes *t, uint64_t ns);

/* --- the file --------------------------------------------------------------------------------- */

/* One CPU's pages: @n bytes from @at on in the file. */
typedef struct DatCpu {
        uint32_t cpu;
        uint64_t at, n;
        uint64_t n_cut; /* bytes that it should have and that are behind the file's end */
} DatCpu;

/* Of a file that was copied from tracefs: header_page, header_event, and the events'. */
typedef struct DatFormat {
        char *path; /* as below tracefs: "events/ftrace/funcgraph_entry/format" */
        char *text; /* n bytes, ended by a NUL */
        size_t n;
} DatFormat;

/* What one tracing instance of the recorded machine had. */
typedef struct DatBuffer {
        char *name;  /* "": the top-level one */
        char *clock; /* NULL: as the file's */
        bool is_packed;
        uint32_t page_bytes;
        DatCpu *cpus; /* ascending by number; none: it is empty */
        size_t n_cpus;
        CpuAccount *accounts;
        size_t n_accounts;
        uint64_t table_at; /* of version 6: where its table of CPUs is; 0: not known */
        bool is_read;      /* its table was */
} DatBuffer;

/* A text that is read when it is asked for. */
typedef struct DatText {
        const uint8_t *data; /* mapped; NULL: there is none */
        uint64_t n;          /* bytes in the file */
        uint64_t n_plain;    /* unpacked; only if it is packed */
        bool is_packed;
} DatText;

typedef struct DatFile {
        char *name; /* of the recording; NULL until it stands in for a directory */
        int fd;
        uint8_t *map;
        uint64_t n_map;
        bool big_endian, swap;
        unsigned version;
        uint32_t page_bytes;
        uint32_t
                narrow_data_at; /* of a kernel of 32 bits: where in a page its data begin; 0: it is of 64 bits */
        DatCompressor compressor; /* of whatever is packed */
        DatText kallsyms, printk, cmdlines;
        DatFormat *formats; /* header_page and header_event among them */
        size_t n_formats;
        DatBuffer *buffers;         /* the top-level one first */
        size_t n_buffers, i_chosen; /* which of them is the recording */
        uint32_t n_possible_cpus;
        char *clock, *uname, *origin, *owners, *maps;
        DatTimes times;        /* what its pages' are */
        uint64_t first_option; /* of version 7 */
} DatFile;

enum {
        DAT_FILE_E_FOREIGN = 1,    /* not a trace.dat at all */
        DAT_FILE_E_UNREADABLE = 2, /* damaged, or of a kind that is not understood */
        DAT_FILE_E_NO_BUFFER = 3,  /* it has none of that name */
};

/*
 * dat_file_take_fd()
 * @fd:          of a regular file; consumed, also on failure
 * @ret_problem: on DAT_FILE_E_UNREADABLE half a sentence with the place, which the caller frees:
 *               "byte 4711: the file ends within the table of CPUs"
 *
 * Return: 0, DAT_FILE_E_*, -errno.
 */
int dat_file_take_fd(DatFile **ret, int fd, char **ret_problem);
DatFile *dat_file_free(DatFile *f);
DEFINE_CLEANUP(DatFile *, dat_file_free);

/* Of the pages that page_source_read() and header_page speak of: those of a kernel of 32 bits are made wider. */
uint32_t dat_file_page_bytes(const DatFile *f);
/* The one of them that is the recording. */
const DatBuffer *dat_file_buffer(const DatFile *f);
/* What is asked of @f from now on is asked of that one.  0, DAT_FILE_E_NO_BUFFER. */
int dat_file_choose_buffer(DatFile *f, const char *name);

/* As a session's directory.  @f is consumed, also on failure; @name, which need not be a session's,
 * is what its metadata call it. */
int dat_file_to_dir(SessionDir **ret, DatFile *f, const char *name);
/* The file that stands in for @d; NULL if none does. */
const DatFile *dat_file_of_dir(const SessionDir *d);

/* --- what it says of the recording ------------------------------------------------------------ */

/*
 * Where, when and with what limits a trace.dat of ours was recorded
 *
 *      ftraced {"boot_id":...,"machine_id":...,"start":{...},"stop":{...},"clock_steps":[...],"gaps":[...],
 *               "lacks":["CPU 0: 1 segment missing from the sequence"],"filters":"--cpus=0","roots":[...],"spec":{...}}
 *
 * That is the option VERSION, which names the program that wrote the file; trace-cmd shows it in
 * "trace-cmd dump --options" and makes nothing of it (trace-cmd 3.1.6, lib/trace-cmd/trace-input.c,
 * handle_options()).  The members are those of session.json; and, where there is anything to
 * say, what of the recording could not be read, and what of it was asked for.
 */
/* The text, which the caller frees.  0 or -ENOMEM. */
int dat_origin_format(char **ret, const SessionMeta *m);
/* Takes over into @m, which has none of it yet, what @text says; nothing if it is another program's, or damaged.
 * 0 or -ENOMEM. */
int dat_origin_apply(SessionMeta *m, const char *text);

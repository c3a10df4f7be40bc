/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Numbers that whoever reads and whoever writes a trace.dat share; for what they mean see
 * codec/dat-file.h and codec/dat-head.h. */

#include <stdint.h>

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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Programs: functions at the addresses of programs
 *
 * Of a file by its symbols: .symtab, or that of its debug file below /usr/lib/debug/.build-id, or .dynsym and
 * .gnu_debugdata.  Of what no file is mapped at by /tmp/perf-PID.map, which runtimes with a compiler of their own write:
 *
 *      START SIZE NAME         hexadecimal; a later line counts
 *
 * A file is that of the recording if its build ID is, or, on the host that has recorded, if its inode is and it has not
 * changed since.  All files are hostile: they are copied before they are read, for they may be cut meanwhile.  A
 * program without libdw has addresses alone.
 */

#include "base/array.h"
#include "base/buf.h"
#include "spaces/spaces.h"
#include "spaces/stack-copies.h"

typedef struct ProgramFrame {
        bool is_unwound; /* it is known to be no mere guess */
        bool is_return; /* the address is behind a call, and the place is that of the byte before */
        const char *name; /* n_name bytes, until the next one is named; 0: it has none */
        size_t n_name;
        const char *origin; /* what the name is from, if no file is mapped there */
        uint64_t address;   /* as linked; 0: not known */
        bool is_wrong;      /* there is no call in front of it: it is no return address */
        bool hides_caller; /* it keeps no frame pointer there, so that its caller is not on the stack */
} ProgramFrame;

/* Where an unwound stack ends. */
typedef enum UnwindEnd {
        UNWIND_END_WHOLE, /* where the program, or its thread, begins */
        UNWIND_END_CUT,   /* where its copy does */
        UNWIND_END_LOST,  /* where nobody knows on */
} UnwindEnd;
#define UNWIND_FRAMES_MAX 128

/* Names a frame, as far as it can; and unwinds a copy. */
typedef struct ProgramNaming {
        void (*name)(void *userdata, const SpacePlace *place,
                     ProgramFrame *frame); /* NULL: nobody does, nor the next */
        size_t (*unwind)(void *userdata, Spaces *spaces, StackCopy *copy, uint64_t timestamp_ns,
                         uint64_t addresses[static UNWIND_FRAMES_MAX], UnwindEnd *ret_end);
        void *userdata;
} ProgramNaming;

typedef struct ProgramsOf {
        bool is_host;         /* the recording is this host's: inodes mean something */
        bool is_boot;         /* and of this boot: process IDs do, too */
        uint64_t realtime_ns; /* its end: what has changed since is another file */
        uint64_t max_bytes;   /* of all files that are open, each in memory; 0: 2 GiB */
} ProgramsOf;

typedef struct Programs Programs;

int programs_new(Programs **ret, const ProgramsOf *of);
/* Of a ProgramNaming; @programs is one. */
void programs_name(void *programs, const SpacePlace *place, ProgramFrame *frame);
/* Likewise; @copy is changed.  How many addresses, the innermost first, and the others behind calls; what a signal has
 * interrupted is told as if behind one. */
size_t programs_unwind(void *programs, Spaces *spaces, StackCopy *copy, uint64_t timestamp_ns,
                       uint64_t addresses[static UNWIND_FRAMES_MAX], UnwindEnd *ret_end);
/* Why functions have no names, a sentence each: "/usr/bin/a has changed since". */
const Strv *programs_lacking(const Programs *p);
Programs *programs_free(Programs *p);
DEFINE_CLEANUP(Programs *, programs_free);

/* What the ELF file @fd says of itself in notes, of which one is its build ID (meta/meta.h, build_id_find()).  Nothing
 * else of it is read, and little of that; the file is hostile. */

#define ELF_NOTES_MAX ((size_t) 64 << 10)

/* Adds all that are loaded with it.  0; -EBADMSG: it is no such file of this machine's byte order; -errno. */
int elf_notes_read(int fd, Buf *out);

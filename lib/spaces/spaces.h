/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spaces: which file was mapped at an address of a process, at each moment of a recording with --user-stack
 *
 * A look at /proc when recording begins, and, if events are missing, one when it has ended are in the session's tracing/maps,
 * lines of text:
 *
 *      look NS NS                        what follows was seen between the two, of the trace clock; it counts from
 *                                        the second on
 *      process TGID                      what follows is of this process
 *      map START-END OFFSET MAJOR:MINOR INODE BUILDID PATH
 *                                        START, END, OFFSET are hexadecimal, BUILDID hexadecimal or "-"; executable
 *                                        mappings of files, and [vdso]; PATH is as the process sees it, as
 *                                        /proc/PID/maps has it, up to the end of the line
 *      partial                           of some processes not all was looked at, or of some nothing
 *
 * From then on events of the session's own buffer tell, which are no steps:
 *
 *      ftraced_SESSION_m0, a probe of perf_event_mmap(): a file is mapped
 *      sched_process_fork: the child has what its parent has
 *      sched_process_exec: only what was mapped since that began is left
 *
 * An exec maps into a new address space before its event: mappings are told apart by the pointer to theirs (mm), which is in
 * m0.  A child of vfork() maps into its parent's, whose tgid m0 has.
 *
 * An event of m0 has the last names of a path in its file system, that of an exec one that leads to the program.
 *
 * user_stack records, one behind each event, tell whose thread a task is.
 *
 * Unmapping is not recorded: the latest mapping of an address counts.  If events were lost, or reading begins in the middle,
 * any process may have other mappings since.  Then nothing of it is known until one is recorded: in the same address
 * space, all that was there is there; in another one, this alone.  A mapping that a later look has, too, was never gone.
 *
 * Source: linux 6.12 mm/mmap.c, mmap_region(); fs/exec.c, begin_new_exec(), exec_binprm(); kernel/fork.c, dup_mmap().
 */

#include "decode/formats.h"
#include "decode/object.h"

#define MAPS_FILE "maps" /* below tracing/ */
#define MAPS_LOOK "look "
#define MAPS_PARTIAL "partial\n"
#define MAPS_BYTES_MAX ((size_t) 8 << 20)
#define MAPS_PATH_MAX 4096
#define MAPS_PROCESSES_MAX 16384
#define MAPS_MAX 65536

/* A file that was mapped, the same for the same file for as long as the Spaces live. */
typedef struct MappedFile {
        uint64_t inode;
        uint32_t major, minor;
        bool is_of_event; /* path is what it is in its file system, and ".../a" if it is longer */
        const char *path; /* "/usr/bin/client (deleted)", as the kernel tells it, or "[vdso]" */
        const char *
                told; /* of one of an event, the path by which a process was told to execute it; NULL: none was */
        const char *build_id; /* NULL: not known */
        const char *name;     /* the path's last part, plain, without " (deleted)" */
        uint32_t index;       /* of those of its Spaces */
} MappedFile;

/* What is at an address. */
typedef struct SpacePlace {
        int32_t tgid;
        uint64_t address;
        uint64_t at;            /* in the file, from its beginning */
        const MappedFile *file; /* NULL: none, as far as is known */
        bool is_known;          /* else not even whether there is a file */
} SpacePlace;

typedef struct Spaces Spaces;

/* @formats: borrowed. */
int spaces_new(Spaces **ret, const Formats *formats);
/* Takes the looks of @text, hostile, in the place of those before.  Before the first event.  0 or -ENOMEM. */
int spaces_load(Spaces *s, const char *text);
/* True if an event is one of these, by its names. */
bool spaces_take(const char *system, const char *name);
/* @format: text of its format file, hostile; @is_asked: it was for itself, and is a step, too.  0, FORMATS_E_INVALID, -ENOMEM. */
int spaces_add_event(Spaces *s, const char *name, const char *format, bool is_asked);
/* Events were lost, or left out, before @now_ns; UINT64_MAX: before the next one. */
void spaces_lose(Spaces *s, uint64_t now_ns);

/* 1: @e is one of these; SPACES_ASKED: and it is a step, too; 0: it is none; -ENOMEM. */
enum { SPACES_ASKED = 2 };
int spaces_note(Spaces *s, const Event *e);
/* By a user_stack: the task @pid is a thread of @tgid.  0 or -ENOMEM. */
int spaces_note_thread(Spaces *s, int32_t pid, int32_t tgid, uint64_t now_ns);
/* What @address of @tgid is at now, which is when the latest event was, or later: @timestamp_ns. */
void spaces_find(Spaces *s, int32_t tgid, uint64_t address, uint64_t timestamp_ns, SpacePlace *ret);
/* Changes with what spaces_find() says of @tgid.  0: it has no mappings that are known. */
uint64_t spaces_state(Spaces *s, int32_t tgid, uint64_t timestamp_ns);

Spaces *spaces_free(Spaces *s);
DEFINE_CLEANUP(Spaces *, spaces_free);

/* --- lines -------------------------------------------------------------------------------------- */

typedef struct MapLine {
        enum { MAP_LOOK, MAP_PROCESS, MAP_MAPPING } kind;
        int32_t tgid;   /* PROCESS */
        uint64_t at_ns; /* LOOK */
        uint64_t start, end, offset, inode;
        uint32_t major, minor;
        const char *build_id; /* n_build_id bytes; 0: not known */
        const char *path;     /* n_path bytes, not ended */
        size_t n_build_id, n_path;
} MapLine;

/* The line at *@at, which goes on behind it; false: there is none any more.  What is no line is passed over. */
bool map_line_next(const char **at, MapLine *ret);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owners: whose a task was, at each moment of a recording
 *
 * Two things tell it.  The daemon looks at /proc when recording begins, each minute, and when it ends; what has
 * changed since the last look is in the session's tracing/owners, lines of text (OwnerLine):
 *
 *      hierarchy 0                          what paths are of: 0 is cgroup2, else systemd's own of cgroup1
 *      cgroup 4711 /system.slice/a.service  an id that events have
 *      name ID web                          of a container
 *      task NS SINCE PID TGID UID PATH      seen at NS; it is this task since SINCE; both on the trace clock
 *
 * Between two looks events of the session's own buffer tell, which are no steps:
 *
 *      ftraced_SESSION_w0, a probe of wake_up_new_task(): pid, tgid, uid, cgroup of a task that begins
 *      ftraced_SESSION_u0, a probe of commit_creds(): the uid that the task has from now on
 *      cgroup_attach_task, cgroup_mkdir: a process has moved, what a new control group's id stands for
 *      sched_process_fork: where there are no probes, a task has begun of which nothing more is known
 *
 * What has come later counts.  If reading begins in the middle, or events of moves may be missing, a task of which two
 * looks say different things is not known in between; nor is one that no look has seen and no event told of.  A pid that comes
 * again between two looks without an event is taken for the same task.
 *
 * A move tells the pid of one task: if it is its process's first, all of the process have moved.
 *
 * Source: linux 6.12 include/trace/events/cgroup.h; kernel/cgroup/cgroup.c, cgroup_attach_task(),
 * proc_cgroup_show(); kernel/fork.c, kernel_clone().
 */

#include "decode/formats.h"
#include "decode/names.h"
#include "owner/cgroup-words.h"

#define OWNERS_FILE "owners" /* below tracing/ */
#define OWNERS_BYTES_MAX ((size_t) 8 << 20)
#define OWNERS_PATH_MAX 4096

/* The same for the same process, user and control group, for as long as the Owners live.  What is not known is "unknown". */
typedef struct Owner {
        int32_t tgid;        /* -1: not known */
        const char *process; /* "nginx-812" */
        const char *user, *cgroup;
        const char *unit, *container, *pod; /* empty: there is none */
} Owner;

#define OWNER_UNKNOWN "unknown"

/* What of it calls are counted and chosen by. */
typedef enum OwnerWord {
        OWNER_UNIT,
        OWNER_CONTAINER,
        OWNER_PROCESS,
        OWNER_USER,
        _OWNER_WORD_N
} OwnerWord;

/* Empty: there is none.  NULL: @o is, which was not recorded. */
const char *owner_word(const Owner *o, OwnerWord word);

typedef struct Owners Owners;

/* @tasks, @formats: borrowed. */
int owners_new(Owners **ret, const Tasks *tasks, const Formats *formats);
/* Takes the looks of @text, hostile, in the place of those before.  0 or -ENOMEM. */
int owners_load(Owners *o, const char *text);
/* True if an event is one of these, by its names. */
bool owners_take(const char *system, const char *name);
/* @format: text of its format file, hostile; @is_asked: it was for itself, and is a step, too.  0, FORMATS_E_INVALID, -ENOMEM. */
int owners_add_event(Owners *o, const char *name, const char *format, bool is_asked);
/* Events of some tasks, or of some time, are missing. */
void owners_set_partial(Owners *o);

/* 1: @e is one of these, and tasks may have other owners now; OWNERS_ASKED: and it is a step, too; 0: it is none; -ENOMEM. */
enum { OWNERS_ASKED = 2 };
int owners_note(Owners *o, const Event *e);
/* Whose @pid is at @timestamp_ns, which does not go back; NULL without memory. */
const Owner *owners_of(Owners *o, int32_t pid, uint64_t timestamp_ns);

Owners *owners_free(Owners *o);
DEFINE_CLEANUP(Owners *, owners_free);

/* --- lines -------------------------------------------------------------------------------------- */

typedef struct OwnerLine {
        enum { OWNER_HIERARCHY, OWNER_CGROUP, OWNER_NAME, OWNER_TASK } kind;
        uint64_t id; /* HIERARCHY, CGROUP */
        uint64_t at_ns, since_ns;
        int32_t pid, tgid;
        uint32_t uid;
        char container[CONTAINER_ID_CHARS + 1]; /* NAME */
        const char *text;                       /* a path, or a name: n_text bytes, not ended */
        size_t n_text;
} OwnerLine;

/* The line at *@at, which goes on behind it; false: there is none any more.  What is no line is passed over. */
bool owner_line_next(const char **at, OwnerLine *ret);

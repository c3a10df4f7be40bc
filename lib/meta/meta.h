/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * SessionMeta: what is known of a session
 *
 * The content of session.json, and the `session` object of the wire: one shape
 * for both.  The daemon writes it at every change of state; readers take it as
 * hostile (spec_from_json(), bounds on every list).  Members that it does not know are ignored, so
 * also "calibration", which earlier versions measured and wrote.
 */

#include <sys/types.h>

#include "meta/clock.h"
#include "meta/gap.h"
#include "meta/spec.h"
#include "meta/trigger.h"

#define META_VERSION 1

typedef enum SessionState {
        SESSION_NEW,
        SESSION_ARMED,
        SESSION_RECORDING,
        SESSION_DRAINING,
        SESSION_SEALED,
        SESSION_FAILED,
        SESSION_INTERRUPTED, /* only seen from outside: it was live, and no daemon owns the store */
        _SESSION_STATE_N,
} SessionState;

extern const char *const session_state_names[_SESSION_STATE_N];
const char *session_state_name(SessionState s); /* "new", "armed", ... */
int session_state_from_name(const char *s);     /* the state, or -EINVAL */
/* True if a session in state @s still has anything programmed in the kernel. */
bool session_state_is_live(SessionState s);

/* Whence it is known what the roots call, and so what is hooked. */
typedef enum TreeOrigin {
        TREE_UNTOLD,  /* another program's recording, or it has not begun */
        TREE_LEARNED, /* from recordings of this host */
        TREE_SHIPPED, /* with ftraced (daemon/lean/trees) */
        TREE_LESSON,  /* from the beginning of this recording, when everything was hooked */
        TREE_FILE,    /* somebody chose the hooked functions */
        TREE_ALL,     /* all functions are hooked */
        TREE_UNKNOWN, /* nobody knows it */
        _TREE_ORIGIN_N,
} TreeOrigin;

/*
 * SymbolMap: what the kernel's addresses stood for from a moment on
 *
 * A session names the symbols and the modules of its beginning itself; each
 * change of the module set that was noticed meanwhile adds a map.  When exactly
 * the kernel changed is not known, only between which two looks at it:
 *
 *      the map before holds     either may hold     this map holds
 *      ------------------ unchanged_ns ------- from_ns ----------->
 *
 * Both are in the session's trace clock.  Maps are in order and do not overlap:
 * from_ns of one <= unchanged_ns of the next.
 */
#define SYMBOL_MAPS_MAX 64

typedef struct SymbolMap {
        uint64_t unchanged_ns, from_ns;
        char *symbols; /* hash of the kallsyms in the store */
        char *modules; /* hash of the module list there; NULL: not known */
} SymbolMap;

typedef struct SymbolMaps {
        SymbolMap *items;
        size_t n;
} SymbolMaps;

/* One CPU's account.  Kernel counters are deltas over the session, from per_cpu/cpuN/stats
 * (linux 6.1 kernel/trace/trace.c, tracing_stats_read()). */
typedef struct CpuAccount {
        uint32_t cpu;
        uint64_t n_pages, n_bytes; /* stored, without segment headers */
        uint64_t read_events;      /* events the kernel handed out */
        uint64_t overrun;          /* events overwritten before they could be read */
        uint64_t commit_overrun;   /* events dropped because an interrupted writer held the page */
        uint64_t dropped_events;   /* events dropped because the buffer was full (nooverwrite) */
        uint64_t pages_lost;       /* pages read and not stored: torn, or the disk refused them */
        uint64_t pages_dropped;    /* stored, then dropped by the ring; not in n_pages, n_bytes */
        uint64_t in_memory; /* of a live black box: events in it when first any were seen there */
} CpuAccount;

typedef struct SessionMeta {
        char *name, *id; /* id: 16 hex digits; "" of another program's file */
        SessionState state;
        char *reason;       /* why it ended or failed, one sentence; NULL while it runs */
        char *silence;      /* why there are no calls (meta/brief.h); NULL: there are, or may be */
        SessionLimit limit; /* that ended it */
        uid_t owner_uid;
        pid_t owner_pid;
        char *profile; /* that it was started with, or NULL */
        Spec spec;
        Strv roots;      /* functions that spec.functions stood for, sorted */
        Strv notrace;    /* the same for spec.notrace */
        Strv neighbours; /* who else used function_graph meanwhile: sessions, instances */
        Strv warnings;   /* sentences for whoever looks */
        char *kernel;    /* uname release */
        char *build_id;  /* the kernel's (below); NULL: not known */
        char *machine, *host, *boot_id;
        char *machine_id;       /* which host, without telling its machine-id(5); NULL: not known */
        char *instance;         /* tracing instance; NULL: the top-level buffer */
        char *clock;            /* trace_clock (meta/clock.h) */
        char *symbols;          /* hash of the kallsyms in the store; NULL: hidden */
        char *modules;          /* hash of the module list there; NULL: not known */
        char *types;            /* hash of the kernel's types there; NULL: not stored */
        SymbolMaps symbol_maps; /* what held later, when modules came and went */
        uint32_t page_bytes;    /* sub-buffer size */
        uint32_t n_possible_cpus; /* nr_cpu_ids: width of the CPU column */
        bool big_endian;
        uint32_t n_hooked; /* functions that are hooked; 0: all of the kernel's */
        uint32_t n_known;  /* functions of the roots' trees, hooked or not; 0: nobody knows them */
        TreeOrigin tree_from;
        /* Functions of the roots' trees that were not hooked, for a part of the recording at least. */
        Strv left_out;
        Strv left_out_in; /* callers of each, one space between two; "..." as the last: and others */
        Strv left_out_why; /* of each: "cost" (it was called too often), "usual" (work that may come would),
                              "guard", "filter" */
        bool callees_unknown; /* nobody knows what the hooked functions call: none is anything "itself" */
        Strv callees_unknown_of; /* the same of these hooked functions alone */
        uint64_t
                learned_ns; /* when the hooked functions were learned, realtime; 0: they were not */
        uint64_t learned_calls; /* of the roots, from which; 0: not known */
        uint64_t narrowed_ns; /* since when on the trace clock only these; 0: from the beginning */
        HookChanges hook_changes; /* while it recorded */
        OwnWorks own_work;        /* when ftraced changed what is hooked */
        Strv probe_events; /* "SYSTEM:NAME:FUNCTION" of what tells values of that (calls/steps.h) */
        bool learns;       /* what is seen under the roots is learned for lean */
        uint64_t arm_ns;   /* how long programming took */
        uint64_t first_sequence;   /* of a ring: the first that is kept; dropped ones came before */
        uint64_t bytes_dropped;    /* by the ring, in segments */
        bool pinned;               /* not to be removed */
        uint64_t kept_realtime_ns; /* when it was told as kept; 0: nobody noted it */
        char *origin;              /* the session of which it is a snapshot; NULL: it is none */
        uint64_t pages_unsynced;   /* that are not known to be on the disk, after its end */
        uint64_t n_snapshots;      /* that were made of it */
        uint32_t newer_version;    /* of its session.json, which is left as it is; 0: we know it */
        bool unreadable;           /* likewise, its session.json; the reason says why */
        Captures captures;         /* what its triggers came to */
        ClockTuple armed;          /* since when it waits for them; all 0: it never did */
        ClockTuple start, stop;    /* all 0 until then */
        ClockSteps clock_steps;    /* when the clock was set, or the host slept, meanwhile */
        ClockTuple kept_since;     /* when first_sequence began; all 0 while nothing was dropped */
        CpuAccount *cpus;          /* n_cpus of them, ascending by cpu */
        size_t n_cpus;
        Gaps gaps;           /* where something may be missing */
        Conditions degraded; /* what is wrong at the moment; none: all is well */
        /* Of a file that was made of a recording, and in no session.json (pages/dat-file.h) */
        Strv build_ids; /* of modules (below) */
        Strv lacks;     /* what could not be read of that; sentences, without a full stop */
        char *filters;  /* what of it was asked for: "--from=+20ms --cpus=0"; NULL: all */
} SessionMeta;

bool session_id_is_valid(const char *s); /* 16 hex digits */
int session_meta_new(SessionMeta **ret); /* all empty, the spec SPEC_INIT */
/* Another recording from now on: a random id.  0 or -errno. */
int session_meta_renew_id(SessionMeta *m);
SessionMeta *session_meta_free(SessionMeta *m);
DEFINE_CLEANUP(SessionMeta *, session_meta_free);

json_t *session_meta_to_json(const SessionMeta *m); /* a new object; NULL without memory */
/*
 * Unknown keys are ignored (but not in the spec).  Texts that may not be absent are never NULL in
 * what is returned; control characters in texts are '?'.  Numbers above INT64_MAX do not exist in
 * JSON: the writer cuts them.  Whatever session_meta_to_json() wrote can be read, provided that
 * name, id, state, spec, symbols, modules, page_bytes, and the order of cpus and of symbol_maps are
 * valid.
 *
 * Return: 0, META_E_NEWER (of a version that a newer ftraced writes), META_E_INVALID (*@ret_field names
 * the key), -ENOMEM.
 */
enum { META_E_INVALID = 1, META_E_NEWER = 2 };
int session_meta_from_json(SessionMeta **ret, const json_t *o, const char **ret_field);
#define SESSION_ID_UNKNOWN "0000000000000000" /* of a stand-in, and so not one of its own */
/*
 * session_meta_stand_in() - what can be told of a session whose session.json cannot be read
 * @o:       what it says; NULL: nothing
 * @name:    its directory's
 * @problem: the reason; NULL: @o is META_E_NEWER
 *
 * It has ended, has no CPUs, and its reason says what it is: to be listed, and removed, and nothing else.
 * What an owner and times are is taken to be as it is now.  0 or -ENOMEM.
 */
int session_meta_stand_in(SessionMeta **ret, const json_t *o, const char *name,
                          const char *problem);
/* True if it is none of these. */
static inline bool session_meta_is_known(const SessionMeta *m) {
        return m->newer_version == 0 && !m->unreadable;
}

/* Of another program's trace.dat. */
static inline bool session_meta_is_of_file(const SessionMeta *m) {
        return m->id && *m->id == 0;
}
/* The sums over all CPUs, at most UINT64_MAX.  read_events are also those of pages that a ring has dropped since;
 * of a snapshot they are not known: 0. */
CpuAccount session_meta_total(const SessionMeta *m);
/* Of a CPU; NULL: it has none. */
CpuAccount *session_meta_account(const SessionMeta *m, uint32_t cpu);
/* overrun + commit_overrun + dropped_events, in events. */
uint64_t session_meta_events_lost(const SessionMeta *m);
uint64_t cpu_account_events_lost(const CpuAccount *c);
/* Returns what the clock on the wall showed at that time of the trace clock. */
uint64_t session_meta_realtime_ns(const SessionMeta *m, uint64_t trace_ns);
/* stop - start while stopped, now - start (CLOCK_BOOTTIME) while live, 0 before. */
uint64_t session_meta_length_ns(const SessionMeta *m);
/* When it was told as kept, or what is nearest to that (CLOCK_REALTIME); UINT64_MAX: nobody knows. */
uint64_t session_meta_kept_ns(const SessionMeta *m);
/* Copies; @modules may be NULL.  0, -ENOMEM, -ENOSPC (SYMBOL_MAPS_MAX of them are there). */
int symbol_maps_add(SymbolMaps *m, uint64_t unchanged_ns, uint64_t from_ns, const char *symbols,
                    const char *modules);
/* Takes the last one away again. */
void symbol_maps_drop_last(SymbolMaps *m);

/*
 * Build IDs: which build of the kernel and of its modules a recording is of
 *
 * The linker leaves a number that no other build has in a note of what it makes, so that the debug information of exactly
 * that can be found.  The kernel shows its own notes in /sys/kernel/notes, and a module's in
 * /sys/module/NAME/notes/.note.gnu.build-id.  A list of them has "NAME HEX" of each, the kernel's with the name
 * BUILD_ID_KERNEL.
 *
 *      0   u32   n_name   bytes, 4 of "GNU" and a NUL
 *      4   u32   n_desc   bytes of the number
 *      8   u32   type     3
 *      12        name, then the number, each filled up to a multiple of 4; the next note
 *
 * Source: elf(5), "Notes"; linux 6.12 kernel/ksysfs.c, notes_read(), and kernel/module/sysfs.c, add_notes_attrs().
 */

/* Of which application machine_id is the host's (machine-id(5)). */
#define META_MACHINE_ID_OF "41c80e2b5d0f4a6e9a3f7d1c52b6e093"

#define BUILD_ID_KERNEL "vmlinux"
#define BUILD_ID_CHARS_MAX 128 /* 20 bytes are usual */

bool build_id_is_valid(const char *s);
/* The number in @notes, hostile, of @n bytes, in hex; false: there is none. */
bool build_id_find(const void *notes, size_t n, char ret[static BUILD_ID_CHARS_MAX + 1]);
/* Of a list of modules (daemon/symbols/kernel-symbols.h), hostile.  0 or -ENOMEM. */
int build_ids_add_modules(Strv *ids, const char *list);
/* Of the module, whose name is not ended, or, if that is NULL, of the kernel, from a list that strv_sort_unique() left.  NULL: it
 * is not known, or there were several: the module was loaded again, built anew. */
const char *build_ids_get(const Strv *ids, const char *module, size_t n_module);

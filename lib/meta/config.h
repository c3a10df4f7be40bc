/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Config: what ftraced.conf and its drop-ins say
 *
 * Where they are: base/ini.h.
 * The last assignment counts; an empty one sets the default again.  This is what systemd's
 * programs do (systemd 252, man 5 journald.conf).  What is wrong in them never keeps anybody from
 * starting: it is a sentence with file and line, and the setting keeps the value that it had.
 */

#include "base/ini.h"
#include "base/unit.h"
#include "meta/spec.h"

/* Of the store's file system, or of the memory that is available, or bytes. */
typedef struct ConfigShare {
        uint64_t bytes;   /* UINT64_MAX: by default; 0: no limit */
        uint32_t percent; /* if not 0, this instead of bytes */
} ConfigShare;

#define CONFIG_KEYS_MAX 32 /* there may be */

/* Where a value is from. */
typedef struct ConfigOrigin {
        char *text; /* as it was written; NULL: the default */
        char *file; /* NULL: the default */
        unsigned line;
} ConfigOrigin;

/* What one member of ftraced's group may have; 0: no limit. */
typedef struct MemberLimits {
        uint64_t max_sessions; /* that have not ended */
        uint64_t max_stored_bytes, max_connections, max_calls;
} MemberLimits;

/* The settings as numbers; 0: no limit. */
typedef struct Limits {
        uint64_t max_use_bytes, keep_free_bytes;
        uint64_t max_session_bytes; /* of a ring that names none, and of any session if it is set */
        bool session_is_limited;    /* max_session_bytes was set, not only the default of rings */
        uint64_t max_segment_bytes, max_segment_ns, max_retention_ns;
        uint64_t min_retention_ns;     /* CONFIG_FOREVER_NS: "infinity" */
        uint64_t lean;                 /* a SpecLean, of who says nothing */
        uint64_t relearn_ns;           /* between two looks at what roots call by now */
        ConfigShare max_buffer_memory; /* of what is available */
        Spec spec; /* members that limit those of any: config_limits_member() */
        const Strv *member_functions; /* globs; borrowed from the Config; NULL: all */
        const Strv *member_events;    /* likewise; NULL: none */
        MemberLimits member;
} Limits;

typedef struct Config {
        ConfigShare max_use, keep_free, max_buffer_memory;
        Limits limits; /* what needs no working out by config_limits(); UINT64_MAX: by default */
        Strv member_functions, member_events; /* globs */
        ConfigOrigin origins[CONFIG_KEYS_MAX]; /* by key */
        Strv files;                           /* that were read, in order */
} Config;

/* Nothing but defaults. */
Config config_defaults(void);
#define CONFIG_INIT config_defaults()
#define CONFIG_FOREVER_NS ((uint64_t) INT64_MAX)
#define CONFIG_CPU_EVENT_RATE 1000000 /* max_event_rate by default, for each CPU */

/*
 * config_load()
 * @ret:       set also if there is no file
 * @root:      before every path; NULL: none
 * @file:      only this one instead, without drop-ins; NULL: as above
 * @problems:  sentences without a full stop are added
 *
 * Return: 0; -errno if @file cannot be read; -ENOMEM.
 */
int config_load(Config *ret, const char *root, const char *file, Strv *problems);
/* The text of one file, said to be @name; changed meanwhile.  0 or -ENOMEM. */
int config_parse(Config *c, const char *name, char *text, Strv *problems);
void config_done(Config *c);
#define _cleanup_config_ _cleanup_(config_done)

/* Keys of a section stand together. */
typedef struct ConfigKey {
        const char *section, *name;
        unsigned type; /* for config.c, as the last two */
        size_t offset;
        const char *default_text; /* a value, or what is worked out by config_limits() in words */
        uint64_t min;             /* of what is not 0 */
} ConfigKey;
extern const ConfigKey config_keys[]; /* until one without a name */
size_t config_find(const char *section, const char *name); /* or the one without a name */
/* True if it limits a member of a Spec, at that offset there. */
bool config_limits_member(const ConfigKey *key, size_t *ret_offset);
/* What counts, as text: as it was written, or what a default is in words. */
const char *config_text(const Config *c, size_t key);

/* @c: lives as long as what is returned; @fs_bytes: the size of the store's file system; @n_cpus: that are online. */
Limits config_limits(const Config *c, uint64_t fs_bytes, unsigned n_cpus);

/*
 * Gone: what earlier versions of ftraced had, or trace-cmd and perf have, and what to use here
 *
 * Words of command lines, configuration and profiles, by kind, since one word may be of several.
 */
typedef enum GoneKind {
        GONE_VERB,   /* "learn" */
        GONE_OPTION, /* "--via", "-g", "--pid=function_graph" */
        GONE_FORMAT, /* of export: "dot" */
        GONE_KEY,    /* of ftraced.conf or a profile: "MaxDepth" */
} GoneKind;

/* Returns what follows "there is no such word: ", or NULL: nobody would expect it. */
const char *gone_instead(GoneKind kind, const char *word);

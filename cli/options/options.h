/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Options: what the command line says
 *
 * One table describes every option of every verb: how it is spelt, where its
 * value goes, what help says of it, and to which groups it belongs.  A verb
 * names the groups it takes.  Options may stand anywhere before "--".
 */

#include <limits.h>
#include <jansson.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/log.h"
#include "meta/spec.h"
#include "owner/owners.h"

/*
 * What ftracectl exits with (ftracectl(1), EXIT STATUS)
 *
 * Functions of cli/ that "return an exit status" return STATUS_OK, or one of
 * the others after having said why on stderr.
 */

enum {
        STATUS_OK = 0,
        STATUS_FAILED = 1,
        STATUS_USAGE = 2,
        STATUS_NOT_FOUND = 3,    /* no such session, no such function */
        STATUS_FORBIDDEN = 4,    /* not permitted */
        STATUS_BUSY = 5,         /* somebody else holds it */
        STATUS_INCOMPLETE = 6,   /* the recording lacks something */
        STATUS_REFUSED = 7,      /* refused for safety */
        STATUS_SLOWER = 8,       /* diff --fail-over: it has become slower */
        STATUS_UNABLE = 77,      /* this kernel cannot */
        STATUS_UNTOLD = 125,     /* diff --fail-over: it cannot be told; "git bisect run" skips */
        STATUS_NO_EXEC = 126,    /* run: the command cannot be executed ... */
        STATUS_NO_COMMAND = 127, /* ... or does not exist */
        STATUS_NO_VERDICT = 129, /* diff --fail-over: wrong usage; "git bisect run" ends */
        STATUS_PIPE = 141,       /* nobody reads stdout any more: 128 + SIGPIPE */
};

/* Says on stderr what went wrong: "return failed(STATUS_USAGE, ...)". */
#define failed(status, ...) (log_error(__VA_ARGS__), (status))
/* The same of @error, -errno, with %m; STATUS_FAILED. */
#define failed_errno(error, ...) (log_error_errno((error), __VA_ARGS__), STATUS_FAILED)
static inline int out_of_memory(void) {
        return failed(STATUS_FAILED, "Out of memory.");
}
/* Warns of each of these sentences, which have no full stop. */
static inline void warn_each(const Strv *sentences) {
        for (size_t i = 0; i < sentences->n; i++)
                log_warning("%s.", sentences->items[i]);
}

enum {
        OPTIONS_GLOBAL = 1 << 0, /* every verb has these */
        OPTIONS_JSON = 1 << 1,
        OPTIONS_RECORD = 1 << 2, /* what to record */
        OPTIONS_DRAW = 1 << 3,   /* how to draw it */
        OPTIONS_OUTPUT = 1 << 4, /* where to */
        OPTIONS_RUN = 1 << 5,
        OPTIONS_FOLLOW = 1 << 6,
        OPTIONS_STOP = 1 << 7,
        OPTIONS_VACUUM = 1 << 8,
        OPTIONS_CONFIG = 1 << 9,
        OPTIONS_VERIFY = 1 << 10,
        OPTIONS_FILTER = 1 << 11,    /* what of a recording to read */
        OPTIONS_EXPORT = 1 << 12,    /* to what format */
        OPTIONS_ARM = 1 << 13,       /* what to wait for */
        OPTIONS_IN_KERNEL = 1 << 14, /* whether to write anything at all */
        OPTIONS_TOP = 1 << 15,
        OPTIONS_KEEP_GOING = 1 << 16,
        OPTIONS_LIVE = 1 << 17,   /* those of OPTIONS_FILTER that make sense while it is recorded */
        OPTIONS_DOCTOR = 1 << 18, /* what to look at besides */
        OPTIONS_CALLERS = 1 << 19,
        OPTIONS_FETCH = 1 << 20,
        OPTIONS_BUFFER = 1 << 21,   /* which of a file's */
        OPTIONS_REMOTE = 1 << 22,   /* where it is done; never said there again */
        OPTIONS_FLEET = 1 << 23,    /* on many hosts */
        OPTIONS_SCHEDULE = 1 << 24, /* when, how often, how many */
        OPTIONS_LATER = 1 << 25,
        OPTIONS_ANALYZE = 1 << 26, /* how to add up what was read */
        OPTIONS_TREE = 1 << 27,
        OPTIONS_HIST = 1 << 28,
        OPTIONS_COLLECT = 1 << 29, /* what of many hosts */
        OPTIONS_LIMIT = 1 << 30,
};
/* No int has these. */
#define OPTIONS_WHY (UINT64_C(1) << 33)   /* what to compare with what */
#define OPTIONS_DIFF (UINT64_C(1) << 34)  /* what is too much */
#define OPTIONS_PATH (UINT64_C(1) << 35)  /* of which calls */
#define OPTIONS_CALLS (UINT64_C(1) << 36) /* which */
#define OPTIONS_PIN (UINT64_C(1) << 37)   /* or no longer */
#define OPTIONS_LINES (UINT64_C(1) << 38) /* from where lines of the source are */
#define OPTIONS_CARRY (UINT64_C(1) << 39) /* how many of them to keep */
#define OPTIONS_WAYS (UINT64_C(1) << 40)  /* whether calls have them */

#define NTH_TRACE_ALL INT_MAX

typedef enum ColorMode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorMode;

typedef enum Compress { COMPRESS_UNSAID, COMPRESS_NONE, COMPRESS_ZSTD } Compress;

typedef enum JsonMode { JSON_OFF, JSON_AUTO, JSON_SHORT, JSON_PRETTY } JsonMode;

/* What of a recording is read, as it was said; depth, notrace, pids, cpus and
 * slower are in the spec. */
typedef struct FilterOptions {
        Strv tasks, roots, functions, fold;
        Strv owners[_OWNER_WORD_N];
        const char *from, *to, *keep_slower;
        uint64_t nth, n_slowest;
        bool keep_failed;
} FilterOptions;

/* When, and how many of what a timer begins. */
typedef struct ScheduleOptions {
        const char *calendar, *at;
        uint64_t in_ns, max_per_day, keep; /* 0: not said */
} ScheduleOptions;

/* What a trace.dat shall be like. */
typedef struct FetchOptions {
        bool ended;
        Compress compress; /* of version 7; unsaid: version 6 */
} FetchOptions;

/* How what was read is added up and shown. */
typedef struct AnalysisOptions {
        const char *sort;    /* top */
        const char *columns; /* top; NULL: not said */
        const char *vmlinux; /* NULL: not said */
        const char *source;  /* export: a directory; NULL: not said */
        bool lines;
        const char *where;      /* calls: a condition (cli/views/views.h); NULL: all */
        uint64_t min_ppm;       /* tree: of all; UINT64_MAX: not said */
        uint64_t fail_over_ppm; /* diff: of what it was before; UINT64_MAX: not said */
        Strv callers;           /* tree */
        bool corrected, over_time;
} AnalysisOptions;

/*
 * --on and --do, as they follow each other (meta/trigger.h)
 *
 * A --do belongs to every --on since the last group of --do; several in a row make one rule do several things; one
 * before any --on belongs to a trigger by command.  A rule that is not complete yet begins with its space.
 */
typedef struct Rules {
        Strv items;
        size_t n_complete; /* those that a later --do does not concern */
        bool is_doing;     /* the last word was a --do */
} Rules;

typedef struct Options {
        const char *socket;       /* NULL: the default */
        const char *store;        /* NULL: ask the daemon */
        const char *buffer;       /* of a trace.dat; NULL: not said */
        const char *host, *hosts; /* NULL: here */
        JsonMode json;
        ColorMode color;
        bool no_pager, no_legend, quiet, help, version;
        Strv help_of; /* "all" */

        const char *lean_source; /* what --lean= names, if that is no list of functions */
        const char *name, *profile;
        Spec spec;        /* without its functions, which are words */
        json_t *settings; /* members of it that have no option of their own; NULL: none */
        uint64_t wait_ns; /* for what another one uses; 0: not at all */
        bool force, sched;
        Rules rules; /* spec.triggers to be */
        bool keep, all, deep, keep_going, off;
        int nth_trace; /* of a text, from 1; NTH_TRACE_ALL; 0: not said */
        const char *format;
        const char *by; /* top */
        uint64_t limit; /* 0: not said; UINT64_MAX: none */
        Strv render;    /* options of the renderer */
        FilterOptions filter;
        FetchOptions fetch;
        AnalysisOptions analysis;
        const char *against; /* why: another recording; NULL: not said */
        const char *output;
        uint64_t vacuum_age_ns; /* 0: not said */
        bool dry_run;
        const char *config_root;
        ScheduleOptions schedule;

        Strv words;     /* arguments before "--", in order, without the verb */
        char *verb;     /* NULL: none was given */
        char **command; /* arguments after "--", NULL-terminated; borrowed from argv */
        size_t n_command;
        uint64_t given[2]; /* bit i: entry i of the table was given */
        Strv said;         /* "--name=value", in order */
} Options;

/* The store that is read and changed without a daemon. */
static inline const char *options_store(const Options *o) {
        return o->store ?: LOCALSTATEDIR "/lib/ftraced";
}

/* Reads a whole command line, without knowing the verbs; options_done() it, also after a failure.  An exit
 * status. */
int options_parse(Options *ret, int argc, char **argv);
typedef struct Verb Verb;
/* For verbs that run no command: "--" only ended the options, or a command was meant, which is refused.  An exit
 * status. */
int options_join_words(Options *o, const Verb *v);
/* Whether @v takes all that was given, and so many words; an exit status. */
int options_check(const Options *o, const Verb *v);
/* Adds what was said of options that belong to any of @groups and to none of @others, for another
 * command line; 0 or -ENOMEM. */
int options_said(Strv *ret, const Options *o, uint64_t groups, uint64_t others);
/* " with --root=udp_sendmsg --task=client", as it was said; empty if nothing was.  NULL without memory; the caller
 * frees. */
char *options_said_filters(const Options *o);
/* What the command line says of a Spec, for a profile that the rest is from: what was given is there also if it
 * is what a Spec has by default.  @spec: o->spec, with its functions if any were named.  NULL without memory. */
json_t *options_spec_to_json(const Options *o, const Spec *spec);
/* The rules with what was not said: a trigger by command, which starts or, of a ring, makes a snapshot.  An exit
 * status; what makes no sense is said. */
int options_rules(Strv *ret, const Options *o);
void options_done(Options *o);
#define _cleanup_options_ _cleanup_(options_done)

#define HELP_WIDTH 80
/* The lines of help for the options of @groups, in the table's order; @verb: NULL: those of every verb.  @only: names,
 * with blanks between them; NULL: all.  How many it leaves out. */
size_t options_help(Buf *out, const char *verb, uint64_t groups, const char *only);

/* --- the table ----------------------------------------------------------------------------------- */

typedef enum OptionKind {
        OPTION_FLAG,   /* bool */
        OPTION_TEXT,   /* const char * */
        OPTION_NAME,   /* char *, malloc()ed, that is_valid() */
        OPTION_WORDS,  /* Strv; commas separate, repetitions add; each is_valid(), if that is set */
        OPTION_NAMES,  /* Strv of values that is_valid(); repetitions add */
        OPTION_NUMBER, /* uint64_t up to max */
        OPTION_BYTES,  /* uint64_t */
        OPTION_DURATION, /* uint64_t [ns] */
        OPTION_PERCENT,  /* uint64_t [millionths] */
        OPTION_LEAN,
        OPTION_JSON_MODE, /* its value is optional */
        OPTION_WAIT,      /* uint64_t [ns]; its value is optional */
        OPTION_CHOICE,    /* an enum, whose value choose() finds */
        OPTION_ON,
        OPTION_DO,
        OPTION_KEEP,     /* its value is optional: a flag, or uint64_t up to max */
        OPTION_CAPTURES, /* "3" or "20/day" */
        OPTION_SET,      /* json_t *: members of a Spec; repetitions add */
        OPTION_STACK,    /* "copy:16K,1/10"; its value is optional */
        OPTION_FLAG_OF,  /* its value is optional: bool, or words for the Strv at `list` instead */
} OptionKind;

typedef struct Option {
        const char *name;
        char letter; /* 0: none */
        uint64_t groups;
        OptionKind kind;
        size_t offset;
        const char *value; /* its name in help */
        const char *help;
        uint64_t min, max;
        int (*choose)(const char *word); /* its value, or negative */
        bool takes_all;                  /* "all" is UINT64_MAX */
        bool (*is_valid)(const char *);
        const char *noun;  /* what is_valid() lets through */
        const char *verbs; /* behind others the letter is another option's; NULL: of all */
        size_t list;
} Option;

/* Says what is wrong with the command line, and where help is; STATUS_USAGE. */
int option_usage(const char *verb, const char *format, ...) _printf_(2, 3);
bool option_has_optional_value(const Option *option);
/* @value: NULL if the option has none.  An exit status. */
int option_set_value(Options *o, const Option *option, const char *value);

/*
 * Action: the second word of verbs that are several, "schedule add" and "profile list"
 */

typedef struct Action {
        const char *name;
        size_t min_words, max_words; /* behind it */
        const char *takes;           /* those words, in a sentence: "the name of a schedule" */
        int (*run)(const Options *o, const char *word); /* @word: the next, or NULL */
} Action;

/* Does what the words say; without any, the first of @actions.  @names: all of them, "list, show or
 * check".  An exit status. */
int action_run(const Options *o, const char *verb, const Action *actions, size_t n_actions,
               const char *names);

/*
 * Verb: one thing ftracectl does
 *
 * One file each, verb-NAME.c; cli/main.c lists them.  A verb is given options
 * that were checked against its entry, and returns an exit status
 * after having said on stderr whatever there is to say.
 */

typedef int VerbFunction(const Options *o);

struct Verb {
        const char *name;
        const char *synopsis; /* what follows the name */
        const char *summary;  /* half a line, lower case */
        const char *details;  /* paragraphs of help, each ended by a newline; may be NULL */
        uint64_t groups;      /* OPTIONS_*; OPTIONS_GLOBAL goes without saying */
        size_t min_words, max_words;
        VerbFunction *run;
        bool has_fleet;    /* does by itself what --hosts asks for */
        const char *often; /* the options that one uses most; NULL: all */
        int (*check)(int fd, const char *path, Buf *said, bool *ret_is_told); /* a SentCheck */
};

VerbFunction verb_run, verb_start, verb_arm, verb_trigger, verb_snapshot, verb_stop, verb_follow,
        verb_status, verb_list, verb_show, verb_top, verb_tree, verb_hist, verb_lines, verb_calls,
        verb_slow, verb_why, verb_waits, verb_path, verb_verify, verb_remove, verb_report,
        verb_fetch, verb_collect, verb_export, verb_diff, verb_pin, verb_vacuum, verb_functions,
        verb_profile, verb_metrics, verb_schedule, verb_doctor;

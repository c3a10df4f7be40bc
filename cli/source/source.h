/* SPDX-License-Identifier: GPL-2.0-or-later */

#pragma once

/*
 * Source: a recording, wherever it is
 *
 * From the daemon, which hands over descriptors of the session's directory, or
 * straight from a store: the one that --store names or, if no daemon runs, the
 * usual one.  Or a file that another program wrote, a trace.dat.  Whoever reads a
 * Source need not know which.
 *
 * A word with a "/" is a file.  Any other is a session if there is one of that
 * name, else a file if there is one: what lies in the working directory does not
 * hide a session.  One that ends in .dat, .txt, .trace or .log is a file if there
 * is one, and else a session.
 */

#include <jansson.h>

#include "analyze/pairing.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/name.h"
#include "calls/census.h"
#include "calls/playback.h"
#include "cli/contact/contact.h"
#include "cli/options/filtering.h"
#include "cli/options/options.h"
#include "import/text-trace.h"
#include "lines/lines.h"
#include "meta/meta.h"
#include "pages/dat-file.h"
#include "render/renderer.h"
#include "retention/vacuum.h"
#include "store/session-dir.h"

typedef struct Source {
        SessionDir *dir;
        SessionMeta *meta;
        uint64_t disk_bytes; /* what it takes in the store; of source_describe(); 0: not known */
        /* The same of a daemon: until when nothing but a request removes it, and when it is too old,
         * CLOCK_REALTIME; 0: that has gone by, or is never. */
        uint64_t stays_until_ns, goes_at_ns;
        int readers_fd;  /* keeps it from being removed (retention/keep.h), or negative */
        bool from_store; /* not through a daemon: nothing is known to be alive */
} Source;

/* Whether the SOURCE @word is a file, as above; asks the daemon, or the store, if it must. */
bool source_is_file(const Options *o, const char *word);

/* What a SOURCE is: a session, in whichever store, or a file, which @fd has open. */
typedef struct SourceFound {
        SourceForm form;
        int fd; /* of a session negative */
} SourceFound;

/* "-" is the text on standard input.  An exit status, like the next five; then @ret->fd is the caller's. */
int source_find(SourceFound *ret, const Options *o, const char *word);
/* The recording that was found, whose descriptor is consumed; a text is none. */
int source_open_found(Source **ret, const Options *o, const char *word, SourceFound found);
/* Both: @name is a session's name or id, or the path of a trace.dat. */
int source_open(Source **ret, const Options *o, const char *name);
/* The same through a daemon that is already connected. */
int source_open_client(Source **ret, const Options *o, Client *c, const char *name);
/* Metadata alone; the directory is not opened if a daemon answers (dir is NULL then). */
int source_describe(Source **ret, const Options *o, const char *name);
/* The @n_newest sessions, 0: all: an object, which the caller owns, with an array of Session
 * objects ("sessions"), or, if @is_brief, which takes a fraction of the time, of Brief objects
 * ("briefs"); how many there are ("total"); and, of a daemon, "retention"
 * (retention_add_line()).  So also with STATUS_INCOMPLETE: some cannot be read, which was
 * said. */
int source_list(json_t **ret, const Options *o, uint64_t n_newest, bool is_brief);
/* Metadata as it is on disk now. */
int source_refresh(Source *s);
Source *source_free(Source *s);
DEFINE_CLEANUP(Source *, source_free);

/* What of a recording @o leaves, and what was left when @m, NULL of a text, was made of one: "--from=+20ms --cpus=0";
 * NULL: all.  The caller frees.  0 or -ENOMEM. */
int source_filters(char **ret, const Options *o, const SessionMeta *m);
/* What the command line calls that buffer of a trace.dat. */
const char *source_buffer_name(char text[static NAME_QUOTE_MAX], const DatBuffer *b);
/* Takes the `session` of a reply: an exit status. */
int source_meta_from_reply(SessionMeta **ret, const json_t *reply);
/* Says that @name cannot be a session's name; an exit status. */
int source_check_name(const char *name);
/* The same of each. */
int source_check_names(const Strv *names);

/*
 * Retention: what a daemon says of which recording goes next (retention/outlook.h), for people
 *
 * @reply: of a method that has the member "retention"; without it nothing is said, for nothing goes by
 * itself there.
 */

/* One line, after @indent. */
void retention_add_line(Buf *out, const json_t *reply, const char *indent);
/* The same of what the daemon owes the kernel; nothing if it owes nothing. */
void put_back_add_line(Buf *out, const json_t *reply, const char *indent);
/* Says what goes for what has begun or was kept, if anything has to. */
void retention_talk(const Options *o, const json_t *reply);
/* What the next daemon on the usual store would say; @v: all of that store.  NULL: it cannot be told. */
json_t *retention_of_store(const Options *o, const Store *store, const Vacuum *v);
/* The one of @sessions (an array of Session) that goes next gets the member "goes". */
void retention_mark(json_t *sessions, const json_t *reply);

/*
 * Damage: what decoding had to step over
 */

/* How often something was found. */
typedef struct DamageCount {
        uint64_t n;
        const char *one, *many, *what;
} DamageCount;

/* "CPU 3: 2,646 pages WHAT", with @where in front, of each that was found.  0 or -ENOMEM. */
int damage_add_counts(Strv *ret, const char *where, const DamageCount *counts, size_t n);
/* "cpu0/00000003.seg: block 5: the body does not match its checksum, 256 pages lost", of each.
 * 0 or -ENOMEM. */
int damage_describe_each(const Damages *d, Strv *ret);

/*
 * damage_describe() - a sentence for each kind of damage, of the files, the symbols and on each CPU
 * @p:      read to its end, of which a census is finished here; what its meta says of losses need
 *          not be said again, and what pages say and it denies is damage
 * @live:   the session still records: what its daemon has yet to write is no damage
 *
 * Return: 0, or -ENOMEM.  Adds nothing if all is well.
 */
int damage_describe(Playback *p, bool live, Strv *ret);
/* The same of the files alone: what stands in the place of one, and what of an ended session is missing that its
 * daemon noted. */
int damage_describe_files(const SessionDir *dir, const SessionMeta *m, Strv *ret);
#define DAMAGE_OF_SYMBOLS "its symbols in the store are damaged: functions are addresses"
/* The same of one CPU's pages, on a way through all or some of them. */
int damage_describe_cpu(const SessionMeta *m, uint32_t cpu, const PageCount *c, const Damages *d,
                        bool live, Strv *ret);
/* How many of the returns that are missing the kernel is known not to record (calls/census.c). */
uint64_t damage_dropped(const Census *c, const SessionMeta *m);

/*
 * Drawing: a recording becomes text, at once or as it grows
 *
 *      drawing_open() drawing_finish()                     all of it
 *      drawing_open() drawing_pump()... drawing_finish()   live
 *
 * And display_*(): what the verbs that draw say besides, on standard error.  SIGPIPE must be ignored; a reader that
 * left is -EPIPE.
 */

typedef struct DrawingOptions {
        /* Gets the steps in place of a renderer, whose errors it may return; NULL: they are drawn. */
        int (*listener)(void *userdata, const Step *step);
        void *userdata;
        const char *format; /* a renderer's name; NULL: as the kernel draws */
        RenderOptions render;
        /* Recorded on this very machine, now: tasks may be asked of /proc; and it is counted. */
        bool live;
        Filtering *filtering; /* resolved when the recording is open; NULL: all of it is drawn */
} DrawingOptions;

#define DRAWING_OPTIONS_DEFAULT ((DrawingOptions){ .render = RENDER_OPTIONS_DEFAULT })

enum { DRAWING_E_UNREADABLE = 1 }; /* the recording cannot be decoded; *ret_problem says why */

#define LIVE_TASKS 256
typedef struct LiveTask {
        int32_t pid; /* 0: none */
        char comm[TASK_COMM_BYTES];
} LiveTask;

typedef struct Drawing {
        const DrawingOptions *options; /* borrowed */
        Playback *playback;            /* NULL: it is not open */
        Programs *programs;            /* NULL: likewise, or no stacks of them were recorded */
        const Renderer *renderer;
        void *rendering; /* NULL: the listener has the steps */
        Buf out;
        Ways *ways;                      /* borrowed; NULL: steps have none */
        Census census;                   /* live: so far; after drawing_finish() finished */
        LiveTask live_tasks[LIVE_TASKS]; /* each at its pid's place, the one that was met last */
} Drawing;

/* What a renderer of this recording is to know; RENDER_AUTO has become an answer. */
RenderContext drawing_context(const SessionMeta *meta, const RenderOptions *options);

/*
 * drawing_open() - draw the header of a recording, and be ready for its calls
 * @dir, @meta, @options, @out_fd: borrowed for the drawing's life
 * @ret_problem: on DRAWING_E_UNREADABLE half a sentence, which the caller frees: "its
 *               events/header_page is missing"
 *
 * drawing_done() it also after a failure.  0, DRAWING_E_*, -errno.
 */
int drawing_open(Drawing *ret, const SessionDir *dir, const SessionMeta *meta,
                 const DrawingOptions *options, int out_fd, char **ret_problem);
/*
 * drawing_pump() - draw and write out what came since
 * @until_ns: trace clock; events after it stay, because an earlier one of another CPU may still
 *            come: give a moment before which every CPU's pages have surely been stored
 *
 * An entry is drawn without waiting for its exit, so that a leaf that falls between two pumps is
 * drawn open, as the kernel's trace_pipe does.  0 or -errno.
 */
int drawing_pump(Drawing *d, uint64_t until_ns);
/* Draws the rest.  @is_live: its session still records; @damage: gets a sentence for each thing
 * that had to be stepped over (damage_describe()).  0 or -errno. */
int drawing_finish(Drawing *d, bool is_live, Strv *damage);
void drawing_done(Drawing *d);
#define _cleanup_drawing_ _cleanup_(drawing_done)

/* From --format, -O and --no-legend; an exit status. */
int display_options(DrawingOptions *ret, const Options *o);
/* Turns the result of those functions into an exit status; consumes @problem. */
int display_status(int r, const SessionMeta *m, char *problem);
/* Draws all of @s on stdout, through a pager on a terminal, and says what was damaged; an exit
 * status, STATUS_INCOMPLETE if anything was. */
int display_report(const Source *s, const Options *o, const DrawingOptions *d);
/* What a ring dropped, which is no loss. */
void display_dropped(const Options *o, const SessionMeta *m);
/* A line for each time that the host slept or its clock was set, which the times drawn do not show. */
void display_clock(const Options *o, const SessionMeta *m);
/* One line about the functions that were not hooked, if any; and what is missing, CPU by CPU, if anything is, which
 * --quiet does not silence. */
void display_lacks(const Options *o, const SessionMeta *m);

/*
 * Text source: a text that a tracer printed, as the SOURCE of a verb that reads
 *
 * A file (cli/source/source.h), or "-", standard input.  What it is, its content tells.
 */

typedef struct TextSource {
        const char *name; /* as messages call it; borrowed */
        TextTrace *trace;
        bool is_utf16;
        uint64_t n_uncounted; /* places that say that events were lost, and not how many */
} TextSource;

/* What source_find() found to be a text; @fd is consumed.  An exit status. */
int text_source_take_fd(TextSource *ret, const Options *o, const char *word, int fd);
/* Fills what @options leave open: how @s was drawn.  @is_format_given: --format was. */
RenderContext text_source_layout(const TextSource *s, const Options *o, DrawingOptions *d);
/* The next step; 1, 0 at the end, or a negative exit status after having said why. */
int text_source_next(TextSource *s, Step *ret);
/* Says that there are no durations, to who adds them up. */
void text_source_say_untimed(const TextSource *s);
/* Says what was skipped, what was damaged, and what is missing; an exit status: STATUS_FAILED
 * after damage, STATUS_INCOMPLETE after a loss. */
int text_source_finish(const TextSource *s, const Options *o);
void text_source_done(TextSource *s);
#define _cleanup_text_source_ _cleanup_(text_source_done)

/*
 * SourceLines: from which lines of the source calls were made, by --vmlinux or what is found
 */

typedef struct SourceLines {
        Lines *lines; /* NULL: they are not open */
        Ways *ways;
        Strv build_ids; /* of which are: */
        LinesId *ids;
} SourceLines;

/* @m, @p: borrowed for its life; NULL of a text.  An exit status, after having said why there are none; then, too,
 * source_lines_done() it. */
int source_lines_open(SourceLines *ret, const Options *o, const SessionMeta *m, const Playback *p);
/* Says where they are from, and which functions have none; nothing, if they are not open. */
void source_lines_say(const SourceLines *s, const Options *o);
void source_lines_done(SourceLines *s);

/*
 * Programs: names for the stacks of programs, if they were recorded
 */

/* *@ret, which must be there for as long as @p is read, is NULL if none were.  0 or -ENOMEM. */
int source_programs_open(Programs **ret, Playback *p);
/* A sentence for what lacks of them in what was read.  0 or -ENOMEM. */
int source_programs_describe(const Programs *p, const Playback *playback, Strv *ret);

/*
 * Reading: the steps of a SOURCE, whatever it is, past the filters of the command line
 *
 * For verbs that add steps up or draw them.  One that takes OPTIONS_FILTER need not know more of
 * filters.
 */

typedef struct Reading {
        const Options *o; /* borrowed for its life, like the next */
        const char *word; /* the SOURCE */
        TextSource text;  /* trace NULL: it is a recording */
        Source *source;
        Playback *playback;
        Filtering filtering;
        Pairing *whole;    /* NULL: nothing is left out, or nobody adds calls up */
        Filter *filter;    /* a text's; a playback has its own; NULL: all of it is passed on */
        bool has_begun;    /* of a text: what depends on its first step is resolved */
        int failure;       /* what the text could not do, as text_source_next() said it */
        SourceLines lines; /* if they are asked for */
        Programs *programs; /* NULL: no stacks of them were recorded */
        bool draws_ways;   /* steps have their ways */
        Strv damage, said; /* of a recording that was closed */
} Reading;

/* Which events are passed on whatever is asked for. */
typedef enum ReadingFor {
        READING_FOR_DRAWING, /* none */
        /* Who adds up calls wants to know when they wait: those that tell, whosever they are. */
        READING_FOR_CALLS,
        /* And who wants to know whose request a task works at: besides, those that say so, also
         * before the time that is asked for, so that all before it is read. */
        READING_FOR_REQUESTS,
} ReadingFor;

/* @word: as the command line has it.  @ret must stay where it is; reading_done() it also after a
 * failure.  An exit status. */
int reading_open(Reading *ret, const Options *o, const char *word, ReadingFor purpose);
/* The same for who has another way to read a recording: of one there is no playback, and only a text gives
 * steps. */
int reading_find(Reading *ret, const Options *o, const char *word);
/* 1: @ret is the next step; 0: there are no more; a negative exit status, after having said why. */
int reading_next(Reading *r, Step *ret);
/* Of a recording: keeps what is known of it and what reading_finish() says, and neither files nor pages.  An exit status. */
int reading_close(Reading *r);
/* Says what was skipped, damaged or lost; an exit status: STATUS_FAILED after damage of a text,
 * STATUS_INCOMPLETE after a loss. */
int reading_finish(const Reading *r);
/* Reads it to its end: each function's name once, and each task's (NULL: not these).  An exit status. */
int reading_names(Strv *functions, Strv *tasks, Reading *r);
/* Says which name of --root, --function, --task or @also (functions; NULL: none) nothing in the SOURCE @word has, and
 * which may have been meant: STATUS_NOT_FOUND.  It is read for that; standard input cannot be. */
int source_check_asked(const Options *o, const char *word, const Strv *also);
/* That no call is left of the SOURCE @word with @f; @o as it was said.  Nothing if one is, or nothing was left out.
 * STATUS_NOT_FOUND: it has nothing of a name that was asked for.  @word: NULL: of several, this is not looked for. */
int reading_none_left(const Options *o, const char *word, const Filtering *f);
/* Opens @r->lines, from which lines its calls are, unless they are open; an exit status, like source_lines_open(). */
int reading_lines(Reading *r);
/* What is known of it; NULL: it is a text. */
static inline const SessionMeta *reading_meta(const Reading *r) {
        return r->source ? r->source->meta : NULL;
}

void reading_done(Reading *r);
#define _cleanup_reading_ _cleanup_(reading_done)

/*
 * Chosen: the SOURCE, and the function that is asked about, a name or a glob
 */
typedef struct Chosen {
        const char *source;
        Strv patterns;  /* empty: nothing was asked for */
        NameSet *names; /* NULL: the same */
        NameSet name_set;
} Chosen;

/* @ret must stay where it is; chosen_done() it also after a failure.  An exit status. */
int chosen_init(Chosen *ret, const Options *o);
void chosen_done(Chosen *c);
#define _cleanup_chosen_ _cleanup_(chosen_done)

/* Says that there are no calls of what was asked for; STATUS_NOT_FOUND. */
int chosen_not_found(const Chosen *c, const Options *o);

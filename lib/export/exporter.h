/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Exporters: a recording becomes a file for another program; one .c for each format, one table
 *
 *      init()        at first
 *      begin()       once, at the first step
 *      step()        each step, in the recording's order, before what wants calls is told of them
 *      end_source()  at the end of a recording
 *      end()         once
 *
 * An exporter appends to a Buf, whose sticky error is its own error unless a function returns one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/call-tree.h"
#include "analyze/heat-map.h"
#include "analyze/pairing.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/hash.h"
#include "calls/step.h"
#include "encode/excerpts.h"
#include "meta/meta.h"

/* What is known of the recording as a whole; all texts may be NULL but the first. */
typedef struct ExportInfo ExportInfo;
struct ExportInfo {
        const char *title;       /* a session's name, a file's; and what of it is here */
        const char *filters;     /* what of it is here: "--from=+20ms"; NULL: all */
        const char *recording;   /* NAME-ID, also of a file */
        const char *host;        /* that it was made on */
        const char *kernel;      /* its release */
        const SessionMeta *meta; /* of a recording */
        int64_t to_boottime_ns;  /* from the trace clock to CLOCK_BOOTTIME */
        bool is_sparse;          /* calls between others were left out */
        bool has_all_events; /* also those of calls that were left out: times begin and end with calls */
        bool has_ticks;      /* the trace clock does not count nanoseconds */
        bool is_timeless; /* a text without times: when calls began is a guess */
        bool roots_are_named; /* somebody asked for them: idle calls are not left out (causes/waits.h) */
        Pairing *whole;       /* what knows the calls that were left out; NULL: none was */
        CallTree *before; /* finished: what to compare with; NULL: nothing */
        const char *before_title;
        const char *sentence;  /* what was slow, and why; NULL: nobody has looked */
        const Strv *build_ids; /* meta/meta.h; NULL: not known */
        /* Lines of the source: of calls, and where a function is defined, if that is known.  NULL: nobody asked for them. */
        PairingWays find_ways;
        bool (*define)(void *ways, const Function *f, const char **ret_file, uint32_t *ret_line);
        void *ways;
        const char *(*layer)(const char *file,
                             size_t *ret_n); /* what a file belongs to; NULL likewise */
        Excerpts *
                excerpts; /* of the source itself, where there are ways; NULL: nobody asked for it */
        const char *
                loss; /* of the whole recording, as its account says: "nothing lost"; NULL: it has none */
        bool is_complete;
        uint64_t length_ns; /* of that; 0: not known */
        /* Opens another file: "calls" of @root, if they are partitioned, "waits", or "losses".  0 or -errno.  NULL:
         * there is but the one. */
        int (*open)(const ExportInfo *info, const char *name, const Function *root, Buf **ret);
        /* All of it is in the Buf, which is gone then.  0 or -errno. */
        int (*close)(const ExportInfo *info, Buf *out);
        void *files;         /* of open() and close() */
        bool is_partitioned; /* calls have files for each root, and there is none for all */
};

/* What every exporter has; its own state begins with it. */
typedef struct ExportState {
        const ExportInfo *info;
        Buf *out;
        CallTree *tree;            /* if has_tree; finished before end() */
        uint64_t begin_ns, end_ns; /* the first step, and the latest so far */
        uint64_t n_losses, n_lost; /* places, and events where the kernel has counted them */
} ExportState;

typedef struct Exporter {
        const char *name;
        const char *summary;
        bool is_binary;
        bool draws_events; /* those of what is left out are not for it */
        bool compares;     /* takes info->before */
        bool takes_many;   /* recordings, one after the other: init() and end_source() of each */
        bool tells_why;    /* takes info->sentence */
        bool shows_source; /* takes info->excerpts */
        bool has_others;   /* takes info->open, and can be partitioned */
        uint64_t viewer_bytes;     /* what its viewers can take; 0: no matter */
        const char *viewer_advice; /* what to do about more: half a sentence */
        size_t n_bytes;            /* of its state, zeroed at first; 0: it is an ExportState */
        /* What it wants to be told, with its state as userdata. */
        bool has_tree;
        bool has_contexts; /* calls with them */
        PairingEnd call;
        /* All may be NULL, and return 0 or -errno. */
        int (*init)(void *p, Pairing *pairing);
        int (*begin)(void *p);
        int (*step)(void *p, const Step *step);
        int (*end_source)(void *p);
        int (*end)(void *p);
        void (*done)(void *p); /* what the state owns beside the ExportState */
} Exporter;

extern const Exporter *const exporters[];        /* ends with NULL */
const Exporter *exporter_find(const char *name); /* NULL if there is none */

extern const Exporter exporter_flame;
extern const Exporter exporter_html;
extern const Exporter exporter_heatmap;
extern const Exporter exporter_folded;
extern const Exporter exporter_csv;
extern const Exporter exporter_json;
extern const Exporter exporter_ndjson;
extern const Exporter exporter_perfetto;
extern const Exporter exporter_parquet;
extern const Exporter exporter_pprof;
extern const Exporter exporter_tsv;

/*
 * Export: steps on their way to an exporter
 */
typedef struct Export Export;

/* All borrowed.  0 or -errno. */
int export_new(Export **ret, const Exporter *exporter, const ExportInfo *info, Buf *out);
/* 0; -errno, also of @out; -EOVERFLOW: it is more than the format's viewers, and memory, can take. */
int export_step(Export *e, const Step *step);
/* Of an exporter that takes many: steps are of the next recording from now on.  As export_new(). */
int export_next(Export *e, const ExportInfo *info);
/* Ends what is open.  No more steps after this. */
int export_finish(Export *e);
Export *export_free(Export *e);
DEFINE_CLEANUP(Export *, export_free);

/* Intern: pointers are counted as they come, from 0 */

typedef struct Intern {
        const void **items; /* n of them, by number */
        uint32_t n;
        Hash numbers; /* plus 1, by pointer */
} Intern;

/* 1: @item is new; 0: it is not; -ENOMEM. */
static inline int intern_add(Intern *in, const void *item, uint32_t *ret_number) {
        uint64_t number = hash_get(&in->numbers, hash_key(item));

        if (number > 0) {
                *ret_number = (uint32_t) number - 1;
                return 0;
        }
        if (!ARRAY_GROW(in->items, in->n) || hash_add(&in->numbers, hash_key(item), in->n + 1) < 0)
                return -ENOMEM;
        in->items[in->n] = item;
        *ret_number = in->n++;
        return 1;
}

static inline void intern_done(Intern *in) {
        free(in->items);
        hash_done(&in->numbers);
}

/*
 * Scripts: what runs in a browser, as text
 *
 * Each is the file of that name in this folder, with '.' for '_'.  They ask the picture for its figures,
 * and make no markup of names.  None has "</" or "]]>" in it, so that it can stand in SVG and HTML.
 */

extern const char flame_css[], flame_js[];
extern const char heat_css[], heat_js[];
/* The page's script is flame_js, heat_js and page_js, one behind the other: their SHA-256, in base64. */
extern const char page_css[], page_js[], page_sha256[];
/* Colours, light and dark, for all of them. */
extern const char theme_css[];

/*
 * Flame: a call tree as a picture, SVG with what makes it answer
 *
 * A frame is a node of the tree, as wide as its total; what of it is not below a narrower frame is
 * its own time, and what of that it waited has a colour of its own, at its right end.  It shows total,
 * self and count when pointed at, fills the width when clicked, and can be searched; if anything waited,
 * the time that was run, or waited, can be drawn alone.  Arrow keys go from frame to frame, Enter zooms,
 * Escape shows all.  Frames have the exact figures as attributes:
 *
 *      <g class="f" data-x data-w data-s data-n data-l>   [ns], [ns], self [ns], calls, level
 *      data-b data-t                                      waited itself, and with what is below; if any
 *
 * "#search=TEXT" and "#zoom=FUNCTION" at the end of an address do so from the beginning.
 */

typedef struct Flame {
        const char *title; /* of a file, which has a script, too; NULL: a page has both */
        CallTree *tree;
        CallTree *before; /* compared with this; NULL: with none */
        const char *before_title;
        size_t max_frames; /* the widest are drawn; 0: as many as a browser takes */
} Flame;

/* The <svg> element.  0 or -ENOMEM. */
int flame_write(Buf *out, const Flame *flame);

/*
 * Heat: heat maps (analyze/heat-map.h) as one picture, SVG with what makes it answer
 *
 * A click on a cell, dragging over several, or arrow keys and Enter show how many calls are there, and
 * copy the window as words: "--from=40.580546560 --to=40.670577669".  A grid and its cells have the exact
 * figures as attributes:
 *
 *      <g class="heat-grid" data-begin data-column data-columns data-rows>   [ns], [ns]
 *      <rect class="h1" data-c data-r data-n data-e>   column, row, calls, the last end since data-begin [ns]
 *
 * Then the picture has an event, "window", that says which calls are meant.  Times are of the trace clock.  What was copied last is in the grid's data-copied.
 */

typedef struct HeatPart {
        const HeatGrid *grid;
        const char *name; /* of its calls; n_name bytes */
        size_t n_name;
} HeatPart;

typedef struct HeatPicture {
        const char *title; /* of a file, which has a script, too; NULL: a page has both */
        const HeatMap *map;
        const HeatPart *parts; /* one below the other */
        size_t n_parts;
        size_t max_columns; /* 0: as many as are useful */
        size_t n_left_out;  /* is said */
        bool has_ticks;     /* the trace clock does not count nanoseconds */
        bool is_timeless;   /* when calls began is a guess */
} HeatPicture;

/* Takes the @n_room roots with the most time for parts; what is not is counted. */
void heat_choose(HeatPicture *p, HeatPart *parts, size_t n_room, HeatMap *map);
/* The <svg> element, or the file.  0 or -ENOMEM. */
int heat_write(Buf *out, const HeatPicture *p);

/*
 * A call tree, to be unfolded: a node is a <details>, or a <div> if it calls nothing
 *
 *      <details class="CLASS" data-n data-total data-self>   calls, [ns], [ns]
 *        <summary><code>NAME</code> <b>12.3 %</b> total ..., self ..., 4 calls</summary>
 *
 * With excerpts of the source also data-at, where it is called, and data-def, where it is defined, each the index of a
 * file and a line, "3:1332"; and data-in of what is no call, "inlined" or "not traced".
 */

typedef struct HtmlTree {
        Buf *out;
        const char *class;
        size_t max_nodes;
        const ExportInfo
                *source; /* nodes say where in its excerpts they are; NULL: there are none */
        uint64_t all_ns, min_ns; /* html_tree_write()'s own */
} HtmlTree;

/* The nodes with the largest shares, callers first; of the others a line says how much.  0 or -errno. */
int html_tree_write(HtmlTree *p, CallTree *tree);
/* What is beside it: the excerpts, which a script shows of the node that is chosen, and what of them lacks.  0 or -errno. */
int html_tree_write_source(const HtmlTree *p);
/* A function as <code>. */
void html_tree_name(Buf *out, const Function *f);

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
#include "analyze/pairing.h"
#include "base/buf.h"
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

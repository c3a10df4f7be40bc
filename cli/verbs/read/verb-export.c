/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Recordings for other programs: steps go from the reading to an exporter, whose file is there
 * whole or not at all.  A format that takes many recordings is told of one after the other; what
 * another one compares with is read before, into a tree.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "causes/why.h"
#include "cli/files/files.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"
#include "export/exporter.h"
#include "meta/config.h"

#define CONTENT_ID_CHARS 16
#define READ_BYTES ((size_t) 256 << 10)
#define EXPORT_MODE 0640 /* it may hold what functions returned, which may be addresses */

/* Of one recording. */
typedef struct Part {
        Reading reading;
        ExportInfo info;
        char *recording, *sentence, *filters, *title; /* the info's */
        Strv build_ids;                               /* likewise */
        char loss[SUMMARY_MAX];
} Part;

typedef struct Exporting {
        const Options *o;
        const Exporter *exporter;
        const char *path; /* NULL: standard output */
        Outfile file;
        ExportFiles files; /* beside it, or instead */
        Buf out;           /* the file's */
        Counting counting; /* what is compared with */
        CallTree *before;
        Excerpts *excerpts;
        Export *export;
        Strv recordings; /* of which there are rows: host and name */
        Part parts[2];   /* the one that is read, and the one before */
        size_t n_begun;
        bool is_unreadable; /* the SOURCE that has failed, and there may be others */
} Exporting;

static void part_done(Part *p) {
        free(p->recording);
        strv_done(&p->build_ids);
        free(p->sentence);
        free(p->filters);
        free(p->title);
        reading_done(&p->reading);
        *p = (Part){};
}

static void exporting_done(Exporting *e) {
        export_free(e->export);
        excerpts_free(e->excerpts);
        for (size_t i = 0; i < ELEMENTSOF(e->parts); i++)
                part_done(&e->parts[i]);
        call_tree_free(e->before);
        counting_done(&e->counting);
        export_files_done(&e->files);
        strv_done(&e->recordings);
        buf_done(&e->out);
        outfile_done(&e->file);
}

/* --- which format ----------------------------------------------------------------------------- */

static int find_format(const Options *o, const Exporter **ret) {
        _cleanup_strv_ Strv names = {};
        _cleanup_free_ char *list = NULL;
        const char *instead;

        *ret = o->format ? exporter_find(o->format) : NULL;
        if (*ret)
                return STATUS_OK;
        for (const Exporter *const *p = exporters; *p; p++)
                if (strv_add(&names, (*p)->name) < 0)
                        break;
        list = strv_join(&names, ", ");
        instead = o->format ? gone_instead(GONE_FORMAT, o->format) : NULL;
        if (instead)
                log_error("--format: there is no \"%s\": %s.", o->format, instead);
        else if (o->format)
                log_error("--format: \"%s\" is not one of %s.", NAME_QUOTED(o->format), list ?: "");
        else
                log_error("\"export\" needs a --format: %s.", list ?: "");
        return STATUS_USAGE;
}

/* Says why writing has failed. */
static int failure(const Exporting *e, int r) {
        const Exporter *x = e->exporter;

        if (r == -EPIPE)
                return STATUS_PIPE;
        if (r == -EEXIST && e->files.failed && e->files.is_unknown)
                return failed(STATUS_USAGE,
                              "%s is there already, and what can be read only once does not tell "
                              "whether it is the same recording: give a file, or remove that one.",
                              NAME_QUOTED(e->files.failed));
        if (r == -EOVERFLOW)
                return failed(STATUS_REFUSED, "%s is too much for --format=%s: %s.",
                              e->o->words.items[e->o->words.n - 1], x->name, x->viewer_advice);
        return failed_errno(r, "Failed to write %s: %m",
                            e->files.failed ?: e->path ?: "standard output");
}

/* An exit status. */
static int open_source(Exporting *e, const char *dir) {
        int r;

        if (!e->o->analysis.lines || !e->exporter->shows_source)
                return failed(STATUS_USAGE, "--source needs --lines and --format=html.");
        r = excerpts_new(&e->excerpts, dir);
        if (r == EXCERPTS_E_NONE)
                return failed(STATUS_NOT_FOUND,
                              "%s is no source of Linux: it has no Makefile with a VERSION; unpack "
                              "the kernel's source and name that directory.",
                              NAME_QUOTED(dir));
        return r < 0 ? failed_errno(r, "Failed to open the source %s, or its Makefile: %m",
                                    NAME_QUOTED(dir))
                     : STATUS_OK;
}

/* --- what is known of a recording ------------------------------------------------------------- */

static XXH3_state_t *free_state(XXH3_state_t *s) {
        (void) XXH3_freeState(s);
        return NULL;
}
DEFINE_CLEANUP(XXH3_state_t *, free_state);

/* What a session's id is for a file that has none: 16 hexadecimal digits, XXH3-64 of its bytes and of @part,
 * which of several recordings in the file; NULL: the usual one.  "": it can be read only once, and has none. */
static int content_id(char ret[static CONTENT_ID_CHARS + 1], const char *path, const char *part) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        _cleanup_(free_statep) XXH3_state_t *state = XXH3_createState();
        _cleanup_free_ char *data = malloc(READ_BYTES);
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (!S_ISREG(st.st_mode))
                return 0;
        if (!state || !data)
                return -ENOMEM;
        (void) XXH3_64bits_reset(state);
        while ((n = read_up_to(fd, data, READ_BYTES)) > 0)
                (void) XXH3_64bits_update(state, data, (size_t) n);
        if (n < 0)
                return (int) n;
        if (part)
                (void) XXH3_64bits_update(state, part, strlen(part));
        (void) snprintf(ret, CONTENT_ID_CHARS + 1, "%016" PRIx64, XXH3_64bits_digest(state));
        return 0;
}

/* NAME-ID; of a file an id of its content, of what can be read only once none.  0 or -errno. */
static int name_recording(char **ret, const Options *o, const SessionMeta *m, const char *word,
                          const char *title) {
        _cleanup_free_ char *part = NULL;
        char content[CONTENT_ID_CHARS + 1] = "";
        const char *id = m && m->id[0] ? m->id : content;
        int r = 0;

        if (id == content && !streq(word, "-")) {
                if (o->buffer || o->nth_trace > 1)
                        r = text_format(&part, "%d %s", o->nth_trace, o->buffer ?: "");
                r = r ?: content_id(content, word, part);
        }
        return r < 0 ? r : text_format(ret, "%s%s%s", title, *id ? "-" : "", id);
}

static int describe(Part *p, const Exporting *e, const char *word) {
        const SessionMeta *m = reading_meta(&p->reading);
        const char *slash = strrchr(word, '/'), *file = slash && slash[1] ? slash + 1 : word;
        const char *title = m ? m->name : streq(word, "-") ? "stdin" : file;
        const Filtering *filtering = &p->reading.filtering;
        int r = name_recording(&p->recording, e->o, m, word, title);

        if (r >= 0)
                r = source_filters(&p->filters, e->o, m);
        if (r >= 0 && p->filters)
                r = text_format(&p->title, "%s with %s", title, p->filters);
        if (r >= 0 && m)
                r = session_dir_read_build_ids(p->reading.source->dir, m, &p->build_ids);
        p->info = (ExportInfo){
                .title = p->title ?: title,
                .filters = p->filters,
                .recording = p->recording,
                .meta = m,
                .is_sparse = e->o->filter.functions.n > 0,
                .has_all_events = !e->exporter->takes_many && filtering->spec.keep_sched &&
                                  !filtering_is_empty(filtering),
                .whole = p->reading.whole,
                .before = e->before,
                .before_title = e->o->words.items[0],
                .sentence = p->sentence,
                .roots_are_named = e->o->filter.roots.n > 0,
                .build_ids = &p->build_ids,
        };
        if (p->reading.lines.ways) {
                p->info.find_ways = ways_find;
                p->info.define = ways_define;
                p->info.ways = p->reading.lines.ways;
                p->info.layer = lines_layer;
                p->info.excerpts = e->excerpts;
        }
        if (!m) {
                p->info.is_timeless = !text_trace_layout(p->reading.text.trace)->has_times;
                return r;
        }
        if (!p->filters && !session_state_is_live(m->state) && !session_meta_is_of_file(m)) {
                p->info.loss = summary_loss(p->loss, m);
                p->info.is_complete = summary_is_complete(m);
                p->info.length_ns = session_meta_length_ns(m);
        }
        if (p->info.excerpts && !excerpts_fit(e->excerpts, m->kernel ?: ""))
                log_warning("%s has Linux %s, and %s was recorded on %s: lines may be others.",
                            NAME_QUOTED(e->o->analysis.source), excerpts_version(e->excerpts),
                            NAME_QUOTED(word), NAME_QUOTED(m->kernel ?: "an unknown kernel"));
        p->info.host = m->host;
        p->info.kernel = m->kernel;
        p->info.has_ticks = summary_has_ticks(m);
        if (clock_tuple_is_set(&m->start))
                p->info.to_boottime_ns = (int64_t) (m->start.boottime_ns - m->start.trace_ns);
        return r;
}

static int find_cause(char **ret, const Anatomy *a) {
        _cleanup_(why_freep) Why *w = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_free_ CohortsRoot *roots = NULL;
        size_t n_roots;
        int r = cohorts_roots(&roots, &n_roots, a);

        if (r < 0 || n_roots == 0)
                return r;
        r = why_new(&w, a, &roots[0], &(CohortsSpec){ .by = COHORTS_BY_SLOWEST });
        if (r < 0 || !w->is_enough)
                return r;
        why_sentence(&out, w);
        return buf_take_string(&out, ret);
}

/* What "why" says of the slowest hundredth of the root with the most time; NULL: there are too few calls, or the
 * SOURCE can be read only once.  The caller frees.  An exit status. */
static int cause_of(char **ret, const Options *o, const char *word) {
        _cleanup_why_sides_ WhySides s = { .leaves_idle_out = o->filter.roots.n == 0 };
        if (streq(word, "-"))
                return STATUS_OK;
        return why_sides_read(&s, o, NULL, word) ?: counting_status(find_cause(ret, s.anatomy));
}

/* Rows of one recording that are there twice would be taken for two of its calls. */
static int check_once(Exporting *e, const ExportInfo *info, const char *word) {
        _cleanup_free_ char *name = NULL;
        int r = text_format(&name, "%s/%s", info->host ?: "", info->recording);

        if (r >= 0 && strv_contains(&e->recordings, name))
                return failed(
                        STATUS_USAGE,
                        "%s is the same recording as another SOURCE: %s, and each can be there "
                        "once.",
                        NAME_QUOTED(word), NAME_QUOTED(info->recording));
        r = r ?: strv_add(&e->recordings, name);
        return r < 0 ? failure(e, r) : STATUS_OK;
}

/* --- steps ------------------------------------------------------------------------------------ */

static int unreadable(Exporting *e, int status) {
        e->is_unreadable = status != STATUS_OK && status != STATUS_USAGE;
        return status;
}

/* The exporter knows of it; the one before stays until then.  0 or -errno. */
static int begin_part(Exporting *e, Part *p) {
        p->info.is_partitioned = e->files.is_dir;
        if (e->files.path) {
                p->info.open = export_files_open;
                p->info.close = export_files_close;
                p->info.files = &e->files;
        }
        e->n_begun++;
        return e->export ? export_next(e->export, &p->info)
                         : export_new(&e->export, e->exporter, &p->info, &e->out);
}

static int export_part(Exporting *e, const char *word) {
        const Exporter *x = e->exporter;
        Part *p = &e->parts[e->n_begun % ELEMENTSOF(e->parts)];
        ReadingFor purpose = x->has_contexts   ? READING_FOR_REQUESTS
                             : x->draws_events ? READING_FOR_DRAWING
                                               : READING_FOR_CALLS;
        int status, r;

        part_done(p);
        status = unreadable(e, reading_open(&p->reading, e->o, word, purpose));
        if (status == STATUS_OK && x->tells_why)
                status = cause_of(&p->sentence, e->o, word);
        if (status != STATUS_OK)
                return status;
        r = describe(p, e, word);
        if (r < 0)
                return failure(e, r);
        status = check_once(e, &p->info, word);
        if (status != STATUS_OK)
                return status;
        r = begin_part(e, p);
        while (r >= 0) {
                Step step;

                r = reading_next(&p->reading, &step);
                status = r == 0 ? reading_none_left(e->o, e->o->words.n == 1 ? word : NULL,
                                                    &p->reading.filtering)
                                : STATUS_OK;
                if (status != STATUS_OK)
                        return status;
                if (r < 0) /* formats of lines end with a whole one */
                        (void) buf_flush(&e->out);
                if (r <= 0)
                        return unreadable(e, r < 0 ? -r : reading_finish(&p->reading));
                r = export_step(e->export, &step);
        }
        return failure(e, r);
}

/* Losses of one recording are told, and the others are exported all the same; so is damage with
 * --keep-going.  @ret: the exit status if all can be written. */
static int export_parts(Exporting *e, int *ret) {
        const Options *o = e->o;
        int worst = STATUS_OK, r;

        for (size_t i = e->before ? 1 : 0; i < o->words.n; i++) {
                int status = export_part(e, o->words.items[i]);

                if (status != STATUS_OK && status != STATUS_INCOMPLETE &&
                    !(o->keep_going && e->is_unreadable))
                        return status;
                if (worst == STATUS_OK || worst == STATUS_INCOMPLETE)
                        worst = status ?: worst;
        }
        if (!e->export)
                return worst;
        r = export_finish(e->export) ?: buf_flush(&e->out);
        if (r < 0)
                return failure(e, r);
        *ret = worst;
        return STATUS_OK;
}

static void say_size(const Exporting *e) {
        const Exporter *x = e->exporter;
        struct stat st;

        if (x->viewer_bytes == 0 || fstat(e->file.fd, &st) < 0 || !S_ISREG(st.st_mode) ||
            (uint64_t) st.st_size <= x->viewer_bytes)
                return;
        log_warning("%s has %s, more than the %s that viewers of its format handle well: %s.",
                    e->path, FORMAT_BYTES((uint64_t) st.st_size), FORMAT_BYTES(x->viewer_bytes),
                    x->viewer_advice);
}

static int export(Exporting *e) {
        bool is_dir = e->path && e->exporter->has_others && export_files_is_dir(e->path);
        int r = 0, status, worst = STATUS_OK;

        if (e->path && !is_dir)
                r = outfile_open(&e->file, e->path, EXPORT_MODE);
        if (r < 0)
                return failure(e, r);
        e->out.fd = e->path ? e->file.fd : STDOUT_FILENO;
        if (e->path && e->exporter->has_others) {
                e->files.path = e->path;
                e->files.mode = EXPORT_MODE;
                e->files.is_dir = is_dir;
        }
        status = export_parts(e, &worst);
        if (status != STATUS_OK || !e->path)
                return status ?: worst;
        r = export_files_commit(&e->files);
        if (r >= 0 && !is_dir) {
                say_size(e);
                r = outfile_commit(&e->file);
        }
        return r < 0 ? failure(e, r) : worst;
}

int verb_export(const Options *o) {
        _cleanup_(exporting_done) Exporting e = {
                .o = o,
                .path = o->output && !streq(o->output, "-") ? o->output : NULL,
                .file = OUTFILE_INIT,
                .files = EXPORT_FILES_INIT,
                .out = BUF_INIT,
        };
        int status = find_format(o, &e.exporter);
        const Exporter *x = e.exporter;

        if (status != STATUS_OK)
                return status;
        if (!e.path && x->is_binary && isatty(STDOUT_FILENO))
                return failed(STATUS_USAGE,
                              "--format=%s cannot go to a terminal; name a file: -o FILE", x->name);
        if (o->analysis.lines && !x->has_tree)
                return failed(STATUS_USAGE,
                              "--lines: --format=%s has no place for them; flame, html, folded and "
                              "pprof have.",
                              x->name);
        if (!x->takes_many && o->words.n > (x->compares ? 2U : 1U))
                return failed(
                        STATUS_USAGE,
                        "--format=%s takes %s; many can be exported as parquet or tsv, and two be "
                        "compared as flame, or by \"ftracectl diff\".",
                        x->name, x->compares ? "one recording, or two" : "one recording");
        if (o->analysis.source)
                status = open_source(&e, o->analysis.source);
        /* The recording that another one is compared with, as a tree. */
        if (status == STATUS_OK && !x->takes_many && o->words.n > 1)
                status = counting_status(counting_init(&e.counting, false)
                                                 ?: call_tree_new(&e.before, e.counting.pairing))
                                 ?: counting_read(&e.counting, o, o->words.items[0])
                                 ?: counting_status(call_tree_finish(e.before));
        return status ?: export(&e);
}

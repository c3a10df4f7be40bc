/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording for other programs: steps go from the reading to an exporter, whose file is there whole
 * or not at all.  What it is compared with is read before, into a tree.  A format that takes many recordings is told
 * of one after the other.
 */

#include <sys/stat.h>

#include "analyze/why.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/files/export-files.h"
#include "cli/options/verb.h"
#include "cli/source/display.h"
#include "cli/terminal/outfile.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"
#include "export/exporter.h"
#include "meta/gone.h"

#define EXPORT_MODE 0640 /* it may hold what functions returned, which may be addresses */

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
                log_error("--format: \"%s\" is gone: %s.", o->format, instead);
        else if (o->format)
                log_error("--format: \"%s\" is not one of %s.", NAME_QUOTED(o->format), list ?: "");
        else
                log_error("\"export\" needs a --format: %s.", list ?: "");
        return STATUS_USAGE;
}

/* The recording to export; one before it is what to compare with. */
static const char *subject(const Options *o) {
        return o->words.items[o->words.n - 1];
}

static const char *file_name(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash && slash[1] ? slash + 1 : path;
}

/* What tells a file's recording from others of its name, behind a "-"; empty of what can be read only once.  0 or
 * -errno. */
static int identify_file(const Options *o, const char *word,
                         char ret[static CONTENT_ID_CHARS + 2]) {
        _cleanup_free_ char *part = NULL;
        int r = 0;

        ret[0] = 0;
        if (streq(word, "-"))
                return 0;
        if (o->buffer || o->nth_trace > 1)
                r = asprintf(&part, "%d %s", o->nth_trace, o->buffer ?: "");
        if (r < 0) {
                part = NULL;
                return -ENOMEM;
        }
        r = content_id(ret + 1, word, part);
        if (r == 0)
                ret[0] = '-';
        return MIN(r, 0);
}

/* What is known of the recording; @ret_recording is what ret->recording points at. */
static int describe(const Reading *r, const Options *o, const char *word, ExportInfo *ret,
                    char **ret_recording) {
        const SessionMeta *m = reading_meta(r);
        const char *title = m ? m->name : streq(word, "-") ? "stdin" : file_name(word);
        char id[CONTENT_ID_CHARS + 2];
        bool has_id = m && m->id[0];
        int k = has_id ? 0 : identify_file(o, word, id);

        if (k < 0)
                return k;
        if (asprintf(ret_recording, "%s%s%s", title, has_id ? "-" : "", has_id ? m->id : id) < 0) {
                *ret_recording = NULL;
                return -ENOMEM;
        }
        if (!m) {
                const TextLayout *layout = text_trace_layout(r->text.trace);

                *ret = (ExportInfo){ .title = title,
                                     .recording = *ret_recording,
                                     .is_sparse = o->filter.functions.n > 0,
                                     .wakers = r->wakers,
                                     .is_timeless = !layout->has_times };
                return 0;
        }
        *ret = (ExportInfo){
                .title = title,
                .recording = *ret_recording,
                .host = m->host,
                .kernel = m->kernel,
                .meta = m,
                .is_sparse = o->filter.functions.n > 0,
                .wakers = r->wakers,
                .has_ticks = summary_has_ticks(m),
        };
        if (clock_tuple_is_set(&m->start))
                ret->to_boottime_ns = (int64_t) (m->start.boottime_ns - m->start.trace_ns);
        return 0;
}

static int failure(const Options *o, const Exporter *exporter, int r) {
        if (r == -EPIPE)
                return STATUS_PIPE;
        if (r == -EOVERFLOW)
                return failed(STATUS_REFUSED, "%s is too much for --format=%s: %s.", subject(o),
                              exporter->name, exporter->viewer_advice);
        return failed_errno(r, "Failed to write %s: %m",
                            o->output && !streq(o->output, "-") ? o->output : "standard output");
}

/* The recording that another one is compared with, as a tree; an exit status. */
static int read_before(Counting *c, CallTree **ret, const Options *o) {
        int r = counting_init(c, false) ?: call_tree_new(ret, c->pairing);
        int status = r < 0 ? counting_failure(r) : counting_read(c, o, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        r = call_tree_finish(*ret);
        return r < 0 ? counting_failure(r) : STATUS_OK;
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
        _cleanup_counting_ Counting counting = {};
        _cleanup_(anatomy_freep) Anatomy *a = NULL;
        int r, status;

        *ret = NULL;
        if (streq(word, "-"))
                return STATUS_OK;
        r = counting_init(&counting, false)
                    ?: anatomy_new(&a)
                    ?: anatomy_add_source(a, counting.pairing);
        status = r < 0 ? counting_failure(r) : counting_read(&counting, o, word);
        if (status != STATUS_OK)
                return status;
        r = find_cause(ret, a);
        return r < 0 ? counting_failure(r) : STATUS_OK;
}

/* An exit status. */
static int write_calls(Reading *reading, CallTree *before, const Options *o,
                       const Exporter *exporter, int fd) {
        _cleanup_free_ char *recording = NULL, *sentence = NULL;
        _cleanup_buf_ Buf out = BUF_TO_FD(fd);
        _cleanup_(export_freep) Export *e = NULL;
        ExportInfo info;
        int status = exporter->tells_why ? cause_of(&sentence, o, subject(o)) : STATUS_OK, r;

        if (status != STATUS_OK)
                return status;
        r = describe(reading, o, subject(o), &info, &recording);
        info.sentence = sentence;
        info.before = before;
        info.before_title = o->words.items[0];
        info.has_all_events =
                reading->filtering.spec.keep_sched && !filtering_is_empty(&reading->filtering);
        if (r >= 0)
                r = export_new(&e, exporter, &info, &out);
        while (r >= 0) {
                Step step;

                r = reading_next(reading, &step);
                if (r < 0) {
                        /* Formats of lines end with a whole one. */
                        (void) buf_flush(&out);
                        return -r;
                }
                if (r == 0)
                        break;
                r = export_step(e, &step);
        }
        if (r >= 0)
                r = export_finish(e);
        if (r >= 0)
                r = buf_flush(&out);
        return r < 0 ? failure(o, exporter, r) : STATUS_OK;
}

static void say_size(const Options *o, const Exporter *exporter, int fd) {
        struct stat st;

        if (exporter->viewer_bytes == 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
            (uint64_t) st.st_size <= exporter->viewer_bytes)
                return;
        log_warning("%s has %s, more than the %s that viewers of its format handle well: %s.",
                    o->output, FORMAT_BYTES((uint64_t) st.st_size),
                    FORMAT_BYTES(exporter->viewer_bytes), exporter->viewer_advice);
}

static int write_file(Reading *reading, CallTree *before, const Options *o,
                      const Exporter *exporter) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        int r = outfile_open(&f, o->output, EXPORT_MODE), status;

        if (r < 0)
                return failure(o, exporter, r);
        status = write_calls(reading, before, o, exporter, f.fd);
        if (status != STATUS_OK)
                return status;
        say_size(o, exporter, f.fd);
        r = outfile_commit(&f);
        return r < 0 ? failure(o, exporter, r) : STATUS_OK;
}

/* --- many recordings -------------------------------------------------------------------------- */

typedef struct Part {
        Reading reading;
        ExportInfo info;
        char *recording;
} Part;

static void part_done(Part *p) {
        free(p->recording);
        reading_done(&p->reading);
        *p = (Part){};
}

typedef struct Many {
        const Exporter *exporter;
        Buf out; /* of a file for all */
        ExportFiles files;
        Export *export;
        Strv recordings; /* of which there are rows: host and name */
        Part parts[2];   /* the one that is read, and the one before */
        size_t n_begun;
        bool is_unreadable; /* the SOURCE that has failed, and there may be others */
} Many;

static void many_done(Many *m) {
        export_free(m->export);
        for (size_t i = 0; i < ELEMENTSOF(m->parts); i++)
                part_done(&m->parts[i]);
        export_files_done(&m->files);
        strv_done(&m->recordings);
        buf_done(&m->out);
}

static int many_failure(const Many *m, const Options *o, int r) {
        if (r == -EEXIST && m->files.is_unknown)
                return failed(STATUS_USAGE,
                              "%s is there already, and what can be read only once does not tell "
                              "whether it is the same recording: give a file, or remove that one.",
                              NAME_QUOTED(m->files.failed));
        if (m->files.failed)
                return failed_errno(r, "Failed to write %s: %m", m->files.failed);
        return failure(o, m->exporter, r);
}

/* Rows of one recording that are there twice would be taken for two of its calls. */
static int check_once(Many *m, const Options *o, const ExportInfo *info, const char *word) {
        _cleanup_free_ char *name = NULL;
        int r = asprintf(&name, "%s/%s", info->host ?: "", info->recording);

        if (r < 0)
                name = NULL;
        else if (strv_contains(&m->recordings, name))
                return failed(
                        STATUS_USAGE,
                        "%s is the same recording as another SOURCE: %s, and each can be there "
                        "once.",
                        NAME_QUOTED(word), NAME_QUOTED(info->recording));
        r = r < 0 ? -ENOMEM : strv_add(&m->recordings, name);
        return r < 0 ? many_failure(m, o, r) : STATUS_OK;
}

static int unreadable(Many *m, int status) {
        m->is_unreadable = status != STATUS_OK && status != STATUS_USAGE;
        return status;
}

/* The one before stays until the exporter knows the next. */
static int export_part(Many *m, const Options *o, const char *word) {
        Part *p = &m->parts[m->n_begun % ELEMENTSOF(m->parts)];
        int status, r;

        part_done(p);
        status = unreadable(m, reading_open(&p->reading, o, word,
                                            m->exporter->has_contexts ? READING_FOR_REQUESTS
                                                                      : READING_FOR_CALLS));
        if (status != STATUS_OK)
                return status;
        r = describe(&p->reading, o, word, &p->info, &p->recording);
        if (r < 0)
                return many_failure(m, o, r);
        status = check_once(m, o, &p->info, word);
        if (status != STATUS_OK)
                return status;
        if (m->files.path && m->exporter->has_others) {
                p->info.open = export_files_open;
                p->info.close = export_files_close;
                p->info.open_data = &m->files;
                p->info.is_partitioned = m->files.is_dir;
        }
        r = m->export ? export_next(m->export, &p->info)
                      : export_new(&m->export, m->exporter, &p->info, &m->out);
        m->files.info = &p->info;
        m->files.is_unknown = streq(p->info.recording, p->info.title);
        m->n_begun++;
        while (r >= 0) {
                Step step;

                r = reading_next(&p->reading, &step);
                if (r == 0)
                        display_none_left(o, &p->reading.filtering);
                if (r <= 0)
                        return unreadable(m, r < 0 ? -r : reading_finish(&p->reading, o));
                r = export_step(m->export, &step);
        }
        return many_failure(m, o, r);
}

/* Losses of one recording are told, and the others are exported all the same; so is damage with --keep-going.  @ret: the
 * exit status if all can be written. */
static int export_parts(Many *m, const Options *o, int *ret) {
        int worst = STATUS_OK, r;

        for (size_t i = 0; i < o->words.n; i++) {
                int status = export_part(m, o, o->words.items[i]);

                if (status != STATUS_OK && status != STATUS_INCOMPLETE &&
                    !(o->keep_going && m->is_unreadable))
                        return status;
                if (worst == STATUS_OK || worst == STATUS_INCOMPLETE)
                        worst = status ?: worst;
        }
        if (!m->export)
                return worst;
        r = export_finish(m->export) ?: buf_flush(&m->out);
        if (r < 0)
                return many_failure(m, o, r);
        *ret = worst;
        return STATUS_OK;
}

static int export_many(const Options *o, const Exporter *exporter) {
        bool to_stdout = !o->output || streq(o->output, "-");
        bool is_dir = !to_stdout && exporter->has_others && export_files_is_dir(o->output);
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_(many_done) Many m = {
                .exporter = exporter,
                .out = BUF_INIT,
                .files = EXPORT_FILES_INIT,
        };
        int r = 0, status, worst;

        if (!is_dir && !to_stdout)
                r = outfile_open(&f, o->output, EXPORT_MODE);
        if (r < 0)
                return failure(o, exporter, r);
        m.out.fd = to_stdout ? STDOUT_FILENO : f.fd;
        if (!to_stdout && exporter->has_others) {
                m.files.path = o->output;
                m.files.mode = EXPORT_MODE;
                m.files.is_dir = is_dir;
        }
        status = export_parts(&m, o, &worst);
        if (status != STATUS_OK || to_stdout)
                return status ?: worst;
        r = export_files_commit(&m.files);
        if (r >= 0 && !is_dir)
                r = outfile_commit(&f);
        return r < 0 ? many_failure(&m, o, r) : worst;
}

/* --- all of it -------------------------------------------------------------------------------- */

int verb_export(const Options *o) {
        _cleanup_reading_ Reading reading = {};
        _cleanup_counting_ Counting counting = {};
        _cleanup_(call_tree_freep) CallTree *before = NULL;
        const Exporter *exporter;
        bool to_stdout = !o->output || streq(o->output, "-");
        int status = find_format(o, &exporter);

        if (status != STATUS_OK)
                return status;
        if (to_stdout && exporter->is_binary && isatty(STDOUT_FILENO))
                return failed(STATUS_USAGE,
                              "--format=%s cannot go to a terminal; name a file: -o FILE",
                              exporter->name);
        if (exporter->takes_many)
                return export_many(o, exporter);
        if (o->words.n > (exporter->compares ? 2U : 1U))
                return failed(
                        STATUS_USAGE,
                        "--format=%s takes %s; many can be exported as parquet or tsv, and two be "
                        "compared as flame, or by \"ftracectl diff\".",
                        exporter->name,
                        exporter->compares ? "one recording, or two" : "one recording");
        status = o->words.n > 1 ? read_before(&counting, &before, o) : STATUS_OK;
        if (status == STATUS_OK)
                status = reading_open(&reading, o, subject(o),
                                      exporter->draws_events ? READING_FOR_DRAWING
                                                             : READING_FOR_CALLS);
        if (status == STATUS_OK)
                status = to_stdout ? write_calls(&reading, before, o, exporter, STDOUT_FILENO)
                                   : write_file(&reading, before, o, exporter);
        if (status != STATUS_OK)
                return status;
        display_none_left(o, &reading.filtering);
        return reading_finish(&reading, o);
}

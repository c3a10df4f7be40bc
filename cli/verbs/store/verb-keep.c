/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The part of a recording that the filters leave becomes a session in a store, or a trace.dat, which
 * is then made of a session in a store of its own that is thrown away.
 */

#include <fcntl.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/unit.h"
#include "cli/files/excerpt.h"
#include "cli/files/tracedat.h"
#include "cli/options/verb.h"
#include "cli/terminal/outfile.h"
#include "cli/terminal/sweeper.h"
#include "cli/terminal/terminal.h"

#define TRACEDAT_MODE 0640
#define PART "part" /* the session in the store that is thrown away */

static int failure(const Reading *reading, const char *where, int r) {
        const char *name = reading->source->meta->name;

        switch (r) {
        case EXCERPT_E_READING:
                return STATUS_FAILED;
        case EXCERPT_E_EMPTY:
                return failed(STATUS_NOT_FOUND, "nothing of %s is left to keep; ask for less.",
                              name);
        case -EEXIST:
                return failed(STATUS_FAILED,
                              "there is a session \"%s\" already; give another name: -n NAME",
                              where);
        default:
                return failed_errno(r, "Failed to keep a part of %s in %s: %m", name, where);
        }
}

static int store_failure(const char *path, int r, pid_t holder) {
        char text[STORE_OWNER_MAX];

        if (r == STORE_E_LOCKED)
                return failed(STATUS_BUSY,
                              "the store %s belongs to a running daemon (%s): write a file instead "
                              "(-o FILE.dat), or into another store (--store DIR).",
                              path, store_owner_text(text, holder));
        if (r == -EACCES || r == -EPERM)
                return failed(STATUS_FORBIDDEN,
                              "no permission to write to the store %s: write a file instead (-o "
                              "FILE.dat), or become root.",
                              path);
        if (r > 0)
                log_error("%s cannot be a store: \"ftraced --store %s\" says why.", path, path);
        else
                log_error_errno(r, "Failed to open the store %s: %m", path);
        return STATUS_FAILED;
}

/* What was asked for, as it was said. */
static char *describe(const Options *o) {
        _cleanup_buf_ Buf b = BUF_INIT;
        char *text = NULL;

        if (o->filter.keep_slower && *o->filter.keep_slower == 'p')
                buf_printf(&b, "the slowest calls, from %s on", o->filter.keep_slower);
        else if (o->filter.keep_slower)
                buf_printf(&b, "calls that took %s or more", o->filter.keep_slower);
        if (o->filter.keep_failed)
                buf_printf(&b, "%scalls that returned an error", b.n_data > 0 ? ", " : "");
        if (b.n_data == 0)
                buf_adds(&b, "a part");
        return buf_take_string(&b, &text) < 0 ? NULL : text;
}

static int keep(const Options *o, const char *path, const char *name, Reading *reading,
                const char *where, ExcerptCount *ret) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_free_ char *why = describe(o);
        pid_t holder = 0;
        int r = store_open_for_writing(&store, path, &holder);

        if (r != 0)
                return store_failure(path, r, holder);
        r = excerpt_write(store, name, reading, why ?: "a part", ret);
        return r != 0 ? failure(reading, where, r) : STATUS_OK;
}

/* What was kept, once it is there; an exit status. */
static int tell(const Options *o, const Reading *reading, const char *where,
                const ExcerptCount *count) {
        talk(o, "Kept %s records of %s, %s, as %s.", FORMAT_COUNT(count->n_records),
             reading->source->meta->name, FORMAT_BYTES(count->n_bytes), where);
        if (count->n_missing > 0)
                log_warning("%s records could not be found again.", FORMAT_COUNT(count->n_missing));
        return count->n_missing > 0 ? STATUS_INCOMPLETE : STATUS_OK;
}

/* --- into a file ------------------------------------------------------------------------------- */

/* What keep() has made below @path, as a trace.dat. */
static int fetch(const char *path, const char *output, const char *where) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_free_ char *problem = NULL;
        Filtering all = {};
        TracedatSpec spec = { .version = 6, .window = &all };
        bool is_stdout = streq(output, "-");
        TracedatResult result;
        int r = store_open(&store, path)
                    ?: store_open_session(store, PART, &dir)
                    ?: session_dir_read_meta(dir, &meta);

        if (r == 0 && !is_stdout)
                r = outfile_open(&f, output, TRACEDAT_MODE);
        spec.can_seek = outfile_is_new(&f);
        if (r == 0)
                r = tracedat_write(&result, dir, meta, &spec, is_stdout ? STDOUT_FILENO : f.fd,
                                   &problem);
        if (r == 0 && !is_stdout)
                r = outfile_commit(&f);
        if (r == 0)
                return STATUS_OK;
        if (r > 0)
                log_error("Failed to write %s: %s.", where, problem ?: "it is damaged");
        else
                log_error_errno(r, "Failed to write %s: %m", where);
        return STATUS_FAILED;
}

static int keep_in_file(const Options *o, Reading *reading) {
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int sweeper_fd = -EBADF;
        const char *where = streq(o->output, "-") ? "standard output" : o->output;
        ExcerptCount count;
        int status;

        if (asprintf(&path, "%s/ftracectl-XXXXXX", getenv("TMPDIR") ?: "/tmp") < 0)
                return failed_errno(-ENOMEM, "Failed to keep a part: %m");
        if (!mkdtemp(path))
                return failed_errno(ORIGIN(-errno), "Failed to make the directory %s: %m", path);
        sweeper_fd = sweeper_start(path);
        status = keep(o, path, PART, reading, where, &count) ?: fetch(path, o->output, where);
        (void) tree_remove(AT_FDCWD, path);
        return status == STATUS_OK ? tell(o, reading, where, &count) : status;
}

static int keep_in_store(const Options *o, Reading *reading) {
        ExcerptCount count;
        int status = keep(o, options_store(o), o->name, reading, o->name, &count);

        return status == STATUS_OK ? tell(o, reading, o->name, &count) : status;
}

int verb_keep(const Options *o) {
        _cleanup_reading_ Reading reading = {};
        int status;

        if (!o->name == !o->output)
                return failed(STATUS_USAGE,
                              "\"keep\" needs either the name of a session to make (-n NAME) or a "
                              "file to write (-o FILE); see \"ftracectl keep --help\".");
        if (o->output && streq(o->output, "-") && isatty(STDOUT_FILENO))
                return failed(STATUS_USAGE,
                              "a trace.dat cannot go to a terminal; name a file: -o FILE");
        if (o->name) {
                status = source_check_name(o->name);
                if (status != STATUS_OK)
                        return status;
        }
        status = reading_open(&reading, o, o->words.items[0], READING_FOR_DRAWING);
        if (status == STATUS_OK && reading.text.trace) {
                log_error("%s is a text, and only of a recording a part can be kept: redirect what "
                          "\"ftracectl report\" prints.",
                          reading.text.name);
                status = STATUS_USAGE;
        }
        if (status == STATUS_OK)
                status = o->output ? keep_in_file(o, &reading) : keep_in_store(o, &reading);
        if (status != STATUS_OK)
                return status;
        return reading_finish(&reading, o);
}

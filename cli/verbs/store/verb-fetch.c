/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A trace.dat holds raw pages, and with them kernel addresses: the new file is for its owner and group only. */

#include "cli/files/files.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

#define TRACEDAT_MODE 0640

static int write_failure(const char *path, const SessionMeta *m, int r, const char *problem) {
        switch (r) {
        case TRACEDAT_E_UNREADABLE:
                return failed(STATUS_FAILED, "session \"%s\" cannot be fetched: %s.", m->name,
                              problem ?: "it is damaged");
        case -EPIPE:
                return STATUS_PIPE;
        case -ESTALE:
                return failed(STATUS_FAILED,
                              "Failed to write session \"%s\" to %s: a part of it was removed "
                              "meanwhile; try again, or \"ftracectl snapshot\" a ring first.",
                              m->name, path);
        default:
                return failed_errno(r, "Failed to write session \"%s\" to %s: %m", m->name, path);
        }
}

static int fetch(TracedatResult *ret, const Options *o, const Source *s, TracedatSpec *spec) {
        bool to_stdout = streq(o->output, "-");
        const char *path = to_stdout ? "standard output" : o->output;
        _cleanup_outfile_ Outfile file = OUTFILE_INIT;
        _cleanup_free_ char *problem = NULL;
        Progress bar;
        int r = 0;

        if (to_stdout && isatty(STDOUT_FILENO))
                return failed(STATUS_USAGE,
                              "a trace.dat cannot go to a terminal; name a file: -o FILE");
        if (!to_stdout)
                r = outfile_open(&file, path, TRACEDAT_MODE);
        spec->can_seek = r == 0 && !to_stdout && file.temporary; /* else it is written in place */
        progress_begin(&bar, o, "Writing");
        spec->progress = &bar;
        if (r >= 0)
                r = tracedat_write(ret, s->dir, s->meta, spec, to_stdout ? STDOUT_FILENO : file.fd,
                                   &problem);
        if (r == 0 && !to_stdout)
                r = outfile_commit(&file);
        progress_end(&bar);
        if (r != 0)
                return write_failure(path, s->meta, r, problem);
        if (!to_stdout)
                talk(o, "%s: open it with \"trace-cmd report -i %s\" or \"kernelshark %s\".", path,
                     path, path);
        return STATUS_OK;
}

/* What is not in the file; an exit status. */
static int tell_lacks(const TracedatResult *result, const Options *o, const SessionMeta *m,
                      const TracedatSpec *spec) {
        if (spec->is_packed && !result->is_packed)
                talk(o, "It is not compressed: a CPU has more than 2 GiB, which breaks "
                        "trace-cmd before 3.3.1.");
        if (m->symbol_maps.n > 0)
                talk(o, "Modules came or went while it recorded: a trace.dat has one name for an "
                        "address, \"ftracectl report\" the one of each time.");
        warn_each(&result->lacks);
        if (result->n_pages == 0)
                talk(o, "There are no events in it.");
        display_dropped(o, m);
        display_lacks(o, m);
        return summary_is_complete(m) && result->lacks.n == 0 ? STATUS_OK : STATUS_INCOMPLETE;
}

int verb_fetch(const Options *o) {
        _cleanup_(source_freep) Source *s = NULL;
        _cleanup_filtering_ Filtering window = {};
        _cleanup_free_ char *filters = NULL;
        _cleanup_tracedat_result_ TracedatResult result = {};
        TracedatSpec spec = {
                .version = o->fetch.compress == COMPRESS_UNSAID ? 6 : 7,
                .is_packed = o->fetch.compress == COMPRESS_ZSTD,
                .window = &window,
                .packed_max = TRACEDAT_PACKED_MAX,
        };
        int status;

        if (!o->output)
                return failed(STATUS_USAGE, "\"fetch\" needs a file to write: -o FILE; see "
                                            "\"ftracectl fetch --help\".");
        status = filtering_init(&window, o) ?: source_open(&s, o, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        if (o->fetch.ended && session_state_is_live(s->meta->state))
                return failed(
                        STATUS_BUSY,
                        "session \"%s\" has not ended: it is %s. Wait for it, or end it with: "
                        "ftracectl stop %s",
                        s->meta->name, session_state_name(s->meta->state), s->meta->name);
        if (source_filters(&filters, o, s->meta) < 0)
                return out_of_memory();
        spec.filters = filters;
        return fetch(&result, o, s, &spec) ?: tell_lacks(&result, o, s->meta, &spec);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A trace.dat holds raw pages, and with them kernel addresses: the new file is
 * for its owner and group only.
 */

#include "base/log.h"
#include "cli/display.h"
#include "cli/outfile.h"
#include "cli/source.h"
#include "cli/status.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/tracedat.h"
#include "cli/verb.h"

#define TRACEDAT_MODE 0640

static int write_failure(const SessionMeta *m, const char *path, int r, const char *problem) {
        if (r == TRACEDAT_E_UNREADABLE)
                log_error("session \"%s\" cannot be fetched: %s.", m->name,
                          problem ?: "it is damaged");
        else if (r == -EPIPE)
                return STATUS_PIPE;
        else
                log_error_errno(r, "Failed to write session \"%s\" to %s: %m", m->name, path);
        return STATUS_FAILED;
}

static int fetch_to_stdout(const Source *s) {
        _cleanup_free_ char *problem = NULL;
        int r;

        if (isatty(STDOUT_FILENO)) {
                log_error("a trace.dat is nothing for a terminal; name a file: -o FILE");
                return STATUS_USAGE;
        }
        r = tracedat_write(s->dir, s->meta, STDOUT_FILENO, &problem);
        return r == 0 ? STATUS_OK : write_failure(s->meta, "standard output", r, problem);
}

static int fetch_to_file(const Source *s, const Options *o) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_free_ char *problem = NULL;
        int r;

        r = outfile_open(&f, o->output, TRACEDAT_MODE);
        if (r == 0)
                r = tracedat_write(s->dir, s->meta, f.fd, &problem);
        if (r == 0)
                r = outfile_commit(&f);
        if (r != 0)
                return write_failure(s->meta, o->output, r, problem);
        talk(o, "%s: open it with \"trace-cmd report -i %s\" or \"kernelshark %s\".", o->output,
             o->output, o->output);
        return STATUS_OK;
}

int verb_fetch(const Options *o) {
        _cleanup_(source_freep) Source *s = NULL;
        int status;

        if (!o->output) {
                log_error("\"fetch\" needs a file to write: -o FILE; see \"ftracectl fetch "
                          "--help\".");
                return STATUS_USAGE;
        }
        status = source_open(&s, o, o->words.items[0]);
        if (status == STATUS_OK)
                status = streq(o->output, "-") ? fetch_to_stdout(s) : fetch_to_file(s, o);
        if (status != STATUS_OK)
                return status;
        if (s->meta->symbol_maps.n > 0)
                talk(o, "Modules came or went while it recorded: a trace.dat has one name for an "
                        "address, \"ftracectl report\" the one of each time.");
        display_dropped(o, s->meta);
        display_loss(s->meta);
        return summary_is_complete(s->meta) ? STATUS_OK : STATUS_INCOMPLETE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * To standard output for whoever scrapes by a command or, as JSON, looks himself; in a file for node_exporter's textfile
 * collector, which takes the older of the two formats and must never see half a file.
 */

#include "cli/contact/contact.h"
#include "cli/files/metrics.h"
#include "cli/options/verb.h"
#include "cli/terminal/outfile.h"
#include "cli/terminal/terminal.h"

#define METRICS_MODE 0644 /* node_exporter is nobody */

static int write_file(const Options *o, const json_t *status) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_buf_ Buf out = BUF_INIT;
        int r = outfile_open(&f, o->output, METRICS_MODE);

        if (r >= 0) {
                out.fd = f.fd;
                r = metrics_write(&out, status, METRICS_PROMETHEUS);
        }
        if (r == 0)
                r = buf_flush(&out);
        if (r == 0)
                r = outfile_commit(&f);
        if (r < 0)
                log_error_errno(r, "Failed to write %s: %m", o->output);
        return r;
}

/* Half of the sessions would be taken for a loss of the others: the first answer may come before the daemon
 * has read them all, and that to ListBriefs does not.  An exit status. */
static int ask(Client *c, const Options *o, json_t **ret) {
        json_auto_t *early = NULL, *briefs = NULL;
        int status = contact_call(c, o, "GetStatus", json_pack("{s:b}", "brief", 1), &early, NULL);

        if (status == STATUS_OK && !json_object_get(early, "survey"))
                *ret = TAKE_PTR(early);
        else if (status == STATUS_OK)
                status = contact_gather(c, o, "ListBriefs", NULL, "briefs", &briefs);
        if (status == STATUS_OK && briefs)
                status = contact_call(c, o, "GetStatus", json_pack("{s:b}", "brief", 1), ret, NULL);
        return status;
}

int verb_metrics(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *reply = NULL;
        int status = contact_daemon(&c, o) ?: ask(c, o, &reply), r;

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF) {
                json_t *families = NULL;

                if (o->output)
                        return failed(STATUS_USAGE,
                                      "--json goes to standard output; leave out -o.");
                r = metrics_to_json(&families, reply);
                if (r == 0)
                        return stdout_json(o, families);
        } else if (o->output && streq(o->output, "-")) {
                r = metrics_write(&out, reply, METRICS_PROMETHEUS);
                if (r == 0)
                        return stdout_end(&out);
        } else if (o->output) {
                r = write_file(o, reply);
                if (r <= 0)
                        return r < 0 ? STATUS_FAILED : STATUS_OK;
        } else {
                r = metrics_write(&out, reply, METRICS_OPENMETRICS);
                if (r == 0)
                        return stdout_end(&out);
        }
        return failed(STATUS_FAILED, "the daemon's description of a session is not valid. Do the "
                                     "versions of ftraced and ftracectl match?");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * fetch on every host of which nothing whole is here yet.  A recording that lacks events is as whole as it will
 * ever be: it is not fetched again, and told each time.
 */

#include "base/unit.h"
#include "cli/contact/fleet.h"
#include "cli/options/verb.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/store/collection.h"

typedef struct Collect {
        const Options *o;
        Collection collection;
        json_t *results;
        size_t n_whole, n_lacking, n_here, n_missing;
} Collect;

static int name_file(char **ret, const char *host, void *userdata) {
        const Collect *c = userdata;

        return collection_path(ret, &c->collection, host);
}

/* @said: what it lacks, or why there is none. */
static void tell(Collect *c, const char *host, int status, uint64_t n_bytes, bool was_here,
                 const char *said) {
        bool is_here = remote_is_good(status);
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_free_ char *path = NULL;

        if (collection_path(&path, &c->collection, host) < 0)
                path = NULL;
        c->n_whole += status == STATUS_OK;
        c->n_lacking += status == STATUS_INCOMPLETE;
        c->n_missing += !is_here;
        c->n_here += was_here;
        if (c->o->json != JSON_OFF) {
                (void) json_array_append_new(
                        c->results,
                        json_pack("{s:s, s:i, s:b, s:o, s:o, s:o}", "host", host, "status", status,
                                  "was_here", was_here, "file",
                                  is_here ? terminal_json_string(path) : json_null(), "bytes",
                                  is_here ? json_integer((json_int_t) n_bytes) : json_null(),
                                  "lacks", terminal_json_string(said)));
                return;
        }
        if (was_here && status == STATUS_OK)
                return;
        if (is_here)
                buf_printf(&out, "%s: %s (%s)%s%s\n", host, path ?: "", FORMAT_BYTES(n_bytes),
                           said ? " lacks something: " : "", said ?: "");
        else
                buf_printf(&out, "%s: none: %s\n", host, said && *said ? said : "no answer");
        (void) buf_flush(&out);
}

static void on_fetched(Member *m, void *userdata) {
        Collect *c = userdata;
        _cleanup_free_ char *line = m->status == STATUS_OK ? NULL : fleet_line(&m->err, true);
        int r = 0;

        if (remote_is_good(m->status))
                r = collection_add(&c->collection, m->name, m->n_bytes, m->status, line);
        if (r < 0)
                log_warning_errno(r, "Failed to write %s: %m", c->collection.path);
        tell(c, m->name, m->status, m->n_bytes, false, line);
}

/* Those that are here need not be asked. */
static size_t choose(Collect *c, Fleet *f) {
        size_t n = 0;

        for (size_t i = 0; i < fleet_size(f); i++) {
                Member *m = fleet_member(f, i);
                const json_t *here = collection_find(&c->collection, m->name);

                m->is_chosen = !here;
                n += m->is_chosen;
                if (here)
                        tell(c, m->name, (int) json_integer_value(json_object_get(here, "status")),
                             (uint64_t) json_integer_value(json_object_get(here, "bytes")), true,
                             json_string_value(json_object_get(here, "lacks")));
        }
        return n;
}

/* What each host is asked. */
static int describe(Options *ret, Strv *said, const Options *o) {
        int r = options_said(said, o, OPTIONS_FETCH, OPTIONS_REMOTE);

        if (r >= 0 && !o->fetch.ended)
                r = strv_add(said, "--ended");
        if (r >= 0)
                r = strv_add(&ret->words, o->name);
        ret->verb = (char *) "fetch";
        ret->output = o->output;
        ret->said = *said; /* borrowed */
        return r;
}

static int collect(Collect *c, Fleet *f) {
        const Options *o = c->o;
        _cleanup_strv_ Strv said = {};
        Options fetch = {};
        int r = describe(&fetch, &said, o);

        if (r >= 0 && choose(c, f) > 0)
                fleet_work(f, &(FleetWork){ .o = &fetch,
                                            .name = name_file,
                                            .ended = on_fetched,
                                            .userdata = c });
        strv_done(&fetch.words);
        if (r < 0)
                return failed_errno(r, "Failed to describe what to fetch: %m");
        talk(o, "%zu of %zu hosts are here, %zu of them without anything missing%s; %zu are not.",
             c->n_whole + c->n_lacking, fleet_size(f), c->n_whole,
             c->n_here > 0 ? ", some from before" : "", c->n_missing);
        if (o->json != JSON_OFF && stdout_json(o, json_incref(c->results)) != STATUS_OK)
                return STATUS_FAILED;
        return c->n_whole == fleet_size(f) ? STATUS_OK : STATUS_INCOMPLETE;
}

int verb_collect(const Options *o) {
        Collect c = { .o = o, .collection = COLLECTION_INIT };
        _cleanup_(fleet_freep) Fleet *f = NULL;
        int status, r;

        if (!o->hosts || !o->name || !o->output)
                return failed(STATUS_USAGE,
                              "\"collect\" needs the hosts, the recording's name and a directory: "
                              "--hosts=FILE -n NAME -o DIR");
        status = source_check_name(o->name) ?: fleet_open(&f, o);
        if (status != STATUS_OK)
                return status;
        r = collection_open(&c.collection, o->output, o->name);
        if (r < 0)
                return failed_errno(r, "Failed to open %s/%s.collected: %m", o->output, o->name);
        c.results = json_array();
        status = c.results ? collect(&c, f) : STATUS_FAILED;
        json_decref(c.results);
        collection_done(&c.collection);
        return status;
}

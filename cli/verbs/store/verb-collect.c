/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * show on every host, and then fetch on each whose recording of that name is not here whole: it may be another one
 * than was collected before.  One that lacks events is as whole as it will ever be: it is not fetched again, and told
 * each time.
 */

#include "base/now.h"
#include "base/unit.h"
#include "cli/contact/fleet.h"
#include "cli/options/verb.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/store/collection.h"

#define SHOW_NS                                                                                    \
        (60 * NSEC_PER_SEC) /* nothing is fetched while a host hangs, and a fetch may take long */

typedef struct Collect {
        const Options *o;
        Collection collection;
        char *options;
        json_t *ids; /* of the recordings, by host */
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
                r = collection_add(&c->collection, m->name,
                                   json_string_value(json_object_get(c->ids, m->name)), c->options,
                                   m->n_bytes, m->status, line);
        if (r < 0)
                log_warning_errno(r, "Failed to write %s: %m", c->collection.path);
        tell(c, m->name, m->status, m->n_bytes, false, line);
}

/* It is here, and need not be fetched: what was removed there since will not change, either. */
static void keep(Collect *c, const Member *m, const json_t *here) {
        _cleanup_free_ char *line = fleet_line(&m->err, true);

        if (!remote_is_good(m->status) && m->status != STATUS_NOT_FOUND)
                log_warning("%s: what is here is from before; whether it is still the recording of "
                            "that name was not answered: %s",
                            m->name, line ?: "");
        tell(c, m->name, (int) json_integer_value(json_object_get(here, "status")),
             (uint64_t) json_integer_value(json_object_get(here, "bytes")), true,
             json_string_value(json_object_get(here, "lacks")));
}

/* Which recording has that name there.  One that is made after this and before the fetch is fetched, and once more by
 * the next collect. */
static void on_shown(Member *m, void *userdata) {
        Collect *c = userdata;
        json_auto_t *shown = json_loadb(m->out.data ?: "", m->out.n_data, 0, NULL);
        const char *id = json_string_value(json_object_get(shown, "id"));
        bool is_good = remote_is_good(m->status);
        const json_t *here =
                collection_find(&c->collection, m->name, is_good && !id ? "" : id, c->options);
        _cleanup_free_ char *line = here ? NULL : fleet_line(&m->err, true);

        m->is_chosen = !here && is_good;
        if (id)
                (void) json_object_set_new(c->ids, m->name, json_string(id));
        if (here)
                keep(c, m, here);
        else if (!m->is_chosen)
                tell(c, m->name, m->status, 0, false, line);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What each host is asked. */
static void ask(const Collect *c, Fleet *f, const char *verb, const Strv *said, uint64_t silent_ns,
                void (*ended)(Member *m, void *userdata)) {
        char *words[] = { (char *) c->o->name };
        const Options o = {
                .verb = (char *) verb,
                .words = { .items = words, .n = ELEMENTSOF(words) },
                .said = *said,
                .output = streq(verb, "fetch") ? c->o->output : NULL,
        };

        fleet_work(f, &(FleetWork){ .o = &o,
                                    .silent_ns = silent_ns,
                                    .name = name_file,
                                    .ended = ended,
                                    .userdata = (void *) c });
}

static int collect(Collect *c, Fleet *f) {
        _cleanup_strv_ Strv show = {}, fetch = {};
        const Options *o = c->o;
        int r = options_said(&fetch, o, OPTIONS_FETCH, OPTIONS_REMOTE);

        if (r >= 0 && !o->fetch.ended)
                r = strv_add(&fetch, "--ended");
        if (r >= 0)
                r = strv_add(&show, "--json=short");
        c->options = r < 0 ? NULL : strv_join(&fetch, " ");
        if (!c->options)
                return failed_errno(-ENOMEM, "Failed to describe what to fetch: %m");
        ask(c, f, "show", &show, SHOW_NS, on_shown);
        ask(c, f, "fetch", &fetch, 0, on_fetched);
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
        c.ids = json_object();
        c.results = json_array();
        status = c.ids && c.results ? collect(&c, f) : STATUS_FAILED;
        json_decref(c.ids);
        json_decref(c.results);
        free(c.options);
        collection_done(&c.collection);
        return status;
}

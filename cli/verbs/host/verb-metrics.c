/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Metrics: what a daemon's GetStatus says, as families of JSON (`metrics` of cli/tables.schema.json), of which
 * text is printed: OpenMetrics 1.0 to standard output, and into a file, which must never be seen half, the format
 * 0.0.4, which node_exporter's textfile collector reads.  That calls the family of a counter by its name with
 * "_total".
 *
 * Names and units as https://prometheus.io/docs/practices/naming has them.  Sessions that are alive
 * have series of their own; those that have ended are counted.
 */

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/terminal/terminal.h"
#include "meta/meta.h"

#define METRICS_MODE 0644 /* node_exporter is nobody */

typedef enum Kind { KIND_GAUGE, KIND_COUNTER, KIND_INFO } Kind;

/* A number, or how many a list has. */
static uint64_t number_of(const json_t *o, const char *key) {
        const json_t *v = json_object_get(o, key);
        json_int_t n = json_integer_value(v);

        return json_is_array(v) ? json_array_size(v) : n > 0 ? (uint64_t) n : 0;
}

/* --- of each session -------------------------------------------------------------------------- */

static uint64_t degraded(const SessionMeta *m) {
        return m->degraded.n > 0;
}

static const struct {
        const char *name;
        Kind kind;
        const char *unit, *help;
        uint64_t (*value)(const SessionMeta *m); /* of seconds in nanoseconds; NULL: the member */
        const char *object, *key;                /* of its description, or of the object in that */
        size_t sum; /* where it is in its CPUs' accounts; 0: it is not */
} of_session[] = {
        { "ftraced_session_events", KIND_COUNTER, NULL, "Events that the kernel handed out.",
          .sum = offsetof(CpuAccount, read_events) },
        { "ftraced_session_lost_events", KIND_COUNTER, NULL, "Events that the kernel lost.",
          session_meta_events_lost },
        { "ftraced_session_lost_pages", KIND_COUNTER, NULL,
          "Pages that were read from the kernel and not stored.",
          .sum = offsetof(CpuAccount, pages_lost) },
        { "ftraced_session_stored_bytes", KIND_COUNTER, "bytes", "Pages stored.",
          .sum = offsetof(CpuAccount, n_bytes) },
        { "ftraced_session_gaps", KIND_GAUGE, NULL, "Periods in which something may be missing.",
          NULL, NULL, "gaps" },
        { "ftraced_session_disk_bytes", KIND_GAUGE, "bytes", "What it takes on disk.", NULL, NULL,
          "disk_bytes" },
        { "ftraced_session_segments", KIND_GAUGE, NULL, "Files of pages that it has.", NULL, "cost",
          "segments" },
        { "ftraced_session_unread_events", KIND_GAUGE, NULL,
          "Events in the kernel's buffer that nobody has read yet.", NULL, "cost",
          "unread_events" },
        { "ftraced_session_hooked_functions", KIND_GAUGE, NULL,
          "Functions that the kernel hooks for it; 0: all of them.", NULL, NULL, "n_hooked" },
        { "ftraced_session_root_functions", KIND_GAUGE, NULL,
          "Functions whose call trees are recorded.", NULL, NULL, "roots" },
        { "ftraced_session_cpu_seconds", KIND_COUNTER, "seconds",
          "CPU time that the daemon spent on it.", NULL, "cost", "cpu_ns" },
        { "ftraced_session_arm_seconds", KIND_GAUGE, "seconds",
          "How long programming the kernel took.", NULL, NULL, "arm_ns" },
        { "ftraced_session_start_time_seconds", KIND_GAUGE, "seconds",
          "When it began, since 1970; 0: it waits for a trigger.", NULL, "start", "realtime_ns" },
        { "ftraced_session_degraded", KIND_GAUGE, NULL, "Whether something is wrong with it.",
          degraded },
};

static const struct {
        const char *type, *old_type, *suffix; /* of the samples */
} kinds[] = {
        [KIND_GAUGE] = { "gauge", "gauge", "" },
        [KIND_COUNTER] = { "counter", "counter", "_total" },
        [KIND_INFO] = { "info", "gauge", "_info" },
};

/* --- families, as JSON ------------------------------------------------------------------------ */

static json_t *new_family(const char *name, Kind kind, const char *unit, const char *help) {
        return json_pack("{s:s, s:s, s:s?, s:s, s:[]}", "name", name, "type", kinds[kind].type,
                         "unit", unit, "help", help, "samples");
}

/* @label: NULL: none.  A number is an integer where it is one. */
static int add_sample(json_t *family, const char *label, const char *label_value, double value) {
        json_t *number = value < 0x1p63 && value == (double) (json_int_t) value
                                 ? json_integer((json_int_t) value)
                                 : json_real(value);
        json_t *labels = label ? json_pack("{s:s}", label, label_value) : json_object();

        return json_array_append_new(json_object_get(family, "samples"),
                                     json_pack("{s:o, s:o}", "labels", labels, "value", number));
}

/* One sample in a family of its own. */
static int add_single(json_t *families, json_t *family, const char *label, const char *label_value,
                      double value) {
        int r = add_sample(family, label, label_value, value);

        return json_array_append_new(families, family) < 0 ? -1 : r;
}

static int add_session(json_t *families, const SessionMeta *m, const json_t *session) {
        const CpuAccount all = session_meta_total(m);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(of_session); i++) {
                const char *object = of_session[i].object, *unit = of_session[i].unit;
                uint64_t n =
                        of_session[i].value ? of_session[i].value(m)
                        : of_session[i].sum > 0
                                ? *(const uint64_t *) (const void *) ((const char *) &all +
                                                                      of_session[i].sum)
                                : number_of(object ? json_object_get(session, object) : session,
                                            of_session[i].key);
                double value = streq_ptr(unit, "seconds") ? (double) n / (double) NSEC_PER_SEC
                                                          : (double) n;

                r = add_sample(json_array_get(families, i), "session", m->name, value);
        }
        return r;
}

/* 0; else a session is described in a way that is not valid, or there is no memory. */
static int add_sessions(json_t *families, const json_t *sessions) {
        json_auto_t *list = json_array();
        const json_t *session;
        bool is_any = false;
        int r = 0;
        size_t i;

        for (i = 0; r >= 0 && i < ELEMENTSOF(of_session); i++)
                r = json_array_append_new(list, new_family(of_session[i].name, of_session[i].kind,
                                                           of_session[i].unit, of_session[i].help));
        json_array_foreach (sessions, i, session) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                const char *field;

                if (r == 0)
                        r = session_meta_from_json(&m, session, &field);
                if (r != 0)
                        return r;
                if (session_state_is_live(m->state)) {
                        is_any = true;
                        r = add_session(list, m, session);
                }
        }
        return r == 0 && is_any ? json_array_extend(families, list) : r;
}

static int add_all(json_t *families, const json_t *status) {
        json_t *states = new_family("ftraced_sessions", KIND_GAUGE, NULL, "Sessions in the store.");
        int r = add_single(
                families, new_family("ftraced_build", KIND_INFO, NULL, "The daemon, always 1."),
                "version", json_string_value(json_object_get(status, "version")) ?: "", 1);

        for (int i = 0; r >= 0 && i < _SESSION_STATE_N; i++) {
                const char *name = session_state_name((SessionState) i);

                r = add_sample(states, "state", name,
                               (double) number_of(json_object_get(status, "states"), name));
        }
        return json_array_append_new(families, states)
                       ?: r
                       ?: add_single(families,
                                     new_family("ftraced_store_bytes", KIND_GAUGE, "bytes",
                                                "What all sessions take on disk."),
                                     NULL, NULL, (double) number_of(status, "store_bytes"))
                       ?: add_single(families,
                                     new_family("ftraced_store_free_bytes", KIND_GAUGE, "bytes",
                                                "Free space in the store's file system."),
                                     NULL, NULL, (double) number_of(status, "store_free_bytes"))
                       ?: add_sessions(families, json_object_get(status, "sessions"));
}

/* --- as text ---------------------------------------------------------------------------------- */

/* @is_old: in the format 0.0.4. */
static void print_family(Buf *out, json_t *family, bool is_old) {
        const char *name = json_string_value(json_object_get(family, "name"));
        const char *type = json_string_value(json_object_get(family, "type"));
        const char *unit = json_string_value(json_object_get(family, "unit")), *label;
        size_t kind = 0, i;
        json_t *sample, *value;

        while (!streq(kinds[kind].type, type))
                kind++;
        buf_printf(out, "# HELP %s%s %s\n", name, is_old ? kinds[kind].suffix : "",
                   json_string_value(json_object_get(family, "help")));
        buf_printf(out, "# TYPE %s%s %s\n", name, is_old ? kinds[kind].suffix : "",
                   is_old ? kinds[kind].old_type : type);
        if (unit && !is_old)
                buf_printf(out, "# UNIT %s %s\n", name, unit);
        json_array_foreach (json_object_get(family, "samples"), i, sample) {
                buf_printf(out, "%s%s", name, kinds[kind].suffix);
                /* Names, states and versions, which have nothing to be escaped. */
                json_object_foreach (json_object_get(sample, "labels"), label, value)
                        buf_printf(out, "{%s=\"%s\"}", label, json_string_value(value));
                buf_printf(out, " %.17g\n", json_number_value(json_object_get(sample, "value")));
        }
}

static int write_file(const char *path, json_t *families) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_buf_ Buf out = BUF_INIT;
        int r = outfile_open(&f, path, METRICS_MODE);
        json_t *family;
        size_t i;

        if (r >= 0) {
                out.fd = f.fd;
                json_array_foreach (families, i, family)
                        print_family(&out, family, true);
                r = buf_flush(&out) ?: outfile_commit(&f);
        }
        return r < 0 ? failed_errno(r, "Failed to write %s: %m", path) : STATUS_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

int verb_metrics(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *reply = NULL, *families = json_array();
        int status = contact_daemon(&c, o)
                             ?: contact_call(c, "GetStatus", json_pack("{s:b}", "brief", 1), &reply,
                                             NULL);
        json_t *family;
        size_t i;

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF && o->output)
                return failed(STATUS_USAGE, "--json goes to standard output; leave out -o.");
        if (add_all(families, reply) != 0)
                return failed(STATUS_FAILED,
                              "the daemon's description of a session is not valid. Do the "
                              "versions of ftraced and ftracectl match?");
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(families));
        if (o->output && !streq(o->output, "-"))
                return write_file(o->output, families);
        json_array_foreach (families, i, family)
                print_family(&out, family, o->output);
        if (!o->output)
                buf_adds(&out, "# EOF\n");
        return stdout_end(&out);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Metrics: what a daemon's GetStatus says, for Prometheus and whoever reads its texts
 *
 * Names and units as https://prometheus.io/docs/practices/naming has them.  Sessions that are alive
 * have series of their own; those that have ended are counted.
 *
 * OpenMetrics 1.0 or, as JSON, the same families (`metrics` of cli/tables.schema.json) to standard
 * output, for whoever scrapes by a command or looks himself; into a file, which must never be seen
 * half, the text format 0.0.4, which node_exporter's textfile collector reads.  OpenMetrics calls
 * the family of a counter by its name without "_total", the older format with it; apart from that
 * and the end they are the same.
 */

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/terminal/outfile.h"
#include "cli/terminal/terminal.h"
#include "meta/meta.h"

#define METRICS_MODE 0644 /* node_exporter is nobody */

typedef enum Kind { KIND_GAUGE, KIND_COUNTER, KIND_INFO } Kind;

/* A session that is alive. */
typedef struct Live {
        SessionMeta *meta;
        const json_t *json;
} Live;

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
} of_session[] = {
        { "ftraced_session_events", KIND_COUNTER, NULL, "Events that the kernel handed out.",
          session_meta_n_events },
        { "ftraced_session_lost_events", KIND_COUNTER, NULL, "Events that the kernel lost.",
          session_meta_events_lost },
        { "ftraced_session_lost_pages", KIND_COUNTER, NULL,
          "Pages that were read from the kernel and not stored.", session_meta_pages_lost },
        { "ftraced_session_stored_bytes", KIND_COUNTER, "bytes", "Pages stored.",
          session_meta_n_bytes },
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

static double value_of(size_t i, const Live *l) {
        const char *object = of_session[i].object, *unit = of_session[i].unit;
        const json_t *json = object ? json_object_get(l->json, object) : l->json;
        uint64_t n = of_session[i].value ? of_session[i].value(l->meta)
                                         : number_of(json, of_session[i].key);

        return unit && streq(unit, "seconds") ? (double) n / (double) NSEC_PER_SEC : (double) n;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_escaped(Buf *out, const char *s) {
        for (; *s; s++)
                switch (*s) {
                case '"':
                case '\\':
                        buf_printf(out, "\\%c", *s);
                        break;
                case '\n':
                        buf_adds(out, "\\n");
                        break;
                default:
                        buf_add(out, s, 1);
                }
}

/* Where it goes: text, or families as JSON. */
typedef struct Sink {
        Buf *out;
        bool is_old;      /* of text: the format 0.0.4 */
        json_t *families; /* NULL: text */
        bool has_failed;
} Sink;

typedef struct Family {
        const char *name;
        Kind kind;
        const char *unit, *help;
} Family;

static const struct {
        const char *type, *old_type, *suffix; /* of the samples */
} kinds[] = {
        [KIND_GAUGE] = { "gauge", "gauge", "" },
        [KIND_COUNTER] = { "counter", "counter", "_total" },
        [KIND_INFO] = { "info", "gauge", "_info" },
};

static void add_family(Sink *s, const Family *f) {
        const char *suffix = s->is_old ? kinds[f->kind].suffix : "";

        if (s->families) {
                if (json_array_append_new(s->families,
                                          json_pack("{s:s, s:s, s:s?, s:s, s:[]}", "name", f->name,
                                                    "type", kinds[f->kind].type, "unit", f->unit,
                                                    "help", f->help, "samples")) < 0)
                        s->has_failed = true;
                return;
        }
        buf_printf(s->out, "# HELP %s%s %s\n", f->name, suffix, f->help);
        buf_printf(s->out, "# TYPE %s%s %s\n", f->name, suffix,
                   s->is_old ? kinds[f->kind].old_type : kinds[f->kind].type);
        if (f->unit && !s->is_old)
                buf_printf(s->out, "# UNIT %s %s\n", f->name, f->unit);
}

/* A number as JSON has it: an integer where it is one. */
static json_t *number_to_json(double value) {
        return value >= 0 && value < 0x1p63 && value == (double) (json_int_t) value
                       ? json_integer((json_int_t) value)
                       : json_real(value);
}

/* Of the family that was added last.  @label: NULL: none. */
static void add_sample(Sink *s, const Family *f, const char *label, const char *label_value,
                       double value) {
        if (s->families) {
                json_t *family = json_array_get(s->families, json_array_size(s->families) - 1);
                json_t *labels = json_object(), *sample = NULL;

                if (label)
                        (void) json_object_set_new(labels, label, json_string(label_value));
                sample = json_pack("{s:o, s:o}", "labels", labels, "value", number_to_json(value));
                if (json_array_append_new(json_object_get(family, "samples"), sample) < 0)
                        s->has_failed = true;
                return;
        }
        buf_printf(s->out, "%s%s", f->name, kinds[f->kind].suffix);
        if (label) {
                buf_printf(s->out, "{%s=\"", label);
                add_escaped(s->out, label_value);
                buf_adds(s->out, "\"}");
        }
        buf_printf(s->out, " %.17g\n", value);
}

static void add_sessions(Sink *s, const Live *live, size_t n) {
        for (size_t i = 0; n > 0 && i < ELEMENTSOF(of_session); i++) {
                Family f = { of_session[i].name, of_session[i].kind, of_session[i].unit,
                             of_session[i].help };

                add_family(s, &f);
                for (size_t k = 0; k < n; k++)
                        add_sample(s, &f, "session", live[k].meta->name, value_of(i, &live[k]));
        }
}

static void add_daemon(Sink *s, const json_t *status) {
        const json_t *states = json_object_get(status, "states");
        static const Family build = { "ftraced_build", KIND_INFO, NULL, "The daemon, always 1." },
                            sessions = { "ftraced_sessions", KIND_GAUGE, NULL,
                                         "Sessions in the store." };
        static const struct {
                Family family;
                const char *key;
        } gauges[] = {
                { { "ftraced_store_bytes", KIND_GAUGE, "bytes", "What all sessions take on disk." },
                  "store_bytes" },
                { { "ftraced_store_free_bytes", KIND_GAUGE, "bytes",
                    "Free space in the store's file system." },
                  "store_free_bytes" },
        };
        const char *version = json_string_value(json_object_get(status, "version"));

        add_family(s, &build);
        add_sample(s, &build, "version", version ?: "", 1);
        add_family(s, &sessions);
        for (int i = 0; i < _SESSION_STATE_N; i++)
                add_sample(s, &sessions, "state", session_state_name((SessionState) i),
                           (double) number_of(states, session_state_name((SessionState) i)));
        for (size_t i = 0; i < ELEMENTSOF(gauges); i++) {
                add_family(s, &gauges[i].family);
                add_sample(s, &gauges[i].family, NULL, NULL,
                           (double) number_of(status, gauges[i].key));
        }
}

/* 0; positive: a session is described in a way that is not valid; -errno. */
static int add_all(Sink *sink, const json_t *status) {
        const json_t *sessions = json_object_get(status, "sessions");
        Live *live = calloc(json_array_size(sessions) + 1, sizeof(*live));
        size_t n = 0, i;
        int r = live ? 0 : -ENOMEM;
        json_t *s;

        json_array_foreach (sessions, i, s) {
                const char *field;

                if (r == 0)
                        r = session_meta_from_json(&live[n].meta, s, &field);
                if (r != 0)
                        break;
                live[n].json = s;
                if (session_state_is_live(live[n].meta->state))
                        n++;
                else
                        live[n].meta = session_meta_free(live[n].meta);
        }
        if (r == 0) {
                add_daemon(sink, status);
                add_sessions(sink, live, n);
        }
        for (i = 0; i < n; i++)
                session_meta_free(live[i].meta);
        free(live);
        return r;
}

static int write_text(Buf *out, const json_t *status, bool is_old) {
        int r = add_all(&(Sink){ .out = out, .is_old = is_old }, status);

        if (r == 0 && !is_old)
                buf_adds(out, "# EOF\n");
        return r;
}

static int write_file(const Options *o, const json_t *status) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_buf_ Buf out = BUF_INIT;
        int r = outfile_open(&f, o->output, METRICS_MODE);

        if (r >= 0) {
                out.fd = f.fd;
                r = write_text(&out, status, true);
        }
        if (r == 0)
                r = buf_flush(&out) ?: outfile_commit(&f);
        if (r < 0)
                log_error_errno(r, "Failed to write %s: %m", o->output);
        return r;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Half of the sessions would be taken for a loss of the others: the first answer may come before the daemon
 * has read them all, and that to ListBriefs does not.  An exit status. */
static int ask(Client *c, json_t **ret) {
        json_auto_t *early = NULL, *briefs = NULL;
        int status = contact_call(c, "GetStatus", json_pack("{s:b}", "brief", 1), &early, NULL);

        if (status == STATUS_OK && !json_object_get(early, "survey"))
                *ret = TAKE_PTR(early);
        else if (status == STATUS_OK)
                status = contact_gather(c, "ListBriefs", NULL, "briefs", &briefs);
        if (status == STATUS_OK && briefs)
                status = contact_call(c, "GetStatus", json_pack("{s:b}", "brief", 1), ret, NULL);
        return status;
}

int verb_metrics(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *reply = NULL, *families = json_array();
        Sink json = { .families = families };
        int status = contact_daemon(&c, o) ?: ask(c, &reply), r;

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF && o->output)
                return failed(STATUS_USAGE, "--json goes to standard output; leave out -o.");
        if (o->json != JSON_OFF) {
                r = families ? add_all(&json, reply) : -ENOMEM;
                if (r == 0 && !json.has_failed)
                        return stdout_json(o, json_incref(families));
        } else if (o->output && !streq(o->output, "-")) {
                r = write_file(o, reply);
                if (r <= 0)
                        return r < 0 ? STATUS_FAILED : STATUS_OK;
        } else {
                r = write_text(&out, reply, o->output);
                if (r == 0)
                        return stdout_end(&out);
        }
        return failed(STATUS_FAILED, "the daemon's description of a session is not valid. Do the "
                                     "versions of ftraced and ftracectl match?");
}

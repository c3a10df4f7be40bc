/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A table of what there is for each session.  OpenMetrics calls the family of a counter by its name
 * without "_total", the older format with it; apart from that and the end they are the same.
 */

#include <inttypes.h>
#include <stdio.h>

#include "base/unit.h"
#include "cli/metrics.h"
#include "store/meta.h"

typedef enum Kind { KIND_GAUGE, KIND_COUNTER, KIND_INFO } Kind;

/* A session that is alive. */
typedef struct Live {
        SessionMeta *meta;
        const json_t *json;
} Live;

static uint64_t number_of(const json_t *o, const char *key) {
        json_int_t n = json_integer_value(json_object_get(o, key));

        return n > 0 ? (uint64_t) n : 0;
}

static double count(uint64_t n) {
        return (double) n;
}

static double seconds(uint64_t ns) {
        return (double) ns / (double) NSEC_PER_SEC;
}

/* --- of each session -------------------------------------------------------------------------- */

static double events(const Live *l) {
        uint64_t n = 0;

        for (size_t i = 0; i < l->meta->n_cpus; i++)
                n += l->meta->cpus[i].read_events;
        return count(n);
}

static double events_lost(const Live *l) {
        return count(session_meta_events_lost(l->meta));
}

static double pages_lost(const Live *l) {
        return count(session_meta_pages_lost(l->meta));
}

static double bytes(const Live *l) {
        return count(session_meta_n_bytes(l->meta));
}

static double disk_bytes(const Live *l) {
        return count(number_of(l->json, "disk_bytes"));
}

static double segments(const Live *l) {
        return count(number_of(json_object_get(l->json, "cost"), "segments"));
}

static double unread(const Live *l) {
        return count(number_of(json_object_get(l->json, "cost"), "unread_events"));
}

static double cpu_seconds(const Live *l) {
        return seconds(number_of(json_object_get(l->json, "cost"), "cpu_ns"));
}

static double hooked(const Live *l) {
        return count(l->meta->n_hooked);
}

static double roots(const Live *l) {
        return count(l->meta->roots.n);
}

static double gaps(const Live *l) {
        return count(l->meta->gaps.n);
}

static double degraded(const Live *l) {
        return l->meta->degraded.n > 0 ? 1 : 0;
}

static double arm_seconds(const Live *l) {
        return seconds(l->meta->arm_ns);
}

static double start_seconds(const Live *l) {
        return seconds(l->meta->start.realtime_ns);
}

static const struct {
        const char *name;
        Kind kind;
        const char *unit, *help;
        double (*value)(const Live *l);
} of_session[] = {
        { "ftraced_session_events", KIND_COUNTER, NULL, "Events that the kernel handed out.",
          events },
        { "ftraced_session_lost_events", KIND_COUNTER, NULL, "Events that the kernel lost.",
          events_lost },
        { "ftraced_session_lost_pages", KIND_COUNTER, NULL,
          "Pages that were read from the kernel and not stored.", pages_lost },
        { "ftraced_session_stored_bytes", KIND_COUNTER, "bytes", "Pages stored.", bytes },
        { "ftraced_session_gaps", KIND_GAUGE, NULL,
          "Stretches of time of which something may be missing.", gaps },
        { "ftraced_session_disk_bytes", KIND_GAUGE, "bytes", "What it takes on disk.", disk_bytes },
        { "ftraced_session_segments", KIND_GAUGE, NULL, "Files of pages that it has.", segments },
        { "ftraced_session_unread_events", KIND_GAUGE, NULL,
          "Events in the kernel's buffer that nobody has read yet.", unread },
        { "ftraced_session_hooked_functions", KIND_GAUGE, NULL,
          "Functions that the kernel hooks for it; 0: all of them.", hooked },
        { "ftraced_session_root_functions", KIND_GAUGE, NULL,
          "Functions whose call trees are recorded.", roots },
        { "ftraced_session_cpu_seconds", KIND_COUNTER, "seconds",
          "CPU time of the daemon for storing and looking after it.", cpu_seconds },
        { "ftraced_session_arm_seconds", KIND_GAUGE, "seconds",
          "How long programming the kernel took.", arm_seconds },
        { "ftraced_session_start_time_seconds", KIND_GAUGE, "seconds",
          "When it began, since 1970; 0: it waits for a trigger.", start_seconds },
        { "ftraced_session_degraded", KIND_GAUGE, NULL, "Whether something is wrong with it.",
          degraded },
};

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

static void add_label(Buf *out, const char *name, const char *value) {
        buf_printf(out, "{%s=\"", name);
        add_escaped(out, value);
        buf_adds(out, "\"}");
}

static void add_family(Buf *out, MetricsFormat f, const char *name, Kind kind, const char *unit,
                       const char *help) {
        static const struct {
                const char *type, *old_type, *suffix; /* of the samples */
        } kinds[] = {
                [KIND_GAUGE] = { "gauge", "gauge", "" },
                [KIND_COUNTER] = { "counter", "counter", "_total" },
                [KIND_INFO] = { "info", "gauge", "_info" },
        };
        const char *suffix = f == METRICS_PROMETHEUS ? kinds[kind].suffix : "";

        buf_printf(out, "# HELP %s%s %s\n", name, suffix, help);
        buf_printf(out, "# TYPE %s%s %s\n", name, suffix,
                   f == METRICS_PROMETHEUS ? kinds[kind].old_type : kinds[kind].type);
        if (unit && f == METRICS_OPENMETRICS)
                buf_printf(out, "# UNIT %s %s\n", name, unit);
}

static void add_gauge(Buf *out, MetricsFormat f, const char *name, const char *unit,
                      const char *help, uint64_t value) {
        add_family(out, f, name, KIND_GAUGE, unit, help);
        buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

static void write_sessions(Buf *out, MetricsFormat f, const Live *live, size_t n) {
        for (size_t i = 0; n > 0 && i < ELEMENTSOF(of_session); i++) {
                add_family(out, f, of_session[i].name, of_session[i].kind, of_session[i].unit,
                           of_session[i].help);
                for (size_t k = 0; k < n; k++) {
                        buf_adds(out, of_session[i].name);
                        if (of_session[i].kind == KIND_COUNTER)
                                buf_adds(out, "_total");
                        add_label(out, "session", live[k].meta->name);
                        buf_printf(out, " %.17g\n", of_session[i].value(&live[k]));
                }
        }
}

static void write_daemon(Buf *out, MetricsFormat f, const json_t *status,
                         const size_t states[static _SESSION_STATE_N]) {
        const char *version = json_string_value(json_object_get(status, "version"));

        add_family(out, f, "ftraced_build", KIND_INFO, NULL, "The daemon, always 1.");
        buf_adds(out, "ftraced_build_info");
        add_label(out, "version", version ?: "");
        buf_adds(out, " 1\n");
        add_family(out, f, "ftraced_sessions", KIND_GAUGE, NULL, "Sessions in the store.");
        for (int i = 0; i < _SESSION_STATE_N; i++) {
                buf_adds(out, "ftraced_sessions");
                add_label(out, "state", session_state_name((SessionState) i));
                buf_printf(out, " %zu\n", states[i]);
        }
        add_gauge(out, f, "ftraced_waiting_starts", NULL,
                  "Starts that wait for what another session uses.", number_of(status, "waiting"));
        add_gauge(out, f, "ftraced_store_bytes", "bytes", "What all sessions take on disk.",
                  number_of(status, "store_bytes"));
        add_gauge(out, f, "ftraced_store_free_bytes", "bytes",
                  "What the store's file system has free.", number_of(status, "store_free_bytes"));
}

int metrics_write(Buf *out, const json_t *status, MetricsFormat format) {
        const json_t *sessions = json_object_get(status, "sessions");
        Live *live = calloc(json_array_size(sessions) + 1, sizeof(*live));
        size_t states[_SESSION_STATE_N] = {}, n = 0, i;
        int r = live ? 0 : -ENOMEM;
        json_t *s;

        json_array_foreach (sessions, i, s) {
                const char *field;

                if (r == 0)
                        r = session_meta_from_json(&live[n].meta, s, &field);
                if (r != 0)
                        break;
                states[live[n].meta->state]++;
                live[n].json = s;
                if (session_state_is_live(live[n].meta->state))
                        n++;
                else
                        live[n].meta = session_meta_free(live[n].meta);
        }
        if (r == 0) {
                write_daemon(out, format, status, states);
                write_sessions(out, format, live, n);
                if (format == METRICS_OPENMETRICS)
                        buf_adds(out, "# EOF\n");
        }
        for (i = 0; i < n; i++)
                session_meta_free(live[i].meta);
        free(live);
        return r > 0 ? METRICS_E_INVALID : r;
}

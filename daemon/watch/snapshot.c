/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A directory, links, and a session.json made of the origin's by way of JSON, which is how a copy of
 * one is defined.  Where the snapshot begins its first pages say: only their headers are looked at.
 */

#include "base/array.h"
#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "daemon/upkeep/upkeep.h"
#include "daemon/watch/watch.h"
#include "pages/page-source.h"

#define NUMBER_MAX 1000000
#define SUFFIX_MAX 16 /* "-snap-1000000" */

/* For the first free ORIGIN-snap-N behind those there were. */
static int make_dir(const SnapshotConfig *c, SessionDir **ret,
                    char name[static SESSION_NAME_MAX + 1]) {
        int r = -EEXIST;

        for (uint64_t n = c->origin->n_snapshots + 1; r == -EEXIST && n < NUMBER_MAX; n++) {
                (void) snprintf(name, SESSION_NAME_MAX + 1, "%.*s-snap-%llu",
                                SESSION_NAME_MAX - SUFFIX_MAX, c->origin->name,
                                (unsigned long long) n);
                r = store_make_session(c->store, name, ret);
        }
        return r;
}

/* 1: there are some, 0: none, -errno. */
static int link_all(const SnapshotConfig *c, SessionDir *to) {
        _cleanup_free_ SegmentPlace *places = NULL;
        size_t n = 0, n_links = 0;
        int r = session_dir_list_places(c->dir, &places, &n);

        for (size_t i = 0; r >= 0 && i < n; i++) {
                char path[SEGMENT_PATH_MAX];
                _cleanup_close_ int cpu_fd = -EBADF;

                if (places[i].sequence >= c->end_sequence)
                        continue;
                cpu_fd = session_dir_make_cpu(to, places[i].cpu);
                if (cpu_fd < 0)
                        return cpu_fd;
                segment_format_path(path, places[i].cpu, places[i].sequence);
                if (linkat(session_dir_fd(c->dir), path, session_dir_fd(to), path, 0) >= 0)
                        n_links++;
                else if (errno != ENOENT) /* else a ring has dropped it meanwhile */
                        r = ORIGIN(-errno);
        }
        return r ?: n_links > 0;
}

static int copy_cuts(const SnapshotConfig *c, const SessionDir *to) {
        _cleanup_free_ Cut *cuts = NULL;
        size_t n = 0, n_kept = 0;
        int r = cut_log_read(c->dir, &cuts, &n);

        if (r < 0)
                return r;
        while (n_kept < n && cuts[n_kept].sequence < c->end_sequence)
                n_kept++;
        return cut_log_replace(to, cuts, n_kept);
}

/* The time of the first page of all CPUs; UINT64_MAX: no page says. */
static uint64_t first_page_ns(const SessionDir *dir, const SessionMeta *m) {
        uint64_t first_ns = UINT64_MAX;

        for (size_t i = 0; i < m->n_cpus; i++) {
                _cleanup_(page_source_freep) PageSource *g = NULL;
                _cleanup_free_ uint64_t *sequences = NULL;
                uint64_t begin_ns, end_ns;
                size_t n = 0;

                if (session_dir_list_segments(dir, m->cpus[i].cpu, &sequences, &n) >= 0 && n > 0 &&
                    page_source_open(&g, dir, m->cpus[i].cpu, sequences[0], NULL) == 0 &&
                    page_source_span(g, false, &begin_ns, &end_ns) == 0)
                        first_ns = MIN(first_ns, begin_ns);
        }
        return first_ns;
}

/* The same moment on all clocks, as far as they ran evenly since. */
static ClockTuple clocks_at(const ClockTuple *now, uint64_t trace_ns) {
        uint64_t ago = now->trace_ns > trace_ns ? now->trace_ns - trace_ns : 0;

        return (ClockTuple){ .trace_ns = now->trace_ns - ago,
                             .monotonic_ns = now->monotonic_ns - MIN(ago, now->monotonic_ns),
                             .boottime_ns = now->boottime_ns - MIN(ago, now->boottime_ns),
                             .realtime_ns = now->realtime_ns - MIN(ago, now->realtime_ns) };
}

int snapshot_copy_meta(SessionMeta **ret, const SessionMeta *origin, const char *name) {
        json_auto_t *o = session_meta_to_json(origin);
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        const char *field;
        int r = o ? session_meta_from_json(&m, o, &field) : -ENOMEM;

        r = r ?: session_meta_renew_id(m)
                    ?: text_replace(&m->name, name)
                    ?: text_replace(&m->origin, origin->name);
        if (r != 0)
                return r > 0 ? -EINVAL : r;
        json_fields_done(&captures_table, &m->captures);
        m->captures.n = 0;
        m->armed = m->kept_since = (ClockTuple){};
        m->first_sequence = m->bytes_dropped = m->n_snapshots = m->pages_unsynced = 0;
        m->pinned = m->learns = false;
        free(TAKE_PTR(m->silence));
        strv_done(&m->spec.triggers);
        conditions_done(&m->degraded);
        *ret = TAKE_PTR(m);
        return 0;
}

/* Gaps that lie before @m begins are none of its own. */
static void drop_old_gaps(SessionMeta *m) {
        size_t n = 0;

        for (size_t i = 0; i < m->gaps.n; i++)
                if (m->gaps.items[i].to_ns >= m->start.trace_ns)
                        m->gaps.items[n++] = m->gaps.items[i];
        m->gaps.n = n;
        gaps_close(&m->gaps, _GAP_CAUSE_N, m->stop.trace_ns);
}

/* What is the snapshot's own. */
static int fill_meta(SessionMeta *m, const SnapshotConfig *c, const SessionDir *dir) {
        uint64_t first_ns;
        int r = text_replace(&m->reason, c->reason);

        if (r >= 0)
                r = disk_usage_count(dir, m);
        if (r < 0)
                return r;
        m->kept_realtime_ns = now_ns(CLOCK_REALTIME);
        for (size_t i = 0; i < m->n_cpus; i++) {
                m->cpus[i].n_bytes = m->cpus[i].n_pages * m->page_bytes;
                m->cpus[i].pages_dropped = m->cpus[i].read_events = 0;
        }
        m->state = SESSION_SEALED;
        m->stop = c->stop;
        first_ns = first_page_ns(dir, m);
        m->start = clocks_at(&c->stop, MIN(first_ns, c->stop.trace_ns));
        m->pages_unsynced = session_meta_total(m).n_pages; /* nobody has synced a ring's */
        drop_old_gaps(m);
        return 0;
}

static int fill(const SnapshotConfig *c, SessionDir *dir, const char *name) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        const char *path;
        int r = link_all(c, dir);

        if (r == 0)
                return SNAPSHOT_E_EMPTY;
        if (r < 0)
                return r;
        return copy_cuts(c, dir)
                       ?: tracing_copy_begin(dir, c->tracer, c->origin, &path)
                       ?: tracing_copy_end(dir, c->tracer, false, &path)
                       ?: owner_copy(dir, c->dir)
                       ?: snapshot_copy_meta(&m, c->origin, name)
                       ?: fill_meta(m, c, dir)
                       ?: session_dir_write_meta(dir, m, false)
                       ?: store_settle_session(c->store, name);
}

int snapshot_make(char **ret_name, const SnapshotConfig *config) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        char name[SESSION_NAME_MAX + 1];
        int r, k;

        r = make_dir(config, &dir, name);
        if (r < 0)
                return r;
        r = fill(config, dir, name);
        if (r == 0 && !(*ret_name = strdup(name)))
                r = -ENOMEM;
        if (r != 0) {
                dir = session_dir_free(dir);
                k = store_discard_session(config->store, name);
                if (k < 0)
                        (void) log_warning_errno(
                                k, "Cannot remove the unfinished snapshot \"%s\": %m", name);
        }
        return r;
}

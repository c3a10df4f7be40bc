/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel's pages are consumed by reading them, so that the directory into which they go is a session before the
 * first is read, and each is read straight into the page cache of a segment.  All that is on the disk is written
 * before ORIGIN says that it has ended.
 */

#include <fcntl.h>

#include "base/array.h"
#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/process/journal.h"
#include "daemon/session/session.h"
#include "daemon/upkeep/upkeep.h"
#include "daemon/watch/watch.h"
#include "meta/clock.h"
#include "pages/page-source.h"
#include "store/tracing.h"

#define SPARE_PAGES 16 /* more than the buffer's size says: the reader's own page, and rounding */

typedef struct Rescue {
        Store *store;
        BlackBox box;
        bool has_box;
        SessionDir *origin_dir;
        SessionMeta *origin;
        char name[SESSION_NAME_MAX + 1]; /* of what is made */
} Rescue;

static void rescue_done(Rescue *x) {
        instance_done(&x->box.instance);
        x->origin_dir = session_dir_free(x->origin_dir);
        x->origin = session_meta_free(x->origin);
}

/* --- whose it is -------------------------------------------------------------------------------- */

/*
 * Only the latest can have been the last to record there; what is said of others session_load() finds.  It is live, or a
 * rescue failed, for want of disk space perhaps, and the daemon has then ended it as any other.  As long as nothing
 * survived that is not asked, and those that rest need no look.
 */
static int find_origin(Rescue *x, bool has_events) {
        char boot_id[BOOT_ID_CHARS + 1];
        _cleanup_strv_ Strv names = {};
        int r = store_list(x->store, &names);

        boot_id_read(boot_id);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;

                if ((!has_events && !live_may_be(x->store, names.items[i])) ||
                    store_open_session(x->store, names.items[i], &dir) < 0 ||
                    session_dir_read_meta(dir, &m) != 0 || !streq(m->name, names.items[i]) ||
                    !m->spec.black_box || m->origin || !m->boot_id || !*m->boot_id ||
                    streq(m->boot_id, boot_id) || m->start.realtime_ns == 0 ||
                    (x->origin && x->origin->start.realtime_ns >= m->start.realtime_ns))
                        continue;
                if (!session_state_is_live(m->state) &&
                    !(has_events && m->state == SESSION_FAILED &&
                      streq_ptr(m->reason, SESSION_REASON_DAEMON_ENDED)))
                        continue;
                (void) session_dir_free(x->origin_dir);
                (void) session_meta_free(x->origin);
                x->origin_dir = TAKE_PTR(dir);
                x->origin = TAKE_PTR(m);
        }
        return r < 0 ? r : x->origin != NULL;
}

/* --- what it says ------------------------------------------------------------------------------- */

/* The same moment on all clocks, as far as they ran evenly since @from. */
static ClockTuple clocks_at(const SessionMeta *m, uint64_t trace_ns) {
        const ClockTuple *from = &m->start;
        uint64_t later;

        if (!trace_clock_is_ns(m->clock) || trace_ns < from->trace_ns)
                return *from;
        later = trace_ns - from->trace_ns;
        return (ClockTuple){ .trace_ns = trace_ns,
                             .monotonic_ns = from->monotonic_ns + later,
                             .boottime_ns = from->boottime_ns + later,
                             .realtime_ns = session_meta_realtime_ns(m, trace_ns) };
}

/* When the first and the last page of a segment begin; false: that cannot be told. */
static bool get_span(const SessionDir *dir, uint32_t cpu, uint64_t sequence, uint64_t *ret_first_ns,
                     uint64_t *ret_last_ns) {
        _cleanup_(page_source_freep) PageSource *s = NULL;

        return page_source_open(&s, dir, cpu, sequence, NULL) == 0 &&
               page_source_span(s, false, ret_first_ns, ret_last_ns) == 0;
}

/* Damaged pages may have any time: none is believed that lies outside of the time that there was. */
static void set_times(SessionMeta *m, const SessionDir *dir) {
        uint64_t begin_ns = m->start.trace_ns, first_ns = UINT64_MAX, last_ns = begin_ns,
                 since_ns = now_ns(CLOCK_REALTIME), end_ns;

        since_ns -= MIN(since_ns, m->start.realtime_ns);
        end_ns = begin_ns + since_ns;
        for (size_t i = 0; i < m->n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n = 0;

                if (session_dir_list_segments(dir, m->cpus[i].cpu, &sequences, &n) < 0)
                        continue;
                for (size_t k = 0; k < n; k++) {
                        uint64_t a, b;

                        if (!get_span(dir, m->cpus[i].cpu, sequences[k], &a, &b))
                                continue;
                        if (a >= begin_ns && a <= end_ns)
                                first_ns = MIN(first_ns, a);
                        if (b >= begin_ns && b <= end_ns)
                                last_ns = MAX(last_ns, b);
                }
        }
        m->stop = clocks_at(m, last_ns);
        m->start = clocks_at(m, MIN(first_ns, last_ns));
}

static int make_meta(const Rescue *x, SessionMeta **ret) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r = snapshot_copy_meta(&m, x->origin, x->name);

        if (r < 0)
                return r;
        m->state = SESSION_DRAINING;
        m->page_bytes = x->box.page_bytes;
        free(TAKE_PTR(m->cpus));
        m->n_cpus = 0;
        m->cpus = calloc(x->box.instance.n_cpus, sizeof(*m->cpus));
        if (!m->cpus)
                return -ENOMEM;
        for (size_t i = 0; i < x->box.instance.n_cpus; i++)
                m->cpus[m->n_cpus++].cpu = x->box.instance.cpus[i].cpu;
        *ret = TAKE_PTR(m);
        return 0;
}

/* --- the session that is made ------------------------------------------------------------------- */

static int make_session(const Rescue *x, SessionDir **ret, SessionMeta **ret_meta) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r, k;

        r = make_meta(x, &m) ?: store_make_session(x->store, x->name, &dir);
        if (r < 0)
                return r;
        r = tracing_link(x->origin_dir, dir) ?: session_dir_write_meta(dir, m, false);
        if (r >= 0 && syncfs(session_dir_fd(dir)) < 0)
                r = ORIGIN(-errno);
        r = r ?: store_settle_session(x->store, x->name);
        if (r < 0) {
                dir = session_dir_free(dir);
                k = store_discard_session(x->store, x->name);
                if (k < 0)
                        log_warning_errno(k, "Cannot remove the unfinished session \"%s\": %m",
                                          x->name);
                return r;
        }
        *ret = TAKE_PTR(dir);
        *ret_meta = TAKE_PTR(m);
        return 0;
}

/* What a daemon made of it that died over it: 0; -ENOENT: nothing, and the name is free. */
static int find_made(Rescue *x, SessionDir **ret, SessionMeta **ret_meta) {
        char suffix[8] = "";

        for (unsigned i = 1; i < 100; i++) {
                _cleanup_(session_dir_freep) SessionDir *dir = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                int r;

                if (i > 1)
                        (void) snprintf(suffix, sizeof(suffix), "-%u", i);
                (void) snprintf(x->name, sizeof(x->name), RESCUE_PREFIX "%.36s%s",
                                x->origin->boot_id, suffix);
                if (!session_name_is_valid(x->name))
                        return ORIGIN(-EBADMSG);
                r = store_open_session(x->store, x->name, &dir);
                if (r < 0)
                        return r;
                if (session_dir_read_meta(dir, &m) == 0 && streq_ptr(m->origin, x->origin->name)) {
                        *ret = TAKE_PTR(dir);
                        *ret_meta = TAKE_PTR(m);
                        return 0;
                }
        }
        return ORIGIN(-EEXIST);
}

/* What had events, as the daemon that died knew, and has none. */
static int note_emptied(const SessionMeta *origin, SessionMeta *m) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < origin->n_cpus; i++) {
                const CpuAccount *had = &origin->cpus[i];
                const CpuAccount *has = session_meta_account(m, had->cpu);

                if (had->in_memory > 0 && (!has || has->n_pages == 0))
                        r = gaps_add(&m->gaps, &(Gap){ .cpu = had->cpu,
                                                       .cause = GAP_NOT_RESCUED,
                                                       .from_ns = origin->start.trace_ns,
                                                       .to_ns = m->stop.trace_ns,
                                                       .n_events = GAP_UNKNOWN });
        }
        return r;
}

/* The latest one, for which recording was off.  The pages that it read are not all gone: those after it go on with
 * another moment. */
static int note_snapshot(const Rescue *x, const SessionDir *dir, SessionMeta *m) {
        uint64_t ns = x->origin->n_snapshots > 0 ? x->origin->kept_since.trace_ns : 0, next_ns;
        int r = 0;

        for (size_t i = 0; ns > 0 && r >= 0 && i < m->n_cpus; i++) {
                if (!rescue_find_seam(dir, m->cpus[i].cpu, ns, &next_ns))
                        continue;
                next_ns = MIN(next_ns, m->stop.trace_ns);
                r = gaps_add(&m->gaps, &(Gap){ .cpu = m->cpus[i].cpu,
                                               .cause = GAP_SNAPSHOT,
                                               .from_ns = ns,
                                               .to_ns = MAX(ns, next_ns),
                                               .n_events = GAP_UNKNOWN });
        }
        return r;
}

static int end_session(const Rescue *x, SessionDir *dir, SessionMeta *m) {
        int r = disk_usage_count(dir, m);

        if (r < 0)
                return r;
        for (size_t i = 0; i < m->n_cpus; i++)
                m->cpus[i].n_bytes = m->cpus[i].n_pages * m->page_bytes;
        set_times(m, dir);
        gaps_close(&m->gaps, _GAP_CAUSE_N, m->stop.trace_ns);
        r = note_emptied(x->origin, m) ?: note_snapshot(x, dir, m);
        if (r < 0)
                return r;
        free(TAKE_PTR(m->reason));
        r = text_format(&m->reason,
                        "the machine went down while it was recorded (a panic, a reset or a forced "
                        "reboot); %s pages survived in memory",
                        FORMAT_COUNT(session_meta_total(m).n_pages));
        if (r < 0)
                return r;
        m->state = SESSION_SEALED;
        m->kept_realtime_ns = now_ns(CLOCK_REALTIME);
        if (syncfs(session_dir_fd(dir)) < 0)
                return ORIGIN(-errno);
        r = session_dir_write_meta(dir, m, false);
        return r < 0 ? r : syncfs(session_dir_fd(dir)) < 0 ? ORIGIN(-errno) : 0;
}

/* --- the one that died -------------------------------------------------------------------------- */

static int end_origin(Rescue *x, const SessionMeta *made, const char *why) {
        SessionMeta *m = x->origin;
        int r;

        free(TAKE_PTR(m->reason));
        r = text_format(&m->reason, "the machine went down while it was recorded; %s%s%s", why,
                        made ? " is session " : "", made ? made->name : "");
        if (r < 0)
                return r;
        m->state = SESSION_FAILED;
        m->stop = made ? made->stop : m->start;
        conditions_done(&m->degraded);
        m->kept_realtime_ns = now_ns(CLOCK_REALTIME);
        disk_usage_release(x->origin_dir);
        r = disk_usage_count(x->origin_dir, m);
        if (r >= 0)
                r = session_dir_write_meta(x->origin_dir, m, true);
        if (r >= 0) /* by which it is found */
                live_remove(x->origin_dir);
        return r;
}

static int lose_origin(Rescue *x, const char *why) {
        int r = end_origin(x, NULL, why);

        if (r < 0)
                return r;
        journal_tell(&(JournalEntry){ JOURNAL_NOT_RESCUED, .meta = x->origin },
                     "Session \"%s\" was recording when the machine went down: %s.",
                     x->origin->name, why);
        return 0;
}

/* --- all of it ---------------------------------------------------------------------------------- */

/* All of it is in @m, and on the disk. */
static int finish(Rescue *x, const SessionMeta *m) {
        int r = end_origin(x, m, "what survived in memory");

        if (r < 0)
                return r;
        if (x->has_box) /* linux 7.2 makes pages that were read readable again at the next boot */
                r = tracefs_empty(x->box.instance.fs, x->box.instance.dir);
        if (r < 0)
                log_warning_errno(r, "Cannot empty the black box, instance %s: %m",
                                  x->box.instance.name);
        journal_tell(
                &(JournalEntry){ JOURNAL_RESCUED, .meta = m },
                "Session \"%s\" was recording when the machine went down: %s pages survived in "
                "memory and are session \"%s\" now.",
                x->origin->name, FORMAT_COUNT(session_meta_total(m).n_pages), m->name);
        return 1;
}

static int move_cpu(const BlackBox *b, uint32_t cpu, SessionDir *dir, const SessionMeta *m) {
        _cleanup_close_ int fd = instance_open_raw(&b->instance, cpu);
        uint64_t n;

        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        return rescue_move_pages(fd, cpu, b->cpu_bytes / b->page_bytes + SPARE_PAGES, dir, m, &n);
}

static int rescue_origin(Rescue *x) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        const Instance *i = &x->box.instance;
        bool has_pages = instance_n_waiting(i) > 0, is_made;
        int r = find_made(x, &dir, &m);

        if (r < 0 && r != -ENOENT)
                return r;
        is_made = r == 0;
        if (is_made && m->state == SESSION_SEALED)
                return finish(x, m);
        if (!is_made && !has_pages)
                return lose_origin(
                        x, x->has_box ? "nothing of it survived (power was lost, the firmware "
                                        "cleared memory, this kernel was loaded over it (KASLR), "
                                        "or does not know the other's layout)"
                                      : "this kernel was booted without the memory in which it "
                                        "was recorded");
        r = is_made ? disk_usage_recover(dir, m) : make_session(x, &dir, &m);
        for (size_t k = 0; r >= 0 && m->page_bytes == x->box.page_bytes && k < i->n_cpus; k++)
                if (i->cpus[k].n_waiting > 0)
                        r = move_cpu(&x->box, i->cpus[k].cpu, dir, m);
        if (r >= 0)
                r = end_session(x, dir, m);
        return r < 0 ? r : finish(x, m);
}

int rescue_run(Controller *c, Store *store) {
        _cleanup_(rescue_done) Rescue x = { .store = store };
        int found = controller_find_black_box(c, &x.box),
            r = find_origin(&x, instance_n_waiting(&x.box.instance) > 0);

        x.has_box = found == 0;
        if (r > 0) /* without tracefs nobody knows what survived */
                r = found < 0 ? found : rescue_origin(&x);
        if (r < 0)
                log_error_errno(
                        r,
                        "Cannot keep what survived of session \"%s\": %m; it is tried again "
                        "when ftraced starts, and nobody may record there meanwhile.",
                        x.origin ? x.origin->name : "?");
        return r;
}

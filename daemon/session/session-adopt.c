/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Without a service manager trace_pipe_raw is opened anew, and what was in a pipe when the daemon was
 * killed is lost: a gap says so.  With one nothing is missing but the rest of a page whose other half
 * died with the daemon.
 */

#include "base/unit.h"
#include "codec/page-source.h"
#include "daemon/record/reader.h"
#include "daemon/session/session-adopt.h"
#include "daemon/upkeep/disk-usage.h"
#include "daemon/watch/health.h"

const char *adoption_read_live(const SessionDir *dir, Live *ret,
                               char text[static ADOPTION_WHY_MAX]) {
        int r = live_read(dir, ret);

        if (r == 0)
                return ret->attached ? "its client left" : NULL;
        if (r == LIVE_E_NEWER)
                (void) snprintf(text, ADOPTION_WHY_MAX,
                                "a newer ftraced had begun it (live.json is of version %i, this "
                                "daemon knows %i): drained and ended",
                                ret->version, LIVE_VERSION);
        else
                (void) snprintf(text, ADOPTION_WHY_MAX,
                                "an ftraced that left no readable live.json had begun it: drained "
                                "and ended");
        return text;
}

/* --- what is missing --------------------------------------------------------------------------- */

uint64_t adoption_stored_ns(const SessionDir *dir, const SessionMeta *m, uint32_t cpu) {
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;

        if (session_dir_list_segments(dir, cpu, &sequences, &n) < 0)
                n = 0;
        while (n-- > 0) {
                _cleanup_(page_source_freep) PageSource *g = NULL;
                uint64_t first_ns, last_ns;

                if (page_source_open(&g, dir, cpu, sequences[n], NULL) == 0 &&
                    page_source_span(g, false, &first_ns, &last_ns) == 0)
                        return last_ns;
        }
        return m->start.trace_ns;
}

/* What was in the pipe of @cpu died with its daemon, or nothing was recorded when it did.  @n_pages are
 * counted as lost. */
static int add_gap(const AdoptionConfig *c, uint32_t cpu, GapCause cause, uint64_t n_pages) {
        ClockTuple now;
        int r = tracer_read_clocks(c->tracer, &now);

        if (r < 0)
                return r;
        return gaps_add(&c->meta->gaps, &(Gap){ .cpu = cpu,
                                                .cause = cause,
                                                .from_ns = adoption_stored_ns(c->dir, c->meta, cpu),
                                                .to_ns = now.trace_ns,
                                                .n_events = GAP_UNKNOWN,
                                                .n_pages = n_pages });
}

/* Of the @i-th CPU, after recorder_resume(): pages whose other half died with the daemon. */
static int note_torn(const AdoptionConfig *c, size_t i) {
        CpuAccount torn = {};

        recorder_read_account(c->recorder, i, &torn);
        return torn.pages_lost == 0 ? 0 : add_gap(c, torn.cpu, GAP_DAEMON_GONE, torn.pages_lost);
}

/* --- CPU by CPU --------------------------------------------------------------------------------- */

/* Where the kernel's counters of a CPU were, as live.json says or, if it says nothing, session.json. */
static int resume_counters(const AdoptionConfig *c, const CpuAccount *account) {
        InstanceCounters *counters = instance_counters(tracer_instance(c->tracer), account->cpu);
        const Live *live = c->live;
        CpuAccount now = { .cpu = account->cpu };
        int r;

        if (!counters)
                return ORIGIN(-ENOENT);
        for (size_t i = 0; i < live->n_cpus; i++)
                if (live->cpus[i].cpu == account->cpu) {
                        *counters = live->cpus[i].counters;
                        return 0;
                }
        r = instance_read_account(tracer_instance(c->tracer), &now);
        if (r < 0)
                return r;
        counters->sum[STAT_OVERRUN] = account->overrun;
        counters->sum[STAT_COMMIT_OVERRUN] = account->commit_overrun;
        counters->sum[STAT_DROPPED] = account->dropped_events;
        counters->sum[STAT_READ] = account->read_events;
        return 0;
}

/* What was in the pipe of the @i-th CPU at most when the daemon was killed. */
static uint64_t lost_bytes(PipeMarks *marks, size_t i) {
        uint64_t n = marks ? atomic_load(pipe_marks_get(marks, i)) : PIPE_MARK_MOVING;

        return MIN(n, (uint64_t) READER_PIPE_BYTES);
}

/* *@n_lost: bytes that were in its pipe and are missing. */
static int take_cpu(const AdoptionConfig *c, PipeMarks *marks, size_t i, uint64_t *n_lost) {
        uint32_t cpu = c->meta->cpus[i].cpu;
        int r = session_hold_take_cpu(c->hold, c->recorder, c->tracer, cpu);

        if (r == 0 && !c->live->left && lost_bytes(marks, i) > 0) {
                *n_lost += lost_bytes(marks, i);
                r = add_gap(c, cpu, GAP_DAEMON_GONE, 0);
        }
        if (r >= 0 && tracer_was_quiesced(c->tracer))
                r = add_gap(c, cpu, GAP_ROOTS_CHANGED, 0);
        if (r >= 0)
                r = resume_counters(c, &c->meta->cpus[i]);
        if (r >= 0)
                r = recorder_resume(c->recorder);
        if (r >= 0)
                r = note_torn(c, i);
        return r;
}

int adoption_take_cpus(const AdoptionConfig *c) {
        _cleanup_(pipe_marks_freep) PipeMarks *marks = NULL;
        char text[UNIT_TEXT_MAX];
        uint64_t n_lost = 0;
        int r = 0;

        (void) pipe_marks_open(&marks, c->meta->id, c->meta->n_cpus);
        for (size_t i = 0; r >= 0 && i < c->meta->n_cpus; i++)
                r = take_cpu(c, marks, i, &n_lost);
        if (r >= 0)
                r = disk_usage_count(c->dir, c->meta);
        for (size_t i = 0; r >= 0 && i < c->meta->n_cpus; i++)
                recorder_add_account(c->recorder, i, &c->meta->cpus[i]);
        if (r >= 0 && n_lost > 0)
                health_warn(c->meta,
                            "the daemon was killed while nobody else held its pipes: up to %s "
                            "that were in them are missing",
                            format_bytes(text, n_lost));
        return MIN(r, 0);
}

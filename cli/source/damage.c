/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A reader goes on behind what is damaged, so whoever shows the rest must say what is missing. */

#include <inttypes.h>

#include "base/unit.h"
#include "cli/source/source.h"
#include "retention/keep.h"

#define WHICH_MAX 64

int damage_add_counts(Strv *ret, const char *where, const DamageCount *counts, size_t n) {
        int r = 0;

        for (const DamageCount *c = counts; r >= 0 && c < counts + n; c++)
                if (c->n > 0)
                        r = strv_addf(ret, "%s%s %s %s", where, FORMAT_COUNT(c->n),
                                      c->n == 1 ? c->one : c->many, c->what);
        return r;
}

static const char *which_part(char text[static WHICH_MAX], const Damage *d) {
        if (d->part == DAMAGE_HEADER)
                return "header";
        if (d->part == DAMAGE_INDEX)
                return "index";
        if (d->part == DAMAGE_HOLE || d->part == DAMAGE_CPU)
                return "pages";
        if (d->n_blocks == 0)
                (void) snprintf(text, WHICH_MAX, "all from block %" PRIu32 " on", d->block);
        else if (d->n_blocks == 1)
                (void) snprintf(text, WHICH_MAX, "block %" PRIu32, d->block);
        else
                (void) snprintf(text, WHICH_MAX, "blocks %" PRIu32 " to %" PRIu32, d->block,
                                d->block + d->n_blocks - 1);
        return text;
}

static int describe_one(Strv *ret, const Damage *d) {
        char which[WHICH_MAX], lost[UNIT_TEXT_MAX + 16] = "";

        if (d->n_pages > 0)
                (void) snprintf(lost, sizeof(lost), ", %s %s lost", FORMAT_COUNT(d->n_pages),
                                d->n_pages == 1 ? "page" : "pages");
        switch (d->part) {
        case DAMAGE_CHUNK: /* of a trace.dat, whose parts have no names */
                return strv_addf(ret, "CPU %" PRIu32 ": %schunk %" PRIu32 ": %s%s", d->cpu,
                                 d->n_blocks == 0 ? "all from " : "", d->block, d->what, lost);
        case DAMAGE_CPU:
                return strv_addf(ret, "CPU %" PRIu32 ": %s%s", d->cpu, d->what, lost);
        case DAMAGE_SEGMENT:
                return strv_addf(ret, "cpu%" PRIu32 "/%08" PRIx64 ".seg: %s", d->cpu, d->sequence,
                                 d->what);
        case DAMAGE_NEWER:
                return strv_addf(ret,
                                 "cpu%" PRIu32 "/%08" PRIx64
                                 ".seg: written by a newer ftraced, format %" PRIu32
                                 ", and skipped; read it with that version",
                                 d->cpu, d->sequence, d->block);
        default:
                return strv_addf(ret, "cpu%" PRIu32 "/%08" PRIx64 ".seg: %s: %s%s", d->cpu,
                                 d->sequence, which_part(which, d), d->what, lost);
        }
}

int damage_describe_each(const Damages *d, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < d->n; i++)
                r = describe_one(ret, &d->items[i]);
        return r >= 0 && d->n_all > d->n
                       ? strv_addf(ret, "%s more places are damaged", FORMAT_COUNT(d->n_all - d->n))
                       : r;
}

static int describe_cpu(Strv *ret, uint32_t cpu, const PageCount *c, bool live) {
        const DamageCount counts[] = {
                { c->n_segments_missing, "segment", "segments", "missing from the sequence" },
                { c->n_segments_gone, "segment", "segments", "removed while it was read" },
                { live ? 0 : c->n_segments_unbegun, "segment", "segments", "empty" },
                { live ? 0 : c->n_unclosed, "segment", "segments", "never closed by the daemon" },
                { live ? 0 : c->n_torn_bytes, "byte", "bytes", "behind the last whole page" },
                { c->n_pages_torn, "page", "pages", "with an impossible length, skipped" },
                { c->n_pages_empty, "page", "pages", "never written" },
                { c->n_pages_damaged, "page", "pages", "damaged inside, skipped from there" },
                { c->n_pages_backwards, "page", "pages", "older than the page before" },
                { c->n_records_short, "record", "records", "too short for the format" },
        };
        char where[32];

        (void) snprintf(where, sizeof(where), "CPU %u: ", cpu);
        return damage_add_counts(ret, where, counts, ELEMENTSOF(counts));
}

/* Whether its account says that events of this CPU were lost. */
static bool is_known_lossy(const SessionMeta *m, uint32_t cpu) {
        const CpuAccount *account = session_meta_account(m, cpu);

        if (account && cpu_account_events_lost(account) > 0)
                return true;
        for (size_t i = 0; i < m->gaps.n; i++)
                if (m->gaps.items[i].cpu == cpu || m->gaps.items[i].cpu == GAP_ALL_CPUS)
                        return true;
        return false;
}

/* What is stored is held against what the daemon noted, whose last word on a live session is yet to come; another
 * program's file has no account of pages.  What was lost when the disk did not write it may be there all the same,
 * until somebody needs the memory. */
static int describe_account(Strv *ret, const SessionDir *dir, const SessionMeta *m) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus = 0;
        uint64_t n;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                if (session_meta_account(m, cpus[i]))
                        continue;
                r = page_walk_stored(dir, cpus[i], &n);
                if (r >= 0 && n > 0)
                        r = strv_addf(ret,
                                      "CPU %u: has pages, but the session's account has no entry",
                                      cpus[i]);
        }
        for (size_t i = 0; r >= 0 && i < m->n_cpus; i++) {
                const CpuAccount *a = &m->cpus[i];

                r = page_walk_stored(dir, a->cpu, &n);
                if (r >= 0 && (n < a->n_pages || n - a->n_pages > a->pages_lost))
                        r = strv_addf(
                                ret,
                                "CPU %u: %s pages are stored, but the session's account says %s",
                                a->cpu, FORMAT_COUNT(n), FORMAT_COUNT(a->n_pages));
        }
        if (r < 0 && r != -ENOMEM)
                r = strv_addf(ret, "its pages cannot be counted: %s", origin_text(r));
        return r;
}

/* A page may say that events are missing before it though the counters deny it. */
static int describe_missed(Strv *ret, const SessionMeta *m, uint32_t cpu, const PageCount *c) {
        if (c->n_pages_missed == 0 || is_known_lossy(m, cpu))
                return 0;
        return strv_addf(ret,
                         "CPU %u: %s page%s the kernel marked %s events as lost before it, which "
                         "its counters lack",
                         cpu, FORMAT_COUNT(c->n_pages_missed), c->n_pages_missed == 1 ? "" : "s",
                         c->n_missed > 0 ? FORMAT_COUNT(c->n_missed) : "some");
}

static int describe_misplaced(const SessionDir *dir, Strv *ret) {
        _cleanup_strv_ Strv paths = {};
        int r = keep_list_misplaced(dir, &paths);

        /* What cannot be looked at, or goes meanwhile, is another's to say. */
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        for (size_t i = 0; r >= 0 && i < paths.n; i++)
                r = strv_addf(ret, "%s: not a file that ftraced has made; skipped",
                              NAME_QUOTED(paths.items[i]));
        return r;
}

uint64_t damage_dropped(const Census *c, const SessionMeta *m) {
        return release_compare(m->kernel, 6, 17) == RELEASE_SINCE ? c->n_unmatched_irq_exits : 0;
}

/* Without a loss every exit has its entry; only other users of function_graph explain the rest
 *  (6.12 delivers exits of functions that we never asked for), what a ring dropped, which does not
 * end at one moment on all CPUs, and CPUs and tasks that were not recorded: a task in the middle of a
 * call may move to one of those, and become one.  With tracing_thresh there are returns alone. */
static int describe_pairs(const Census *c, const SessionMeta *m, Strv *ret) {
        const DamageCount counts[] = {
                { c->n_unmatched_entries - damage_dropped(c, m), "call", "calls",
                  "of which the return is missing in the middle of the recording" },
                { c->n_unmatched_exits, "return", "returns",
                  "of which the call is missing in the middle of the recording" },
        };

        if (c->n_entries == 0 || c->n_gaps > 0 || m->gaps.n > 0 || m->lacks.n > 0 || m->filters ||
            m->neighbours.n > 0 || session_meta_total(m).pages_dropped > 0 || m->spec.cpus.n > 0 ||
            m->spec.comms.n > 0 || m->spec.cgroups.n > 0)
                return 0;
        return damage_add_counts(ret, "", counts, ELEMENTSOF(counts));
}

int damage_describe_files(const SessionDir *dir, const SessionMeta *m, Strv *ret) {
        bool has_account = !session_state_is_live(m->state) && !session_meta_is_of_file(m);
        int r = describe_misplaced(dir, ret);

        return r >= 0 && has_account ? describe_account(ret, dir, m) : r;
}

int damage_describe_cpu(const SessionMeta *m, uint32_t cpu, const PageCount *c, const Damages *d,
                        bool live, Strv *ret) {
        int r = describe_cpu(ret, cpu, c, live);

        if (r >= 0 && !live)
                r = describe_missed(ret, m, cpu, c);
        return r < 0 ? r : damage_describe_each(d, ret);
}

int damage_describe(Playback *p, bool live, Strv *ret) {
        const Stream *stream = p->stream;
        int r = damage_describe_files(p->dir, p->meta, ret);

        if (r >= 0 && symbol_timeline_is_damaged(p->symbol_timeline))
                r = strv_add(ret, DAMAGE_OF_SYMBOLS);

        for (size_t i = 0; r >= 0 && i < stream_n_cpus(stream); i++) {
                const Cursor *cursor = stream_cursor(stream, i);
                PageCount c;

                cursor_count(cursor, &c);
                r = damage_describe_cpu(p->meta, cursor_cpu(cursor), &c, cursor_damages(cursor),
                                        live, ret);
        }
        if (r >= 0 && p->counts)
                r = describe_pairs(&p->census, p->meta, ret);
        return r;
}

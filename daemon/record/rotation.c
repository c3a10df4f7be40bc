/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A ring drops whole periods, the oldest first, all CPUs at once.  It keeps
 * room for the period that is being written, so that it never takes more than
 * its size (but for what arrives between a reader's cut and our look at it).
 * Its size is what it takes on disk: a segment that is sealed meanwhile takes
 * less, and the ring then reaches further back.
 *
 * Segments are many: each is looked at once when its reader has closed it, and a period again when one of its
 * segments is said to have changed; the segment that a reader has open is looked at every time.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/record/recorder.h"
#include "retention/footprint.h"

#define STAT_BLOCK_BYTES 512U

/* Closed segments of one sequence. */
typedef struct Period {
        uint64_t sequence;
        InventorySums sums;
} Period;

struct Rotation {
        RotationConfig config;
        uint64_t sequence; /* the last that is in the log */
        Cut *cuts;         /* of a ring: those of the periods that are kept, ascending */
        size_t n_cuts;
        Period *periods; /* n_periods of them, ascending; none is empty */
        size_t n_periods, n_room;
        InventorySums open;
        uint64_t *next; /* of each reader: what is older has been looked at */
        sd_event_source *timer;
};

/* --- what there is ---------------------------------------------------------------------------- */

static void add(InventorySums *to, InventorySums more) {
        to->n += more.n;
        to->n_bytes += more.n_bytes;
        to->counted_bytes += more.counted_bytes;
}

/* Nothing if there is no such segment. */
static InventorySums measure(const Rotation *r, uint32_t cpu, uint64_t sequence) {
        char path[SEGMENT_PATH_MAX];
        uint64_t n_bytes;
        struct stat st;

        if (fstatat(session_dir_fd(r->config.dir), segment_format_path(path, cpu, sequence), &st,
                    AT_SYMLINK_NOFOLLOW) < 0)
                return (InventorySums){};
        n_bytes = (uint64_t) st.st_blocks * STAT_BLOCK_BYTES;
        return (InventorySums){ 1, n_bytes, MAX(n_bytes, (uint64_t) FOOTPRINT_ENTRY_BYTES) };
}

/* Where it is, or would be. */
static size_t find(const Rotation *r, uint64_t sequence) {
        return BISECT(0, r->n_periods, i, r->periods[i].sequence < sequence);
}

static bool is_at(const Rotation *r, size_t at, uint64_t sequence) {
        return at < r->n_periods && r->periods[at].sequence == sequence;
}

static void remove_period(Rotation *r, size_t at) {
        Period *p = r->periods + at;

        memmove(p, p + 1, (--r->n_periods - at) * sizeof(*p));
}

/* One that has been closed.  0 or -ENOMEM. */
static int add_closed(Rotation *r, uint32_t cpu, uint64_t sequence) {
        InventorySums sums = measure(r, cpu, sequence);
        size_t at = find(r, sequence);

        if (sums.n == 0)
                return 0;
        if (!is_at(r, at, sequence)) {
                if (!ARRAY_ROOM(r->periods, r->n_room, r->n_periods + 1))
                        return -ENOMEM;
                memmove(r->periods + at + 1, r->periods + at,
                        (r->n_periods++ - at) * sizeof(*r->periods));
                r->periods[at] = (Period){ .sequence = sequence };
        }
        add(&r->periods[at].sums, sums);
        return 0;
}

/* Takes in what has been closed since.  0 or -ENOMEM, and the next look tries again. */
static int look(Rotation *r) {
        r->open = (InventorySums){};
        for (size_t i = 0; i < recorder_n_cpus(r->config.recorder); i++) {
                uint32_t cpu = recorder_cpu(r->config.recorder, i);
                uint64_t end = recorder_first_open(r->config.recorder, i);

                for (; r->next[i] < end; r->next[i]++)
                        if (add_closed(r, cpu, r->next[i]) < 0)
                                return -ENOMEM;
                add(&r->open, measure(r, cpu, end));
        }
        return 0;
}

static InventorySums sum_up(const Rotation *r) {
        InventorySums all = r->open;

        for (size_t i = 0; i < r->n_periods; i++)
                add(&all, r->periods[i].sums);
        return all;
}

/* What was there before, of one CPU. */
static int load(Rotation *r, size_t i) {
        uint32_t cpu = recorder_cpu(r->config.recorder, i);
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;
        int k;

        r->next[i] = recorder_first_open(r->config.recorder, i);
        k = session_dir_list_segments(r->config.dir, cpu, &sequences, &n);
        for (size_t s = 0; k >= 0 && s < n && sequences[s] < r->next[i]; s++)
                k = add_closed(r, cpu, sequences[s]);
        return k == -ENOENT ? 0 : k;
}

/* --- cuts ------------------------------------------------------------------------------------- */

static int rotation_note(Rotation *r, const Cut *cut) {
        int k;

        r->sequence = cut->sequence;
        if (r->config.ring_bytes > 0) {
                if (!ARRAY_GROW(r->cuts, r->n_cuts))
                        return -ENOMEM;
                r->cuts[r->n_cuts++] = *cut;
        }
        k = cut_log_append(r->config.dir, cut);
        if (k < 0)
                log_debug("store", "Cannot note a cut of session \"%s\": %s", r->config.meta->name,
                          origin_text(k));
        return k;
}

static void rotation_set_timer(Rotation *r) {
        if (r->timer) {
                (void) sd_event_source_set_time_relative(
                        r->timer, MIN(r->config.segment_ns / NSEC_PER_USEC, UINT64_MAX / 4));
                (void) sd_event_source_set_enabled(r->timer, SD_EVENT_ONESHOT);
        }
}

static int rotation_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Rotation *r = userdata;

        rotation_set_timer(r);
        recorder_cut(r->config.recorder);
        r->config.cut(r->config.userdata);
        return 0;
}

int rotation_new(Rotation **ret, const RotationConfig *config, const ClockTuple *clocks) {
        _cleanup_(rotation_freep) Rotation *r = NEW(Rotation, .config = *config);
        int k;

        if (!r)
                return -ENOMEM;
        if (config->segment_ns > 0) {
                k = sd_event_add_time(config->event, &r->timer, CLOCK_BOOTTIME, UINT64_MAX, 0,
                                      rotation_on_timer, r);
                if (k < 0)
                        return k;
                rotation_set_timer(r);
        }
        r->next = calloc(recorder_n_cpus(config->recorder) + 1, sizeof(*r->next));
        k = r->next ? 0 : -ENOMEM;
        for (size_t i = 0; k >= 0 && i < recorder_n_cpus(config->recorder); i++)
                k = load(r, i);
        if (k >= 0)
                k = cut_log_read(config->dir, &r->cuts, &r->n_cuts);
        if (k < 0)
                return k;
        r->sequence = r->n_cuts > 0 ? r->cuts[r->n_cuts - 1].sequence : UINT64_MAX;
        if (r->sequence != recorder_sequence(config->recorder)) {
                k = rotation_note(r, &(Cut){ recorder_sequence(config->recorder), *clocks });
                if (k < 0)
                        return k;
        }
        *ret = TAKE_PTR(r);
        return 0;
}

/* --- the ring -------------------------------------------------------------------------------- */

static void rotation_on_dropped(uint32_t cpu, uint64_t n_pages, void *userdata) {
        SessionMeta *m = userdata;
        CpuAccount *account = session_meta_account(m, cpu);

        if (!account)
                return;
        account->pages_dropped += n_pages;
        account->n_pages -= MIN(n_pages, account->n_pages);
        account->n_bytes -= MIN(n_pages * m->page_bytes, account->n_bytes);
}

/* Everything below @first has been dropped. */
static void rotation_note_first(Rotation *r, uint64_t first) {
        SessionMeta *m = r->config.meta;
        size_t n = 0;

        m->first_sequence = first;
        while (n + 1 < r->n_cuts && r->cuts[n + 1].sequence <= first)
                n++;
        if (r->n_cuts == 0)
                return;
        m->kept_since = r->cuts[n].clocks;
        r->n_cuts -= n;
        memmove(r->cuts, r->cuts + n, r->n_cuts * sizeof(*r->cuts));
        (void) cut_log_replace(r->config.dir, r->cuts, r->n_cuts);
}

/* Drops the oldest periods while they take more than @max_bytes, @n_max of them at most, and never one
 * that is written to.  How many. */
static size_t rotation_shrink(Rotation *r, uint64_t max_bytes, size_t n_max) {
        uint64_t oldest_open = recorder_oldest_open(r->config.recorder), n_bytes;
        SessionMeta *m = r->config.meta;
        size_t n = 0;
        int k = look(r);

        n_bytes = sum_up(r).n_bytes;
        for (; k >= 0 && n < n_max && n_bytes > max_bytes && r->n_periods > 0 &&
               r->periods[0].sequence < oldest_open;
             n++) {
                const Period oldest = r->periods[0];

                k = session_dir_drop_period(r->config.dir, oldest.sequence, rotation_on_dropped, m);
                if (k < 0)
                        break;
                remove_period(r, 0);
                n_bytes -= oldest.sums.n_bytes;
                m->bytes_dropped += oldest.sums.n_bytes;
        }
        if (k < 0)
                log_warning("Session \"%s\": the ring cannot drop its oldest: %s", m->name,
                            origin_text(k));
        if (n > 0)
                rotation_note_first(r, r->n_periods > 0 ? MIN(r->periods[0].sequence, oldest_open)
                                                        : oldest_open);
        return n;
}

/* --- seen from the session -------------------------------------------------------------------- */

int rotation_look(Rotation *r, const ClockTuple *clocks) {
        uint64_t sequence = recorder_sequence(r->config.recorder);

        if (sequence == r->sequence)
                return 0;
        (void) rotation_note(r, &(Cut){ sequence, *clocks });
        recorder_kick(r->config.recorder);
        rotation_set_timer(r);
        if (r->config.ring_bytes > 0)
                (void) rotation_shrink(
                        r, r->config.ring_bytes - r->config.ring_bytes / ROTATION_RING_PARTS,
                        SIZE_MAX);
        else
                (void) look(r); /* so that there is never much to look at */
        return 1;
}

int rotation_make_room(Rotation *r) {
        if (r->config.ring_bytes == 0)
                return 0;
        if (rotation_shrink(r, 0, 1) > 0)
                return 1;
        recorder_cut(r->config.recorder);
        recorder_kick(r->config.recorder);
        return 0;
}

void rotation_move_out(Rotation *r) {
        uint64_t bytes_dropped = r->config.meta->bytes_dropped;

        (void) rotation_shrink(r, 0, SIZE_MAX);
        r->config.meta->bytes_dropped = bytes_dropped;
}

void rotation_finish(Rotation *r) {
        if (r && r->config.ring_bytes > 0)
                (void) rotation_shrink(r, r->config.ring_bytes, SIZE_MAX);
}

InventorySums rotation_look_at_segments(Rotation *r) {
        if (!r)
                return (InventorySums){};
        (void) look(r);
        return sum_up(r);
}

void rotation_segment_changed(Rotation *r, uint64_t sequence) {
        size_t at = find(r, sequence);
        InventorySums sums = {};

        if (!is_at(r, at, sequence))
                return;
        for (size_t i = 0; i < recorder_n_cpus(r->config.recorder); i++)
                if (sequence < r->next[i])
                        add(&sums, measure(r, recorder_cpu(r->config.recorder, i), sequence));
        r->periods[at].sums = sums;
        if (sums.n == 0)
                remove_period(r, at);
}

Rotation *rotation_free(Rotation *r) {
        if (!r)
                return NULL;
        (void) sd_event_source_disable_unref(r->timer);
        free(r->periods);
        free(r->next);
        free(r->cuts);
        return mfree(r);
}

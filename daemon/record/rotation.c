/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A ring drops whole periods, the oldest first, all CPUs at once.  It keeps
 * room for the period that is being written, so that it never takes more than
 * its size (but for what arrives between a reader's cut and our look at it).
 * Its size is what it takes on disk: a segment that is sealed meanwhile takes
 * less, and the ring then reaches further back.
 *
 * Segments are many: a ring of 1G has 16,000 of 64K each on every look.  So each is looked at once when its
 * reader has closed it, and again only when it is said to have changed; the one that a reader has open
 * is looked at every time.  New ones come at the end of an array, but for those of a reader that lags behind, and go at
 * its beginning; what is gone is moved out when it is half of all.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/record/recorder.h"
#include "retention/footprint.h"

#define STAT_BLOCK_BYTES 512U

typedef struct Item {
        uint64_t sequence, n_bytes;
        uint32_t cpu;
} Item;

struct Rotation {
        RotationConfig config;
        uint64_t sequence; /* the last that is in the log */
        Cut *cuts;         /* of a ring: those of the periods that are kept, ascending */
        size_t n_cuts;
        Item *items; /* closed segments, from i_first on, ascending by sequence and CPU */
        size_t i_first, n_items, n_room;
        InventorySums closed, open;
        uint64_t *next; /* of each reader: what is older has been looked at */
        sd_event_source *timer;
};

/* --- what there is ---------------------------------------------------------------------------- */

static void sums_add(InventorySums *sums, uint64_t n_bytes) {
        sums->n++;
        sums->n_bytes += n_bytes;
        sums->counted_bytes += MAX(n_bytes, (uint64_t) FOOTPRINT_ENTRY_BYTES);
}

static void sums_drop(InventorySums *sums, uint64_t n_bytes) {
        sums->n--;
        sums->n_bytes -= n_bytes;
        sums->counted_bytes -= MAX(n_bytes, (uint64_t) FOOTPRINT_ENTRY_BYTES);
}

/* False: there is no such segment. */
static bool measure(const Rotation *r, uint32_t cpu, uint64_t sequence, uint64_t *ret) {
        char path[SEGMENT_PATH_MAX];
        struct stat st;

        if (fstatat(session_dir_fd(r->config.dir), segment_format_path(path, cpu, sequence), &st,
                    AT_SYMLINK_NOFOLLOW) < 0)
                return false;
        *ret = (uint64_t) st.st_blocks * STAT_BLOCK_BYTES;
        return true;
}

/* Where it is, or would be. */
static size_t find(const Rotation *r, uint32_t cpu, uint64_t sequence) {
        const Item *items = r->items;

        return BISECT(r->i_first, r->n_items, i,
                      items[i].sequence < sequence ||
                              (items[i].sequence == sequence && items[i].cpu < cpu));
}

static bool make_room(Rotation *r) {
        if (r->i_first > r->n_items / 2) {
                r->n_items -= r->i_first;
                memmove(r->items, r->items + r->i_first, r->n_items * sizeof(*r->items));
                r->i_first = 0;
        }
        return ARRAY_ROOM(r->items, r->n_room, r->n_items + 1);
}

static void insert(Rotation *r, size_t at, const Item *item) {
        memmove(r->items + at + 1, r->items + at, (r->n_items++ - at) * sizeof(*item));
        r->items[at] = *item;
        sums_add(&r->closed, item->n_bytes);
}

/* A closed one may take another size now, or may be gone.  0 or -ENOMEM. */
static int look_again(Rotation *r, uint32_t cpu, uint64_t sequence) {
        Item new = { .sequence = sequence, .cpu = cpu }, *item;
        size_t at = find(r, cpu, sequence);

        if (at < r->n_items && r->items[at].sequence == sequence && r->items[at].cpu == cpu) {
                item = r->items + at;
                sums_drop(&r->closed, item->n_bytes);
                memmove(item, item + 1, (--r->n_items - at) * sizeof(*item));
        }
        if (!measure(r, cpu, sequence, &new.n_bytes))
                return 0;
        if (!make_room(r))
                return -ENOMEM;
        insert(r, find(r, cpu, sequence), &new);
        return 0;
}

/* Takes in what has been closed since.  0 or -ENOMEM, and the next look tries again. */
static int look(Rotation *r) {
        r->open = (InventorySums){};
        for (size_t i = 0; i < recorder_n_cpus(r->config.recorder); i++) {
                uint32_t cpu = recorder_cpu(r->config.recorder, i);
                uint64_t end = recorder_first_open(r->config.recorder, i), n_bytes;

                for (; r->next[i] < end; r->next[i]++)
                        if (look_again(r, cpu, r->next[i]) < 0)
                                return -ENOMEM;
                if (measure(r, cpu, end, &n_bytes))
                        sums_add(&r->open, n_bytes);
        }
        return 0;
}

/* Of the closed ones with the lowest sequence, all CPUs; false: there is none. */
static bool find_oldest(const Rotation *r, uint64_t *ret_sequence, uint64_t *ret_n_bytes) {
        uint64_t n_bytes = 0;

        if (r->i_first == r->n_items)
                return false;
        *ret_sequence = r->items[r->i_first].sequence;
        for (size_t i = r->i_first; i < r->n_items && r->items[i].sequence == *ret_sequence; i++)
                n_bytes += r->items[i].n_bytes;
        *ret_n_bytes = n_bytes;
        return true;
}

/* What was there before, of one CPU. */
static int load(Rotation *r, size_t i) {
        uint32_t cpu = recorder_cpu(r->config.recorder, i);
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;
        int k;

        r->next[i] = recorder_first_open(r->config.recorder, i);
        k = session_dir_list_segments(r->config.dir, cpu, &sequences, &n);
        if (k < 0)
                return k == -ENOENT ? 0 : k;
        for (size_t s = 0; s < n && sequences[s] < r->next[i]; s++) {
                Item item = { .sequence = sequences[s], .cpu = cpu };

                if (!measure(r, cpu, item.sequence, &item.n_bytes))
                        continue;
                if (!make_room(r))
                        return -ENOMEM;
                insert(r, r->n_items, &item);
        }
        return 0;
}

static int compare_items(const void *a, const void *b) {
        const Item *x = a, *y = b;

        return x->sequence != y->sequence ? CMP(x->sequence, y->sequence) : CMP(x->cpu, y->cpu);
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
                log_debug("store", "Cannot note a cut of session '%s': %s", r->config.meta->name,
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
        if (r->n_items > 0)
                qsort(r->items, r->n_items, sizeof(*r->items), compare_items);
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
        uint64_t oldest_open = recorder_oldest_open(r->config.recorder), sequence, n_bytes;
        SessionMeta *m = r->config.meta;
        size_t n = 0;
        int k = look(r);

        for (; k >= 0 && n < n_max && r->closed.n_bytes + r->open.n_bytes > max_bytes &&
               find_oldest(r, &sequence, &n_bytes) && sequence < oldest_open;
             n++) {
                k = session_dir_drop_period(r->config.dir, sequence, rotation_on_dropped, m);
                if (k < 0)
                        break;
                while (r->i_first < r->n_items && r->items[r->i_first].sequence == sequence)
                        sums_drop(&r->closed, r->items[r->i_first++].n_bytes);
                m->bytes_dropped += n_bytes;
        }
        if (k < 0)
                log_warning("Session '%s': the ring cannot drop its oldest: %s", m->name,
                            origin_text(k));
        if (n > 0)
                rotation_note_first(r, find_oldest(r, &sequence, &n_bytes)
                                               ? MIN(sequence, oldest_open)
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
        return (InventorySums){ .n = r->closed.n + r->open.n,
                                .n_bytes = r->closed.n_bytes + r->open.n_bytes,
                                .counted_bytes = r->closed.counted_bytes + r->open.counted_bytes };
}

void rotation_segment_changed(Rotation *r, uint32_t cpu, uint64_t sequence) {
        (void) look_again(r, cpu, sequence);
}

Rotation *rotation_free(Rotation *r) {
        if (!r)
                return NULL;
        (void) sd_event_source_disable_unref(r->timer);
        free(r->items);
        free(r->next);
        free(r->cuts);
        return mfree(r);
}

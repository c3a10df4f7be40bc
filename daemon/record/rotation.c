/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A ring drops whole periods, the oldest first, all CPUs at once.  It keeps
 * room for the period that is being written, so that it never takes more than
 * its size (but for what arrives between a reader's cut and our look at it).
 * Its size is what it takes on disk: a segment that is sealed meanwhile takes
 * less, and the ring then reaches further back.  What there is the inventory
 * knows.
 */

#include <time.h>

#include "base/array.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/record/rotation.h"

struct Rotation {
        RotationConfig config;
        uint64_t sequence; /* the last that is in the log */
        Cut *cuts;         /* of a ring: those of the periods that are kept, ascending */
        size_t n_cuts;
        Inventory *inventory;
        sd_event_source *timer;
};

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
        k = inventory_new(&r->inventory, config->dir, config->recorder);
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
        int k = inventory_look(r->inventory);

        for (; k >= 0 && n < n_max && inventory_sum(r->inventory).n_bytes > max_bytes &&
               inventory_oldest(r->inventory, &sequence, &n_bytes) && sequence < oldest_open;
             n++) {
                k = session_dir_drop_period(r->config.dir, sequence, rotation_on_dropped, m);
                if (k < 0)
                        break;
                inventory_drop_oldest(r->inventory);
                m->bytes_dropped += n_bytes;
        }
        if (k < 0)
                log_warning("Session '%s': the ring cannot drop its oldest: %s", m->name,
                            origin_text(k));
        if (n > 0)
                rotation_note_first(r, inventory_oldest(r->inventory, &sequence, &n_bytes)
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
                (void) inventory_look(r->inventory); /* so that there is never much to look at */
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
        (void) inventory_look(r->inventory);
        return inventory_sum(r->inventory);
}

void rotation_segment_changed(Rotation *r, uint32_t cpu, uint64_t sequence) {
        (void) inventory_look_again(r->inventory, cpu, sequence);
}

Rotation *rotation_free(Rotation *r) {
        if (!r)
                return NULL;
        (void) sd_event_source_disable_unref(r->timer);
        (void) inventory_free(r->inventory);
        free(r->cuts);
        return mfree(r);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An array of closed segments, by sequence and CPU.  New ones come at its end, but for those of a reader
 * that lags behind, and go at its beginning; what is gone is moved out when it is half of all.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/array.h"
#include "daemon/record/inventory.h"
#include "retention/footprint.h"
#include "store/segment.h"

#define STAT_BLOCK_BYTES 512U

typedef struct Item {
        uint64_t sequence, n_bytes;
        uint32_t cpu;
} Item;

struct Inventory {
        const SessionDir *dir;
        const Recorder *recorder;
        Item *items; /* from i_first on, ascending */
        size_t i_first, n, n_room;
        InventorySums closed, open;
        uint64_t *next; /* of each reader: what is older has been looked at */
};

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
static bool measure(const Inventory *inv, uint32_t cpu, uint64_t sequence, uint64_t *ret) {
        char path[SEGMENT_PATH_MAX];
        struct stat st;

        if (fstatat(session_dir_fd(inv->dir), segment_format_path(path, cpu, sequence), &st,
                    AT_SYMLINK_NOFOLLOW) < 0)
                return false;
        *ret = (uint64_t) st.st_blocks * STAT_BLOCK_BYTES;
        return true;
}

/* Where it is, or would be, among those before the @high-th. */
static size_t find(const Inventory *inv, size_t high, uint32_t cpu, uint64_t sequence) {
        const Item *items = inv->items;

        return BISECT(inv->i_first, high, i,
                      items[i].sequence < sequence ||
                              (items[i].sequence == sequence && items[i].cpu < cpu));
}

static int make_room(Inventory *inv) {
        if (inv->i_first > inv->n / 2) {
                inv->n -= inv->i_first;
                memmove(inv->items, inv->items + inv->i_first, inv->n * sizeof(*inv->items));
                inv->i_first = 0;
        }
        return ARRAY_ROOM(inv->items, inv->n_room, inv->n + 1) ? 0 : -ENOMEM;
}

/* At the end. */
static int push(Inventory *inv, uint32_t cpu, uint64_t sequence, uint64_t n_bytes) {
        int r = make_room(inv);

        if (r < 0)
                return r;
        inv->items[inv->n++] = (Item){ .sequence = sequence, .n_bytes = n_bytes, .cpu = cpu };
        sums_add(&inv->closed, n_bytes);
        return 0;
}

int inventory_look_again(Inventory *inv, uint32_t cpu, uint64_t sequence) {
        size_t at = find(inv, inv->n, cpu, sequence);
        Item *item, new;
        uint64_t n_bytes;
        int r;

        if (at < inv->n && inv->items[at].sequence == sequence && inv->items[at].cpu == cpu) {
                item = inv->items + at;
                sums_drop(&inv->closed, item->n_bytes);
                memmove(item, item + 1, (--inv->n - at) * sizeof(*item));
        }
        if (!measure(inv, cpu, sequence, &n_bytes))
                return 0;
        r = push(inv, cpu, sequence, n_bytes);
        if (r < 0)
                return r;
        new = inv->items[inv->n - 1];
        at = find(inv, inv->n - 1, cpu, sequence);
        item = inv->items + at;
        memmove(item + 1, item, (inv->n - 1 - at) * sizeof(*item));
        *item = new;
        return 0;
}

int inventory_look(Inventory *inv) {
        inv->open = (InventorySums){};
        for (size_t i = 0; i < recorder_n_cpus(inv->recorder); i++) {
                uint32_t cpu = recorder_cpu(inv->recorder, i);
                uint64_t end = recorder_first_open(inv->recorder, i), n_bytes;

                for (; inv->next[i] < end; inv->next[i]++) {
                        int r = inventory_look_again(inv, cpu, inv->next[i]);

                        if (r < 0)
                                return r;
                }
                if (measure(inv, cpu, end, &n_bytes))
                        sums_add(&inv->open, n_bytes);
        }
        return 0;
}

InventorySums inventory_sum(const Inventory *inv) {
        return (InventorySums){
                .n = inv->closed.n + inv->open.n,
                .n_bytes = inv->closed.n_bytes + inv->open.n_bytes,
                .counted_bytes = inv->closed.counted_bytes + inv->open.counted_bytes,
        };
}

bool inventory_oldest(const Inventory *inv, uint64_t *ret_sequence, uint64_t *ret_n_bytes) {
        uint64_t n_bytes = 0;

        if (inv->i_first == inv->n)
                return false;
        *ret_sequence = inv->items[inv->i_first].sequence;
        for (size_t i = inv->i_first; i < inv->n && inv->items[i].sequence == *ret_sequence; i++)
                n_bytes += inv->items[i].n_bytes;
        *ret_n_bytes = n_bytes;
        return true;
}

void inventory_drop_oldest(Inventory *inv) {
        uint64_t sequence = inv->i_first < inv->n ? inv->items[inv->i_first].sequence : 0;

        while (inv->i_first < inv->n && inv->items[inv->i_first].sequence == sequence)
                sums_drop(&inv->closed, inv->items[inv->i_first++].n_bytes);
}

/* What was there before, of one CPU. */
static int load(Inventory *inv, size_t i) {
        uint32_t cpu = recorder_cpu(inv->recorder, i);
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;
        int r;

        inv->next[i] = recorder_first_open(inv->recorder, i);
        r = session_dir_list_segments(inv->dir, cpu, &sequences, &n);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        for (size_t k = 0; r >= 0 && k < n && sequences[k] < inv->next[i]; k++) {
                uint64_t n_bytes;

                if (measure(inv, cpu, sequences[k], &n_bytes))
                        r = push(inv, cpu, sequences[k], n_bytes);
        }
        return r;
}

static int by_sequence(const void *a, const void *b) {
        const Item *x = a, *y = b;

        if (x->sequence != y->sequence)
                return x->sequence < y->sequence ? -1 : 1;
        return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

int inventory_new(Inventory **ret, const SessionDir *dir, const Recorder *recorder) {
        _cleanup_(inventory_freep) Inventory *inv =
                NEW(Inventory, .dir = dir, .recorder = recorder);
        int r = 0;

        if (!inv)
                return -ENOMEM;
        inv->next = calloc(recorder_n_cpus(recorder) + 1, sizeof(*inv->next));
        if (!inv->next)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < recorder_n_cpus(recorder); i++)
                r = load(inv, i);
        if (r < 0)
                return r;
        if (inv->n > 0)
                qsort(inv->items, inv->n, sizeof(*inv->items), by_sequence);
        *ret = TAKE_PTR(inv);
        return 0;
}

Inventory *inventory_free(Inventory *inv) {
        if (!inv)
                return NULL;
        free(inv->items);
        free(inv->next);
        return mfree(inv);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Trees that wait lie in the Spill as they came, those of a root linked to each other:
 *
 *      | next, tree, rows | next, tree, rows | ...        next: where the root's next one is, plus 1; 0: it is the last
 */

#include "base/array.h"
#include "export/parquet-rows.h"

#define LARGE 4 /* files with groups of PARQUET_ROWS; those of further ones are smaller */
#define ROWS_OF_SMALL (PARQUET_ROWS / 8)

typedef struct Held {
        uint64_t next;
        PartsTree tree;
} Held;

static int open_part(Parts *p, Part *part) {
        const ExportInfo *info = p->state->info;
        int r = 0;

        part->out = p->state->out;
        if (info->is_partitioned)
                r = info->open(info, "calls", part->function, &part->out);
        if (r >= 0)
                r = parquet_new(&part->file, p->texts, part->out, p->schema, p->is_tsv);
        if (r < 0)
                return r;
        if (p->n_open++ >= LARGE)
                part->file->n_rows_max = ROWS_OF_SMALL;
        return 0;
}

static int close_part(Parts *p, Part *part) {
        const ExportInfo *info = p->state->info;
        int r = parquet_finish(part->file);

        p->n_open--;
        part->file = parquet_free(part->file);
        if (r >= 0 && info->is_partitioned)
                r = info->close(info, part->out);
        return r;
}

static int find_part(Parts *p, uint32_t root, const Function *function, Part **ret) {
        uint64_t known = hash_get(&p->at, root);
        int r = 0;

        if (_likely_(known > 0)) {
                *ret = &p->items[known - 1];
                return 0;
        }
        if (!ARRAY_GROW(p->items, p->n) || hash_add(&p->at, root, p->n + 1) < 0)
                return -ENOMEM;
        *ret = &p->items[p->n++];
        **ret = (Part){ .root = root, .function = function };
        if (p->n_open < PARTS_OPEN_MAX)
                r = open_part(p, *ret);
        return r;
}

/* --- those that wait -------------------------------------------------------------------------- */

static Held *held_at(const Parts *p, uint64_t at) {
        return (void *) ((char *) p->spill.data + (at - 1));
}

/* No more of the two are in memory at a time than a spill has anyway. */
static void copy_rows(Parts *p, char *to, const PartsTree *tree) {
        const char *from = tree->rows;
        size_t left = tree->n * p->row_bytes;

        while (left > 0) {
                size_t n = MIN(left, SPILL_BYTES);

                memcpy(to, from, n);
                to += n;
                from += n;
                left -= n;
                spill_relax(&p->spill);
                if (left > 0)
                        spill_relax(tree->spill);
        }
}

static int hold(Parts *p, Part *part, const PartsTree *tree) {
        uint64_t at = p->n_spilled + 1;
        size_t n = sizeof(Held) + tree->n * p->row_bytes;
        Held *held;

        if (!spill_room(&p->spill, p->n_spilled + n))
                return -ENOMEM;
        held = held_at(p, at);
        *held = (Held){ .tree = *tree };
        copy_rows(p, (char *) (held + 1), tree);
        if (part->last > 0)
                held_at(p, part->last)->next = at;
        else
                part->first = at;
        part->last = at;
        p->n_spilled += (n + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
        return 0;
}

static int write_held(Parts *p, Part *part) {
        size_t n_read = 0;
        int r = open_part(p, part);

        for (uint64_t at = part->first; at > 0 && r >= 0;) {
                const Held *held = held_at(p, at);
                PartsTree tree = held->tree;

                tree.rows = held + 1;
                tree.spill = &p->spill;
                r = p->write(p->state, part->file, &tree);
                at = held_at(p, at)->next;
                n_read += tree.n * p->row_bytes;
                if (n_read > SPILL_BYTES) {
                        spill_relax(&p->spill);
                        n_read = 0;
                }
        }
        return r < 0 ? r : close_part(p, part);
}

/* --- all of it -------------------------------------------------------------------------------- */

int parts_add(Parts *p, uint32_t root, const Function *function, const PartsTree *tree) {
        Part *part;
        int r = find_part(p, p->state->info->is_partitioned ? root : UINT32_MAX, function, &part);

        return r < 0 ? r : part->file ? p->write(p->state, part->file, tree) : hold(p, part, tree);
}

int parts_finish(Parts *p) {
        Part *all;
        int r = 0;

        if (!p->state->info->is_partitioned)
                r = find_part(p, UINT32_MAX, NULL, &all);
        for (size_t i = 0; i < p->n && r >= 0; i++)
                if (p->items[i].file)
                        r = close_part(p, &p->items[i]);
        for (size_t i = 0; i < p->n && r >= 0; i++)
                if (p->items[i].first > 0)
                        r = write_held(p, &p->items[i]);
        return r;
}

void parts_done(Parts *p) {
        for (size_t i = 0; i < p->n; i++)
                parquet_free(p->items[i].file);
        free(p->items);
        hash_done(&p->at);
        spill_done(&p->spill);
}

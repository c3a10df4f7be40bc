/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A cell is found by its column and row in a hash, since most are empty.  Columns are numbered from the trace clock's
 * zero, so that two become one by a shift, wherever a recording begins and in whatever order calls come.
 */

#include "analyze/heat-map.h"
#include "analyze/held.h"
#include "base/array.h"

/* When the end of a leaf is recorded is not told: after its duration, and not long after. */
#define RECORDED_NS 10000

typedef struct HeatCell {
        uint64_t column;
        unsigned row;
        HeatSpot spot;
} HeatCell;

struct HeatMap {
        NameSet *names;
        unsigned shift;       /* columns are 1 << shift long */
        uint64_t first, last; /* columns, if there is a call */
        bool has_times, has_calls;
        HeatGrid all, **grids;
        size_t n_grids;
        Hash by_root; /* the grids */
};

/* --- rows ------------------------------------------------------------------------------------- */

static unsigned row_of(uint64_t ns) {
        return ns == 0 ? 0 : 64 - (unsigned) __builtin_clzll(ns);
}

static uint64_t row_from_ns(size_t row) {
        return row == 0 ? 0 : UINT64_C(1) << (row - 1);
}

static uint64_t row_to_ns(size_t row) {
        return row >= 64 ? UINT64_MAX : UINT64_C(1) << row;
}

size_t heat_grid_ranges(Range ret[static HEAT_MAP_ROWS], const HeatGrid *g) {
        unsigned first = row_of(g->quantiles.min), last = row_of(g->quantiles.max);
        size_t n = 0;

        for (unsigned row = first; g->quantiles.n > 0 && row <= last; row++)
                ret[n++] = (Range){ row_from_ns(row), row_to_ns(row), g->n_in_row[row] };
        return n;
}

/* --- cells ------------------------------------------------------------------------------------ */

static int add_to_cell(HeatGrid *g, uint64_t column, unsigned row, HeatSpot more) {
        /* Of columns that are less than HEAT_MAP_COLUMNS_MAX apart no two places have one key. */
        uint64_t key = column * 128 + row, i = hash_get(&g->by_place, key);
        HeatSpot *spot;

        if (i == 0) {
                i = g->n_cells + 1;
                if (!ARRAY_ROOM(g->cells, g->n_room, i) || hash_add(&g->by_place, key, i) < 0)
                        return -ENOMEM;
                g->cells[g->n_cells++] = (HeatCell){ .column = column, .row = row };
        }
        spot = &g->cells[i - 1].spot;
        spot->n += more.n;
        spot->ended_ns = MAX(spot->ended_ns, more.ended_ns);
        return 0;
}

/* In the same memory: there are no more cells than before, and each is read before it is written. */
static int fold(HeatGrid *g, unsigned shift) {
        size_t n = g->n_cells;
        int r = 0;

        hash_clear(&g->by_place);
        g->n_cells = 0;
        for (size_t i = 0; i < n && r >= 0; i++) {
                const HeatCell c = g->cells[i];

                r = add_to_cell(g, c.column >> shift, c.row, c.spot);
        }
        return r;
}

/* Makes columns so wide that @at_ns has one. */
static int reach(HeatMap *m, uint64_t at_ns) {
        uint64_t column = at_ns >> m->shift;
        unsigned before = m->shift;
        int r = 0;

        if (_likely_(m->has_calls && column >= m->first && column <= m->last))
                return 0;
        if (!m->has_calls)
                m->first = m->last = column;
        m->has_calls = true;
        m->first = MIN(m->first, column);
        m->last = MAX(m->last, column);
        for (; m->last - m->first >= HEAT_MAP_COLUMNS_MAX; m->shift++) {
                m->first >>= 1;
                m->last >>= 1;
        }
        if (m->shift == before)
                return 0;
        r = fold(&m->all, m->shift - before);
        for (size_t i = 0; i < m->n_grids && r >= 0; i++)
                r = fold(m->grids[i], m->shift - before);
        return r;
}

/* --- calls ------------------------------------------------------------------------------------ */

static HeatGrid *grid_of(HeatMap *m, const Function *root) {
        HeatGrid *g = hash_get_ptr(&m->by_root, hash_key(root));

        if (g)
                return g;
        if (!ARRAY_GROW(m->grids, m->n_grids))
                return NULL;
        g = NEW(HeatGrid, .root = root);
        if (!g || hash_add_ptr(&m->by_root, hash_key(root), g) < 0)
                return mfree(g);
        return m->grids[m->n_grids++] = g;
}

static int add(const HeatMap *m, HeatGrid *g, const Call *call) {
        uint64_t start_ns = call->frame->start_ns, end_ns = call->recorded_ns;
        unsigned row = row_of(call->duration_ns);
        int r;

        g->n_cut += call->is_cut;
        if (call->is_cut)
                return 0;
        g->n_in_row[row]++;
        r = quantiles_add(&g->quantiles, call->duration_ns);
        if (r < 0 || !m->has_times)
                return r;
        if (end_ns == 0)
                end_ns = add_capped(add_capped(start_ns, call->duration_ns), RECORDED_NS);
        return add_to_cell(g, start_ns >> m->shift, row, (HeatSpot){ 1, end_ns });
}

static int end(void *userdata, const Call *call) {
        HeatMap *m = userdata;
        int r = m->names ? name_set_has(m->names, call->frame->function) : call->is_root;
        HeatGrid *g;

        if (r <= 0 || call->in_own_work)
                return MIN(r, 0);
        g = grid_of(m, call->frame->root);
        if (!g)
                return -ENOMEM;
        r = m->has_times && !call->is_cut ? reach(m, call->frame->start_ns) : 0;
        if (r >= 0)
                r = add(m, &m->all, call);
        return r < 0 ? r : add(m, g, call);
}

static int end_trees(void *userdata, const CallTrees *t) {
        const Function *root = NULL;
        const HeatMap *m = userdata;
        int r = 0;

        for (uint32_t i = 1; i < t->n && r >= 0; i++) {
                const HeldCall *c = &t->calls[t->order ? t->order[i] : i];
                bool is_root = c->parent == HELD_TASK;
                Frame frame;
                Call call;

                root = is_root ? c->function : root;
                if (!is_root && !m->names)
                        continue;
                frame = (Frame){ .function = c->function, .start_ns = c->start_ns, .root = root };
                call = (Call){ .frame = &frame,
                               .duration_ns = c->duration_ns,
                               .recorded_ns = c->recorded_ns,
                               .is_cut = c->is_cut,
                               .is_root = is_root };
                call.in_own_work =
                        t->own_work && t->own_work->n > 0 &&
                        own_works_overlap(t->own_work, c->start_ns, c->start_ns + c->duration_ns);
                r = end(userdata, &call);
        }
        return r;
}

int heat_map_new(HeatMap **ret, Pairing *pairing, NameSet *names, bool has_times) {
        *ret = NEW(HeatMap, .names = names, .has_times = has_times);
        if (!*ret)
                return -ENOMEM;
        pairing_add_sink_of_trees(pairing, NULL, end, end_trees, *ret);
        return 0;
}

const HeatGrid *heat_map_all(const HeatMap *m) {
        return &m->all;
}

static int compare(const void *a, const void *b) {
        const HeatGrid *x = *(HeatGrid *const *) a, *y = *(HeatGrid *const *) b;

        return CMP(y->quantiles.sum, x->quantiles.sum) ?: strcmp(x->root->label, y->root->label);
}

const HeatGrid *const *heat_map_grids(HeatMap *m, size_t *ret_n) {
        SORT(m->grids, m->n_grids, compare);
        *ret_n = m->n_grids;
        return (const HeatGrid *const *) m->grids;
}

static void grid_done(HeatGrid *g) {
        quantiles_done(&g->quantiles);
        free(g->cells);
        hash_done(&g->by_place);
}

HeatMap *heat_map_free(HeatMap *m) {
        if (!m)
                return NULL;
        for (size_t i = 0; i < m->n_grids; i++) {
                grid_done(m->grids[i]);
                free(m->grids[i]);
        }
        grid_done(&m->all);
        free(m->grids);
        hash_done(&m->by_root);
        return mfree(m);
}

/* --- views ------------------------------------------------------------------------------------ */

int heat_view_new(HeatView *ret, const HeatMap *m, const HeatGrid *grid, size_t max_columns) {
        unsigned last_row = 0;
        size_t n_columns, width;
        HeatView v = HEAT_VIEW_INIT;

        *ret = v;
        if (grid->n_cells == 0)
                return 0;
        n_columns = (size_t) (m->last - m->first) + 1;
        width = n_columns / max_columns + (n_columns % max_columns > 0);
        v.begin_ns = m->first << m->shift;
        if (__builtin_mul_overflow((uint64_t) width, UINT64_C(1) << m->shift, &v.column_ns))
                v.column_ns = UINT64_MAX;
        v.n_columns = (n_columns + width - 1) / width;
        v.first_row = HEAT_MAP_ROWS;
        for (size_t i = 0; i < grid->n_cells; i++) {
                v.first_row = MIN(v.first_row, grid->cells[i].row);
                last_row = MAX(last_row, grid->cells[i].row);
        }
        v.n_rows = last_row - v.first_row + 1;
        v.spots = calloc(v.n_rows * v.n_columns, sizeof(*v.spots));
        if (!v.spots)
                return -ENOMEM;
        for (size_t i = 0; i < grid->n_cells; i++) {
                const HeatCell *c = &grid->cells[i];
                HeatSpot *s = &v.spots[(c->row - v.first_row) * v.n_columns +
                                       (size_t) (c->column - m->first) / width];

                s->n += c->spot.n;
                s->ended_ns = MAX(s->ended_ns, c->spot.ended_ns);
                v.n += c->spot.n;
                v.most = MAX(v.most, s->n);
        }
        *ret = v;
        return 0;
}

uint64_t heat_view_time_ns(const HeatView *v, size_t column) {
        uint64_t offset_ns;

        if (__builtin_mul_overflow(v->column_ns, column, &offset_ns))
                return UINT64_MAX;
        return add_capped(v->begin_ns, offset_ns);
}

uint64_t heat_view_from_ns(const HeatView *v, size_t row) {
        return row_from_ns(v->first_row + row);
}

uint64_t heat_view_to_ns(const HeatView *v, size_t row) {
        return row_to_ns(v->first_row + row);
}

void heat_view_window(const HeatView *v, HeatArea area, uint64_t *ret_from_ns,
                      uint64_t *ret_to_ns) {
        uint64_t to_ns = heat_view_time_ns(v, area.last_column + 1);

        to_ns -= to_ns < UINT64_MAX;
        for (size_t row = area.first_row; row <= area.last_row; row++)
                for (size_t column = area.first_column; column <= area.last_column; column++)
                        to_ns = MAX(to_ns, heat_view_at(v, row, column)->ended_ns);
        *ret_from_ns = heat_view_time_ns(v, area.first_column);
        *ret_to_ns = to_ns;
}

void heat_view_done(HeatView *v) {
        free(v->spots);
        *v = HEAT_VIEW_INIT;
}

/* --- shades ----------------------------------------------------------------------------------- */

HeatScale heat_scale(uint64_t most, unsigned n_levels) {
        HeatScale s = { .ratio = 2, .most = most, .n_levels = n_levels };
        uint64_t n;

        for (;; s.ratio++) {
                s.n_used = 0;
                for (n = 1; n <= most && s.n_used < n_levels; s.n_used++)
                        if (__builtin_mul_overflow(n, s.ratio, &n))
                                n = UINT64_MAX;
                if (n > most || n == UINT64_MAX)
                        return s;
        }
}

unsigned heat_scale_level(const HeatScale *s, uint64_t n) {
        unsigned level = s->n_levels - s->n_used;

        if (n == 0)
                return 0;
        for (level++; n >= s->ratio && level < s->n_levels; level++)
                n /= s->ratio;
        return level;
}

uint64_t heat_scale_from(const HeatScale *s, unsigned level) {
        uint64_t n = 1;

        for (unsigned i = s->n_levels - s->n_used + 1; i < level; i++)
                n *= s->ratio;
        return n;
}

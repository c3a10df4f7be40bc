/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The table of formats, and the way of a step: to the exporter itself, and through a Pairing, which
 * knows what calls it begins and ends.
 */

#include "export/exporter.h"

const Exporter *const exporters[] = {
        &exporter_flame,
        &exporter_heatmap,
        &exporter_html,
        &exporter_folded,
        &exporter_csv,
        &exporter_json,
        &exporter_ndjson,
        &exporter_perfetto,
        &exporter_pprof,
        &exporter_parquet,
        &exporter_tsv,
        NULL,
};

const Exporter *exporter_find(const char *name) {
        for (const Exporter *const *p = exporters; *p; p++)
                if (streq((*p)->name, name))
                        return *p;
        return NULL;
}

struct Export {
        const Exporter *exporter;
        ExportState *state;
        Pairing *pairing;
        bool has_begun;
};

static int begin_source(Export *e) {
        const Exporter *exporter = e->exporter;
        int r = pairing_new(&e->pairing);

        if (r < 0)
                return r;
        if (e->state->info->is_sparse)
                e->pairing->is_sparse = true;
        e->pairing->all = e->state->info->whole;
        if (e->state->info->meta)
                e->pairing->own_work = &e->state->info->meta->own_work;
        e->pairing->keeps_contexts = exporter->has_contexts;
        e->pairing->find_ways = e->state->info->find_ways;
        e->pairing->ways_userdata = e->state->info->ways;
        if (exporter->has_tree)
                r = call_tree_new(&e->state->tree, e->pairing);
        if (r >= 0 && exporter->init)
                r = exporter->init(e->state, e->pairing);
        if (r >= 0 && exporter->call)
                pairing_add_sink(e->pairing, NULL, exporter->call, e->state);
        return r;
}

int export_new(Export **ret, const Exporter *exporter, const ExportInfo *info, Buf *out) {
        _cleanup_(export_freep) Export *e = calloc(1, sizeof(*e));
        int r;

        if (!e)
                return -ENOMEM;
        e->exporter = exporter;
        e->state = calloc(1, MAX(exporter->n_bytes, sizeof(*e->state)));
        if (!e->state)
                return -ENOMEM;
        e->state->info = info;
        e->state->out = out;
        r = begin_source(e);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(e);
        return 0;
}

static int begin(Export *e, uint64_t begin_ns) {
        if (e->has_begun)
                return 0;
        e->has_begun = true;
        e->state->begin_ns = e->state->end_ns = begin_ns;
        return e->exporter->begin ? e->exporter->begin(e->state) : 0;
}

int export_step(Export *e, const Step *step) {
        ExportState *s = e->state;
        int r;

        if (step->kind == STEP_OTHER && s->info->has_all_events)
                return pairing_step(e->pairing, step);
        r = begin(e, step->timestamp_ns);
        s->end_ns = MAX(s->end_ns, step->timestamp_ns);
        if (step->kind == STEP_LOST) {
                s->n_losses++;
                s->n_lost += step->n_lost;
        }
        if (r >= 0 && e->exporter->step)
                r = e->exporter->step(s, step);
        if (r >= 0)
                r = pairing_step(e->pairing, step);
        return r < 0 ? r : s->out->error;
}

static int end_source(Export *e) {
        int r = begin(e, 0) ?: pairing_finish(e->pairing);

        if (r >= 0 && e->exporter->end_source)
                r = e->exporter->end_source(e->state);
        return r;
}

int export_next(Export *e, const ExportInfo *info) {
        int r = end_source(e);

        if (r < 0)
                return r;
        e->pairing = pairing_free(e->pairing);
        e->state->info = info;
        return begin_source(e);
}

int export_finish(Export *e) {
        int r = end_source(e);

        if (r >= 0 && e->state->tree)
                r = call_tree_finish(e->state->tree);
        if (r >= 0 && e->exporter->end)
                r = e->exporter->end(e->state);
        return r < 0 ? r : e->state->out->error;
}

Export *export_free(Export *e) {
        if (!e)
                return NULL;
        if (e->state && e->exporter->done)
                e->exporter->done(e->state);
        if (e->state)
                call_tree_free(e->state->tree);
        free(e->state);
        pairing_free(e->pairing);
        return mfree(e);
}

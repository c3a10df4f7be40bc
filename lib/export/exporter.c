/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The table of formats, and the way of a step: to the exporter itself, and through a Pairing, which
 * knows what calls it begins and ends.
 */

#include "export/exporter.h"

const Exporter *const exporters[] = {
        &exporter_flame,
        &exporter_html,
        &exporter_folded,
        &exporter_dot,
        &exporter_csv,
        &exporter_json,
        &exporter_ndjson,
        &exporter_chrome,
        &exporter_speedscope,
        &exporter_perfetto,
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
        void *data;
        Buf *out;
        Pairing *pairing;
        bool has_begun;
};

int export_new(Export **ret, const Exporter *exporter, const ExportInfo *info, Buf *out) {
        _cleanup_(export_freep) Export *e = malloc(sizeof(*e));
        int r;

        if (!e)
                return -ENOMEM;
        *e = (Export){ .exporter = exporter, .out = out };
        r = pairing_new(&e->pairing);
        if (r < 0)
                return r;
        if (info->is_sparse)
                pairing_set_sparse(e->pairing);
        r = exporter->new (&e->data, info, e->pairing, out);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(e);
        return 0;
}

static int begin(Export *e, uint64_t begin_ns) {
        if (e->has_begun)
                return 0;
        e->has_begun = true;
        return e->exporter->begin ? e->exporter->begin(e->data, begin_ns) : 0;
}

int export_step(Export *e, const Step *step) {
        int r = begin(e, step->timestamp_ns);

        if (r >= 0 && e->exporter->step)
                r = e->exporter->step(e->data, step);
        if (r >= 0)
                r = pairing_step(e->pairing, step);
        return r < 0 ? r : e->out->error;
}

int export_finish(Export *e) {
        int r = begin(e, 0);

        if (r >= 0)
                r = pairing_finish(e->pairing);
        if (r >= 0 && e->exporter->end)
                r = e->exporter->end(e->data);
        return r < 0 ? r : e->out->error;
}

Export *export_free(Export *e) {
        if (!e)
                return NULL;
        if (e->data)
                e->exporter->free(e->data);
        pairing_free(e->pairing);
        free(e);
        return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A walk over segments and blocks that knows nothing of events. */

#include <inttypes.h>

#include "cli/files/deep-check.h"
#include "cli/source/damage.h"
#include "cli/terminal/sentence.h"
#include "codec/page-source.h"

static int check_blocks(DeepCheck *c, SealedReader *r) {
        size_t n;
        const SealedDamage *damages;
        int k = 0;

        c->n_sealed++;
        for (size_t i = 0; i < sealed_reader_n_blocks(r); i++) {
                const void *pages;

                k = sealed_reader_block(r, i, &pages);
                if (k < 0)
                        return k;
                if (k == SEALED_E_GONE) /* dropped by a ring meanwhile */
                        return 0;
                c->n_blocks++;
                if (k == 0) {
                        c->n_blocks_good++;
                        c->n_pages += sealed_reader_entry(r, i)->n_pages;
                }
        }
        damages = sealed_reader_damages(r, &n);
        k = 0;
        for (size_t i = 0; k >= 0 && i < n; i++)
                k = damage_add_part(&c->damages, sealed_reader_identity(r)->cpu,
                                    sealed_reader_identity(r)->sequence, &damages[i]);
        return k;
}

static int check_segment(DeepCheck *c, const SessionDir *dir, uint32_t cpu, uint64_t sequence) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        uint32_t version = 0;
        int r = page_source_open(&s, dir, cpu, sequence, &version);

        if (r == -ENOENT || r == PAGE_SOURCE_E_UNBEGUN) /* dropped by a ring meanwhile; to come */
                return 0;
        if (r < 0)
                return r;
        c->n_segments++;
        if (r == PAGE_SOURCE_E_NEWER)
                return damage_add_newer(&c->damages, cpu, sequence, version);
        if (r > 0)
                return strv_addf(&c->damages,
                                 "cpu%" PRIu32 "/%08" PRIx64
                                 ".seg: not a segment, or one that was put there",
                                 cpu, sequence);
        return page_source_is_sealed(s) ? check_blocks(c, page_source_sealed(s)) : 0;
}

int deep_check(const SessionDir *dir, Progress *progress, DeepCheck *ret) {
        _cleanup_deep_check_ DeepCheck c = {};
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n = 0;

                r = session_dir_list_segments(dir, cpus[i], &sequences, &n);
                for (size_t k = 0; r >= 0 && k < n; k++) {
                        r = check_segment(&c, dir, cpus[i], sequences[k]);
                        if (progress)
                                progress_write(progress, i * n + k + 1, n_cpus * n);
                }
        }
        if (r < 0)
                return r;
        *ret = c;
        c = (DeepCheck){};
        return 0;
}

void deep_check_done(DeepCheck *c) {
        strv_done(&c->damages);
        *c = (DeepCheck){};
}

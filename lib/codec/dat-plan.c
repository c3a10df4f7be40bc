/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A plan is a list of runs, not of pages: a segment without damage is one run, however long, so that
 * the plan of any recording is small.
 */

#include "base/array.h"
#include "codec/dat-file.h"
#include "codec/dat-plan.h"
#include "codec/page-source.h"

static int take(DatPlan *p, uint32_t cpu, uint64_t sequence, uint64_t page) {
        DatRun *last = p->n_runs > 0 ? &p->runs[p->n_runs - 1] : NULL;

        p->n_pages++;
        if (last && last->cpu == cpu && last->sequence == sequence &&
            last->first + last->n == page) {
                last->n++;
                return 0;
        }
        return ARRAY_ADD(p->runs, p->n_runs, (DatRun){ cpu, sequence, page, 1 }) ? 0 : -ENOMEM;
}

/* 1 if what comes behind it need not be read. */
static int plan_page(DatPlan *p, const DatChoice *choice, const DatTimes *times, const DatRun *at,
                     const void *page) {
        PageInfo info;
        int r = page_parse(&info, page, p->page_bytes, p->swap);

        if (r != 0) {
                p->n_lost += r != PAGE_E_EMPTY;
                return 0;
        }
        if (choice->to_ns > 0 && (times ? dat_times_apply(times, at->cpu, info.timestamp)
                                        : info.timestamp) > choice->to_ns)
                return 1;
        r = choice->look ? choice->look(choice->userdata, at->cpu, &info, page) : 1;
        return r > 0 ? take(p, at->cpu, at->sequence, at->first) : r;
}

/* 1 if segments behind it need not be read. */
static int plan_segment(DatPlan *p, const SessionDir *dir, const DatChoice *choice, uint32_t cpu,
                        uint64_t sequence) {
        const DatFile *file = dat_file_of_dir(dir);
        const DatTimes *times = file ? dat_file_times(file) : NULL;
        _cleanup_(page_source_freep) PageSource *s = NULL;
        DatRun at = { .cpu = cpu, .sequence = sequence };
        int r = page_source_open(&s, dir, cpu, sequence, NULL);
        uint64_t n;

        if (r < 0)
                return r == -ENOENT ? 0 : r; /* a ring goes on while it is read */
        if (r == PAGE_SOURCE_E_UNBEGUN)
                return 0;
        if (r > 0 || page_source_page_bytes(s) != p->page_bytes) {
                p->n_unreadable++;
                return 0;
        }
        if (choice->from_ns > 0)
                r = page_source_find(
                        s, times ? dat_times_find(times, choice->from_ns) : choice->from_ns,
                        p->swap, &at.first);
        for (uint64_t end; r == 0 && at.first < page_source_n_pages(s);) {
                const uint8_t *pages;

                r = page_source_read(s, at.first, (const void **) &pages, &n);
                if (r == PAGE_SOURCE_E_LOST) {
                        p->n_lost += n;
                        at.first += n;
                        r = 0;
                        continue;
                }
                for (end = at.first + n; r == 0 && at.first < end; at.first++) {
                        r = plan_page(p, choice, times, &at, pages);
                        pages += p->page_bytes;
                }
        }
        return r;
}

static int plan_cpu(DatPlan *p, const SessionDir *dir, const DatChoice *choice, uint32_t cpu) {
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;
        int r = session_dir_list_segments(dir, cpu, &sequences, &n);

        for (size_t i = 0; r == 0 && i < n; i++)
                r = plan_segment(p, dir, choice, cpu, sequences[i]);
        return MIN(r, 0);
}

int dat_plan_make(DatPlan *ret, const SessionDir *dir, const DatChoice *choice) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                if (cpus[i] >= STORE_MAX_CPUS) {
                        ret->n_unreadable++;
                        continue;
                }
                ret->n_cpus = cpus[i] + 1;
                if (!choice->cpus || (cpus[i] < choice->n_cpus && choice->cpus[cpus[i]]))
                        r = plan_cpu(ret, dir, choice, cpus[i]);
        }
        return r;
}

void dat_plan_done(DatPlan *p) {
        free(p->runs);
        *p = (DatPlan){};
}

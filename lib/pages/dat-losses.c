/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Of a page its header is read, and what follows its events.  A loss lies between the beginning of
 * the page before, of which more would have to be read, and its own. */

#include "meta/clock.h"
#include "pages/page-source.h"
#include "store/page.h"

typedef struct Walk {
        SessionMeta *meta;
        const DatFile *f;
        uint32_t cpu;
        uint64_t last_ns;  /* when the page before began; 0: there is none */
        uint64_t n_events; /* lost, as far as it is known */
} Walk;

/* Where its number belongs; NULL without memory. */
static CpuAccount *make_account(SessionMeta *m, uint32_t cpu) {
        CpuAccount *cpus = reallocarray(m->cpus, m->n_cpus + 1, sizeof(*cpus)), *at = cpus;

        if (!cpus)
                return NULL;
        m->cpus = cpus;
        while (at < cpus + m->n_cpus && at->cpu < cpu)
                at++;
        memmove(at + 1, at, (size_t) (cpus + m->n_cpus++ - at) * sizeof(*cpus));
        *at = (CpuAccount){ .cpu = cpu };
        return at;
}

static int note_page(Walk *w, const void *page, uint32_t page_bytes) {
        uint64_t begin_ns, before_ns = w->last_ns;
        PageInfo info;
        Gap gap;

        if (page_parse(&info, page, page_bytes, w->f->swap) != 0)
                return 0;
        begin_ns = dat_times_apply(&w->f->times, w->cpu, info.timestamp);
        w->last_ns = begin_ns;
        if (!info.missed)
                return 0;
        w->n_events += info.n_missed;
        gap = (Gap){ .cpu = w->cpu,
                     .cause = GAP_OVERRUN,
                     .from_ns = before_ns > 0 && before_ns < begin_ns ? before_ns + 1 : begin_ns,
                     .to_ns = begin_ns,
                     .n_events = info.n_missed > 0 ? info.n_missed : GAP_UNKNOWN };
        return gaps_add(&w->meta->gaps, &gap);
}

static int walk_cpu(Walk *w) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int r = page_source_open_dat(&s, w->f, w->cpu, NULL);
        uint64_t n;

        if (r < 0)
                return r;
        for (uint64_t i = 0; r >= 0 && i < s->n_pages; i += n) {
                const uint8_t *pages;

                r = page_source_read(s, i, (const void **) &pages, &n);
                for (uint64_t k = 0; r == 0 && k < n; k++)
                        r = note_page(w, pages + k * s->page_bytes, s->page_bytes);
        }
        return MIN(r, 0);
}

int dat_losses_note(SessionMeta *m, const SessionDir *dir, bool is_thorough) {
        const DatFile *f = dat_file_of_dir(dir);

        if (m->gaps.n > 0) /* it says itself where they were */
                return 0;
        for (size_t i = 0; f && i < dat_file_buffer(f)->n_cpus; i++) {
                Walk w = { .meta = m, .f = f, .cpu = dat_file_buffer(f)->cpus[i].cpu };
                CpuAccount *account = session_meta_account(m, w.cpu);
                int r;

                if (account && (cpu_account_events_lost(account) > 0 || !is_thorough))
                        continue;
                r = walk_cpu(&w);
                if (r == 0 && !account) {
                        account = make_account(m, w.cpu);
                        r = account ? 0 : -ENOMEM;
                }
                if (r < 0)
                        return r;
                account->overrun = w.n_events;
        }
        return 0;
}

/* A page's time is that of its first event, or somewhat before. */
int dat_start_note(SessionMeta *m, const SessionDir *dir) {
        const DatFile *f = dat_file_of_dir(dir);
        uint64_t begin_ns;
        int r;

        if (!f || !f->times.is_of_day || clock_tuple_is_set(&m->start) ||
            (m->clock && !trace_clock_is_ns(m->clock)))
                return 0;
        r = page_source_begin_all(dir, f->swap, &begin_ns);
        if (r >= 0 && begin_ns != UINT64_MAX)
                m->start = (ClockTuple){ .trace_ns = begin_ns,
                                         .monotonic_ns = begin_ns,
                                         .boottime_ns = begin_ns,
                                         .realtime_ns = begin_ns };
        return MIN(r, 0);
}

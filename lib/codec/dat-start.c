/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A page's time is that of its first event, or somewhat before. */

#include "codec/dat-file.h"
#include "codec/dat-start.h"
#include "codec/page-source.h"
#include "meta/clock.h"

int dat_start_note(SessionMeta *m, const SessionDir *dir) {
        const DatFile *f = dat_file_of_dir(dir);
        uint64_t begin_ns = UINT64_MAX, ns;
        bool swap;

        if (!f || !dat_file_times(f)->is_of_day || clock_tuple_is_set(&m->start) ||
            (m->clock && !trace_clock_is_ns(m->clock)))
                return 0;
        swap = needs_swap(dat_file_is_big_endian(f));
        for (size_t i = 0; i < dat_file_buffer(f)->n_cpus; i++) {
                _cleanup_(page_source_freep) PageSource *s = NULL;
                uint32_t cpu = dat_file_buffer(f)->cpus[i].cpu;
                int r = page_source_open(&s, dir, cpu, 0, NULL);

                r = r == 0 ? page_source_begin(s, swap, &ns) : MIN(r, 0);
                if (r < 0)
                        return r;
                if (r > 0)
                        begin_ns = MIN(begin_ns, dat_times_apply(dat_file_times(f), cpu, ns));
        }
        if (begin_ns != UINT64_MAX)
                m->start = (ClockTuple){ .trace_ns = begin_ns,
                                         .monotonic_ns = begin_ns,
                                         .boottime_ns = begin_ns,
                                         .realtime_ns = begin_ns };
        return 0;
}

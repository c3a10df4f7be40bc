/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A page's time is that of its first event, or somewhat before. */

#include "codec/dat-file.h"
#include "codec/dat-start.h"
#include "codec/page-source.h"
#include "store/page.h"
#include "store/trace-clock.h"

/* 1: @ret is when the first page of @cpu began; 0: it has none that can be read; -errno. */
static int first_ns(uint64_t *ret, const DatFile *f, const SessionDir *dir, uint32_t cpu) {
        bool swap = dat_file_is_big_endian(f) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        _cleanup_(page_source_freep) PageSource *s = NULL;
        const void *page;
        PageInfo info;
        uint64_t n;
        int r = page_source_open(&s, dir, cpu, 0, NULL);

        if (r != 0)
                return MIN(r, 0);
        r = page_source_has_page(s, 0);
        if (r <= 0)
                return r;
        r = page_source_read(s, 0, &page, &n);
        if (r != 0)
                return MIN(r, 0);
        if (n == 0 || page_parse(&info, page, dat_file_page_bytes(f), swap) != 0)
                return 0;
        *ret = dat_times_apply(dat_file_times(f), cpu, info.timestamp);
        return 1;
}

int dat_start_note(SessionMeta *m, const SessionDir *dir) {
        const DatFile *f = dat_file_of_dir(dir);
        uint64_t begin_ns = UINT64_MAX, ns = 0;

        if (!f || !dat_file_times(f)->is_of_day || clock_tuple_is_set(&m->start) ||
            (m->clock && !trace_clock_is_ns(m->clock)))
                return 0;
        for (size_t i = 0; i < dat_file_n_cpus(f); i++) {
                int r = first_ns(&ns, f, dir, dat_file_cpu(f, i)->cpu);

                if (r < 0)
                        return r;
                if (r > 0)
                        begin_ns = MIN(begin_ns, ns);
        }
        if (begin_ns != UINT64_MAX)
                m->start = (ClockTuple){ .trace_ns = begin_ns,
                                         .monotonic_ns = begin_ns,
                                         .boottime_ns = begin_ns,
                                         .realtime_ns = begin_ns };
        return 0;
}

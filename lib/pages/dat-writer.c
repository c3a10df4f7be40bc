/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The head, then the pages of each CPU in the order of the plan, aligned to a page.  How long packed
 * ones are is only known when they are packed: a file gets a head whose table is wrong, and the right
 * one in its place at the end; for a pipe everything is packed once to be counted, and once more to
 * be written.  Both come out alike, since packing is.
 */

#include <byteswap.h>
#include <zstd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/io.h"
#include "pages/dat-writer.h"

#define CHUNK_PAGES                                                                                \
        10U /* as trace-cmd packs them (3.1.6 lib/trace-cmd/trace-output.c, PAGES_IN_CHUNK) */
#define PROGRESS_BYTES ((uint64_t) 1 << 20)

/* --- the plan --------------------------------------------------------------------------------- */

/* A list of runs, not of pages: a segment without damage is one run, however long, so that the plan of any
 * recording is small. */
static int take_page(DatPlan *p, uint32_t cpu, uint64_t sequence, uint64_t page) {
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
static int plan_page(DatPlan *p, const DatChoice *choice, PageWalk *w, const PageInfo *info,
                     const uint8_t *page) {
        int r = 1;

        if (choice->to_ns > 0 && (w->times ? dat_times_apply(w->times, w->cpu, info->timestamp)
                                           : info->timestamp) > choice->to_ns)
                return 1;
        if (choice->look)
                r = choice->look(choice->userdata, w, info, page);
        return r > 0 ? take_page(p, w->cpu, w->segment->sequence, w->i_page - 1) : r;
}

static int plan_cpu(DatPlan *p, const SessionDir *dir, const DatChoice *choice, uint32_t cpu) {
        _cleanup_(page_walk_done) PageWalk w;
        const uint8_t *page;
        PageInfo info;
        int r = page_walk_init(&w, dir, cpu, p->page_bytes, p->swap), more;

        if (r == 0 && choice->from_ns > 0)
                r = MIN(page_walk_seek(&w, choice->from_ns), 0);
        while (r == 0 && (more = page_walk_next(&w, &page, &info)) != 0)
                r = more < 0 ? more : plan_page(p, choice, &w, &info, page);
        return r >= 0 && choice->walked ? choice->walked(choice->userdata, &w) : MIN(r, 0);
}

int dat_plan_make(DatPlan *ret, const SessionDir *dir, const DatChoice *choice) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
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

/* --- what is written -------------------------------------------------------------------------- */

typedef struct Writer {
        const DatTarget *target;
        const DatHead *head;
        const DatPlan *plan;
        const SessionDir *dir;
        Buf out;
        bool counts;        /* and writes nothing */
        uint64_t at;        /* in the file */
        uint64_t cpu_begin; /* the pages of the CPU whose turn it is */
        DatPlace *places;

        ZSTD_CCtx *zstd; /* NULL: pages are written as they are */
        uint8_t *plain, *packed;
        size_t n_plain, n_packed_room;

        PageSource *source; /* of the run before */
        uint64_t n_pages;   /* done */
        uint64_t n_since;   /* bytes since progress was told */
} Writer;

static int put(Writer *w, const void *data, size_t n) {
        w->at += n;
        if (!w->counts)
                buf_add(&w->out, data, n);
        return w->out.error;
}

static int put_number(Writer *w, uint64_t v) {
        uint32_t n = (uint32_t) v;

        n = w->plan->swap ? bswap_32(n) : n;
        return put(w, &n, sizeof(n));
}

static int tell_progress(Writer *w, uint64_t n_pages) {
        w->n_pages += n_pages;
        w->n_since += n_pages * w->plan->page_bytes;
        if (!w->target->progress || w->n_since < PROGRESS_BYTES)
                return 0;
        w->n_since = 0;
        return w->target->progress(w->target->userdata, w->n_pages);
}

/* --- packing ---------------------------------------------------------------------------------- */

static int writer_init_zstd(Writer *w) {
        size_t n = (size_t) CHUNK_PAGES * w->plan->page_bytes;

        w->n_packed_room = ZSTD_compressBound(n);
        w->zstd = ZSTD_createCCtx();
        w->plain = malloc(n);
        w->packed = malloc(w->n_packed_room);
        return w->zstd && w->plain && w->packed ? 0 : -ENOMEM;
}

static int flush_chunk(Writer *w) {
        size_t n;
        int r;

        if (w->n_plain == 0)
                return 0;
        n = ZSTD_compressCCtx(w->zstd, w->packed, w->n_packed_room, w->plain, w->n_plain,
                              ZSTD_CLEVEL_DEFAULT);
        if (ZSTD_isError(n))
                return -ENOMEM;
        if (w->target->packed_max > 0 && w->at + n - w->cpu_begin > w->target->packed_max)
                return DAT_WRITE_E_TOO_LARGE;
        r = put_number(w, n) ?: put_number(w, w->n_plain) ?: put(w, w->packed, n);
        w->n_plain = 0;
        return r;
}

static int pack(Writer *w, const uint8_t *pages, size_t n) {
        size_t n_chunk = (size_t) CHUNK_PAGES * w->plan->page_bytes;
        int r = 0;

        while (r == 0 && n > 0) {
                size_t n_now = MIN(n, n_chunk - w->n_plain);

                memcpy(w->plain + w->n_plain, pages, n_now);
                w->n_plain += n_now;
                pages += n_now;
                n -= n_now;
                if (w->n_plain == n_chunk)
                        r = flush_chunk(w);
        }
        return r;
}

/* --- pages ------------------------------------------------------------------------------------ */

static int open_run(Writer *w, const DatRun *run) {
        int r;

        if (w->source && w->source->cpu == run->cpu && w->source->sequence == run->sequence)
                return 0;
        w->source = page_source_free(w->source);
        r = page_source_open(&w->source, w->dir, run->cpu, run->sequence, NULL);
        if (r != 0)
                return r == -ENOENT || r > 0 ? -ESTALE : r;
        return w->source->page_bytes == w->plan->page_bytes ? 0 : -ESTALE;
}

static int put_run(Writer *w, const DatRun *run) {
        int r = open_run(w, run);

        if (r < 0)
                return r;
        if (w->source->n_pages < run->first + run->n)
                return ORIGIN(-ESTALE);
        for (uint64_t i = run->first, end = run->first + run->n, n; r == 0 && i < end; i += n) {
                const void *pages;
                size_t n_bytes;

                r = page_source_read(w->source, i, &pages, &n);
                if (r != 0)
                        return r < 0 ? r : -ESTALE;
                n = MIN(n, end - i);
                n = MIN(n, PROGRESS_BYTES / w->plan->page_bytes + 1);
                n_bytes = n * w->plan->page_bytes;
                r = (w->zstd ? pack(w, pages, n_bytes) : put(w, pages, n_bytes))
                            ?: tell_progress(w, n);
        }
        return r;
}

static int put_cpu(Writer *w, uint32_t cpu, const DatRun *runs, size_t n_runs) {
        uint64_t n_pages = 0;
        uint64_t n = (w->plan->page_bytes - w->at % w->plan->page_bytes) % w->plan->page_bytes;
        int r;

        w->at += n;
        if (!w->counts)
                buf_pad(&w->out, n, 0);
        r = w->out.error;
        for (size_t i = 0; i < n_runs; i++)
                n_pages += runs[i].n;
        w->places[cpu].at = w->at;
        if (r == 0 && w->zstd)
                r = put_number(w, (n_pages + CHUNK_PAGES - 1) / CHUNK_PAGES);
        w->cpu_begin = w->at;
        for (size_t i = 0; r == 0 && i < n_runs; i++)
                r = put_run(w, &runs[i]);
        r = r ?: flush_chunk(w);
        w->places[cpu].n = w->at - w->cpu_begin;
        return r;
}

static int put_pages(Writer *w) {
        const DatPlan *p = w->plan;
        int r = 0;

        for (size_t i = 0, n; r == 0 && i < p->n_runs; i += n) {
                for (n = 1; i + n < p->n_runs && p->runs[i + n].cpu == p->runs[i].cpu; n++)
                        ;
                r = put_cpu(w, p->runs[i].cpu, &p->runs[i], n);
        }
        return r;
}

/* @again: in the place of the first one. */
static int put_head(Writer *w, bool again) {
        _cleanup_buf_ Buf head = BUF_INIT;
        int r = dat_head_put(&head, w->head, w->places);

        return r       ? r
               : again ? pwrite_full(w->target->fd, head.data, head.n_data, 0)
                       : put(w, head.data, head.n_data);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* As if they were written as they are, behind a head that is as long as it will be. */
static int place_plain(Writer *w) {
        _cleanup_buf_ Buf head = BUF_INIT;
        uint64_t at;
        int r;

        for (size_t i = 0; i < w->plan->n_runs; i++)
                w->places[w->plan->runs[i].cpu].n += w->plan->runs[i].n * w->plan->page_bytes;
        r = dat_head_put(&head, w->head, w->places);
        at = head.n_data;
        for (uint32_t i = 0; i < w->head->n_cpus; i++) {
                w->places[i].at = at;
                at += w->places[i].n;
        }
        return r;
}

static int count_packed(Writer *w) {
        int r;

        w->counts = true;
        r = put_head(w, false) ?: put_pages(w);
        w->counts = false;
        w->at = 0;
        return r;
}

static int write_all(Writer *w) {
        bool is_packed = w->head->compressor != DAT_NONE, can_seek = w->target->can_seek;

        w->places = calloc(w->head->n_cpus ?: 1, sizeof(*w->places));
        if (!w->places)
                return -ENOMEM;
        return place_plain(w)
                       ?: (is_packed ? writer_init_zstd(w) : 0)
                       ?: (is_packed && !can_seek ? count_packed(w) : 0)
                       ?: put_head(w, false)
                       ?: put_pages(w)
                       ?: buf_flush(&w->out)
                       ?: (is_packed && can_seek ? put_head(w, true) : 0);
}

int dat_write(const DatTarget *target, const DatHead *head, const DatPlan *plan,
              const SessionDir *dir) {
        Writer w = {
                .target = target,
                .head = head,
                .plan = plan,
                .dir = dir,
                .out = BUF_TO_FD(target->fd),
        };
        int r = write_all(&w);

        (void) page_source_free(w.source);
        (void) ZSTD_freeCCtx(w.zstd);
        free(w.plain);
        free(w.packed);
        free(w.places);
        buf_done(&w.out);
        return r;
}

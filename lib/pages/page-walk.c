/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One segment is open at a time:
 *
 *      sequences  [ 0 | 1 | 2 ]      listed once, and again at a refresh
 *                       |
 *      segment        [ p | p | p | p ]
 *
 * A loss is a property of the event after it: the page's flag, a torn page, a skipped segment are all remembered
 * until there is an event to attach them to.
 */

#include "base/array.h"
#include "pages/page-source.h"

void page_walk_note_loss(PageWalk *w, uint64_t n) {
        /* A number is only good if every gap before this event has one. */
        w->n_missed = w->missed && (w->n_missed == 0 || n == 0) ? 0 : w->n_missed + n;
        w->missed = true;
}

static int list_sequences(PageWalk *w) {
        _cleanup_free_ uint64_t *sequences = NULL;
        uint64_t next = w->i_sequence < w->n_sequences ? w->sequences[w->i_sequence]
                        : w->n_sequences > 0           ? w->sequences[w->n_sequences - 1] + 1
                                                       : 0;
        size_t n = 0;
        int r = session_dir_list_segments(w->dir, w->cpu, &sequences, &n);

        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        free(w->sequences);
        w->sequences = TAKE_PTR(sequences);
        w->n_sequences = n;
        /* It stays on the same one, wherever that is now. */
        w->i_sequence = BISECT(0, n, i, w->sequences[i] < next);
        return 0;
}

int page_walk_init(PageWalk *ret, const SessionDir *dir, uint32_t cpu, uint32_t page_bytes,
                   bool swap) {
        const DatFile *file = dat_file_of_dir(dir);

        *ret = (PageWalk){ .dir = dir, .cpu = cpu, .page_bytes = page_bytes, .swap = swap };
        if (file && !dat_times_are_plain(&file->times))
                ret->times = &file->times;
        return list_sequences(ret);
}

static void count_end(PageCount *count, const PageSource *s) {
        count->n_torn_bytes += s->n_torn;
        count->n_unclosed += !s->is_closed;
}

static void leave_segment(PageWalk *w) {
        count_end(&w->count, w->segment);
        /* Unless it is not in the list any more, of which the next one is at its place then. */
        w->i_sequence += w->i_sequence < w->n_sequences &&
                         w->sequences[w->i_sequence] == w->segment->sequence;
        w->segment = page_source_free(w->segment);
}

/* True if no segment follows the one at i_sequence, so far. */
static bool is_last(const PageWalk *w) {
        return w->i_sequence + 1 >= w->n_sequences;
}

/* 0 and it is open; SEGMENT_E_*, noted; -errno. */
static int open_segment(PageWalk *w, uint64_t sequence) {
        int r = page_source_open(&w->segment, w->dir, w->cpu, sequence, &w->damages);

        if (r == 0 && w->segment->page_bytes != w->page_bytes) {
                w->segment = page_source_free(w->segment);
                damages_add(&w->damages, DAMAGE_NO_SEGMENT);
                r = SEGMENT_E_DAMAGED;
        }
        if (r == 0 && w->ahead)
                page_source_go_ahead(w->segment, w->ahead);
        if (r == SEGMENT_E_UNBEGUN && !is_last(w))
                w->count.n_segments_unbegun++;
        else if (r == -ENOENT) /* a ring goes on while it is read */
                w->count.n_segments_gone++;
        return r == -ENOENT ? SEGMENT_E_DAMAGED : r;
}

/* Opens the segment at i_sequence or the first good one after it.  1 if there is one, else 0.  A last
 * one that is empty is waited for: a live recording's writer makes the file, then writes its header. */
static int enter_segment(PageWalk *w) {
        while (w->i_sequence < w->n_sequences) {
                int r = open_segment(w, w->sequences[w->i_sequence]);

                if (r < 0)
                        return r;
                if (r == 0) {
                        w->i_page = 0;
                        w->count.n_segments++;
                        /* It names one before it that is not in the list, and is not the first of that: a ring drops
                         * what was before. */
                        if (w->i_sequence > 0 && w->segment->previous != UINT64_MAX &&
                            w->segment->previous > w->sequences[w->i_sequence - 1]) {
                                w->count.n_segments_missing++;
                                page_walk_note_loss(w, 0);
                        }
                        return 1;
                }
                if (r == SEGMENT_E_UNBEGUN && is_last(w))
                        return 0;
                page_walk_note_loss(w, 0);
                w->i_sequence++;
        }
        return 0;
}

/* The page at i_page: 1; 0: it holds nothing or is lost, which is counted; -errno. */
static int enter_page(PageWalk *w, const uint8_t **ret, PageInfo *ret_info) {
        const void *page;
        uint64_t n;
        int r = page_source_read(w->segment, w->i_page, &page, &n);

        if (r < 0)
                return r;
        if (r == SEGMENT_E_LOST) {
                page_walk_note_loss(w, 0);
                w->i_page += n;
                return 0;
        }
        *ret = page;
        /* Its header is met after some hundred events: time enough to fetch it. */
        if (n > 1)
                __builtin_prefetch(*ret + w->page_bytes);
        w->i_page++;
        w->count.n_pages++;
        r = page_parse(ret_info, page, w->page_bytes, w->swap);
        if (r == PAGE_E_EMPTY) {
                w->count.n_pages_empty++;
                return 0;
        }
        if (r != 0) {
                w->count.n_pages_torn++;
                page_walk_note_loss(w, 0);
                return 0;
        }
        if (ret_info->missed) {
                w->count.n_pages_missed++;
                w->count.n_missed += ret_info->n_missed;
                page_walk_note_loss(w, ret_info->n_missed);
        }
        return 1;
}

int page_walk_next(PageWalk *w, const uint8_t **ret, PageInfo *ret_info) {
        for (;;) {
                int r = w->segment ? 1 : enter_segment(w);

                if (r <= 0)
                        return r;
                if (w->i_page < w->segment->n_pages) {
                        r = enter_page(w, ret, ret_info);
                        if (r != 0)
                                return r;
                } else if (is_last(w)) /* which may still grow */
                        return 0;
                else
                        leave_segment(w);
        }
}

/* The last segment that begins at @ns or before, from the current one on; it is not opened. */
static int find_segment(PageWalk *w, uint64_t ns, size_t *ret) {
        size_t low = w->i_sequence, high = w->n_sequences;

        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;
                _cleanup_(page_source_freep) PageSource *s = NULL;
                uint64_t begin_ns;
                int r = page_source_open(&s, w->dir, w->cpu, w->sequences[middle], NULL);

                if (r < 0 && r != -ENOENT)
                        return r;
                if (r == 0 && page_source_begin(s, w->swap, &begin_ns) > 0 && begin_ns <= ns)
                        low = middle;
                else
                        high = middle;
        }
        *ret = low;
        return 0;
}

int page_walk_seek(PageWalk *w, uint64_t ns) {
        int r = w->segment ? 1 : enter_segment(w);
        uint64_t page;
        size_t i;

        if (r <= 0)
                return r;
        r = find_segment(w, ns, &i);
        if (r < 0)
                return r;
        if (i != w->i_sequence) {
                leave_segment(w);
                w->i_sequence = i;
                r = enter_segment(w);
                if (r <= 0)
                        return r < 0 ? r : 1;
        }
        r = page_source_find(w->segment, w->times ? dat_times_find(w->times, ns) : ns, w->swap,
                             &page);
        if (r < 0 || page < w->i_page)
                return r;
        /* What was lost on the way is not the next event's loss, but what its own page says is. */
        w->missed = false;
        w->n_missed = 0;
        w->i_page = page;
        return 1;
}

int page_walk_again(PageWalk *w, const uint8_t **ret) {
        const void *page;
        uint64_t n;
        int r = page_source_read(w->segment, w->i_page - 1, &page, &n);

        if (r == 0)
                *ret = page;
        else if (r > 0)
                page_walk_note_loss(w, 0);
        return r;
}

int page_walk_refresh(PageWalk *w) {
        /* First the list: what is behind a newer segment's start is complete. */
        int r = list_sequences(w);

        if (r >= 0 && w->segment)
                r = page_source_refresh(w->segment);
        return MIN(r, 0);
}

void page_walk_count(const PageWalk *w, PageCount *ret) {
        *ret = w->count;
        if (w->segment)
                count_end(ret, w->segment);
        else if (w->i_sequence < w->n_sequences)
                ret->n_segments_unbegun++;
}

void page_walk_done(PageWalk *w) {
        page_source_free(w->segment);
        free(w->sequences);
        *w = (PageWalk){};
}

int page_walk_stored(const SessionDir *dir, uint32_t cpu, uint64_t *ret) {
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;
        int r = session_dir_list_segments(dir, cpu, &sequences, &n);

        *ret = 0;
        if (r == -ENOENT)
                return 0;
        for (size_t i = 0; r >= 0 && i < n; i++) {
                _cleanup_(page_source_freep) PageSource *s = NULL;

                r = page_source_open(&s, dir, cpu, sequences[i], NULL);
                *ret += r == 0 ? s->n_pages : 0;
                r = r == -ENOENT ? 0 : r;
        }
        return MIN(r, 0);
}

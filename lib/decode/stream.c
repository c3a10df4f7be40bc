/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A binary heap of cursors, ordered by the time of their current event.  The
 * cursor at the top runs ahead without being sorted in again as long as its
 * events are before the second best one's: a run of events on one CPU, which is
 * the usual case, then costs one comparison for each.
 */

#include "base/array.h"
#include "decode/cursor.h"

struct Stream {
        StreamHead head; /* last: heap[0], or exhausted */
        const SessionDir *dir;
        const Formats *formats;
        Cursor **cursors; /* all, in order of their CPUs */
        size_t n_cursors;
        Cursor **heap; /* those that have an event */
        size_t n_heap, n_heap_room;
        Ahead *ahead; /* NULL: all is unpacked when it is asked for */
        bool top_is_stale;
        uint64_t lead_ns; /* the top's events before this one come before all others */
};

static inline bool before(const Cursor *a, const Cursor *b) {
        uint64_t ta = cursor_peek(a)->timestamp_ns, tb = cursor_peek(b)->timestamp_ns;

        return ta < tb || (ta == tb && cursor_cpu(a) < cursor_cpu(b));
}

static void sift_down(Stream *s, size_t i) {
        for (;;) {
                size_t child = 2 * i + 1;

                if (child >= s->n_heap)
                        return;
                if (child + 1 < s->n_heap && before(s->heap[child + 1], s->heap[child]))
                        child++;
                if (!before(s->heap[child], s->heap[i]))
                        return;

                Cursor *c = s->heap[i];
                s->heap[i] = s->heap[child];
                s->heap[child] = c;
                i = child;
        }
}

/* Of equal times the lower CPU's comes first, so a lower one may run up to the other's time itself. */
static void measure_lead(Stream *s) {
        const Cursor *second;

        s->lead_ns = UINT64_MAX;
        if (s->n_heap < 2)
                return;
        second = s->n_heap > 2 && before(s->heap[2], s->heap[1]) ? s->heap[2] : s->heap[1];
        s->lead_ns = cursor_peek(second)->timestamp_ns;
        if (cursor_cpu(s->heap[0]) < cursor_cpu(second) && s->lead_ns < UINT64_MAX)
                s->lead_ns++;
}

static void build_heap(Stream *s) {
        s->n_heap = 0;
        for (size_t i = 0; i < s->n_cursors; i++)
                if (cursor_peek(s->cursors[i]))
                        s->heap[s->n_heap++] = s->cursors[i];
        for (size_t i = s->n_heap / 2; i-- > 0;)
                sift_down(s, i);
        s->top_is_stale = false;
        s->head.last = NULL;
        measure_lead(s);
}

int stream_go_on(Stream *s, uint64_t until_ns, const Event **ret) {
        const Event *e;
        int r;

        s->head.ahead_ns = 0; /* until it is the last one's again */
        if (s->top_is_stale) {
                e = cursor_peek(s->heap[0]);
                if (!e)
                        s->heap[0] = s->heap[--s->n_heap];
                if (!e ||
                    e->timestamp_ns >= s->lead_ns) { /* its cursor has moved too far for the top */
                        s->top_is_stale = false;
                        sift_down(s, 0);
                        measure_lead(s);
                }
        }
        if (s->n_heap == 0)
                return 0;
        e = cursor_peek(s->heap[0]);
        if (e->timestamp_ns > until_ns)
                return 0;
        s->head.last = s->heap[0];
        s->head.ahead_ns = s->lead_ns;
        s->top_is_stale = true;
        r = cursor_advance(s->head.last);
        if (r < 0)
                return r;
        *ret = e;
        return 1;
}

static int compare_cpus(const void *pa, const void *pb) {
        const Cursor *const *a = pa, *const *b = pb;

        return CMP(cursor_cpu(*a), cursor_cpu(*b));
}

/* Brings the list of cursors up to the directories there are, of which none ever goes. */
static int open_cursors(Stream *s) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(s->dir, &cpus, &n_cpus);

        if (r < 0 || n_cpus <= s->n_cursors)
                return r;
        for (size_t i = 0; i < n_cpus; i++) {
                size_t k = 0;

                while (k < s->n_cursors && cursor_cpu(s->cursors[k]) != cpus[i])
                        k++;
                if (k < s->n_cursors)
                        continue;
                if (!ARRAY_ROOM(s->heap, s->n_heap_room, s->n_cursors + 1) ||
                    !ARRAY_GROW(s->cursors, s->n_cursors))
                        return -ENOMEM;
                r = cursor_open(&s->cursors[s->n_cursors], s->dir, s->formats, cpus[i]);
                if (r < 0)
                        return r;
                if (s->ahead)
                        cursor_go_ahead(s->cursors[s->n_cursors], s->ahead);
                s->n_cursors++;
        }
        SORT(s->cursors, s->n_cursors, compare_cpus);
        return 0;
}

int stream_open(Stream **ret, const SessionDir *dir, const Formats *formats) {
        _cleanup_(stream_freep) Stream *s = NULL;
        int r;

        s = NEW(Stream, .dir = dir, .formats = formats);
        if (!s)
                return -ENOMEM;
        r = open_cursors(s);
        if (r < 0)
                return r;
        build_heap(s);
        *ret = TAKE_PTR(s);
        return 0;
}

int stream_go_ahead(Stream *s) {
        int r = ahead_new(&s->ahead);

        for (size_t i = 0; s->ahead && i < s->n_cursors; i++)
                cursor_go_ahead(s->cursors[i], s->ahead);
        return r;
}

bool stream_begin(const Stream *s, uint64_t *ret_ns) {
        bool any = false;

        *ret_ns = UINT64_MAX;
        for (size_t i = 0; i < s->n_cursors; i++) {
                const Event *e = cursor_peek(s->cursors[i]);

                *ret_ns = e ? MIN(*ret_ns, e->timestamp_ns) : *ret_ns;
                any = any || e;
        }
        return any;
}

int stream_seek(Stream *s, uint64_t ns) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_cursors; i++)
                r = cursor_seek(s->cursors[i], ns);
        if (r >= 0)
                build_heap(s);
        return MIN(r, 0);
}

int stream_refresh(Stream *s) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_cursors; i++)
                r = cursor_refresh(s->cursors[i]);
        if (r >= 0)
                r = open_cursors(s);
        if (r >= 0)
                build_heap(s);
        return MIN(r, 0);
}

size_t stream_n_cpus(const Stream *s) {
        return s->n_cursors;
}

const Cursor *stream_cursor(const Stream *s, size_t i) {
        return s->cursors[i];
}

Stream *stream_free(Stream *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_cursors; i++)
                cursor_free(s->cursors[i]);
        ahead_free(s->ahead);
        free(s->cursors);
        free(s->heap);
        return mfree(s);
}

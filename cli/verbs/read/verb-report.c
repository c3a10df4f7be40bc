/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A session that still records is drawn as far as it is stored. */

#include <sys/resource.h>

#include "base/bytes.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/brief.h"
#include "meta/clock.h"
#include "pages/page-source.h"

/* Whose values there are was chosen when they were recorded. */
static int refuse_function(const char *option, const char *function) {
        return failed(
                STATUS_USAGE,
                "%s=%s chooses whose values are recorded; report draws all that were: give "
                "%s alone, or leave out other functions with --function, --root or --notrace.",
                option, NAME_QUOTED(function), option);
}

/* @is_whole: lines as they were, and all of them.  0, -errno of writing, or an exit status of
 * reading. */
static int draw_text(Reading *reading, const Renderer *renderer, void *rendering, bool is_whole,
                     Buf *out) {
        const char *rest;
        size_t n_rest;
        Step step;
        int r;

        while ((r = reading_next(reading, &step)) > 0) {
                renderer->step(rendering, &step);
                if (_unlikely_(out->error < 0))
                        return out->error;
        }
        if (is_whole) {
                rest = text_trace_rest(reading->text.trace, &n_rest);
                buf_add(out, rest, n_rest);
        }
        return buf_flush(out) ?: -r;
}

/* In its own format and columns, unless the options say otherwise. */
static int report_text(Reading *reading, const Options *o) {
        TextSource *s = &reading->text;
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        const Renderer *renderer;
        RenderContext context;
        void *rendering = NULL;
        DrawingOptions d;
        int status = display_options(&d, o), r;

        reading->draws_ways = o->analysis.lines;
        if (status == STATUS_OK && o->analysis.lines)
                status = reading_lines(reading);
        if (status != STATUS_OK)
                return status;
        context = text_source_layout(s, o, &d);
        text_trace_keep_going(s->trace, true);
        text_trace_keep_times(s->trace, true);
        renderer = renderer_find(d.format);
        r = renderer->new (&rendering, &context, &out);
        if (r >= 0) {
                pager_open(&pager, o, SIZE_MAX);
                r = draw_text(reading, renderer, rendering, d.render.verbatim && !reading->filter,
                              &out);
                r = pager_end(&pager, r);
        }
        if (rendering)
                renderer->free(rendering);
        if (r < 0)
                return stdout_status(r);
        source_lines_say(&reading->lines, o);
        status = reading_none_left(o, reading->word, &reading->filtering)
                         ?: text_source_finish(s, o);
        return r > 0 ? r : status;
}

/* --- several recordings in one timeline ----------------------------------------------------------
 *
 *      # web-1: before, Linux 6.1.0-18-amd64, from 2026-11-21 10:42:03
 *      # db-1: before, Linux 6.12.9-amd64, from 2026-11-21 10:42:04
 *      #
 *      #                       CPU  DURATION                  FUNCTION CALLS
 *      #                       |     |   |                     |   |   |   |
 *      10:42:04.120713 web-1    0)               |  udp_sendmsg() {
 *      10:42:04.120722 db-1     3)   4.027 us    |  udp_recvmsg();
 *
 * Each recording has a reading, with filters of its own, and a renderer that draws into memory.
 * The one whose next step is the earliest by the clock on the wall goes on by that step, and the
 * lines it has drawn are passed on behind that clock and a label: the host's name or, where that
 * does not tell them apart, the word on the command line.  A step points into its
 * reading until the next one is read, so that one of each is held.
 *
 * Lanes wait in a heap.  All are looked at first, but one is open only from the moment before which its pages have
 * nothing until its last step, so that memory and descriptors are for those that recorded at the same time.
 */

#define TIME_COLUMNS 15 /* "10:42:04.120713" */

typedef struct Lane {
        Reading reading;
        const char *word;
        char *label;
        void *rendering; /* NULL: it is not open */
        Buf drawn;
        Step step;            /* the next one, of an open one in the heap */
        uint64_t realtime_ns; /* its time; of one that is to be opened no step is earlier */
} Lane;

typedef struct Merge {
        const Options *o;
        Options quiet; /* what looking has said opening does not say again */
        DrawingOptions d;
        Lane *lanes, **heap; /* heap: those that have a step, or may have */
        size_t n_lanes, n_heap;
        const Renderer *renderer;
        size_t label_columns;
        time_t second; /* of which the time is */
        char time[TIME_COLUMNS + 2];
        Buf out;
} Merge;

static void close_drawing(Merge *m, Lane *l) {
        if (l->rendering)
                m->renderer->free(l->rendering);
        l->rendering = NULL;
        buf_done(&l->drawn);
}

static void merge_done(Merge *m) {
        for (size_t i = 0; i < m->n_lanes; i++) {
                close_drawing(m, &m->lanes[i]);
                reading_done(&m->lanes[i].reading);
                free(m->lanes[i].label);
        }
        free(m->lanes);
        free(m->heap);
        buf_done(&m->out);
}

static const SessionMeta *lane_meta(const Lane *l) {
        return l->reading.source->meta;
}

/* Whether its times can be put beside those of others. */
static int check_clock(const Lane *l) {
        const char *quoted = NAME_QUOTED(l->word);
        const SessionMeta *m;

        if (l->reading.text.trace)
                return failed(STATUS_USAGE,
                              "\"%s\" is a text, which does not say when it was: only recordings "
                              "can be merged.",
                              quoted);
        m = lane_meta(l);
        if (m->clock && !trace_clock_is_ns(m->clock))
                return failed(STATUS_USAGE,
                              "\"%s\" cannot be merged with others: its trace clock, %s, does not "
                              "count nanoseconds.",
                              quoted, m->clock);
        if (m->start.realtime_ns == 0)
                return failed(STATUS_USAGE,
                              "\"%s\" cannot be merged with others: it does not say how its trace "
                              "clock relates to real time. Sessions of ftraced do, and what "
                              "\"ftracectl fetch\" makes of them.",
                              quoted);
        return STATUS_OK;
}

/* --- labels ----------------------------------------------------------------------------------- */

static int compare_labels(const void *a, const void *b) {
        return strcmp((*(Lane *const *) a)->label, (*(Lane *const *) b)->label);
}

/* Whether all labels differ now; none is empty then.  1, 0, -ENOMEM. */
static int set_labels(Merge *m, bool by_host) {
        bool differ = true;

        m->label_columns = 0;
        for (size_t i = 0; i < m->n_lanes; i++) {
                Lane *l = &m->lanes[i];

                m->heap[i] = l;
                if (text_replace(&l->label, by_host ? lane_meta(l)->host ?: "" : l->word) < 0)
                        return -ENOMEM;
                m->label_columns = MAX(m->label_columns, strlen(l->label));
                differ = differ && *l->label;
        }
        SORT(m->heap, m->n_lanes, compare_labels);
        for (size_t i = 1; i < m->n_lanes; i++)
                differ = differ && compare_labels(&m->heap[i - 1], &m->heap[i]) != 0;
        return differ;
}

static void put_legend(Merge *m) {
        for (size_t i = 0; i < m->n_lanes; i++) {
                const SessionMeta *s = lane_meta(&m->lanes[i]);
                const char *label = m->lanes[i].label, *host = s->host ?: "?";
                bool says_host = startswith(label, host);

                buf_printf(&m->out, "# %s: %s%s%s, Linux %s, from %s\n", label, s->name,
                           says_host ? "" : " on ", says_host ? "" : host, s->kernel ?: "?",
                           SUMMARY_TIME(s->start.realtime_ns));
        }
        buf_adds(&m->out, "#\n");
}

/* --- which one is next ------------------------------------------------------------------------ */

/* Of equal times one that is to be opened is first, and then as on the command line. */
static bool is_before(const Lane *a, const Lane *b) {
        if (a->realtime_ns != b->realtime_ns)
                return a->realtime_ns < b->realtime_ns;
        return !a->rendering != !b->rendering ? !a->rendering : a < b;
}

/* Puts the one at @i where it belongs among those below it. */
static void sift_down(Merge *m, size_t i) {
        for (size_t child; (child = 2 * i + 1) < m->n_heap; i = child) {
                if (child + 1 < m->n_heap && is_before(m->heap[child + 1], m->heap[child]))
                        child++;
                if (!is_before(m->heap[child], m->heap[i]))
                        return;
                SWAP(m->heap[child], m->heap[i]);
        }
}

/* The clock on the wall may have been set back meanwhile. */
static uint64_t begins_at(const Source *s) {
        const SessionMeta *m = s->meta;
        uint64_t begin_ns, first_ns;

        if (session_state_is_live(m->state) ||
            page_source_begin_all(s->dir, needs_swap(m->big_endian), &begin_ns) <= 0)
                return 0;
        first_ns = session_meta_realtime_ns(m, begin_ns);
        for (size_t i = 0; i < m->clock_steps.n; i++)
                first_ns = MIN(first_ns, m->clock_steps.items[i].realtime_ns);
        return begin_ns == UINT64_MAX ? UINT64_MAX : first_ns;
}

/* --- lanes ------------------------------------------------------------------------------------ */

/* An exit status. */
static int open_lane(Merge *m, Lane *l) {
        RenderContext context;
        int status;

        reading_done(&l->reading);
        status = reading_open(&l->reading, &m->quiet, l->word, READING_FOR_DRAWING)
                         ?: check_clock(l);
        if (status != STATUS_OK)
                return status;
        l->reading.o = m->o;
        context = drawing_context(lane_meta(l), &m->d.render);
        return stdout_status(m->renderer->new (&l->rendering, &context, &l->drawn));
}

/* Its next step: 1; 0: there is none, and it is closed; a negative exit status. */
static int advance(Merge *m, Lane *l) {
        int r = reading_next(&l->reading, &l->step);

        if (r > 0)
                l->realtime_ns = session_meta_realtime_ns(lane_meta(l), l->step.timestamp_ns);
        if (r != 0)
                return r;
        close_drawing(m, l);
        return -reading_close(&l->reading);
}

static int find_lanes(Merge *m) {
        const Strv *words = &m->o->words;
        int status = STATUS_OK, r;
        struct rlimit limit;

        /* Other descriptors than those of sources are few. */
        if (getrlimit(RLIMIT_NOFILE, &limit) >= 0) {
                limit.rlim_cur = limit.rlim_max;
                (void) setrlimit(RLIMIT_NOFILE, &limit);
        }
        m->lanes = calloc(words->n, sizeof(*m->lanes));
        m->heap = calloc(words->n, sizeof(*m->heap));
        if (!m->lanes || !m->heap)
                return out_of_memory();
        for (size_t i = 0; status == STATUS_OK && i < words->n; i++) {
                Lane *l = &m->lanes[m->n_lanes++];

                *l = (Lane){ .word = words->items[i], .drawn = BUF_INIT };
                status = reading_find(&l->reading, m->o, l->word) ?: check_clock(l);
                if (status == STATUS_OK) {
                        l->realtime_ns = begins_at(l->reading.source);
                        status = reading_close(&l->reading);
                }
        }
        if (status != STATUS_OK)
                return status;
        r = set_labels(m, true);
        if (r == 0)
                r = set_labels(m, false);
        if (r < 0)
                return out_of_memory();
        /* Whose header is drawn; and what is wrong with the options is said before anything is. */
        return open_lane(m, &m->lanes[0]);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void set_time(Merge *m, uint64_t realtime_ns) {
        time_t t = (time_t) (realtime_ns / NSEC_PER_SEC);
        unsigned us = (unsigned) (realtime_ns % NSEC_PER_SEC / NSEC_PER_USEC);
        struct tm tm;

        if (t != m->second || !*m->time) {
                m->second = t;
                (void) strcpy(m->time, "??:??:??.000000 ");
                if (localtime_r(&t, &tm))
                        (void) strftime(m->time, sizeof(m->time), "%H:%M:%S.000000 ", &tm);
        }
        for (char *digit = m->time + TIME_COLUMNS; *--digit != '.'; us /= 10)
                *digit = (char) ('0' + us % 10);
}

/* What the lane has drawn, a prefix before each line; the columns' names are moved out of its way. */
static void pass_on(Merge *m, Lane *l) {
        static const char title[] = "# tracer:";
        const char *at = l->drawn.data, *end = at ? at + l->drawn.n_data : NULL;
        size_t n_label = strlen(l->label);

        set_time(m, l->realtime_ns);
        while (at < end) {
                const char *newline = memchr(at, '\n', (size_t) (end - at));
                size_t n = (size_t) ((newline ? newline + 1 : end) - at);

                if (*at == '#' && n > 2 &&
                    (n < strlen(title) || memcmp(at, title, strlen(title)) != 0)) {
                        buf_adds(&m->out, "#");
                        buf_pad(&m->out, TIME_COLUMNS + m->label_columns + 1, ' ');
                        buf_add(&m->out, at + 1, n - 1);
                } else if (*at != '#') {
                        buf_add(&m->out, m->time, TIME_COLUMNS + 1);
                        buf_add(&m->out, l->label, n_label);
                        buf_pad(&m->out, m->label_columns - n_label + 1, ' ');
                        buf_add(&m->out, at, n);
                }
                at += n;
        }
        if (m->out.error == 0)
                m->out.error = l->drawn.error;
        l->drawn.n_data = 0;
}

/* One more step, or one more lane.  0, -errno of writing, an exit status of reading. */
static int go_on(Merge *m) {
        Lane *l = m->heap[0];
        int r;

        if (l->rendering) {
                m->renderer->step(l->rendering, &l->step);
                pass_on(m, l);
        } else {
                r = open_lane(m, l);
                if (r != STATUS_OK)
                        return r;
                l->drawn.n_data = 0; /* one header is enough */
        }
        if (_unlikely_(m->out.error < 0))
                return m->out.error;
        r = advance(m, l);
        if (r == 0)
                m->heap[0] = m->heap[--m->n_heap];
        sift_down(m, 0);
        return MAX(-r, 0);
}

/* The header is that of the first one on the command line.  Likewise. */
static int draw_merged(Merge *m) {
        int r;

        if (m->d.render.header)
                put_legend(m);
        pass_on(m, &m->lanes[0]);
        r = advance(m, &m->lanes[0]);
        for (size_t i = r == 0; i < m->n_lanes; i++)
                m->heap[m->n_heap++] = &m->lanes[i];
        for (size_t i = m->n_heap / 2; i-- > 0;)
                sift_down(m, i);
        for (r = MAX(-r, 0); r == 0 && m->n_heap > 0;)
                r = go_on(m);
        return r < 0 ? r : buf_flush(&m->out) ?: r;
}

static int report_merged(const Options *o) {
        _cleanup_(merge_done) Merge m = { .o = o, .quiet = *o, .out = BUF_OF_TEXT(STDOUT_FILENO) };
        _cleanup_pager_ Pager pager = PAGER_INIT;
        int status = display_options(&m.d, o), r;

        if (status != STATUS_OK)
                return status;
        m.quiet.quiet = true;
        m.renderer = renderer_find(m.d.format);
        status = find_lanes(&m);
        if (status != STATUS_OK)
                return status;
        pager_open(&pager, o, SIZE_MAX);
        r = pager_end(&pager, draw_merged(&m));
        if (r != 0)
                return r > 0 ? r : stdout_status(r);
        for (size_t i = 0; i < m.n_lanes; i++) {
                m.lanes[0].reading.filtering.has_left |= m.lanes[i].reading.filtering.has_left;
                r = reading_finish(&m.lanes[i].reading);
                status = status == STATUS_OK ? r : status;
        }
        (void) reading_none_left(o, NULL, &m.lanes[0].reading.filtering);
        talk(o, "Times are each host's time of day; they differ as these clocks do.");
        return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What went, or was lost, may have been calls. */
static bool is_whole(const SessionMeta *m) {
        CpuAccount all = session_meta_total(m);

        return m->bytes_dropped == 0 && all.pages_dropped == 0 && all.pages_lost == 0 &&
               session_meta_events_lost(m) == 0;
}

static int report_recording(Reading *reading, const Options *o) {
        const Source *s = reading->source;
        const SessionMeta *m = s->meta;
        DrawingOptions d;
        int status = display_options(&d, o);

        d.filtering = &reading->filtering;
        if (status == STATUS_OK)
                status = display_report(s, o, &d);
        if (status != STATUS_OK && status != STATUS_INCOMPLETE)
                return status;
        if (reading_none_left(o, reading->word, &reading->filtering) != STATUS_OK)
                return STATUS_NOT_FOUND;
        /* Of a session: a file of another program does not say whether it has any. */
        if (o->spec.args && !m->spec.args && m->spec.args_functions.n == 0 &&
            m->spec.functions.n > 0)
                talk(o, "%s has no arguments: they have to be recorded, with --args.", m->name);
        if (session_state_is_live(m->state) && !s->from_store)
                talk(o, "%s still records; this is what is stored so far.", m->name);
        /* What is damaged or lost may have been calls. */
        if (!reading->filtering.has_left && !session_meta_is_of_file(m) &&
            (silence_is_total(m) || (status == STATUS_OK && summary_is_complete(m) && is_whole(m) &&
                                     filtering_is_empty(&reading->filtering))))
                talk(o, "%s has no calls: %s.", m->name, SUMMARY_SILENCE(m));
        display_dropped(o, m);
        display_clock(o, m);
        display_lacks(o, m);
        return summary_is_complete(m) ? status : STATUS_INCOMPLETE;
}

int verb_report(const Options *o) {
        _cleanup_reading_ Reading reading = {};
        Options as_json = *o;
        int status;

        if (o->spec.retval_functions.n > 0)
                return refuse_function("--retval", o->spec.retval_functions.items[0]);
        if (o->spec.args_functions.n > 0)
                return refuse_function("--args", o->spec.args_functions.items[0]);
        if (o->words.n > 1 && o->json != JSON_OFF)
                return failed(STATUS_USAGE, "--json has one recording at a time: call \"ftracectl "
                                            "report --json\" for each.");
        if (o->json != JSON_OFF) {
                as_json.format = "ndjson"; /* one object a call */
                return verb_export(&as_json);
        }
        if (o->words.n > 1)
                return report_merged(o);
        status = reading_find(&reading, o, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        return reading.text.trace ? report_text(&reading, o) : report_recording(&reading, o);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the kernel printed of a buffer, and the recording of the same buffer, are the same steps. */

#include <endian.h>

#include "calls/playback.h"
#include "decode/records.h"
#include "scratch.h"
#include "segment-map.h"
#include "store/page.h"
#include "store/segment.h"
#include "store/store.h"
#include "text-file.h"

/* A text has as many digits of a duration as fit its column. */
static uint64_t precision_ns(uint64_t duration_ns) {
        return duration_ns < 10000000 ? 1 : duration_ns < 100000000 ? 10 : 100;
}

static void expect_same(const Step *text, const Step *recorded) {
        ck_assert_int_eq(text->kind, recorded->kind);
        ck_assert_uint_eq(text->cpu, recorded->cpu);
        ck_assert_int_eq(text->depth, recorded->depth);
        ck_assert_str_eq(text->function->label, recorded->function->label);
        if (text->pid >= 0)
                ck_assert_int_eq(text->pid, recorded->pid);
        if (text->kind != STEP_ENTER) {
                uint64_t x = step_duration_ns(text), y = step_duration_ns(recorded);

                ck_assert_uint_le(x, y);
                ck_assert_uint_lt(y - x, precision_ns(y));
        }
}

/* The text of @name and the recording of that name in @store_path. */
static void compare_in(const char *store_path, const char *name) {
        _cleanup_(text_trace_freep) TextTrace *t = NULL;
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(playback_freep) Playback *p = NULL;
        _cleanup_free_ char *file = NULL, *problem = NULL;
        _cleanup_(store_freep) Store *store = NULL;
        size_t n = 0;
        Step x, y;

        ck_assert_int_gt(asprintf(&file, "%s.trace", name), 0);
        t = trace_of_file(file);
        ck_assert_int_eq(store_open(&store, store_path), 0);
        ck_assert_int_eq(store_open_session(store, name, &dir), 0);
        ck_assert_int_eq(session_dir_read_meta(dir, &meta), 0);
        ck_assert_int_eq(playback_open(&p, dir, meta, &problem), 0);
        while (text_trace_next(t, &x) > 0) {
                if (x.kind == STEP_TASK)
                        continue;
                ck_assert_int_eq(steps_next(&p->steps, STREAM_NO_LIMIT, &y), 1);
                expect_same(&x, &y);
                n++;
        }
        ck_assert_int_eq(steps_next(&p->steps, STREAM_NO_LIMIT, &y), 0);
        ck_assert_uint_gt(n, 1000);
}

TEST(a_text_is_its_recording) {
        static const char *const names[] = { "udp_sendmsg-5.10", "udp_sendmsg-6.1",
                                             "udp_sendmsg-6.12", "udp_sendmsg-new",
                                             "udp_sendmsg-arm64-16k-6.12" };
        _cleanup_free_ char *data = data_path("");

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                compare_in(data, names[i]);
}

static void replace(const char *path, const char *old, const char *new) {
        _cleanup_free_ char *text = NULL;
        size_t n;
        char *at;
        FILE *f;

        ck_assert_int_eq(file_read(AT_FDCWD, path, &text, &n, 1 << 20), 0);
        at = strstr(text, old);
        ck_assert_ptr_nonnull(at);
        f = fopen(path, "we");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_gt(fprintf(f, "%.*s%s%s", (int) (at - text), text, new, at + strlen(old)), 0);
        ck_assert_int_eq(fclose(f), 0);
}

#define TYPE_TIME_EXTEND 30
#define DELTA_BITS 27
#define SHORT_MAX (28 * 4) /* bytes whose length fits the head */

/* A little endian page in which records find their places (decode/records.h). */
typedef struct PageMaker {
        uint8_t page[65536];
        size_t page_bytes, n; /* n: bytes that are used; 0: nothing is in it */
        uint64_t begin_ns, last_ns;
} PageMaker;

static uint8_t *put_u32(uint8_t *p, uint32_t v) {
        v = htole32(v);
        memcpy(p, &v, sizeof(v));
        return p + sizeof(v);
}

static uint8_t *put_head(uint8_t *p, uint32_t type, uint64_t delta) {
        uint32_t low = (uint32_t) delta & ((1U << DELTA_BITS) - 1);

        return put_u32(p, low << 5 | type);
}

/* False: it is full. */
static bool add_record(PageMaker *m, const Record *r) {
        uint64_t delta = m->n > 0 ? r->timestamp_ns - m->last_ns : 0;
        bool is_extended = delta >> DELTA_BITS, is_short = r->n_data > 0 && r->n_data <= SHORT_MAX;
        size_t n_needed = (is_extended ? 8 : 0) + (is_short ? 4 : 8) + r->n_data;
        uint8_t *p;

        if (m->n > 0 && (r->timestamp_ns < m->last_ns || m->n + n_needed > m->page_bytes))
                return false;
        if (m->n == 0) {
                m->n = PAGE_HEADER_BYTES;
                m->begin_ns = r->timestamp_ns;
        }
        p = m->page + m->n;
        if (is_extended) {
                p = put_head(p, TYPE_TIME_EXTEND, delta);
                p = put_u32(p, (uint32_t) (delta >> DELTA_BITS));
                delta = 0;
        }
        p = put_head(p, is_short ? (uint32_t) r->n_data / 4 : 0, delta);
        if (!is_short)
                p = put_u32(p, (uint32_t) r->n_data + 4);
        memcpy(p, r->data, r->n_data);
        m->n += n_needed;
        m->last_ns = r->timestamp_ns;
        return true;
}

static void write_page(SegmentWriter *w, PageMaker *m) {
        const uint64_t header[] = { htole64(m->begin_ns), htole64(m->n - PAGE_HEADER_BYTES) };

        memset(m->page + m->n, 0, m->page_bytes - m->n);
        memcpy(m->page, header, sizeof(header));
        ck_assert_int_eq(write_full(w->fd, m->page, m->page_bytes), 0);
        segment_publish(w, m->page_bytes);
        m->n = 0;
}

/* The same records in pages of another size. */
static void repage(const char *session, unsigned cpu, uint32_t page_bytes) {
        PageMaker m = { .page_bytes = page_bytes };
        _cleanup_(segment_freep) Segment *s = NULL;
        _cleanup_close_ int cpu_fd = -EBADF;
        char path[PATH_MAX + 128], id[sizeof(s->header.session_id) + 1] = "";
        SegmentWriter *w;

        (void) snprintf(path, sizeof(path), "%s/cpu%u", session, cpu);
        cpu_fd = dir_open(AT_FDCWD, path);
        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(segment_take_fd(&s, openat(cpu_fd, "00000000.seg", O_RDONLY | O_CLOEXEC)),
                         0);
        ck_assert_int_eq(unlinkat(cpu_fd, "00000000.seg", 0), 0);
        memcpy(id, s->header.session_id, sizeof(id) - 1);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, cpu, page_bytes, id), 0);
        for (uint64_t i = 0; i < s->header.n_pages; i++) {
                const uint8_t *page = segment_page(s, i);
                PageInfo info;
                Records records;
                Record r;

                ck_assert_int_eq(page_parse(&info, page, 4096, HOST_BIG_ENDIAN), 0);
                records_init(&records, page + PAGE_HEADER_BYTES, info.n_payload, info.timestamp,
                             false);
                while (records_next(&records, &r) == 0) {
                        if (add_record(&m, &r))
                                continue;
                        write_page(w, &m);
                        ck_assert(add_record(&m, &r));
                }
        }
        write_page(w, &m);
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
}

/* As arm64 and ppc64 can have them; no kernel of Debian's has.  The store is a shell's copy. */
TEST(in_pages_of_64_kib_a_recording_is_the_same) {
        static const char name[] = "udp_sendmsg-6.12";
        _cleanup_scratch_ Scratch scratch = scratch_new();
        _cleanup_free_ char *data = data_path("");
        char command[5 * PATH_MAX], session[PATH_MAX + 64], path[PATH_MAX + 128];
        (void) snprintf(command, sizeof(command),
                        "cp -r '%s/sessions' '%s/symbols' '%s' && chmod -R u+w '%s'", data, data,
                        scratch.path, scratch.path);
        ck_assert_int_eq(system(command), 0);
        (void) snprintf(session, sizeof(session), "%s/sessions/%s", scratch.path, name);
        for (unsigned cpu = 0; cpu < 2; cpu++)
                repage(session, cpu, 65536);
        (void) snprintf(path, sizeof(path), "%s/session.json", session);
        replace(path, "\"page_bytes\": 4096", "\"page_bytes\": 65536");
        (void) snprintf(path, sizeof(path), "%s/tracing/events/header_page", session);
        replace(path, "size:4080;", "size:65520;");
        compare_in(scratch.path, name);
}

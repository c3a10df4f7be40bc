/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "cli/files/files.h"
#include "page-builder.h"
#include "pages/dat-private.h"
#include "store/symbol-file.h"

typedef struct Dat {
        char *data;
        size_t n;
} Dat;

static Filtering all; /* pages */

static Dat dat_of(const Recording *r) {
        const TracedatSpec spec = { .version = 6, .window = &all };
        _cleanup_close_ int fd = memfd_create("dat", MFD_CLOEXEC);
        _cleanup_tracedat_result_ TracedatResult result = {};
        Dat d = {};

        ck_assert_int_eq(tracedat_write(&result, r->dir, r->meta, &spec, fd, NULL), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(fd_read(fd, &d.data, &d.n, SIZE_MAX), 0);
        return d;
}

static void dat_done(Dat *d) {
        free(d->data);
}

static size_t count(const Dat *d, const char *text) {
        size_t n = 0;

        for (const char *p = d->data;
             (p = memmem(p, (size_t) (d->data + d->n - p), text, strlen(text))); p++)
                n++;
        return n;
}

TEST(pages_that_cannot_be_read_are_left_out) {
        _cleanup_recording_ Recording r;
        _cleanup_(dat_done) Dat d = {};
        const Layout *layout = &layouts[LAYOUT_6_1];
        Page p[3] = {};

        recording_init(&r, layout);
        for (size_t i = 0; i < 3; i += 2)
                page_begin(&p[i], layout, 1000 * i + 5);
        recording_add(&r, 0, 0, p, 3); /* the second was never written */
        d = dat_of(&r);
        ck_assert_mem_eq(d.data + d.n - 8192, p[0].bytes, 4096);
        ck_assert_mem_eq(d.data + d.n - 4096, p[2].bytes, 4096);
}

RECORDING_TEST(a_recording_without_formats_is_refused_with_the_reason, &layouts[LAYOUT_6_1]) {
        _cleanup_free_ char *problem = NULL;
        _cleanup_tracedat_result_ TracedatResult result = {};

        ck_assert_int_eq(
                unlinkat(session_dir_fd(r->dir), "tracing/events/ftrace/funcgraph_exit/format", 0),
                0);
        ck_assert_int_eq(tracedat_write(&result, r->dir, r->meta,
                                        &(TracedatSpec){ .version = 6, .window = &all }, -EBADF,
                                        &problem),
                         TRACEDAT_E_UNREADABLE);
        ck_assert_str_eq(problem,
                         "its events/ftrace/funcgraph_exit/format is missing or no regular file");
}

TEST(each_module_that_was_ever_loaded_is_in_its_symbols) {
        static const char later[] = "0000000000000000 A fixed_percpu_data\n"
                                    "ffffffff81000000 T udp_sendmsg\n"
                                    "ffffffff81000800 T of_no_module\n"
                                    "ffffffffc0000010 t dummy_in_its_place\t[dummy]\n"
                                    "ffffffffc0000020 t dummy_xmit\t[dummy]\n";
        RECORDING(r, &layouts[LAYOUT_6_12]);
        _cleanup_(dat_done) Dat d = {};
        char hash[SYMBOL_HASH_CHARS + 1];
        Page p = {};

        page_begin(&p, &layouts[LAYOUT_6_12], 5);
        page_enter(&p, 5, 17, F_ROOT, 0);
        page_enter(&p, 6, 17, F_MODULE, 1);
        page_enter(&p, 7, 17, 0xffffffffc0000020, 2);
        recording_add(&r, 0, 0, &p, 1);
        ck_assert_int_eq(symbol_file_store(r.symbols_fd, later, strlen(later), hash), 0);
        for (uint64_t i = 1; i < 4; i++)
                ck_assert_int_eq(
                        symbol_maps_add(&r.meta->symbol_maps, i * 10, i * 10 + 5, hash, NULL), 0);
        d = dat_of(&r);
        ck_assert_uint_eq(count(&d, "t ovl_open\t[overlay]\n"), 1);
        ck_assert_uint_eq(count(&d, "ffffffffc0000020 t dummy_xmit\t[dummy]\n"), 1);
        ck_assert_uint_eq(count(&d, "T udp_sendmsg\n"), 1);
        ck_assert_uint_eq(count(&d, "of_no_module"), 0);
        ck_assert_uint_eq(count(&d, "dummy_in_its_place"), 0);
}

/* --- read back -------------------------------------------------------------------------------- */

static const TracedatSpec forms[] = {
        { .version = 6, .window = &all, .can_seek = true },
        { .version = 6, .window = &all },
        { .version = 7, .window = &all, .can_seek = true },
        { .version = 7, .window = &all },
        { .version = 7, .window = &all, .is_packed = true, .can_seek = true },
        { .version = 7, .window = &all, .is_packed = true },
};

/* What was written, as a trace.dat. */
static DatFile *back(const Recording *r, const TracedatSpec *spec, TracedatResult *result) {
        _cleanup_free_ char *problem = NULL;
        int fd = memfd_create("dat", MFD_CLOEXEC), status;
        _cleanup_tracedat_result_ TracedatResult unused = {};
        DatFile *f;

        ck_assert_int_eq(tracedat_write(result ?: &unused, r->dir, r->meta, spec, fd, &problem), 0);
        status = dat_file_take_fd(&f, fd, &problem);
        ck_assert_msg(status == 0, "%d %s", status, problem ?: "");
        return f;
}

/* The pages of @cpu from page @first on are these. */
static void expect_pages(const DatFile *f, uint32_t cpu, const Page *pages, size_t n) {
        _cleanup_(page_source_freep) PageSource *p = NULL;

        ck_assert_int_eq(page_source_open_dat(&p, f, cpu, NULL), 0);
        ck_assert_uint_eq(p->n_pages, n);
        ck_assert_uint_eq(p->n_torn, 0);
        for (uint64_t i = 0; i < n; i++) {
                const void *data;
                uint64_t n_there;

                ck_assert_int_eq(page_source_read(p, i, &data, &n_there), 0);
                ck_assert_mem_eq(data, pages[i].bytes, BUILT_PAGE_BYTES);
        }
}

/* @n pages of calls, each @step_ns after the one before. */
static void fill_pages(Page *pages, size_t n, const Layout *layout, uint64_t begin_ns,
                       uint64_t step_ns) {
        for (size_t i = 0; i < n; i++) {
                uint64_t t = begin_ns + i * step_ns;

                page_begin(&pages[i], layout, t);
                for (size_t k = 0; k < 30; k++) {
                        uint64_t function = k % 2 ? F_CHILD : F_ROOT;

                        page_enter(&pages[i], t + k, 17, function, 0);
                        page_leave(&pages[i], t + k, 17, function, 0, i * 977 + k);
                }
        }
}

TEST(every_form_brings_every_page_back) {
        for (size_t i = 0; i < ELEMENTSOF(forms) * N_LAYOUTS; i++) {
                const TracedatSpec *form = &forms[i / N_LAYOUTS];
                const Layout *layout = &layouts[i % N_LAYOUTS];
                _cleanup_(dat_file_freep) DatFile *f = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                _cleanup_free_ char *symbols = NULL, *tasks = NULL;
                _cleanup_recording_ Recording r;
                _cleanup_tracedat_result_ TracedatResult result = {};
                Page p[47] = {};
                size_t n;

                recording_init(&r, layout);
                r.meta->n_possible_cpus = 5;
                fill_pages(p, ELEMENTSOF(p), layout, 5, 100);
                recording_add(&r, 0, 0, p, 13);
                recording_add(&r, 0, 1, p + 13, 12);
                recording_add(&r, 3, 0, p + 25, 22);
                r.meta->cpus[1].overrun = 4711;
                f = back(&r, form, &result);
                ck_assert_uint_eq(result.n_pages, 47);
                ck_assert_uint_eq(result.lacks.n, 0);
                ck_assert_int_eq(result.is_packed, form->is_packed);
                ck_assert(dat_file_buffer(f)->is_packed == form->is_packed);
                ck_assert_uint_eq(dat_file_buffer(f)->n_cpus, 2);
                expect_pages(f, 0, p, 25);
                expect_pages(f, 3, p + 25, 22);
                ck_assert_int_eq(dat_file_meta(f, &m), 0);
                ck_assert_str_eq(m->clock, "mono");
                ck_assert_str_eq(m->kernel, layout->kernel);
                ck_assert_uint_eq(m->n_possible_cpus, 5);
                ck_assert_uint_eq(session_meta_events_lost(m), 4711);
                ck_assert_int_eq(dat_file_read_tracing(f, "saved_cmdlines", &tasks, &n), 0);
                ck_assert_str_eq(tasks, "17 client\n18 a server\n");
                ck_assert_int_eq(dat_file_read_symbols(f, &symbols, &n), 0);
                ck_assert_ptr_null(strstr(symbols, " _etext\n"));
                ck_assert_ptr_nonnull(strstr(symbols, " ip_make_skb\n"));
        }
}

TEST(another_byte_order_is_kept) {
        for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
                _cleanup_(dat_file_freep) DatFile *f = NULL;
                _cleanup_free_ char *symbols = NULL;
                RECORDING(r, &layouts[LAYOUT_6_12]);
                Page p = { .big_endian = true };
                size_t n;

                r.meta->big_endian = true;
                page_begin(&p, &layouts[LAYOUT_6_12], 5);
                page_enter(&p, 5, 17, F_CHILD, 0);
                recording_add(&r, 1, 0, &p, 1);
                f = back(&r, &forms[i], NULL);
                ck_assert(f->big_endian);
                expect_pages(f, 1, &p, 1);
                ck_assert_int_eq(dat_file_read_symbols(f, &symbols, &n), 0);
                ck_assert_str_eq(symbols, "ffffffff81000100 T ip_make_skb\n"
                                          "ffffffff81100100 t ftraced_end_of_symbols\n");
        }
}

TEST(formats_and_symbols_that_do_not_occur_are_left_out) {
        static const char wakeup[] = "name: sched_wakeup\nID: 316\nformat:\n",
                          exec[] = "name: sched_process_exec\nID: 317\nformat:\n",
                          wakeup_path[] = "events/sched/sched_wakeup/format",
                          exec_path[] = "events/sched/sched_process_exec/format";
        /* A task that woke one up in kfree(), and no other symbol. */
        uint64_t record[4] = { 316 | UINT64_C(17) << 32, 0x1234, 0xffffffff81000234,
                               0xffff888012345678 };
        _cleanup_(dat_file_freep) DatFile *f = NULL;
        _cleanup_free_ char *symbols = NULL, *text = NULL;
        RECORDING(r, &layouts[LAYOUT_7_2]);
        Page p = {};
        size_t n;

        ck_assert_int_eq(strv_add(&r.meta->spec.events, "sched:sched_process_exec"), 0);
        ck_assert_int_eq(strv_add(&r.meta->spec.events, "sched:sched_wakeup"), 0);
        ck_assert_int_eq(
                session_dir_write_tracing(r.dir, wakeup_path, wakeup, strlen(wakeup), false), 0);
        ck_assert_int_eq(session_dir_write_tracing(r.dir, exec_path, exec, strlen(exec), false), 0);
        page_begin(&p, &layouts[LAYOUT_7_2], 5);
        page_record(&p, 5, record, sizeof(record));
        page_enter(&p, 6, 17, F_MODULE, 0);
        recording_add(&r, 0, 0, &p, 1);
        f = back(&r, &forms[0], NULL);
        ck_assert_int_eq(dat_file_read_symbols(f, &symbols, &n), 0);
        ck_assert_str_eq(symbols, "ffffffff81000200 t kfree\n"
                                  "ffffffffc0000010 t ovl_open\t[overlay]\n"
                                  "ffffffffc0100010 t ftraced_end_of_symbols\n");
        ck_assert_int_eq(dat_file_read_tracing(f, wakeup_path, &text, &n), 0);
        ck_assert_str_eq(text, wakeup);
        ck_assert_int_eq(dat_file_read_tracing(f, exec_path, &text, &n), -ENOENT);
}

TEST(a_window_has_the_pages_that_reach_into_it) {
        static const struct {
                uint64_t from, to;
                size_t first, n;
        } windows[] = {
                { 1000, 1099, 10, 1 }, { 1005, 1005, 10, 1 }, { 1029, 1100, 10, 2 },
                { 1030, 0, 11, 9 },    { 0, 99, 0, 1 },       { 1900, 5000, 19, 1 },
                { 1940, 5000, 0, 0 },
        };
        _cleanup_recording_ Recording r;
        const Layout *layout = &layouts[LAYOUT_6_1];
        Page p[20] = {};

        recording_init(&r, layout);
        fill_pages(p, ELEMENTSOF(p), layout, 0, 100);
        recording_add(&r, 0, 0, p, 5);
        recording_add(&r, 0, 1, p + 5, 15);
        for (size_t i = 0; i < ELEMENTSOF(windows); i++) {
                _cleanup_(dat_file_freep) DatFile *f = NULL;
                Filtering window = {
                        .from = { windows[i].from ? MOMENT_TRACE : MOMENT_NONE, windows[i].from },
                        .to = { windows[i].to ? MOMENT_TRACE : MOMENT_NONE, windows[i].to },
                };
                _cleanup_tracedat_result_ TracedatResult result = {};

                f = back(&r, &(TracedatSpec){ .version = 6, .window = &window }, &result);
                ck_assert_uint_eq(result.n_pages, windows[i].n);
                ck_assert_uint_eq(dat_file_buffer(f)->n_cpus, windows[i].n > 0);
                if (windows[i].n > 0)
                        expect_pages(f, 0, p + windows[i].first, windows[i].n);
        }
}

TEST(what_is_too_large_to_be_compressed_is_not) {
        for (size_t i = 0; i < 2; i++) {
                _cleanup_(dat_file_freep) DatFile *f = NULL;
                RECORDING(r, &layouts[LAYOUT_6_1]);
                TracedatSpec spec = forms[4 + i];
                _cleanup_tracedat_result_ TracedatResult result = {};
                Page p[40] = {};

                fill_pages(p, ELEMENTSOF(p), &layouts[LAYOUT_6_1], 5, 100);
                recording_add(&r, 0, 0, p, 1);
                recording_add(&r, 1, 0, p, ELEMENTSOF(p));
                spec.packed_max = 2000;
                f = back(&r, &spec, &result);
                ck_assert(!result.is_packed);
                ck_assert(!dat_file_buffer(f)->is_packed);
                expect_pages(f, 0, p, 1);
                expect_pages(f, 1, p, ELEMENTSOF(p));
        }
}

TEST(compressed_pages_are_found_in_any_order) {
        enum { N = 2000 }; /* 200 chunks */
        _cleanup_(page_source_freep) PageSource *pages = NULL;
        _cleanup_(dat_file_freep) DatFile *f = NULL;
        _cleanup_free_ Page *p = calloc(N, sizeof(*p));
        RECORDING(r, &layouts[LAYOUT_6_1]);

        fill_pages(p, N, &layouts[LAYOUT_6_1], 5, 100);
        recording_add(&r, 0, 0, p, N);
        f = back(&r, &forms[4], NULL);
        ck_assert_int_eq(page_source_open_dat(&pages, f, 0, NULL), 0);
        for (uint64_t i = 0; i < N; i++) {
                uint64_t at = i % 2 ? N - i : i * 757 % N, n;
                const void *data;

                ck_assert_int_eq(page_source_read(pages, at, &data, &n), 0);
                ck_assert_uint_eq(n, 10 - at % 10);
                ck_assert_mem_eq(data, p[at].bytes, BUILT_PAGE_BYTES);
        }
}

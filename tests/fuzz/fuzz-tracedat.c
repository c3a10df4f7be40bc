/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever is in a trace.dat: it is refused with a place and a reason, or everything that it is
 * said to hold can be asked for, every event of it read, and all of its good pages be written into
 * another one.
 *
 * Input: the file.
 */

#include "cli/files/files.h"
#include "fuzz-mutate.h"

#define EVENTS_MAX 200000
#define WINDOW_NS UINT64_C(1000000)

static const char *const paths[] = { "events/header_page",
                                     "events/header_event",
                                     "events/ftrace/funcgraph_entry/format",
                                     "events/ftrace/funcgraph_exit/format",
                                     "saved_cmdlines",
                                     "printk_formats" };

static void read_events(const SessionDir *dir, char *const texts[]) {
        _cleanup_(stream_freep) Stream *s = NULL, *again = NULL;
        const char *problem;
        const Event *e;
        Formats formats;
        uint64_t begin_ns;

        if (!texts[0] || !texts[2] || !texts[3] ||
            formats_parse(&formats, texts[0], texts[2], texts[3], dat_file_of_dir(dir)->big_endian,
                          &problem) != 0)
                return;
        if (stream_open(&s, dir, &formats) < 0)
                return;
        for (size_t i = 0; i < EVENTS_MAX && stream_next(s, STREAM_NO_LIMIT, &e) == 1; i++)
                FUZZ_CHECK(e->depth >= 0 && e->depth <= EVENT_DEPTH_MAX);
        /* A window is found without reading what is before it. */
        if (stream_open(&again, dir, &formats) < 0 || !stream_begin(again, &begin_ns))
                return;
        FUZZ_CHECK(stream_seek(again, begin_ns + WINDOW_NS) == 0);
        (void) stream_next(again, STREAM_NO_LIMIT, &e);
}

static uint64_t count_pages(const DatFile *f) {
        uint64_t n = 0;

        for (size_t i = 0; i < dat_file_buffer(f)->n_cpus; i++) {
                _cleanup_(page_source_freep) PageSource *p = NULL;

                FUZZ_CHECK(page_source_open_dat(&p, f, dat_file_buffer(f)->cpus[i].cpu, NULL) == 0);
                n += p->n_pages;
        }
        return n;
}

static void write_again(const SessionDir *dir, const SessionMeta *meta, unsigned version) {
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        _cleanup_(dat_file_freep) DatFile *f = NULL;
        char *problem = NULL;
        _cleanup_tracedat_result_ TracedatResult result = {};
        int r;

        FUZZ_CHECK(fd >= 0);
        r = tracedat_write(&result, dir, meta,
                           &(TracedatSpec){ .version = version,
                                            .is_packed = version == 7,
                                            .can_seek = true,
                                            .window = &(Filtering){} },
                           fd, &problem);
        FUZZ_CHECK((r == TRACEDAT_E_UNREADABLE) == (problem != NULL));
        free(problem);
        if (r != 0) {
                close(fd);
                return;
        }
        FUZZ_CHECK(dat_file_take_fd(&f, fd, &problem) == 0);
        FUZZ_CHECK(count_pages(f) == result.n_pages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        char *texts[ELEMENTSOF(paths)] = {}, *problem = NULL, *symbols;
        DatFile *f;
        size_t n;
        int r = dat_file_take_fd(&f, fuzz_file(data, n_data), &problem);

        FUZZ_CHECK((r == DAT_FILE_E_UNREADABLE) == (problem != NULL));
        free(problem);
        if (r != 0)
                return 0;
        FUZZ_CHECK(f->n_buffers > 0);
        /* Another one than would be read now and then. */
        if (n_data % 5 == 0)
                FUZZ_CHECK(dat_file_choose_buffer(f, f->buffers[f->n_buffers - 1].name) == 0);
        FUZZ_CHECK(dat_file_to_dir(&dir, f, "fuzz") == 0);
        FUZZ_CHECK(session_dir_read_meta(dir, &meta) == 0);
        FUZZ_CHECK(dat_losses_note(meta, dir, n_data % 3) == 0);
        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                if (session_dir_read_tracing(dir, paths[i], &texts[i], &n) >= 0)
                        FUZZ_CHECK(strlen(texts[i]) <= n);
        if (session_dir_read_symbols(dir, NULL, &symbols, &n) >= 0)
                free(symbols);
        read_events(dir, texts);
        write_again(dir, meta, n_data % 2 ? 6 : 7);
        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                free(texts[i]);
        return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
        return fuzz_mutate_pages(data, n, max, 0, seed);
}

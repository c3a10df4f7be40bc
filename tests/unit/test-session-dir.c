/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "meta/meta.h"
#include "pages/page-source.h"
#include "scratch.h"
#include "store/session-dir.h"
#include "store/symbol-file.h"

#define ID "0123456789abcdef"

static SessionDir *create(const Scratch *s) {
        SessionDir *d = MADE(SessionDir, session_dir_create, s->fd, "boot");

        return d;
}

#define DIR_CASE(s, d)                                                                             \
        _cleanup_scratch_ Scratch s = SCRATCH;                                                     \
        _cleanup_(session_dir_freep) SessionDir *d = create(&s)
#define DIR_TEST(name, d) TEST_WITH(name, (Scratch * s, SessionDir * d), DIR_CASE(s, dir), &s, dir)

static SessionMeta *small_meta(void) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        m->name = strdup("boot");
        m->id = strdup(ID);
        ck_assert_int_eq(strv_add(&m->spec.functions, "vfs_read"), 0);
        return m;
}

static void add_segment(SessionDir *d, uint32_t cpu, uint64_t sequence, unsigned n_pages) {
        _cleanup_close_ int fd = session_dir_make_cpu(d, cpu);
        static const char page[4096] = { 1 };
        SegmentWriter *w;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(segment_create(&w, fd, sequence, UINT64_MAX, cpu, sizeof(page), ID), 0);
        for (unsigned i = 0; i < n_pages; i++) {
                ck_assert_int_eq(write_full(w->fd, page, sizeof(page)), 0);
                segment_publish(w, sizeof(page));
        }
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
}

DIR_TEST(names_that_lead_elsewhere_are_refused, d) {
        _cleanup_(session_dir_freep) SessionDir *other = NULL;

        ck_assert_int_ge(session_dir_fd(d), 0);
        ck_assert_int_eq(session_dir_create(&other, s->fd, "boot"), -EEXIST);
        ck_assert_int_eq(session_dir_create(&other, s->fd, "../x"), -EINVAL);
        ck_assert_int_eq(session_dir_open(&other, s->fd, "none", -EBADF), -ENOENT);
        ck_assert_int_eq(session_dir_open(&other, s->fd, "..", -EBADF), -EINVAL);
        ck_assert_int_eq(symlinkat("boot", s->fd, "link"), 0);
        ck_assert_int_lt(session_dir_open(&other, s->fd, "link", -EBADF), 0);
        ck_assert_ptr_null(other);
}

SCRATCH_TEST(take_fds_consumes_both_also_when_it_fails) {
        SessionDir *d = NULL;
        int file, symbols;

        scratch_write(s->fd, "file", "x", 1);
        file = openat(s->fd, "file", O_RDONLY | O_CLOEXEC);
        symbols = dir_open(s->fd, ".");
        ck_assert_int_eq(session_dir_take_fds(&d, file, symbols), -ENOTDIR);
        ck_assert_int_eq(fcntl(file, F_GETFD), -1);
        ck_assert_int_eq(fcntl(symbols, F_GETFD), -1);
        ck_assert_int_eq(session_dir_take_fds(&d, dir_open(s->fd, "."), -EBADF), 0);
        session_dir_free(d);
}

SCRATCH_TEST(builds_are_of_all_modules_that_there_were) {
        _cleanup_(session_dir_freep) SessionDir *made = create(s), *d = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = small_meta();
        _cleanup_close_ int symbols_fd = dir_open(s->fd, ".");
        char hash[2][SYMBOL_HASH_CHARS + 1];
        _cleanup_strv_ Strv ids = {};

        ck_assert_ptr_nonnull(made);
        for (size_t i = 0; i < 2; i++) {
                const char *list =
                        i == 0 ? "a 1 Live 0x1 - 0a\n" : "b 1 Live 0x1 - 0b\na 1 Live 0x1 - 0a\n";

                ck_assert_int_eq(symbol_file_store(symbols_fd, list, strlen(list), hash[i]), 0);
        }
        m->build_id = strdup("0c");
        m->modules = strdup(hash[0]);
        ck_assert_int_eq(symbol_maps_add(&m->symbol_maps, 1, 2, hash[1], hash[1]), 0);
        ck_assert_int_eq(symbol_maps_add(&m->symbol_maps, 2, 3, hash[1], NULL), 0);
        ck_assert_int_eq(session_dir_open(&d, s->fd, "boot", symbols_fd), 0);
        ck_assert_int_eq(session_dir_read_build_ids(d, m, &ids), 0);
        ck_assert_uint_eq(ids.n, 3);
        ck_assert_str_eq(ids.items[0], "a 0a");
        ck_assert_str_eq(ids.items[1], "b 0b");
        ck_assert_str_eq(ids.items[2], BUILD_ID_KERNEL " 0c");
}

DIR_TEST(a_session_file_that_is_not_ours_is_refused, d) {
        static const char *const bad[] = { "",
                                           "{",
                                           "[]",
                                           "{}",
                                           "null",
                                           "{\"version\":1,\"version\":1}",
                                           "{\"a\":99999999999999999999}",
                                           "\xff" };
        SessionMeta *m = NULL;
        int fd = session_dir_fd(d);
        char *deep;

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                scratch_write(fd, "session.json", bad[i], strlen(bad[i]));
                ck_assert_int_eq(session_dir_read_meta(d, &m), META_E_INVALID);
        }
        deep = malloc(1 << 20);
        memset(deep, '[', 1 << 20);
        scratch_write(fd, "session.json", deep, 1 << 20);
        free(deep);
        ck_assert_int_eq(session_dir_read_meta(d, &m), META_E_INVALID);
        fd = openat(fd, "session.json", O_WRONLY | O_CLOEXEC);
        ck_assert_int_eq(ftruncate(fd, (16 << 20) + 1), 0);
        safe_close(fd);
        ck_assert_int_eq(session_dir_read_meta(d, &m), -EFBIG);
        ck_assert_int_eq(unlinkat(session_dir_fd(d), "session.json", 0), 0);
        ck_assert_int_eq(mkfifoat(session_dir_fd(d), "session.json", 0600), 0);
        ck_assert_int_eq(session_dir_read_meta(d, &m), META_E_INVALID);
        ck_assert_int_eq(unlinkat(session_dir_fd(d), "session.json", 0), 0);
        ck_assert_int_eq(symlinkat("/etc/passwd", session_dir_fd(d), "session.json"), 0);
        ck_assert_int_eq(session_dir_read_meta(d, &m), META_E_INVALID);
        ck_assert_ptr_null(m);
}

DIR_TEST(tracing_files_keep_their_paths, d) {
        _cleanup_free_ char *text = NULL;
        const char *path = "events/ftrace/funcgraph_entry/format";
        size_t n;

        ck_assert_int_eq(session_dir_write_tracing(d, path, "a\0b", 3, false), 0);
        ck_assert_int_eq(session_dir_write_tracing(d, "events/header_page", "", 0, false), 0);
        ck_assert_int_eq(session_dir_read_tracing(d, path, &text, &n), 0);
        ck_assert_uint_eq(n, 3);
        ck_assert_int_eq(memcmp(text, "a\0b", 4), 0);
        ck_assert_int_eq(session_dir_write_tracing(d, "../x", "", 0, false), -EINVAL);
        ck_assert_int_eq(session_dir_read_tracing(d, "../session.json", &text, &n), -EINVAL);
        ck_assert_int_eq(session_dir_read_tracing(d, "none", &text, &n), -ENOENT);
        ck_assert_int_eq(session_dir_read_tracing(d, "events", &text, &n), -ENOENT);
}

DIR_TEST(links_planted_among_the_tracing_files_lead_nowhere, d) {
        char *text;

        ck_assert_int_eq(symlinkat("/etc", session_dir_fd(d), "tracing"), 0);
        ck_assert_int_lt(session_dir_read_tracing(d, "passwd", &text, NULL), 0);
        ck_assert_int_lt(session_dir_write_tracing(d, "planted", "x", 1, false), 0);
        ck_assert_int_ne(access("/etc/planted", F_OK), 0);
}

DIR_TEST(lists_are_ascending_and_ignore_what_is_not_ours, d) {
        static const char *const dirs[] = { "cpu",   "cpu01", "cpu8192", "cpux",
                                            "cpu-1", "CPU2",  "cpu1 ",   "tracing" };
        static const char *const files[] = { "0.seg",        "00000001.seg.new", "0000000A.seg",
                                             "00000003.zst", "000000001.seg",    "x" };
        _cleanup_free_ uint64_t *sequences = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n;
        int fd;

        for (size_t i = 0; i < ELEMENTSOF(dirs); i++)
                ck_assert_int_eq(mkdirat(session_dir_fd(d), dirs[i], 0700), 0);
        scratch_write(session_dir_fd(d), "cpu5", "", 0);
        ck_assert_int_eq(symlinkat("cpu0", session_dir_fd(d), "cpu6"), 0);
        ck_assert_int_eq(session_dir_list_cpus(d, &cpus, &n), 0);
        ck_assert_uint_eq(n, 0);
        free(cpus);
        add_segment(d, 10, 0, 0);
        add_segment(d, 2, 0xffffffff, 0);
        add_segment(d, 2, 0, 0);
        add_segment(d, 2, 26, 0);
        ck_assert_int_eq(session_dir_list_cpus(d, &cpus, &n), 0);
        ck_assert_uint_eq(n, 2);
        ck_assert_uint_eq(cpus[0], 2);
        ck_assert_uint_eq(cpus[1], 10);

        fd = session_dir_make_cpu(d, 2);
        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                scratch_write(fd, files[i], "", 0);
        ck_assert_int_eq(mkdirat(fd, "00000004.seg", 0700), 0);
        ck_assert_int_eq(symlinkat("00000000.seg", fd, "00000005.seg"), 0);
        safe_close(fd);
        ck_assert_int_eq(session_dir_list_segments(d, 2, &sequences, &n), 0);
        ck_assert_uint_eq(n, 3);
        ck_assert_uint_eq(sequences[0], 0);
        ck_assert_uint_eq(sequences[1], 26);
        ck_assert_uint_eq(sequences[2], 0xffffffff);
        ck_assert_int_eq(session_dir_list_segments(d, 3, &sequences, &n), -ENOENT);
        ck_assert_int_eq(session_dir_make_cpu(d, STORE_MAX_CPUS), -EINVAL);
}

DIR_TEST(a_segment_of_another_cpu_is_damaged, d) {
        _cleanup_(page_source_freep) PageSource *g = NULL;
        PageSource *none = NULL;
        int fd;

        add_segment(d, 0, 0, 0);
        add_segment(d, 1, 0, 0);
        ck_assert_int_eq(page_source_open(&g, d, 1, 0, NULL), 0);
        ck_assert_int_eq(page_source_open(&none, d, 1, 1, NULL), -ENOENT);
        ck_assert_int_eq(page_source_open(&none, d, 2, 0, NULL), -ENOENT);
        ck_assert_int_eq(page_source_open(&none, d, 1, UINT64_C(1) << 32, NULL), -EINVAL);
        fd = session_dir_fd(d);
        ck_assert_int_eq(renameat(fd, "cpu0/00000000.seg", fd, "cpu1/00000000.seg"), 0);
        ck_assert_int_eq(page_source_open(&none, d, 1, 0, NULL), SEGMENT_E_DAMAGED);
        ck_assert_int_eq(renameat(fd, "cpu1/00000000.seg", fd, "cpu0/00000001.seg"), 0);
        ck_assert_int_eq(page_source_open(&none, d, 0, 1, NULL), SEGMENT_E_DAMAGED);
        ck_assert_ptr_null(none);
}

SCRATCH_TEST(symbols_are_read_where_the_session_says) {
        _cleanup_(session_dir_freep) SessionDir *without = create(s), *with = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = small_meta();
        _cleanup_free_ char *text = NULL;
        char hash[SYMBOL_HASH_CHARS + 1];
        size_t n;

        ck_assert_int_eq(session_dir_open(&with, s->fd, "boot", s->fd), 0);
        ck_assert_int_eq(session_dir_read_symbols(with, m->symbols, &text, &n), -ENODATA);
        ck_assert_int_eq(symbol_file_store(s->fd, "T x", 3, hash), 0);
        m->symbols = strdup(hash);
        ck_assert_int_eq(session_dir_read_symbols(without, m->symbols, &text, &n), -ENODATA);
        ck_assert_int_eq(session_dir_read_symbols(with, m->symbols, &text, &n), 0);
        ck_assert_str_eq(text, "T x");
}

static Cut cut_of(uint64_t sequence) {
        return (Cut){ sequence, { sequence + 1, sequence + 2, sequence + 3, UINT64_C(1) << 60 } };
}

DIR_TEST(what_is_appended_is_read_in_order, dir) {
        _cleanup_free_ Cut *cuts = NULL;
        size_t n;

        for (uint64_t i = 0; i < 40; i++) {
                Cut c = cut_of(2 * i);

                ck_assert_int_eq(cut_log_append(dir, &c), 0);
        }
        ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
        ck_assert_uint_eq(n, 40);
        for (uint64_t i = 0; i < 40; i++) {
                Cut c = cut_of(2 * i);

                ck_assert_mem_eq(&cuts[i], &c, sizeof(c));
        }
}

DIR_TEST(no_file_is_an_empty_log, dir) {
        _cleanup_free_ Cut *cuts = NULL;
        size_t n = 7;

        ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
        ck_assert_uint_eq(n, 0);
}

DIR_TEST(a_replaced_log_says_only_the_new, dir) {
        _cleanup_free_ Cut *cuts = NULL;
        Cut all[] = { cut_of(0), cut_of(1), cut_of(2) };
        size_t n;

        for (size_t i = 0; i < 3; i++)
                ck_assert_int_eq(cut_log_append(dir, &all[i]), 0);
        ck_assert_int_eq(cut_log_replace(dir, all + 2, 1), 0);
        ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_uint_eq(cuts[0].sequence, 2);
}

DIR_TEST(a_line_that_is_none_ends_the_log, dir) {
        static const char *const bad[] = {
                "3 1 2 3",
                "3 1 2 3\n",
                "3 1 2 3 4 5\n",
                "x 1 2 3 4\n",
                "3 1 2 3 4",
                "1 1 2 3 4\n",
                "\n",
                "3  1 2 3 4\n",
                "-3 1 2 3 4\n",
                "99999999999 1 2 3 4\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                _cleanup_free_ Cut *cuts = NULL;
                char text[128];
                size_t n;

                (void) snprintf(text, sizeof(text), "1 5 6 7 8\n%s", bad[i]);
                ck_assert_int_eq(
                        file_replace(session_dir_fd(dir), "cuts", text, strlen(text), 0600), 0);
                ck_assert_int_eq(cut_log_read(dir, &cuts, &n), 0);
                ck_assert_uint_eq(n, 1);
        }
}

DIR_TEST(a_symbolic_link_is_not_followed, dir) {
        _cleanup_free_ Cut *cuts = NULL;
        Cut c = cut_of(0);
        size_t n;

        ck_assert_int_eq(symlinkat("elsewhere", session_dir_fd(dir), "cuts"), 0);
        ck_assert_int_lt(cut_log_append(dir, &c), 0);
        ck_assert_int_lt(cut_log_read(dir, &cuts, &n), 0);
        ck_assert_int_lt(faccessat(session_dir_fd(dir), "elsewhere", F_OK, 0), 0);
}

static void count(uint32_t cpu, uint64_t n_pages, void *userdata) {
        uint64_t *counts = userdata;

        counts[cpu] += n_pages;
}

DIR_TEST(a_period_is_dropped_on_all_cpus_and_nothing_else, dir) {
        uint64_t counts[8] = {};

        add_segment(dir, 0, 3, 10);
        add_segment(dir, 1, 3, 5);
        add_segment(dir, 1, 4, 2);
        ck_assert_int_eq(file_replace(session_dir_fd(dir), "cpu0/notes", "mine", 4, 0600), 0);
        ck_assert_int_eq(session_dir_drop_period(dir, 3, count, counts), 0);
        ck_assert_uint_eq(counts[0], 10);
        ck_assert_uint_eq(counts[1], 5);
        ck_assert_int_lt(faccessat(session_dir_fd(dir), "cpu0/00000003.seg", F_OK, 0), 0);
        ck_assert_int_lt(faccessat(session_dir_fd(dir), "cpu1/00000003.seg", F_OK, 0), 0);
        ck_assert_int_eq(faccessat(session_dir_fd(dir), "cpu1/00000004.seg", F_OK, 0), 0);
        ck_assert_int_eq(faccessat(session_dir_fd(dir), "cpu0/notes", F_OK, 0), 0);
}

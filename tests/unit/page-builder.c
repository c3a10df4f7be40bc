/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Bytes are put down one by one in the byte order asked for, so that big-endian pages can be made
 * on a little-endian machine. */

#include "kernel-format.h"
#include "page-builder.h"
#include "store/page.h"
#include "store/symbol-file.h"

/* 6.12 says the same as 6.1, and its exit records are 16 bytes longer than that. */
const Layout layouts[N_LAYOUTS] = {
        [LAYOUT_6_1] = { "6.1", HEADER_PAGE_6_1, ENTRY_6_1, EXIT_6_1, 11, 10, 20, 40, 4 },
        [LAYOUT_6_12] = { "6.12", HEADER_PAGE_6_1, ENTRY_6_1, EXIT_6_1, 11, 10, 20, 56, 4 },
        [LAYOUT_7_2] = { "7.2", HEADER_PAGE_7_2, ENTRY_7_2, EXIT_7_2, 11, 10, 24, 40, 8 },
};

static void put(const Page *p, void *at, uint64_t v, size_t n) {
        uint8_t *bytes = at;

        for (size_t i = 0; i < n; i++)
                bytes[p->big_endian ? n - 1 - i : i] = (uint8_t) (v >> (8 * i));
}

static void put_commit(Page *p, uint64_t flags) {
        put(p, p->bytes + 8, p->n_payload | flags, 8);
}

void page_begin(Page *p, const Layout *layout, uint64_t timestamp_ns) {
        bool big_endian = p->big_endian;

        *p = (Page){ .layout = layout, .big_endian = big_endian, .last_ns = timestamp_ns };
        put(p, p->bytes, timestamp_ns, 8);
        put_commit(p, 0);
}

uint32_t page_head(const Page *p, uint32_t type_len, uint32_t delta) {
        return p->big_endian ? type_len << 27 | delta : delta << 5 | type_len;
}

static void page_bytes(Page *p, const void *data, size_t n) {
        ck_assert_uint_le(PAGE_HEADER_BYTES + p->n_payload + n, BUILT_PAGE_BYTES);
        memcpy(p->bytes + PAGE_HEADER_BYTES + p->n_payload, data, n);
        p->n_payload += (uint32_t) n;
        put_commit(p, 0);
}

void page_word(Page *p, uint32_t word) {
        uint8_t bytes[4];

        put(p, bytes, word, 4);
        page_bytes(p, bytes, 4);
}

void page_record(Page *p, uint64_t timestamp_ns, const void *data, size_t n) {
        uint64_t delta = timestamp_ns - p->last_ns;

        ck_assert_uint_eq(n % 4, 0);
        if (delta >> 27) {
                page_word(p, page_head(p, 30, delta & ((1U << 27) - 1)));
                page_word(p, (uint32_t) (delta >> 27));
                delta = 0;
        }
        if (n <= 28 * 4)
                page_word(p, page_head(p, (uint32_t) n / 4, (uint32_t) delta));
        else {
                page_word(p, page_head(p, 0, (uint32_t) delta));
                page_word(p, (uint32_t) n + 4);
        }
        page_bytes(p, data, n);
        p->last_ns = timestamp_ns;
}

static void put_common(const Page *p, uint8_t *record, uint16_t id, int32_t pid) {
        put(p, record, id, 2);
        record[2] = 1;
        put(p, record + 4, (uint32_t) pid, 4);
}

void page_enter(Page *p, uint64_t timestamp_ns, int32_t pid, uint64_t func, int32_t depth) {
        uint8_t record[64] = {};

        put_common(p, record, p->layout->entry_id, pid);
        put(p, record + 8, func, 8);
        put(p, record + 16, (uint64_t) depth, p->layout->n_depth);
        page_record(p, timestamp_ns, record, p->layout->n_entry);
}

void page_leave(Page *p, uint64_t timestamp_ns, int32_t pid, uint64_t func, int32_t depth,
                uint64_t duration_ns) {
        uint8_t record[64] = {};

        put_common(p, record, p->layout->exit_id, pid);
        put(p, record + 8, func, 8);
        put(p, record + 16, (uint64_t) depth, 4);
        put(p, record + 24, timestamp_ns - duration_ns, 8);
        put(p, record + 32, timestamp_ns, 8);
        page_record(p, timestamp_ns, record, p->layout->n_exit);
}

void page_set_missed(Page *p, uint64_t n) {
        put_commit(p, n > 0 ? 3ULL << 30 : 1ULL << 31);
        if (n > 0)
                put(p, p->bytes + PAGE_HEADER_BYTES + p->n_payload, n, 8);
}

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
                               "ffffffff81000000 T udp_sendmsg\n"
                               "ffffffff81000100 T ip_make_skb\n"
                               "ffffffff81000200 t kfree\n"
                               "ffffffff81000280 t return_to_handler\n"
                               "ffffffff810002c0 t do_el1_brk64\n"
                               "ffffffff810002e0 t copy_from_kernel_nofault\n"
                               "ffffffff81000300 T _etext\n"
                               "ffffffffc0000010 t ovl_open\t[overlay]\n";

static void write_tracing(Recording *r, const char *path, const char *text) {
        ck_assert_int_eq(session_dir_write_tracing(r->dir, path, text, strlen(text), false), 0);
}

void recording_init(Recording *r, const Layout *layout) {
        char hash[SYMBOL_HASH_CHARS + 1];
        SessionMeta *m;
        SessionDir *d;

        *r = (Recording){ .scratch = SCRATCH };
        ck_assert_int_eq(dir_make(r->scratch.fd, "symbols", 0750), 0);
        r->symbols_fd = dir_open(r->scratch.fd, "symbols");
        ck_assert_int_ge(r->symbols_fd, 0);
        ck_assert_int_eq(symbol_file_store(r->symbols_fd, kallsyms, strlen(kallsyms), hash), 0);
        ck_assert_int_eq(session_dir_create(&d, r->scratch.fd, "it"), 0);
        session_dir_free(d);
        ck_assert_int_eq(session_dir_open(&r->dir, r->scratch.fd, "it", r->symbols_fd), 0);
        write_tracing(r, "events/header_page", layout->header_page);
        write_tracing(r, "events/ftrace/funcgraph_entry/format", layout->entry);
        write_tracing(r, "events/ftrace/funcgraph_exit/format", layout->exit);
        write_tracing(r, "saved_cmdlines", "17 client\n18 a server\n");

        ck_assert_int_eq(session_meta_new(&m), 0);
        r->meta = m;
        m->name = strdup("it");
        m->id = strdup("0123456789abcdef");
        m->state = SESSION_SEALED;
        m->symbols = strdup(hash);
        m->clock = strdup("mono");
        m->kernel = strdup(layout->kernel);
        m->page_bytes = BUILT_PAGE_BYTES;
        m->n_possible_cpus = 2;
        ck_assert_int_eq(strv_add(&m->roots, "udp_sendmsg"), 0);
}

static CpuAccount *account_of(SessionMeta *m, uint32_t cpu) {
        size_t i = 0;

        while (i < m->n_cpus && m->cpus[i].cpu != cpu)
                i++;
        if (i == m->n_cpus) {
                m->cpus = realloc(m->cpus, (i + 1) * sizeof(*m->cpus));
                ck_assert_ptr_nonnull(m->cpus);
                m->cpus[m->n_cpus++] = (CpuAccount){ .cpu = cpu };
        }
        return &m->cpus[i];
}

void recording_add(Recording *r, uint32_t cpu, uint64_t sequence, const Page *pages, size_t n) {
        recording_add_after(r, cpu, sequence, sequence - 1, pages, n);
}

void recording_add_after(Recording *r, uint32_t cpu, uint64_t sequence, uint64_t previous,
                         const Page *pages, size_t n) {
        _cleanup_close_ int cpu_fd = session_dir_make_cpu(r->dir, cpu);
        CpuAccount *account = account_of(r->meta, cpu);
        SegmentWriter *w;

        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(
                segment_create(&w, cpu_fd, sequence, previous, cpu, BUILT_PAGE_BYTES, r->meta->id),
                0);
        for (size_t i = 0; i < n; i++) {
                ck_assert_int_eq(write_full(w->fd, pages[i].bytes, BUILT_PAGE_BYTES), 0);
                segment_publish(w, BUILT_PAGE_BYTES);
        }
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
        account->n_pages += n;
        account->n_bytes += n * BUILT_PAGE_BYTES;
}

void recording_done(Recording *r) {
        session_meta_free(r->meta);
        session_dir_free(r->dir);
        safe_close(r->symbols_fd);
        scratch_done(&r->scratch);
}

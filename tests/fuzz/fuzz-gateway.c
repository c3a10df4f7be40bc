/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a gateway sends, in pieces of any size: the same is heard of it, within the bounds, and what was heard is
 * answered and heard again.
 *
 * Input: the size of the pieces, less 1; what is sent.
 */

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/contact/gateway.h"
#include "fuzz.h"

static const char *const names[] = { "one", "two", "three" };

/* All that was heard of one host. */
typedef struct Heard {
        Member member;
        int status;
        bool is_begun, is_ended, has_file;
} Heard;

typedef struct Fleet {
        Gateway gateway;
        Heard heard[ELEMENTSOF(names)];
        size_t n_open;
} Fleet;

static Member *begin(const char *host, bool has_file, void *userdata) {
        Fleet *f = userdata;

        FUZZ_CHECK(f->n_open == 0);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                Heard *h = &f->heard[i];

                if (h->is_begun || !streq(host, names[i]))
                        continue;
                h->is_begun = true;
                h->has_file = has_file;
                if (has_file) {
                        h->member.file.fd = memfd_create("file", MFD_CLOEXEC);
                        FUZZ_CHECK(h->member.file.fd >= 0);
                }
                f->n_open++;
                return &h->member;
        }
        return NULL;
}

static void end(Member *m, int status, void *userdata) {
        Fleet *f = userdata;
        Heard *h = (Heard *) m; /* its first */
        struct stat st;

        FUZZ_CHECK(f->n_open == 1 && h->is_begun && !h->is_ended);
        FUZZ_CHECK(status >= 0 && status <= 255);
        FUZZ_CHECK(m->out.n_data <= MEMBER_SAID_MAX && m->err.n_data <= MEMBER_SAID_MAX);
        if (h->has_file)
                FUZZ_CHECK(fstat(m->file.fd, &st) == 0 && (uint64_t) st.st_size == m->n_bytes);
        else
                FUZZ_CHECK(m->n_bytes == 0);
        h->status = m->status = status;
        h->is_ended = true;
        f->n_open--;
}

static void fleet_init(Fleet *f) {
        *f = (Fleet){ .gateway = { .begin = begin, .end = end, .userdata = f, .head = BUF_INIT } };
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                f->heard[i].member = (Member){ .name = names[i],
                                               .out = BUF_INIT,
                                               .err = BUF_INIT,
                                               .file = OUTFILE_INIT,
                                               .spool_fd = -EBADF };
}

static void fleet_done(Fleet *f) {
        gateway_done(&f->gateway);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                Member *m = &f->heard[i].member;

                buf_done(&m->out);
                buf_done(&m->err);
                m->file.fd = safe_close(m->file.fd);
        }
}

static int feed(Fleet *f, const char *data, size_t n, size_t n_piece) {
        int r = 0;

        for (size_t at = 0; r == 0 && at < n; at += n_piece)
                r = gateway_feed(&f->gateway, data + at, MIN(n_piece, n - at));
        FUZZ_CHECK(r == 0 || r == GATEWAY_E_INVALID);
        FUZZ_CHECK(f->gateway.head.n_data <= GATEWAY_HEAD_MAX);
        return r;
}

static bool same_bytes(const Buf *a, const Buf *b) {
        return a->n_data == b->n_data &&
               (a->n_data == 0 || memcmp(a->data, b->data, a->n_data) == 0);
}

static void compare_files(const Member *a, const Member *b) {
        _cleanup_free_ char *x = malloc(a->n_bytes + 1), *y = malloc(a->n_bytes + 1);

        FUZZ_CHECK(a->n_bytes == b->n_bytes && x && y);
        FUZZ_CHECK(pread(a->file.fd, x, a->n_bytes, 0) == (ssize_t) a->n_bytes);
        FUZZ_CHECK(pread(b->file.fd, y, b->n_bytes, 0) == (ssize_t) b->n_bytes);
        FUZZ_CHECK(memcmp(x, y, a->n_bytes) == 0);
}

static void compare(const Heard *a, const Heard *b) {
        FUZZ_CHECK(a->is_ended == b->is_ended);
        if (!a->is_ended)
                return;
        FUZZ_CHECK(a->status == b->status);
        FUZZ_CHECK(same_bytes(&a->member.out, &b->member.out));
        FUZZ_CHECK(same_bytes(&a->member.err, &b->member.err));
}

/* What each has said is passed on, as by a gateway behind a gateway. */
static void answer_again(Fleet *f) {
        int fd = memfd_create("answer", MFD_CLOEXEC);
        _cleanup_free_ char *text = NULL;
        Fleet again;
        size_t n;

        FUZZ_CHECK(fd >= 0);
        fleet_init(&again);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                Member *m = &f->heard[i].member;

                if (!f->heard[i].is_ended)
                        continue;
                m->spool_fd = m->file.fd;
                FUZZ_CHECK(gateway_answer(fd, m) == 0);
                m->spool_fd = -EBADF;
        }
        FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
        FUZZ_CHECK(fd_read(fd, &text, &n, SIZE_MAX / 2) >= 0);
        FUZZ_CHECK(feed(&again, text, n, n + 1) == 0);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                const Heard *a = &f->heard[i], *b = &again.heard[i];

                compare(a, b);
                FUZZ_CHECK(!b->is_ended ||
                           b->has_file == (a->has_file && remote_is_good(a->status)));
                if (b->has_file)
                        compare_files(&a->member, &b->member);
        }
        fleet_done(&again);
        safe_close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Fleet whole, pieces;
        int r;

        if (size < 1)
                return 0;
        fleet_init(&whole);
        fleet_init(&pieces);
        r = feed(&whole, (const char *) data + 1, size - 1, size);
        FUZZ_CHECK(feed(&pieces, (const char *) data + 1, size - 1, (size_t) data[0] + 1) == r);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                compare(&whole.heard[i], &pieces.heard[i]);
                if (whole.heard[i].is_ended && whole.heard[i].has_file)
                        compare_files(&whole.heard[i].member, &pieces.heard[i].member);
        }
        answer_again(&whole);
        fleet_done(&whole);
        fleet_done(&pieces);
        return 0;
}
